#!/usr/bin/env python3
"""Parquet files that tl_parquet_write makes of Arrow tables, read by pyarrow and DuckDB.

Usage: parquet_files.py TOOL   (tests/interop/ipc_tool.c, built; needs pyarrow, duckdb)

Tables of every type that is written, with and without nulls, nested, sliced, of one row and of many pages. pyarrow reads the
values, field ids, nullability and statistics; DuckDB reads the rows, and filters them by every column's values as it does in
the file that pyarrow writes of the same table. The last line: N passed, N failed."""
import datetime as dt
import decimal
import math
import os
import random
import subprocess
import sys
import tempfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

TOOL = sys.argv[1]
passed = failed = 0
rand = random.Random(6)


def check(what, why):
    global passed, failed
    if why:
        failed += 1
        print("FAILED %s: %s" % (what, str(why)[:700]))
    else:
        passed += 1


def digits(n, scale):
    return decimal.Decimal(rand.randint(1 - 10**n, 10**n - 1)).scaleb(-scale, decimal.Context(prec=80))


def whole(bits):
    return lambda i: rand.randint(-(1 << bits - 1), (1 << bits - 1) - 1)


def natural(bits):
    return lambda i: rand.randint(0, (1 << bits) - 1)


def some(make, most=4):
    return lambda i: [make(i) if rand.random() < .8 else None for _ in range(rand.randint(0, most))]


def pairs(make):
    return lambda i: [("k%d" % k, make(i)) for k in range(rand.randint(0, 3))]


def thing(i):
    return {"x": rand.choice([None, i]), "y": rand.choice([None, [], ["a", None, "b%d" % i]])}


STRUCT = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.list_(pa.string()))])
COLUMNS = [
    ("bool", pa.bool_(), lambda i: rand.random() < .5),
    ("int8", pa.int8(), whole(8)), ("int16", pa.int16(), whole(16)), ("int32", pa.int32(), whole(32)),
    ("int64", pa.int64(), whole(64)), ("uint8", pa.uint8(), natural(8)), ("uint16", pa.uint16(), natural(16)),
    ("uint32", pa.uint32(), natural(32)), ("uint64", pa.uint64(), natural(64)),
    ("float", pa.float32(), lambda i: rand.choice([1.5, -2.25, math.inf])),
    ("double", pa.float64(), lambda i: rand.choice([math.nan, 0.0, -0.0, 1e300, -2.5, rand.random()])),
    ("decimal9", pa.decimal128(9, 2), lambda i: digits(9, 2)), ("decimal18", pa.decimal128(18, 0), lambda i: digits(18, 0)),
    ("decimal19", pa.decimal128(19, 3), lambda i: digits(19, 3)), ("decimal38", pa.decimal128(38, 10), lambda i: digits(38, 10)),
    ("decimal76", pa.decimal256(76, 1), lambda i: digits(76, 1)),
    ("date", pa.date32(), lambda i: dt.date(1970, 1, 1) + dt.timedelta(rand.randint(-99999, 99999))),
    ("time_ms", pa.time32("ms"), lambda i: rand.randint(0, 86399999)),
    ("time_us", pa.time64("us"), lambda i: rand.randint(0, 86399999999)),
    ("time_ns", pa.time64("ns"), lambda i: rand.randint(0, 86399999999) * 1000),
    ("stamp_ms", pa.timestamp("ms"), whole(40)), ("stamp_us", pa.timestamp("us"), whole(50)),
    ("utc_us", pa.timestamp("us", "UTC"), whole(50)), ("stamp_ns", pa.timestamp("ns"), whole(60)),
    ("utc_ns", pa.timestamp("ns", "UTC"), whole(60)),
    ("text", pa.string(), lambda i: "text %d \u00e9" % i), ("large_text", pa.large_string(), lambda i: "y" * (i % 60)),
    ("text_view", pa.string_view(), lambda i: "a view %d" % i * (i % 3)),
    ("bytes", pa.binary(), lambda i: bytes([i % 256]) * (i % 5)), ("large_bytes", pa.large_binary(), lambda i: b"\xff" * (i % 9)),
    ("fixed", pa.binary(5), lambda i: (i * 7919).to_bytes(5, "big")),
    ("uuid", pa.uuid(), lambda i: rand.randbytes(16)),
    ("dictionary", pa.dictionary(pa.int16(), pa.string()), lambda i: "k%d" % (i % 100)),
    ("numbers", pa.dictionary(pa.uint32(), pa.int64()), lambda i: i % 7),
    ("nothing", pa.int32(), lambda i: None)]
NESTED = [
    ("list", pa.list_(pa.float64()), some(lambda i: i / 2)), ("large_list", pa.large_list(pa.string()), some(str)),
    ("fixed_list", pa.list_(pa.int16(), 3), lambda i: [i % 99, None, -i % 99]),
    ("struct", STRUCT, thing), ("structs", pa.list_(STRUCT), some(thing)),
    ("lists", pa.list_(pa.list_(pa.bool_())), some(some(lambda i: i % 3 == 0))),
    ("map", pa.map_(pa.string(), pa.int64()), pairs(lambda i: rand.choice([None, i]))),
    ("map_of_lists", pa.map_(pa.string(), pa.list_(STRUCT)), pairs(some(thing, 2)))]


