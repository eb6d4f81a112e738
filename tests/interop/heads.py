"""What the interop scripts share: the head container, the tables in it, exact JSON."""
import json
import re
import struct

import pyarrow as pa


def parse(head):
    """(version, codec, body) of a head object."""
    if head[:5] != b"TLHD\x01":
        raise ValueError("not a head")
    version, = struct.unpack_from("<Q", head, 5)
    length = head[13]
    return version, head[14:14 + length].decode(), head[14 + length:]


def streams(head):
    """The Arrow IPC streams of an arrow head; the first has the properties."""
    _, codec, body = parse(head)
    if codec != "arrow":
        raise ValueError("codec " + codec)
    out, at = [], 0
    while at < len(body):
        length, = struct.unpack_from("<Q", body, at)
        if at + 8 + length > len(body):
            raise ValueError("truncated stream")
        out.append(body[at + 8:at + 8 + length])
        at += 8 + length
    return out


def tables(head):
    """Properties, and the section tables by name as pyarrow reads them (without the name in their metadata)."""
    first, *rest = streams(head)
    properties = dict(pa.ipc.open_stream(first).schema.metadata or {})
    found = {}
    for stream in rest:
        table = pa.ipc.open_stream(stream).read_all()
        metadata = dict(table.schema.metadata or {})
        name = metadata.pop(b"timelake.section").decode()
        validate(table)
        [column.chunks for column in table.columns]  # KeyError: pyarrow reads the type and has no class for it
        found[name] = table.replace_schema_metadata(metadata or None)
    return properties, found


def validate(data):
    """pyarrow's own full check, but for values that the types allow and pyarrow does not: 25 o'clock, a date with a time."""
    try:
        data.validate(full=True)
    except pa.ArrowInvalid as e:
        if "does not represent a whole number of days" not in str(e) and "is not within the acceptable range" not in str(e):
            raise


def same_values(a, b):
    """Equal arrays, a NaN being equal to a NaN."""
    if a.equals(b):
        return True
    return a.type.equals(b.type, check_metadata=True) and repr(a.to_pylist()) == repr(b.to_pylist())


def table_difference(a, b):
    """None, or where two tables differ: fields and their metadata, then values."""
    if not a.schema.equals(b.schema, check_metadata=True):
        return "schema %s and %s" % (a.schema, b.schema)
    if a.num_rows != b.num_rows:
        return "%d and %d rows" % (a.num_rows, b.num_rows)
    for i, field in enumerate(a.schema):
        if not same_values(a.column(i).combine_chunks(), b.column(i).combine_chunks()):
            return "column %r" % field.name
    return None


class Float(float):
    """A JSON number with a point or an exponent: equal only to the same double, sign of zero included."""

    def __eq__(self, other):
        return isinstance(other, Float) and self.hex() == other.hex()

    def __ne__(self, other):
        return not self == other

    __hash__ = float.__hash__


def exact(text):
    """JSON with exact integers, doubles that are no integers, and members in order."""
    return json.loads(text, parse_float=Float, object_pairs_hook=lambda pairs: ("object", pairs))


def close(a, b):
    """Two doubles at most two steps apart."""
    a, b = (struct.unpack("<q", struct.pack("<d", x))[0] for x in (a, b))
    return abs(a - b) <= 2


def difference(a, b, where="$", rounded=None):
    """None, or the first place where two exact() values differ. Metadata has no order. A list `rounded` takes doubles that are
    only close, instead of their being a difference."""
    if type(a) is not type(b):
        return "%s: %.100r and %.100r" % (where, a, b)
    if isinstance(a, tuple):
        if where.endswith(".metadata"):
            a, b = ((kind, sorted(pairs)) for kind, pairs in (a, b))
        if [k for k, _ in a[1]] != [k for k, _ in b[1]]:
            return "%s: members %.200r and %.200r" % (where, [k for k, _ in a[1]], [k for k, _ in b[1]])
        pairs = [(x, y, "%s.%s" % (where, k)) for (k, x), (_, y) in zip(a[1], b[1])]
    elif isinstance(a, list):
        if len(a) != len(b):
            return "%s: %d and %d elements" % (where, len(a), len(b))
        pairs = [(x, y, "%s[%d]" % (where, i)) for i, (x, y) in enumerate(zip(a, b))]
    else:
        if rounded is not None and isinstance(a, Float) and a != b and close(a, b):
            rounded.append(where)
            return None
        return None if a == b else "%s: %.100r and %.100r" % (where, a, b)
    for x, y, at in pairs:
        why = None if x == y else difference(x, y, at, rounded)
        if why is not None:
            return why
    return None


def at(value, where):
    """The part of an exact() value that a place of difference() names."""
    for name, index in re.findall(r"\.([^.\[]*)|\[([0-9]+)\]", where):
        value = value[int(index)] if index else dict(value[1])[name]
    return value
