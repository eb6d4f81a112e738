#!/usr/bin/env python3
"""No commit is lost, doubled or misreported, whatever lies between: several writers a table, many tables, through the proxy of
proxy.py, which cuts, delays, duplicates, truncates and answers 500 and 503 at random, to a real store (SeaweedFS).

tests/interop/commits_faults.py [COUNT [SEED [azurite]]]     COUNT commits and loads (400), from run; ends with
                                                             `N passed, N failed`

Each writer commits batches of one row, one file, and notes what it is told: won, a duplicate, a conflict, ambiguous, failed.
What is not in, for all that was said, is tried again under the same batch id and another file name, until it is. Then the
table is asked, past the proxy: DuckDB sees each batch's row once, from the file of the try that was told it had won, or of
one that was ambiguous; no file of a try that failed; the snapshot's id, version and batch are those that were reported.
A load is never older than a commit that was reported before it began, and has that version's files. A head
that was written is there; looked at past the proxy all the while, it is never older than one it showed before."""
import asyncio
import collections
import json
import multiprocessing
import os
import random
import re
import shutil
import struct
import sys
import tempfile
import threading
import time

import commits
import proxy
import servers
from commits_over import Over

WRITERS, AT_ONCE, OF_A_TABLE = 4, 8, 200  # writers of a table, tables at once, most commits and loads of a table
OUTAGES, OUTAGES_OF_COMMITS = 0.001, 0.03  # of requests, of those that make a version
TIMEOUT = 3000  # ms
FAIR = ("store", "gave up", "ambiguous", "conflict")  # what a faulty network may be the reason of


class Between(proxy.Proxy):
    """The proxy, without what it notes for proxy.py. Now and then nothing of a table gets through for a while: requests are
    cut off, some of them behind the store."""

    def __init__(self, port, seed):
        super().__init__(port, seed)
        self.out = {}  # table: until when

    def note(self, method, key, body, status, fields):
        pass

    def worker_of(self, request):
        return re.search(rb"faults(?:/|%2F)([^/%]+)", request[0])[1].decode()

    def fault(self, request, worker):
        now, commit = time.monotonic(), request[0].startswith(b"PUT ") and b".metadata.json" in request[0].split(b"\r\n")[0]
        if self.random.random() < (OUTAGES_OF_COMMITS if commit else OUTAGES) and self.out.get(worker, 0) < now:
            self.out[worker] = now + 2 + 3 * self.random.random()
            self.faults["outages"] += 1
        if self.out.get(worker, 0) < now:
            return super().fault(request, worker)
        return self.random.choice(("cut before", "cut behind", "cut before" if commit else "503 before"))


def be_between(port, seed, pipe):
    """The proxy's process: tells its port; `quiet` is answered when nothing is on its way, `end` by what it did."""
    async def serve():
        between = Between(port, seed)
        server = await asyncio.start_server(between.serve, "127.0.0.1", 0, limit=1 << 24)
        pipe.send(server.sockets[0].getsockname()[1])
        while True:
            asked = await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
            if asked == "end":
                pipe.send(between.faults)
                return
            while between.busy.total() != 0:
                await asyncio.sleep(0.05)
            pipe.send("quiet")
    asyncio.run(serve())


