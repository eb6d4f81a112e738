#!/usr/bin/env python3
"""Tables that our commits make, read by others: DuckDB's iceberg_scan, PyIceberg's StaticTable and timelake-format.

Usage: commits.py     (run by tests/interop/run, which builds what it needs; commits_over.py does the same over servers)

Data files are real: pyarrow and DuckDB write them, PyIceberg says what an entry holds of their footers, and what we make of
the footers has to be that; the crate parquet reads the footers that we make for heads. After each kind of change, and
along a mixed history of 200 commits in which timelake-format commits on top of ours and we on top of its, all readers have
to see the rows that a model of the history has, and the same files, by the head and by the manifests. Then eight processes
commit at once, 50 times each: ours, and half of them Timelake's.
The last line: N passed, N failed."""
import datetime as dt
import decimal
import glob
import json
import logging
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import warnings

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io.pyarrow import (compute_statistics_plan, data_file_statistics_from_parquet_metadata,
                                  parquet_path_to_id_mapping)
from pyiceberg.table import StaticTable

import peers

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
BUILD = os.path.join(peers.TOP, "build", "interop")
COMMITS = 200
UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1, tzinfo=UTC)
DAY0 = dt.datetime(2026, 1, 1, tzinfo=UTC)
passed = failed = 0
clock = {}


def check(what, why):
    global passed, failed
    if why:
        failed += 1
        if failed <= 20:
            print("FAILED %s: %s" % (what, str(why)[:700]))
    else:
        passed += 1


def field(name, kind, number, required=False):
    return pa.field(name, kind, nullable=not required, metadata={"PARQUET:field_id": str(number)})


COLUMNS = [("time", "timestamptz", 1, pa.timestamp("us", "UTC")), ("truck", "int", 0, pa.int32()),
           ("site", "string", 0, pa.string()), ("speed", "double", 0, pa.float64())]
INGEST = ("_ingest_ts", "timestamptz", 1, pa.timestamp("us", "UTC"))


class Folder:
    """Tables in folders. What lies elsewhere, commits_over.py says."""
    tool, tlake = os.path.join(BUILD, "commit"), os.path.join(BUILD, "stored")
    remote, env, properties, timeout, pause = False, None, {}, (), 0.001

    def url(self, place):
        return "file://" + place

    def readable(self, place):
        """The table for those who read it by its place."""
        return place

    def append_theirs(self, place, number):
        """Timelake commits: the version, and the rows that are there now."""
        said = subprocess.run([peers.PEER, "append", place, "1", str(number)], stdout=subprocess.PIPE, text=True)
        return int(said.stdout.split()[0]), [((number * 10 + i) / 2, (number * 10 + i) % 4, "site %d" % ((number * 10 + i) % 5))
                                             for i in range(10)]

    def copy(self, place, url, name):
        """Copies an object of the table to another name; the copy's URL."""
        shutil.copy(url[len("file://"):], os.path.join(place, name))
        return "file://%s/%s" % (place, name)

    def writers(self, place, count, batches):
        """So many processes of Timelake's that append; the rows they will have made."""
        firsts = [100000 + 1000 * k for k in range(count)]
        return [subprocess.Popen([peers.PEER, "append", place, str(batches), str(first)], stdout=subprocess.DEVNULL)
                for first in firsts], [((k * 10 + i) / 2, (k * 10 + i) % 4, "site %d" % ((k * 10 + i) % 5))
                                       for first in firsts for k in range(first, first + batches) for i in range(10)]

    def head(self, place):
        with open(os.path.join(place, "metadata", "timelake-head"), "rb") as f:
            return f.read(13)

    def objects(self, place):
        """URLs of all that is there."""
        return {"file://" + path for path in glob.glob(place + "/**", recursive=True)}


