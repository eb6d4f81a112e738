/* The json codec of the head: what Timelake wrote, every form it may be in, every Arrow type there and back, and what
   is refused where. Sources: fixtures/timelake/heads (written by Timelake 0.7), spec of the codec. */
#include "tl_test.h"
#include "tl_compare.h"

/* A document decoded from text; the text has to live as long. */
static tl_status decode_with(tl_document *d, const char *text, size_t size, const tl_allocator *a,
                             const tl_limits *limits, tl_error *err)
{
    tl_limits most = tl_limits_resolve(limits);
    tl_status st;
    memset(d, 0, sizeof *d);
    if (a != NULL)
        d->allocator = *a;
    d->store = tli_mem_store_new(a, most.decoded_bytes, text, size, NULL, NULL, err);
    if (d->store == NULL)
        return err->status;
    st = tli_headjson_decode(d, text, size, 1000, limits, err);
    if (st != TL_OK)
        tl_document_free(d);
    return st;
}

static tl_status decode(tl_document *d, const char *text, tl_error *err)
{
    return decode_with(d, text, strlen(text), NULL, NULL, err);
}

/* Decodes and opens everything. */
static tl_status load_with(tl_document *d, const char *text, size_t size, const tl_allocator *a, tl_error *err)
{
    int32_t i;
    tl_status st = decode_with(d, text, size, a, NULL, err);
    for (i = 0; st == TL_OK && i < d->section_count; i++)
        st = tl_section_open(&d->sections[i], err);
    if (st != TL_OK)
        tl_document_free(d);
    return st;
}

/* Encodes, decodes, compares, and encodes again to the same bytes. */
static void round_trip(tl_document *d, const char *name)
{
    tl_buffer out, again;
    tl_document back;
    tl_limits deep;
    tl_error err;
    memset(&deep, 0, sizeof deep);
    deep.depth = 256;
    memset(&out, 0, sizeof out);
    memset(&again, 0, sizeof again);
    CHECK_STATUS(tli_headjson_encode(&out, d, &err), TL_OK, &err);
    CHECK_STATUS(tl_json_check((const char *)out.data, out.size, &deep, &err), TL_OK, &err);
    if (CHECK_STATUS(load_with(&back, (const char *)out.data, out.size, NULL, &err), TL_OK, &err)) {
        if (!tl_test_int(tl_compare_documents(d, &back), 1, name, __FILE__, __LINE__))
            fprintf(stderr, "  %s\n  %.*s\n", tl_compare_why, (int)(out.size > 3000 ? 3000 : out.size), (char
                *)out.data);
        CHECK_STATUS(tli_headjson_encode(&again, &back, &err), TL_OK, &err);
        CHECK(again.size == out.size && memcmp(again.data, out.data, out.size) == 0);
        tl_document_free(&back);
    } else {
        fprintf(stderr, "  %s: %.*s\n", name, (int)(out.size > 3000 ? 3000 : out.size), (char *)out.data);
    }
    tl_buffer_free(&again);
    tl_buffer_free(&out);
}

static const char *const heads[] = {
    "compressible", "empty", "field-metadata", "incompressible", "many-sections", "no-columns", "properties-only",
    "schema-metadata", "sliced", "type-date64", "type-decimal256", "type-dictionary", "type-duration",
    "type-fixed-list", "type-float16", "type-int16", "type-int8", "type-interval-ym", "type-large-binary",
    "type-large-utf8", "type-list-list", "type-map", "type-null", "type-time32s", "type-time64us", "type-ts-ms-tz",
    "type-ts-s", "type-uint16", "type-uint32", "type-uint64", "type-uint8", "type-utf8-view", "zoo-empty", "zoo-large",
    "zoo",
};

/* The body of a head in fixtures; NULL when there are none. */
static char *read_head(const char *name, size_t *size)
{
    char below[200];
    char *bytes;
    size_t skip;
    snprintf(below, sizeof below, "fixtures/timelake/heads/%s.json.head", name);
    bytes = tl_test_read(tl_test_shared(below), size);
    if (bytes == NULL)
        return NULL;
    skip = 14 + (size_t)(uint8_t)bytes[13];
    *size -= skip;
    memmove(bytes, bytes + skip, *size + 1);
    return bytes;
}

static void heads_decode_and_round_trip(void)
{
    size_t i;
    for (i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        size_t size;
        char *body = read_head(heads[i], &size);
        tl_document d;
        tl_error err;
        if (body == NULL) {
            tl_test_skip("no fixtures");
            return;
        }
        if (CHECK_STATUS(load_with(&d, body, size, NULL, &err), TL_OK, &err)) {
            round_trip(&d, heads[i]);
            tl_document_free(&d);
        } else {
            fprintf(stderr, "  %s: %.100s\n", heads[i], err.position >= 1000 && err.position - 1000 < size ? body +
                err.position - 1000 : "");
        }
        free(body);
    }
}

#ifndef TIMELAKE_NO_HEAD_ARROW
/* The same documents from Timelake's arrow codec, which loses nothing: neither does ours. */
static void arrow_heads_round_trip(void)
{
    size_t i;
    for (i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char below[200];
        size_t size;
        char *bytes;
        tl_head head;
        tl_error err;
        snprintf(below, sizeof below, "fixtures/timelake/heads/%s.arrow.head", heads[i]);
        bytes = tl_test_read(tl_test_shared(below), &size);
        if (bytes == NULL) {
            tl_test_skip("no fixtures");
            return;
        }
        if (CHECK_STATUS(tl_head_decode(&head, bytes, size, NULL, &err), TL_OK, &err)) {
            round_trip(&head.document, heads[i]);
            tl_head_free(&head);
        }
        free(bytes);
    }
}
#endif

/* ---- one column x of a type ---- */

/* A document with one section t of one nullable column x. */
static void column_document(char *text, size_t room, const char *type, const char *values)
{
    /* values: JSON values, separated by `;` */
    size_t n = (size_t)snprintf(text, room,
        "{\"properties\":{},\"sections\":[{\"name\":\"t\",\"schema\":{\"fields\":[{\"name\":"
                                "\"x\",\"data_type\":%s,\"nullable\":true,\"dict_id\":0,\"dict_is_ordered\":false,"
                                "\"metadata\":{}}],\"metadata\":{}},\"rows\":[", type);
    const char *p = values;
    while (*p != 0) {
        size_t size = strcspn(p, ";");
        n += (size_t)snprintf(text + n, room - n, "%s{\"x\":%.*s}", p == values ? "" : ",", (int)size, p);
        p += size + (p[size] == ';');
    }
    snprintf(text + n, room - n, "]}]}");
}

