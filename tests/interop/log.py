#!/usr/bin/env python3
"""Timeseries tables: the crate timeseries-table-format and ours on the same folders.

Usage: log.py [tables|rounds|races|crashes ...]     (default: all; tests/interop/run builds what is needed)

What the crate writes is replayed to its state, byte for byte, and so back; both evolve one table in turns; both race for the
same versions; both are killed before each of their file operations. The last line: N passed, N failed."""
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

import peers

BUILD = os.path.join(peers.TOP, "build", "interop")
TLAKE = os.path.join(BUILD, "stored")
passed = failed = 0


def check(what, good, why=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        if failed <= 30:
            print("FAILED %s: %s" % (what, str(why)[:600]), flush=True)


class Side:
    """A process with a handle on a table."""

    def __init__(self, folder, program):
        self.folder = folder
        self.process = subprocess.Popen([program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, *request):
        self.process.stdin.write(self.line(*request) + "\n")
        self.process.stdin.flush()

    def take(self):
        text = self.process.stdout.readline()
        return json.loads(text) if text else {"error": "died: %s" % self.process.wait()}

    def ask(self, *request):
        self.send(*request)
        return self.take()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        check("end of " + type(self).__name__, self.process.wait() == 0, self.process.returncode)

    @classmethod
    def once(cls, folder, *request, env=None):
        done = subprocess.run([cls.plain, folder, cls.line(*request)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, **(env or {})))
        return json.loads(done.stdout) if done.returncode == 0 else {"killed": done.returncode}


class Ours(Side):
    plain = os.path.join(BUILD, "log-plain")

    def __init__(self, folder):
        super().__init__(folder, os.path.join(BUILD, "log"))

    @staticmethod
    def line(op, argument=None):
        return op if argument is None else "%s %s" % (op, json.dumps(argument) if op in ("create", "add") else argument)


class Crate(Side):
    plain = peers.TSLOG

    def __init__(self, folder):
        super().__init__(folder, self.plain)

    @staticmethod
    def line(op, argument=None, **more):
        name = {"create": "meta", "add": "columns"}.get(op)
        return json.dumps({"op": op, **({name: argument} if name else argument or {}), **more})


# ---- tables ----

def column(name, data_type, nullable=True, **more):
    return {"name": name, "data_type": data_type, "nullable": nullable, **more}


def stamp(unit, zone=None):
    return {"Timestamp": {"unit": unit, "timezone": zone}}


STRUCT = {"Struct": {"fields": [column("a", "Int32"), column("b c", {"List": {"elements": column("item", "Utf8")}}, False)]}}
ELIGIBLE = ["Bool", "Int32", "Int64", "UInt64", "Float32", "Float64", "Binary", "Utf8", {"FixedBinary": {"byte_width": 4}},
            stamp("Millis"), stamp("Micros", "UTC"), stamp("Nanos", "Asia/Shanghai"), {"Decimal": {"precision": 9, "scale": 2}},
            {"Decimal": {"precision": 76, "scale": 0}}, STRUCT, {"List": {"elements": column("x", STRUCT)}},
            {"Map": {"key": column("key", "Utf8", False), "value": column("value", "Float64"), "keys_sorted": False}},
            {"Map": {"key": column("key", "Int64", False), "value": None, "keys_sorted": True}}]


def kind(domain, width, zone=None):
    more = {"timezone": zone} if zone else {}
    return {"type": domain, "index_granularity": width, **more}


# name, kind of the index, type of its column, entity columns with their types, step from row to row
INDEXES = [("seconds", kind("timestamp", {"Seconds": 1}), stamp("Millis"), [], 1000),
           ("minutes", kind("timestamp", {"Minutes": 5}, "UTC"), stamp("Micros", "UTC"), [("symbol", "Utf8")], 300000000),
           ("hours", kind("timestamp", {"Hours": 1}, "Asia/Shanghai"), stamp("Nanos"), [("n", "Int32")], 3600 * 10**9),
           ("days", kind("timestamp", {"Days": 1}), stamp("Micros", "+02:00"), [("a", "Int64"), ("b", "UInt64")], 86400 * 10**6),
           ("int64", kind("int64", 1), "Int64", [], 1),
           ("int64 wide", kind("int64", 1000), "Int64", [("symbol", "Utf8"), ("venue", "Int32")], 1000),
           ("uint64", kind("uint64", 1), "UInt64", [], 1),
           ("uint64 wide", kind("uint64", 2**40), "UInt64", [("who is it?", "Utf8")], 2**40)]


def metadata(index, schema=True, notes=False):
    name, index_kind, index_type, entities, _ = index
    columns = [column("the index", index_type, False)] + [column(n, t, False) for n, t in entities]
    columns += [column("value", "Float64"), column("need", "Int64", False, **({"metadata": {"unit": "\u00b5V \"q\"\n"}} if notes else {}))]
    features = ["schema_metadata"] if notes else []
    made = {"columns": columns, **({"metadata": {"source": "lab", "a": ""}} if notes else {})}
    return {"kind": {"TimeSeries": {"column": "the index", "entity_columns": [n for n, _ in entities], "kind": index_kind}},
            "logical_schema": made if schema else None, "created_at": "2026-01-02T03:04:05.678Z", "protocol_version": 7,
            "required_reader_features": features, "required_writer_features": features}


def same_state(what, crate, ours, version=None):
    """Both handles, refreshed, hold the same, and so do handles that are opened now."""
    wanted, got = [s.ask("refresh") and s.ask("state") for s in (crate, ours)]
    check(what, "state" in wanted and wanted == got, (wanted, got))
    check(what + ": version", version in (None, wanted.get("ok")), (version, wanted.get("ok")))
    for side in (Crate, Ours):
        check(what + ": opened by " + side.__name__, side.once(crate.folder, "state") == wanted, side.once(crate.folder, "state"))


class Rows:
    """Appends with values that no other append has; knows how many rows there are, and of which columns."""

    def __init__(self, index):
        self.index, self.next, self.counts = index, 0, []

    def request(self, rows, entities=1, columns=None, schema=None):
        step = self.index[4]
        request = {"rows": rows, "from": self.next * step, "step": step, "columns": columns,
                   "entities": entities if self.index[3] else 1}
        self.next += rows
        self.counts.append((rows, columns))
        return {**request, **({"schema": schema} if schema else {})}

    def check(self, what, crate, names):
        """The crate's scan finds all rows, and null where a column was not there or left out."""
        seen = crate.ask("scan")
        check(what + ": rows", seen.get("rows") == sum(n for n, _ in self.counts), seen)
        for name in names:
            lacking = sum(n for n, columns in self.counts if columns is not None and name not in columns)
            check("%s: nulls of %s" % (what, name), seen["nulls"].get(name) == lacking, (seen, lacking))


def tables(folder):
    """Written by the crate alone: every type, every kind of index; ours follows each step."""
    for number, index in enumerate(INDEXES):
        for schema in (True, False):
            what = "%s, %s" % (index[0], "with a schema" if schema else "schema adopted")
            place = os.path.join(folder, "t%d%d" % (number, schema))
            with Crate(place) as crate, Ours(place) as ours:
                meta, rows = metadata(index, schema, notes=schema and number % 2 == 0), Rows(index)

                def crates(*request):
                    done = crate.ask(*request)
                    check("%s: %s" % (what, request[0]), "ok" in done, done)

                crates("create", meta)
                same_state(what + ", created", crate, ours, 1)
                first = metadata(index)["logical_schema"]
                crates("append", rows.request(4, 2, schema=None if schema else first))
                crates("append", rows.request(3))
                same_state(what + ", appended", crate, ours, 3)
                crates("add", [column("new %d" % i, t) for i, t in enumerate(ELIGIBLE)])
                same_state(what + ", every type", crate, ours, 4)
                keys = ["the index", "need"] + [n for n, _ in index[3]]
                crates("append", rows.request(2, columns=keys))
                crates("append", rows.request(6, 3, columns=keys + ["new 5", "new 7"]))
                crates("add", [column(" \u00e9\"\\ ", "Utf8", metadata={"k": "v"} if number % 3 == 0 else {})])
                if index[3]:
                    crates("optimize")
                version = 7 + (len(index[3]) != 0)
                same_state(what + ", evolved", crate, ours, version)
                by_tool(what, place, version)
                same_state(what + ", by the tool", crate, ours, version + 1)


def by_tool(what, place, version):
    """tlake says what the log says, and adds a column."""
    tlake = lambda *words: json.loads(subprocess.run([TLAKE, *words, "--json"], stdout=subprocess.PIPE).stdout or "{}")
    said, done = tlake("protocol", place), tlake("add-columns", place, "by the tool:timestamp[us, tz=UTC]")
    names = [c["name"] for c in columns_of(place, version + 1)]
    check(what + ": tlake protocol", said.get("version") == version and said["read"] == said["write"] == "ok"
          and [f["name"] for f in said["fields"]] + ["by the tool"] == names, said)
    check(what + ": tlake add-columns", done == {"version": version + 1}, done)


def rounds(folder):
    """Made by ours or by the crate, then both take turns at random: adding, appending, removing and adding again."""
    for number, index in enumerate(INDEXES):
        chance = random.Random(number)
        what, place = "turns, " + index[0], os.path.join(folder, "r%d" % number)
        with Crate(place) as crate, Ours(place) as ours:
            rows, version, evolved, plain = Rows(index), 1, False, ["the index", "need"] + [n for n, _ in index[3]]
            names = list(plain)
            made = (ours if number % 4 != 3 else crate).ask("create", metadata(index, notes=number % 3 == 1))
            check(what + ": created", made.get("ok") == 1, made)
            same_state(what, crate, ours, 1)
            for turn in range(14):
                side = chance.choice(["ours", "ours", "crate", "append", "append"])
                if side == "append":
                    sparse = evolved and chance.random() < 0.5  # before the first addition every column is required
                    done = crate.ask("append", rows.request(4, chance.choice([1, 2]), plain if sparse else names + ["value"]))
                    if chance.random() < 0.5:
                        ours.ask("refresh")
                        version += 1
                        check(what + ": appended", done.get("ok") == version, done)
                        done = ours.ask("rewrite")
                else:
                    types = [chance.choice(ELIGIBLE) for _ in range(chance.randrange(1, 4))] + ["Float64"]
                    new = [column("c%d %d" % (turn, i), t, metadata={"k": ""} if t == "Binary" else {}) for i, t in enumerate(types)]
                    done = (ours if side == "ours" else crate).ask("add", new)
                    names.append(new[-1]["name"])
                    evolved = True
                version += 1
                check("%s: turn %d of %s" % (what, turn, side), done.get("ok") == version, done)
                same_state("%s, turn %d" % (what, turn), crate, ours, version)
            rows.check(what, crate, names)
            stale = ours.ask("add", [column("one", "Int64")])
            lost = crate.ask("add", [column("two", "Int64")])
            check(what + ": a handle that is behind", stale.get("ok") == version + 1 and lost.get("error") == "Conflict", (stale, lost))
            crate.ask("refresh")
            won = crate.ask("add", [column("two", "Int64")])
            lost = ours.ask("add", [column("three", "Int64")])
            check(what + ": and ours behind", won.get("ok") == version + 2 and lost.get("error") == "Conflict", (won, lost))
            same_state(what + ", ended", crate, ours, version + 2)


# ---- races ----

def commit_path(place, version):
    return os.path.join(place, "_timeseries_log", "%010d.json" % version)


def columns_of(place, version):
    with open(commit_path(place, version), "rb") as f:
        return json.loads(f.read())["actions"][0]["UpdateTableMeta"]["logical_schema"]["columns"]


def last_column(place, version):
    return columns_of(place, version)[-1]["name"]


def pointed(place):
    with open(os.path.join(place, "_timeseries_log", "CURRENT")) as f:
        return int(f.read())


def races(folder):
    raced = wins = 0
    for number in range(3):  # both try each version at once
        place, chance = os.path.join(folder, "race%d" % number), random.Random(number)
        with Crate(place) as crate, Ours(place) as ours:
            ours.ask("create", metadata(INDEXES[4]))
            for side in (crate, ours):
                side.ask("open")
            for version in range(2, 102):
                names, order = {}, chance.sample([crate, ours], 2)
                for side in order:
                    names[side] = "%s-%d" % (type(side).__name__, version)
                    side.send("add", [column(names[side], "Float64")])
                    time.sleep(chance.choice([0, 0, 0.0002, 0.0005, 0.001]))
                said = {side: side.take() for side in order}
                won = [side for side in order if said[side].get("ok") == version]
                lost = [side for side in order if said[side].get("error") in ("Conflict", "Storage.AlreadyExists")]
                check("race for %d" % version, len(won) == len(lost) == 1, said.values())
                check("content of %d" % version, won and last_column(place, version) == names[won[0]], last_column(place, version))
                check("CURRENT at %d" % version, pointed(place) == version, pointed(place))
                raced, wins = raced + 1, wins + (won == [ours])
                for side in order:
                    side.ask("refresh")
            same_state("after races", crate, ours, 101)
    for number in range(2):  # both run freely
        place = os.path.join(folder, "run%d" % number)
        with Crate(place) as crate, Ours(place) as ours:
            crate.ask("create", metadata(INDEXES[4]))
            for side in (crate, ours):
                side.ask("open")
            crate.send("race", {"until": 141, "name": "Crate"})
            ours.send("race", "141 Ours")
            said = {side: side.take() for side in (crate, ours)}
            won = {v: type(side).__name__ for side in said for v in said[side].get("won", []) if v}
            count = sum(len([v for v in s.get("won", []) if v]) for s in said.values())
            check("each version has one winner", sorted(won) == list(range(2, 142)) and count == 140, said)
            check("both won", len(set(won.values())) == 2, won)
            for version, name in sorted(won.items()):
                check("content of %d" % version, last_column(place, version) == "%s-%d" % (name, version), name)
            raced, wins = raced + len(won), wins + sum(name == "Ours" for name in won.values())
            same_state("after running freely", crate, ours, 141)
    print("%d versions raced for, %d won by ours" % (raced, wins))
    check("both sides won", 0 < wins < raced, wins)


# ---- crashes ----

def crash(folder, side, request, half):
    """Kills the writer before each of its operations on the log in turn. What then is there, and how it goes on."""
    what = "%s %s%s" % (side.__name__, request[0], ", writes half" if half else "")
    base, outcomes, at = os.path.join(folder, "base-%s-%s-%d" % (side.__name__, request[0], half)), {}, 0
    before = 0
    if request[0] != "create":
        Crate.once(base, "create", metadata(INDEXES[0]))
        Crate.once(base, "append", Rows(INDEXES[0]).request(2))
        before = 2
    if request[0] == "repair":  # of a commit that a writer left
        Crate.once(base, "add", [column("left", "Int32")])
        with open(os.path.join(base, "_timeseries_log", "CURRENT"), "w") as f:
            f.write("2\n")
    killed = True
    while killed and at < 200:
        at += 1
        place, label = "%s-%d" % (base, at), "%s, killed before operation %d" % (what, at)
        if before:
            shutil.copytree(base, place)
        env = {"LD_PRELOAD": os.path.join(BUILD, "stop.so"), "STOP_PATH": "_timeseries_log", "STOP_AT": str(at),
               **({"STOP_HALF": "1"} if half else {})}
        killed = "killed" in side.once(place, *request, env=env)
        outcome = recover(label, place, before, request)
        if not killed:
            check(what + ": alive in the end", outcome == "published", outcome)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        shutil.rmtree(place, ignore_errors=True)
    check(what + ": seen", {"nothing", "left", "published"} - {"nothing" if request[0] == "repair" else 0} <= set(outcomes), outcomes)
    return outcomes


def recover(label, place, before, request):
    """Both open it to the same state; what is left one past CURRENT stops both until ours repairs it; then both write."""
    published = os.path.exists(os.path.join(place, "_timeseries_log", "CURRENT")) and pointed(place) == before + 1
    left = not published and os.path.exists(commit_path(place, before + 1))
    opened = [side.once(place, "state") for side in (Crate, Ours)]
    if published or before:
        check(label + ": opened", "state" in opened[0] and opened[0] == opened[1] and opened[0]["ok"] == before + published, opened)
    else:
        check(label + ": no table", all("error" in o for o in opened), opened)
    write = ("add", [column("after", "Int64")]) if before or published else ("create", metadata(INDEXES[0]))
    said = [side.once(copied(place, side.__name__), *write) for side in (Crate, Ours)]
    if not left:
        version = before + published + 1
        check(label + ": written at once", all(s.get("ok") == version for s in said), said)
        return "published" if published else "nothing"
    check(label + ": stopped", all(s.get("error") == "Storage.AlreadyExists" for s in said), said)
    try:
        with open(commit_path(place, before + 1), "rb") as f:
            whole = json.loads(f.read())
    except ValueError:
        whole = None
    done = Ours.once(place, "repair")
    if whole is None:
        check(label + ": torn, reported", "error" in done and os.path.exists(commit_path(place, before + 1)), done)
        done = Ours.once(place, "remove")
        check(label + ": torn, removed", done.get("ok") == before and done.get("repaired") == 2, done)
    else:
        check(label + ": rolled forward", done == {"ok": before + 1, "repaired": 1}, done)
    version = before + (whole is not None)
    if version == 0:
        return "torn"
    states = [side.once(place, "state") for side in (Crate, Ours)]
    check(label + ": repaired", states[0] == states[1] and states[0].get("ok") == version, states)
    for side in (Crate, Ours):
        version += 1
        done = side.once(place, "add", [column("by " + side.__name__, "Int64")])
        check("%s: %s writes again" % (label, side.__name__), done.get("ok") == version, done)
    return "torn" if whole is None else "left"


def copied(place, name):
    """The same folder once more, to be written without harm."""
    to = "%s.%s" % (place, name)
    shutil.rmtree(to, ignore_errors=True)
    if os.path.exists(place):
        shutil.copytree(place, to)
    return to


def crashes(folder):
    rows = Rows(INDEXES[0])
    rows.next = 100
    seen = {}
    for side, request, half in ((Ours, ("add", [column("new", "Utf8")]), 0), (Ours, ("add", [column("new", "Utf8")]), 1),
                                (Ours, ("create", metadata(INDEXES[0])), 0), (Ours, ("rewrite",), 0), (Ours, ("repair",), 0),
                                (Crate, ("add", [column("new", "Utf8")]), 0), (Crate, ("add", [column("new", "Utf8")]), 1),
                                (Crate, ("append", rows.request(3)), 0), (Crate, ("create", metadata(INDEXES[0])), 1)):
        for outcome, n in crash(folder, side, copy.deepcopy(request), half).items():
            seen[outcome] = seen.get(outcome, 0) + n
    print("crashes: " + ", ".join("%s %d" % pair for pair in sorted(seen.items())))


def main(words):
    folder = tempfile.mkdtemp(prefix="timelake-log-")
    try:
        for part in (tables, rounds, races, crashes):
            if not words or part.__name__ in words:
                start = time.monotonic()
                part(folder)
                print("%s: %.1f s" % (part.__name__, time.monotonic() - start))
    finally:
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
