/* >>thrift: Apache Thrift's compact protocol, reading (apache/thrift, thrift-compact-protocol.md). Errors stick: all
   that is read after one is zero or the end of a struct. Each element of a list takes at least a byte, so that no count
   is trusted beyond what is there. */
#if !defined(TIMELAKE_NO_LAKE) && !defined(TIMELAKE_NO_COMMIT)
enum {
    TLI_THRIFT_STOP, TLI_THRIFT_TRUE, TLI_THRIFT_FALSE, TLI_THRIFT_BYTE, TLI_THRIFT_I16, TLI_THRIFT_I32, TLI_THRIFT_I64,
    TLI_THRIFT_DOUBLE, TLI_THRIFT_BINARY, TLI_THRIFT_LIST, TLI_THRIFT_SET, TLI_THRIFT_MAP, TLI_THRIFT_STRUCT,
    TLI_THRIFT_UUID
};

#define TLI_THRIFT_DEPTH 32u

typedef struct tli_thrift {
    const uint8_t *at, *end;
    const char *bad; /* what is wrong, NULL: nothing */
} tli_thrift;

/* A field of a struct; zero before the first. */
typedef struct tli_thrift_field {
    int32_t id;
    uint8_t type;
} tli_thrift_field;

TLI_FN void tli_thrift_fail(tli_thrift *t, const char *what)
{
    if (t->bad == NULL)
        t->bad = what;
    t->end = t->at;
}

TLI_INLINE size_t tli_thrift_left(const tli_thrift *t)
{
    return (size_t)(t->end - t->at);
}

TLI_FN uint8_t tli_thrift_byte(tli_thrift *t)
{
    if (t->at < t->end)
        return *t->at++;
    tli_thrift_fail(t, "the footer ends too early");
    return 0;
}

TLI_FN uint64_t tli_thrift_varint(tli_thrift *t)
{
    uint64_t v = 0;
    uint32_t shift;
    for (shift = 0; shift < 64; shift += 7) {
        uint8_t b = tli_thrift_byte(t);
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return v;
    }
    tli_thrift_fail(t, "a number of the footer is too long");
    return 0;
}

TLI_FN int64_t tli_thrift_zigzag(tli_thrift *t)
{
    uint64_t v = tli_thrift_varint(t);
    return (int64_t)(v >> 1 ^ ((uint64_t)0 - (v & 1)));
}

/* The next field of a struct. 0: there is none. */
TLI_FN int tli_thrift_next(tli_thrift *t, tli_thrift_field *f)
{
    uint8_t b = tli_thrift_byte(t);
    int64_t id = f->id;
    if (b == TLI_THRIFT_STOP)
        return 0;
    f->type = b & 15;
    id = b >> 4 != 0 ? id + (b >> 4) : tli_thrift_zigzag(t);
    if (f->type == TLI_THRIFT_STOP || f->type > TLI_THRIFT_UUID || id < INT16_MIN || id > INT16_MAX)
        tli_thrift_fail(t, "a field of the footer is malformed");
    f->id = (int32_t)id;
    return t->bad == NULL;
}

TLI_FN tl_span tli_thrift_bytes(tli_thrift *t, uint64_t size)
{
    tl_span s = tli_text_span((const char *)t->at, 0);
    if (size > tli_thrift_left(t)) {
        tli_thrift_fail(t, "the footer ends too early");
        return s;
    }
    t->at += size;
    s.size = (size_t)size;
    return s;
}

/* The number of elements, and their type. */
TLI_FN uint32_t tli_thrift_list(tli_thrift *t, uint8_t *type)
{
    uint8_t b = tli_thrift_byte(t);
    uint64_t count = b >> 4 == 15 ? tli_thrift_varint(t) : (uint64_t)(b >> 4);
    *type = b & 15;
    if (count <= tli_thrift_left(t) && count <= UINT32_MAX && *type != TLI_THRIFT_STOP && *type <= TLI_THRIFT_UUID)
        return (uint32_t)count;
    tli_thrift_fail(t, "a list of the footer is longer than the footer");
    return 0;
}

/* What is still to be skipped: fields of a struct, or `left` elements (of a map keys and values in turn). */
typedef struct tli_thrift_frame {
    uint64_t left;
    uint8_t types[2];
    uint8_t is_struct;
    tli_thrift_field field;
} tli_thrift_frame;

