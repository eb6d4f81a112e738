#!/usr/bin/env python3
"""adapters/timelake_curl.h and `tlake` over real servers, started here: moto, python's http.server,
and a server of our own that loses answers, cuts bodies, redirects writes and stalls.

tests/interop/stores.py     run by tests/interop/run; prints a line a server and `N passed, M failed`"""
import collections
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
TOOL = os.path.join(TOP, "build", "interop", "curl")
WAREHOUSE = os.path.join(TOP, "tests", "data", "warehouse")
TLAKE = os.path.join(TOP, "build", "interop", "tlake-curl")
BIN = os.path.dirname(sys.executable)
SECRET = "secretsecretsecretsecret"
ENV = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE0000TEST", "AWS_SECRET_ACCESS_KEY": SECRET, "ASAN_OPTIONS": "detect_leaks=1"}
passed = failed = 0


def check(what, got, want):
    global passed, failed
    if got == want:
        passed += 1
    else:
        failed += 1
        print("FAILED %s: %r, not %r" % (what, got, want))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A program that listens on a port; stopped by its own process at the end."""

    def __init__(self, *command, port=None, **more):
        self.port = port or free_port()
        self.process = subprocess.Popen([c.replace("PORT", str(self.port)) for c in command], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, **more)

    def __enter__(self):
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.1)
        raise SystemExit("a server does not start: %s" % self.process.args[0])

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def request(self, method, path, body=None, headers={}):
        c = http.client.HTTPConnection("127.0.0.1", self.port)
        c.request(method, path, body, headers)
        status = c.getresponse().status
        c.close()
        return status


def run(*command, **env):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **ENV, **env})
    output = done.stdout.decode()
    if SECRET in output or "Sanitizer" in output or "runtime error" in output:
        check("clean output of " + " ".join(command), output[-1500:], "")
    return done.returncode, output


def requests(url, *operations, retries=3, timeout=5000, **env):
    """First words of each line that curl_tool prints."""
    code, output = run(TOOL, url, str(retries), str(timeout), *" ".join(operations).split(" "), **env)
    check("exit code over " + url, code, 0)
    return output.splitlines()


def words(lines):
    return [line.split(" |")[0].rstrip() for line in lines]


# ---- a server that misbehaves as its path says ----

class Bad(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = collections.Counter()

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.command != "HEAD" else b"")

    def drop(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_PUT(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        n = self.hit()
        if "lose" in self.path or ("first" in self.path and n == 1):
            self.drop()  # taken whole, never answered
        elif "busy" in self.path and n == 1:
            self.answer(429, Retry_After="1")
        elif "conflict" in self.path and n < 3:
            self.answer(409, b"<Error><Code>ConditionalRequestConflict</Code></Error>")
        elif "fail" in self.path:
            self.answer(500, b"<Error><Code>InternalError</Code></Error>")
        elif "away" in self.path:
            self.answer(307, Location="/b/elsewhere")
        elif "stall" in self.path:
            time.sleep(4)
            self.drop()
        else:
            body = b"said " * 30000 if "wordy" in self.path else b"<Result/>"
            self.answer(200, body, ETag='"e%d"' % n)

    def do_GET(self):
        n = self.hit()
        if "first" in self.path and n == 1:
            self.drop()
        elif "skew" in self.path and n == 1:
            self.send_response_only(403)
            self.send_header("Date", "Sun, 06 Nov 2044 08:49:37 GMT")
            body = b"<Error><Code>RequestTimeTooSkewed</Code></Error>"
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif "skew" in self.path:
            self.answer(200, self.headers["x-amz-date"].encode()[:8], ETag='"e"')
        elif "cut" in self.path:
            self.answer(200, b"abc", Content_Length="10")
            self.drop()
        elif "large" in self.path:
            self.answer(200, b"x" * 1000000)
        elif "list-type" in self.path:  # a page of 5,000 long names, or one that never ends
            name = b"<Contents><Key>p/%s</Key><Size>1</Size></Contents>" % (b"x" * 1000)
            body = b"<ListBucketResult><IsTruncated>false</IsTruncated>" + name * 5000
            self.answer(200, body * 8 if "prefix=endless" in self.path else body + b"</ListBucketResult>")
        elif "busy" in self.path and n < 3:
            self.answer(503, b"<Error><Code>SlowDown</Code></Error>")
        elif "echo" in self.path:
            self.answer(403, b"<Error><Code>Denied</Code><Message>%s</Message></Error>" % SECRET.encode())
        else:
            self.answer(200, b"body", ETag='"e"')

    do_HEAD = do_GET

    def do_DELETE(self):
        n = self.hit()
        if "wordy" in self.path:
            self.answer(200, b"said " * 30000)
        else:
            self.answer(503 if n == 1 else 204)

    def hit(self):
        key = self.command + " " + self.path
        self.seen[key] += 1
        return self.seen[key]


def bad_server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bad)
    server.handle_error = lambda *_: None  # connections die here
    threading.Thread(target=server.serve_forever, daemon=True).start()
    end = "http://127.0.0.1:%d" % server.server_address[1]
    seen = Bad.seen

    def ask(*operations, **more):
        return words(requests("s3://b/", *operations, AWS_ENDPOINT_URL=end, **more))

    # A put with a condition is sent once, whatever happens to its connection, and its lost answer is unknown.
    check("a lost create on a kept connection", ask("get x get x absent lose {}")[2], "unknown 0")
    check("how often it came", seen["PUT /b/lose"], 1)
    check("a lost update", ask("get x match lose2 {}")[1], "unknown 0")
    check("how often it came", seen["PUT /b/lose2"], 1)
    check("a lost create of nothing", ask("get x absent lose3 ")[1], "unknown 0")
    check("how often it came", seen["PUT /b/lose3"], 1)
    check("500 to a create", ask("absent fail {}")[0], "unknown 0")
    check("how often it came", seen["PUT /b/fail"], 1)
    check("a stalled create", ask("absent stall {}", timeout=1000)[0], "unknown 0")
    check("how often it came", seen["PUT /b/stall"], 1)
    # What was certainly not applied is sent anew.
    check("429 to a create", ask("absent busy {}")[0], "ok 0")
    check("409 conflict to a create", ask("absent conflict {}")[0], "ok 0")
    check("how often it came", seen["PUT /b/conflict"], 3)
    check("409 conflict, no retries", ask("absent conflict-again {}", retries=0)[0], "failed 0")
    # Writes that may be repeated are.
    check("a lost put", ask("put first {}")[0], "ok 0")
    check("a lost delete", ask("delete first")[0], "ok 0")
    check("a put that keeps failing", ask("put fail2 {}", retries=1)[0], "unknown 0")
    # Answers to writes may say what they like.
    check("a body in the answer", ask("absent told {} delete told put wordy {} delete wordy")[:-1],
          ["ok 0"] * 4)
    # Redirects of writes are not followed.
    check("307 to a put", ask("put away {}")[0], "failed 0")
    check("how often elsewhere", seen["PUT /b/elsewhere"], 0)
    # Reads.
    check("a dropped read", ask("get first")[0], "ok 4 0:body")
    check("503 to reads", ask("get busy")[0], "ok 4 0:body")
    check("a body cut off", ask("get cut", retries=1)[0], "failed 0 0:")
    check("too large", ask("get large")[0], "failed 0 0:")
    check("how often it came", seen["GET /b/large"], 1)
    check("a large page", len(ask("list p/ 0")[0].split()), 5002)
    check("an endless page", ask("list endless 0")[0], "failed 0")
    check("how often it came", seen["GET /b?encoding-type=url&list-type=2&prefix=endless"], 1)
    check("a clock 18 years off", ask("get skew get skew")[:2], ["ok 8 0:20441106", "ok 8 0:20441106"])
    check("a secret sent back", ask("get echo")[0], "failed 0 0:")
    nobody = free_port()
    start = time.time()
    check("nobody there: a create", words(requests("s3://b/", "absent x {}", retries=1,
                                                   AWS_ENDPOINT_URL="http://127.0.0.1:%d" % nobody))[0], "failed 0")
    check("within a second or two", time.time() - start < 3, True)
    server.shutdown()
    print("a bad server: %d requests" % sum(seen.values()))


# ---- moto ----

def moto():
    with Server(os.path.join(BIN, "moto_server"), "-H", "127.0.0.1", "-p", "PORT") as server:
        end = "http://127.0.0.1:%d" % server.port
        server.request("PUT", "/lake")
        got = words(requests(
            "s3://lake/t/", "absent a hello absent a again match a two match a three stat a get a range a 1 2 range a 100 5",
            "none-match a get none stat none put b+%20é x list  2 delete a delete a get a race r 12 put c y",
            AWS_ENDPOINT_URL=end))
        want = ["ok 0", "precondition 0", "ok 0", "ok 0", "ok 5", "ok 5 0:three", "ok 2 1:hr", "ok 0 100:",
                "not_modified 0 0:", "not_found 0 0:", "not_found 18446744073709551615", "ok 0",
                "ok 0 s3://lake/t/a=5 s3://lake/t/b+%20é=1", "ok 0", "ok 0", "not_found 0 0:", "held 12, winners 1", "ok 0"]
        check("moto", got[:-1], want)
        # b, r, c: two pages
        check("pages", words(requests("s3://lake/t/", "list  2", AWS_ENDPOINT_URL=end))[:-1],
              ["ok 0 s3://lake/t/b+%20é=1 s3://lake/t/c=1", "ok 0 s3://lake/t/r=10"])
        check("a stale ETag", words(requests("s3://lake/t/", "stat b+%20é put b+%20é y match r z",
                                             AWS_ENDPOINT_URL=end))[2], "precondition 0")
        # Real tables, by head and by listing and chain; the counts are those of tests/load.c.
        for table in ("iot/trucks", "iot/unknown_codec"):
            upload(server, os.path.join(WAREHOUSE, "wh", table), "demo-lake/wh/" + table)
        check("tables opened", words(requests(
            "s3://demo-lake/wh/", "load iot/trucks chain iot/trucks load iot/unknown_codec load iot/none",
            AWS_ENDPOINT_URL=end)),
            ["version 7, 6 files, 2 requests, 1 round trips", "version 7, 6 files, 10 requests, 4 round trips",
             "version 3, 2 files, 7 requests, 4 round trips", "absent", "requests 21 connections 21"])
        print("moto: %d operations" % (len(want) + 8))


def upload(server, folder, to):
    """A folder's files as objects; the bucket is made first."""
    server.request("PUT", "/" + to.split("/")[0])
    for path, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(path, name), "rb") as f:
                key = os.path.join(to, os.path.relpath(os.path.join(path, name), folder))
                check("upload of " + key, server.request("PUT", "/" + key, f.read()), 200)


def python_server(folder):
    with open(os.path.join(folder, "a b+c.txt"), "w", encoding="utf-8") as f:
        f.write("0123456789")
    with Server(sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, "PORT") as server:
        url = "http://127.0.0.1:%d/" % server.port
        got = []
        for name, rest in (("get", ""), ("stat", ""), ("range", " 2 3")):
            code, output = run(TOOL, url, "3", "5000", name, "a b+c.txt", *rest.split())
            got += words(output.splitlines()[:1])
        check("python's http.server", got, ["ok 10 0:0123456789", "ok 10", "ok 10 0:0123456789"])
        check("what it has not", words(requests(url, "get none list x 5 absent x {}"))[:3],
              ["not_found 0 0:", "unsupported 0", "unsupported 0"])
        check("what it does not do", words(requests(url, "absent x {} put x {}", PLAIN_WRITES="1"))[:2],
              ["unsupported 0", "unsupported 0"])
        print("python's http.server: 7 operations")


def main():
    folder = tempfile.mkdtemp(prefix="timelake-stores-")
    try:
        bad_server()
        if os.path.exists(os.path.join(BIN, "moto_server")):
            moto()
        else:
            print("skipped: no moto")
        python_server(folder)
    finally:
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