class Table:
    """One table: what was reported about it, and what of that is not so."""

    def __init__(self, test, number):
        self.test, self.name = test, "t%d" % number
        self.place = os.path.join(test.folder, "faults", self.name)
        self.random = random.Random(test.seed * 1000 + number)
        self.tries = collections.defaultdict(list)  # batch: (file, what was told, version, snapshot)
        self.lock, self.left = threading.Lock(), 0
        self.newest = 1  # that was reported
        self.heads = []

    def wrong(self, *about):
        self.test.judge(False, self.name, *about)

    def told(self, w, *lines):
        """The words of an answer, or the status that an error has."""
        try:
            return w.say(*lines)
        except RuntimeError as e:
            said = re.search(r"\['error', (.*)\]", str(e))
            if said is None:
                self.wrong("the writer died", str(e)[:2000])
                raise
            text = " ".join(re.findall(r"""['"]([^'",]*)['"]""", said.group(1)))
            status = text.split(":")[0]
            if status not in FAIR:
                self.wrong("an error that no fault is the reason of", lines[-1], text)
            return ["error", status]

    def commit(self, w, batch):
        """One try. True: it need not be tried again."""
        lines = w.quick_file([batch], 0)
        path = lines[0].split()[1]
        answer = self.told(w, *lines, "append batch-%d" % batch)
        if answer[0] == "error":
            self.test.count("failed" if answer[1] in ("store", "gave up") else answer[1])
            self.tries[batch].append((path, answer[1], 0, 0))
            return False
        version, files, snapshot, duplicate = int(answer[1]), int(answer[2]), int(answer[4]), answer[5] == "1"
        with self.lock:
            self.newest = max(self.newest, version)
        self.test.judge(files == version - 1, self.name, "files of a commit", answer)
        self.test.count("duplicate" if duplicate else "won")
        self.tries[batch].append((path, "duplicate" if duplicate else "won", version, snapshot))
        return True

    def load(self, w, how):
        with self.lock:
            newest = self.newest
        answer = self.told(w, "load " + how)
        if answer[0] == "error":
            return self.test.count("load failed")
        self.test.count("loaded by the " + answer[2])
        self.test.judge(int(answer[1]) >= newest, self.name, "a load older than a commit before it", answer, newest)
        self.test.judge(int(answer[3]) == int(answer[1]) - 1, self.name, "files of a load", answer)

    def publish(self, w, version):
        answer = self.told(w, "publish")
        if answer[:2] == ["ok", "1"]:
            self.test.judge(self.head() >= version, self.name, "a head that was written and is not there", version)
            self.test.count("heads written")

    def head(self):
        return struct.unpack("<4sBQ", self.test.direct.head(self.place))[2]

    def write(self, n):
        try:
            w = commits.Writer(self.place, True, self.test.store)
            while self.told(w, "load head")[0] == "error":
                pass
            rnd = random.Random(self.random.random())
            batch = 1000 * n
            while True:
                with self.lock:
                    if self.left <= 0:
                        break
                    self.left -= 1
                if rnd.random() < 0.5:
                    self.load(w, rnd.choice(("head", "chain")))
                    continue
                batch += 1
                while not self.commit(w, batch):
                    with self.lock:
                        self.left -= 1
                if rnd.random() < 0.7:
                    self.publish(w, self.tries[batch][-1][2])
            requests = int(w.say("requests")[1])
            w.end()
            self.test.count("requests", requests)
        except Exception as e:
            self.wrong("a writer", repr(e))

    def watch(self, over):
        while not over.is_set():
            try:
                self.heads.append(self.head())
            except (OSError, struct.error):  # there is none yet
                pass
            time.sleep(0.02)

    def run(self):
        w = commits.Writer(self.place, True, self.test.direct)
        w.commit(*["column %s %s %d" % (n, kind, required) for n, kind, required, _ in commits.COLUMNS], "create time truck")
        w.say("publish")
        over = threading.Event()
        self.left = self.test.of_a_table
        threads = [threading.Thread(target=self.watch, args=(over,))]
        threads += [threading.Thread(target=self.write, args=(n,)) for n in range(1, WRITERS + 1)]
        for thread in threads:
            thread.start()
        for thread in threads[1:]:
            thread.join()
        self.test.quiet()
        over.set()
        threads[0].join()
        self.look(w)
        w.end()

    def look(self, w):
        """What is there in the end, read past the proxy, by others than us where rows and snapshots are concerned."""
        answer = w.say("load chain")
        last = int(answer[1])
        there = commits.versions(self.test.direct.objects(self.place))
        self.test.judge(there == set(range(1, last + 1)), self.name, "versions", last, sorted(there)[-3:])
        w.version = last
        with self.test.direct.fs.open_input_stream(self.test.direct.key(commits.metadata_of(w))) as f:
            metadata = json.loads(f.read())
        snapshots = {s["snapshot-id"]: s for s in metadata["snapshots"]}
        batches = collections.Counter(s["summary"]["timelake.batch-id"] for s in snapshots.values())
        with self.test.lock:  # one connection
            query, at = self.test.direct.scan(w, "speed, filename")
            rows = commits.DUCK.execute(query).fetchall()
        files = {int(speed): name.replace(at, w.url) for speed, name in rows}
        self.test.judge(len(files) == len(rows) == last - 1, self.name, "rows", len(rows), len(files), last)
        self.test.judge(set(files) == set(self.tries), self.name, "batches", set(files) ^ set(self.tries))
        self.test.judge(batches == {"batch-%d" % b: 1 for b in self.tries}, self.name, "batch ids", batches.most_common(3))
        for batch, tries in self.tries.items():
            self.judge(batch, tries, files.get(batch), snapshots)
        back = sum(a > b for a, b in zip(self.heads, self.heads[1:]))
        self.test.judge(back == 0, self.name, "the head moved back", back)
        self.test.count("heads looked at", len(self.heads))
        self.test.count("heads older than one before", back)
        self.test.count("batches", len(self.tries))

    def judge(self, batch, tries, file, snapshots):
        about = (self.name, batch, tries, file)
        ambiguous = [t for t in tries if t[1] == "ambiguous"]
        self.test.judge([t[1] for t in tries if t[2]] == [tries[-1][1]], *about)
        if tries[-1][1] == "won":
            path, _, version, snapshot = tries[-1]
            s = snapshots.get(snapshot, {"summary": {}})
            self.test.judge(file == path and s["summary"].get("timelake.batch-id") == "batch-%d" % batch
                            and s.get("sequence-number") == version - 1, *about)
        else:
            self.test.judge(file in [t[0] for t in ambiguous], *about)
            self.test.count("ambiguous, and in")
        self.test.count("batches with an ambiguous try", len(ambiguous) != 0)


