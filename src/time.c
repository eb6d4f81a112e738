/* >>time: dates, times and spans of time as ISO 8601 text, as arrow-rs writes and reads it.

   Printers answer the characters written (`out` has room for 96), or 0 when the value has no text: callers write
   integers then. Parsers answer 1, or 0 for any other text, and for a value that the type cannot hold exactly.
   Calendar: proleptic Gregorian,
       exact for all int64 (the shift of the year's start to March makes the leap day the last). */

static const int64_t tli_time_per_second[4] = {1, 1000, 1000000, 1000000000};

/* whole x per + rest (0 <= rest < per), exactly; 0 when it passes 64 bits. */
TLI_INLINE int tli_time_combine(int64_t whole, uint32_t rest, int64_t per, int64_t *out)
{
    uint64_t x;
    if (!tli_bits_mul(whole < 0 ? (uint64_t)0 - (uint64_t)whole : (uint64_t)whole, (uint64_t)per, &x))
        return 0;
    x = whole < 0 ? x - rest : x + rest;
    *out = (int64_t)(whole < 0 ? (uint64_t)0 - x : x);
    return x <= (uint64_t)INT64_MAX + (whole < 0);
}

/* Quotient rounded down, and the rest that belongs to it (0..by-1). */
TLI_INLINE int64_t tli_time_floor(int64_t v, int64_t by, int64_t *rest)
{
    int64_t q = v / by, r = v % by;
    *rest = r < 0 ? r + by : r;
    return r < 0 ? q - 1 : q;
}

TLI_INLINE char *tli_time_two(char *out, uint32_t v)
{
    out[0] = (char)('0' + v / 10);
    out[1] = (char)('0' + v % 10);
    return out + 2;
}

/* v in `digits` digits, at most 9. */
TLI_INLINE char *tli_time_padded(char *out, uint32_t v, uint32_t digits)
{
    uint32_t i;
    for (i = digits; i-- > 0; v /= 10)
        out[i] = (char)('0' + v % 10);
    return out + digits;
}

TLI_INLINE char *tli_time_year(char *out, int64_t year)
{
    uint64_t y = year < 0 ? (uint64_t)0 - (uint64_t)year : (uint64_t)year;
    if (year < 0 || year > 9999)
        *out++ = year < 0 ? '-' : '+';
    if (y > 9999)
        return out + tli_number_u64(out, y);
    return tli_time_two(tli_time_two(out, (uint32_t)y / 100), (uint32_t)y % 100);
}

/* `YYYY-MM-DD` of a day counted from 1970-01-01; years outside 0..9999 carry a sign (`+10183`, `-0001`). */
TLI_FN size_t tli_time_date(char *out, int64_t days)
{
    int64_t of_era, era = tli_time_floor(days, 146097, &of_era), year;
    uint32_t day, y, month;
    char *p;
    of_era += 135080; /* from 0000-03-01: 719468 days, four eras and this */
    era += 4;
    if (of_era >= 146097) {
        of_era -= 146097;
        era++;
    }
    day = (uint32_t)of_era;
    y = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * y + y / 4 - y / 100;
    month = (5 * day + 2) / 153; /* from March */
    day -= (153 * month + 2) / 5;
    year = era * 400 + (int64_t)y + (month >= 10);
    p = tli_time_year(out, year);
    *p++ = '-';
    p = tli_time_two(p, month < 10 ? month + 3 : month - 9);
    *p++ = '-';
    return (size_t)(tli_time_two(p, day + 1) - out);
}

/* `HH:MM:SS`, and three, six or nine digits of a fraction that is not 0. `rest` counts the unit within the second. */
TLI_INLINE char *tli_time_hms(char *p, uint32_t second, uint32_t rest, tl_unit unit)
{
    p = tli_time_two(p, second / 3600);
    *p++ = ':';
    p = tli_time_two(p, second / 60 % 60);
    *p++ = ':';
    p = tli_time_two(p, second % 60);
    if (rest != 0) {
        uint32_t digits = 3 * (uint32_t)unit;
        while (digits > 3 && rest % 1000 == 0) {
            rest /= 1000;
            digits -= 3;
        }
        *p++ = '.';
        p = tli_time_padded(p, rest, digits);
    }
    return p;
}

