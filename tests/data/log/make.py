#!/usr/bin/env python3
"""Makes the files of this folder out of fixtures/timeseries (see the README there): cases with the contents of their files
inside, without what the tests do not need, compressed. Usage: make.py FIXTURES"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = sys.argv[1]


def lines(name):
    with open(os.path.join(ROOT, name)) as f:
        return [json.loads(line) for line in f]


def write(name, rows):
    text = "".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in rows).encode()
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", os.path.join(HERE, name + ".jsonl.zst")], input=text, check=True)


def contents(path):
    """Of a file: its text, or its bytes as hex; of a folder true."""
    if os.path.isdir(path):
        return True
    with open(path, "rb") as f:
        data = f.read()
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def folder(top):
    """The log below a table: name to contents; a log that is a file is called ""."""
    log = os.path.join(top, "_timeseries_log")
    if not os.path.exists(log):
        return {}
    if not os.path.isdir(log):
        return {"": contents(log)}
    return {n: contents(os.path.join(log, n)) for n in sorted(os.listdir(log)) if n != ".keep"}


def verdict(row):
    keep = ("case", "quirk", "read_error_kind", "read_error_details", "version", "write_error_kind", "write_error_details",
            "write_check")
    out = {k: row[k] for k in keep if row.get(k) is not None}
    state = row.get("state") or {k: row[k] for k in ("reader_features", "writer_features", "fields", "segments", "coverage")
                                 if k in row}
    if state:
        out["state"] = state
    text = row.get("commit_text") or (row.get("after_write") or {}).get("commit_text")
    if text:
        out["commit_text"] = text
    return out


def cases():
    for row in lines("cases.jsonl"):
        yield dict(verdict(row), files=folder(os.path.join(ROOT, "cases", row["case"])))
    for row in lines("mutations.jsonl"):
        files = {"%010d.json" % (i + 1): text for i, text in enumerate(row["commits"])}
        yield dict(verdict(row), files=dict(files, CURRENT="%d\n" % len(files)))


def tables():
    for row in lines("tables.jsonl"):
        yield dict(case=row["table"], version=row["state"]["version"], state=row["state"], write_check="ok",
                   files=folder(os.path.join(ROOT, "tables", row["table"])))


write("cases", cases())
write("tables", tables())
write("add_columns", lines("add_columns.jsonl"))
write("commit_runs", lines("commit_runs.jsonl"))
write("timestamps", lines("timestamps.jsonl"))
