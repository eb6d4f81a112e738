"""`tlake` opens tables over real servers as it opens them in a folder: the same documents, with the same requests in the
same rounds (tests/load.c holds those), by head, by the chain of metadata, and while a new version comes; and follows numbered objects."""
import io
import json
import os
import re
import shutil
import subprocess
import tempfile

import fastavro

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
WAREHOUSE = os.path.join(TOP, "tests", "data", "warehouse")
TLAKE = os.path.join(TOP, "build", "interop", "tlake-curl")
TABLES = ("iot/trucks", "iot/unknown_codec", "dim/devices")
# Of a store without listings: tests/load.c, cold_with_the_hint.
HINT_HEAD = "1 GET head ok, 1 GET hint ok, 2 STAT v8 not_found, 2 STAT v7 ok"
HINT_CHAIN = "1 GET hint ok, 2 GET v7 ok, 2 STAT v8 not_found, 3 GET list ok" + ", 4 GET manifest ok" * 6
ABSENT = "5: tlake: URL: no such table (absent)\n"
PLAN = ("--where", "time >= '2026-01-03' and device in (3, 4) and site is not null")


def tlake(*arguments, **env):
    done = subprocess.run([TLAKE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **env})
    if b"Sanitizer" in done.stderr or b"runtime error" in done.stderr:
        return "sanitizer: " + done.stderr.decode()[:2000]
    return done.stdout.decode() or "%d: %s" % (done.returncode, done.stderr.decode())


def said(text):
    """The requests of a document as tests/load.c has them."""
    names = (("timelake-head", "head"), ("version-hint.text", "hint"), (r"(v[0-9]*)(\.metadata\.json)?", r"\1"),
             (r"snap-.*\.avro", "list"), (r".*\.avro", "manifest"))
    out = []
    for r in json.loads(text).get("requests", []):
        name = r["key"].rsplit("/", 1)[1]
        name = next((re.sub(p + "$", to, name) for p, to in names if re.fullmatch(p, name)), name)
        out.append("%d %s %s %s" % (r["round"], {"HEAD": "STAT"}.get(r["op"], r["op"]), name, r["result"]))
    return ", ".join(out)


def without_bytes(text):
    """How much a range brought depends on the store: python's server sends all there is."""
    return re.sub(r'("op":"RANGE".*?"bytes":)[0-9]+', r"\1N", text)


# ---- the tables of tests/data/warehouse, as they would be, had they been written somewhere else ----

def replaced(value, before, after):
    if isinstance(value, dict):
        return {k: replaced(v, before, after) for k, v in value.items()}
    if isinstance(value, list):
        return [replaced(v, before, after) for v in value]
    return value.replace(before, after) if isinstance(value, str) else value


def moved_avro(body, before, after, sizes):
    """An Avro file with other paths in it, and the new sizes of the files that it names."""
    reader = fastavro.reader(io.BytesIO(body))
    rows = [replaced(row, before, after) for row in reader]
    for row in rows:
        if "manifest_path" in row:
            row["manifest_length"] = sizes[row["manifest_path"]]
    metadata = {k: v for k, v in reader.metadata.items() if k not in ("avro.schema", "avro.codec")}
    out = io.BytesIO()
    fastavro.writer(out, json.loads(reader.metadata["avro.schema"]), rows, metadata=metadata)
    return out.getvalue()


def moved_head(body, before, after):
    """A head as JSON, with other paths in it; one that is not to be read stays."""
    folder = tempfile.mkdtemp(prefix="timelake-head-")
    name = os.path.join(folder, "head")
    with open(name, "wb") as f:
        f.write(body)
    done = subprocess.run([TLAKE, "head", name, "--recode", "json", "--out", name], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL)
    with open(name, "rb") as f:
        body = f.read()
    shutil.rmtree(folder)
    return body.replace(before.encode(), after.encode()) if done.returncode == 0 else body


def files_of(table, to):
    """The table's files, with `to` as the folder of all tables."""
    before, files, sizes = "s3://demo-lake/wh/", {}, {}
    top = os.path.join(WAREHOUSE, "wh")
    for path, _, names in os.walk(os.path.join(top, table)):
        for name in names:
            with open(os.path.join(path, name), "rb") as f:
                files[os.path.relpath(os.path.join(path, name), top)] = f.read()
    for key in sorted(files, key=lambda k: "snap-" in k) if to != before else ():  # manifests before their lists
        if key.endswith(".avro"):
            files[key] = moved_avro(files[key], before, to, sizes)
            sizes[to + key] = len(files[key])
        elif key.endswith(".json"):
            files[key] = files[key].replace(before.encode(), to.encode())
        elif key.endswith("timelake-head"):
            files[key] = moved_head(files[key], before, to)
    return files