/* A time of day; 0 when `units` lie outside the day. */
TLI_FN size_t tli_time_clock(char *out, int64_t units, tl_unit unit)
{
    int64_t per = tli_time_per_second[unit];
    if (units < 0 || units >= 86400 * per)
        return 0;
    return (size_t)(tli_time_hms(out, (uint32_t)(units / per), (uint32_t)(units % per), unit) - out);
}

/* `UTC`, `Z`, `+05:30`, `+0530`, `+05` as seconds east of Greenwich; 0 for any other zone. */
TLI_FN int tli_time_zone(tl_span zone, int32_t *seconds)
{
    uint32_t d[4] = {0, 0, 0, 0}, i, n = 0;
    *seconds = 0;
    if ((zone.size == 1 && (zone.data[0] | 32) == 'z')
        || (zone.size == 3 && zone.data[0] == 'U' && zone.data[1] == 'T' && zone.data[2] == 'C'))
        return 1;
    if (zone.size < 3 || zone.size > 6 || (zone.data[0] != '+' && zone.data[0] != '-'))
        return 0;
    for (i = 1; i < zone.size; i++) {
        uint32_t digit = (uint32_t)(uint8_t)zone.data[i] - '0';
        if (i == 3 && zone.size == 6 && zone.data[i] == ':')
            continue;
        if (digit > 9 || n == 4)
            return 0;
        d[n++] = digit;
    }
    if (n == 3 || d[0] * 10 + d[1] > 23 || d[2] > 5)
        return 0;
    *seconds = (int32_t)((d[0] * 10 + d[1]) * 3600 + (d[2] * 10 + d[3]) * 60);
    if (zone.data[0] == '-')
        *seconds = -*seconds;
    return 1;
}

/* A point in time: local text; with a zone (a span that is not absent) `Z` or `+05:30` behind it. 0 for a
   named zone. */
TLI_FN size_t tli_time_stamp(char *out, int64_t units, tl_unit unit, tl_span zone)
{
    int64_t rest, second, days, of_day;
    int32_t offset = 0;
    char *p;
    if (zone.data != NULL && !tli_time_zone(zone, &offset))
        return 0;
    second = tli_time_floor(units, tli_time_per_second[unit], &rest);
    days = tli_time_floor(second, 86400, &of_day);
    of_day += offset; /* after the division: seconds of all int64 do not overflow */
    if (of_day < 0 || of_day >= 86400)
        days += tli_time_floor(of_day, 86400, &of_day);
    p = out + tli_time_date(out, days);
    *p++ = 'T';
    p = tli_time_hms(p, (uint32_t)of_day, (uint32_t)rest, unit);
    if (zone.data != NULL && offset == 0) {
        *p++ = 'Z';
    } else if (zone.data != NULL) {
        *p++ = offset < 0 ? '-' : '+';
        offset = offset < 0 ? -offset : offset;
        p = tli_time_two(p, (uint32_t)offset / 3600);
        *p++ = ':';
        p = tli_time_two(p, (uint32_t)offset / 60 % 60);
    }
    return (size_t)(p - out);
}

/* Whole number and fraction of a count of units, without the zeros at the end: `0.001`, `12`. */
TLI_FN char *tli_time_fraction(char *p, uint64_t units, tl_unit unit)
{
    uint64_t per = (uint64_t)tli_time_per_second[unit];
    uint32_t rest = (uint32_t)(units % per), digits = 3 * (uint32_t)unit;
    p += tli_number_u64(p, units / per);
    if (rest == 0)
        return p;
    for (; rest % 10 == 0; rest /= 10)
        digits--;
    *p++ = '.';
    return tli_time_padded(p, rest, digits);
}

/* `-PT0.001S`, `P0D` */
TLI_FN size_t tli_time_duration(char *out, int64_t units, tl_unit unit)
{
    uint64_t v = units < 0 ? (uint64_t)0 - (uint64_t)units : (uint64_t)units;
    char *p = out;
    if (units == 0) {
        TLI_COPY(out, "P0D", 3);
        return 3;
    }
    if (units < 0)
        *p++ = '-';
    *p++ = 'P';
    *p++ = 'T';
    p = tli_time_fraction(p, v, unit);
    *p++ = 'S';
    return (size_t)(p - out);
}

/* ---- intervals ---- */

