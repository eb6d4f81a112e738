#!/usr/bin/env python3
"""adapters/timelake_curl.h and `tlake` over real servers (servers.py), and over one of our own that loses answers, cuts
bodies, redirects writes and stalls.

tests/interop/stores.py     run by tests/interop/run; prints a line a server and `N passed, M failed`"""
import collections
import concurrent.futures
import json
import os
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import servers
import tables_over
from servers import SECRET

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
TOOL = os.path.join(TOP, "build", "interop", "curl")
ENV = dict(servers.S3_ENV, ASAN_OPTIONS="detect_leaks=1")
passed = failed = 0
counting = threading.Lock()


def check(what, got, want):
    global passed, failed
    with counting:
        passed += got == want
        failed += got != want
    if got != want:
        print("FAILED %s: %r, not %r" % (what, got, want))


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

    def date_time_string(self, timestamp=None):
        return "Sun, 06 Nov 2044 08:49:37 GMT" if "skew" in self.path else super().date_time_string(timestamp)

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
        self.seen["asked before"] += "Expect" in self.headers
        if "garbage" in self.path:
            self.wfile.write(b"no HTTP at all\r\n\r\n")
            self.drop()
        elif "lose" in self.path or ("first" in self.path and n == 1):
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
            self.answer(403, b"<Error><Code>RequestTimeTooSkewed</Code></Error>")
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
    check("an answer that is none", ask("absent garbage {}")[0], "unknown 0")
    check("how often it came", seen["PUT /b/garbage"], 1)
    check("small puts ask nobody first", seen["asked before"], 0)
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
    nobody = servers.free_port()
    start = time.time()
    check("nobody there: a create", words(requests("s3://b/", "absent x {}", retries=1,
                                                   AWS_ENDPOINT_URL="http://127.0.0.1:%d" % nobody))[0], "failed 0")
    check("within a second or two", time.time() - start < 5, True)
    code, output = run(tables_over.TLAKE, "doctor", "s3://b/skew", "--json", AWS_ENDPOINT=end)
    check("doctor: the clock", [c["name"] for c in json.loads(output)["checks"]][:2], ["credentials", "clock"])
    check("doctor: 18 years", "clock is 5" in json.loads(output)["checks"][1]["detail"], True)
    code, output = run(tables_over.TLAKE, "doctor", "s3://b/x", AWS_ENDPOINT="http://127.0.0.1:%d" % nobody)
    check("doctor: nobody there", (code, "credentials   NO" in output, "create" in output), (1, True, False))
    server.shutdown()
    print("a bad server: %d requests" % sum(seen.values()))


# ---- moto ----

def moto(server):
    end = {"AWS_ENDPOINT_URL": server.end}
    server.request("PUT", "/lake")
    got = words(requests(
        "s3://lake/t/", "absent a hello absent a again match a two match a three stat a get a range a 1 2 range a 100 5",
        "none-match a get none stat none put b+%20é x list  2 delete a delete a get a race r 12 put c y", **end))
    want = ["ok 0", "precondition 0", "ok 0", "ok 0", "ok 5", "ok 5 0:three", "ok 2 1:hr", "ok 0 100:",
            "not_modified 0 0:", "not_found 0 0:", "not_found 18446744073709551615", "ok 0",
            "ok 0 s3://lake/t/a=5 s3://lake/t/b+%20é=1", "ok 0", "ok 0", "not_found 0 0:", "held 12, winners 1", "ok 0"]
    check("moto", got[:-1], want)
    # b, r, c: two pages
    check("pages", words(requests("s3://lake/t/", "list  2", **end))[:-1],
          ["ok 0 s3://lake/t/b+%20é=1 s3://lake/t/c=1", "ok 0 s3://lake/t/r=10"])
    check("a stale ETag", words(requests("s3://lake/t/", "stat b+%20é put b+%20é y match r z", **end))[2],
          "precondition 0")
    tables_over.over(check, "moto", server)
    # The adapter by itself; the counts are those of tests/load.c.
    check("tables opened", words(requests(
        "s3://demo-lake/wh/", "load iot/trucks chain iot/trucks load iot/unknown_codec load iot/none", **end)),
        ["version 7, 6 files, 2 requests, 1 round trips", "version 7, 6 files, 10 requests, 4 round trips",
         "version 3, 2 files, 7 requests, 4 round trips", "absent", "requests 21 connections 21"])


def python(server):
    with open(os.path.join(server.folder, "a b+c.txt"), "w", encoding="utf-8") as f:
        f.write("0123456789")
    url = server.end + "/"
    got = []
    for name, rest in (("get", ""), ("stat", ""), ("range", " 2 3")):
        code, output = run(TOOL, url, "3", "5000", name, "a b+c.txt", *rest.split())
        got += words(output.splitlines()[:1])
    check("python's http.server", got, ["ok 10 0:0123456789", "ok 10", "ok 10 0:0123456789"])
    check("what it has not", words(requests(url, "get none list x 5 absent x {}"))[:3],
          ["not_found 0 0:", "unsupported 0", "unsupported 0"])
    check("what it does not do", words(requests(url, "absent x {} put x {}", PLAIN_WRITES="1"))[:2],
          ["unsupported 0", "unsupported 0"])
    tables_over.plain(check, "python's http.server", server)


def python_as_s3(server):
    """As S3 without listings: what the metadata names is found too."""
    server.url, server.env = "s3://demo-lake/wh/", {"AWS_ENDPOINT": server.end, "AWS_SKIP_SIGNATURE": "true"}
    tables_over.over(check, "python's http.server as S3", server, lookup="hint")


def nginx(server):
    tables_over.plain(check, "nginx", server)
    check("an authority that nobody knows", "certificate" in tables_over.tlake("open", server.url + "iot/trucks"), True)


