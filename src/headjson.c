/* >>headjson: the `json` codec of the head. Format: the Timelake head, layout 1 (README, Sources), codec `json`.

   What this codec writes where the text form that Timelake writes would lose something, or could not be read back:
   decimals as strings; NaN, inf, -inf, -0.0 and numbers that readers round differently as strings; timestamps (nested
   ones too) and durations as integers; dates outside the years 0 to 9999 and times outside the day as integers; month
   intervals as an integer, day-time ones as [days, milliseconds], month-day-nano ones as [months, days, nanoseconds];
   maps whose keys are no text as [[key, value], ...]; dictionary columns as their values. It reads these, and every
   form that Timelake writes. A key that a map has twice stays twice; of other repeated keys the last counts.

   Reading takes two passes over the rows: decoding a head checks all its text and counts what each column takes,
   opening a section fills its arrays. Both walk the text by the nodes of the schema, so that the way back up is known
   without a stack. */
#ifndef TIMELAKE_NO_HEAD_JSON

/* ---- types ---- */

/* arrow-schema's names of types, by tl_type_id. */
TLI_FN const char *tli_headjson_name(tl_type_id id)
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
TLI_FN const char *tli_headjson_unit(uint32_t unit)
{
    static const char names[][13] = {"Second", "Millisecond", "Microsecond", "Nanosecond",
                                     "YearMonth", "DayTime", "MonthDayNano"};
    return names[unit];
}

#define TLI_HEADJSON_TYPES ((uint32_t)TL_TYPE_MAP + 1)
#define TLI_HEADJSON_UNITS 7u

/* Sorts indices of texts by their bytes, equal texts by index. A heap: no recursion, no worst case, no memory. */
TLI_FN int tli_headjson_before(const tl_span *texts, uint32_t a, uint32_t b)
{
    int order = tl_span_compare(texts[a], texts[b]);
    return order != 0 ? order < 0 : a < b;
}

TLI_FN void tli_headjson_sort(uint32_t *order, uint32_t n, const tl_span *texts)
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
            if (child + 1 < end && tli_headjson_before(texts, order[child], order[child + 1]))
                child++;
            if (!tli_headjson_before(texts, moved, order[child]))
                break;
            order[hole] = order[child];
        }
        order[hole] = moved;
    }
}

/* ---- nodes: what both directions know of a column, beside its builder ---- */

#define TLI_HEADJSON_NONE UINT32_MAX          /* no node */
#define TLI_HEADJSON_DONE (UINT32_MAX - 1)    /* instead of a node: the value is complete */
#define TLI_HEADJSON_FAIL (UINT32_MAX - 2)

enum { TLI_HEADJSON_DICTIONARY = TL_TYPE_MAP + 1, TLI_HEADJSON_ENTRIES };

typedef struct tli_headjson_node {
    uint8_t act;        /* tl_type_id, or what stands for dictionary columns and for the struct in a map */
    uint8_t nullable;
    uint8_t twins;      /* of a struct: two children have one name, so that rows cannot tell them apart */
    uint8_t pairs;      /* of a map being read or written: [[key, value], ...] */
    uint32_t count;     /* of children */
    uint32_t sorted;    /* where its children begin in the tree's `sorted` */
    uint32_t follow;    /* reading: the sibling whose key came after this one's the last time; of a struct the first */
    uint32_t seen;      /* reading a struct: how many children this object had; writing: how many it has now */
    uint32_t key_size;
    uint64_t key_mask;  /* the first and the last 8 bytes of the key in quotes; 0 as mask: the key has escapes */
    uint64_t key_head;
    uint64_t key_tail;
    uint64_t mark;      /* reading: the object of its parent, counted from 1, that had this child last */
    uint64_t objects;   /* reading a struct: how many there were */
    uint64_t last;      /* reading repeated keys: where the last key of this child begins */
    tl_span name;
    tl_span key;        /* writing: the key with quotes, escapes and colon */
    int64_t row;        /* writing: the value at hand, and where a list ends */
    int64_t end;
    struct tli_headjson_words *words;
} tli_headjson_node;

typedef struct tli_headjson_tree {
    tli_build_tree *build;
    tli_headjson_node *nodes;
    uint32_t *sorted; /* children of structs by name */
    uint32_t dictionaries;
} tli_headjson_tree;

/* The key as it is looked for in the text. */
TLI_FN void tli_headjson_key(tli_headjson_node *n)
{
    uint8_t text[16];
    size_t i, size = n->name.size;
    if (size > UINT32_MAX - 16 || tli_json_escaped_size(n->name.data, size) != size)
        return;
    n->key_size = (uint32_t)size + 2;
    TLI_FILL(text, 0, sizeof text);
    for (i = 0; i < 8 && i < n->key_size; i++)
        text[i] = (uint8_t)(i == 0 || i == size + 1 ? '"' : n->name.data[i - 1]);
    for (i = 0; i < 8 && n->key_size >= 8; i++)
        text[8 + i] = (uint8_t)(i == 7 ? '"' : size + 2 - 8 + i == 0 ? '"' : n->name.data[size + 2 - 8 + i - 1]);
    n->key_mask = n->key_size >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * n->key_size)) - 1;
    n->key_head = tli_bits_le64(text);
    n->key_tail = tli_bits_le64(text + 8);
}

/* The children of a struct in the order of their names, which is the order they are written in and first looked for. */
TLI_FN void tli_headjson_arrange(tli_headjson_tree *t, uint32_t at, tl_span *names, uint32_t *order, uint32_t *used)
{
    tli_headjson_node *n = &t->nodes[at];
    uint32_t i, child = at + 1, *sorted = t->sorted + *used;
    n->sorted = *used;
    *used += n->count;
    for (i = 0; i < n->count; i++) {
        sorted[i] = child;
        order[i] = i;
        names[i] = t->nodes[child].name;
        child += t->build->nodes[child].span;
    }
    tli_headjson_sort(order, n->count, names);
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
TLI_FN tl_status tli_headjson_nodes(tli_store *store, const struct ArrowSchema *schema, const tl_limits *limits,
                                    tli_headjson_tree *t, tl_error *err)
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
    t->nodes = (tli_headjson_node *)tli_mem_take_array(store, n, sizeof *t->nodes, err);
    t->sorted = (uint32_t *)tli_mem_take_array(store, n, sizeof *t->sorted, err);
    names = (tl_span *)tli_mem_new(&store->allocator, (size_t)n * (sizeof *names + sizeof *order));
    if (t->nodes == NULL || t->sorted == NULL || names == NULL) {
        tli_mem_delete(&store->allocator, names, (size_t)n * (sizeof *names + sizeof *order));
        return names == NULL ? tli_mem_failed(&store->allocator, err) : err->status;
    }
    order = (uint32_t *)(void *)(names + n);
    for (i = 0; i < n; i++) {
        tli_headjson_node *node = &t->nodes[i];
        node->act = (uint8_t)(b[i].schema->dictionary != NULL ? (int)TLI_HEADJSON_DICTIONARY
                              : i != 0 && b[i - b[i].up].type.id == TL_TYPE_MAP ? (int)TLI_HEADJSON_ENTRIES
                                                                                : (int)b[i].type.id);
        node->nullable = i != 0 && ((b[i].schema->flags & ARROW_FLAG_NULLABLE) != 0 || b[i].type.id == TL_TYPE_NULL
                                    || b[i].is_dictionary);
        if (i != 0 && (node->act == TLI_HEADJSON_ENTRIES || (node - b[i].up)->act == TLI_HEADJSON_ENTRIES))
            node->nullable = (uint8_t)(node->nullable && node->act != TLI_HEADJSON_ENTRIES && b[i].up != 1);
        node->count = (uint32_t)b[i].schema->n_children;
        node->follow = TLI_HEADJSON_NONE;
        node->name = tl_text(b[i].schema->name == NULL ? "" : b[i].schema->name);
        t->dictionaries += node->act == TLI_HEADJSON_DICTIONARY;
        tli_headjson_key(node);
    }
    for (i = 0; i < n; i++)
        if (t->nodes[i].act == TL_TYPE_STRUCT)
            tli_headjson_arrange(t, i, names, order, &used);
    tli_mem_delete(&store->allocator, names, (size_t)n * (sizeof *names + sizeof *order));
    return TL_OK;
}

/* ---- reading a schema ---- */

/* What is still to be made below a schema node. */
typedef struct tli_headjson_todo {
    struct ArrowSchema *schema;
    const tl_json_node *fields; /* an array of fields, one field, or the type of a dictionary's values */
} tli_headjson_todo;

typedef struct tli_headjson_schema {
    tl_json tree;
    uint64_t position; /* of the schema's text in the object */
    tli_store *store;
    tl_error *err;
    tli_headjson_todo *todo;
    uint32_t todo_count;
} tli_headjson_schema;

TLI_FN tl_status tli_headjson_refuse(tli_headjson_schema *s, tl_status status, const char *text,
                                     const tl_json_node *node)
{
    return tli_err(s->err, status, text, s->position + (node == NULL ? s->tree.root->start : node->start));
}

TLI_FN int tli_headjson_text_is(const tli_headjson_schema *s, const tl_json_node *node, const char *text)
{
    return node != NULL && node->kind == TL_JSON_STRING
           && tl_span_equal(tli_json_plain_text(&s->tree, node), tl_text(text));
}

/* An int32 among the arguments of a type. */
TLI_FN tl_status tli_headjson_argument(tli_headjson_schema *s, const tl_json_node *node, int32_t least, int32_t *value)
{
    int64_t v;
    if (tl_json_int64(&s->tree, node, &v, NULL) != TL_OK || v < least || v > INT32_MAX)
        return tli_headjson_refuse(s, TL_CORRUPT, "head: a number of the data type is missing or out of range", node);
    *value = (int32_t)v;
    return TL_OK;
}

/* A unit between `from` and `to`. */
TLI_FN tl_status tli_headjson_argument_unit(tli_headjson_schema *s, const tl_json_node *node, uint32_t from,
                                            uint32_t to, uint32_t *unit)
{
    for (*unit = from; *unit <= to; ++*unit)
        if (tli_headjson_text_is(s, node, tli_headjson_unit(*unit)))
            return TL_OK;
    return tli_headjson_refuse(s, TL_CORRUPT, "head: no such unit", node);
}

TLI_FN tl_status tli_headjson_argument_decimal(tli_headjson_schema *s, const tl_json_node *node, tl_type *t)
{
    tl_status st = tli_headjson_argument(s, tl_json_at(node, 0), 1, &t->precision);
    t->width = 4 << (t->id - TL_TYPE_DECIMAL32);
    return st == TL_OK ? tli_headjson_argument(s, tl_json_at(node, 1), -128, &t->scale) : st;
}

/* What follows the name of a type with arguments; *fields: where its children stand. */
TLI_FN tl_status tli_headjson_arguments(tli_headjson_schema *s, const tl_json_node *node, tl_type *t,
                                        const tl_json_node **fields, int64_t *flags)
{
    const tl_json_node *second = tl_json_at(node, 1);
    uint32_t unit = 0;
    int truth = 0;
    tl_status st = TL_OK;
    switch (t->id) {
    case TL_TYPE_DECIMAL32: case TL_TYPE_DECIMAL64: case TL_TYPE_DECIMAL128: case TL_TYPE_DECIMAL256:
        return tli_headjson_argument_decimal(s, node, t);
    case TL_TYPE_TIME32: case TL_TYPE_TIME64: case TL_TYPE_DURATION: case TL_TYPE_TIMESTAMP:
        if (t->id == TL_TYPE_TIMESTAMP && tl_json_present(second))
            st = tl_json_string(&s->tree, second, &t->zone, NULL);
        if (st != TL_OK)
            return tli_headjson_refuse(s, TL_CORRUPT, "head: the zone of a timestamp is no text", second);
        st = tli_headjson_argument_unit(s, t->id == TL_TYPE_TIMESTAMP ? tl_json_at(node, 0) : node,
                                        t->id == TL_TYPE_TIME64 ? 2 : 0, t->id == TL_TYPE_TIME32 ? 1 : 3, &unit);
        t->unit = (tl_unit)unit;
        return st;
    case TL_TYPE_INTERVAL_MONTHS:
        st = tli_headjson_argument_unit(s, node, 4, 6, &unit);
        t->id = (tl_type_id)((uint32_t)TL_TYPE_INTERVAL_MONTHS + unit - 4);
        return st;
    case TL_TYPE_FIXED_BINARY:
        return tli_headjson_argument(s, node, 0, &t->size);
    case TL_TYPE_LIST: case TL_TYPE_LARGE_LIST: case TL_TYPE_STRUCT:
        *fields = node;
        return TL_OK;
    case TL_TYPE_FIXED_LIST:
        *fields = tl_json_at(node, 0);
        return tli_headjson_argument(s, second, 0, &t->size);
    case TL_TYPE_MAP:
        *fields = tl_json_at(node, 0);
        if (tl_json_bool(&s->tree, second, &truth, NULL) != TL_OK)
            return tli_headjson_refuse(s, TL_CORRUPT, "head: whether the keys of a map are sorted is missing", node);
        *flags |= truth ? ARROW_FLAG_MAP_KEYS_SORTED : 0;
        return TL_OK;
    default:
        return tli_headjson_refuse(s, TL_CORRUPT, "head: this data type takes no arguments", node);
    }
}