static char text[20000], wanted[20000];

#define ITEM(type) "{\"name\":\"item\",\"data_type\":" type \
    ",\"nullable\":true,\"dict_id\":0,\"dict_is_ordered\":false,\"metadata\":{}}"
#define NAMED(name, type, nullable) "{\"name\":\"" name "\",\"data_type\":" type \
    ",\"nullable\":" nullable ",\"dict_id\":0,\"dict_is_ordered\":false,\"metadata\":{}}"
#define MAP_OF(key, value) "{\"Map\":[" NAMED("entries", "{\"Struct\":[" NAMED("keys", key, "false") "," \
    NAMED("values", value, "true") "]}", "false") ",false]}"

/* What may stand in a row, and what is written for it. */
static const struct {
    const char *type, *read, *written;
} forms[] = {
    {"\"Null\"", "null;null", "null;null"},
    {"\"Boolean\"", "true;false;null;true", "true;false;null;true"},
    {"\"Int8\"", "-128;127;\"-5\";\"127\";-0;null", "-128;127;-5;127;0;null"},
    {"\"Int16\"", "-32768;32767;\"0\"", "-32768;32767;0"},
    {"\"Int32\"", "-2147483648;2147483647;null", "-2147483648;2147483647;null"},
    {"\"Int64\"",
         "-9223372036854775808;9223372036854775807;9007199254740993;\"-9223372036854775808\";12345678;12345678""9;"
     "1234567890123456;12345678901234567;100",
     "-9223372036854775808;9223372036854775807;9007199254740993;-9223372036854775808;12345678;123456789;"
     "1234567890123456;12345678901234567;100"},
    {"\"UInt8\"", "0;255;\"7\"", "0;255;7"},
    {"\"UInt16\"", "65535;null", "65535;null"},
    {"\"UInt32\"", "4294967295", "4294967295"},
    {"\"UInt64\"", "18446744073709551615;9999999999999999999;\"18446744073709551615\"",
     "18446744073709551615;9999999999999999999;18446744073709551615"},
    {"\"Float16\"", "1.5;65504;\"NaN\";\"inf\";\"-inf\";\"-0.0\";-0.0;0.1;6e-8",
     "1.5;65504.0;\"NaN\";\"inf\";\"-inf\";\"-0.0\";\"-0.0\";0.099975586;5.9604645e-8"},
    {"\"Float32\"", "0.1;3.4028235e38;1e-45;\"NaN\";\"-inf\";16777217;\"0.5\"",
     "0.1;\"3.4028235e+38\";\"1e-45\";\"NaN\";\"-inf\";16777216.0;0.5"},
    {"\"Float64\"",
         "0.1;1.7976931348623157e308;5e-324;\"NaN\";\"nan\";\"inf\";\"Infinity\";\"-inf\";\"-0.0\";1e400;3;nul""l",
     "0.1;\"1.7976931348623157e+308\";\"5e-324\";\"NaN\";\"NaN\";\"inf\";\"inf\";\"-inf\";\"-0.0\";\"inf\";3.0;null"},
    {"\"Float64\"", "123456789012345.0;12345678901234.5;0.1234567890123456;1e22;1e23;1.5e-21;1.5e-22;-2.5",
     "\"123456789012345.0\";12345678901234.5;\"0.1234567890123456\";1e+22;\"1e+23\";1.5e-21;\"1.5e-22\";-2.5"},
    {"{\"Decimal32\":[9,2]}", "\"1234567.89\";-0.01;1e3", "\"1234567.89\";\"-0.01\";\"1000.00\""},
    {"{\"Decimal64\":[18,0]}", "\"999999999999999999\";-1", "\"999999999999999999\";\"-1\""},
    {"{\"Decimal128\":[38,10]}", "\"1234567890123456789012345678.0123456789\";5.0;-5;\"1e27\";null",
     "\"1234567890123456789012345678.0123456789\";\"5.0000000000\";\"-5.0000000000\";"
     "\"1000000000000000000000000000.0000000000\";null"},
    {"{\"Decimal256\":[76,5]}", "\"-12345678901234567890123456789012345678901234567890123456789012345678901.23456\"",
     "\"-12345678901234567890123456789012345678901234567890123456789012345678901.23456\""},
    {"{\"Decimal128\":[10,-2]}", "\"123E2\";12300", "\"123E2\";\"123E2\""},
    {"\"Date32\"", "\"1970-01-02\";\"1969-12-31\";3000000;-3000000;\"9999-12-31\";\"0000-01-01\";\"+10183-09-21\";0",
     "\"1970-01-02\";\"1969-12-31\";3000000;-3000000;\"9999-12-31\";\"0000-01-01\";3000000;\"1970-01-01\""},
    {"\"Date64\"", "\"1970-01-02T00:00:00\";\"1969-12-31T23:59:59.999\";9223372036854775807;86400000;\"2026-01-01\"",
     "\"1970-01-02T00:00:00\";\"1969-12-31T23:59:59.999\";9223372036854775807;\"1970-01-02T00:00:00\";"
     "\"2026-01-01T00:00:00\""},
    {"{\"Time32\":\"Second\"}", "\"23:59:59\";1;\"1\";86400;-1", "\"23:59:59\";\"00:00:01\";\"00:00:01\";86400;-1"},
    {"{\"Time32\":\"Millisecond\"}", "\"23:59:59.999\";1", "\"23:59:59.999\";\"00:00:00.001\""},
    {"{\"Time64\":\"Microsecond\"}", "\"23:59:59.999999\";null;\"00:00:00\";86400000000",
     "\"23:59:59.999999\";null;\"00:00:00\";86400000000"},
    {"{\"Time64\":\"Nanosecond\"}", "\"23:59:59.999999999\";\"12:00:00.5\"", "\"23:59:59.999999999\";\"12:00:00.500\""},
    {"{\"Timestamp\":[\"Second\",null]}", "-1;4102444800;\"5\";\"1970-01-01T00:01:00\"", "-1;4102444800;5;60"},
    {"{\"Timestamp\":[\"Microsecond\",\"+05:30\"]}", "0;\"2026-01-01T05:30:00.000001+05:30\";\"2026-01-01T00:00:00Z\"",
     "0;1767225600000001;1767225600000000"},
    {"{\"Timestamp\":[\"Millisecond\",\"Europe/Berlin\"]}", "-1;null", "-1;null"},
    {"{\"Timestamp\":[\"Nanosecond\",\"UTC\"]}", "9223372036854775807;-9223372036854775808",
     "9223372036854775807;-9223372036854775808"},
    {"{\"Duration\":\"Millisecond\"}", "\"-PT0.001S\";-9223372036854775808;\"12\";null",
         "-1;-9223372036854775808;12;null"},
    {"{\"Duration\":\"Second\"}", "\"P1DT1S\";5", "86401;5"},
    {"{\"Interval\":\"YearMonth\"}", "\"1 years 1 mons\";-13;null;2147483647", "13;-13;null;2147483647"},
    {"{\"Interval\":\"DayTime\"}", "[-2147483648,2147483647];\"-2 days 3.001 secs\";[ 1 , -1 ]",
     "[-2147483648,2147483647];[-2,3001];[1,-1]"},
    {"{\"Interval\":\"DayTime\"}", "[\"\\u0031\",2]", "[1,2]"}, /* the only text with escapes, and no text value */
    {"{\"Interval\":\"MonthDayNano\"}", "\"\\u0031 days\";[\"1\",2,\"\\u0031\\u0032\\u0033\\u0034\\u0035\\u0036\"]",
     "[0,1,0];[1,2,123456]"},
    {"{\"Interval\":\"MonthDayNano\"}", "\"14 mons -2 days 3.000000001 secs\";[-2147483648,0,9223372036854775807];null",
     "[14,-2,3000000001];[-2147483648,0,9223372036854775807];null"},
    {"\"Utf8\"", "\"\";\"a\";\"Z\xc3\xbcrich\";\"\\u00fc\\n\\\"\\u0000\\/\";null;\"a text that is longer than twelve b"
         "ytes\"",
     "\"\";\"a\";\"Z\xc3\xbcrich\";\"\xc3\xbc\\n\\\"\\u0000/\";null;\"a text that is longer than twelve bytes\""},
    {"\"LargeUtf8\"", "\"a\";null;\"\\ud834\\udd1e\"", "\"a\";null;\"\xf0\x9d\x84\x9e\""},
    {"\"Utf8View\"", "\"short\";null;\"a text longer than twelve bytes\";\"\\u0041nother one with escapes\"",
     "\"short\";null;\"a text longer than twelve bytes\";\"Another one with escapes\""},
    {"\"Binary\"", "\"\";\"00ff\";\"00FF\";null;\"\\u0030a\"", "\"\";\"00ff\";\"00ff\";null;\"0a\""},
    {"\"LargeBinary\"", "\"0102030405060708090a0b0c0d0e0f10\"", "\"0102030405060708090a0b0c0d0e0f10\""},
    {"\"BinaryView\"", "\"00\";\"0102030405060708090a0b0c0d0e0f10\";null",
         "\"00\";\"0102030405060708090a0b0c0d0e0f10\";null"},
    {"{\"FixedSizeBinary\":3}", "\"010203\";null;\"aAbBcC\"", "\"010203\";null;\"aabbcc\""},
    {"{\"FixedSizeBinary\":0}", "\"\";null", "\"\";null"},
    {"{\"List\":" ITEM("\"Int32\"") "}", "[];[1];[ 1 , null , 3 ];null", "[];[1];[1,null,3];null"},
    {"{\"LargeList\":" ITEM("\"Utf8\"") "}", "[\"a\",\"\"];[];null", "[\"a\",\"\"];[];null"},
    {"{\"List\":" ITEM("{\"List\":" ITEM("\"Utf8\"") "}") "}", "[[\"a\"],null,[]];null;[]",
         "[[\"a\"],null,[]];null;[]"},
    {"{\"FixedSizeList\":[" ITEM("\"Int32\"") ",2]}", "[1,null];null;[3,4]", "[1,null];null;[3,4]"},
    {"{\"FixedSizeList\":[" ITEM("\"Int32\"") ",0]}", "[];null;[ ]", "[];null;[]"},
    {"{\"FixedSizeList\":[" ITEM("{\"FixedSizeList\":[" ITEM("\"Utf8\"") ",2]}") ",2]}",
     "[[\"a\",\"b\"],null];null;[[\"c\",null],[\"\",\"d\"]]", "[[\"a\",\"b\"],null];null;[[\"c\",null],[\"\",\"d\"]]"},
    {"{\"Struct\":[" NAMED("b", "\"Int32\"", "true") "," NAMED("a", "\"Utf8\"", "true") "]}",
     "{\"b\":1,\"a\":\"x\"};null;{};{\"z\":[1,{\"b\":2}],\"a\":\"y\"};{ \"a\" : null , \"b\" : 2 }",
     "{\"a\":\"x\",\"b\":1};null;{\"a\":null,\"b\":null};{\"a\":\"y\",\"b\":null};{\"a\":null,\"b\":2}"},
    {"{\"Struct\":[]}", "{};null;{\"a\":1}", "{};null;{}"},
    {"{\"Struct\":[" NAMED("l", "{\"FixedSizeList\":[" ITEM("\"Utf8\"") ",2]}", "false") ","
     NAMED("m", MAP_OF("\"Utf8\"", "\"Int8\""), "false") "]}",
     "{\"l\":[\"a\",\"b\"],\"m\":{}};null;{\"l\":[null,\"b\"],\"m\":{\"k\":null,\"l\":2}}",
     "{\"l\":[\"a\",\"b\"],\"m\":{}};null;{\"l\":[null,\"b\"],\"m\":{\"k\":null,\"l\":2}}"},
    {MAP_OF("\"Utf8\"", "\"Int64\""),
         "{\"k1\":1,\"k2\":null};null;{};{ \"\\u0061\" : 2 , \"a\" : 3 };[[\"p\",1],[\"q\",2]];[ ]",
     "{\"k1\":1,\"k2\":null};null;{};{\"a\":2,\"a\":3};{\"p\":1,\"q\":2};{}"},
    {MAP_OF("\"Int32\"", "{\"List\":" ITEM("\"Boolean\"") "}"), "[[1,[true]],[2,null]];[];{\"3\":[]};null",
     "[[1,[true]],[2,null]];[];[[3,[]]];null"},
    {MAP_OF("{\"Struct\":[" NAMED("a", "\"Int8\"", "true") "]}", "\"Utf8View\""),
         "[[{\"a\":1},\"x\"],[{\"a\":null},null]]",
     "[[{\"a\":1},\"x\"],[{\"a\":null},null]]"},
    {MAP_OF("{\"Dictionary\":[\"Int8\",\"Utf8\"]}", "\"Int8\""), "{\"a\":1,\"b\":2};{\"a\":3}",
         "{\"a\":1,\"b\":2};{\"a\":3}"},
    {"{\"Dictionary\":[\"Int32\",\"Utf8\"]}", "\"a\";\"b\";null;\"a\"", "\"a\";\"b\";null;\"a\""},
    {"{\"Dictionary\":[\"UInt64\",{\"Timestamp\":[\"Second\",\"UTC\"]}]}", "5;6;5", "5;6;5"},
    {"{\"Dictionary\":[\"Int8\",{\"List\":" ITEM("{\"Dictionary\":[\"Int16\",\"Utf8\"]}") "}]}",
     "[\"a\",\"b\",\"a\"];null;[];[\"a\",\"b\",\"a\"];[null,\"c\"]",
         "[\"a\",\"b\",\"a\"];null;[];[\"a\",\"b\",\"a\"];[null,\"c\"]"},
    {"{\"Dictionary\":[\"Int8\",{\"Struct\":[" NAMED("a", "\"Int8\"", "false") "]}]}", "{\"a\":1};{\"a\":2};{\"a\":1}",
     "{\"a\":1};{\"a\":2};{\"a\":1}"},
    {"{\"List\":" ITEM("{\"Dictionary\":[\"Int8\",\"Float64\"]}") "}", "[1.5,2.5,null];null;[1.5]",
         "[1.5,2.5,null];null;[1.5]"},
    {"{\"List\":" ITEM("\"Null\"") "}", "[null,null];null;[]", "[null,null];null;[]"},
    {"{\"List\":" ITEM("{\"Timestamp\":[\"Microsecond\",null]}") "}", "[\"2026-01-01T05:30:00.000001\",1,null]",
     "[1767245400000001,1,null]"},
};

