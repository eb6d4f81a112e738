/* >>jsontype: schemas of the head's `json` codec: names of types, what a column knows of itself, reading a schema. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- types ---- */

/* arrow-schema's names of types, by tl_type_id. */
TLI_FN const char *tli_jsontype_name(tl_type_id id)
{
    static const char names[][16] = {
        "Null", "Boolean", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float16",
        "Float32", "Float64", "Decimal32", "Decimal64", "Decimal128", "Decimal256", "Date32", "Date64", "Time32",
        "Time64", "Timestamp", "Duration", "Interval", "Interval", "Interval", "Utf8", "LargeUtf8", "Utf8View",
        "Binary", "LargeBinary", "BinaryView", "FixedSizeBinary", "List", "LargeList", "FixedSizeList", "Struct",
        "Map"};
    return names[id];
}

/* Units 0 to 3, then the three kinds of intervals. */
TLI_FN const char *tli_jsontype_unit(uint32_t unit)
{
    static const char names[][13] = {"Second", "Millisecond", "Microsecond", "Nanosecond",
                                     "YearMonth", "DayTime", "MonthDayNano"};
    return names[unit];
}

#define TLI_JSONTYPE_TYPES ((uint32_t)TL_TYPE_MAP + 1)
#define TLI_JSONTYPE_UNITS 7u

/* Sorts indices of texts by their bytes, equal texts by index. A heap: no recursion, no worst case, no memory. */
TLI_FN int tli_jsontype_before(const tl_span *texts, uint32_t a, uint32_t b)
{
    int order = tl_span_compare(texts[a], texts[b]);
    return order != 0 ? order < 0 : a < b;
}

TLI_FN void tli_jsontype_sort(uint32_t *order, uint32_t n, const tl_span *texts)
{
    uint32_t start = n / 2, end = n;
    while (end > 1) {
        uint32_t hole, child, moved;
        if (start > 0) {
            moved = order[--start];
        } else {
            moved = order[--end];
            order[end] = order[0];
        }
        for (hole = start; (child = 2 * hole + 1) < end; hole = child) {
            if (child + 1 < end && tli_jsontype_before(texts, order[child], order[child + 1]))
                child++;
            if (!tli_jsontype_before(texts, moved, order[child]))
                break;
            order[hole] = order[child];
        }
        order[hole] = moved;
    }
}

/* ---- nodes: what both directions know of a column, beside its builder ---- */

#define TLI_JSONTYPE_NONE UINT32_MAX          /* no node */
#define TLI_JSONTYPE_DONE (UINT32_MAX - 1)    /* instead of a node: the value is complete */
#define TLI_JSONTYPE_FAIL (UINT32_MAX - 2)

enum { TLI_JSONTYPE_DICTIONARY = TL_TYPE_MAP + 1, TLI_JSONTYPE_ENTRIES };

/* Values that have a short way in, when they look as all writers put them. */
enum { TLI_JSONTYPE_SLOW, TLI_JSONTYPE_INTEGER, TLI_JSONTYPE_TEXT, TLI_JSONTYPE_HEX };

/* The values of a dictionary column: their texts, and which of the distinct ones each of them is. */
typedef struct tli_jsontype_words {
    uint32_t count;
    uint32_t at;
    uint32_t distinct;
    tl_span *texts;
    uint32_t *index;
    uint32_t *first; /* of each distinct one, in the order they appear */
    size_t size;     /* of the one block that all three lie in */
} tli_jsontype_words;

typedef struct tli_jsontype_node {
    uint8_t act;        /* tl_type_id, or what stands for dictionary columns and for the struct in a map */
    uint8_t nullable;
    uint8_t twins;      /* of a struct: two children have one name, so that rows cannot tell them apart */
    uint8_t pairs;      /* of a map being read or written: [[key, value], ...] */
    uint8_t quick;      /* TLI_JSONTYPE_INTEGER, ... */
    uint8_t is_signed;  /* of integers */
    uint32_t count;     /* of children */
    uint32_t sorted;    /* where its children begin in the tree's `sorted` */
    uint32_t follow;    /* reading: the sibling whose key came after this one's the last time; of a struct the first */
    uint32_t seen;      /* reading a struct: how many children this object had; writing: how many it has now */
    uint32_t key_size;
    uint64_t key_mask;  /* the first and the last 8 bytes of the key with quotes and colon; mask 0: it has escapes */
    uint64_t key_head;
    uint64_t key_tail;
    uint64_t mark;      /* reading: the object of its parent, counted from 1, that had this child last */
    uint64_t objects;   /* reading a struct: how many there were */
    uint64_t last;      /* reading repeated keys: where the last key of this child begins */
    tl_span name;
    tl_span key;        /* writing: the key with quotes, escapes and colon */
    int64_t row;        /* writing: the value at hand, and where a list ends */
    int64_t end;
    tli_jsontype_words *words;
} tli_jsontype_node;