/* The type of a field; *fields: where its children stand, NULL: it has none; *values: the type in a dictionary. */
TLI_FN tl_status tli_headjson_type(tli_headjson_schema *s, const tl_json_node *node, tl_type *t,
                                   const tl_json_node **fields, const tl_json_node **values, int64_t *flags)
{
    const tl_json_node *name = node, *arguments = NULL;
    uint32_t id;
    TLI_FILL(t, 0, sizeof *t);
    *fields = *values = NULL;
    if (node != NULL && node->kind == TL_JSON_OBJECT && node->count == 1) {
        name = tl_json_first(node);
        arguments = name + 1;
        if (tli_headjson_text_is(s, name, "Dictionary")) {
            *values = tl_json_at(arguments, 1);
            name = tl_json_at(arguments, 0);
            arguments = NULL;
            if (*values == NULL)
                return tli_headjson_refuse(s, TL_CORRUPT, "head: a dictionary without a type of values", node);
        }
    }
    for (id = 0; id < TLI_HEADJSON_TYPES; id++)
        if (tli_headjson_text_is(s, name, tli_headjson_name((tl_type_id)id)))
            break;
    if (id == TLI_HEADJSON_TYPES && name != NULL && name->kind == TL_JSON_STRING)
        return tli_headjson_refuse(s, TL_UNSUPPORTED, "head: a data type that is not supported", name);
    if (id == TLI_HEADJSON_TYPES)
        return tli_headjson_refuse(s, TL_CORRUPT, "head: a data type is expected", node);
    t->id = (tl_type_id)id;
    if (arguments != NULL)
        return tli_headjson_arguments(s, arguments, t, fields, flags);
    if ((t->id >= TL_TYPE_DECIMAL32 && t->id <= TL_TYPE_DECIMAL256) || t->id >= TL_TYPE_FIXED_BINARY
        || (t->id >= TL_TYPE_TIME32 && t->id <= TL_TYPE_INTERVAL_MONTH_DAY_NANO))
        return tli_headjson_refuse(s, TL_CORRUPT, "head: this data type needs arguments", node);
    return TL_OK;
}

/* The metadata object of a schema or field. Of a repeated key the last value counts, as in a map. */
TLI_FN tl_status tli_headjson_metadata(tli_headjson_schema *s, struct ArrowSchema *to, const tl_json_node *object)
{
    const tl_allocator *a = &s->store->allocator;
    const tl_json_node *key;
    uint32_t n = 0, i, kept = 0, *order;
    size_t size;
    tl_span *pairs;
    tl_status st = TL_OK;
    if (object == NULL || object->count == 0)
        return object != NULL && object->kind != TL_JSON_OBJECT
            ? tli_headjson_refuse(s, TL_CORRUPT, "head: metadata has to be an object", object) : TL_OK;
    size = object->count * (2 * sizeof *pairs + sizeof *order);
    pairs = (tl_span *)tli_mem_new(a, size);
    if (pairs == NULL)
        return tli_mem_failed(a, s->err);
    order = (uint32_t *)(void *)(pairs + 2 * (size_t)object->count);
    for (key = tl_json_first(object); key != NULL && st == TL_OK; key = tl_json_next(object, key), n++) {
        pairs[n] = tli_json_plain_text(&s->tree, key);
        order[n] = n;
        if (tl_json_string(&s->tree, key + 1, &pairs[object->count + n], NULL) != TL_OK)
            st = tli_headjson_refuse(s, TL_CORRUPT, "head: metadata has to be text", key + 1);
    }
    if (st == TL_OK) {
        tli_headjson_sort(order, n, pairs);
        for (i = 1; i < n; i++)
            if (tl_span_equal(pairs[order[i - 1]], pairs[order[i]]))
                pairs[order[i - 1]].data = NULL;
        for (i = 0; i < n; i++)
            if (pairs[i].data != NULL) {
                pairs[kept] = pairs[i];
                pairs[object->count + kept++] = pairs[object->count + i];
            }
        st = kept > INT32_MAX ? tli_headjson_refuse(s, TL_LIMIT, "head: too much metadata", object)
            : tli_arrow_schema_metadata(s->store, to, pairs, pairs + object->count, (int32_t)kept, s->err);
    }
    tli_mem_delete(a, pairs, size);
    return st;
}

/* A schema node without what lies below it, which is left to do. */
TLI_FN tl_status tli_headjson_node_new(tli_headjson_schema *s, tl_span name, int64_t flags, const tl_json_node *type,
                                       struct ArrowSchema **out)
{
    const tl_json_node *fields, *values;
    const char *format = NULL;
    int64_t children;
    tl_type t;
    tl_status st = tli_headjson_type(s, type, &t, &fields, &values, &flags);
    if (st == TL_OK)
        st = tli_arrow_format(s->store, &t, &format, s->err);
    if (st != TL_OK)
        return st;
    if (t.id >= TL_TYPE_LIST && (fields == NULL || (t.id == TL_TYPE_STRUCT) != (fields->kind == TL_JSON_ARRAY)))
        return tli_headjson_refuse(s, TL_CORRUPT, "head: the fields of a data type are missing", type);
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

TLI_FN tl_status tli_headjson_field(tli_headjson_schema *s, const tl_json_node *field, struct ArrowSchema **out)
{
    const tl_json_node *ordered = tl_json_member(&s->tree, field, tl_text("dict_is_ordered"));
    tl_span name;
    int nullable = 0, truth = 0;
    int64_t flags;
    tl_status st;
    if (tl_json_string(&s->tree, tl_json_member(&s->tree, field, tl_text("name")), &name, NULL) != TL_OK)
        return tli_headjson_refuse(s, TL_CORRUPT, "head: a field without a name", field);
    if (tl_json_bool(&s->tree, tl_json_member(&s->tree, field, tl_text("nullable")), &nullable, NULL) != TL_OK)
        return tli_headjson_refuse(s, TL_CORRUPT, "head: a field that does not say whether it is nullable", field);
    if (tl_json_present(ordered) && tl_json_bool(&s->tree, ordered, &truth, NULL) != TL_OK)
        return tli_headjson_refuse(s, TL_CORRUPT, "head: dict_is_ordered has to be true or false", ordered);
    flags = (nullable ? ARROW_FLAG_NULLABLE : 0) | (truth ? ARROW_FLAG_DICTIONARY_ORDERED : 0);
    st = tli_headjson_node_new(s, name, flags, tl_json_member(&s->tree, field, tl_text("data_type")), out);
    return st == TL_OK ? tli_headjson_metadata(s, *out, tl_json_member(&s->tree, field, tl_text("metadata"))) : st;
}

/* Makes what is left to do, which makes more to do. */
TLI_FN tl_status tli_headjson_below(tli_headjson_schema *s)
{
    tl_status st = TL_OK;
    while (st == TL_OK && s->todo_count > 0) {
        tli_headjson_todo todo = s->todo[--s->todo_count];
        int64_t i, n = todo.schema->n_children;
        const tl_json_node *field = todo.fields;
        if (n == 0)
            st = tli_headjson_node_new(s, tl_text(""), ARROW_FLAG_NULLABLE, field, &todo.schema->dictionary);
        else if (field->kind == TL_JSON_ARRAY)
            field = tl_json_first(field);
        for (i = 0; i < n && st == TL_OK; i++) {
            st = tli_headjson_field(s, field, &todo.schema->children[i]);
            field += field->nodes;
        }
    }
    return st;
}

TLI_FN tl_status tli_headjson_schema_read(tli_headjson_schema *s, const tl_limits *limits, struct ArrowSchema **out)
{
    const tl_json_node *fields = tl_json_member(&s->tree, s->tree.root, tl_text("fields"));
    tl_status st;
    if (fields == NULL || fields->kind != TL_JSON_ARRAY)
        return tli_headjson_refuse(s, TL_CORRUPT, "head: a schema without fields", NULL);
    *out = tli_arrow_schema_new(s->store, "+s", tl_text(""), 0, (int64_t)fields->count, s->err);
    if (*out == NULL)
        return s->err->status;
    st = tli_headjson_metadata(s, *out, tl_json_member(&s->tree, s->tree.root, tl_text("metadata")));
    if (fields->count != 0) {
        s->todo[0].schema = *out;
        s->todo[0].fields = fields;
        s->todo_count = 1;
    }
    if (st == TL_OK)
        st = tli_headjson_below(s);
    if (st == TL_OK)
        st = tli_arrow_schema_check(*out, limits, NULL, s->err);
    if (st != TL_OK && s->err->position == TL_NO_POSITION)
        s->err->position = s->position + s->tree.root->start;
    if (st == TL_MISUSE) /* the file's mistake, not the caller's */
        st = s->err->status = TL_CORRUPT;
    return st;
}

/* Three levels of JSON for one of types: the field, its type, the type's arguments. */
TLI_FN uint32_t tli_headjson_depth(const tl_limits *limits)
{
    return TLI_MIN(limits->depth * 3 + 8, 256u);
}

/* The schema that stands in `text`, which was checked, in the store. */
TLI_FN tl_status tli_headjson_schema_of(tli_store *store, tl_span text, uint64_t position, const tl_limits *limits,
                                        struct ArrowSchema **out, tl_error *err)
{
    tli_headjson_schema s;
    tl_limits deep = *limits;
    size_t size;
    tl_status st;
    deep.depth = tli_headjson_depth(limits);
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
    s.todo = (tli_headjson_todo *)tli_mem_new(&store->allocator, size);
    st = s.todo == NULL ? tli_mem_failed(&store->allocator, err) : tli_headjson_schema_read(&s, limits, out);
    tli_mem_delete(&store->allocator, s.todo, size);
    tl_json_free(&s.tree);
    return st;
}

/* ---- reading rows ---- */

/* The values of a dictionary column: their texts, and which of the distinct ones each of them is. */
typedef struct tli_headjson_words {
    uint32_t count;
    uint32_t at;
    uint32_t distinct;
    tl_span *texts;
    uint32_t *index;
    uint32_t *first; /* of each distinct one, in the order they appear */
    size_t size;     /* of the one block that all three lie in */
} tli_headjson_words;

/* A section's rows, and what the first pass found out about them. */
typedef struct tli_headjson_source {
    struct tli_doc_source source; /* first: the document knows it by that */
    tli_store *store;
    tli_headjson_tree tree;
    const uint8_t *body;
    size_t size;
    uint64_t position;
    size_t rows;      /* where the array of rows begins */
    size_t rows_size; /* how many bytes it takes */
    uint32_t depth;   /* how deep values may nest that no column is made of */
    int repeated;     /* some object has a key twice */
    size_t scratch;   /* bytes of the longest text with escapes that is no text value */
    tl_error failed;  /* of a second pass: nothing is tried twice */
} tli_headjson_source;

/* TLI_HEADJSON_COLLECT notes the texts of dictionary values and leaves the builders alone. */
enum { TLI_HEADJSON_COUNT, TLI_HEADJSON_COLLECT, TLI_HEADJSON_FILL };

typedef struct tli_headjson_walk {
    tli_json j;
    tli_headjson_source *source;
    tli_headjson_node *nodes;
    tli_build_node *build;
    int mode;
    char *scratch;
} tli_headjson_walk;

TLI_INLINE uint32_t tli_headjson_stop(tli_headjson_walk *w, const char *text, const uint8_t *at)
{
    (void)tli_json_fail(&w->j, text, at);
    return TLI_HEADJSON_FAIL;
}

/* Where a value is: that is its last byte read so far, so that positions point into the value. */
TLI_NOINLINE int tli_headjson_bad(tli_headjson_walk *w, const uint8_t *at)
{
    return tli_json_fail(&w->j, "head: not a value of the column's type", at);
}

/* A text at the cursor as it is meant: escapes, which only foreign writers put there, go to the scratch memory. */
TLI_INLINE int tli_headjson_plain(tli_headjson_walk *w, tl_span *text)
{
    int escaped;
    if (!tli_json_text(&w->j, text, &escaped))
        return 0;
    if (TLI_UNLIKELY(escaped)) {
        text->size = tli_json_unescape(w->scratch, *text);
        text->data = w->scratch;
    }
    return 1;
}

/* ---- the first pass ---- */

/* Any value that is neither null nor text, of a column that the second pass will look at. */
TLI_FN int tli_headjson_count_other(tli_headjson_walk *w)
{
    tl_span text;
    int flag;
    switch (*w->j.p) {
    case '"':
        if (!tli_json_text(&w->j, &text, &flag))
            return 0;
        if (flag)
            w->source->scratch = TLI_MAX(w->source->scratch, text.size);
        return 1;
    case 't':
        return tli_json_literal(&w->j, "true");
    case 'f':
        return tli_json_literal(&w->j, "false");
    default:
        return tli_json_skip(&w->j, w->source->depth);
    }
}

TLI_INLINE int tli_headjson_count(tli_headjson_walk *w, const tli_headjson_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int flag;
    if (b->layout >= TLI_ARROW_BYTES && b->layout <= TLI_ARROW_VIEWS) {
        if (*at != '"')
            return tli_headjson_bad(w, at);
        if (!tli_json_text(&w->j, &text, &flag))
            return 0;
        if (TLI_UNLIKELY(flag)) {
            w->source->scratch = TLI_MAX(w->source->scratch, text.size);
            text.size = tli_json_unescaped_size(text);
        }
        if (n->act >= TL_TYPE_BINARY && (text.size & 1) != 0)
            return tli_headjson_bad(w, at);
        tli_build_count_bytes(b, n->act >= TL_TYPE_BINARY ? text.size / 2 : text.size);
        return 1;
    }
    tli_build_count(b);
    if (TLI_LIKELY((uint32_t)*at - '0' < 10 || *at == '-'))
        return tli_json_number(&w->j, &text, &flag);
    return tli_headjson_count_other(w);
}

/* ---- the second pass: values ---- */

/* An integer of the bounds; a text with digits alone is one too. */
TLI_FN int tli_headjson_integer_slow(tli_headjson_walk *w, uint64_t most, uint64_t least, uint64_t *value)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int integer, minus;
    if (*at == '"' ? !tli_headjson_plain(w, &text) : !tli_json_number(&w->j, &text, &integer))
        return 0;
    minus = text.size != 0 && text.data[0] == '-';
    if (!tli_number_parse_u64(text.data + minus, text.size - (size_t)minus, value) || *value > (minus ? least : most))
        return tli_headjson_bad(w, at);
    *value = minus ? 0 - *value : *value;
    return 1;
}