class Writer:
    """The process of ours that commits. In its place are the table's files, or those of its data that it has uploaded."""

    def __init__(self, place, partitioned, store=Folder()):
        self.place, self.url, self.partitioned, self.store = place, store.url(place), partitioned, store
        self.process = subprocess.Popen([store.tool, self.url, *store.timeout], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=store.env)
        self.columns = COLUMNS + ([INGEST] if partitioned else [])
        self.schema = pa.schema([field(n, k, i + 1, r) for i, (n, _, r, k) in enumerate(self.columns)])
        self.iceberg = None
        self.rows = {}     # path: the speeds of its rows, which are their names
        self.version = 0

    def say(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines))
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] != "ok":
            raise RuntimeError("%s: %s %s" % (lines[-1], answer, self.process.stderr.read() if not answer else ""))
        return answer

    def commit(self, *lines):
        answer = self.say(*lines)
        self.version = int(answer[1])
        return answer

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0 or self.process.stderr.read():
            check("the writer's end", "exit %d" % self.process.returncode)

    def parquet_file(self, speeds, day):
        """A Parquet file: where it is, its URL, its partition."""
        stamp = DAY0 + dt.timedelta(days=day)
        rows = {"time": [stamp + dt.timedelta(seconds=k) for k in range(len(speeds))],
                "truck": [None if s % 7 == 0 else s % 4 for s in speeds],
                "site": [None if s % 5 == 0 else "a site whose name is longer than bounds %d" % s for s in speeds],
                "speed": [float(s) for s in speeds]}
        if self.partitioned:
            rows["_ingest_ts"] = [DAY0] * len(speeds)
        where = "data/time_day=%s" % stamp.strftime("%Y-%m-%d") if self.partitioned else "data"
        name = "%s/%s.parquet" % (where, uuid.uuid4())
        path, url = os.path.join(self.place, name), self.url + "/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pq.write_table(pa.table(rows, self.schema), path, compression="zstd", row_group_size=max(1, len(speeds) // 2))
        self.rows[url] = list(speeds)
        return path, url, str((stamp - EPOCH).days) if self.partitioned else "-"

    def quick_file(self, speeds, day):
        """A Parquet file and the lines of its entry, as we make it of the footer."""
        path, url, _ = self.parquet_file(speeds, day)
        line, columns, _ = entry(self, path, 0, url)
        lines = [line] + ["col %d %s" % (number, " ".join(words)) for number, words in columns.items()]
        return lines + (["body " + path] if self.store.remote else [])

    def data_file(self, speeds, day):
        """A Parquet file and the lines that say what its entry holds, as PyIceberg makes it of the footer."""
        path, url, partition = self.parquet_file(speeds, day)
        if self.iceberg is None:
            self.iceberg = static(self).schema()
        statistics = data_file_statistics_from_parquet_metadata(
            pq.read_metadata(path), compute_statistics_plan(self.iceberg, {}), parquet_path_to_id_mapping(self.iceberg))
        said = statistics.to_serialized_dict()
        lines = ["file %s %d %d %s %s" % (url, os.path.getsize(path), said["record_count"], partition,
                                                  ",".join(map(str, said["split_offsets"])))]
        for number in sorted(said["column_sizes"]):
            bound = [said[which].get(number) for which in ("lower_bounds", "upper_bounds")]
            lines.append("col %d %d %d %s %s %s" % (
                number, said["column_sizes"][number], said["value_counts"].get(number, 0),
                said["null_value_counts"].get(number, "-"), *[b.hex() if b is not None else "-" for b in bound]))
        line, columns, _ = entry(self, path, 0, url)
        check("the entry from the footer", line != lines[0] and (line, lines[0]))
        for number, words in (columns or {}).items():  # texts are longer than PyIceberg's bounds
            want = next(c.split()[2:] for c in lines[1:] if c.split()[1] == str(number))
            check("column %d from the footer" % number, (words[:3] if number == 3 else words) != want[:3 if number == 3 else 9]
                  and (words, want))
        return lines + (["body " + path] if self.store.remote else [])


def metadata_of(w):
    return "%s/metadata/v%d.metadata.json" % (w.url if w.store.remote else w.place, max(w.version, 1))


def static(w):
    return StaticTable.from_metadata(metadata_of(w), w.store.properties)


def duck():
    connection = duckdb.connect()
    site = os.path.dirname(os.path.dirname(duckdb.__file__))
    for name in ("avro", "iceberg", "httpfs"):
        connection.execute("LOAD '%s'" % glob.glob(os.path.join(
            site, "duckdb_extension_" + name, "**", name + ".duckdb_extension"), recursive=True)[0])
    return connection


DUCK = duck()


def timed(name, function, *args):
    start = time.monotonic()
    try:
        return function(*args)
    finally:
        clock[name] = clock.get(name, 0) + time.monotonic() - start