typedef struct tli_jsontype_tree {
    tli_build_tree *build;
    tli_jsontype_node *nodes;
    uint32_t *sorted; /* children of structs by name */
    uint32_t dictionaries;
} tli_jsontype_tree;

TLI_FN void tli_jsontype_quick(tli_jsontype_node *n, const tli_build_node *b)
{
    n->is_signed = n->act < TL_TYPE_UINT8 || n->act > TL_TYPE_UINT64;
    if ((n->act >= TL_TYPE_INT8 && n->act <= TL_TYPE_UINT64)
        || (n->act >= TL_TYPE_DATE32 && n->act <= TL_TYPE_DURATION))
        n->quick = TLI_JSONTYPE_INTEGER;
    else if (n->act == TL_TYPE_UTF8 || n->act == TL_TYPE_LARGE_UTF8)
        n->quick = TLI_JSONTYPE_TEXT;
    else if (n->act == TL_TYPE_BINARY || n->act == TL_TYPE_LARGE_BINARY)
        n->quick = TLI_JSONTYPE_HEX;
    TLI_ASSERT(n->quick < TLI_JSONTYPE_TEXT || b->layout == TLI_ARROW_BYTES || b->layout == TLI_ARROW_LARGE_BYTES);
    (void)b;
}

/* Byte i of `"name":`. */
TLI_INLINE uint8_t tli_jsontype_key_byte(tl_span name, size_t i)
{
    return (uint8_t)(i == name.size + 2 ? ':' : i == 0 || i == name.size + 1 ? '"' : name.data[i - 1]);
}

/* The key as it is looked for in the text. */
TLI_FN void tli_jsontype_key(tli_jsontype_node *n)
{
    uint8_t text[16];
    size_t i, size = n->name.size, whole = size + 3;
    if (size > UINT32_MAX - 16 || tli_json_escaped_size(n->name.data, size) != size)
        return;
    n->key_size = (uint32_t)whole;
    TLI_FILL(text, 0, sizeof text);
    for (i = 0; i < TLI_MIN(whole, 8u); i++) {
        text[i] = tli_jsontype_key_byte(n->name, i);
        text[8 + i] = whole < 8 ? 0 : tli_jsontype_key_byte(n->name, whole - 8 + i);
    }
    n->key_mask = n->key_size >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * n->key_size)) - 1;
    n->key_head = tli_bits_le64(text);
    n->key_tail = tli_bits_le64(text + 8);
}

/* The children of a struct in the order of their names, which is the order they are written in and first looked for. */
TLI_FN void tli_jsontype_arrange(tli_jsontype_tree *t, uint32_t at, tl_span *names, uint32_t *order, uint32_t *used)
{
    tli_jsontype_node *n = &t->nodes[at];
    uint32_t i, child = at + 1, *sorted = t->sorted + *used;
    n->sorted = *used;
    *used += n->count;
    for (i = 0; i < n->count; i++) {
        sorted[i] = child;
        order[i] = i;
        names[i] = t->nodes[child].name;
        child += t->build->nodes[child].span;
    }
    tli_jsontype_sort(order, n->count, names);
    for (i = 0; i < n->count; i++)
        order[i] = sorted[order[i]];
    for (i = 0; i < n->count; i++) {
        sorted[i] = order[i];
        if (i > 0) {
            t->nodes[sorted[i - 1]].follow = sorted[i];
            n->twins |= (uint8_t)tl_span_equal(t->nodes[sorted[i - 1]].name, t->nodes[sorted[i]].name);
        }
    }
    if (n->act == TL_TYPE_STRUCT && n->count != 0)
        n->follow = sorted[0];
}

