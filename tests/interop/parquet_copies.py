#!/usr/bin/env python3
"""Parquet files without field ids, taken into tables by `tlake append --copy`, and read there by DuckDB and PyIceberg.

Usage: parquet_copies.py TLAKE   (needs pyarrow, duckdb with its iceberg extension, pyiceberg)

pyarrow and DuckDB write the files: several row groups, compressed, page indexes, Bloom filters, dictionaries, nested columns.
A copy is the file but for its footer; pyarrow reads the same rows, indexes and schema of it, now with the table's ids; what
DuckDB's Bloom filters and PyIceberg's statistics say of it is checked too. The last line: N passed, N failed."""
import datetime as dt
import glob
import json
import logging
import os
import subprocess
import sys
import tempfile
import warnings

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io.pyarrow import (compute_statistics_plan, data_file_statistics_from_parquet_metadata,
                                  parquet_path_to_id_mapping)
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.table.metadata import new_table_metadata
from pyiceberg.table.sorting import UNSORTED_SORT_ORDER
from pyiceberg.types import (BinaryType, BooleanType, DateType, DecimalType, DoubleType, FixedType, FloatType, IntegerType,
                             ListType, LongType, MapType, NestedField, StringType, StructType, TimestampType, TimestamptzType,
                             TimeType)

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
TLAKE = sys.argv[1]
UTC = dt.timezone.utc
passed = failed = 0


def check(what, why):
    global passed, failed
    if why:
        failed += 1
        print("FAILED %s: %s" % (what, str(why)[:700]))
    else:
        passed += 1


def duck():
    connection = duckdb.connect()
    site = os.path.dirname(os.path.dirname(duckdb.__file__))
    for name in ("avro", "iceberg"):
        connection.execute("LOAD '%s'" % glob.glob(os.path.join(
            site, "duckdb_extension_" + name, "**", name + ".duckdb_extension"), recursive=True)[0])
    return connection


DUCK = duck()
THING = StructType(NestedField(21, "x", IntegerType()), NestedField(22, "y", StringType()))
TABLE = Schema(
    NestedField(1, "id", LongType(), required=True), NestedField(2, "b", BooleanType()), NestedField(3, "i", IntegerType()),
    NestedField(4, "f", FloatType()), NestedField(5, "d", DoubleType()), NestedField(6, "dec", DecimalType(12, 3)),
    NestedField(7, "date", DateType()), NestedField(8, "time", TimeType()), NestedField(9, "ts", TimestampType()),
    NestedField(10, "tz", TimestamptzType()), NestedField(11, "s", StringType()), NestedField(12, "bin", BinaryType()),
    NestedField(13, "fix", FixedType(4)), NestedField(14, "rec", THING),
    NestedField(15, "list", ListType(23, DoubleType(), False)),
    NestedField(16, "things", ListType(24, StructType(NestedField(25, "k", LongType())), False)),
    NestedField(17, "map", MapType(26, StringType(), 27, LongType(), False)), NestedField(18, "deep", StructType(
        NestedField(28, "rec", StructType(NestedField(29, "l", ListType(30, IntegerType(), True)))))))
NAMES = [f.name for f in TABLE.fields]
ARROW = pa.schema([
    pa.field("id", pa.int64(), False), ("b", pa.bool_()), ("i", pa.int32()), ("f", pa.float32()), ("d", pa.float64()),
    ("dec", pa.decimal128(12, 3)), ("date", pa.date32()), ("time", pa.time64("us")), ("ts", pa.timestamp("us")),
    ("tz", pa.timestamp("us", "UTC")), ("s", pa.string()), ("bin", pa.binary()), ("fix", pa.binary(4)),
    ("rec", pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string(), False)])), ("list", pa.list_(pa.float64())),
    ("things", pa.list_(pa.struct([("k", pa.int64())]))), ("map", pa.map_(pa.string(), pa.int64())),
    ("deep", pa.struct([("rec", pa.struct([("l", pa.list_(pa.field("element", pa.int32(), False)))]))]))])


def value(i, name):
    if name != "id" and (i + len(name)) % 7 == 0:
        return None
    return {"id": i, "b": i % 2 == 0, "i": i * 3 - 50, "f": i / 4, "d": -i / 8, "dec": "%d.%03d" % (i * 17, i % 1000),
            "date": dt.date(2020, 1, 1) + dt.timedelta(i), "time": dt.time(i % 24, i % 60), "ts": dt.datetime(2026, 1, 1, 0, i % 60),
            "tz": dt.datetime(2026, 1, 2, i % 24, tzinfo=UTC), "s": "text %d" % (i % 40), "bin": b"\xff\x00" * (i % 3),
            "fix": b"%04d" % i, "rec": {"x": None if i % 3 == 0 else i, "y": "y%d" % i},
            "list": [k / 2 if k != 1 else None for k in range(i % 4)], "things": [{"k": k} for k in range(i % 3)],
            "map": [("k%d" % k, i if k else None) for k in range(i % 3)],
            "deep": {"rec": None if i % 5 == 0 else {"l": list(range(i % 4))}}}[name]


