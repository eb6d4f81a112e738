#!/usr/bin/env python3
"""Tables that our commits make on real servers (servers.py): SeaweedFS with S3's protocol, and Azurite.

Usage: commits_over.py [WORD...]     (run by tests/interop/run; with words only what has one of them in its name)

As commits.py in folders: a mixed history of 200 commits, whole Timelake's among them where that has been built, read over the
store by DuckDB, PyIceberg, tlake, and in a copy by timelake-format; then eight processes that commit at once, 50 times each:
ours, and half of them Timelake's. Every batch is in exactly once, the head is never older than one it showed before.
Without FULL=1 it is a fifth of that, of Azurite less.
The last line: N passed, N failed."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import pyarrow.fs

import commits
import peers
import servers
from commits import BUILD, DUCK, check


FULL = os.environ.get("FULL", "0") == "1"
COMMITS = commits.COMMITS if FULL else commits.COMMITS // 5
BATCHES = {"seaweedfs": 50 if FULL else 10, "azurite": 50 if FULL else 4}


class Over:
    """Tables on a server. In `folder` are copies of their objects, by the same names."""
    tool, tlake = os.path.join(BUILD, "commit-curl"), os.path.join(BUILD, "tlake-curl")
    remote, timeout, pause = True, (), 0.02

    def __init__(self, server, folder):
        self.server, self.folder = server, folder
        end = server.end[len("http://"):]
        # Timelake's client wants to be told that it may speak without TLS.
        self.env = dict(os.environ, PEER_AT="%s=%s/" % (server.url, folder), AWS_ALLOW_HTTP="true", AZURE_ALLOW_HTTP="true",
                        AWS_REGION="us-east-1", **server.env)
        self.properties = {"s3.endpoint": server.end, "s3.access-key-id": servers.KEY, "s3.secret-access-key": servers.SECRET,
                           "s3.region": "us-east-1"}
        if server.url.startswith("az:"):
            self.fs = pyarrow.fs.AzureFileSystem("devstoreaccount1", account_key=servers.AZURE_KEY, blob_storage_authority=end,
                                                 blob_storage_scheme="http", dfs_storage_authority=end, dfs_storage_scheme="http")
        else:
            self.fs = pyarrow.fs.S3FileSystem(access_key=servers.KEY, secret_key=servers.SECRET, endpoint_override=end, scheme="http", region="us-east-1")
            DUCK.execute("CREATE OR REPLACE SECRET (TYPE s3, KEY_ID '%s', SECRET '%s', ENDPOINT '%s', USE_SSL false, "
                         "URL_STYLE 'path', REGION 'us-east-1')" % (servers.KEY, servers.SECRET, end))

    def url(self, place):
        return self.server.url + os.path.relpath(place, self.folder)

    def key(self, url):
        return url.split("://", 1)[1]

    def name(self, place):
        """The table for Timelake."""
        return os.path.relpath(place, self.folder).replace("/", ".")

    def readable(self, place):
        """Copies what has come, of the metadata the newest; the table's URL, which PEER_AT maps onto the copy."""
        url, there = self.url(place), self.objects(place)
        newest = "v%d.metadata.json" % max(commits.versions(there))
        for there in there:
            path = place + there[len(url):]
            if (path.endswith((newest, "/timelake-head", "/version-hint.text"))
                    or (path.endswith((".avro", ".parquet")) and not os.path.exists(path))):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with self.fs.open_input_stream(self.key(there)) as f, open(path, "wb") as out:
                    out.write(f.read())
        return url

    def scan(self, w, columns):
        """DuckDB's scan of a table, in a copy where it has no client for the store; which names of files it will have then."""
        if self.server.url.startswith("az:"):
            self.readable(w.place)
            return "SELECT %s FROM iceberg_scan('%s', allow_moved_paths = true, version = '%d') ORDER BY 1" % (
                columns, w.place, w.version), w.place
        return "SELECT %s FROM iceberg_scan('%s') ORDER BY 1" % (columns, commits.metadata_of(w)), w.url

    def timelake(self, place, count, first):
        return subprocess.Popen([peers.TIMELAKE, "append", self.server.url.rstrip("/"), self.name(place), str(count), str(first)],
                                stdout=subprocess.PIPE, text=True, env=self.env)

    def rows(self, writer, count):
        return [((k + 10 * writer * 1000000) / 2, k % 4, "writer %d" % writer) for k in range(10 * count)]

    def append_theirs(self, place, number):
        said = self.timelake(place, 1, number).communicate()[0]
        return int(said.split()[0]), self.rows(number, 1)

    def writers(self, place, count, batches):
        firsts = range(101, 101 + count)
        return [self.timelake(place, batches, first) for first in firsts], [r for first in firsts for r in self.rows(first, batches)]

    def head(self, place):
        with self.fs.open_input_file(self.key(self.url(place)) + "/metadata/timelake-head") as f:
            return f.read_at(13, 0)

    def copy(self, place, url, name):
        to = self.url(place) + "/" + name
        with self.fs.open_input_stream(self.key(url)) as f, self.fs.open_output_stream(self.key(to)) as out:
            out.write(f.read())
        return to

    def objects(self, place):
        base = self.key(self.url(place))
        found = self.fs.get_file_info(pyarrow.fs.FileSelector(base, recursive=True))
        return {self.server.url.split("://")[0] + "://" + f.path for f in found if f.is_file}


