/* What tests/interop/arrow_integration.py drives: `ipc_tool dump STREAM` prints a stream's schema and values as JSON
   (values as hex of their little-endian bytes), `ipc_tool recode STREAM OUT [zstd]` reads one and writes it anew,
   `ipc_tool parquet STREAM OUT` as a Parquet file. */
#include <stdio.h>
#define TLI_KEEP_MACROS
#define TIMELAKE_IMPLEMENTATION
#include "../../timelake.h"
#ifdef TL_HAVE_ZSTD
#include <zstd.h>

static size_t zstd_bound(void *context, size_t size)
{
    (void)context;
    return ZSTD_compressBound(size);
}

static tl_status zstd_compress(void *context, void *dst, size_t capacity, size_t *dst_size, const void *src,
                               size_t size)
{
    (void)context;
    *dst_size = ZSTD_compress(dst, capacity, src, size, 3);
    return ZSTD_isError(*dst_size) ? TL_LIMIT : TL_OK;
}
#endif

static void text(const char *s)
{
    putchar('"');
    for (; *s != 0; s++)
        if (*s == '"' || *s == '\\' || (unsigned char)*s < 32)
            printf("\\u%04x", (unsigned)(unsigned char)*s);
        else
            putchar(*s);
    putchar('"');
}

static void hex(const void *data, size_t size)
{
    const unsigned char *p = (const unsigned char *)data;
    putchar('"');
    while (size-- > 0)
        printf("%02x", *p++);
    putchar('"');
}

static void dump_schema(const struct ArrowSchema *s)
{
    tl_span key, value;
    int32_t i;
    printf("{\"format\":");
    text(s->format);
    printf(",\"name\":");
    text(s->name);
    printf(",\"flags\":%d,\"metadata\":[", (int)s->flags);
    for (i = 0; tl_schema_metadata_at(s, i, &key, &value); i++) {
        printf("%s[", i == 0 ? "" : ",");
        hex(key.data, key.size);
        putchar(',');
        hex(value.data, value.size);
        putchar(']');
    }
    printf("],\"children\":[");
    for (i = 0; i < s->n_children; i++) {
        printf(i == 0 ? "" : ",");
        dump_schema(s->children[i]);
    }
    printf("],\"dictionary\":");
    if (s->dictionary != NULL)
        dump_schema(s->dictionary);
    else
        printf("null");
    printf("}");
}

static void dump_value(const struct ArrowSchema *s, const struct ArrowArray *a, uint64_t i);

static void dump_list(const struct ArrowSchema *s, const struct ArrowArray *a, uint64_t from, uint64_t to)
{
    uint64_t i;
    putchar('[');
    for (i = from; i < to; i++) {
        printf(i == from ? "" : ",");
        dump_value(s, a, i);
    }
    putchar(']');
}

static void dump_view(const struct ArrowArray *a, const uint8_t *view)
{
    uint32_t size = tli_bits_u32(view);
    if (size <= 12)
        hex(view + 4, size);
    else
        hex((const uint8_t *)a->buffers[2 + tli_bits_u32(view + 8)] + tli_bits_u32(view + 12), size);
}

static void dump_value(const struct ArrowSchema *s, const struct ArrowArray *a, uint64_t i)
{
    const uint8_t *values = a->n_buffers > 1 ? (const uint8_t *)a->buffers[1] : NULL;
    tl_type t;
    int64_t c;
    if (tl_type_of(s, &t, NULL) != TL_OK)
        exit(2);
    if (!tli_arrow_valid(a, (int64_t)i))
        printf("null");
    else if (s->dictionary != NULL)
        dump_value(s->dictionary, a->dictionary, tli_ipcvalue_key(values, t.width, i));
    else if (t.id == TL_TYPE_BOOL)
        printf("%d", tli_bits_get(values, i));
    else if (TLI_IPC_LIST_TYPE(t.id))
        dump_list(s->children[0], a->children[0], (uint64_t)tli_ipcvalue_offset(t.id, values, i),
                  (uint64_t)tli_ipcvalue_offset(t.id, values, i + 1));
    else if (t.id == TL_TYPE_FIXED_LIST)
        dump_list(s->children[0], a->children[0], i * (uint64_t)t.size, (i + 1) * (uint64_t)t.size);
    else if (t.id == TL_TYPE_STRUCT) {
        putchar('[');
        for (c = 0; c < s->n_children; c++) {
            printf(c == 0 ? "" : ",");
            dump_value(s->children[c], a->children[c], i);
        }
        putchar(']');
    } else if (TLI_IPC_VIEW_TYPE(t.id))
        dump_view(a, values + 16 * i);
    else if (tli_ipc_buffers(t.id) == 3)
        hex((const uint8_t *)a->buffers[2] + tli_ipcvalue_offset(t.id, values, i),
            (size_t)(tli_ipcvalue_offset(t.id, values, i + 1) - tli_ipcvalue_offset(t.id, values, i)));
    else
        hex(values + i * (uint64_t)t.width, (size_t)t.width);
}