def rows(first, count):
    import decimal
    columns = {n: [value(i, n) for i in range(first, first + count)] for n in NAMES}
    columns["dec"] = [None if v is None else decimal.Decimal(v) for v in columns["dec"]]
    return pa.table(columns, ARROW)


def create(place, schema):
    """A table of PyIceberg's making, laid out as Timelake has them."""
    os.makedirs(os.path.join(place, "metadata"))
    global TABLE
    metadata = new_table_metadata(schema, UNPARTITIONED_PARTITION_SPEC, UNSORTED_SORT_ORDER, "file://" + place, {})
    TABLE = metadata.schema()  # nested columns have ids of its choice
    for name, text in (("v1.metadata.json", metadata.model_dump_json()), ("version-hint.text", "1")):
        with open(os.path.join(place, "metadata", name), "w") as f:
            f.write(text)


def tlake(*words):
    done = subprocess.run([TLAKE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def files(place):
    code, out, errors = tlake("open", "file://" + place, "--json")
    return json.loads(out)["files"] if code == 0 else errors


def refused(place, name, table, why, *how):
    """The file is refused, by the column's name."""
    path = os.path.join(os.path.dirname(place), "refused.parquet")
    pq.write_table(table, path)
    before = files(place)
    code, _, errors = tlake("append", "file://" + place, *(how or ("--copy",)), path)
    check("%s: refused" % name, (code != 1 or why not in errors) and (code, errors))
    check("%s: nothing is in" % name, files(place) != before)


def read_back(place, want, what):
    """Rows as all readers see them."""
    metadata = max(glob.glob(place + "/metadata/v*.metadata.json"), key=lambda p: int(os.path.basename(p)[1:].split(".")[0]))
    got = StaticTable.from_metadata(metadata).scan().to_arrow().sort_by("id")
    for name in NAMES:
        ours, theirs = got[name].to_pylist(), want[name].to_pylist()
        if name == "things":  # PyIceberg 0.12 reads a null list of structs as an empty one, in its own files too
            theirs = [v or [] for v in theirs]
        check("%s: PyIceberg: %s" % (what, name), ours != theirs and [p for p in zip(ours, theirs) if p[0] != p[1]][:2])
    DUCK.register("want", want.drop(["map"]))
    select = "SELECT " + ", ".join('"%s"' % n for n in NAMES if n != "map") + " FROM %s"
    scan = "iceberg_scan('%s')" % metadata
    counts = [DUCK.execute("SELECT count(*) FROM (%s EXCEPT ALL %s)" % (select % a, select % b)).fetchone()[0]
              for a, b in ((scan, "want"), ("want", scan))]
    check("%s: DuckDB's rows" % what, counts != [0, 0] and counts)
    maps = DUCK.execute("SELECT map_keys(map), map_values(map) FROM %s ORDER BY id" % scan).fetchall()
    pairs = [None if m is None else list(zip(m[0], m[1])) if m[0] is not None else None for m in maps]
    check("%s: DuckDB's maps" % what, pairs != [m if m is None else [tuple(p) for p in m] for m in want["map"].to_pylist()])
    for column, low in (("id", 30), ("s", "'text 7'"), ("rec.x", 100), ("date", "DATE '2020-03-01'")):
        n = [DUCK.execute("SELECT count(*) FROM %s WHERE %s >= %s" % (src, column, low)).fetchone() for src in (scan, "want")]
        check("%s: DuckDB: %s >= %s" % (what, column, low), n[0] != n[1] and n)


def check_copy(original, copy, entry, what):
    """The file but for its footer; and the entry that PyIceberg would make of it."""
    with open(original, "rb") as a, open(copy, "rb") as b:
        a, b = a.read(), b.read()
    keep = len(a) - 8 - int.from_bytes(a[-8:-4], "little")
    check("%s: pages stay" % what, a[:keep] != b[:keep] or b[-4:] != b"PAR1")
    old, new = pq.read_metadata(original), pq.read_metadata(copy)
    check("%s: its rows" % what, pq.read_table(original) != pq.read_table(copy))
    for g in range(old.num_row_groups):
        for c in range(old.num_columns):
            x, y = (m.row_group(g).column(c) for m in (old, new))
            check("%s: chunk %d of group %d" % (what, c, g), x.to_dict() != y.to_dict() or
                  (x.has_column_index, x.has_offset_index) != (y.has_column_index, y.has_offset_index))
    for k, field in enumerate(pq.read_schema(copy)):
        check("%s: id of %s" % (what, field.name), field.metadata != {b"PARQUET:field_id": b"%d" % (k + 1)} and field.metadata)
    said = data_file_statistics_from_parquet_metadata(new, compute_statistics_plan(TABLE, {}), parquet_path_to_id_mapping(TABLE))
    said = said.to_serialized_dict()
    ours = {n: {int(k): v for k, v in entry[n].items()} for n in ("column_sizes", "value_counts", "null_counts", "lower_bounds",
                                                                 "upper_bounds")}
    check("%s: sizes" % what, ours["column_sizes"] != said["column_sizes"])
    check("%s: values" % what, ours["value_counts"] != said["value_counts"])
    check("%s: nulls" % what, ours["null_counts"] != said["null_value_counts"] and (ours["null_counts"], said["null_value_counts"]))
    check("%s: split offsets" % what, entry["split_offsets"] != said["split_offsets"])
    check("%s: rows" % what, entry["records"] != said["record_count"])
    for which in ("lower_bounds", "upper_bounds"):
        for number, bound in ours[which].items():  # PyIceberg has none in nested columns, where a struct's are sound
            want = said[which].get(number)
            if want is not None:
                check("%s: %s of %d" % (what, which, number), bytes.fromhex(bound) != want and (bound, want.hex()))
            else:
                check("%s: %s of %d" % (what, which, number), not TABLE.find_column_name(number).startswith("rec."))
        check("%s: %s" % (what, which), set(said[which]) - set(ours[which]))


def check_bloom(original, copy):
    """DuckDB finds its filters where they were."""
    for text in ("text 3", "text 39", "none", "text 40"):
        said = [DUCK.execute("SELECT bloom_filter_excludes FROM parquet_bloom_probe('%s', 's', '%s')" % (p, text)).fetchall()
                for p in (original, copy)]
        check("Bloom filter: %s" % text, said[0] != said[1] or not said[0])
    check("Bloom filter: it excludes", not any(r[0] for r in said[1]))


def main():
    with tempfile.TemporaryDirectory(prefix="timelake-copies-") as folder:
        place = os.path.join(folder, "table")
        create(place, TABLE)
        first, second = os.path.join(folder, "pyarrow.parquet"), os.path.join(folder, "duckdb.parquet")
        tables = [rows(0, 100), rows(100, 5000)]
        pq.write_table(tables[0], first, compression="zstd", row_group_size=40, write_page_index=True, data_page_size=300)
        DUCK.register("second", tables[1])
        DUCK.execute("SET timezone = 'UTC'")
        DUCK.execute("COPY (SELECT * EXCLUDE (fix) FROM second) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)" % second)
        refused(place, "without --copy", tables[0], "id: a column without a Parquet field id", "--batch-id", "x")
        refused(place, "a required column is missing", tables[0].drop(["id"]), "id: a required column is missing")
        refused(place, "another type", tables[0].set_column(2, "i", tables[0]["i"].cast(pa.int64())), "i: a column of another type")
        refused(place, "another nested type", tables[0].set_column(14, "list", pa.array([["x"]] * 100)), "list: a column of another type")
        refused(place, "a column too many", tables[0].append_column("z", tables[0]["i"]), "z: a column that the table does not have")
        nulls = pa.array([None] + list(range(99)), pa.int64())
        refused(place, "nulls where none may be", tables[0].set_column(0, "id", nulls), "id: a required column that may hold nulls")
        for original in (first, second):  # DuckDB's lacks the column of fixed-length bytes, which it does not have
            what = os.path.basename(original)
            known = {f["path"] for f in files(place)}
            code, _, errors = tlake("append", "file://" + place, "--copy", original)
            check("%s: append" % what, code != 0 and errors)
            new = [f for f in files(place) if f["path"] not in known]
            check("%s: one file" % what, len(new) != 1 and new)
            if new and original == first:
                check_copy(original, new[0]["path"][7:], new[0], what)
            elif new:
                check_bloom(original, new[0]["path"][7:])
        read_back(place, pa.concat_tables([tables[0], tables[1].set_column(12, "fix", pa.nulls(5000, pa.binary(4)))]), "both")
        code, _, errors = tlake("append", "file://" + place, "--copy", files(place)[0]["path"][7:])  # it has ids: as it is
        check("a file with ids", code != 0 and errors)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