/* `most` and `least`: the greatest value above, and the greatest magnitude below 0. */
TLI_INLINE int tli_headjson_integer(tli_headjson_walk *w, uint64_t most, uint64_t least, uint64_t *value)
{
    static const uint32_t powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    const uint8_t *p = w->j.p;
    uint64_t v = 0, word, hits;
    int minus = *p == '-', rounds;
    p += minus;
    for (rounds = 0; rounds < 3 && w->j.end - p >= 9; rounds++) {
        size_t digits;
        word = tli_bits_le64(p);
        hits = tli_json_no_digit(word);
        if (hits == 0 && rounds < 2) {
            v = v * 100000000 + tli_json_eight(word);
            p += 8;
            continue;
        }
        digits = hits == 0 ? 8 : tli_json_first_byte(hits);
        if (digits > 3 && rounds == 2)
            break; /* 20 digits */
        if (digits != 0)
            v = v * powers[digits] + tli_json_eight(word << (64 - 8 * digits));
        p += digits;
        if (p == w->j.p + minus || *p == '.' || (*p | 0x20) == 'e' || v > (minus ? least : most))
            break;
        *value = minus ? 0 - v : v;
        w->j.p = p;
        return 1;
    }
    return tli_headjson_integer_slow(w, most, least, value);
}

/* NaN and the infinities, in the spellings that readers of floats know. */
TLI_FN int tli_headjson_float_word(tl_span text, double *value)
{
    static const char words[3][9] = {"nan", "inf", "infinity"};
    const uint64_t bits[3] = {UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff0000000000000)};
    int minus = text.size != 0 && text.data[0] == '-';
    size_t start = minus || (text.size != 0 && text.data[0] == '+') ? 1 : 0, i, k;
    for (i = 0; i < 3; i++) {
        for (k = 0; start + k < text.size && words[i][k] != 0 && (text.data[start + k] | 0x20) == words[i][k]; k++)
            ;
        if (start + k == text.size && words[i][k] == 0) {
            uint64_t v = bits[i] | (uint64_t)minus << 63;
            TLI_COPY(value, &v, 8);
            return 1;
        }
    }
    return 0;
}

TLI_FN int tli_headjson_float(tli_headjson_walk *w, const tli_headjson_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tl_span text;
    int flag;
    double wide = 0;
    float narrow = 0;
    uint32_t bits;
    if (*at == '"' ? !tli_headjson_plain(w, &text) : !tli_json_number(&w->j, &text, &flag))
        return 0;
    if (n->act == TL_TYPE_FLOAT64 ? !tli_number_parse_f64(text.data, text.size, &wide)
                                  : !tli_number_parse_f32(text.data, text.size, &narrow)) {
        if (*at != '"' || !tli_headjson_float_word(text, &wide))
            return tli_headjson_bad(w, at);
        narrow = (float)wide;
    }
    if (n->act == TL_TYPE_FLOAT64) {
        tli_build_fixed(b, &wide);
    } else if (n->act == TL_TYPE_FLOAT32) {
        TLI_COPY(&bits, &narrow, 4);
        tli_build_32(b, bits);
    } else {
        tli_build_16(b, tli_number_f32_to_f16(narrow));
    }
    return 1;
}

/* Dates, times, points in time, durations: an integer, or text. */
TLI_FN int tli_headjson_time(tli_headjson_walk *w, const tli_headjson_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    const tl_type *t = &b->type;
    tl_span text, none = tl_text(NULL);
    int64_t v = 0;
    int good;
    if (*at != '"') {
        uint64_t most = t->width == 4 ? INT32_MAX : INT64_MAX, value;
        if (!tli_headjson_integer(w, most, most + 1, &value))
            return 0;
        tli_build_integer(b, (int64_t)value);
        return 1;
    }
    if (!tli_headjson_plain(w, &text))
        return 0;
    good = n->act >= TL_TYPE_TIME32 && tli_number_parse_i64(text.data, text.size, &v);
    if (!good)
        switch (n->act) {
        case TL_TYPE_DATE32: good = tli_time_parse_date(text.data, text.size, &v); break;
        case TL_TYPE_DATE64: good = tli_time_parse_stamp(text.data, text.size, TL_UNIT_MILLI, none, &v); break;
        case TL_TYPE_TIME32:
        case TL_TYPE_TIME64: good = tli_time_parse_clock(text.data, text.size, t->unit, &v); break;
        case TL_TYPE_DURATION: good = tli_time_parse_duration(text.data, text.size, t->unit, &v); break;
        default: good = tli_time_parse_stamp(text.data, text.size, t->unit, t->zone, &v); break;
        }
    if (!good || (t->width == 4 && (v < INT32_MIN || v > INT32_MAX)))
        return tli_headjson_bad(w, at);
    tli_build_integer(b, v);
    return 1;
}

/* The `count` integers of an array, the last of them 64 bits wide when there are three. */
TLI_FN int tli_headjson_parts(tli_headjson_walk *w, int64_t *parts, int count)
{
    int i;
    if (!tli_json_take(&w->j, '[', "head: not a value of the column's type"))
        return 0;
    for (i = 0; i < count; i++) {
        uint64_t most = i == 2 ? INT64_MAX : INT32_MAX, v;
        tli_json_space(&w->j);
        if (!tli_headjson_integer(w, most, most + 1, &v)
            || !tli_json_take(&w->j, i == count - 1 ? ']' : ',', "head: not a value of the column's type"))
            return 0;
        parts[i] = (int64_t)v;
    }
    return 1;
}

TLI_FN int tli_headjson_interval(tli_headjson_walk *w, const tli_headjson_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    uint8_t value[16];
    tl_span text;
    int64_t parts[3] = {0, 0, 0};
    int32_t months = 0, days = 0;
    if (n->act == TL_TYPE_INTERVAL_MONTHS && *at != '"') {
        uint64_t v;
        if (!tli_headjson_integer(w, INT32_MAX, (uint64_t)INT32_MAX + 1, &v))
            return 0;
        tli_build_32(b, (uint32_t)v);
        return 1;
    }
    if (*at != '"') {
        if (!tli_headjson_parts(w, parts, n->act == TL_TYPE_INTERVAL_DAY_TIME ? 2 : 3))
            return 0;
    } else {
        if (!tli_headjson_plain(w, &text))
            return 0;
        if (!tli_time_parse_interval(text.data, text.size, &months, &days, &parts[2]))
            return tli_headjson_bad(w, at);
        parts[0] = n->act == TL_TYPE_INTERVAL_DAY_TIME ? days : months;
        parts[1] = n->act == TL_TYPE_INTERVAL_DAY_TIME ? parts[2] / 1000000 : days;
        if ((n->act == TL_TYPE_INTERVAL_MONTHS && (days != 0 || parts[2] != 0))
            || (n->act == TL_TYPE_INTERVAL_DAY_TIME
                && (months != 0 || parts[2] % 1000000 != 0 || parts[1] < INT32_MIN || parts[1] > INT32_MAX)))
            return tli_headjson_bad(w, at);
    }
    tli_bits_put32(value, (uint32_t)parts[0]);
    tli_bits_put32(value + 4, (uint32_t)parts[1]);
    tli_bits_put64(value + 8, (uint64_t)parts[2]);
    tli_build_fixed(b, value);
    return 1;
}

TLI_FN int tli_headjson_decimal(tli_headjson_walk *w, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    const tl_type *t = &b->type;
    uint8_t value[32];
    tl_span text;
    int flag;
    if (*at == '"' ? !tli_headjson_plain(w, &text) : !tli_json_number(&w->j, &text, &flag))
        return 0;
    if (!tli_number_parse_decimal(text.data, text.size, value, t->width, t->precision, t->scale))
        return tli_headjson_bad(w, at);
    tli_build_fixed(b, value);
    return 1;
}

/* Text, or the hex digits of binary. */
TLI_INLINE int tli_headjson_bytes(tli_headjson_walk *w, const tli_headjson_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    uint8_t *room = tli_build_room(b);
    tl_span text;
    int escaped;
    if (*at != '"')
        return tli_headjson_bad(w, at);
    if (!tli_json_text(&w->j, &text, &escaped))
        return 0;
    if (n->act < TL_TYPE_BINARY && !escaped) {
        tli_build_bytes(b, text.data, text.size);
        return 1;
    }
    if (n->act < TL_TYPE_BINARY) {
        text.size = tli_json_unescape((char *)room, text);
        tli_build_done(b, text.size);
        return 1;
    }
    if (escaped) {
        text.size = tli_json_unescape(w->scratch, text);
        text.data = w->scratch;
    }
    if ((n->act == TL_TYPE_FIXED_BINARY && text.size != 2 * (size_t)b->type.width)
        || !tli_number_unhex(room, text.data, text.size))
        return tli_headjson_bad(w, at);
    tli_build_done(b, text.size / 2);
    return 1;
}

TLI_INLINE int tli_headjson_fill_integer(tli_headjson_walk *w, const tli_headjson_node *n, tli_build_node *b)
{
    uint64_t v, most = UINT64_MAX >> (64 - 8 * (uint32_t)b->type.width), least = 0;
    if (n->act < TL_TYPE_UINT8) {
        most >>= 1;
        least = most + 1;
    }
    if (!tli_headjson_integer(w, most, least, &v))
        return 0;
    tli_build_integer(b, (int64_t)v);
    return 1;
}

TLI_FN int tli_headjson_dictionary(tli_headjson_walk *w, const tli_headjson_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    tli_headjson_words *words = n->words;
    if (!tli_json_skip(&w->j, w->source->depth))
        return 0;
    if (w->mode == TLI_HEADJSON_FILL)
        tli_build_integer(b, words->index[words->at++]);
    else
        words->texts[words->at++] = tli_text_span(at, (size_t)(w->j.p - at));
    return 1;
}

