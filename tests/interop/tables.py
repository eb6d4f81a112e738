#!/usr/bin/env python3
"""Tables that PyIceberg writes, opened and planned by tlake.

Usage: tables.py [TLAKE]     (default: build/interop/stored; needs pyiceberg, pyarrow, fastavro, cramjam, zstandard)

PyIceberg (SqlCatalog, a folder) writes; its newest metadata is put where Timelake looks, and then
- `tlake open` lists the same files with the same statistics as PyIceberg's manifest entries,
- `tlake plan` keeps every file that PyIceberg's scan keeps for the same filter, and every file that has a matching row,
- manifests and lists written anew by fastavro (codecs, other field order, further fields, unions turned around) say the same.
Where tlake keeps a file that PyIceberg leaves out, that is counted and said; where it leaves out one that PyIceberg keeps,
no row of it may match, which is checked by reading it.
The last line: N passed, N failed."""
import copy
import datetime as dt
import decimal
import io
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

import fastavro
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions.visitors import bind
from pyiceberg.expressions.parser import parse as parse_filter
from pyiceberg.io.pyarrow import ArrowScan, expression_to_pyarrow
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg import transforms as t
from pyiceberg import types as i

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TLAKE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(TOP, "build", "interop", "stored")
passed = failed = more = fewer = kept = 0
UTC = dt.timezone.utc
START = dt.datetime(2026, 1, 1, tzinfo=UTC)

SCHEMA = Schema(
    i.NestedField(1, "id", i.LongType(), required=True),
    i.NestedField(2, "ts", i.TimestamptzType(), required=True),
    i.NestedField(3, "n", i.IntegerType()),
    i.NestedField(4, "price", i.DecimalType(10, 2)),
    i.NestedField(5, "name", i.StringType()),
    i.NestedField(6, "day", i.DateType()),
    i.NestedField(7, "x", i.DoubleType()),
    i.NestedField(8, "f", i.FloatType()),
    i.NestedField(9, "flag", i.BooleanType()),
    i.NestedField(10, "raw", i.BinaryType()),
    i.NestedField(11, "local", i.TimestampType()),
    i.NestedField(12, "big", i.DecimalType(30, 5)),
)

FILTERS = """
id = 7|id < 5|id >= 65|id > 1000|id in (3, 41, 1000)
n is null|n is not null|n < 0|n = -9|n <= -9|n > 2147483646
price = 12.50|price < -5|price >= 20.25|big > 1000000000000|big <= -0.50000
name = 'short'|name = 'a long name, which bounds cut 00013'|name > 'a long name, which bounds cut 00060'
name < 'a long name, which'|name >= 'z'|name in ('short', 'none of them')|name is null|name > 'ÿ'
day = '2026-01-03'|day < '2026-01-02'|day >= '2026-01-06'|day is null
ts >= '2026-01-03T00:00:00+00:00'|ts < '2026-01-02T12:00:00+00:00'|ts = '2026-01-01T00:00:00+00:00'
ts >= '2026-01-02T00:00:00+00:00' and ts < '2026-01-04T00:00:00+00:00'|local >= '2026-01-05T06:00:00'
x = 0.5|x > 30.0|x < -1.0|x <= -0.0|x is null|x is not null|f >= 10.0|f = 2.5|f < 0.0
flag = true|flag = false|flag is null|n < 0 and name > 'b'|id > 20 and id < 30 and x is null
"""


def check(what, why):
    global passed, failed
    if why is None:
        passed += 1
        return
    failed += 1
    if failed <= 30:
        print("FAILED %s: %s" % (what, str(why)[:500]))


