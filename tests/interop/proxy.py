#!/usr/bin/env python3
"""Every completion is true, whatever lies between: requests of every kind go through a proxy that cuts, delays,
duplicates, truncates and answers 500 and 503 at random, to a real store (SeaweedFS).

tests/interop/proxy.py [COUNT [SEED]]      COUNT requests (3000), from run; ends with `N passed, N failed`

The proxy sees what the store really answered, so it knows what was applied. Each worker has a folder of its own and asks
one thing at a time; what it is told is held against that: a put is only reported applied when it was, only as not applied
when it was not, absent only where nothing is; bodies, ETags, listings are those that are there. In the end the store
itself is asked, past the proxy."""
import asyncio
import collections
import os
import random
import sys
import urllib.parse
import zlib

import servers

HERE = os.path.dirname(os.path.abspath(__file__))
TOOL = os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "interop", "ops")
WORKERS, NAMES, STALL = 24, 4, 7.5  # s, longer than the client waits (3, 6 in all)
FAULTS = ("cut before", 3), ("cut behind", 4), ("cut head", 2), ("cut body", 3), ("delay before", 4), ("delay behind", 4), \
    ("stall before", 0.05), ("stall behind", 0.05), ("twice, first", 3), ("twice, second", 3), ("answer twice", 4), \
    ("500 before", 2), ("503 before", 2), ("500 behind", 2), ("503 behind", 2), ("429 before", 1), ("none", 60.9)
APPLIED = (200, 201, 204)


def body_of(name, size):
    return (name + " ").encode().ljust(size, b"x")