TLI_FN int tli_headjson_fill(tli_headjson_walk *w, const tli_headjson_node *n, tli_build_node *b)
{
    const uint8_t *at = w->j.p;
    if (n->act >= TL_TYPE_UTF8 && n->act <= TL_TYPE_FIXED_BINARY)
        return tli_headjson_bytes(w, n, b);
    if (n->act >= TL_TYPE_INT8 && n->act <= TL_TYPE_UINT64)
        return tli_headjson_fill_integer(w, n, b);
    if (n->act >= TL_TYPE_INTERVAL_MONTHS && n->act <= TL_TYPE_INTERVAL_MONTH_DAY_NANO)
        return tli_headjson_interval(w, n, b);
    if (n->act >= TL_TYPE_DATE32 && n->act <= TL_TYPE_DURATION)
        return tli_headjson_time(w, n, b);
    if (n->act >= TL_TYPE_DECIMAL32 && n->act <= TL_TYPE_DECIMAL256)
        return tli_headjson_decimal(w, b);
    if (n->act >= TL_TYPE_FLOAT16 && n->act <= TL_TYPE_FLOAT64)
        return tli_headjson_float(w, n, b);
    if (n->act != TL_TYPE_BOOL || (*at != 't' && *at != 'f'))
        return tli_headjson_bad(w, at);
    tli_build_bool(b, *at == 't');
    return tli_json_literal(&w->j, *at == 't' ? "true" : "false");
}

/* A value that is not null, of a column that is neither struct nor list nor map. */
TLI_INLINE int tli_headjson_scalar(tli_headjson_walk *w, uint32_t at)
{
    tli_headjson_node *n = &w->nodes[at];
    if (TLI_UNLIKELY(n->act == TLI_HEADJSON_DICTIONARY && w->mode != TLI_HEADJSON_COUNT))
        return tli_headjson_dictionary(w, n, &w->build[at]);
    if (w->mode == TLI_HEADJSON_FILL)
        return tli_headjson_fill(w, n, &w->build[at]);
    if (w->mode == TLI_HEADJSON_COUNT)
        return tli_headjson_count(w, n, &w->build[at]);
    return tli_json_skip(&w->j, w->source->depth);
}

/* ---- the walk ---- */

TLI_FN int tli_headjson_null(tli_headjson_walk *w, uint32_t at, const uint8_t *where)
{
    if (!w->nodes[at].nullable)
        return tli_json_fail(&w->j, "head: a null in a column that is not nullable", where);
    if (w->mode == TLI_HEADJSON_COUNT)
        tli_build_count_null(&w->build[at]);
    else if (w->mode == TLI_HEADJSON_FILL)
        tli_build_null(&w->build[at]);
    return 1;
}

/* The end of a list, map or struct. */
TLI_INLINE uint32_t tli_headjson_end(tli_headjson_walk *w, uint32_t at)
{
    if (w->mode == TLI_HEADJSON_COUNT)
        tli_build_count(&w->build[at]);
    else if (w->mode == TLI_HEADJSON_FILL)
        tli_build_end(&w->build[at]);
    return TLI_HEADJSON_DONE;
}

/* Takes the key at the cursor when it is this child's. */
TLI_INLINE int tli_headjson_match(tli_headjson_walk *w, uint32_t child)
{
    const tli_headjson_node *n;
    const uint8_t *p = w->j.p;
    if (child == TLI_HEADJSON_NONE)
        return 0;
    n = &w->nodes[child];
    if ((size_t)(w->j.end - p) < (size_t)n->key_size + 8 || n->key_mask == 0
        || (tli_bits_le64(p) & n->key_mask) != n->key_head)
        return 0;
    if (n->key_size > 8) {
        if (tli_bits_le64(p + n->key_size - 8) != n->key_tail)
            return 0;
        if (n->key_size > 16 && TLI_COMPARE(p + 8, n->name.data + 7, n->key_size - 16) != 0)
            return 0;
    }
    w->j.p = p + n->key_size;
    return 1;
}