def look_copied(w, what, rows):
    """What has no client for Azure in DuckDB or PyIceberg, they read in a copy."""
    want = sorted(commits.expected(w) + list(rows), key=lambda r: r[0])
    try:
        ours = commits.by_tlake(w, "--no-head")
        check(what + ": tlake's version", ours[0] != w.version and ours[0])
        check(what + ": tlake by the head", commits.by_tlake(w) != ours and "other files than by the chain")
        for way in ("head", "chain"):
            theirs = commits.by_peer(w, way)
            check(what + ": timelake-format by the " + way, theirs != ours and (theirs[0], theirs[1][:1], ours[1][:1]))
        got = DUCK.execute(w.store.scan(w, "speed, truck, site")[0]).fetchall()
        check(what + ": DuckDB's rows", got != want and "%d rows, not %d" % (len(got), len(want)))
        check(what + ": the model's files", not set(w.rows) <= {f.split()[0] for f in ours[1]} and "some are missing")
    except Exception as e:
        check(what, e)


def over(name, words):
    if words and not any(name in word or word in name for word in words):
        return
    server = getattr(servers, name)()
    if server is None:
        print("skipped: no " + name)
        return
    whole, read = peers.have_timelake(), look_copied if name == "azurite" else commits.look
    folder = tempfile.mkdtemp(prefix="timelake-over-")
    with server:
        store = Over(server, folder)
        parts = [("%s: 8 writers" % name, lambda what: commits.together(folder, what, 8, 0, BATCHES[name], store, read)),
                 ("%s: 4 writers and 4 of Timelake" % name, lambda what: commits.together(folder, what, 4, 4, BATCHES[name], store, read))]
        if name == "seaweedfs":
            parts[:0] = [("%s: mixed history" % name,
                          lambda what: commits.mixed_history(folder, COMMITS, store, 2 if whole else 0))]
        for what, part in parts:
            if words and not any(word in what for word in words):
                continue
            if "Timelake" in what and not whole:
                print("skipped: %s: the whole Timelake crate as a writer: FULL=1 builds it" % what)
                continue
            start = time.monotonic()
            part(what)
            print("%s: %.1f s" % (what, time.monotonic() - start), flush=True)
    shutil.rmtree(folder)


def main(words):
    for name in ("seaweedfs", "azurite"):
        over(name, words)
    print("seconds in readers: " + ", ".join("%s %.1f" % c for c in sorted(commits.clock.items())))
    print("%d passed, %d failed" % (commits.passed, commits.failed))
    return commits.failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