/* The nodes of a schema, in the store. */
TLI_FN tl_status tli_jsontype_nodes(tli_store *store, const struct ArrowSchema *schema, const tl_limits *limits,
                                    tli_jsontype_tree *t, tl_error *err)
{
    tli_build_node *b;
    uint32_t i, n, used = 0, *order;
    tl_span *names;
    tl_status st = tli_build_begin(store, schema, limits, &t->build, err);
    if (st != TL_OK)
        return st;
    b = t->build->nodes;
    n = t->build->count;
    t->dictionaries = 0;
    t->nodes = (tli_jsontype_node *)tli_mem_take_array(store, n, sizeof *t->nodes, err);
    t->sorted = (uint32_t *)tli_mem_take_array(store, n, sizeof *t->sorted, err);
    names = (tl_span *)tli_mem_new(&store->allocator, (size_t)n * (sizeof *names + sizeof *order));
    if (t->nodes == NULL || t->sorted == NULL || names == NULL) {
        tli_mem_delete(&store->allocator, names, (size_t)n * (sizeof *names + sizeof *order));
        return names == NULL ? tli_mem_failed(&store->allocator, err) : err->status;
    }
    order = (uint32_t *)(void *)(names + n);
    for (i = 0; i < n; i++) {
        tli_jsontype_node *node = &t->nodes[i];
        node->act = (uint8_t)(b[i].schema->dictionary != NULL ? (int)TLI_JSONTYPE_DICTIONARY
                              : i != 0 && b[i - b[i].up].type.id == TL_TYPE_MAP ? (int)TLI_JSONTYPE_ENTRIES
                                                                                : (int)b[i].type.id);
        node->nullable = i != 0 && ((b[i].schema->flags & ARROW_FLAG_NULLABLE) != 0 || b[i].type.id == TL_TYPE_NULL
                                    || b[i].is_dictionary);
        if (i != 0 && (node->act == TLI_JSONTYPE_ENTRIES || (node - b[i].up)->act == TLI_JSONTYPE_ENTRIES))
            node->nullable = (uint8_t)(node->nullable && node->act != TLI_JSONTYPE_ENTRIES && b[i].up != 1);
        node->count = (uint32_t)b[i].schema->n_children;
        node->follow = TLI_JSONTYPE_NONE;
        node->name = tl_text(b[i].schema->name == NULL ? "" : b[i].schema->name);
        t->dictionaries += node->act == TLI_JSONTYPE_DICTIONARY;
        tli_jsontype_key(node);
        tli_jsontype_quick(node, &b[i]);
    }
    for (i = 0; i < n; i++)
        if (t->nodes[i].act == TL_TYPE_STRUCT)
            tli_jsontype_arrange(t, i, names, order, &used);
    tli_mem_delete(&store->allocator, names, (size_t)n * (sizeof *names + sizeof *order));
    return TL_OK;
}

/* ---- reading a schema ---- */

/* What is still to be made below a schema node. */
typedef struct tli_jsontype_todo {
    struct ArrowSchema *schema;
    const tl_json_node *fields; /* an array of fields, one field, or the type of a dictionary's values */
} tli_jsontype_todo;

typedef struct tli_jsontype_schema {
    tl_json tree;
    uint64_t position; /* of the schema's text in the object */
    tli_store *store;
    tl_error *err;
    tli_jsontype_todo *todo;
    uint32_t todo_count;
} tli_jsontype_schema;

TLI_FN tl_status tli_jsontype_refuse(tli_jsontype_schema *s, tl_status status, const char *text,
                                     const tl_json_node *node)
{
    return tli_err(s->err, status, text, s->position + (node == NULL ? s->tree.root->start : node->start));
}

TLI_FN int tli_jsontype_text_is(const tli_jsontype_schema *s, const tl_json_node *node, const char *text)
{
    return node != NULL && node->kind == TL_JSON_STRING
           && tli_text_is(tli_json_plain_text(&s->tree, node), text);
}

/* An int32 among the arguments of a type. */
TLI_FN tl_status tli_jsontype_argument(tli_jsontype_schema *s, const tl_json_node *node, int32_t least, int32_t *value)
{
    int64_t v;
    if (tl_json_int64(&s->tree, node, &v, NULL) != TL_OK || v < least || v > INT32_MAX)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a number of the data type is missing or out of range", node);
    *value = (int32_t)v;
    return TL_OK;
}

/* A unit between `from` and `to`. */
TLI_FN tl_status tli_jsontype_argument_unit(tli_jsontype_schema *s, const tl_json_node *node, uint32_t from,
                                            uint32_t to, uint32_t *unit)
{
    for (*unit = from; *unit <= to; ++*unit)
        if (tli_jsontype_text_is(s, node, tli_jsontype_unit(*unit)))
            return TL_OK;
    return tli_jsontype_refuse(s, TL_CORRUPT, "head: no such unit", node);
}