def by_duckdb(w, has_files):
    if not has_files:
        return [], []
    where = metadata_of(w)
    rows = DUCK.execute("SELECT speed, truck, site FROM iceberg_scan('%s') ORDER BY 1" % where).fetchall()
    files = DUCK.execute("SELECT file_path FROM iceberg_metadata('%s') WHERE status != 'DELETED'" % where).fetchall()
    return rows, sorted(f[0] for f in files)


def by_pyiceberg(w):
    table = static(w)
    got = table.scan(selected_fields=("speed", "truck", "site")).to_arrow().sort_by("speed")
    files = sorted(task.file.file_path for task in table.scan().plan_files())
    return [tuple(r[n] for n in ("speed", "truck", "site")) for r in got.to_pylist()], files


def by_tlake(w, *how):
    out = subprocess.run([w.store.tlake, "open", w.url, "--json", *how], stdout=subprocess.PIPE, check=True,
                         env=w.store.env).stdout
    said = json.loads(out)
    return said["version"], sorted("%s %d %d %d" % (f["path"], f["records"], f["size"], f["sequence_number"])
                                   for f in said["files"])


def by_peer(w, way):
    lines = subprocess.run([peers.PEER, "files", w.store.readable(w.place), way], stdout=subprocess.PIPE, check=True,
                           text=True, env=w.store.env).stdout.splitlines()
    return int(lines[0]), sorted(lines[1:])


def expected(w):
    return [(float(s), None if s % 7 == 0 else s % 4,
             None if s % 5 == 0 else "a site whose name is longer than bounds %d" % s)
            for s in sorted(s for speeds in w.rows.values() for s in speeds)]


def look(w, what, rows_of_peer=()):
    """All readers see this version, its rows and its files."""
    want = sorted(expected(w) + list(rows_of_peer), key=lambda r: r[0])
    try:
        ours = timed("tlake", by_tlake, w, "--no-head")
        paths = [f.split()[0] for f in ours[1]]
        duck_rows, duck_files = timed("duckdb", by_duckdb, w, bool(paths))
        ice_rows, ice_files = timed("pyiceberg", by_pyiceberg, w)
        check(what + ": tlake's version", ours[0] != w.version and ours[0])
        check(what + ": tlake by the head", timed("tlake", by_tlake, w) != ours and "other files than by the chain")
        check(what + ": DuckDB's rows", duck_rows != want and "%d rows, not %d" % (len(duck_rows), len(want)))
        check(what + ": DuckDB's files", [f for f in duck_files] != paths and (duck_files[:2], paths[:2]))
        check(what + ": PyIceberg's rows", ice_rows != want and "%d rows, not %d" % (len(ice_rows), len(want)))
        check(what + ": PyIceberg's files", ice_files != paths and (ice_files[:2], paths[:2]))
        for way in ("head", "chain"):
            theirs = timed("peer", by_peer, w, way)
            check(what + ": timelake-format by the " + way, theirs != ours and (theirs[0], theirs[1][:1], ours[1][:1]))
        timed("filters", filtered, w, want)
        if paths:  # by the hint
            count = DUCK.execute("SELECT count(*) FROM iceberg_scan('%s')" % (w.url if w.store.remote else w.place)).fetchone()[0]
            check(what + ": DuckDB by the hint", count != len(want) and count)
        check(what + ": the model's files", not set(w.rows) <= set(paths) and "some are missing")
    except Exception as e:
        check(what, e)


