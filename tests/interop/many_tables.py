#!/usr/bin/env python3
"""examples/follow_uv.c follows 1,000 tables in one thread: over S3 (seaweedfs) while versions come, over HTTPS (nginx), and in a
folder. Every version of each table is printed once, nothing fails, a signal ends it.

Usage: many_tables.py [TABLES]     (run by tests/interop/run; the last line: N passed, N failed)"""
import http.server
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import peers
import servers
import tables_over

TOOL = os.path.join(peers.TOP, "build", "interop", "follow_uv")
TABLES = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
MOVING = TABLES // 50
LATER = ("v7.metadata.json", "version-hint.text", "timelake-head")
passed = failed = 0


def check(what, got, want):
    global passed, failed
    if got == want:
        passed += 1
    else:
        failed += 1
        print("FAILED %s: %.400r, not %.400r" % (what, got, want))


def name(i):
    return "many/iot/t%05d" % i  # as long as many/iot/trucks, whose files are copied


def trucks(url):
    """iot/trucks moved to many/: with its paths in plain sight, where others as long can replace them."""
    return {"many/" + key: body for key, body in tables_over.files_of("iot/trucks", url + "many/").items()}


def copied(files, i, wanted):
    for key, body in sorted(files.items()):
        if "/metadata/" in key and wanted(key.rsplit("/", 1)[1]):
            yield key.replace("many/iot/trucks", name(i)), body.replace(b"many/iot/trucks", name(i).encode())


def follow(urls, *options, **env):
    p = subprocess.Popen([TOOL, "--every", "1000", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, env={**os.environ, **env})
    p.stdin.write("\n".join(urls) + "\n")
    p.stdin.close()
    p.stdin = None
    os.set_blocking(p.stdout.fileno(), False)
    return p


def printed(p, until, seconds):
    """What it prints until there are so many lines."""
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end and text.count(b"\n") < until:
        try:
            text += os.read(p.stdout.fileno(), 1 << 16)
        except BlockingIOError:
            time.sleep(0.02)
    return text.decode().splitlines()


def threads(p):
    with open("/proc/%d/status" % p.pid) as f:
        return int(re.search(r"Threads:\s*(\d+)", f.read()).group(1))


def ends(what, p, connections):
    p.send_signal(signal.SIGINT)
    _, errors = p.communicate(timeout=60)
    check(what + ": ends at a signal", p.returncode, 0)
    said = re.search(r"(\d+) tables, .* (\d+) changes, (\d+) failures, .*, (\d+) connections", errors)
    check(what + ": the sum", said is not None and [int(said.group(1)), int(said.group(3)), int(said.group(4)) <= connections],
          [TABLES, 0, True])
    print("%s: %s" % (what, errors.strip().splitlines()[-1] if errors.strip() else "nothing said"))


def follow_server(what, server, connections, moving):
    files = trucks(server.url)
    for i in range(TABLES):
        wanted = (lambda n: n not in LATER) if i < moving else (lambda n: n in LATER)
        for key, body in copied(files, i, wanted):
            server.put(key, body)
        if i < moving:
            server.put(name(i) + "/metadata/version-hint.text", b"6")
    p = follow([server.url + name(i) for i in range(TABLES)], **server.env)
    try:
        first = printed(p, TABLES, 90)
        check(what + ": what is there", sorted(first),
              sorted("%s version %d" % (server.url + name(i), 6 if i < moving else 7) for i in range(TABLES)))
        check(what + ": threads", threads(p), 1)
        for i in range(moving):
            for key, body in sorted(copied(files, i, lambda n: n in LATER), key=lambda f: "v7." not in f[0]):
                server.put(key, body)
        check(what + ": what came", sorted(printed(p, moving, 90)),
              sorted(server.url + name(i) + " version 7" for i in range(moving)))
        time.sleep(2)
        ends(what, p, connections)
    finally:
        p.kill()
        p.wait()


def follow_folder():
    with tempfile.TemporaryDirectory(prefix="timelake-many-") as root:
        files = trucks("s3://demo-lake/wh/")
        for i in range(TABLES):
            for key, body in copied(files, i, lambda n: n in LATER):
                path = os.path.join(root, "wh", key)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as f:
                    f.write(body)
        p = follow(["s3://demo-lake/wh/" + name(i) for i in range(TABLES)], "--local-root", root)
        try:
            check("folder: what is there", len(printed(p, TABLES, 60)), TABLES)
            ends("folder", p, 0)
        finally:
            p.kill()
            p.wait()


class Busy(http.server.BaseHTTPRequestHandler):
    """Answers each first request for an object by 503, and when to come again."""
    protocol_version = "HTTP/1.1"
    files, seen = {}, set()

    def log_message(self, *_):
        pass

    def do_GET(self):
        body, status = self.files.get(self.path), 200
        if self.path not in self.seen:
            self.seen.add(self.path)
            body, status = b"", 503
        self.send_response(404 if body is None else status)
        if status == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body or b"")

    do_HEAD = do_GET


def follow_busy():
    """Nothing is sent anew by curl: the operations sleep, on timers of the loop."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/" % server.server_port
    for key, body in trucks(url).items():
        Busy.files["/" + key] = body
    p = follow([url + "many/iot/trucks"], "--retries", "0")
    try:
        check("busy: it comes", printed(p, 1, 30), [url + "many/iot/trucks version 7"])
        check("busy: and was asked for twice", {"/many/iot/trucks/metadata/timelake-head"} <= Busy.seen, True)
        p.send_signal(signal.SIGINT)
        _, errors = p.communicate(timeout=30)
        check("busy: without failures", (p.returncode, " 0 failures" in errors), (0, True))
    finally:
        p.kill()
        p.wait()
        server.shutdown()


def main():
    follow_folder()
    follow_busy()
    for what, connections, moving in (("seaweedfs", 64, MOVING), ("nginx", 64, 0)):
        server = getattr(servers, what)()
        if server is None:
            print("skipped: no " + what)
            continue
        with server:
            follow_server(what, server, connections, moving)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