TLI_FN tl_status tli_jsontype_argument_decimal(tli_jsontype_schema *s, const tl_json_node *node, tl_type *t)
{
    tl_status st = tli_jsontype_argument(s, tl_json_at(node, 0), 1, &t->precision);
    t->width = 4 << (t->id - TL_TYPE_DECIMAL32);
    return st == TL_OK ? tli_jsontype_argument(s, tl_json_at(node, 1), -128, &t->scale) : st;
}

/* What follows the name of a type with arguments; *fields: where its children stand. */
TLI_FN tl_status tli_jsontype_arguments(tli_jsontype_schema *s, const tl_json_node *node, tl_type *t,
                                        const tl_json_node **fields, int64_t *flags)
{
    const tl_json_node *second = tl_json_at(node, 1);
    uint32_t unit = 0;
    int truth = 0;
    tl_status st = TL_OK;
    switch (t->id) {
    case TL_TYPE_DECIMAL32: case TL_TYPE_DECIMAL64: case TL_TYPE_DECIMAL128: case TL_TYPE_DECIMAL256:
        return tli_jsontype_argument_decimal(s, node, t);
    case TL_TYPE_TIME32: case TL_TYPE_TIME64: case TL_TYPE_DURATION: case TL_TYPE_TIMESTAMP:
        if (t->id == TL_TYPE_TIMESTAMP && tl_json_present(second))
            st = tl_json_string(&s->tree, second, &t->zone, NULL);
        if (st != TL_OK)
            return tli_jsontype_refuse(s, TL_CORRUPT, "head: the zone of a timestamp is no text", second);
        st = tli_jsontype_argument_unit(s, t->id == TL_TYPE_TIMESTAMP ? tl_json_at(node, 0) : node,
                                        t->id == TL_TYPE_TIME64 ? 2 : 0, t->id == TL_TYPE_TIME32 ? 1 : 3, &unit);
        t->unit = (tl_unit)unit;
        return st;
    case TL_TYPE_INTERVAL_MONTHS:
        st = tli_jsontype_argument_unit(s, node, 4, 6, &unit);
        t->id = (tl_type_id)((uint32_t)TL_TYPE_INTERVAL_MONTHS + unit - 4);
        return st;
    case TL_TYPE_FIXED_BINARY:
        return tli_jsontype_argument(s, node, 0, &t->size);
    case TL_TYPE_LIST: case TL_TYPE_LARGE_LIST: case TL_TYPE_STRUCT:
        *fields = node;
        return TL_OK;
    case TL_TYPE_FIXED_LIST:
        *fields = tl_json_at(node, 0);
        return tli_jsontype_argument(s, second, 0, &t->size);
    case TL_TYPE_MAP:
        *fields = tl_json_at(node, 0);
        if (tl_json_bool(&s->tree, second, &truth, NULL) != TL_OK)
            return tli_jsontype_refuse(s, TL_CORRUPT, "head: whether the keys of a map are sorted is missing", node);
        *flags |= truth ? ARROW_FLAG_MAP_KEYS_SORTED : 0;
        return TL_OK;
    default:
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: this data type takes no arguments", node);
    }
}

/* The type of a field; *fields: where its children stand, NULL: it has none; *values: the type in a dictionary. */
TLI_FN tl_status tli_jsontype_type(tli_jsontype_schema *s, const tl_json_node *node, tl_type *t,
                                   const tl_json_node **fields, const tl_json_node **values, int64_t *flags)
{
    const tl_json_node *name = node, *arguments = NULL;
    uint32_t id;
    TLI_FILL(t, 0, sizeof *t);
    *fields = *values = NULL;
    if (node != NULL && node->kind == TL_JSON_OBJECT && node->count == 1) {
        name = tl_json_first(node);
        arguments = name + 1;
        if (tli_jsontype_text_is(s, name, "Dictionary")) {
            *values = tl_json_at(arguments, 1);
            name = tl_json_at(arguments, 0);
            arguments = NULL;
            if (*values == NULL)
                return tli_jsontype_refuse(s, TL_CORRUPT, "head: a dictionary without a type of values", node);
        }
    }
    for (id = 0; id < TLI_JSONTYPE_TYPES; id++)
        if (tli_jsontype_text_is(s, name, tli_jsontype_name((tl_type_id)id)))
            break;
    if (id == TLI_JSONTYPE_TYPES && name != NULL && name->kind == TL_JSON_STRING)
        return tli_jsontype_refuse(s, TL_UNSUPPORTED, "head: a data type that is not supported", name);
    if (id == TLI_JSONTYPE_TYPES)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a data type is expected", node);
    t->id = (tl_type_id)id;
    if (arguments != NULL)
        return tli_jsontype_arguments(s, arguments, t, fields, flags);
    if ((t->id >= TL_TYPE_DECIMAL32 && t->id <= TL_TYPE_DECIMAL256) || t->id >= TL_TYPE_FIXED_BINARY
        || (t->id >= TL_TYPE_TIME32 && t->id <= TL_TYPE_INTERVAL_MONTH_DAY_NANO))
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: this data type needs arguments", node);
    return TL_OK;
}

