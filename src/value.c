/* >>value */
TLI_INLINE int64_t tli_value_signed(const void *value, int32_t width)
{
    switch (width) {
    case 1:
        return *(const int8_t *)value;
    case 2:
        return (int16_t)tli_bits_u16(value);
    case 4:
        return (int32_t)tli_bits_u32(value);
    default:
        return (int64_t)tli_bits_u64(value);
    }
}

TLI_INLINE uint64_t tli_value_unsigned(const void *value, int32_t width)
{
    switch (width) {
    case 1:
        return *(const uint8_t *)value;
    case 2:
        return tli_bits_u16(value);
    case 4:
        return tli_bits_u32(value);
    default:
        return tli_bits_u64(value);
    }
}

TLI_INLINE size_t tli_value_float(char *out, tl_type_id id, const void *value)
{
    float f;
    double d;
    if (id == TL_TYPE_FLOAT64) {
        TLI_COPY(&d, value, 8);
        return tli_number_f64(out, d);
    }
    if (id == TL_TYPE_FLOAT16)
        return tli_number_f32(out, tli_number_f16_to_f32(tli_bits_u16(value)));
    TLI_COPY(&f, value, 4);
    return tli_number_f32(out, f);
}

/* Intervals lie as months; days, milliseconds; months, days, nanoseconds. */
TLI_INLINE size_t tli_value_interval(char *out, tl_type_id id, const void *value)
{
    const uint8_t *p = (const uint8_t *)value;
    int32_t a = (int32_t)tli_bits_u32(p), b;
    if (id == TL_TYPE_INTERVAL_MONTHS)
        return tli_time_months(out, a);
    b = (int32_t)tli_bits_u32(p + 4);
    if (id == TL_TYPE_INTERVAL_DAY_TIME)
        return tli_time_interval(out, 0, a, b, TL_UNIT_MILLI);
    return tli_time_interval(out, a, b, (int64_t)tli_bits_u64(p + 8), TL_UNIT_NANO);
}

TL_API size_t tl_value_text(char *out, const tl_type *type, const void *value)
{
    tl_type_id id = type->id;
    if (id >= TL_TYPE_INT8 && id <= TL_TYPE_INT64)
        return tli_number_i64(out, tli_value_signed(value, type->width));
    if (id >= TL_TYPE_UINT8 && id <= TL_TYPE_UINT64)
        return tli_number_u64(out, tli_value_unsigned(value, type->width));
    if (id >= TL_TYPE_FLOAT16 && id <= TL_TYPE_FLOAT64)
        return tli_value_float(out, id, value);
    if (id >= TL_TYPE_DECIMAL32 && id <= TL_TYPE_DECIMAL256)
        return tli_number_decimal(out, value, type->width, type->scale);
    switch (id) {
    case TL_TYPE_DATE32:
        return tli_time_date(out, tli_value_signed(value, 4));
    case TL_TYPE_DATE64:
        return tli_time_stamp(out, tli_value_signed(value, 8), TL_UNIT_MILLI, tli_text_span(NULL, 0));
    case TL_TYPE_TIME32:
    case TL_TYPE_TIME64:
        return tli_time_clock(out, tli_value_signed(value, type->width), type->unit);
    case TL_TYPE_TIMESTAMP:
        return tli_time_stamp(out, tli_value_signed(value, 8), type->unit, type->zone);
    case TL_TYPE_DURATION:
        return tli_time_duration(out, tli_value_signed(value, 8), type->unit);
    case TL_TYPE_INTERVAL_MONTHS:
    case TL_TYPE_INTERVAL_DAY_TIME:
    case TL_TYPE_INTERVAL_MONTH_DAY_NANO:
        return tli_value_interval(out, id, value);
    default:
        return 0;
    }
}