class Both:
    """A server, and a folder with the same files: what is to be equal."""

    def __init__(self, check, name, server, lookup="list"):
        self.check_, self.name, self.server = check, name, server
        self.root = tempfile.mkdtemp(prefix="timelake-folder-")
        self.options = ["-o", "timelake_version_lookup=" + lookup, "--json"]
        self.folder = [*self.options, "-o", "timelake_local_root=" + self.root]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def check(self, what, got, want):
        self.check_(self.name + ": " + what, got, want)

    def put(self, key, body):
        path = os.path.join(self.root, self.server.url.split("/", 3)[3], key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(body)
        self.check("put of " + key, self.server.put(key, body), 200)

    def same(self, table, command, *arguments):
        """One document, requests and rounds included."""
        url = self.server.url + table
        self.check(" ".join([command, *arguments, table]),
                   without_bytes(tlake(command, url, *arguments, *self.options, **self.server.env)),
                   without_bytes(tlake(command, url, *arguments, *self.folder)))

    def watch(self, files):
        """A version comes while it is watched: its metadata first, then hint and head."""
        later = ["iot/trucks/metadata/" + n for n in ("v7.metadata.json", "version-hint.text", "timelake-head")]
        for key, body in files.items():
            if key not in later:
                self.put(key, body)
        self.put(later[1], b"6")
        both = [subprocess.Popen([TLAKE, "watch", self.server.url + "iot/trucks", *options, "--count", "2", "--every", "50ms"],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **self.server.env})
                for options in (self.folder, self.options)]
        try:
            want, got = [p.stdout.readline().decode() for p in both]
            self.check("watch, what is there first", without_bytes(got), without_bytes(want))
            for key in later:
                self.put(key, files[key])
            versions = [json.loads(p.stdout.readline() or b"{}").get("version") for p in both]
            self.check("watch, the new version", versions, [7, 7])
            self.check("watch ends", [p.wait(60) for p in both], [0, 0])
        finally:
            for p in both:
                p.kill()
                p.wait()
                p.stdout.close()


def probed(both):
    """The newest of numbered objects, and nothing where there is none."""
    top = os.path.join(TOP, "tests", "data", "sequenced", "db", "gc_boundary")
    for path, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(path, name), "rb") as f:
                both.put(os.path.relpath(os.path.join(path, name), top), f.read())
    both.same("db/manifest", "probe")
    both.same("db/manifest", "probe", "--no-boundary")
    both.same("db/compactions", "probe")


def over(check, name, server, lookup="list"):
    """All of it over one server. lookup=hint: it cannot list."""
    with Both(check, name, server, lookup) as both:
        both.watch(files_of("iot/trucks", server.url))
        for table in TABLES[1:]:
            for key, body in files_of(table, server.url).items():
                both.put(key, body)
        for table in TABLES:
            both.same(table, "open")
        both.same("iot/trucks", "open", "--no-head")
        both.same("iot/trucks", "open", "--version", "3")
        both.same("iot/trucks", "latest")
        both.same("iot/trucks", "plan", *PLAN)
        if lookup == "list":
            probed(both)
        both.check("no such table", tlake("open", server.url + "iot/none", *both.options[:2], **server.env),
                   ABSENT.replace("URL", server.url + "iot/none"))


def plain(check, name, server):
    """Plain HTTP(S): by head and hint, and with no listing."""
    with Both(check, name, server) as both:
        for key, body in files_of("iot/trucks", server.url).items():
            both.put(key, body)
        for requests, command in ((HINT_HEAD, ["open"]), (HINT_CHAIN, ["open", "--no-head"]), (HINT_HEAD, ["latest"]),
                                  (HINT_HEAD, ["plan", *PLAN]), (HINT_HEAD, ["watch", "--count", "1"])):
            command[1:1] = [server.url + "iot/trucks"]
            got, want = tlake(*command, "--json", **server.env), tlake(*command, *both.folder)
            both.check(command[0] + ", requests", said(got), requests)
            got, want = json.loads(got), json.loads(want)
            for member in set(want) - {"requests", "round_trips"}:
                both.check("%s, %s" % (command[0], member), got.get(member), want[member])
        both.check("no such table", tlake("open", server.url + "iot/none", **server.env),
                   ABSENT.replace("URL", server.url + "iot/none"))