class Proxy:
    def __init__(self, port, seed):
        self.upstream, self.random = port, random.Random(seed)
        self.busy = collections.Counter()   # what is on its way, by key
        self.state = {}                     # key: (name, size, ETag), as the store's answers tell
        self.history = collections.defaultdict(list)  # key: states since the worker began its request
        self.applied = collections.Counter()  # name of a body: how often the store took it
        self.twice = set()                  # names of bodies that the proxy itself sent twice
        self.faults = collections.Counter()
        self.faulty = collections.Counter()  # by key
        self.changed = asyncio.Condition()
        self.tasks = set()                  # of connections: asyncio itself does not hold on to them

    def set(self, key, state):
        self.state[key] = state
        self.history[key].append(state)

    async def read(self, reader, head=False, method=""):
        """Head and body of a message; None when there is none."""
        try:
            data = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        fields = {}
        for line in data.decode("latin-1").split("\r\n")[1:]:
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        body = b""
        if method == "HEAD" or data.split()[1] in (b"204", b"304"):
            pass
        elif fields.get("transfer-encoding") == "chunked":
            while True:
                line = await reader.readuntil(b"\r\n")
                body += line + await reader.readexactly(int(line, 16) + 2)
                if int(line, 16) == 0:
                    break
        else:
            try:
                body = await reader.readexactly(int(fields.get("content-length", 0)))
            except (asyncio.IncompleteReadError, ConnectionError):
                return None
        return data, fields, body

    async def forward(self, request):
        """The store's answer; what it did is noted."""
        data, _, body = request
        method, path = data.split(b" ", 2)[:2]
        key = urllib.parse.unquote(path.split(b"?")[0].decode())
        reader, writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        writer.write(data + body)
        answer = await self.read(reader, method=method.decode())
        writer.close()
        self.note(method, key, body, int(answer[0].split()[1]), answer[1])
        return answer

    def note(self, method, key, body, status, fields):
        if method == b"PUT" and status in APPLIED:
            name = body.split(b" ")[0].decode()
            self.applied[name] += 1
            self.set(key, (name, len(body), fields["etag"]))
        elif method == b"DELETE" and status in APPLIED:
            self.set(key, None)

    def fault(self, request, worker):
        return self.random.choices([f for f, _ in FAULTS], [n for _, n in FAULTS])[0]

    def worker_of(self, request):
        key = urllib.parse.unquote(request[0].split(b" ", 2)[1].split(b"?")[0].decode())
        return key.split("/")[2] if key.count("/") > 1 else urllib.parse.unquote(
            request[0].split(b"prefix=")[1].split(b"&")[0].split(b" ")[0].decode()).split("/")[0]

    async def serve(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        try:
            while True:
                request = await self.read(reader)
                if request is None:
                    break
                worker = self.worker_of(request)
                self.busy[worker] += 1
                try:
                    if not await self.one(request, worker, writer):
                        break
                finally:
                    self.busy[worker] -= 1
                    async with self.changed:
                        self.changed.notify_all()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.tasks.discard(asyncio.current_task())
            writer.close()

    async def one(self, request, worker, writer):
        """Forwards with what goes wrong this time; false: the connection is closed."""
        fault = self.fault(request, worker)
        wait = self.random.random() * 0.2
        self.faults[fault] += 1
        self.faulty[worker] += fault != "none"
        refused = fault.split()[0].isdigit()
        if refused and fault.endswith("before"):
            await self.send(writer, self.refusal(fault))
            return True
        if fault == "cut before":
            return False
        if fault.endswith("before"):
            await asyncio.sleep(wait if "delay" in fault else STALL)
        answer = await self.forward(request)
        if fault.startswith("twice"):
            self.twice.add(request[2].split(b" ")[0].decode("latin-1"))
            second = await self.forward(request)
            answer = second if "second" in fault else answer
        if fault in ("delay behind", "stall behind"):
            await asyncio.sleep(wait if "delay" in fault else STALL)
        if fault == "cut behind":
            return False
        data = answer[0] + answer[2]
        if fault in ("cut head", "cut body"):
            at = len(answer[0]) // 2 if fault == "cut head" or not answer[2] else len(answer[0]) + len(answer[2]) // 2
            await self.send(writer, data[:at])
            return False
        await self.send(writer, self.refusal(fault) if refused else data * 2 if fault == "answer twice" else data)
        return True

    def refusal(self, fault):
        code = {"500": "InternalError", "503": "SlowDown", "429": "TooManyRequests"}[fault[:3]]
        body = b"<Error><Code>%s</Code><Message>no</Message></Error>" % code.encode()
        return b"HTTP/1.1 %s No\r\nContent-Length: %d\r\n\r\n" % (fault[:3].encode(), len(body)) + body

    async def send(self, writer, data):
        writer.write(data)
        await writer.drain()

    async def quiet(self, worker):
        """Until nothing of the worker's is on its way to the store any more."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.busy[worker] == 0)


class Client:
    """The adapter, many requests at once."""

    def __init__(self, process):
        self.process, self.number, self.waiting = process, 0, {}

    async def read(self):
        while True:
            line = await self.process.stdout.readline()
            if not line:
                break
            fields = line.decode().rstrip("\n").split("\t")
            self.waiting.pop(fields[0]).set_result(fields[1:])

    async def ask(self, kind, key, condition="always", etag="", offset="", length="", page="", most="", name="", size=""):
        self.number += 1
        number = str(self.number)
        self.waiting[number] = asyncio.get_running_loop().create_future()
        self.process.stdin.write("\t".join([number, kind, condition, key, etag, str(offset), str(length), page, str(most), name,
                                            str(size)]).encode() + b"\t\n")
        return await self.waiting[number]


class Test:
    def __init__(self, proxy, client, count, seed):
        self.proxy, self.client, self.left, self.seed = proxy, client, count, seed
        self.outcomes, self.wrong, self.own = collections.Counter(), [], 0

    def judge(self, true, *about):
        if not true:
            self.wrong.append(about)

    async def worker(self, n):
        rnd = random.Random(self.seed * 1000 + n)
        serial = 0
        while self.left > 0:
            self.left -= 1
            serial += 1
            folder, kind = "w%d" % n, rnd.choice(["get", "get", "range", "none-match", "stat", "list", "put", "absent", "absent",
                                                  "match", "match", "delete"])
            key = "%s/k%d" % (folder, rnd.randrange(NAMES))
            before = self.proxy.state.get("/lake/" + key)
            self.proxy.history["/lake/" + key] = [before]
            faulty = self.proxy.faulty[folder]
            name, size = "w%d-%d" % (n, serial), rnd.choice([20, 300, 3000, 100000])
            etag = before[2] if before and rnd.random() < 0.7 else '"%032x"' % 1
            url = "s3://lake/" + key
            if kind == "list":
                await self.listing(folder, rnd.choice(["", "2"]))
                continue
            if kind in ("put", "absent", "match"):
                got = await self.client.ask("put", url, {"put": "always"}.get(kind, kind), etag if kind == "match" else "",
                                            name=name, size=size)
            elif kind == "range":
                offset, length = rnd.choice([(0, 10), (5, 200), (100, 100000), (99999, 5)])
                got = await self.client.ask("get", url, offset=offset, length=length)
            elif kind == "none-match":
                got = await self.client.ask("get", url, "none-match", etag)
            else:
                got = await self.client.ask(kind, url)
            await self.proxy.quiet(folder)
            states = self.proxy.history["/lake/" + key]
            self.outcomes[kind + " " + got[0]] += 1
            clean = faulty == self.proxy.faulty[folder]
            about = (kind, key, got, states, etag)
            if kind in ("put", "absent", "match"):
                self.put(kind, name, got, states, etag, clean, about)
            elif kind == "delete":
                self.judge(got[0] in ("ok", "unknown") or (got[0] == "failed" and len(states) == 1), *about)
                self.judge(got[0] != "ok" or None in states, *about)
                self.judge(not clean or got[0] == "ok", *about)
            else:
                span = (offset, length) if kind == "range" else (0, 1 << 40)
                self.judge(self.read(kind, got, states, etag, *span), *about)
                self.judge(not clean or got[0] != "failed", *about)

    def put(self, kind, name, got, states, etag, clean, about):
        applied = self.proxy.applied[name] > 0
        if got[0] == "ok":
            self.judge(applied and any(s and s[0] == name and s[2] == got[4] for s in states), *about)
        elif got[0] == "precondition":
            held = any(s is not None for s in states) if kind == "absent" else any(s is None or s[2] != etag for s in states)
            self.judge(kind != "put" and held, *about)
            # Sent twice on the way, the second was told of the first: an object is there, its own. Only reading tells.
            self.own += applied
            self.judge(not applied or name in self.proxy.twice, *about)
        elif got[0] == "failed":
            self.judge(not applied, *about)
        else:
            self.judge(got[0] == "unknown", *about)
        self.judge(not clean or got[0] in ("ok", "precondition"), *about)

    def read(self, kind, got, states, etag, offset, length):
        if got[0] == "failed":
            return True
        if got[0] == "not_found":
            return None in states
        if got[0] == "not_modified":
            return kind == "none-match" and any(s and s[2] == etag for s in states)
        for s in states:
            if s is None or got[0] != "ok":
                continue
            if kind == "stat":
                if int(got[3]) == s[1]:
                    return True
                continue
            part = body_of(s[0], s[1])[offset:offset + length]
            if (int(got[1]) == len(part) and got[6] == "%08x" % zlib.crc32(part) and got[4] in (s[2], "")
                    and (int(got[2]) == offset or not part)):
                return True
        return False

    async def listing(self, folder, most):
        names, page = {}, ""
        while True:
            got = await self.client.ask("list", "s3://lake/%s/" % folder, page=page, most=most)
            self.outcomes["list " + got[0]] += 1
            if got[0] != "ok":
                self.judge(got[0] == "failed", "list", folder, got)
                return
            names.update(e.rsplit("=", 1) for e in got[6].split(" ") if e)
            page = got[5]
            if not page:
                break
        want = {"s3:/" + k: str(s[1]) for k, s in self.proxy.state.items() if s and k.startswith("/lake/%s/" % folder)}
        self.judge(names == want, "list", folder, names, want)

    async def end(self, store):
        """The store itself says what the proxy saw; through the adapter, past the proxy."""
        process = await asyncio.create_subprocess_exec(TOOL, "20000", stdin=-1, stdout=-1, stderr=-1,
                                                       env=dict(os.environ, **store.env))
        direct = Client(process)
        reading = asyncio.ensure_future(direct.read())
        for n in range(WORKERS):
            for i in range(NAMES):
                key = "/lake/w%d/k%d" % (n, i)
                got = await direct.ask("get", "s3:/" + key)
                self.judge(self.read("get", got, [self.proxy.state.get(key)], "", 0, 1 << 40), "at the end", key, got)
        process.stdin.close()
        await reading
        await process.wait()


async def run(store, count, seed):
    proxy = Proxy(store.port, seed)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=1 << 20)
    end = "http://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
    process = await asyncio.create_subprocess_exec(TOOL, "3000", stdin=-1, stdout=-1, stderr=-1, limit=1 << 20,
                                                   env=dict(os.environ, **store.env, AWS_ENDPOINT_URL=end))
    client = Client(process)
    reading = asyncio.ensure_future(client.read())
    test = Test(proxy, client, count, seed)
    await asyncio.gather(*(test.worker(n) for n in range(WORKERS)))
    process.stdin.close()
    await reading
    said = (await process.stderr.read()).decode()
    test.judge(await process.wait() == 0 and "Sanitizer" not in said, said[:2000])
    await test.end(store)
    server.close()
    return proxy, test, said.strip()


def main():
    count, seed = int((sys.argv[1:2] or ["3000"])[0]), int((sys.argv[2:3] or ["7"])[0])
    store = servers.seaweedfs()
    if store is None:
        print("skipped: no seaweedfs\n0 passed, 0 failed")
        return 0
    with store:
        store.signed("PUT", "/lake")
        proxy, test, requests = asyncio.run(run(store, count, seed))
    for about in test.wrong[:10]:
        print("FAILED", *about)
    told = collections.Counter()
    for what, n in test.outcomes.items():
        told[what.split()[1]] += n
    print("proxy: %d operations, %s HTTP requests: %s" % (sum(told.values()), requests,
                                                          ", ".join("%d %s" % (n, w) for w, n in told.most_common())))
    print("proxy: %s; %d puts were told of themselves" % (
        ", ".join("%d %s" % (n, f) for f, n in proxy.faults.most_common()), test.own))
    print("%d passed, %d failed" % (sum(told.values()) - len(test.wrong), len(test.wrong)))
    return bool(test.wrong)


if __name__ == "__main__":
    sys.exit(main())