/* The metadata object of a schema or field. Of a repeated key the last value counts, as in a map. */
TLI_FN tl_status tli_jsontype_metadata(tli_jsontype_schema *s, struct ArrowSchema *to, const tl_json_node *object)
{
    const tl_allocator *a = &s->store->allocator;
    const tl_json_node *key;
    uint32_t n = 0, i, kept = 0, *order;
    size_t size;
    tl_span *pairs;
    tl_status st = TL_OK;
    if (object != NULL && object->kind != TL_JSON_OBJECT)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: metadata has to be an object", object);
    if (object == NULL || object->count == 0)
        return TL_OK;
    size = object->count * (2 * sizeof *pairs + sizeof *order);
    pairs = (tl_span *)tli_mem_new(a, size);
    if (pairs == NULL)
        return tli_mem_failed(a, s->err);
    order = (uint32_t *)(void *)(pairs + 2 * (size_t)object->count);
    for (key = tl_json_first(object); key != NULL && st == TL_OK; key = tl_json_next(object, key), n++) {
        pairs[n] = tli_json_plain_text(&s->tree, key);
        order[n] = n;
        if (tl_json_string(&s->tree, key + 1, &pairs[object->count + n], NULL) != TL_OK)
            st = tli_jsontype_refuse(s, TL_CORRUPT, "head: metadata has to be text", key + 1);
    }
    if (st == TL_OK) {
        tli_jsontype_sort(order, n, pairs);
        for (i = 1; i < n; i++)
            if (tl_span_equal(pairs[order[i - 1]], pairs[order[i]]))
                pairs[order[i - 1]].data = NULL;
        for (i = 0; i < n; i++)
            if (pairs[i].data != NULL) {
                pairs[kept] = pairs[i];
                pairs[object->count + kept++] = pairs[object->count + i];
            }
        st = kept > INT32_MAX ? tli_jsontype_refuse(s, TL_LIMIT, "head: too much metadata", object)
            : tli_arrow_schema_metadata(s->store, to, pairs, pairs + object->count, (int32_t)kept, s->err);
    }
    tli_mem_delete(a, pairs, size);
    return st;
}

/* A schema node without what lies below it, which is left to do. */
TLI_FN tl_status tli_jsontype_node_new(tli_jsontype_schema *s, tl_span name, int64_t flags, const tl_json_node *type,
                                       struct ArrowSchema **out)
{
    const tl_json_node *fields, *values;
    const char *format = NULL;
    int64_t children;
    tl_type t;
    tl_status st = tli_jsontype_type(s, type, &t, &fields, &values, &flags);
    if (st == TL_OK)
        st = tli_arrow_format(s->store, &t, &format, s->err);
    if (st != TL_OK)
        return st;
    if (t.id >= TL_TYPE_LIST && (fields == NULL || (t.id == TL_TYPE_STRUCT) != (fields->kind == TL_JSON_ARRAY)))
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: the fields of a data type are missing", type);
    children = fields == NULL ? 0 : t.id == TL_TYPE_STRUCT ? (int64_t)fields->count : 1;
    *out = tli_arrow_schema_new(s->store, format, name, flags, children, s->err);
    if (*out == NULL)
        return s->err->status;
    if (children != 0 || values != NULL) {
        s->todo[s->todo_count].schema = *out;
        s->todo[s->todo_count++].fields = values != NULL ? values : fields;
    }
    return TL_OK;
}