/* The type of the next value in a frame; 0: the frame is through. */
TLI_FN uint8_t tli_thrift_step(tli_thrift *t, tli_thrift_frame *f)
{
    if (f->is_struct)
        return (uint8_t)(tli_thrift_next(t, &f->field) ? f->field.type : 0);
    return (uint8_t)(t->bad == NULL && f->left != 0 ? f->types[f->left-- & 1] : 0);
}

/* Begins the frame of a value that holds others. */
TLI_FN void tli_thrift_open(tli_thrift *t, tli_thrift_frame *f, uint8_t type)
{
    TLI_FILL(f, 0, sizeof *f);
    f->is_struct = (uint8_t)(type == TLI_THRIFT_STRUCT);
    if (type == TLI_THRIFT_LIST || type == TLI_THRIFT_SET) {
        f->left = tli_thrift_list(t, &f->types[0]);
        f->types[1] = f->types[0];
    } else if (type == TLI_THRIFT_MAP) {
        f->left = tli_thrift_varint(t);
        if (f->left > tli_thrift_left(t))
            tli_thrift_fail(t, "a map of the footer is longer than the footer");
        if (f->left != 0) {
            uint8_t types = tli_thrift_byte(t);
            f->types[0] = types >> 4;
            f->types[1] = types & 15;
            f->left *= 2;
        }
    }
}

/* A value that holds no others. */
TLI_FN void tli_thrift_skip_plain(tli_thrift *t, uint8_t type, int in_struct)
{
    switch (type) {
    case TLI_THRIFT_TRUE: case TLI_THRIFT_FALSE:
        (void)(in_struct ? 0 : tli_thrift_byte(t)); /* a field's value is its type */
        break;
    case TLI_THRIFT_BYTE:
        (void)tli_thrift_byte(t);
        break;
    case TLI_THRIFT_I16: case TLI_THRIFT_I32: case TLI_THRIFT_I64:
        (void)tli_thrift_varint(t);
        break;
    case TLI_THRIFT_DOUBLE:
        (void)tli_thrift_bytes(t, 8);
        break;
    case TLI_THRIFT_BINARY:
        (void)tli_thrift_bytes(t, tli_thrift_varint(t));
        break;
    case TLI_THRIFT_UUID:
        (void)tli_thrift_bytes(t, 16);
        break;
    default:
        tli_thrift_fail(t, "a value of the footer of no known type");
        break;
    }
}

/* Skips the value of a field. */
TLI_FN void tli_thrift_skip(tli_thrift *t, uint8_t type)
{
    tli_thrift_frame frames[TLI_THRIFT_DEPTH];
    uint32_t depth = 1;
    TLI_FILL(&frames[0], 0, sizeof frames[0]);
    if (type < TLI_THRIFT_LIST || type > TLI_THRIFT_STRUCT) {
        tli_thrift_skip_plain(t, type, 1);
        return;
    }
    tli_thrift_open(t, &frames[0], type);
    while (depth != 0) {
        tli_thrift_frame *f = &frames[depth - 1];
        type = tli_thrift_step(t, f);
        if (type == 0)
            depth--;
        else if (type < TLI_THRIFT_LIST || type > TLI_THRIFT_STRUCT)
            tli_thrift_skip_plain(t, type, f->is_struct);
        else if (depth == TLI_THRIFT_DEPTH)
            tli_thrift_fail(t, "the footer nests too deep");
        else
            tli_thrift_open(t, &frames[depth++], type);
    }
}

/* A field as a number; one of another type is skipped, and `fallback` stays. */
TLI_FN int64_t tli_thrift_int(tli_thrift *t, const tli_thrift_field *f, int64_t fallback)
{
    if (f->type == TLI_THRIFT_BYTE)
        return (int8_t)tli_thrift_byte(t);
    if (f->type >= TLI_THRIFT_I16 && f->type <= TLI_THRIFT_I64)
        return tli_thrift_zigzag(t);
    tli_thrift_skip(t, f->type);
    return fallback;
}

/* A field as bytes; absent when it is of another type. */
TLI_FN tl_span tli_thrift_text(tli_thrift *t, const tli_thrift_field *f)
{
    if (f->type == TLI_THRIFT_BINARY)
        return tli_thrift_bytes(t, tli_thrift_varint(t));
    tli_thrift_skip(t, f->type);
    return tli_text_span(NULL, 0);
}
#endif /* TIMELAKE_NO_LAKE and TIMELAKE_NO_COMMIT */
