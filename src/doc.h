/* >>doc: the head document: string properties and named tables, whatever codec they came from or go to. */

/* One table of a document: a schema (struct node, a child per column) and record batches. Decoded documents open
   columns when asked; documents that are built hold the caller's arrays. Read name, schema, rows and batch_count;
   the rest is private. */
typedef struct tl_section {
    tl_span name;
    const struct ArrowSchema *schema;
    int64_t rows;        /* of all batches */
    int32_t batch_count;
    struct tli_doc_batch *batches;
    struct tli_doc_source *source; /* how columns are opened; NULL: all are there */
    struct tli_store *store;       /* what an exported array keeps alive */
} tl_section;

typedef struct tl_property {
    tl_span key;
    tl_span value;
} tl_property;

/* Sorted by key and by name (bytewise), no two alike. Zeroed it is an empty document whose allocator is malloc; set
   `allocator` first for another. */
typedef struct tl_document {
    int32_t property_count;
    int32_t section_count;
    tl_property *properties;
    tl_section *sections;
    tl_allocator allocator;
    struct tli_store *store;
} tl_document;

/* The value of a property, absent (data NULL) when there is none. */
TL_API tl_span tl_document_property(const tl_document *document, tl_span key);

/* The section called `name`, or NULL. */
TL_API tl_section *tl_document_section(const tl_document *document, tl_span name);

/* Sets a property; both texts are copied. */
TL_API tl_status tl_document_set(tl_document *document, tl_span key, tl_span value, tl_error *err);

/* Adds a section, or replaces the one of that name. The schema is copied; the batches (struct arrays of that schema)
   are borrowed until the document is freed, and are checked for shape here. `batches` may be NULL with count 0. */
TL_API tl_status tl_document_add(tl_document *document, tl_span name, const struct ArrowSchema *schema,
                                 const struct ArrowArray *const *batches, int32_t count, tl_error *err);

/* Frees what the document owns. Arrays handed out stay valid until each is released. */
TL_API void tl_document_free(tl_document *document);

/* Column `column` of batch `batch`, opened when it was not: decompressed and checked, once; the others stay closed.
   Valid as long as its document; buffers may lie at any alignment (load values with memcpy) - tl_section_export
   aligns them. */
TL_API tl_status tl_section_column(tl_section *section, int32_t batch, int32_t column, const struct ArrowArray **array,
                                   tl_error *err);

/* Opens every column of every batch. */
TL_API tl_status tl_section_open(tl_section *section, tl_error *err);

/* Hands a batch out through the C Data Interface: a struct array (and its schema, when `schema` is not NULL) that owns
   itself, outlives the document, may be released on any thread, and whose buffers are 8-byte aligned. Buffers are
   shared where the body was given away with `release` and lies aligned, or was decompressed; else copied. */
TL_API tl_status tl_section_export(tl_section *section, int32_t batch, struct ArrowSchema *schema,
                                   struct ArrowArray *array, tl_error *err);