TLI_FN tl_status tli_jsontype_field(tli_jsontype_schema *s, const tl_json_node *field, struct ArrowSchema **out)
{
    const tl_json_node *ordered = tli_json_named(&s->tree, field, "dict_is_ordered");
    tl_span name;
    int nullable = 0, truth = 0;
    int64_t flags;
    tl_status st;
    if (tl_json_string(&s->tree, tli_json_named(&s->tree, field, "name"), &name, NULL) != TL_OK)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a field without a name", field);
    if (tl_json_bool(&s->tree, tli_json_named(&s->tree, field, "nullable"), &nullable, NULL) != TL_OK)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a field that does not say whether it is nullable", field);
    if (tl_json_present(ordered) && tl_json_bool(&s->tree, ordered, &truth, NULL) != TL_OK)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: dict_is_ordered has to be true or false", ordered);
    flags = (nullable ? ARROW_FLAG_NULLABLE : 0) | (truth ? ARROW_FLAG_DICTIONARY_ORDERED : 0);
    st = tli_jsontype_node_new(s, name, flags, tli_json_named(&s->tree, field, "data_type"), out);
    return st == TL_OK ? tli_jsontype_metadata(s, *out, tli_json_named(&s->tree, field, "metadata")) : st;
}

/* Makes what is left to do, which makes more to do. */
TLI_FN tl_status tli_jsontype_below(tli_jsontype_schema *s)
{
    tl_status st = TL_OK;
    while (st == TL_OK && s->todo_count > 0) {
        tli_jsontype_todo todo = s->todo[--s->todo_count];
        int64_t i, n = todo.schema->n_children;
        const tl_json_node *field = todo.fields;
        if (n == 0)
            st = tli_jsontype_node_new(s, tl_text(""), ARROW_FLAG_NULLABLE, field, &todo.schema->dictionary);
        else if (field->kind == TL_JSON_ARRAY)
            field = tl_json_first(field);
        for (i = 0; i < n && st == TL_OK; i++) {
            st = tli_jsontype_field(s, field, &todo.schema->children[i]);
            field += field->nodes;
        }
    }
    return st;
}

TLI_FN tl_status tli_jsontype_schema_read(tli_jsontype_schema *s, const tl_limits *limits, struct ArrowSchema **out)
{
    const tl_json_node *fields = tli_json_named(&s->tree, s->tree.root, "fields");
    tl_status st;
    if (fields == NULL || fields->kind != TL_JSON_ARRAY)
        return tli_jsontype_refuse(s, TL_CORRUPT, "head: a schema without fields", NULL);
    *out = tli_arrow_schema_new(s->store, "+s", tl_text(""), 0, (int64_t)fields->count, s->err);
    if (*out == NULL)
        return s->err->status;
    st = tli_jsontype_metadata(s, *out, tli_json_named(&s->tree, s->tree.root, "metadata"));
    if (fields->count != 0) {
        s->todo[0].schema = *out;
        s->todo[0].fields = fields;
        s->todo_count = 1;
    }
    if (st == TL_OK)
        st = tli_jsontype_below(s);
    if (st == TL_OK)
        st = tli_arrow_schema_check(*out, limits, NULL, s->err);
    if (st != TL_OK && s->err->position == TL_NO_POSITION)
        s->err->position = s->position + s->tree.root->start;
    if (st == TL_MISUSE) /* the file's mistake, not the caller's */
        st = s->err->status = TL_CORRUPT;
    return st;
}

/* Three levels of JSON for one of types: the field, its type, the type's arguments. */
TLI_FN uint32_t tli_jsontype_depth(const tl_limits *limits)
{
    return TLI_MIN(limits->depth * 3 + 8, 256u);
}

/* The schema that stands in `text`, which was checked, in the store. */
TLI_FN tl_status tli_jsontype_schema_of(tli_store *store, tl_span text, uint64_t position, const tl_limits *limits,
                                        struct ArrowSchema **out, tl_error *err)
{
    tli_jsontype_schema s;
    tl_limits deep = *limits;
    size_t size;
    tl_status st;
    deep.depth = tli_jsontype_depth(limits);
    TLI_FILL(&s, 0, sizeof s);
    s.position = position;
    s.store = store;
    s.err = err;
    st = tl_json_parse(&s.tree, text.data, text.size, &deep, &store->allocator, err);
    if (st != TL_OK) {
        err->position += err->position != TL_NO_POSITION ? position : 0;
        return st;
    }
    size = ((size_t)s.tree.root->nodes / 2 + 1) * sizeof *s.todo; /* each takes a key and a value */
    s.todo = (tli_jsontype_todo *)tli_mem_new(&store->allocator, size);
    st = s.todo == NULL ? tli_mem_failed(&store->allocator, err) : tli_jsontype_schema_read(&s, limits, out);
    tli_mem_delete(&store->allocator, s.todo, size);
    tl_json_free(&s.tree);
    return st;
}

#endif /* TIMELAKE_NO_HEAD_JSON */
