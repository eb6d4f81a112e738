#!/usr/bin/env python3
"""The last-value index of tables that we and Timelake commit to in turn: as the head has it, as its file has it, read by
timelake-format, pyarrow and DuckDB, it is what Timelake's own merging makes of all rows of the table's files.

Usage: last_values.py [COMMIT-TOOL]     (default: that in build/interop; the peer is built)
Then writers of both at once: attempts are lost and made anew on another's index, which has to be read from its file.
The last line: N passed, N failed."""
import datetime as dt
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

import commits
import peers
from commits import DAY0, check

ROUNDS = 8


def newest(rows, path, shape):
    """Rows for the index as an Arrow stream, in columns of other widths and layouts than the table's."""
    if shape == 1:
        rows = rows.cast(pa.schema([pa.field(f.name, pa.large_string() if f.type == pa.string() else f.type)
                                    for f in rows.schema]))
    elif shape == 2:
        rows = rows.select(rows.column_names[::-1])
        site = rows.schema.get_field_index("site")
        rows = rows.set_column(site, "site", rows.column(site).combine_chunks().dictionary_encode())
    elif shape == 3:
        rows = rows.set_column(0, "time", rows.column("time").cast(pa.timestamp("ns", "UTC")))
    with pa.OSFile(path, "wb") as out, pa.ipc.new_stream(out, rows.schema) as writer:
        for batch in rows.to_batches(max_chunksize=5)[:60]:
            writer.write_batch(batch)


def data_file(w, day, k, shape):
    """A file of random rows: times, trucks and insertion times of which many are alike. The lines of its append."""
    n = random.randint(1, 40)
    stamp = DAY0 + dt.timedelta(days=day)
    rows = pa.table({"time": [stamp + dt.timedelta(seconds=random.randint(0, 9)) for _ in range(n)],
                     "truck": [random.choice((None, 0, 1, 2, 5, -7, 2147483647)) for _ in range(n)],
                     "site": [random.choice((None, "", "site \u00e9", "a site %d" % k)) for _ in range(n)],
                     "speed": [k * 100.0 + i for i in range(n)],
                     "_ingest_ts": [DAY0 + dt.timedelta(seconds=random.randint(0, 3)) for _ in range(n)]}, w.schema)
    path = os.path.join(w.place, "data", "time_day=%s" % stamp.strftime("%Y-%m-%d"), "%d.parquet" % k)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(rows, path, compression="zstd")
    newest(rows, path + ".arrow", shape)
    line, columns, _ = commits.entry(w, path)
    if columns is None:
        raise RuntimeError("%s: %s" % (path, line))
    lines = [line] + ["col %d %s" % (number, " ".join(words)) for number, words in sorted(columns.items())]
    return lines + ["newest " + path + ".arrow"]


def by_peer(w, way):
    out = os.path.join(w.place, "latest.arrow")
    done = subprocess.run([peers.PEER, "latest", w.place, way, out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        return done.stdout.strip()
    return pa.ipc.open_stream(out).read_all().to_pylist()


def look(w, what):
    """All that can be read of the index says what Timelake's merging says of all rows."""
    want = by_peer(w, "all")
    check(what + ": Timelake's merging", not isinstance(want, list) and want)
    if not isinstance(want, list):
        return
    for way in ("head", "file"):
        got = by_peer(w, way)
        check(what + ": timelake-format by the " + way, got != want and (got, want))
    summary = commits.static(w).current_snapshot().summary.additional_properties
    path = summary.get("timelake.last-value-index", "")[len("file://"):]
    if check_there(what, path):
        got = pq.read_table(path)
        check(what + ": pyarrow", got.to_pylist() != want and (got.to_pylist(), want))
        ids = [f.metadata[b"PARQUET:field_id"] for f in got.schema]
        check(what + ": field ids", ids != [str(i + 1).encode() for i in range(5)] and ids)
        got = commits.DUCK.execute("SELECT truck, speed FROM read_parquet('%s')" % path).fetchall()
        check(what + ": DuckDB", got != [(r["truck"], r["speed"]) for r in want] and (got, want))


def check_there(what, path):
    there = path != "" and os.path.exists(path)
    check(what + ": an index", not there and (path or "none is named"))
    return there


def version_of(w):
    return max(int(os.path.basename(p)[1:].split(".")[0]) for p in glob.glob(os.path.join(w.place, "metadata", "v*.json")))


def in_turn(folder):
    w = commits.create(folder, "in-turn", True)
    for k in range(ROUNDS):
        answer = w.commit(*data_file(w, k % 3, k, k % 4), "append -")
        check("append %d: the index goes on" % k, answer[6] != "index" and answer)
        w.say("publish")
        look(w, "append %d" % k)
        if k % 2:
            continue
        done = subprocess.run([peers.PEER, "append", w.place, "1", str(50 + k)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        check("timelake-format on top", done.returncode != 0 and done.stdout)
        w.version = version_of(w)
        look(w, "timelake-format on top of append %d" % k)
        w.say("load " + ("head", "chain")[k // 2 % 2])  # by the chain it reads the index file that they wrote
    answer = w.commit("prop owner us", "set")
    check("properties: the index goes on", answer[6] != "index" and answer)
    w.say("publish")
    look(w, "properties")
    w.end()


def append_many(w, first, count, attempts):
    for k in range(first, first + count):
        lines = data_file(w, k % 3, k, k % 4)
        for _ in range(50):  # after a conflict once more
            try:
                answer = w.commit(*lines, "append ours-%d" % k)
                attempts.append(int(answer[3]))
                check("append %d among others: the index goes on" % k, answer[6] != "index" and answer)
                break
            except RuntimeError as e:
                if "conflict" not in str(e):
                    raise
        w.say("publish")


def together(folder, ours, theirs, count):
    w = commits.create(folder, "together", True)
    writers = [commits.Writer(w.place, True) for _ in range(ours)]
    attempts = []
    for o in writers:
        o.say("load head")
    threads = [threading.Thread(target=append_many, args=(o, 1000 * (i + 1), count, attempts))
               for i, o in enumerate(writers)]
    others = [subprocess.Popen([peers.PEER, "append", w.place, str(count), str(100000 + 1000 * k)],
                               stdout=subprocess.DEVNULL) for k in range(theirs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("timelake-format's writers", [o for o in others if o.wait() != 0])
    for o in writers:
        o.end()
    check("all appends of ours", len(attempts) != ours * count and len(attempts))
    w.say("load chain")  # whose head it is that is there is open: Timelake overwrites them in a folder
    w.commit(*data_file(w, 0, 9000, 0), "append -")
    w.say("publish")
    look(w, "%d writers and %d of Timelake" % (ours, theirs))
    w.end()
    print("%d appends of ours, %d of them made anew after a lost race" % (len(attempts), sum(a > 1 for a in attempts)))


def main():
    random.seed(20261130)
    folder = tempfile.mkdtemp(prefix="timelake-last-values-")
    try:
        in_turn(folder)
        together(folder, 3, 2, 12)
    finally:
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (commits.passed, commits.failed))
    return commits.failed != 0


if __name__ == "__main__":
    sys.exit(main())