/* Takes any key: the child of that name, NONE, or FAIL. */
TLI_FN uint32_t tli_headjson_lookup(tli_headjson_walk *w, uint32_t at)
{
    const uint32_t *sorted = w->source->tree.sorted + w->nodes[at].sorted;
    uint32_t low = 0, high = w->nodes[at].count;
    tl_span key;
    int escaped;
    if (w->j.p >= w->j.end || *w->j.p != '"')
        return tli_headjson_stop(w, "json: a key is expected", w->j.p);
    if (!tli_json_text(&w->j, &key, &escaped))
        return TLI_HEADJSON_FAIL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        tl_span name = w->nodes[sorted[middle]].name;
        int order = escaped ? tli_json_compare(key, name) : tl_span_compare(key, name);
        if (order == 0)
            return sorted[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return TLI_HEADJSON_NONE;
}

/* Of an object whose keys repeat the last ones count: notes where they are. The cursor, behind the brace, stays. */
TLI_FN int tli_headjson_last_keys(tli_headjson_walk *w, uint32_t at)
{
    const uint8_t *start = w->j.p;
    for (;;) {
        const uint8_t *key;
        uint32_t child;
        tli_json_space(&w->j);
        key = w->j.p;
        if (key < w->j.end && *key == '}')
            break;
        child = tli_headjson_lookup(w, at);
        if (child == TLI_HEADJSON_FAIL || !tli_json_take(&w->j, ':', "json: a colon is expected")
            || !tli_json_skip(&w->j, w->source->depth))
            return 0;
        if (child != TLI_HEADJSON_NONE)
            w->nodes[child].last = (uint64_t)(key - w->j.begin);
        tli_json_space(&w->j);
        if (w->j.p < w->j.end && *w->j.p == ',')
            w->j.p++;
        else if (w->j.p >= w->j.end || *w->j.p != '}')
            return tli_json_fail(&w->j, "json: a comma or } is expected", w->j.p);
    }
    w->j.p = start;
    return 1;
}

/* The end of an object: children that it did not have are null. */
TLI_INLINE uint32_t tli_headjson_close(tli_headjson_walk *w, uint32_t at)
{
    tli_headjson_node *n = &w->nodes[at];
    uint32_t i, child = at + 1;
    if (TLI_UNLIKELY(n->seen != n->count))
        for (i = 0; i < n->count; i++) {
            if (w->nodes[child].mark != n->objects && !tli_headjson_null(w, child, w->j.p))
                return TLI_HEADJSON_FAIL;
            child += w->build[child].span;
        }
    w->j.p++;
    return tli_headjson_end(w, at);
}

/* The value behind the key of `child`, when it can be taken at once: DONE; else the child; or FAIL. */
TLI_INLINE uint32_t tli_headjson_member(tli_headjson_walk *w, uint32_t at, uint32_t child, const uint8_t *key)
{
    tli_headjson_node *n;
    if (child == TLI_HEADJSON_NONE)
        return tli_json_skip(&w->j, w->source->depth) ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
    n = &w->nodes[child];
    if (TLI_UNLIKELY(w->source->repeated)) {
        if (n->last != (uint64_t)(key - w->j.begin))
            return tli_json_skip(&w->j, w->source->depth) ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
    } else if (TLI_UNLIKELY(n->mark == w->nodes[at].objects)) {
        return tli_headjson_stop(w, "head: a repeated key", key); /* the pass is made again, and heeds them */
    }
    n->mark = w->nodes[at].objects;
    w->nodes[at].seen++;
    if (TLI_UNLIKELY(w->j.p >= w->j.end))
        return tli_headjson_stop(w, "", w->j.p);
    if (*w->j.p == 'n')
        return tli_json_literal(&w->j, "null") && tli_headjson_null(w, child, w->j.p - 4) ? TLI_HEADJSON_DONE
                                                                                          : TLI_HEADJSON_FAIL;
    if (w->build[child].layout >= TLI_ARROW_LIST)
        return child;
    return tli_headjson_scalar(w, child) ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
}

/* Goes on in an object: takes members up to one whose value has to be entered, which is answered, or to the end.
   `from`: the member that was taken last, or the struct itself: its brace was. */
TLI_FN uint32_t tli_headjson_members(tli_headjson_walk *w, uint32_t at, uint32_t from)
{
    int first = from == at;
    for (;; first = 0) {
        const uint8_t *key;
        uint32_t child, next;
        if (!first && TLI_LIKELY(w->j.p < w->j.end && *w->j.p == ',')) {
            w->j.p++;
        } else {
            tli_json_space(&w->j);
            if (w->j.p < w->j.end && *w->j.p == '}')
                return tli_headjson_close(w, at);
            if (!first && !tli_json_take(&w->j, ',', "json: a comma or } is expected"))
                return TLI_HEADJSON_FAIL;
        }
        if (TLI_UNLIKELY(w->j.p >= w->j.end || *w->j.p != '"'))
            tli_json_space(&w->j);
        key = w->j.p;
        child = from == TLI_HEADJSON_NONE ? TLI_HEADJSON_NONE : w->nodes[from].follow;
        if (TLI_UNLIKELY(!tli_headjson_match(w, child))) {
            child = tli_headjson_lookup(w, at);
            if (child == TLI_HEADJSON_FAIL)
                return child;
            if (child != TLI_HEADJSON_NONE && from != TLI_HEADJSON_NONE)
                w->nodes[from].follow = child;
        }
        if (TLI_LIKELY(w->j.p < w->j.end && *w->j.p == ':'))
            w->j.p++;
        else if (!tli_json_take(&w->j, ':', "json: a colon is expected"))
            return TLI_HEADJSON_FAIL;
        if (TLI_UNLIKELY(w->j.p < w->j.end && *w->j.p <= 0x20))
            tli_json_space(&w->j);
        next = tli_headjson_member(w, at, child, key);
        if (next != TLI_HEADJSON_DONE)
            return next;
        from = child;
    }
}

/* A value at the cursor: takes it (DONE), or enters it and answers the node whose value is next; or FAIL. */
TLI_FN uint32_t tli_headjson_begin(tli_headjson_walk *w, uint32_t at)
{
    tli_headjson_node *n = &w->nodes[at];
    const uint8_t *p;
    tli_json_space(&w->j);
    p = w->j.p;
    if (p >= w->j.end)
        return tli_headjson_stop(w, "", p);
    if (*p == 'n')
        return tli_json_literal(&w->j, "null") && tli_headjson_null(w, at, p) ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
    if (w->build[at].layout < TLI_ARROW_LIST)
        return tli_headjson_scalar(w, at) ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
    if (n->act == TLI_HEADJSON_ENTRIES) {
        if (w->nodes[at - 1].pairs) {
            w->j.p += *p == '[';
            return *p == '[' ? at + 1 : tli_headjson_stop(w, "head: a pair is expected", p);
        }
        if (*p != '"')
            return tli_headjson_stop(w, "json: a key is expected", p);
        if (w->build[at + 1].layout >= TLI_ARROW_LIST)
            return tli_headjson_bad(w, p) ? 0 : TLI_HEADJSON_FAIL;
        return tli_headjson_scalar(w, at + 1) && tli_json_take(&w->j, ':', "json: a colon is expected")
            ? at + 1 + w->build[at + 1].span : TLI_HEADJSON_FAIL;
    }
    n->pairs = *p == '[';
    n->seen = 0;
    if (*p != (n->act == TL_TYPE_STRUCT ? '{' : '[') && (n->act != TL_TYPE_MAP || *p != '{'))
        return tli_headjson_bad(w, p) ? 0 : TLI_HEADJSON_FAIL;
    w->j.p++;
    if (n->act == TL_TYPE_STRUCT) {
        n->objects++; /* no child has this mark yet: marks are not used twice, whatever the pass */
        if (n->twins)
            return tli_headjson_stop(w, "head: rows of a struct with two fields of one name", p);
        if (w->source->repeated && !tli_headjson_last_keys(w, at))
            return TLI_HEADJSON_FAIL;
        return tli_headjson_members(w, at, at);
    }
    tli_json_space(&w->j);
    if (w->j.p >= w->j.end || *w->j.p != (n->pairs ? ']' : '}'))
        return at + 1;
    if (n->act == TL_TYPE_FIXED_LIST && w->build[at].type.size != 0)
        return tli_headjson_stop(w, "head: too few elements", p);
    w->j.p++;
    return tli_headjson_end(w, at);
}

/* Goes on in a list, map or struct after its part `child` was taken. */
TLI_FN uint32_t tli_headjson_resume(tli_headjson_walk *w, uint32_t at, uint32_t child)
{
    tli_headjson_node *n = &w->nodes[at];
    int close = n->act == TL_TYPE_MAP && !n->pairs ? '}' : ']';
    if (n->act == TL_TYPE_STRUCT)
        return tli_headjson_members(w, at, child);
    if (n->act == TLI_HEADJSON_ENTRIES) {
        uint32_t value = at + 1 + w->build[at + 1].span;
        if (child != value)
            return tli_json_take(&w->j, ',', "head: a pair is expected") ? value : TLI_HEADJSON_FAIL;
        if (w->nodes[at - 1].pairs && !tli_json_take(&w->j, ']', "head: a pair is expected"))
            return TLI_HEADJSON_FAIL;
        return tli_headjson_end(w, at);
    }
    tli_json_space(&w->j);
    if (n->act == TL_TYPE_FIXED_LIST && ++n->seen > (uint32_t)w->build[at].type.size)
        return tli_headjson_stop(w, "head: too many elements", w->j.p);
    if (w->j.p < w->j.end && *w->j.p == ',') {
        w->j.p++;
        return child;
    }
    if (w->j.p >= w->j.end || *w->j.p != close)
        return tli_headjson_stop(w, close == ']' ? "json: a comma or ] is expected" : "json: a comma or } is expected",
                                 w->j.p);
    if (n->act == TL_TYPE_FIXED_LIST && n->seen != (uint32_t)w->build[at].type.size)
        return tli_headjson_stop(w, "head: too few elements", w->j.p);
    w->j.p++;
    return tli_headjson_end(w, at);
}

/* One value of node `root`, with all below it. */
TLI_FN int tli_headjson_value(tli_headjson_walk *w, uint32_t root)
{
    uint32_t at = root;
    for (;;) {
        uint32_t next = tli_headjson_begin(w, at);
        while (next == TLI_HEADJSON_DONE) {
            uint32_t child = at;
            if (at == root)
                return 1;
            at -= w->build[at].up;
            next = tli_headjson_resume(w, at, child);
        }
        if (next == TLI_HEADJSON_FAIL)
            return 0;
        at = next;
    }
}

/* The array of rows at the cursor; how many they are. */
TLI_FN int tli_headjson_rows(tli_headjson_walk *w, uint64_t most, uint64_t *rows)
{
    *rows = 0;
    if (!tli_json_take(&w->j, '[', "head: the rows of a section have to be an array"))
        return 0;
    tli_json_space(&w->j);
    if (w->j.p < w->j.end && *w->j.p == ']') {
        w->j.p++;
        return 1;
    }
    for (;;) {
        if (++*rows > most)
            return tli_json_refuse(&w->j, TL_LIMIT, "limits.rows", w->j.p);
        if (!tli_headjson_value(w, 0))
            return 0;
        tli_json_space(&w->j);
        if (w->j.p < w->j.end && *w->j.p == ']') {
            w->j.p++;
            return 1;
        }
        if (!tli_json_take(&w->j, ',', "json: a comma or ] is expected"))
            return 0;
    }
}

/* ---- dictionaries ---- */

TLI_FN tl_status tli_headjson_words_new(const tl_allocator *a, tli_headjson_node *n, uint64_t count, tl_error *err)
{
    tli_headjson_words *words;
    size_t size, each = sizeof(tl_span) + 2 * sizeof(uint32_t);
    uint64_t bytes;
    if (count >= UINT32_MAX || !tli_bits_mul(count, each, &bytes) || !tli_bits_add(bytes, sizeof *words, &bytes)
        || !tli_bits_size(bytes, &size))
        return tli_err_need(err, TL_LIMIT, "head: too many values of a dictionary", TL_NO_POSITION, count);
    words = (tli_headjson_words *)tli_mem_new(a, size);
    if (words == NULL)
        return tli_mem_failed(a, err);
    TLI_FILL(words, 0, sizeof *words);
    words->size = size;
    words->count = (uint32_t)count;
    words->texts = (tl_span *)(void *)(words + 1);
    words->index = (uint32_t *)(void *)(words->texts + count);
    words->first = words->index + count;
    n->words = words;
    return TL_OK;
}

/* Numbers the distinct texts in the order they appear. */
TLI_FN tl_status tli_headjson_words_sort(tli_headjson_words *words, const tl_type *type, uint64_t position,
                                         tl_error *err)
{
    uint32_t i, start = 0, n = words->count;
    uint64_t most = UINT64_MAX >> (64 - 8 * (uint32_t)type->width);
    for (i = 0; i < n; i++)
        words->first[i] = i;
    tli_headjson_sort(words->first, n, words->texts);
    for (i = 0; i < n; i++) { /* equal texts are neighbours, the earliest of them first */
        if (!tl_span_equal(words->texts[words->first[i]], words->texts[words->first[start]]))
            start = i;
        words->index[words->first[i]] = words->first[start];
    }
    for (i = 0; i < n; i++) {
        uint32_t same = words->index[i];
        words->index[i] = same == i ? words->distinct++ : words->index[same];
        if (same == i)
            words->first[words->distinct - 1] = i;
    }
    words->at = 0;
    if (type->id < TL_TYPE_UINT8)
        most >>= 1;
    if (words->distinct != 0 && words->distinct - 1 > most)
        return tli_err(err, TL_CORRUPT, "head: more values than the indices of a dictionary can tell apart", position);
    return TL_OK;
}

TLI_FN void tli_headjson_words_free(tli_headjson_source *s)
{
    uint32_t i;
    for (i = 0; i < s->tree.build->count; i++) {
        tli_headjson_words *words = s->tree.nodes[i].words;
        if (words != NULL)
            tli_mem_delete(&s->store->allocator, words, words->size);
        s->tree.nodes[i].words = NULL;
    }
}

/* ---- opening ---- */

TLI_FN tli_headjson_walk tli_headjson_walk_of(tli_headjson_source *s, int mode, tl_error *err)
{
    tli_headjson_walk w;
    TLI_FILL(&w, 0, sizeof w);
    w.j = tli_json_open(s->body, s->size, s->position, err);
    w.j.p += s->rows;
    w.source = s;
    w.nodes = s->tree.nodes;
    w.build = s->tree.build->nodes;
    w.mode = mode;
    return w;
}

/* All values of a root: of the rows (0), or the distinct values of a dictionary. */
TLI_FN tl_status tli_headjson_pass(tli_headjson_walk *w, uint32_t root)
{
    tli_headjson_words *words;
    uint64_t rows;
    uint32_t i;
    if (root == 0) {
        w->j.p = w->j.begin + w->source->rows;
        return tli_headjson_rows(w, UINT64_MAX, &rows) ? TL_OK : w->j.status;
    }
    words = w->nodes[root - w->build[root].up].words;
    for (i = 0; i < words->distinct; i++) {
        w->j.p = (const uint8_t *)words->texts[words->first[i]].data;
        if (!tli_headjson_value(w, root))
            return w->j.status;
    }
    return TL_OK;
}

/* The node whose values a node's values are part of: the rows, or those of a dictionary. */
TLI_FN uint32_t tli_headjson_root(const tli_headjson_walk *w, uint32_t at)
{
    do
        at -= w->build[at].up;
    while (at != 0 && !w->build[at].is_dictionary);
    return at;
}

/* Forgets what was counted: of everything, or of the values of dictionaries alone. */
TLI_FN void tli_headjson_recount(tli_headjson_walk *w, int all)
{
    uint32_t i;
    for (i = 1; i < w->source->tree.build->count; i++) {
        tli_build_node *b = &w->build[i];
        if (all || b->is_dictionary || tli_headjson_root(w, i) != 0)
            b->length = b->nulls = b->bytes = b->fillers = 0;
    }
    if (all)
        w->build[0].length = 0;
}

/* Collects the values of dictionary columns, outer ones first, and counts what the distinct ones take. */
TLI_FN tl_status tli_headjson_collect(tli_headjson_walk *w, tl_error *err)
{
    uint32_t root, i, n = w->source->tree.build->count;
    for (root = 0; root < n; root++) {
        tl_status st = TL_OK;
        uint32_t found = 0;
        if (root != 0 && !w->build[root].is_dictionary)
            continue;
        if (root != 0) {
            w->mode = TLI_HEADJSON_COUNT;
            st = tli_headjson_pass(w, root);
        }
        for (i = root + 1; i < n && st == TL_OK; i++)
            if (w->nodes[i].act == TLI_HEADJSON_DICTIONARY && tli_headjson_root(w, i) == root) {
                st = tli_headjson_words_new(&w->source->store->allocator, &w->nodes[i],
                                            w->build[i].length - w->build[i].nulls, err);
                found++;
            }
        w->mode = TLI_HEADJSON_COLLECT;
        if (st == TL_OK && found != 0)
            st = tli_headjson_pass(w, root);
        for (i = root + 1; i < n && st == TL_OK && found != 0; i++)
            if (w->nodes[i].act == TLI_HEADJSON_DICTIONARY && tli_headjson_root(w, i) == root)
                st = tli_headjson_words_sort(w->nodes[i].words, &w->build[i].type, w->j.position + w->source->rows,
                                             err);
        if (st != TL_OK)
            return st;
    }
    return TL_OK;
}

/* Nulls and missing members of fixed-size columns take bytes that the text does not have: no more of them than this. */
#define TLI_HEADJSON_EXPANSION 1024u

TLI_FN tl_status tli_headjson_bounded(const tli_headjson_source *s, tl_error *err)
{
    uint64_t most = ((uint64_t)16 << 20) + (uint64_t)s->rows_size * TLI_HEADJSON_EXPANSION, sum = 0;
    uint32_t i;
    for (i = 0; i < s->tree.build->count; i++) {
        const tli_build_node *b = &s->tree.build->nodes[i];
        uint64_t bytes;
        if (!tli_bits_mul(b->length, (uint64_t)(uint32_t)b->type.width, &bytes) || !tli_bits_add(sum, bytes, &sum)
            || sum > most)
            return tli_err_need(err, TL_LIMIT, "head: nulls of fixed-size columns take too much",
                                s->position + s->rows, sum);
    }
    return TL_OK;
}

TLI_FN tl_status tli_headjson_fill_all(tli_headjson_source *s, struct ArrowArray **array, tl_error *err)
{
    tli_headjson_walk w = tli_headjson_walk_of(s, TLI_HEADJSON_COLLECT, err);
    uint32_t root;
    tl_status st = TL_OK;
    if (s->tree.dictionaries != 0) {
        st = tli_headjson_collect(&w, err);
        if (st == TL_CORRUPT && !s->repeated) { /* as in the first pass over the rows */
            s->repeated = 1;
            tli_headjson_words_free(s);
            tli_headjson_recount(&w, 0);
            w.j.status = TL_OK;
            st = tli_headjson_collect(&w, err);
        }
    }
    if (st == TL_OK)
        st = tli_headjson_bounded(s, err);
    if (st == TL_OK)
        st = tli_build_allocate(s->tree.build, err);
    if (st != TL_OK)
        return st;
    if (s->scratch != 0) {
        w.scratch = (char *)tli_mem_new(&s->store->allocator, s->scratch);
        if (w.scratch == NULL)
            return tli_mem_failed(&s->store->allocator, err);
    }
    w.mode = TLI_HEADJSON_FILL;
    for (root = 0; root < s->tree.build->count && st == TL_OK; root++)
        if (root == 0 || w.build[root].is_dictionary)
            st = tli_headjson_pass(&w, root);
    tli_mem_delete(&s->store->allocator, w.scratch, s->scratch);
    return st == TL_OK ? tli_build_finish(s->tree.build, array, err) : st;
}

/* Opens all columns at once. */
TLI_FN tl_status tli_headjson_open(struct tli_doc_source *self, tl_section *section, int32_t batch, int32_t column,
                                   tl_error *err)
{
    tli_headjson_source *s = (tli_headjson_source *)(void *)self;
    struct ArrowArray *array = NULL;
    int64_t i;
    tl_status st;
    (void)column;
    if (s->failed.status == TL_OK) {
        st = tli_headjson_fill_all(s, &array, &s->failed);
        tli_headjson_words_free(s);
        s->failed.status = st;
    }
    if (s->failed.status != TL_OK) {
        *err = s->failed;
        return err->status;
    }
    for (i = 0; i < array->n_children; i++)
        section->batches[batch].columns[i] = array->children[i];
    return TL_OK;
}

/* ---- decoding ---- */

typedef struct tli_headjson_decoder {
    tli_json j;
    tl_document *document;
    tl_limits limits;
} tli_headjson_decoder;

/* Takes the text at the cursor; it lives as long as the document. */
TLI_FN int tli_headjson_keep(tli_headjson_decoder *d, const char *expected, tl_span *text)
{
    int escaped;
    char *copy;
    tli_json_space(&d->j);
    if (d->j.p >= d->j.end || *d->j.p != '"')
        return tli_json_fail(&d->j, expected, d->j.p);
    if (!tli_json_text(&d->j, text, &escaped))
        return 0;
    if (!escaped)
        return 1;
    copy = (char *)tli_mem_take(d->document->store, text->size, d->j.err);
    if (copy == NULL) {
        d->j.status = d->j.err->status;
        return 0;
    }
    text->size = tli_json_unescape(copy, *text);
    text->data = copy;
    return 1;
}

/* Steps over the members of an object, or the elements of an array: 1: one is at the cursor; 0: that was the end, which
   was taken, or a failure. */
TLI_FN int tli_headjson_next(tli_json *j, int *first, char close, const char *expected)
{
    tli_json_space(j);
    if (j->p < j->end && *j->p == (uint8_t)close) {
        j->p++;
        return 0;
    }
    if (!*first && !tli_json_take(j, ',', expected))
        return 0;
    tli_json_space(j);
    if (!*first && j->p < j->end && *j->p == (uint8_t)close)
        return tli_json_fail(j, close == '}' ? "json: a key is expected" : "json: a value is expected", j->p);
    *first = 0;
    return 1;
}

TLI_FN int tli_headjson_properties(tli_headjson_decoder *d)
{
    int first = 1;
    if (!tli_json_take(&d->j, '{', "head: properties have to be an object"))
        return 0;
    while (tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected")) {
        tl_span key, value;
        if (!tli_headjson_keep(d, "json: a key is expected", &key)
            || !tli_json_take(&d->j, ':', "json: a colon is expected")
            || !tli_headjson_keep(d, "head: the value of a property has to be text", &value))
            return 0;
        d->j.status = tli_doc_property(d->document, key, value, d->j.err);
        if (d->j.status != TL_OK)
            return 0;
    }
    return d->j.status == TL_OK;
}

/* The first pass over a section's rows, whose schema is known; the cursor is at the array. Where it fails a later key
   of the same name may have overruled the value, so it is made again and looks for those first. */
TLI_FN int tli_headjson_measure(tli_headjson_decoder *d, tli_headjson_source *s, uint64_t *rows)
{
    tli_headjson_walk w = tli_headjson_walk_of(s, TLI_HEADJSON_COUNT, d->j.err);
    int good = tli_headjson_rows(&w, d->limits.rows, rows);
    if (!good && w.j.status == TL_CORRUPT) {
        tli_headjson_recount(&w, 1);
        w = tli_headjson_walk_of(s, TLI_HEADJSON_COUNT, d->j.err);
        s->repeated = 1;
        good = tli_headjson_rows(&w, d->limits.rows, rows);
    }
    d->j.status = w.j.status;
    d->j.p = w.j.p;
    s->rows_size = (size_t)(d->j.p - s->body) - s->rows;
    return good;
}

/* What a section object said so far: where its schema and its rows are. */
typedef struct tli_headjson_parts_seen {
    tl_span name;
    struct ArrowSchema *schema;
    const uint8_t *rows;
    tli_headjson_source *source;
    uint64_t count;
} tli_headjson_parts_seen;

TLI_FN int tli_headjson_section_schema(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    tli_store *store = d->document->store;
    tli_headjson_source *s;
    const uint8_t *at;
    tli_json_space(&d->j);
    at = d->j.p;
    if (!tli_json_skip(&d->j, tli_headjson_depth(&d->limits)))
        return 0;
    d->j.status = tli_headjson_schema_of(store, tli_text_span(at, (size_t)(d->j.p - at)),
                                         d->j.position + (uint64_t)(at - d->j.begin), &d->limits, &seen->schema,
                                         d->j.err);
    if (d->j.status != TL_OK)
        return 0;
    s = (tli_headjson_source *)tli_mem_take_zero(store, sizeof *s, d->j.err);
    if (s == NULL) {
        d->j.status = d->j.err->status;
        return 0;
    }
    s->source.open = tli_headjson_open;
    s->store = store;
    s->body = d->j.begin;
    s->size = (size_t)(d->j.end - d->j.begin);
    s->position = d->j.position;
    s->depth = tli_headjson_depth(&d->limits);
    seen->source = s;
    d->j.status = tli_headjson_nodes(store, seen->schema, &d->limits, &s->tree, d->j.err);
    return d->j.status == TL_OK;
}

/* Rows whose schema is known are counted at once, others are checked and counted when it is. */
TLI_FN int tli_headjson_section_rows(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    tli_json_space(&d->j);
    seen->rows = d->j.p;
    if (seen->source == NULL)
        return tli_json_skip(&d->j, 256);
    seen->source->rows = (size_t)(seen->rows - d->j.begin);
    return tli_headjson_measure(d, seen->source, &seen->count);
}

TLI_FN int tli_headjson_section_member(tli_headjson_decoder *d, tli_headjson_parts_seen *seen)
{
    const uint8_t *at = d->j.p;
    int twice = 0;
    tl_span key;
    if (!tli_headjson_keep(d, "json: a key is expected", &key)
        || !tli_json_take(&d->j, ':', "json: a colon is expected"))
        return 0;
    if (tl_span_equal(key, tl_text("name")))
        return (twice = seen->name.data != NULL) ? tli_json_fail(&d->j, "head: a section has two names", at)
            : tli_headjson_keep(d, "head: the name of a section has to be text", &seen->name);
    if (tl_span_equal(key, tl_text("schema")))
        return seen->schema != NULL ? tli_json_fail(&d->j, "head: a section has two schemas", at)
            : tli_headjson_section_schema(d, seen);
    if (tl_span_equal(key, tl_text("rows")))
        return seen->rows != NULL ? tli_json_fail(&d->j, "head: a section has rows twice", at)
            : tli_headjson_section_rows(d, seen);
    return tli_json_skip(&d->j, tli_headjson_depth(&d->limits));
}

TLI_FN int tli_headjson_section(tli_headjson_decoder *d)
{
    const uint8_t *at = d->j.p;
    tli_headjson_parts_seen seen;
    tl_section *section = NULL;
    int first = 1, late;
    TLI_FILL(&seen, 0, sizeof seen);
    if (!tli_json_take(&d->j, '{', "head: a section has to be an object"))
        return 0;
    while (tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected"))
        if (!tli_headjson_section_member(d, &seen))
            return 0;
    if (d->j.status != TL_OK)
        return 0;
    if (seen.name.data == NULL || seen.schema == NULL || seen.rows == NULL)
        return tli_json_fail(&d->j, "head: a section without name, schema or rows", at);
    late = seen.source->rows == 0;
    if (late) {
        const uint8_t *end = d->j.p;
        d->j.p = seen.rows;
        if (!tli_headjson_section_rows(d, &seen))
            return 0;
        d->j.p = end;
    }
    d->j.status = tli_doc_section(d->document, seen.name, seen.schema, 1, &seen.source->source, &section, d->j.err);
    if (d->j.status != TL_OK)
        return 0;
    section->rows = section->batches[0].rows = (int64_t)seen.count;
    return 1;
}

TLI_FN int tli_headjson_sections(tli_headjson_decoder *d)
{
    int first = 1;
    uint32_t n = 0;
    if (!tli_json_take(&d->j, '[', "head: sections have to be an array"))
        return 0;
    while (tli_headjson_next(&d->j, &first, ']', "json: a comma or ] is expected")) {
        if (++n > d->limits.sections)
            return tli_json_refuse(&d->j, TL_LIMIT, "limits.sections", d->j.p);
        if (!tli_headjson_section(d))
            return 0;
    }
    return d->j.status == TL_OK;
}

TLI_FN int tli_headjson_document(tli_headjson_decoder *d)
{
    const uint8_t *properties = NULL, *sections = NULL;
    int first = 1, good = 1;
    if (!tli_json_take(&d->j, '{', "head: a document has to be an object"))
        return 0;
    while (good && tli_headjson_next(&d->j, &first, '}', "json: a comma or } is expected")) {
        const uint8_t *at = d->j.p;
        tl_span key;
        if (!tli_headjson_keep(d, "json: a key is expected", &key)
            || !tli_json_take(&d->j, ':', "json: a colon is expected"))
            return 0;
        if (tl_span_equal(key, tl_text("properties"))) {
            good = properties != NULL ? tli_json_fail(&d->j, "head: properties twice", at) : tli_headjson_properties(d);
            properties = at;
        } else if (tl_span_equal(key, tl_text("sections"))) {
            good = sections != NULL ? tli_json_fail(&d->j, "head: sections twice", at) : tli_headjson_sections(d);
            sections = at;
        } else {
            good = tli_json_skip(&d->j, tli_headjson_depth(&d->limits));
        }
    }
    if (!good || d->j.status != TL_OK || !tli_json_finish(&d->j))
        return 0;
    return properties != NULL && sections != NULL ? 1
        : tli_json_fail(&d->j, "head: a document without properties or sections", d->j.begin);
}

/* Decodes a body, which has to stay as it is as long as the document; `position`: where it lies in the object. */
TLI_FN tl_status tli_headjson_decode(tl_document *document, const void *body, size_t size, uint64_t position,
                                     const tl_limits *limits, tl_error *err)
{
    tli_headjson_decoder d;
    tl_error own;
    TLI_FILL(&d, 0, sizeof d);
    d.j = tli_json_open(body, size, position, err != NULL ? err : &own);
    d.document = document;
    d.limits = tl_limits_resolve(limits);
    return tli_headjson_document(&d) ? TL_OK : d.j.status;
}

/* ---- writing ---- */

typedef struct tli_headjson_writer {
    tl_buffer *out;
    char *p;   /* where the next byte goes; the buffer's size is set when it grows and at the end */
    char *end; /* of its memory */
    tli_headjson_tree tree;
    tl_status status;
    tl_error *err;
} tli_headjson_writer;

TLI_NOINLINE int tli_headjson_grow(tli_headjson_writer *w, size_t size)
{
    if (w->p != NULL)
        w->out->size = (size_t)(w->p - (char *)w->out->data);
    w->status = tli_mem_reserve(w->out, size, w->err);
    if (w->status != TL_OK)
        return 0;
    w->p = (char *)w->out->data + w->out->size;
    w->end = (char *)w->out->data + w->out->capacity;
    return 1;
}

/* Room for `size` bytes at w->p. */
TLI_INLINE int tli_headjson_room(tli_headjson_writer *w, size_t size)
{
    return TLI_LIKELY((size_t)(w->end - w->p) >= size) || tli_headjson_grow(w, size);
}

/* Writes what is JSON already. */
TLI_INLINE int tli_headjson_put(tli_headjson_writer *w, const char *text, size_t size)
{
    if (!tli_headjson_room(w, size))
        return 0;
    if (size != 0)
        TLI_COPY(w->p, text, size);
    w->p += size;
    return 1;
}

TLI_FN int tli_headjson_say(tli_headjson_writer *w, const char *text)
{
    return tli_headjson_put(w, text, tl_text(text).size);
}

/* Writes a text in quotes. */
TLI_FN int tli_headjson_quote(tli_headjson_writer *w, tl_span text)
{
    size_t room = text.size <= 256 ? 6 * text.size + 2 : tli_json_escaped_size(text.data, text.size) + 2;
    if (!tli_headjson_room(w, room))
        return 0;
    w->p = tli_json_put_text(w->p, text.data, text.size);
    return 1;
}

TLI_FN int tli_headjson_number(tli_headjson_writer *w, int64_t value)
{
    if (!tli_headjson_room(w, 24))
        return 0;
    w->p += tli_number_i64(w->p, value);
    return 1;
}

TLI_FN int tli_headjson_misuse(tli_headjson_writer *w, tl_status status, const char *text)
{
    w->status = tli_err(w->err, status, text, TL_NO_POSITION);
    return 0;
}

/* ---- writing a schema ---- */

/* {"key":"value",...} of a node's metadata, in its order. */
TLI_FN int tli_headjson_write_metadata(tli_headjson_writer *w, const struct ArrowSchema *schema)
{
    tli_arrow_pairs pairs = tli_arrow_pairs_begin(schema);
    tl_span key, value;
    const char *before = "{";
    while (tli_arrow_pairs_next(&pairs, &key, &value)) {
        if (tli_text_utf8(key.data, key.size) != key.size || tli_text_utf8(value.data, value.size) != value.size)
            return tli_headjson_misuse(w, TL_MISUSE, "head: metadata that is not UTF-8");
        if (!tli_headjson_say(w, before) || !tli_headjson_quote(w, key) || !tli_headjson_say(w, ":")
            || !tli_headjson_quote(w, value))
            return 0;
        before = ",";
    }
    return tli_headjson_say(w, before[0] == '{' ? "{}" : "}");
}

/* The arguments of a type behind the colon, up to its children if it has any. */
TLI_FN int tli_headjson_write_arguments(tli_headjson_writer *w, const tl_type *t)
{
    if (t->id >= TL_TYPE_DECIMAL32 && t->id <= TL_TYPE_DECIMAL256)
        return tli_headjson_say(w, "[") && tli_headjson_number(w, t->precision) && tli_headjson_say(w, ",")
               && tli_headjson_number(w, t->scale) && tli_headjson_say(w, "]");
    if (t->id == TL_TYPE_FIXED_BINARY)
        return tli_headjson_number(w, t->size);
    if (t->id >= TL_TYPE_FIXED_LIST)
        return tli_headjson_say(w, "[");
    if (t->id >= TL_TYPE_LIST)
        return 1;
    if (t->id == TL_TYPE_TIMESTAMP && !tli_headjson_say(w, "["))
        return 0;
    if (!tli_headjson_say(w, "\"")
        || !tli_headjson_say(w, tli_headjson_unit(t->id >= TL_TYPE_INTERVAL_MONTHS
                                                      ? (uint32_t)t->id - TL_TYPE_INTERVAL_MONTHS + 4
                                                      : (uint32_t)t->unit))
        || !tli_headjson_say(w, "\""))
        return 0;
    if (t->id != TL_TYPE_TIMESTAMP)
        return 1;
    return tli_headjson_say(w, ",")
           && (t->zone.data == NULL ? tli_headjson_say(w, "null") : tli_headjson_quote(w, t->zone))
           && tli_headjson_say(w, "]");
}

/* A field, or the type of a dictionary's values, up to its children. */
TLI_FN int tli_headjson_open_field(tli_headjson_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const tl_type *t = &b->type;
    int plain = t->id <= TL_TYPE_FLOAT64 || t->id == TL_TYPE_DATE32 || t->id == TL_TYPE_DATE64
                || (t->id >= TL_TYPE_UTF8 && t->id <= TL_TYPE_BINARY_VIEW);
    if (!b->is_dictionary
        && (!tli_headjson_say(w, "{\"name\":") || !tli_headjson_quote(w, w->tree.nodes[at].name)
            || !tli_headjson_say(w, ",\"data_type\":")))
        return 0;
    if (b->schema->dictionary != NULL && !tli_headjson_say(w, "{\"Dictionary\":["))
        return 0;
    if (!tli_headjson_say(w, plain ? "\"" : "{\"") || !tli_headjson_say(w, tli_headjson_name(t->id))
        || !tli_headjson_say(w, plain ? "\"" : "\":"))
        return 0;
    if (!plain && !tli_headjson_write_arguments(w, t))
        return 0;
    if (b->schema->dictionary != NULL)
        return tli_headjson_say(w, ",");
    return plain || t->id >= TL_TYPE_LIST || tli_headjson_say(w, "}");
}

/* What follows its children. */
TLI_FN int tli_headjson_close_field(tli_headjson_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const struct ArrowSchema *schema = b->schema;
    int good = 1;
    if (b->type.id == TL_TYPE_FIXED_LIST)
        good = tli_headjson_say(w, ",") && tli_headjson_number(w, b->type.size);
    else if (b->type.id == TL_TYPE_MAP)
        good = tli_headjson_say(w, (schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0 ? ",true" : ",false");
    if (good && (schema->dictionary != NULL || b->type.id >= TL_TYPE_FIXED_LIST))
        good = tli_headjson_say(w, "]");
    if (good && (schema->dictionary != NULL || b->type.id >= TL_TYPE_LIST))
        good = tli_headjson_say(w, "}");
    if (!good || b->is_dictionary)
        return good;
    return tli_headjson_say(w, ",\"nullable\":")
           && tli_headjson_say(w, (schema->flags & ARROW_FLAG_NULLABLE) != 0 ? "true" : "false")
           && tli_headjson_say(w, ",\"dict_id\":0,\"dict_is_ordered\":")
           && tli_headjson_say(w, schema->dictionary != NULL && (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0
                                      ? "true" : "false")
           && tli_headjson_say(w, ",\"metadata\":") && tli_headjson_write_metadata(w, schema)
           && tli_headjson_say(w, "}");
}

TLI_FN int tli_headjson_write_schema(tli_headjson_writer *w)
{
    const tli_build_node *b = w->tree.build->nodes;
    uint32_t i, at, n = w->tree.build->count;
    if (!tli_headjson_say(w, "{\"fields\":["))
        return 0;
    for (i = 1; i < n; i++) {
        if (!tli_headjson_open_field(w, i))
            return 0;
        if (b[i].span > 1)
            continue;
        for (at = i;; at -= b[at].up) { /* this one, and all around it that end here */
            if (!tli_headjson_close_field(w, at))
                return 0;
            if (b[at].up == at || at - b[at].up + b[at - b[at].up].span != i + 1)
                break;
        }
        if (i + 1 < n && !tli_headjson_say(w, ","))
            return 0;
    }
    return tli_headjson_say(w, "],\"metadata\":") && tli_headjson_write_metadata(w, b[0].schema)
           && tli_headjson_say(w, "}");
}

/* ---- writing values ---- */

/* The bytes of value i (offset included) of a text or binary array. */
TLI_INLINE tl_span tli_headjson_bytes_of(const tli_build_node *b, int64_t i)
{
    const struct ArrowArray *a = b->array;
    const uint8_t *values = (const uint8_t *)a->buffers[1];
    if (b->layout == TLI_ARROW_BYTES) {
        uint32_t from = tli_bits_u32(values + 4 * i), to = tli_bits_u32(values + 4 * i + 4);
        return from == to ? tl_text("") : tli_text_span((const uint8_t *)a->buffers[2] + from, to - from);
    }
    if (b->layout == TLI_ARROW_LARGE_BYTES) {
        uint64_t from = tli_bits_u64(values + 8 * i), to = tli_bits_u64(values + 8 * i + 8);
        return from == to ? tl_text("") : tli_text_span((const uint8_t *)a->buffers[2] + from, (size_t)(to - from));
    }
    if (b->layout == TLI_ARROW_VIEWS)
        return tli_arrow_view(a, i);
    return tli_text_span(b->type.width == 0 ? (const uint8_t *)"" : values + (size_t)b->type.width * (size_t)i,
                         (size_t)b->type.width);
}

TLI_FN int tli_headjson_write_hex(tli_headjson_writer *w, tl_span bytes)
{
    if (bytes.size > SIZE_MAX / 4 || !tli_headjson_room(w, 2 * bytes.size + 2))
        return bytes.size > SIZE_MAX / 4 ? tli_headjson_misuse(w, TL_NO_MEMORY, "output too large") : 0;
    *w->p++ = '"';
    tli_number_hex(w->p, bytes.data, bytes.size);
    w->p += 2 * bytes.size;
    *w->p++ = '"';
    return 1;
}

/* Whether every reader gets a number right: at most 15 digits and a power of ten that a double holds. serde_json, which
   Timelake reads with, multiplies the two (its float_roundtrip is off) and is one bit off for a fifth of other doubles;
   from a text it takes them exactly. */
TLI_FN int tli_headjson_plain_float(const char *p, size_t n)
{
    int32_t digits = 0, fraction = 0, exponent = 0;
    size_t i = p[0] == '-';
    int point = 0, minus;
    for (; i < n && p[i] != 'e'; i++) {
        if (p[i] == '.') {
            point = 1;
            continue;
        }
        digits += digits != 0 || p[i] != '0';
        fraction += point;
    }
    minus = i + 1 < n && p[i + 1] == '-';
    for (i += 2; i < n; i++)
        exponent = exponent * 10 + (p[i] - '0');
    exponent = (minus ? -exponent : exponent) - fraction;
    return digits <= 15 && exponent <= 22 && exponent >= -22;
}

/* There is room for 100 bytes. */
TLI_FN void tli_headjson_write_float(tli_headjson_writer *w, tl_type_id id, const uint8_t *value)
{
    double wide;
    float narrow;
    char *p = w->p;
    size_t n;
    if (id == TL_TYPE_FLOAT64) {
        TLI_COPY(&wide, value, 8);
        n = tli_number_f64(p + 1, wide);
    } else {
        if (id == TL_TYPE_FLOAT32)
            TLI_COPY(&narrow, value, 4);
        else
            narrow = tli_number_f16_to_f32(tli_bits_u16(value));
        n = tli_number_f32(p + 1, narrow);
    }
    if (p[n] > '9' || (n == 4 && TLI_COMPARE(p + 1, "-0.0", 4) == 0) || !tli_headjson_plain_float(p + 1, n)) {
        *p = '"'; /* JSON has no such numbers, or its readers do not agree on them */
        p[n + 1] = '"';
        w->p += n + 2;
        return;
    }
    TLI_MOVE(p, p + 1, n);
    w->p += n;
}

/* Dates and times of day as text where the text can say them, all else of time as an integer. There is room. */
TLI_FN void tli_headjson_write_time(tli_headjson_writer *w, const tl_type *t, int64_t v)
{
    const int64_t least = -719528, most = 2932896; /* days of the years 0 to 9999 */
    size_t n = 0;
    char *p = w->p;
    if (t->id == TL_TYPE_DATE32 && v >= least && v <= most)
        n = tli_time_date(p + 1, v);
    else if (t->id == TL_TYPE_DATE64 && v >= least * 86400000 && v < (most + 1) * 86400000)
        n = tli_time_stamp(p + 1, v, TL_UNIT_MILLI, tl_text(NULL));
    else if (t->id == TL_TYPE_TIME32 || t->id == TL_TYPE_TIME64)
        n = tli_time_clock(p + 1, v, t->unit);
    if (n == 0) {
        w->p += tli_number_i64(p, v);
        return;
    }
    *p = '"';
    p[n + 1] = '"';
    w->p += n + 2;
}

TLI_FN int tli_headjson_write_parts(tli_headjson_writer *w, const uint8_t *value, int count)
{
    return tli_headjson_say(w, "[") && tli_headjson_number(w, (int32_t)tli_bits_u32(value)) && tli_headjson_say(w, ",")
           && tli_headjson_number(w, (int32_t)tli_bits_u32(value + 4))
           && (count == 2
               || (tli_headjson_say(w, ",") && tli_headjson_number(w, (int64_t)tli_bits_u64(value + 8))))
           && tli_headjson_say(w, "]");
}

/* Digits of a decimal's text but for leading zeros: readers refuse more than the precision, Arrow arrays may hold them. */
TLI_FN int32_t tli_headjson_digits(const char *text, size_t size)
{
    int32_t digits = 0;
    size_t i;
    for (i = 0; i < size && text[i] != 'E'; i++)
        if (text[i] >= '0' && text[i] <= '9')
            digits += digits != 0 || text[i] != '0';
    return digits;
}

/* A value that is neither null nor made of others. */
TLI_FN int tli_headjson_write_scalar(tli_headjson_writer *w, uint32_t at)
{
    const tli_build_node *b = &w->tree.build->nodes[at];
    const tl_type *t = &b->type;
    int64_t i = w->tree.nodes[at].row + b->array->offset;
    const uint8_t *value;
    size_t n;
    if (t->id >= TL_TYPE_BINARY)
        return tli_headjson_write_hex(w, tli_headjson_bytes_of(b, i));
    if (t->id >= TL_TYPE_UTF8)
        return tli_headjson_quote(w, tli_headjson_bytes_of(b, i));
    if (t->id == TL_TYPE_BOOL)
        return tli_headjson_say(w, tli_bits_get(b->array->buffers[1], (uint64_t)i) ? "true" : "false");
    if (!tli_headjson_room(w, 100))
        return 0;
    value = (const uint8_t *)b->array->buffers[1] + (size_t)t->width * (size_t)i;
    if (t->id >= TL_TYPE_UINT8 && t->id <= TL_TYPE_UINT64) {
        uint64_t v = t->width == 8 ? tli_bits_u64(value) : t->width == 4 ? tli_bits_u32(value)
            : t->width == 2 ? tli_bits_u16(value) : *value;
        w->p += tli_number_u64(w->p, v);
    } else if (t->id <= TL_TYPE_INT64) {
        w->p += tli_number_i64(w->p, tli_arrow_integer(t, value, 0));
    } else if (t->id <= TL_TYPE_FLOAT64) {
        tli_headjson_write_float(w, t->id, value);
    } else if (t->id <= TL_TYPE_DECIMAL256) {
        *w->p = '"';
        n = tli_number_decimal(w->p + 1, value, t->width, t->scale);
        if (tli_headjson_digits(w->p + 1, n) > t->precision)
            return tli_headjson_misuse(w, TL_UNSUPPORTED, "head: a decimal of more digits than its precision");
        w->p[n + 1] = '"';
        w->p += n + 2;
    } else if (t->id == TL_TYPE_INTERVAL_DAY_TIME || t->id == TL_TYPE_INTERVAL_MONTH_DAY_NANO) {
        return tli_headjson_write_parts(w, value, t->width == 8 ? 2 : 3);
    } else {
        tli_headjson_write_time(w, t, t->width == 4 ? (int32_t)tli_bits_u32(value) : (int64_t)tli_bits_u64(value));
    }
    return 1;
}

/* Whether value `row` is null; what may not be null is refused. */
TLI_INLINE int tli_headjson_is_null(tli_headjson_writer *w, uint32_t at)
{
    const struct ArrowArray *a = w->tree.build->nodes[at].array;
    if (a->n_buffers != 0 && (a->null_count == 0 || a->buffers[0] == NULL))
        return 0;
    if (tli_arrow_valid(a, w->tree.nodes[at].row))
        return 0;
    if (!w->tree.nodes[at].nullable)
        (void)tli_headjson_misuse(w, TL_MISUSE, "head: a null in a column that is not nullable");
    return 1;
}

/* Goes on in an object: writes members up to one whose value is made of others, which is answered, or to the end. */
TLI_FN uint32_t tli_headjson_write_members(tli_headjson_writer *w, uint32_t at)
{
    tli_headjson_node *n = &w->tree.nodes[at];
    const struct ArrowArray *a = w->tree.build->nodes[at].array;
    int64_t row = n->row + (a == NULL ? 0 : a->offset);
    while (n->seen < n->count) {
        uint32_t child = w->tree.sorted[n->sorted + n->seen];
        tli_headjson_node *c = &w->tree.nodes[child];
        if (!tli_headjson_put(w, c->key.data + (n->seen == 0), c->key.size - (n->seen == 0)))
            return TLI_HEADJSON_FAIL;
        n->seen++;
        c->row = row;
        if (tli_headjson_is_null(w, child)) {
            if (w->status != TL_OK || !tli_headjson_say(w, "null"))
                return TLI_HEADJSON_FAIL;
        } else if (w->tree.build->nodes[child].layout >= TLI_ARROW_LIST || c->act == TLI_HEADJSON_DICTIONARY) {
            return child;
        } else if (!tli_headjson_write_scalar(w, child)) {
            return TLI_HEADJSON_FAIL;
        }
    }
    return tli_headjson_say(w, "}") ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
}

/* The first and the last value, plus one, of a list or map at hand. */
TLI_FN void tli_headjson_range(const tli_build_node *b, int64_t i, int64_t *from, int64_t *to)
{
    const uint8_t *offsets = (const uint8_t *)b->array->buffers[b->layout == TLI_ARROW_FIXED_LIST ? 0 : 1];
    i += b->array->offset;
    if (b->layout == TLI_ARROW_FIXED_LIST) {
        *from = i * b->type.size;
        *to = *from + b->type.size;
    } else if (b->layout == TLI_ARROW_LIST) {
        *from = (int32_t)tli_bits_u32(offsets + 4 * i);
        *to = (int32_t)tli_bits_u32(offsets + 4 * i + 4);
    } else {
        *from = (int64_t)tli_bits_u64(offsets + 8 * i);
        *to = (int64_t)tli_bits_u64(offsets + 8 * i + 8);
    }
}

/* Whether a map's keys are text, or a dictionary of text: then it is an object. */
TLI_FN int tli_headjson_text_keys(const tli_build_node *key)
{
    tl_type_id id = key[key->schema->dictionary != NULL].type.id;
    return id >= TL_TYPE_UTF8 && id <= TL_TYPE_UTF8_VIEW;
}

/* The value at hand of a node: writes it (DONE), or its beginning and answers the node whose value is next; or FAIL. */
TLI_FN uint32_t tli_headjson_write_begin(tli_headjson_writer *w, uint32_t at)
{
    tli_headjson_node *n = &w->tree.nodes[at];
    const tli_build_node *b = &w->tree.build->nodes[at];
    int good;
    if (b->array != NULL && tli_headjson_is_null(w, at))
        return w->status == TL_OK && tli_headjson_say(w, "null") ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
    if (n->act == TLI_HEADJSON_DICTIONARY) {
        w->tree.nodes[at + 1].row = tli_arrow_integer(&b->type, b->array->buffers[1], n->row + b->array->offset);
        return at + 1;
    }
    if (b->layout < TLI_ARROW_LIST)
        return tli_headjson_write_scalar(w, at) ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
    if (n->act == TLI_HEADJSON_ENTRIES) {
        uint32_t value = at + 1 + b[1].span;
        w->tree.nodes[at + 1].row = w->tree.nodes[value].row = n->row + b->array->offset;
        return !w->tree.nodes[at - 1].pairs || tli_headjson_say(w, "[") ? at + 1 : TLI_HEADJSON_FAIL;
    }
    if (n->act == TL_TYPE_STRUCT) {
        n->seen = 0;
        if (n->twins)
            (void)tli_headjson_misuse(w, TL_UNSUPPORTED, "head: rows of a struct with two fields of one name");
        return !n->twins && tli_headjson_say(w, "{") ? tli_headjson_write_members(w, at) : TLI_HEADJSON_FAIL;
    }
    n->pairs = n->act != TL_TYPE_MAP || !tli_headjson_text_keys(b + 2);
    tli_headjson_range(b, n->row, &w->tree.nodes[at + 1].row, &n->end);
    good = tli_headjson_say(w, n->pairs ? "[" : "{");
    if (!good || w->tree.nodes[at + 1].row < n->end)
        return good ? at + 1 : TLI_HEADJSON_FAIL;
    return tli_headjson_say(w, n->pairs ? "]" : "}") ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
}

/* Goes on after the part `child` of a value was written. */
TLI_FN uint32_t tli_headjson_write_resume(tli_headjson_writer *w, uint32_t at, uint32_t child)
{
    tli_headjson_node *n = &w->tree.nodes[at];
    const tli_build_node *b = &w->tree.build->nodes[at];
    int pairs;
    if (n->act == TLI_HEADJSON_DICTIONARY)
        return TLI_HEADJSON_DONE;
    if (n->act == TL_TYPE_STRUCT)
        return tli_headjson_write_members(w, at);
    if (n->act == TLI_HEADJSON_ENTRIES) {
        pairs = w->tree.nodes[at - 1].pairs;
        if (child == at + 1)
            return tli_headjson_say(w, pairs ? "," : ":") ? child + b[1].span : TLI_HEADJSON_FAIL;
        return !pairs || tli_headjson_say(w, "]") ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
    }
    if (++w->tree.nodes[child].row < n->end)
        return tli_headjson_say(w, ",") ? child : TLI_HEADJSON_FAIL;
    return tli_headjson_say(w, n->pairs ? "]" : "}") ? TLI_HEADJSON_DONE : TLI_HEADJSON_FAIL;
}

/* One row, with all below it. */
TLI_FN int tli_headjson_write_row(tli_headjson_writer *w)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t next = tli_headjson_write_begin(w, at);
        while (next == TLI_HEADJSON_DONE) {
            uint32_t child = at;
            if (at == 0)
                return 1;
            at -= w->tree.build->nodes[at].up;
            next = tli_headjson_write_resume(w, at, child);
        }
        if (next == TLI_HEADJSON_FAIL)
            return 0;
        at = next;
    }
}

/* Gives each node its array of this batch. */
TLI_FN void tli_headjson_attach(tli_headjson_tree *t, const struct ArrowArray *const *columns)
{
    tli_build_node *b = t->build->nodes;
    uint32_t i;
    union {
        const struct ArrowArray *read;
        struct ArrowArray *node; /* as builders have it; it is only read here */
    } array;
    for (i = 0; i < t->build->count; i++)
        b[i].times = 0; /* children that have theirs */
    for (i = 1; i < t->build->count; i++) {
        tli_build_node *parent = &b[i] - b[i].up;
        if (parent == b)
            array.read = columns[parent->times++];
        else
            array.read = b[i].is_dictionary ? parent->array->dictionary : parent->array->children[parent->times++];
        b[i].array = array.node;
    }
}

/* `,"name":` of every member, in the store. */
TLI_FN int tli_headjson_write_keys(tli_headjson_writer *w, tli_store *store)
{
    uint32_t i;
    for (i = 1; i < w->tree.build->count; i++) {
        tli_headjson_node *n = &w->tree.nodes[i];
        size_t size = tli_json_escaped_size(n->name.data, n->name.size) + 4;
        char *key = (char *)tli_mem_take(store, size, w->err);
        if (key == NULL) {
            w->status = w->err->status;
            return 0;
        }
        if (tli_text_utf8(n->name.data, n->name.size) != n->name.size)
            return tli_headjson_misuse(w, TL_MISUSE, "head: a column name that is not UTF-8");
        key[0] = ',';
        *tli_json_put_text(key + 1, n->name.data, n->name.size) = ':';
        n->key = tli_text_span(key, size);
    }
    return 1;
}

TLI_FN int tli_headjson_write_rows(tli_headjson_writer *w, tl_section *section)
{
    int32_t batch;
    const char *before = "";
    if (!tli_headjson_say(w, "["))
        return 0;
    for (batch = 0; batch < section->batch_count; batch++) {
        int64_t row;
        if (section->batches[batch].rows == 0)
            continue;
        tli_headjson_attach(&w->tree, section->batches[batch].columns);
        for (row = 0; row < section->batches[batch].rows; row++) {
            w->tree.nodes[0].row = row;
            if (!tli_headjson_say(w, before) || !tli_headjson_write_row(w))
                return 0;
            before = ",";
        }
    }
    return tli_headjson_say(w, "]");
}

TLI_FN int tli_headjson_write_section(tli_headjson_writer *w, tl_section *section, const tl_allocator *allocator)
{
    tl_limits any;
    tli_store *store;
    int good;
    TLI_FILL(&any, 0, sizeof any);
    any.depth = 256;
    any.columns = UINT32_MAX;
    w->status = tl_section_open(section, w->err);
    if (w->status != TL_OK)
        return 0;
    store = tli_mem_store_new(allocator, UINT64_MAX, NULL, 0, NULL, NULL, w->err);
    if (store == NULL) {
        w->status = w->err->status;
        return 0;
    }
    w->status = tli_headjson_nodes(store, section->schema, &any, &w->tree, w->err);
    good = w->status == TL_OK && tli_headjson_write_keys(w, store) && tli_headjson_say(w, "{\"name\":")
           && tli_headjson_quote(w, section->name) && tli_headjson_say(w, ",\"schema\":")
           && tli_headjson_write_schema(w) && tli_headjson_say(w, ",\"rows\":")
           && tli_headjson_write_rows(w, section) && tli_headjson_say(w, "}");
    tli_mem_store_drop(store);
    return good;
}

TLI_FN int tli_headjson_write_document(tli_headjson_writer *w, tl_document *document)
{
    const tl_allocator *a = document->store != NULL ? &document->store->allocator : &document->allocator;
    int32_t i;
    if (!tli_headjson_say(w, "{\"properties\":{"))
        return 0;
    for (i = 0; i < document->property_count; i++)
        if (!tli_headjson_say(w, i == 0 ? "" : ",") || !tli_headjson_quote(w, document->properties[i].key)
            || !tli_headjson_say(w, ":") || !tli_headjson_quote(w, document->properties[i].value))
            return 0;
    if (!tli_headjson_say(w, "},\"sections\":["))
        return 0;
    for (i = 0; i < document->section_count; i++)
        if (!tli_headjson_say(w, i == 0 ? "" : ",") || !tli_headjson_write_section(w, &document->sections[i], a))
            return 0;
    return tli_headjson_say(w, "]}");
}

/* Appends the document to `out`; closed columns are opened. On failure `out` is as it was. */
TLI_FN tl_status tli_headjson_encode(tl_buffer *out, tl_document *document, tl_error *err)
{
    tli_headjson_writer w;
    tl_error own;
    size_t before = out->size;
    TLI_FILL(&w, 0, sizeof w);
    w.out = out;
    w.err = err != NULL ? err : &own;
    if (!tli_headjson_write_document(&w, document)) {
        out->size = before;
        return w.status;
    }
    out->size = (size_t)(w.p - (char *)out->data);
    return TL_OK;
}

#endif /* TIMELAKE_NO_HEAD_JSON */