static void every_type_and_form(void)
{
    size_t i;
    for (i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        tl_document d;
        tl_error err;
        tl_buffer out;
        memset(&out, 0, sizeof out);
        column_document(text, sizeof text, forms[i].type, forms[i].read);
        column_document(wanted, sizeof wanted, forms[i].type, forms[i].written);
        if (!CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), TL_OK, &err)) {
            fprintf(stderr, "  %s: %.60s\n", forms[i].type, err.position < 1000 + strlen(text) ? text + err.position -
                1000 : "");
            continue;
        }
        CHECK_STATUS(tl_section_open(&d.sections[0], &err), TL_OK, &err);
        {
            struct ArrowArray root;
            const void *validity;
            tli_doc_batch_array(&d.sections[0], 0, &root, &validity);
            CHECK_STATUS(tli_arrow_array_check(d.sections[0].schema, &root, NULL, &err), TL_OK, &err);
        }
        CHECK_STATUS(tli_headjson_encode(&out, &d, &err), TL_OK, &err);
        CHECK_TEXT(out.data, out.size, wanted);
        round_trip(&d, forms[i].type);
        tl_document_free(&d);
        tl_buffer_free(&out);
    }
}

/* What may not stand in a row; `at`: which byte of the value the error points at. */
static const struct {
    const char *type, *value;
    tl_status status;
    int at;
} refused[] = {
    {"\"Null\"", "0", TL_CORRUPT, 0},
    {"\"Boolean\"", "\"true\"", TL_CORRUPT, 0},
    {"\"Boolean\"", "1", TL_CORRUPT, 0},
    {"\"Boolean\"", "truf", TL_CORRUPT, 0},
    {"\"Int8\"", "128", TL_CORRUPT, 0},
    {"\"Int8\"", "-129", TL_CORRUPT, 0},
    {"\"Int8\"", "1.0", TL_CORRUPT, 0},
    {"\"Int8\"", "1e1", TL_CORRUPT, 0},
    {"\"Int8\"", "\"\"", TL_CORRUPT, 0},
    {"\"Int8\"", "\"01\"", TL_CORRUPT, 0},
    {"\"Int8\"", "\" 1\"", TL_CORRUPT, 0},
    {"\"Int8\"", "01", TL_CORRUPT, 1},
    {"\"Int8\"", "true", TL_CORRUPT, 0},
    {"\"Int8\"", "[1]", TL_CORRUPT, 0},
    {"\"Int64\"", "9223372036854775808", TL_CORRUPT, 0},
    {"\"Int64\"", "-9223372036854775809", TL_CORRUPT, 0},
    {"\"Int64\"", "1234567890123456.0", TL_CORRUPT, 0},
    {"\"Int64\"", "12345678E0", TL_CORRUPT, 0},
    {"\"UInt8\"", "-1", TL_CORRUPT, 0},
    {"\"UInt64\"", "18446744073709551616", TL_CORRUPT, 0},
    {"\"UInt64\"", "99999999999999999999", TL_CORRUPT, 0},
    {"\"Float64\"", "\"x\"", TL_CORRUPT, 0},
    {"\"Float64\"", "NaN", TL_CORRUPT, 0},
    {"\"Float64\"", "true", TL_CORRUPT, 0},
    {"{\"Decimal32\":[3,1]}", "\"100.0\"", TL_CORRUPT, 0},
    {"\"Date32\"", "\"1970-02-30\"", TL_CORRUPT, 0},
    {"\"Date32\"", "2147483648", TL_CORRUPT, 0},
    {"\"Date32\"", "\"5\"", TL_CORRUPT, 0},
    {"{\"Time64\":\"Nanosecond\"}", "\"24:00:00\"", TL_CORRUPT, 0},
    {"{\"Timestamp\":[\"Second\",null]}", "\"x\"", TL_CORRUPT, 0},
    {"{\"Duration\":\"Second\"}", "\"PT\"", TL_CORRUPT, 0},
    {"{\"Interval\":\"YearMonth\"}", "\"1 days\"", TL_CORRUPT, 0},
    {"{\"Interval\":\"YearMonth\"}", "[1,2]", TL_CORRUPT, 0},
    {"{\"Interval\":\"DayTime\"}", "[1,2,3]", TL_CORRUPT, 4},
    {"{\"Interval\":\"DayTime\"}", "5", TL_CORRUPT, 0},
    {"{\"Interval\":\"DayTime\"}", "\"1 mons\"", TL_CORRUPT, 0},
    {"{\"Interval\":\"DayTime\"}", "\"0.0000001 secs\"", TL_CORRUPT, 0},
    {"{\"Interval\":\"MonthDayNano\"}", "[1,2]", TL_CORRUPT, 4},
    {"\"Utf8\"", "1", TL_CORRUPT, 0},
    {"\"Utf8\"", "\"\\ud800\"", TL_CORRUPT, 1},
    {"\"Utf8\"", "\"a\xff\"", TL_CORRUPT, 2},
    {"\"Binary\"", "\"0\"", TL_CORRUPT, 0},
    {"\"Binary\"", "\"0g\"", TL_CORRUPT, 0},
    {"\"Binary\"", "[0]", TL_CORRUPT, 0},
    {"{\"FixedSizeBinary\":2}", "\"00\"", TL_CORRUPT, 0},
    {"{\"FixedSizeBinary\":2}", "\"000000\"", TL_CORRUPT, 0},
    {"{\"List\":" ITEM("\"Int8\"") "}", "{}", TL_CORRUPT, 0},
    {"{\"List\":" ITEM("\"Int8\"") "}", "[1,]", TL_CORRUPT, 3},
    {"{\"List\":" ITEM("\"Int8\"") "}", "[1}", TL_CORRUPT, 2},
    {"{\"FixedSizeList\":[" ITEM("\"Int8\"") ",2]}", "[1]", TL_CORRUPT, 2},
    {"{\"FixedSizeList\":[" ITEM("\"Int8\"") ",2]}", "[]", TL_CORRUPT, 0},
    {"{\"FixedSizeList\":[" ITEM("\"Int8\"") ",2]}", "[1,2,3]", TL_CORRUPT, 6},
    {"{\"Struct\":[" NAMED("a", "\"Int8\"", "false") "]}", "{\"a\":null}", TL_CORRUPT, 5},
    {"{\"Struct\":[" NAMED("a", "\"Int8\"", "false") "]}", "{}", TL_CORRUPT, 1},
    {"{\"Struct\":[" NAMED("a", "\"Int8\"", "false") "]}", "[]", TL_CORRUPT, 0},
    {"{\"Struct\":[" NAMED("a", "\"Int8\"", "true") "," NAMED("a", "\"Int8\"", "true") "]}", "{}", TL_CORRUPT, 0},
    {MAP_OF("\"Utf8\"", "\"Int8\""), "{\"a\":1,}", TL_CORRUPT, 7},
    {MAP_OF("\"Utf8\"", "\"Int8\""), "[[\"a\",1]}", TL_CORRUPT, 8},
    {MAP_OF("\"Utf8\"", "\"Int8\""), "[[\"a\"]]", TL_CORRUPT, 5},
    {MAP_OF("\"Utf8\"", "\"Int8\""), "[[null,1]]", TL_CORRUPT, 2},
    {MAP_OF("\"Utf8\"", "\"Int8\""), "[null]", TL_CORRUPT, 1},
    {MAP_OF("{\"List\":" ITEM("\"Int8\"") "}", "\"Int8\""), "{\"a\":1}", TL_CORRUPT, 1},
    {"{\"Dictionary\":[\"Int32\",\"Utf8\"]}", "1", TL_CORRUPT, 0},
};