TLI_INLINE char *tli_time_part(char *out, char *p, int64_t v, const char *name)
{
    if (p != out)
        *p++ = ' ';
    p += tli_number_i64(p, v);
    while (*name != 0)
        *p++ = *name++;
    return p;
}

/* `1 years 1 mons`: years rounded down. */
TLI_FN size_t tli_time_months(char *out, int32_t months)
{
    int64_t rest, years = tli_time_floor(months, 12, &rest);
    char *p = tli_time_part(out, out, years, " years");
    return (size_t)(tli_time_part(out, p, rest, " mons") - out);
}

/* `14 mons -2 days 1 hours 3.000000001 secs`, parts that are 0 left out, `0 secs` when all are. The clock is in `unit`
   (of day-time intervals milliseconds), a fraction always in its full length. */
TLI_FN size_t tli_time_interval(char *out, int32_t months, int32_t days, int64_t clock, tl_unit unit)
{
    int64_t per = tli_time_per_second[unit], seconds = clock / per, rest = clock % per;
    char *p = out;
    if (months == 0 && days == 0 && clock == 0) {
        TLI_COPY(out, "0 secs", 6);
        return 6;
    }
    if (months != 0)
        p = tli_time_part(out, p, months, " mons");
    if (days != 0)
        p = tli_time_part(out, p, days, " days");
    if (seconds / 3600 != 0)
        p = tli_time_part(out, p, seconds / 3600, " hours");
    if (seconds / 60 % 60 != 0)
        p = tli_time_part(out, p, seconds / 60 % 60, " mins");
    seconds %= 60;
    if (seconds != 0 || rest != 0) {
        if (p != out)
            *p++ = ' ';
        if (seconds < 0 || rest < 0)
            *p++ = '-';
        p += tli_number_u64(p, (uint64_t)(seconds < 0 ? -seconds : seconds));
        *p++ = '.';
        p = tli_time_padded(p, (uint32_t)(rest < 0 ? -rest : rest), 3 * (uint32_t)unit);
        TLI_COPY(p, " secs", 5);
        p += 5;
    }
    return (size_t)(p - out);
}

/* ---- parsers ---- */

/* A place in text. Readers move it; `bad` stays set once something was not as it must be. */
typedef struct tli_time_reader {
    const char *p;
    const char *end;
    int bad;
} tli_time_reader;

TLI_INLINE tli_time_reader tli_time_begin(const char *s, size_t n)
{
    tli_time_reader r;
    r.p = s;
    r.end = s + n;
    r.bad = 0;
    return r;
}

TLI_INLINE int tli_time_take(tli_time_reader *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return 0;
    r->p++;
    return 1;
}

/* Exactly two digits. */
TLI_INLINE uint32_t tli_time_read_two(tli_time_reader *r, uint32_t most)
{
    uint32_t a, b;
    if (r->end - r->p < 2) {
        r->bad = 1;
        return 0;
    }
    a = (uint32_t)(uint8_t)r->p[0] - '0';
    b = (uint32_t)(uint8_t)r->p[1] - '0';
    r->p += 2;
    r->bad |= a > 9 || b > 9 || a * 10 + b > most;
    return a * 10 + b;
}

/* Digits as many as there are, at least one; more than UINT64_MAX is bad. */
TLI_FN uint64_t tli_time_read_digits(tli_time_reader *r)
{
    uint64_t v = 0;
    const char *start = r->p;
    for (; r->p != r->end && (uint32_t)(uint8_t)*r->p - '0' <= 9; r->p++) {
        uint64_t d = (uint64_t)(*r->p - '0');
        if (v > (UINT64_MAX - d) / 10)
            r->bad = 1;
        v = v * 10 + d;
    }
    r->bad |= r->p == start;
    return v;
}

/* The digits of a fraction in the unit; digits below the unit must be 0. */
TLI_FN uint32_t tli_time_read_fraction(tli_time_reader *r, tl_unit unit)
{
    uint32_t v = 0, digits = 3 * (uint32_t)unit;
    const char *start = r->p;
    for (; r->p != r->end && (uint32_t)(uint8_t)*r->p - '0' <= 9; r->p++) {
        if (digits > 0) {
            v = v * 10 + (uint32_t)(*r->p - '0');
            digits--;
        } else {
            r->bad |= *r->p != '0';
        }
    }
    r->bad |= r->p == start;
    for (; digits > 0; digits--)
        v *= 10;
    return v;
}

