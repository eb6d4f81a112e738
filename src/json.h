/* >>json: strict JSON (RFC 8259): a check, a tree for documents, a compact form.

   Text is refused, with the offset of the first wrong byte, unless it is one value with nothing but white space around
   it, in valid UTF-8 without a byte order mark, with no lone surrogate among its escapes. Duplicate keys, the order of
   members, and the digits of numbers are kept. Nesting is limited by limits.depth. Nothing here recurses. */

/* What a node is. */
typedef enum tl_json_kind {
    TL_JSON_NULL, TL_JSON_BOOL, TL_JSON_NUMBER, TL_JSON_STRING, TL_JSON_ARRAY, TL_JSON_OBJECT
} tl_json_kind;

/* A value. Nodes lie in the order of the text, everything below a node right behind it; a member of an object is its
   key (a string node) and, right behind it, its value. So `key + 1` is a member's value, and the subtree of a node
   are its `nodes` nodes. */
typedef struct tl_json_node {
    uint32_t start;     /* of the raw text of the value, quotes and brackets included, in bytes from the text's start */
    uint32_t size;      /* of the raw text */
    uint32_t count;     /* of elements, or of members */
    uint32_t nodes;     /* of this value: itself and all below it */
    uint32_t unescaped; /* of a string with escapes: where its text is in the tree's memory, plus 1; else 0 */
    uint8_t kind;       /* tl_json_kind */
    uint8_t truth;      /* of a bool */
} tl_json_node;

/* A parsed document. `root` is its outermost value. Reading it changes nothing: threads may share one. */
typedef struct tl_json {
    const char *text; /* borrowed until tl_json_free */
    size_t size;
    const tl_json_node *root;
    const char *strings; /* the texts of strings with escapes, each behind its size */
    size_t memory;       /* bytes of the one block that holds nodes and strings */
    tl_allocator allocator;
} tl_json;

/* Checks the whole text without keeping anything. TL_CORRUPT, TL_TRUNCATED or TL_LIMIT with the position of the first
   byte that is not JSON. limits may be NULL. */
TL_API tl_status tl_json_check(const char *text, size_t size, const tl_limits *limits, tl_error *err);

/* Appends the text to `out` without white space; strings with the fewest escapes (\" \\ \b \f \n \r \t, \u00xx for
   other control characters), numbers with the digits they have, members in their order, duplicate ones too. On failure
   `out` is as it was. */
TL_API tl_status tl_json_canonical(tl_buffer *out, const char *text, size_t size, const tl_limits *limits,
                                   tl_error *err);

/* Parses a text of less than 4 GiB. The text is borrowed until tl_json_free. One block is taken from the allocator
   (NULL: malloc), of exactly the size that is needed. On failure nothing is held. */
TL_API tl_status tl_json_parse(tl_json *tree, const char *text, size_t size, const tl_limits *limits,
                               const tl_allocator *allocator, tl_error *err);

/* Gives a tree back; a zeroed one, or NULL, is fine. */
TL_API void tl_json_free(tl_json *tree);

/* The raw text of a node, as it stands in the document: what a rewrite copies when it does not change the value. */
TL_API tl_span tl_json_raw(const tl_json *tree, const tl_json_node *node);

/* The first element of an array or the first key of an object, and the one that follows `child`; NULL at the end, and
   for a parent that is neither. */
TL_API const tl_json_node *tl_json_first(const tl_json_node *parent);
TL_API const tl_json_node *tl_json_next(const tl_json_node *parent, const tl_json_node *child);

/* The value of the member called `key`: of the last one when there are several, as most readers have it. NULL when
   there is none, or the node is NULL or no object. */
TL_API const tl_json_node *tl_json_member(const tl_json *tree, const tl_json_node *object, tl_span key);

/* Element `index` of an array, or NULL. */
TL_API const tl_json_node *tl_json_at(const tl_json_node *array, uint32_t index);

/* 1 when the node is there and not null. */
TL_API int tl_json_present(const tl_json_node *node);

/* The value of a node as what it has to be: TL_CORRUPT at the node's position when it is anything else, TL_ABSENT for
   a node that is NULL.
   int64: digits alone; a fraction, an exponent, a string or a value out of range is refused, never rounded.
   string: the text without its escapes, valid as long as the tree. */
TL_API tl_status tl_json_int64(const tl_json *tree, const tl_json_node *node, int64_t *value, tl_error *err);
TL_API tl_status tl_json_string(const tl_json *tree, const tl_json_node *node, tl_span *value, tl_error *err);
TL_API tl_status tl_json_bool(const tl_json *tree, const tl_json_node *node, int *value, tl_error *err);