static void refuses_values_with_positions(void)
{
    size_t i;
    for (i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        tl_document d;
        tl_error err;
        const char *value;
        column_document(text, sizeof text, refused[i].type, refused[i].value);
        value = strstr(text, "\"rows\":[{\"x\":") + 13;
        if (!CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), refused[i].status, &err)
            || !CHECK_INT((long long)err.position - 1000 - (value - text), refused[i].at))
            fprintf(stderr, "  %s: %s: %s\n", refused[i].type, refused[i].value, err.text);
        /* the same value as the first of two, and in a list */
        column_document(text, sizeof text, refused[i].type, "null");
    }
}

/* Schemas that are refused, or not supported. */
static const struct {
    const char *type;
    tl_status status;
} bad_types[] = {
    {"\"Int128\"", TL_UNSUPPORTED}, {"{\"Union\":[[],\"Sparse\"]}", TL_UNSUPPORTED},
    {"{\"RunEndEncoded\":[1,2]}", TL_UNSUPPORTED}, {"{\"ListView\":1}", TL_UNSUPPORTED}, {"5", TL_CORRUPT},
    {"null", TL_CORRUPT}, {"{}", TL_CORRUPT}, {"[]", TL_CORRUPT}, {"\"Decimal128\"", TL_CORRUPT},
    {"{\"Decimal128\":[39,0]}", TL_CORRUPT}, {"{\"Decimal128\":[10]}", TL_CORRUPT}, {"{\"Decimal32\":[0,0]}",
         TL_CORRUPT},
    {"{\"Decimal128\":[\"10\",2]}", TL_CORRUPT}, {"{\"Int8\":1}", TL_CORRUPT}, {"\"List\"", TL_CORRUPT},
    {"{\"List\":[]}", TL_CORRUPT}, {"{\"List\":{}}", TL_CORRUPT}, {"{\"Struct\":{}}", TL_CORRUPT}, {"\"Struct\"",
         TL_CORRUPT},
    {"{\"Struct\":[1]}", TL_CORRUPT}, {"{\"Time32\":\"Microsecond\"}", TL_CORRUPT}, {"{\"Time64\":\"Second\"}",
         TL_CORRUPT},
    {"\"Timestamp\"", TL_CORRUPT}, {"{\"Timestamp\":[\"Second\",5]}", TL_CORRUPT}, {"{\"Timestamp\":\"Second\"}",
         TL_CORRUPT},
    {"{\"Interval\":\"Second\"}", TL_CORRUPT}, {"{\"FixedSizeBinary\":-1}", TL_CORRUPT},
    {"{\"FixedSizeBinary\":2147483648}", TL_CORRUPT}, {"{\"FixedSizeList\":[" ITEM("\"Int8\"") "]}", TL_CORRUPT},
    {"{\"Map\":[" ITEM("\"Int8\"") ",false]}", TL_CORRUPT}, {"{\"Map\":[" ITEM("{\"Struct\":[]}") "]}", TL_CORRUPT},
    {"{\"Dictionary\":[\"Utf8\",\"Utf8\"]}", TL_CORRUPT}, {"{\"Dictionary\":[\"Int8\"]}", TL_CORRUPT},
    {"{\"Dictionary\":[\"Int8\",{\"Dictionary\":[\"Int8\",\"Utf8\"]}]}", TL_CORRUPT},
    {"{\"Dictionary\":[\"Int8\",\"Utf8\"],\"Int8\":1}", TL_CORRUPT},
};