def rows(first, count, schema, shape="all"):
    """Rows `first`..; shape "nan": floats are NaN only; "null": what may be null is."""
    out = []
    for k in range(first, first + count):
        empty = shape == "null"
        nan = shape == "nan" or k % 11 == 3
        out.append({
            "id": k, "ts": START + dt.timedelta(hours=2 * k),
            "n": None if empty or k % 5 == 0 else (k - 40) * (1 if k != 79 else 2147483647 // 39),
            "price": None if empty else decimal.Decimal(k * 125 - 1000).scaleb(-2),
            "name": None if empty or k % 13 == 0 else "short" if k % 7 == 0 else "zürich ÿ" if k % 17 == 0
            else "a long name, which bounds cut %05d" % k,
            "day": None if empty or k % 9 == 0 else dt.date(2026, 1, 1) + dt.timedelta(days=k // 12),
            "x": None if empty else float("nan") if nan else -0.0 if k % 19 == 0 else k / 2 - 2,
            "f": None if empty else float("nan") if nan else k / 2 - 20,
            "flag": None if empty else k % 3 == 0 and k < 50,
            "raw": None if empty else bytes([k % 256]) * 20 if k != 60 else b"\xff" * 20,
            "local": None if empty else (START + dt.timedelta(hours=2 * k)).replace(tzinfo=None),
            "big": None if empty else decimal.Decimal(k - 3) ** 7,
        })
    arrow = schema.as_arrow()
    return pa.Table.from_pylist(out, schema=pa.schema([arrow.field(n) for n in arrow.names if n in out[0]]))


def spec(*fields):
    return PartitionSpec(*[PartitionField(source, 1000 + k, transform, name)
                           for k, (source, transform, name) in enumerate(fields)])


def make(catalog, name, partition, **properties):
    table = catalog.create_table("db." + name, SCHEMA, partition_spec=partition, properties=properties)
    for first in range(0, 80, 20):
        table.append(rows(first, 20, SCHEMA))
    table.append(rows(80, 6, SCHEMA, "nan"))
    table.append(rows(86, 6, SCHEMA, "null"))
    return table


def make_evolved(catalog):
    """Files of three schemas and two specs: types promoted, a column added, one renamed, one dropped."""
    table = make(catalog, "evolved", spec((2, t.DayTransform(), "ts_day")))
    with table.update_schema() as u:
        u.update_column("n", i.LongType())
        u.update_column("f", i.DoubleType())
        u.update_column("price", i.DecimalType(18, 2))
        u.add_column("added", i.IntegerType())
        u.rename_column("flag", "was_flag")
        u.delete_column("raw")
    with table.update_spec() as u:
        u.remove_field("ts_day")
        u.add_field("name", t.TruncateTransform(3), "name_3")
    arrow = table.schema().as_arrow()
    new = rows(92, 20, SCHEMA).drop_columns(["raw"]).rename_columns({"flag": "was_flag"})
    new = new.append_column("added", pa.array(range(20), pa.int32()))
    table.append(new.select(arrow.names).cast(arrow))
    return table


def make_respecced(catalog):
    """Days first, then hours: the numbers of the two mean different times."""
    table = make(catalog, "days_then_hours", spec((2, t.DayTransform(), "ts_day")))
    with table.update_spec() as u:
        u.remove_field("ts_day")
        u.add_field("ts", t.HourTransform(), "ts_hour")
    table.append(rows(92, 20, SCHEMA))
    return table


def make_all(catalog):
    yield make(catalog, "plain", PartitionSpec())
    yield make(catalog, "daily", spec((2, t.DayTransform(), "ts_day")))
    yield make(catalog, "hourly", spec((2, t.HourTransform(), "ts_hour")))
    yield make(catalog, "monthly", spec((2, t.MonthTransform(), "ts_month")))
    yield make(catalog, "yearly", spec((11, t.YearTransform(), "local_year")))
    yield make(catalog, "by_name", spec((5, t.IdentityTransform(), "name")))
    yield make(catalog, "by_day", spec((6, t.IdentityTransform(), "day")))
    yield make(catalog, "by_n", spec((3, t.IdentityTransform(), "n")))
    yield make(catalog, "buckets", spec((1, t.BucketTransform(4), "id_bucket")))
    yield make(catalog, "two", spec((2, t.DayTransform(), "ts_day"), (9, t.IdentityTransform(), "flag")))
    yield make(catalog, "truncated", spec((5, t.TruncateTransform(8), "name_8")))
    yield make(catalog, "counts", PartitionSpec(), **{"write.metadata.metrics.default": "counts"})
    yield make(catalog, "whole", PartitionSpec(), **{"write.metadata.metrics.default": "full"})
    yield make(catalog, "format_1", spec((2, t.DayTransform(), "ts_day")), **{"format-version": "1"})
    yield make(catalog, "merged", PartitionSpec(), **{
        "commit.manifest-merge.enabled": "true", "commit.manifest.min-count-to-merge": "2"})
    gone = make(catalog, "rewritten", spec((2, t.DayTransform(), "ts_day")))
    gone.delete("id < 30 and id >= 5")
    gone.overwrite(rows(70, 8, SCHEMA), overwrite_filter="id >= 70")
    yield gone
    yield make_evolved(catalog)
    yield make_respecced(catalog)
    empty = catalog.create_table("db.empty", SCHEMA)
    yield empty


def folder_of(table):
    return table.location().removeprefix("file://")


def put_version(table, version, metadata=None):
    with open(table.metadata_location.removeprefix("file://")) as f:
        text = f.read() if metadata is None else json.dumps(metadata)
    with open("%s/metadata/v%d.metadata.json" % (folder_of(table), version), "w") as f:
        f.write(text)


def tlake(*words):
    done = subprocess.run([TLAKE, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError("exit %d: %s" % (done.returncode, done.stderr.decode(errors="replace")[-400:]))
    return json.loads(done.stdout)


def partition_number(table, entry):
    """The partition as tlake shows it: of a spec with one field of a time transform."""
    if entry.data_file.spec_id != table.spec().spec_id:
        return None
    fields = table.spec().fields
    if len(fields) != 1 or not isinstance(fields[0].transform, (t.HourTransform, t.DayTransform, t.MonthTransform)):
        return "any"
    value = entry.data_file.partition[0]
    return (value - dt.date(1970, 1, 1)).days if isinstance(value, dt.date) else value


def hex_map(m):
    return {str(k): v.hex() if isinstance(v, bytes) else v for k, v in (m or {}).items()}


def entries_of(table):
    """What PyIceberg reads, in the words of `tlake open --json`."""
    out = {}
    snapshot = table.current_snapshot()
    for manifest in snapshot.manifests(table.io) if snapshot else []:
        for e in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
            f = e.data_file
            out[f.file_path] = {
                "path": f.file_path, "size": f.file_size_in_bytes, "records": f.record_count,
                "partition": partition_number(table, e), "sort_order_id": f.sort_order_id,
                "split_offsets": f.split_offsets, "status": "Added" if e.status == 1 else "Existing",
                "snapshot_id": e.snapshot_id, "sequence_number": e.sequence_number or 0,
                "file_sequence_number": e.file_sequence_number or 0,
                "column_sizes": hex_map(f.column_sizes), "value_counts": hex_map(f.value_counts),
                "null_counts": hex_map(f.null_value_counts), "nan_counts": hex_map(f.nan_value_counts),
                "lower_bounds": hex_map(f.lower_bounds), "upper_bounds": hex_map(f.upper_bounds)}
    return out


def difference(want, got):
    if sorted(want) != sorted(got):
        return "%d files for %d: %s" % (len(got), len(want), sorted(set(want) ^ set(got))[:2])
    for path, w in want.items():
        g = got[path]
        for key in w:
            if w[key] != g[key] and not (key == "partition" and w[key] == "any"):
                return "%s: %s: %r for %r" % (os.path.basename(path), key, g[key], w[key])
    return None


def by_path(answer):
    out = {f["path"]: f for f in answer["files"]}
    if len(out) != len(answer["files"]):
        raise RuntimeError("a file twice")
    return out


def check_files(name, table, version, want):
    try:
        got = by_path(tlake("open", table.location(), "--no-head", "--version", str(version)))
        check(name, difference(want, got))
    except Exception as e:  # whatever keeps the check from being made
        check(name, e)


class Truth:
    """The rows of each file, read by PyIceberg as the current schema sees them."""

    def __init__(self, table):
        self.schema = table.schema()
        scan = ArrowScan(table.metadata, table.io, self.schema, AlwaysTrue())
        self.rows = {task.file.file_path: scan.to_table([task]) for task in table.scan().plan_files()}

    def matching(self, text):
        condition = expression_to_pyarrow(bind(self.schema, parse_filter(text), True), self.schema)
        return {path for path, r in self.rows.items() if r.filter(condition).num_rows > 0}


def check_plan(name, table, truth, text):
    global more, fewer, kept
    try:
        answer = tlake("plan", table.location(), "--where", text)
        ours = set(by_path(answer))
        if len(ours) + answer["skipped"] != len(truth.rows):
            raise RuntimeError("kept and skipped do not make all files")
        theirs = {task.file.file_path for task in table.scan(row_filter=text).plan_files()}
        lost = truth.matching(text) - ours
        kept += len(ours)
        more += len(ours - theirs)
        fewer += len(theirs - ours)
        if os.environ.get("SHOW") and ours - theirs:
            print("more: %s: %s: %d for %d" % (name, text, len(ours), len(theirs)))
        check("%s where %s" % (name, text), "rows are lost: %s" % sorted(lost)[:3] if lost else None)
    except Exception as e:
        check("%s where %s" % (name, text), repr(e))


# ---- manifests written anew ----

def each_record(schema, change):
    """Calls `change` with every record of a schema, innermost first."""
    if isinstance(schema, list):
        for s in schema:
            each_record(s, change)
    elif isinstance(schema, dict):
        for f in schema.get("fields", ()):
            each_record(f["type"], change)
        for key in ("items", "values"):
            each_record(schema.get(key), change)
        if schema.get("type") == "record":
            change(schema)
        elif isinstance(schema.get("type"), (dict, list)):
            each_record(schema["type"], change)


def turn_around(record):
    """Fields in the other order, unions too, and two fields that nobody knows."""
    for f in record["fields"]:
        if isinstance(f["type"], list):
            f["type"] = f["type"][::-1]
            f.pop("default", None)
    record["fields"] = record["fields"][::-1]
    at = len(record["fields"]) // 2
    record["fields"].insert(at, {"name": "unknown_text", "field-id": 9001 + at, "type": ["string", "null"]})
    record["fields"].append({"name": "unknown_list", "field-id": 9101 + at, "type": {
        "type": "array", "element-id": 9201, "items": {"type": "map", "values": "double"}}})


def fill(value, schema):
    """The values of the fields that turn_around added."""
    if isinstance(schema, list):
        some = [s for s in schema if s != "null"]
        return None if value is None else fill(value, some[0])
    if not isinstance(schema, dict):
        return value
    if schema.get("type") == "record":
        out = {f["name"]: fill(value.get(f["name"]), f["type"]) for f in schema["fields"]}
        if "unknown_text" in out:
            out["unknown_text"], out["unknown_list"] = "says nothing", [{"a": 1.5, "b": -2.5}, {}]
        return out
    if schema.get("type") == "array" and value is not None:
        return [fill(v, schema["items"]) for v in value]
    return value


def write_anew(path, target, codec, turned, change_row=None):
    with open(path.removeprefix("file://"), "rb") as f:
        reader = fastavro.reader(f)
        schema = json.loads(reader.metadata["avro.schema"])
        metadata = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
        records = list(reader)
    if turned:
        each_record(schema, turn_around)
    out = io.BytesIO()
    records = [change_row(r) if change_row else r for r in records]
    fastavro.writer(out, fastavro.parse_schema(copy.deepcopy(schema)), [fill(r, schema) for r in records], codec=codec,
                    metadata=metadata, sync_interval=400 if turned else 16000)
    with open(target.removeprefix("file://"), "wb") as f:
        f.write(out.getvalue())
    return len(out.getvalue())


def rewrite(table, version, codec, turned):
    """A version of the table whose current snapshot has the same files in manifests written anew."""
    base = "%s/metadata/again-%d-" % (table.location(), version)

    def manifest(row):
        target = base + os.path.basename(row["manifest_path"])
        length = write_anew(row["manifest_path"], target, codec, turned)
        return dict(row, manifest_path=target, manifest_length=length)

    target = base + "list.avro"
    write_anew(table.current_snapshot().manifest_list, target, codec, turned, manifest)
    with open(table.metadata_location.removeprefix("file://")) as f:
        metadata = json.load(f)
    for s in metadata["snapshots"]:
        if s["snapshot-id"] == metadata["current-snapshot-id"]:
            s["manifest-list"] = target
    put_version(table, version, metadata)


def main():
    folder = tempfile.mkdtemp(prefix="timelake-tables-")
    try:
        catalog = SqlCatalog("c", uri="sqlite:///%s/catalog.db" % folder, warehouse="file://" + folder)
        catalog.create_namespace("db")
        filters = [line for line in FILTERS.strip().replace("\n", "|").split("|")]
        for table in make_all(catalog):
            name = table.name()[-1]
            want = entries_of(table)
            put_version(table, 1)
            check_files(name + ", its files", table, 1, want)
            truth = Truth(table)
            for text in filters:
                if name == "evolved":
                    text = text.replace("flag", "was_flag")
                check_plan(name, table, truth, text)
            if name == "evolved":
                for text in ("added = 5", "added is null", "added > 100", "n = -39 and added is null"):
                    check_plan(name, table, truth, text)
            if want and name in ("plain", "daily", "by_name", "evolved", "rewritten", "format_1", "two"):
                version = 1
                for codec in ("null", "deflate", "snappy", "zstandard"):
                    for turned in (False, True):
                        version += 1
                        rewrite(table, version, codec, turned)
                        check_files("%s, %s%s" % (name, codec, ", turned around" if turned else ""), table, version, want)
    finally:
        if os.environ.get("KEEP"):
            print(folder)
        else:
            shutil.rmtree(folder)
    print("files kept by plans: %d; that PyIceberg leaves out: %d; left out that it keeps: %d" % (kept, more, fewer))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
