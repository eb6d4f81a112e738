/* >>time: units of time. */

typedef enum tl_unit { TL_UNIT_SECOND, TL_UNIT_MILLI, TL_UNIT_MICRO, TL_UNIT_NANO } tl_unit;