static void refuses_schemas(void)
{
    size_t i;
    for (i = 0; i < sizeof bad_types / sizeof bad_types[0]; i++) {
        tl_document d;
        tl_error err;
        const char *schema;
        column_document(text, sizeof text, bad_types[i].type, "");
        schema = strstr(text, "\"schema\":") + 9;
        if (!CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), bad_types[i].status, &err))
            fprintf(stderr, "  %s\n", bad_types[i].type);
        CHECK(err.position >= 1000 + (uint64_t)(schema - text) && err.position < 1000 + strlen(text));
    }
}

/* ---- documents ---- */

static void decodes_to(const char *from, const char *to)
{
    tl_document d;
    tl_error err;
    tl_buffer out;
    memset(&out, 0, sizeof out);
    if (!CHECK_STATUS(load_with(&d, from, strlen(from), NULL, &err), TL_OK, &err)) {
        fprintf(stderr, "  %s\n  %.60s\n", from, err.position < 1000 + strlen(from) ? from + err.position - 1000 : "");
        return;
    }
    CHECK_STATUS(tli_headjson_encode(&out, &d, &err), TL_OK, &err);
    CHECK_TEXT(out.data, out.size, to);
    tl_buffer_free(&out);
    tl_document_free(&d);
}

#define TWO "\"schema\":{\"fields\":[" NAMED("a", "\"Int32\"", "true") "," NAMED("b", "{\"Struct\":[" NAMED("c", \
    "\"Utf8\"", "true") "," \
    NAMED("d", "\"Int8\"", "true") "]}", "true") "],\"metadata\":{}}"