/* The day of a date; a signed year has four digits or more, any other exactly four. */
TLI_FN int64_t tli_time_read_date(tli_time_reader *r)
{
    static const uint8_t length[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int negative = tli_time_take(r, '-'), sign = negative || tli_time_take(r, '+'), leap;
    const char *start = r->p;
    uint64_t y = tli_time_read_digits(r);
    int64_t year, era, of_era;
    uint32_t month, day;
    r->bad |= r->p - start < 4 || (!sign && r->p - start > 4) || y > (uint64_t)30000000000000000u
              || !tli_time_take(r, '-');
    month = tli_time_read_two(r, 12);
    r->bad |= !tli_time_take(r, '-');
    day = tli_time_read_two(r, 31);
    if (r->bad || month == 0 || day == 0) {
        r->bad = 1;
        return 0;
    }
    year = negative ? -(int64_t)y : (int64_t)y;
    leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    r->bad |= day > length[month - 1] + (uint32_t)(leap && month == 2);
    era = tli_time_floor(year - (month <= 2), 400, &of_era);
    day += (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 - 1;
    of_era = of_era * 365 + of_era / 4 - of_era / 100 + (int64_t)day - 135080; /* back from 0000-03-01 */
    era -= of_era < 0 ? 5 : 4;
    of_era += of_era < 0 ? 146097 : 0;
    r->bad |= !tli_time_combine(era, (uint32_t)of_era, 146097, &year);
    return year;
}

/* Seconds of `HH:MM[:SS[.fraction]]`, and the fraction in the unit. */
TLI_FN int64_t tli_time_read_clock(tli_time_reader *r, tl_unit unit, uint32_t *fraction)
{
    uint32_t hour = tli_time_read_two(r, 23), minute, second = 0;
    *fraction = 0;
    r->bad |= !tli_time_take(r, ':');
    minute = tli_time_read_two(r, 59);
    if (tli_time_take(r, ':')) {
        second = tli_time_read_two(r, 59);
        if (tli_time_take(r, '.'))
            *fraction = tli_time_read_fraction(r, unit);
    }
    return (int64_t)(hour * 3600 + minute * 60 + second);
}

/* A date alone. */
TLI_FN int tli_time_parse_date(const char *s, size_t n, int64_t *days)
{
    tli_time_reader r = tli_time_begin(s, n);
    *days = tli_time_read_date(&r);
    return !r.bad && r.p == r.end;
}

TLI_FN int tli_time_parse_clock(const char *s, size_t n, tl_unit unit, int64_t *units)
{
    tli_time_reader r = tli_time_begin(s, n);
    uint32_t fraction;
    int64_t second = tli_time_read_clock(&r, unit, &fraction);
    *units = second * tli_time_per_second[unit] + (int64_t)fraction;
    return !r.bad && r.p == r.end;
}

/* A point in time: `T` or a space between date and time, or a date alone; an offset behind it counts, without one the
   text is local to `zone` (absent: UTC; a named one: 0). Dates with times (date64) are read with unit milli. */
TLI_FN int tli_time_parse_stamp(const char *s, size_t n, tl_unit unit, tl_span zone, int64_t *units)
{
    tli_time_reader r = tli_time_begin(s, n);
    int64_t days = tli_time_read_date(&r), second = 0;
    uint32_t fraction = 0;
    int32_t offset = 0;
    if (r.bad)
        return 0;
    if (tli_time_take(&r, 'T') || tli_time_take(&r, ' ') || tli_time_take(&r, 't'))
        second = tli_time_read_clock(&r, unit, &fraction);
    if (r.bad)
        return 0;
    if (r.p != r.end)
        zone = tli_text_span(r.p, (size_t)(r.end - r.p));
    if (zone.data != NULL && !tli_time_zone(zone, &offset))
        return 0;
    days += tli_time_floor(second - offset, 86400, &second);
    return tli_time_combine(days, (uint32_t)second, 86400, &second)
           && tli_time_combine(second, fraction, tli_time_per_second[unit], units);
}

/* ISO durations of days, hours, minutes and seconds (the last with a fraction); a sign in front. */
TLI_FN int tli_time_parse_duration(const char *s, size_t n, tl_unit unit, int64_t *units)
{
    static const char names[] = "DHMS";
    static const uint32_t seconds[4] = {86400, 3600, 60, 1};
    tli_time_reader r = tli_time_begin(s, n);
    int negative = tli_time_take(&r, '-'), in_time = 0, parts = 0;
    uint64_t total = 0, v, per = (uint64_t)tli_time_per_second[unit];
    uint32_t next = 0, fraction = 0, i;
    if (!negative)
        (void)tli_time_take(&r, '+');
    if (!tli_time_take(&r, 'P'))
        return 0;
    while (r.p != r.end && !r.bad) {
        int point;
        if (!in_time && tli_time_take(&r, 'T')) {
            in_time = 1;
            continue;
        }
        v = tli_time_read_digits(&r);
        point = tli_time_take(&r, '.');
        if (point)
            fraction = tli_time_read_fraction(&r, unit);
        for (i = next; i < 4 && (r.p == r.end || *r.p != names[i]); i++)
            continue;
        if (r.bad || i == 4 || (i > 0) != in_time || (point && i != 3) || v > UINT64_MAX / seconds[i] / per
            || !tli_bits_add(total, v * seconds[i] * per, &total))
            return 0;
        r.p++;
        next = i + 1;
        parts++;
    }
    if (r.bad || parts == 0 || !tli_bits_add(total, fraction, &total) || total > ((uint64_t)1 << 63) - !negative)
        return 0;
    *units = negative ? (int64_t)((uint64_t)0 - total) : (int64_t)total;
    return 1;
}

/* The word at the reader as its place in `names`, each ended by a space; -1 for another. A plural `s` may lack. */
TLI_FN int32_t tli_time_read_word(tli_time_reader *r)
{
    static const char names[] = "year mon day hour min sec ";
    const char *name = names;
    int32_t which = 0;
    for (; *name != 0; which++) {
        const char *p = r->p;
        while (*name != ' ' && p != r->end && *p == *name) {
            p++;
            name++;
        }
        if (*name == ' ') {
            if (p != r->end && *p == 's')
                p++;
            if (p == r->end || *p == ' ') {
                r->p = p;
                return which;
            }
        }
        while (*name++ != ' ')
            continue;
    }
    return -1;
}

/* Adds v x factor + fraction to *sum, or takes it off; 0 when that passes 64 bits. */
TLI_FN int tli_time_sum(int64_t *sum, int negative, uint64_t v, uint64_t factor, uint64_t fraction)
{
    uint64_t x, at = (uint64_t)*sum, room = negative ? at + ((uint64_t)1 << 63) : (uint64_t)INT64_MAX - at;
    if (!tli_bits_mul(v, factor, &x) || !tli_bits_add(x, fraction, &x) || x > room)
        return 0;
    *sum = (int64_t)(negative ? at - x : at + x);
    return 1;
}

/* The text of any interval: parts of number and word, each part once or more. */
TLI_FN int tli_time_parse_interval(const char *s, size_t n, int32_t *months, int32_t *days, int64_t *nanos)
{
    static const uint64_t factor[6] = {12, 1, 1, 3600000000000u, 60000000000u, 1000000000u};
    tli_time_reader r = tli_time_begin(s, n);
    int64_t sum[3] = {0, 0, 0};
    if (n == 0)
        return 0;
    for (;;) {
        int negative = tli_time_take(&r, '-');
        uint64_t v = tli_time_read_digits(&r), fraction = 0;
        int32_t word, which;
        int point = tli_time_take(&r, '.');
        if (point)
            fraction = tli_time_read_fraction(&r, TL_UNIT_NANO);
        if (r.bad || !tli_time_take(&r, ' '))
            return 0;
        word = tli_time_read_word(&r);
        which = word < 2 ? 0 : word == 2 ? 1 : 2;
        if (word < 0 || (point && word != 5))
            return 0;
        if (!tli_time_sum(&sum[which], negative, v, factor[word], fraction))
            return 0;
        if (r.p == r.end)
            break;
        if (!tli_time_take(&r, ' '))
            return 0;
    }
    *months = (int32_t)sum[0];
    *days = (int32_t)sum[1];
    *nanos = sum[2];
    return *months == sum[0] && *days == sum[1];
}