class Test:
    def __init__(self, server, port, pipe, folder, count, seed):
        self.folder, self.seed, self.pipe = folder, seed, pipe
        self.direct, self.store = Over(server, folder), Over(server, folder)
        for name in ("AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT"):
            if name in server.env:
                self.store.env[name] = server.env[name].replace(":%d" % server.port, ":%d" % port)
        self.store.timeout = (str(TIMEOUT),)
        self.counts, self.bad, self.checked = collections.Counter(), [], 0
        self.lock, self.asking = threading.Lock(), threading.Lock()
        tables = max(AT_ONCE, round(count / OF_A_TABLE))
        self.of_a_table = -(-count // tables)
        self.waiting = [Table(self, n) for n in range(tables)]

    def judge(self, true, *about):
        with self.asking:
            self.checked += 1
            if not true:
                self.bad.append(about)
                if len(self.bad) <= 10:
                    print("FAILED", *[str(a)[:700] for a in about], flush=True)

    def count(self, what, n=1):
        with self.asking:
            self.counts[what] += n

    def quiet(self):
        with self.lock:
            self.pipe.send("quiet")
            self.pipe.recv()

    def some_tables(self):
        while True:
            with self.lock:
                if not self.waiting:
                    return
                table = self.waiting.pop(0)
            try:
                table.run()
            except Exception as e:
                self.judge(False, table.name, repr(e))

    def run(self):
        threads = [threading.Thread(target=self.some_tables) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.pipe.send("end")
        return self.pipe.recv()


def main():
    count, seed = int((sys.argv[1:2] or ["400"])[0]), int((sys.argv[2:3] or ["7"])[0])
    name = (sys.argv[3:4] or ["seaweedfs"])[0]
    server, start = getattr(servers, name)(), time.monotonic()
    if server is None:
        print("skipped: no %s\n0 passed, 0 failed" % name)
        return 0
    folder = tempfile.mkdtemp(prefix="timelake-faults-")
    with server:
        ours, theirs = multiprocessing.Pipe()
        between = multiprocessing.get_context("fork").Process(target=be_between, args=(server.port, seed, theirs), daemon=True)
        between.start()
        test = Test(server, ours.recv(), ours, folder, count, seed)
        faults = test.run()
        between.join(10)
    shutil.rmtree(folder)
    n = test.counts
    print("commits through faults: %d commits (%s) and %d loads (%s), %d batches, %d HTTP requests, %.0f s" % (
        sum(n[k] for k in ("won", "duplicate", "conflict", "ambiguous", "failed")),
        ", ".join("%d %s" % (n[k], k) for k in ("won", "duplicate", "conflict", "ambiguous", "failed")),
        sum(v for k, v in n.items() if k.startswith("load")),
        ", ".join("%d %s" % (v, k) for k, v in sorted(n.items()) if k.startswith("load")), n["batches"], n["requests"],
        time.monotonic() - start))
    print("commits through faults: %s" % ", ".join("%d %s" % (v, f) for f, v in faults.most_common()))
    print("commits through faults: %d batches had an ambiguous try, %d of those tries were in; %d heads written, %d looked "
          "at, %d older than one before" % (n["batches with an ambiguous try"], n["ambiguous, and in"], n["heads written"],
                                            n["heads looked at"], n["heads older than one before"]))
    print("%d passed, %d failed" % (test.checked - len(test.bad), len(test.bad)))
    return bool(test.bad)


if __name__ == "__main__":
    sys.exit(main())