static void members_in_any_order(void)
{
    static const char want[] = "{\"properties\":{\"p\":\"q\"},\"sections\":[{\"name\":\"s\"," TWO
                               ",\"rows\":[{\"a\":1,\"b\":{\"c\":\"x\",\"d\":2}},{\"a\":null,\"b\":null}]}]}";
    decodes_to("{\"properties\":{\"p\":\"q\"},\"sections\":[{\"name\":\"s\"," TWO
               ",\"rows\":[{\"a\":1,\"b\":{\"c\":\"x\",\"d\":2}},{}]}]}", want);
    /* rows before the schema, sections before properties, unknown members everywhere, white space */
    decodes_to(" { \"x\" : [ { } ] , \"sections\" : [ { \"rows\" : [ { \"b\" : { \"d\" : 2 , \"e\" : null , \"c\" : "
        "\"x\" } ,"
               " \"zz\" : { \"a\" : 7 } , \"a\" : 1 } , { \"b\" : null } ] , \"y\" : 1 , " TWO
                   " , \"name\" : \"s\" } ] ,"
               " \"properties\" : { \"p\" : \"q\" } , \"z\" : null } \n", want);
    decodes_to("{\"sections\":[{\"name\":\"s\",\"rows\":[{\"\\u0062\":{\"\\u0064\":2,\"c\":\"x\"},\"a\":1},{}]," TWO
               "}],\"properties\":{\"p\":\"q\"}}", want);
    /* repeated keys: the last one counts, at every level */
    decodes_to("{\"properties\":{\"p\":\"1\",\"p\":\"q\"},\"sections\":[{\"name\":\"s\"," TWO
               ",\"rows\":[{\"a\":2,\"b\":{\"c\":\"y\",\"c\":null,\"d\":3,\"c\":\"x\",\"d\":2},\"a\":1},{"
                   "\"b\":{\"c\":\"w\"},"
               "\"a\":[],\"b\":null,\"a\":null}]}]}", want);
    decodes_to("{\"properties\":{\"p\":\"q\"},\"sections\":[{\"name\":\"s\",\"rows\":[{\"b\":{\"d\":2,\"c\":5,\"c\":"
        "\"x\"},\"a\":{},"
               "\"a\":1},{}]," TWO "}]}", want);
    /* a repeated section: the last one counts */
    decodes_to("{\"properties\":{\"p\":\"q\"},\"sections\":[{\"name\":\"s\"," TWO
        ",\"rows\":[{},{},{}]},{\"name\":\"s\"," TWO
               ",\"rows\":[{\"a\":1,\"b\":{\"c\":\"x\",\"d\":2}},{}]}]}", want);
    /* sections and properties are sorted by name */
    decodes_to("{\"properties\":{\"b\":\"1\",\"a\":\"2\"},\"sections\":[{\"name\":\"t\",\"schema\":{\"fields\":[]},\""
        "rows\":[{},{}]},"
               "{\"name\":\"s\",\"schema\":{\"fields\":[],\"metadata\":{\"k\":\"1\",\"j\":\"x\",\"k\":\"2"
                   "\"}},\"rows\":[]}]}",
               "{\"properties\":{\"a\":\"2\",\"b\":\"1\"},\"sections\":[{\"name\":\"s\",\"schema\":{\"fiel"
                   "ds\":[],\"metadata\":"
               "{\"j\":\"x\",\"k\":\"2\"}},\"rows\":[]},{\"name\":\"t\",\"schema\":{\"fields\":[],\"metada"
                   "ta\":{}},\"rows\":[{},{}]}]}");
    /* fields with only what they need */
    decodes_to("{\"properties\":{},\"sections\":[{\"name\":\"s\",\"schema\":{\"fields\":[{\"nullable\":false,\"data_t"
        "ype\":"
               "{\"Dictionary\":[\"Int8\",\"Int64\"]},\"name\":\"a\\n\",\"dict_is_ordered\":true,\"dict_id"
                   "\":7,\"u\":[]}]},\"rows\":[{\"a\\u000a\":5}]}]}",
               "{\"properties\":{},\"sections\":[{\"name\":\"s\",\"schema\":{\"fields\":[{\"name\":\"a\\n"
                   "\",\"data_type\":"
               "{\"Dictionary\":[\"Int8\",\"Int64\"]},\"nullable\":false,\"dict_id\":0,\"dict_is_ordered\""
                   ":true,\"metadata\":{}}],"
               "\"metadata\":{}},\"rows\":[{\"a\\n\":5}]}]}");
}