def doctor(name, no, verdict, *arguments, at="", count=("--count", "1"), **more):
    """What tlake doctor finds: the names of the checks that fail, and who is safe (readers, writers)."""
    def look(server):
        code, output = run(tables_over.TLAKE, "doctor", server.url + at, *count, "--json", *arguments,
                           **dict(server.env, **more))
        try:
            found = json.loads(output)
        except ValueError:
            found = {"checks": [{"name": output, "ok": False}]}
        check(name + ": doctor", [c["name"] for c in found["checks"] if not c["ok"]], no)
        check(name + ": doctor's verdict", (found.get("read"), found.get("write"), code),
              (*verdict, 0 if verdict[0] and verdict[1] else 1))
        if "://" in server.url and not server.url.startswith("http") and not more:
            check(name + ": doctor leaves nothing",
                  words(requests(server.url, "list %stlake-doctor 0" % (at and at + "/"), **server.env))[0], "ok 0")
    return look


CONDITIONS = ["create", "replace", "create race", "replace race"]


def tigris(server):
    """On Tigris, which its endpoint tells, a listing looks for what is newer."""
    for host, word, other in (("127.0.0.1", "HEAD", "LIST"), ("tigris.localhost", "LIST", "HEAD")):
        watch = subprocess.Popen([tables_over.TLAKE, "watch", server.url + "iot/trucks", "--every", "20ms", "--trace", "-o", "allow_http=true"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(
                                     os.environ, **dict(server.env, AWS_ENDPOINT="http://%s:%d" % (host, server.port))))
        lines = [watch.stderr.readline() for _ in range(8)]
        watch.kill()
        watch.communicate()
        check("a warm check, " + host, [any(" %s " % w in line and "v8.metadata" in line for line in lines) for w in (word, other)],
              [True, False])


def accounts(server):
    """The account is that of abfss://, unless one is said: then other accounts are other stores."""
    said = {k: v for k, v in server.env.items() if k != "AZURE_STORAGE_ACCOUNT_NAME"}
    at = ".dfs.core.windows.net/wh/iot/trucks"
    for account, env, want in (("devstoreaccount1", said, (0, True)), ("devstoreaccount1", server.env, (0, True)),
                               ("another", server.env, (1, False))):
        code, output = run(tables_over.TLAKE, "open", "abfss://demo-lake@" + account + at, **env)
        check("the account " + account, (code, "a key of another store" not in output), want)


def secrets(server):
    """Neither errors nor traces nor what HTTP says have credentials in them."""
    url, env = server.url + "iot/trucks", dict(server.env, AWS_SESSION_TOKEN="tokentokentoken")
    for arguments in (["open", url, "--verbose", "--trace"], ["open", server.url + "none", "--verbose"],
                      ["open", url, "-o", "aws_secret_acess_key=" + SECRET],
                      ["open", url, "-o", "aws_endpoint=http://127.0.0.1:1", "--trace"],
                      ["open", url, "-o", "aws_endpoint=http://user:%s@127.0.0.1:1" % SECRET],
                      ["open", "https://user:%s@127.0.0.1:1/x" % SECRET], ["open", url, "-o", SECRET]):
        code, output = run(tables_over.TLAKE, *arguments, **env)  # looks for SECRET
        check("no token in " + " ".join(arguments[:1]), "tokentokentoken" in output or "Signature=" in output, False)
        check("and something was said", len(output) > 20, True)
    code, output = run(tables_over.TLAKE, "open", url, "--verbose", **dict(env, AWS_USER_AGENT="lake/1", AWS_TIMEOUT="never"))
    check("a client option in the environment", "User-Agent: lake/1" in output, True)
    code, output = run(tables_over.TLAKE, "open", url, "--verbose", "-o", "user_agent=lake/2", **dict(env, AWS_USER_AGENT="no"))
    check("the command line wins", "User-Agent: lake/2" in output, True)


def each(name, *tests):
    """A server, and what is tried over it."""
    server, start = getattr(servers, name)(), time.time()
    if server is None:
        print("skipped: no " + name.replace("_", "-"))
        return
    with server:
        for test in tests:
            test(server)
    print("%s: %.1f s" % (name.replace("_", "-"), time.time() - start))


def main():
    def over(name):
        return lambda server: tables_over.over(check, name, server)

    wanted = (
        ("moto", moto, secrets, doctor("moto", ["keep-alive"], (True, True))),
        ("python", python, doctor("python", ["put", "range", "list", "keep-alive"], (True, False), at="iot/trucks"),
         doctor("python, nothing there", ["put", "get", "list", "keep-alive"], (False, False), at="none")),
        ("python", python_as_s3),
        ("nginx", nginx, doctor("nginx", ["put", "list"], (True, False), at="iot/trucks")),
        ("azurite", over("azurite"), accounts, doctor("azurite", [], (True, True))),
        ("fake_gcs", over("fake_gcs"), doctor("fake-gcs-server", ["put"], (True, False), at="iot/trucks")),
        # To be found out.
        ("rclone_1_75", doctor("rclone 1.75.2", CONDITIONS, (True, False)),
         doctor("rclone 1.75.2, one writer", CONDITIONS, (True, True), "--one-writer")),
        ("s3s_fs", doctor("s3s-fs", ["list", "create race", "replace race"], (True, False), count=())))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # most of it is waiting
        all_of_it = [pool.submit(bad_server), pool.submit(
            each, "seaweedfs", over("seaweedfs"), tigris, doctor("seaweedfs", [], (True, True)),
            doctor("seaweedfs, a wrong key", ["credentials", "put", "get", "list"], (False, False),
                   AWS_SECRET_ACCESS_KEY="another"))]
        all_of_it += [pool.submit(each, *some) for some in wanted]
        for one in all_of_it:
            one.result()
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