def table(rows):
    fields, arrays = [], []
    for name, kind, make in COLUMNS + NESTED:
        for required in (False, True):
            if required and name == "nothing":
                continue
            values = [None if not required and rand.random() < .2 else make(i) for i in range(rows)]
            storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
            array = pa.array(values, storage)
            if storage is not kind:
                array = pa.ExtensionArray.from_storage(kind, array)
            fields.append(pa.field(name + "_r" * required, kind, nullable=not required,
                                   metadata={"PARQUET:field_id": str(len(fields) + 1)}))
            arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def write(t, folder, batch=None):
    stream, out = os.path.join(folder, "in.arrows"), os.path.join(folder, "ours.parquet")
    with pa.ipc.new_stream(stream, t.schema) as w:
        w.write_table(t, max_chunksize=batch or max(1, t.num_rows))
    done = subprocess.run([TOOL, "parquet", stream, out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 or done.stdout.strip() != "{}" or done.stderr:
        raise RuntimeError(done.stdout + done.stderr)
    return out


def plain(array):
    """Values to compare: NaN equal to itself, times as numbers, whatever way texts lie."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.dictionary_decode()
    elif isinstance(kind, pa.BaseExtensionType):
        array = array.storage
    elif pa.types.is_time32(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        array = array.cast(pa.int64())
    return ["NaN" if v != v else v for v in array.to_pylist()]


def check_statistics(name, array, statistics):
    values = [v for v in plain(array) if v is not None and v != "NaN"]
    if statistics.null_count != array.null_count:
        check(name, "null count %s" % statistics.null_count)
        return
    if not values:
        check(name, statistics.has_min_max)
        return
    got = (statistics.min_raw, statistics.max_raw) if pa.types.is_temporal(array.type) else (statistics.min, statistics.max)
    want = (min(values), max(values))
    if pa.types.is_date(array.type):
        got = (statistics.min, statistics.max)
    check(name, got != want and (got, want))


def check_pyarrow(what, t, path, batches):
    read, metadata = pq.read_table(path), pq.read_metadata(path)
    check("%s: row groups" % what, metadata.num_row_groups != batches and metadata.num_row_groups)
    leaves = {metadata.schema.column(k).path: k for k in range(metadata.num_columns)}
    for field in t.schema:
        name, back = "%s: %s" % (what, field.name), read.schema.field(field.name)
        ours, theirs = read[field.name].combine_chunks(), t[field.name].combine_chunks()
        check(name, plain(ours) != plain(theirs) and "values differ")
        check(name, (back.nullable, (back.metadata or {}).get(b"PARQUET:field_id")) !=
              (field.nullable, field.metadata[b"PARQUET:field_id"]) and back)
        if field.name in leaves and t.num_rows and batches == 1:
            check_statistics(name + " statistics", theirs, metadata.row_group(0).column(leaves[field.name]).statistics)


def check_duckdb(what, t, ours, folder):
    """As in the file of pyarrow, which lacks what DuckDB cannot read there."""
    theirs = os.path.join(folder, "theirs.parquet")
    t = t.drop([f.name for f in t.schema if f.name.startswith("decimal76")])  # DuckDB: 38 digits
    for f in t.schema:
        if pa.types.is_string_view(f.type):
            t = t.set_column(t.schema.get_field_index(f.name), f.with_type(pa.string()), t[f.name].cast(pa.string()))
    pq.write_table(t, theirs)
    duck = duckdb.connect()
    duck.execute("SET timezone = 'UTC'")
    select = "SELECT " + ", ".join('"%s"' % n for n in t.column_names) + " FROM '%s'"
    counts = [duck.execute("SELECT count(*) FROM (%s EXCEPT ALL %s)" % (select % a, select % b)).fetchone()[0]
              for a, b in ((ours, theirs), (theirs, ours))]
    check("%s: DuckDB's rows" % what, counts != [0, 0] and counts)
    if t.num_rows < 9000:
        return
    kinds = dict(row[:2] for row in duck.execute("DESCRIBE SELECT * FROM '%s'" % theirs).fetchall())
    for name in t.column_names[:2 * len(COLUMNS) - 3]:
        value = duck.execute("SELECT max(\"%s\")::VARCHAR FROM (SELECT * FROM '%s' LIMIT 50)" % (name, theirs)).fetchone()[0]
        for how in (">=", "="):
            got = [duck.execute("SELECT count(*) FROM '%s' WHERE \"%s\" %s CAST(? AS %s)" % (path, name, how, kinds[name]),
                                [value]).fetchone() for path in (ours, theirs)]
            check("%s: DuckDB: %s %s" % (what, name, how), got[0] != got[1] and (got, value))


def main():
    with tempfile.TemporaryDirectory(prefix="timelake-parquet-") as folder:
        whole_table = table(9000)
        for what, t, batch in (("many", whole_table, None), ("slice", whole_table.slice(77, 1000), None),
                               ("batches", whole_table.slice(5, 99), 10), ("one", table(1), None)):
            ours = write(t, folder, batch)
            check_pyarrow(what, t, ours, -(-t.num_rows // (batch or t.num_rows)))
            check_duckdb(what, t, ours, folder)
        empty = whole_table.slice(0, 0)
        ours = write(empty, folder)
        check("empty", pq.read_table(ours).num_rows != 0 or duckdb.execute("SELECT count(*) FROM '%s'" % ours).fetchone() != (0,))
        long = pa.table({"t": pa.array(["x" * 700000 + str(i) for i in range(30)] + [None])})  # pages end by bytes
        check("long", pq.read_table(write(long, folder)) != long)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