static int say(const tl_error *err)
{
    printf("{\"error\":");
    text(tl_status_text(err->status));
    printf(",\"text\":");
    text(err->text);
    printf("}\n");
    return 0;
}

static int dump(tli_ipc_stream *s, tl_error *err)
{
    const struct ArrowArray *a;
    int32_t b, c;
    for (b = 0; b < s->batch_count; b++)
        for (c = 0; c < s->schema->n_children; c++)
            if (tli_ipc_column(s, b, c, &a, err) != TL_OK)
                return say(err);
    printf("{\"schema\":");
    dump_schema(s->schema);
    printf(",\"batches\":[");
    for (b = 0; b < s->batch_count; b++) {
        printf("%s{\"rows\":%lld,\"columns\":[", b == 0 ? "" : ",", (long long)s->batches[b].rows);
        for (c = 0; c < s->schema->n_children; c++) {
            printf(c == 0 ? "" : ",");
            if (tli_ipc_column(s, b, c, &a, err) != TL_OK)
                return 1;
            dump_list(s->schema->children[c], a, 0, (uint64_t)a->length);
        }
        printf("]}");
    }
    printf("]}\n");
    return 0;
}

static int recode(tli_ipc_stream *s, const char *path, const tl_compression *compression, tl_error *err)
{
    tl_buffer out;
    const struct ArrowArray **columns =
        (const struct ArrowArray **)calloc((size_t)s->schema->n_children + 1, sizeof(void *));
    int32_t b, c;
    FILE *f = fopen(path, "wb");
    memset(&out, 0, sizeof out);
    if (f == NULL || columns == NULL
        || tli_ipc_write_schema(&out, s->schema, tl_text(NULL), tl_text(NULL), err) != TL_OK)
        return say(err);
    for (b = 0; b < s->batch_count; b++) {
        for (c = 0; c < s->schema->n_children; c++)
            if (tli_ipc_column(s, b, c, &columns[c], err) != TL_OK)
                return say(err);
        if (tli_ipc_write_batch(&out, s->schema, columns, s->batches[b].rows, compression, err) != TL_OK)
            return say(err);
    }
    if (tli_ipc_write_end(&out, err) != TL_OK)
        return say(err);
    fwrite(out.data, 1, out.size, f);
    fclose(f);
    tl_buffer_free(&out);
    free(columns);
    printf("{}\n");
    return 0;
}

static int as_parquet(const char *bytes, size_t size, const char *path)
{
    tl_document d;
    tl_error err;
    tl_buffer out;
    tl_span column;
    struct ArrowArray *arrays;
    const struct ArrowArray **batches;
    FILE *f = fopen(path, "wb");
    int32_t i, count = 0;
    tl_status st;
    memset(&out, 0, sizeof out);
    if (f == NULL || tl_ipc_decode(&d, bytes, size, NULL, &err) != TL_OK)
        return f == NULL ? 2 : say(&err);
    arrays = (struct ArrowArray *)calloc((size_t)d.sections[0].batch_count + 1, sizeof *arrays);
    batches = (const struct ArrowArray **)calloc((size_t)d.sections[0].batch_count + 1, sizeof *batches);
    for (st = TL_OK; count < d.sections[0].batch_count && st == TL_OK; count += st == TL_OK) {
        st = tl_section_export(&d.sections[0], count, NULL, &arrays[count], &err);
        batches[count] = &arrays[count];
    }
    if (st == TL_OK)
        st = tl_parquet_write(&out, d.sections[0].schema, batches, count, &column, &err);
    for (i = 0; i < count; i++)
        arrays[i].release(&arrays[i]);
    fwrite(out.data, 1, out.size, f);
    fclose(f);
    free(arrays);
    free((void *)batches);
    tl_buffer_free(&out);
    tl_document_free(&d);
    return st == TL_OK ? printf("{}\n") < 0 : say(&err);
}

int main(int argc, char **argv)
{
    FILE *f = argc > 2 ? fopen(argv[2], "rb") : NULL;
    static char bytes[1 << 26];
    tl_compression compression;
    tl_error err;
    tli_store *store;
    tli_ipc_stream *s;
    size_t size;
    int code;
    if (f == NULL)
        return 2;
    size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    memset(&compression, 0, sizeof compression);
#ifdef TL_HAVE_ZSTD
    compression.bound = zstd_bound;
    compression.compress = zstd_compress;
#endif
    if (strcmp(argv[1], "parquet") == 0)
        return as_parquet(bytes, size, argv[3]);
    store = tli_mem_store_new(NULL, UINT64_MAX, bytes, size, NULL, NULL, &err);
    if (store == NULL)
        return 2;
    if (tli_ipc_open(store, bytes, size, 0, NULL, NULL, &s, &err) != TL_OK)
        code = say(&err);
    else if (strcmp(argv[1], "dump") == 0)
        code = dump(s, &err);
    else
        code = recode(s, argv[3], argc > 4 ? &compression : NULL, &err);
    tli_mem_store_drop(store);
    return code;
}