static void refuses_documents(void)
{
    static const struct {
        const char *text;
        int position;
        tl_status status;
    } bad[] = {
        {"", 0, TL_TRUNCATED}, {"{}", 0, TL_CORRUPT}, {"[]", 0, TL_CORRUPT}, {"{\"properties\":{}}", 0, TL_CORRUPT},
        {"{\"sections\":[]}", 0, TL_CORRUPT}, {"{\"properties\":[],\"sections\":[]}", 14, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":{}}", 28, TL_CORRUPT}, {"{\"properties\":{},\"sections\":[]} x", 32,
             TL_CORRUPT},
        {"{\"properties\":{\"a\":1},\"sections\":[]}", 19, TL_CORRUPT},
        {"{\"properties\":{\"a\":\"b\",},\"sections\":[]}", 23, TL_CORRUPT},
        {"{\"properties\":{},\"properties\":{},\"sections\":[]}", 17, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[],\"sections\":[]}", 31, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[{}]}", 29, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[{\"name\":\"a\",\"name\":\"a\"}]}", 41, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[{\"schema\":{}}]}", 39, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[{\"schema\":[]}]}", 39, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[1]}", 29, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[],}", 31, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[{\"name\":\"s\",\"schema\":{\"fields\":[]},\"rows\":[null]}]}", 72,
             TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[{\"name\":\"s\",\"schema\":{\"fields\":[]},\"rows\":{}}]}", 71, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[{\"name\":\"s\",\"schema\":{\"fields\":[]},\"rows\":[{}}]}", 74, TL_CORRUPT},
        {"{\"properties\":{},\"sections\":[{\"name\":\"s\",\"schema\":{\"fields\":[]},\"rows\":[{},]}]}", 75,
             TL_CORRUPT},
    };
    size_t i;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tl_document d;
        tl_error err;
        if (!CHECK_STATUS(decode(&d, bad[i].text, &err), bad[i].status, &err)
            || !CHECK_INT((long long)err.position - 1000, bad[i].position))
            fprintf(stderr, "  %s: %s\n", bad[i].text, err.text);
    }
}

static void nulls_where_there_may_be_none(void)
{
    tl_document d;
    tl_error err;
    static const char missing[] = "{\"properties\":{},\"sections\":[{\"name\":\"s\",\"schema\":{\"fields\":[" NAMED(
        "a", "\"Int8\"", "false")
                                  "],\"metadata\":{}},\"rows\":[{}]}]}";
    CHECK_STATUS(decode(&d, missing, &err), TL_CORRUPT, &err);
    CHECK_INT(err.position - 1000, strstr(missing, "{}]}]}") + 1 - missing);
}

static void bounded(void)
{
    tl_document d;
    tl_error err;
    tl_limits limits;
    /* a null of a huge fixed size takes nothing */
    column_document(text, sizeof text, "{\"FixedSizeBinary\":2147483647}", "null;null");
    CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), TL_LIMIT, &err);
    column_document(text, sizeof text, "{\"FixedSizeList\":[" ITEM("\"Int64\"") ",2147483647]}", "null;null");
    CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), TL_LIMIT, &err);
    column_document(text, sizeof text, "{\"FixedSizeList\":[" ITEM("{\"FixedSizeList\":[" ITEM("\"Null\"")
        ",2147483647]}") ",2147483647]}", "null;null");
    CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), TL_LIMIT, &err);
    memset(&limits, 0, sizeof limits);
    limits.rows = 2;
    column_document(text, sizeof text, "\"Int8\"", "1;2;3");
    CHECK_STATUS(decode_with(&d, text, strlen(text), NULL, &limits, &err), TL_LIMIT, &err);
    limits.rows = 3;
    CHECK_STATUS(decode_with(&d, text, strlen(text), NULL, &limits, &err), TL_OK, &err);
    tl_document_free(&d);
    limits.decoded_bytes = 1000;
    CHECK_STATUS(decode_with(&d, text, strlen(text), NULL, &limits, &err), TL_LIMIT, &err);
    limits.decoded_bytes = 0;
    limits.columns = 1;
    column_document(text, sizeof text, "{\"Struct\":[" NAMED("a", "\"Int8\"", "true") "]}", "");
    CHECK_STATUS(decode_with(&d, text, strlen(text), NULL, &limits, &err), TL_LIMIT, &err);
    limits.sections = 1;
    CHECK_STATUS(decode_with(&d,
        "{\"properties\":{},\"sections\":[{\"name\":\"a\",\"schema\":{\"fields\":[]},\"rows\":[]},{}]}",
                             79, NULL, &limits, &err), TL_LIMIT, &err);
    /* more values than an 8-bit index can tell apart */
    {
        size_t n = 0, i;
        static char many[2000];
        for (i = 0; i < 128; i++)
            n += (size_t)snprintf(many + n, sizeof many - n, "\"%u\";", (unsigned)i);
        column_document(text, sizeof text, "{\"Dictionary\":[\"Int8\",\"Utf8\"]}", many);
        CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), TL_OK, &err);
        tl_document_free(&d);
        snprintf(many + n, sizeof many - n, "\"%u\"", 128u);
        column_document(text, sizeof text, "{\"Dictionary\":[\"Int8\",\"Utf8\"]}", many);
        CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), TL_CORRUPT, &err);
    }
}