def filtered(w, want):
    """A filter that the bounds of most files exclude."""
    if not want:
        return
    low = want[len(want) // 2][0]
    some = [r for r in want if low <= r[0] < low + 5]
    where = metadata_of(w)
    got = DUCK.execute("SELECT speed, truck, site FROM iceberg_scan('%s') WHERE speed >= %r AND speed < %r ORDER BY 1"
                       % (where, low, low + 5)).fetchall()
    check("DuckDB's filter", got != some and (got[:3], some[:3]))
    got = static(w).scan("speed >= %r and speed < %r" % (low, low + 5), ("speed", "truck", "site")).to_arrow()
    got = [tuple(r[n] for n in ("speed", "truck", "site")) for r in got.sort_by("speed").to_pylist()]
    check("PyIceberg's filter", got != some and (got[:3], some[:3]))


def create(folder, name, partitioned, store=Folder()):
    w = Writer(os.path.join(folder, name), partitioned, store)
    lines = ["column %s %s %d" % (n, kind, required) for n, kind, required, _ in COLUMNS]
    w.commit(*lines, "create time truck" if partitioned else "create - -")
    w.say("publish")
    return w


def each_kind(folder, partitioned):
    """One table, one change of each kind after the other."""
    w = create(folder, "days" if partitioned else "plain", partitioned)
    what = "%s, " % os.path.basename(w.place)
    look(w, what + "created")
    numbers = iter(range(1, 1 << 20))

    def some(n, day):
        return w.data_file([next(numbers) for _ in range(n)], day)

    def then(kind, *lines):
        w.commit(*lines)
        w.say("publish")
        look(w, what + kind)

    then("append of 3 files", *some(10, 0), *some(7, 1), *some(1, 1), "append first")
    duplicate = w.data_file([999], 0)
    check(what + "the batch again", int(w.commit(*duplicate, "append first")[1]) != 2 and "committed twice")
    del w.rows[duplicate[0].split()[1]]
    os.unlink(duplicate[0].split()[1][len("file://"):])
    for k in range(9):  # past eight manifests they are merged
        w.commit(*some(3, k), "append -")
    then("appends that merge manifests", *some(3, 9), "append -")
    old = sorted(w.rows)[:2]
    merged = w.data_file(sorted(s for p in old for s in w.rows.pop(p)), 20)
    then("replace", *merged, *["remove " + p for p in old], "replace")
    gone = sorted(w.rows)[0]
    del w.rows[gone]
    then("delete", "remove " + gone, "delete")
    then("properties", "prop owner us and \"them\"", "prop write.parquet.compression-codec -", "set")
    check(what + "the properties", static(w).properties.get("owner") != "us and \"them\"" and static(w).properties)
    index = os.path.join(w.place, "metadata", "lvi-1.parquet")
    shutil.copy(sorted(w.rows)[0][len("file://"):], index)
    then("index", "index file://" + index)
    rows = []
    for k in range(100, 103):
        said = subprocess.run([peers.PEER, "append", w.place, "1", str(k)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True).stdout.split()
        w.version = int(said[0])
        rows += [(k * 10 + i) / 2 for i in range(10)]
    peer_rows = [(s, int(s * 2) % 4, "site %d" % (int(s * 2) % 5)) for s in rows]
    look(w, what + "timelake-format on top", peer_rows)
    attempts = w.commit(*some(2, 3), "append -")[3]
    check(what + "ours had to be rebased", attempts != "2" and attempts)
    w.say("publish")
    look(w, what + "ours on top of that", peer_rows)
    w.end()


def mixed_history(folder, commits, store=Folder(), theirs=6):
    random.seed(20261130)
    w = create(folder, "mixed/history", True, store)
    number, peer, peer_rows, kinds = 1, 10000, [], {}
    for k in range(commits):
        live = sorted(w.rows)
        kind = random.choices(("append", "replace", "delete", "set", "index", "theirs"),
                              (60, 12 if len(live) > 4 else 0, 8 if len(live) > 4 else 0, 6, 4 if live else 0, theirs if k else 0))[0]
        kinds[kind] = kinds.get(kind, 0) + 1
        if kind == "append":
            lines = []
            for _ in range(random.randint(1, 3)):
                n = random.randint(1, 6)
                lines += w.data_file(range(number, number + n), random.randint(0, 9))
                number += n
            w.commit(*lines, "append batch-%d" % k)
        elif kind == "replace":
            old = random.sample(live, random.randint(1, 3))
            lines = w.data_file(sorted(s for p in old for s in w.rows.pop(p)), random.randint(0, 9))
            w.commit(*lines, *["remove " + p for p in old], "replace")
        elif kind == "delete":
            gone = random.sample(live, random.randint(1, 2))
            for p in gone:
                del w.rows[p]
            w.commit(*["remove " + p for p in gone], "delete")
        elif kind == "set":
            w.commit("prop k%d %d" % (k % 5, k), "set")
        elif kind == "index":
            w.commit("index " + store.copy(w.place, random.choice(live), "metadata/lvi-%d.parquet" % k))
        else:
            w.version, rows = store.append_theirs(w.place, peer)
            peer_rows += rows
            peer += 1
            continue
        if random.random() < 0.5:
            w.say("publish")
        if random.random() < 0.2:
            w.say("load %s" % random.choice(("head", "chain")))
        if (k + 1) % 50 == 0:
            w.say("publish")
            look(w, "commit %d" % (k + 1), peer_rows)
    w.say("load head")
    w.say("publish")
    look(w, "the end of the history", peer_rows)
    there = store.objects(w.place)
    check("versions without a gap", versions(there) != set(range(1, commits + 2)) and sorted(versions(there))[-3:])
    check("live files are there", {line.split()[0] for line in by_tlake(w, "--no-head")[1]} - there)
    w.end()
    print("mixed history: " + ", ".join("%d %s" % (n, kind) for kind, n in sorted(kinds.items())))


def versions(there):
    names = (url.rsplit("/", 1)[1] for url in there)
    return {int(name[1:].split(".")[0]) for name in names if name.endswith(".metadata.json")}


def watch_head(w, seen, over):
    """Head and what it says: its version never goes back."""
    while not over.is_set():
        try:
            seen.append(struct.unpack("<4sBQ", w.store.head(w.place))[2])
        except (OSError, struct.error) as e:
            seen.append(str(e))
        time.sleep(w.store.pause)


def append_many(w, first, batches):
    """Commits of one writer, each file one batch; after a conflict the same batch again."""
    for k in range(first, first + batches):
        lines = w.quick_file([k], k % 3)
        for attempt in range(50):
            try:
                w.commit(*lines, "append ours-%d" % k)
                break
            except RuntimeError as e:
                if "conflict" not in str(e):
                    raise
                del w.rows[lines[0].split()[1]]  # the name of an upload is of one commit alone
                lines = w.quick_file([k], k % 3)
        w.say("publish")


def together(folder, name, ours, theirs, batches, store=Folder(), read=look):
    """Many processes at once: every batch is in exactly once."""
    start = time.monotonic()
    w = create(folder, re.sub("[^a-z0-9]+", "_", name.lower()) + "/table", True, store)
    writers = [Writer(w.place, True, store) for _ in range(ours)]
    for o in writers:
        o.say("load head")
    seen, over = [], threading.Event()
    threads = [threading.Thread(target=watch_head, args=(w, seen, over))]
    threads += [threading.Thread(target=append_many, args=(o, 1000 * (i + 1), batches)) for i, o in enumerate(writers)]
    for thread in threads:
        thread.start()
    others, rows = store.writers(w.place, theirs, batches)
    ends = [other.wait() for other in others]
    for thread in threads[1:]:
        thread.join()
    over.set()
    threads[0].join()
    seconds = time.monotonic() - start
    check(name + ": timelake's writers", any(ends) and ends)
    for o in writers:
        w.rows.update(o.rows)
        o.end()
    w.say("load chain")
    w.version = 1 + (ours + theirs) * batches
    w.say("publish")
    there = versions(store.objects(w.place))
    check(name + ": a version for each batch", there != set(range(1, w.version + 1)) and sorted(there)[-3:])
    back = "no"
    if theirs == 0 or store.remote:  # Timelake overwrites the head in a folder
        back = sum(a > b for a, b in zip(seen, seen[1:]) if type(a) is type(b) is int)
        check(name + ": the head is never older than before", back or [s for s in seen if type(s) is not int][:3])
    read(w, name, rows)
    w.end()
    print("%s: %d commits in %.1f s, the head looked at %d times, %d versions of it seen; a head older than one shown before: %s"
          % (name, w.version - 1, seconds, len(seen), len(set(seen)), back if back != "no" else "not asked"))


# ---- Parquet footers ----

TYPES = [("b", "boolean", pa.bool_()), ("i", "int", pa.int32()), ("l", "long", pa.int64()), ("f", "float", pa.float32()),
         ("d", "double", pa.float64()), ("dec9", "decimal(9,2)", pa.decimal128(9, 2)),
         ("dec18", "decimal(18,4)", pa.decimal128(18, 4)), ("dec38", "decimal(38,10)", pa.decimal128(38, 10)),
         ("day", "date", pa.date32()), ("tm", "time", pa.time64("us")), ("ts", "timestamp", pa.timestamp("us")),
         ("tz", "timestamptz", pa.timestamp("us", "UTC")), ("s", "string", pa.string()), ("bin", "binary", pa.binary()),
         ("fx", "fixed[4]", pa.binary(4)), ("u", "uuid", pa.binary(16))]
CUT = {"s", "bin"}  # of these PyIceberg cuts bounds
VARIANTS = {"plain": {}, "format 1.0": {"version": "1.0"}, "format 2.4": {"version": "2.4"},
            "data pages 2.0": {"data_page_version": "2.0"}, "stored": {"compression": "none"},
            "no dictionaries": {"use_dictionary": False}, "page indexes": {"write_page_index": True},
            "small row groups": {"row_group_size": 7}, "row groups and indexes": {"row_group_size": 5, "write_page_index": True},
            "decimals as integers": {"store_decimal_as_integer": True}, "no statistics": {"write_statistics": False},
            "some statistics": {"write_statistics": ["i", "dec38"]}}


def value(kind, k):
    sign = -1 if k % 3 == 0 else 1
    if pa.types.is_decimal(kind):
        return decimal.Decimal(sign * (k * 7919 + 13) ** (1 if kind.precision < 10 else 2 if kind.precision < 20 else 5)
                               % 10 ** (kind.precision - 1)).scaleb(-kind.scale) * sign
    return {"bool": k % 2 == 0, "int32": sign * k * 104729, "int64": sign * k * 10 ** 15, "float": sign * k / 8,
            "double": float("nan") if k % 11 == 5 else sign * k * 1e100, "date32[day]": dt.date(1970, 1, 1) + dt.timedelta(days=sign * k * 300),
            "time64[us]": dt.time(k % 24, 59, 1, k), "timestamp[us]": dt.datetime(1970, 1, 1) + dt.timedelta(hours=sign * k * 999),
            "timestamp[us, tz=UTC]": EPOCH + dt.timedelta(hours=sign * k * 999), "string": "text \u00e4 %d" % (k * 37 % 100),
            "binary": bytes([k * 37 % 256, 255, k]), "fixed_size_binary[4]": bytes([k * 37 % 256, 0, 255, k]),
            "fixed_size_binary[16]": bytes([k * 37 % 256] * 16)}[str(kind)]


def entry(w, path, tail=0, url=None):
    """What tl_parquet_data_file makes of a file: its line, the columns by field id, the footer; or why it is refused."""
    w.process.stdin.write("parquet %s %d %s\n" % (url or "file://" + path, tail, path))
    w.process.stdin.flush()
    line, columns = w.process.stdout.readline().rstrip("\n"), {}
    if line.startswith("refused"):
        return line, None, None
    while True:
        words = w.process.stdout.readline().split()
        if words[0] == "footer":
            return line, columns, None if words[2] == "-" else bytes.fromhex(words[2])
        columns[int(words[1])] = words[2:]


def check_entry(what, w, path, iceberg):
    line, columns, footer = entry(w, path)
    if columns is None:
        return check(what, line)
    said = data_file_statistics_from_parquet_metadata(
        pq.read_metadata(path), compute_statistics_plan(iceberg, {}), parquet_path_to_id_mapping(iceberg)).to_serialized_dict()
    want = "file file://%s %d %d - %s" % (path, os.path.getsize(path), said["record_count"], ",".join(map(str, said["split_offsets"])))
    check(what + ": the file", line != want and (line, want))
    for number, (size, values, nulls, *bounds) in columns.items():
        name, counts = iceberg.find_column_name(number), (said["column_sizes"][number], said["value_counts"][number])
        check(what + ": " + name, (int(size), int(values)) != counts and (size, values, counts))
        if nulls != "-":
            check(what + ": nulls of " + name, int(nulls) != said["null_value_counts"].get(number) and nulls)
        for which, ours in zip(("lower_bounds", "upper_bounds"), bounds):
            theirs = said[which].get(number)
            theirs = "-" if theirs is None else theirs.hex()
            if name in CUT and ours != "-":
                ours, theirs = ours[:2], theirs[:2]  # cut, and then rounded up; what is whole is compared by Timelake's files
            check(what + ": %s of %s" % (which, name), ours != theirs and (ours, theirs))
    with open(path + ".footer", "wb") as f:
        f.write(footer)
    done = subprocess.run([peers.PEER, "footer", path, path + ".footer"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    check(what + ": the footer for the head", done.returncode and done.stderr)
    return done.stdout.split()


def footers(folder):
    w = Writer(os.path.join(folder, "types"), False)
    w.commit(*["column %s %s 0" % (n, kind) for n, kind, _ in TYPES], "column k int 1", "create - -")
    w.say("publish")
    iceberg = static(w).schema()
    fields = [field(n, kind, k + 1) for k, (n, _, kind) in enumerate(TYPES)] + [field("k", pa.int32(), len(TYPES) + 1, True)]
    path = os.path.join(w.place, "x.parquet")

    def write(rows, schema=None, **how):
        schema = pa.schema(schema or fields)
        columns = {f.name: [None if f.nullable and (k + i) % 6 == 0 else value(f.type, k) for k in rows] for i, f in enumerate(schema)}
        pq.write_table(pa.table(columns, schema), path, **how)

    indexed = 0
    for name, how in VARIANTS.items():
        write(range(1, 40), **how)
        indexed += check_entry(name, w, path, iceberg) == ["true", "true"]
    check("page indexes were compared", indexed != 2 and indexed)
    write([6, 12, 18], [f for f in fields if f.name in ("b", "k")])
    check_entry("nothing but nulls", w, path, iceberg)
    ids = ", ".join("%s: %d" % (n, k + 1) for k, (n, _, _) in enumerate(TYPES) if n not in ("fx", "u")) + ", k: %d" % (len(TYPES) + 1)
    DUCK.execute("SET TimeZone = 'UTC'")
    DUCK.execute("COPY (SELECT r %% 2 = 0 b, r::INT i, (r * 99999999)::BIGINT l, (r / 4)::FLOAT f, (r / 3)::DOUBLE d, "
                 "(r / 100)::DECIMAL(9, 2) dec9, (r * 3)::DECIMAL(18, 4) dec18, (r * 7)::DECIMAL(38, 10) dec38, DATE '2026-01-01' + r::INT \"day\", "
                 "TIME '01:02:03' tm, TIMESTAMP '2026-01-01' + INTERVAL (r) HOUR ts, TIMESTAMPTZ '2026-01-01' + INTERVAL (r) HOUR tz, "
                 "'text ' || r s, encode('b' || r) bin, r::INT k FROM range(1, 5000) t(r)) "
                 "TO '%s' (FORMAT parquet, FIELD_IDS {%s}, ROW_GROUP_SIZE 2048)" % (path, ids))
    check_entry("by DuckDB", w, path, iceberg)
    refusals = [("no field ids", [pa.field("k", pa.int32(), False)], "without a Parquet field id: other engines would read nulls: k"),
                ("a required column is missing", [fields[1]], "a required column is missing: k"),
                ("another type", [fields[-1], field("l", pa.int32(), 3)], "of another type than in the table: l"),
                ("another unit", [fields[-1], field("tz", pa.timestamp("ms", "UTC"), 12)], "of another type than in the table: tz"),
                ("without a zone", [fields[-1], field("tz", pa.timestamp("us"), 12)], "of another type than in the table: tz"),
                ("another scale", [fields[-1], field("dec9", pa.decimal128(9, 3), 6)], "of another type than in the table: dec9"),
                ("another name", [fields[-1], field("kk", pa.int64(), 3)], "of another name than the table has for its field id: kk"),
                ("a further column", [fields[-1], field("more", pa.int64(), 30)], "the table does not have: more")]
    for name, schema, why in refusals:
        rows = {f.name: [0 if pa.types.is_integer(f.type) else None] * 3 for f in schema}
        pq.write_table(pa.table(rows, pa.schema(schema)), path)
        line, _, _ = entry(w, path)
        check("refused: " + name, not line.endswith(why) and line)
    pq.write_table(pa.table({"k": pa.array([1, None], pa.int32())}, pa.schema([field("k", pa.int32(), 17)])), path)
    line, _, _ = entry(w, path)
    check("refused: nulls", not line.endswith("a required column that may hold nulls: k") and line)
    w.end()


def main():
    folder = tempfile.mkdtemp(prefix="timelake-commits-")
    try:
        footers(folder)
        each_kind(folder, True)
        each_kind(folder, False)
        mixed_history(folder, COMMITS)
        together(folder, "8 writers", 8, 0, 50)
        together(folder, "4 writers and 4 of Timelake", 4, 4, 50)
    finally:
        shutil.rmtree(folder)
    print("seconds in readers: " + ", ".join("%s %.1f" % c for c in sorted(clock.items())))
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