static void nests_to_the_limit(void)
{
    int depth, i;
    for (depth = 1; depth <= 70; depth++) {
        tl_document d;
        tl_error err;
        size_t n = 0;
        static char type[20000], value[200];
        for (i = 0; i < depth; i++)
            n += (size_t)snprintf(type + n, sizeof type - n, "{\"List\":{\"name\":\"item\",\"data_type\":");
        n += (size_t)snprintf(type + n, sizeof type - n, "\"Int8\"");
        for (i = 0; i < depth; i++)
            n += (size_t)snprintf(type + n, sizeof type - n, ",\"nullable\":true}}");
        memset(value, '[', (size_t)depth);
        value[depth] = '7';
        memset(value + depth + 1, ']', (size_t)depth);
        value[2 * depth + 1] = 0;
        column_document(text, sizeof text, type, value);
        if (depth < 64) {
            if (CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), TL_OK, &err)) {
                if (depth % 9 == 0)
                    round_trip(&d, "nested");
                tl_document_free(&d);
            }
        } else {
            CHECK_STATUS(load_with(&d, text, strlen(text), NULL, &err), TL_LIMIT, &err);
        }
    }
}

/* ---- damage ---- */

static const char sample[] = "{\"properties\":{\"a\":\"\\u0062\"},\"sections\":[{\"name\":\"s\"," TWO
    ",\"rows\":[{\"a\":1,\"b\":{\"c\":\"x\",\"d\":2}},{}]},"
    "{\"name\":\"t\",\"rows\":[{\"m\":{\"k\":1.5},\"n\":\"v\"},{\"m\":[],\"n\":\"\\u0076\",\"o\":\"00ff\"}"
        "],\"schema\":{\"fields\":["
    NAMED("m", MAP_OF("\"Utf8\"", "\"Float64\""), "true") "," NAMED("n", "{\"Dictionary\":[\"Int8\",\"Utf8\"]}",
        "true") ","
    NAMED("o", "{\"FixedSizeBinary\":2}", "true") "],\"metadata\":{\"k\":\"v\"}}}]}";

static void every_cut_and_flip(void)
{
    size_t cut, bit;
    tl_document d;
    tl_error err;
    for (cut = 0; cut < sizeof sample - 1; cut++) {
        char *copy = (char *)malloc(cut + 1);
        memcpy(copy, sample, cut);
        CHECK_STATUS(load_with(&d, copy, cut, NULL, &err), TL_TRUNCATED, &err);
        CHECK_INT(err.position, 1000 + cut);
        free(copy);
    }
    for (bit = 0; bit < (sizeof sample - 1) * 8; bit++) {
        char *copy = (char *)malloc(sizeof sample - 1);
        memcpy(copy, sample, sizeof sample - 1);
        copy[bit / 8] = (char)(copy[bit / 8] ^ (1 << (bit % 8)));
        if (load_with(&d, copy, sizeof sample - 1, NULL, &err) == TL_OK) {
            if (bit % 3 == 0)
                round_trip(&d, "flipped");
            tl_document_free(&d);
        } else {
            if (!CHECK_INT(err.position <= 1000 + sizeof sample, 1))
                fprintf(stderr, "  %s: %s\n", tl_status_text(err.status), err.text);
        }
        free(copy);
    }
}

static void each_allocation_fails(void)
{
    tl_test_memory m;
    tl_allocator a = tl_test_allocator(&m);
    tl_error err;
    long fail;
    int done = 0;
    for (fail = 1; !done; fail++) {
        tl_document d;
        tl_buffer out;
        tl_status st;
        memset(&m, 0, sizeof m);
        memset(&out, 0, sizeof out);
        out.allocator = a;
        m.fail_at = fail;
        st = load_with(&d, sample, sizeof sample - 1, &a, &err);
        if (st == TL_OK) {
            st = tli_headjson_encode(&out, &d, &err);
            if (st != TL_OK)
                CHECK_INT(out.size, 0);
            tl_document_free(&d);
        }
        done = st == TL_OK;
        if (!done)
            CHECK_STATUS(st, TL_NO_MEMORY, &err);
        tl_buffer_free(&out);
        CHECK_INT(m.live, 0);
        CHECK_INT(m.bytes, 0);
    }
    CHECK(fail > 20);
}

/* What a closed section keeps failing with: nothing is counted twice. */
static void failed_opening_stays_failed(void)
{
    tl_document d;
    tl_error err;
    const struct ArrowArray *array;
    int i;
    column_document(text, sizeof text, "{\"Dictionary\":[\"Int8\",\"Int8\"]}", "1;2;300");
    CHECK_STATUS(decode(&d, text, &err), TL_OK, &err);
    for (i = 0; i < 3; i++) {
        CHECK_STATUS(tl_section_column(&d.sections[0], 0, 0, &array, &err), TL_CORRUPT, &err);
        CHECK_INT(err.position - 1000, strstr(text, "300") - text);
    }
    tl_document_free(&d);
}

static const tl_test_case cases[] = {
    TL_TEST(heads_decode_and_round_trip),
#ifndef TIMELAKE_NO_HEAD_ARROW
    TL_TEST(arrow_heads_round_trip),
#endif
    TL_TEST(every_type_and_form),
    TL_TEST(refuses_values_with_positions),
    TL_TEST(refuses_schemas),
    TL_TEST(members_in_any_order),
    TL_TEST(refuses_documents),
    TL_TEST(nulls_where_there_may_be_none),
    TL_TEST(bounded),
    TL_TEST(nests_to_the_limit),
    TL_TEST(every_cut_and_flip),
    TL_TEST(each_allocation_fails),
    TL_TEST(failed_opening_stays_failed),
};
TL_TEST_MAIN(cases)
