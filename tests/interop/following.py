#!/usr/bin/env python3
"""The real Timelake crate writes a table while `tlake watch` runs.

Usage: following.py [TLAKE]     (default: build/interop/stored; the peer is built)

Every version is printed once, in order, up to the newest, and each has as many files as `tlake open --version` finds in
that version's metadata. Afterwards open with and without the head agree. The writer is timelake-format's; the whole Timelake
crate too where it has been built (FULL=1 builds it). The last line: N passed, N failed."""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import peers

TLAKE = sys.argv[1] if len(sys.argv) > 1 else os.path.join(peers.TOP, "build", "interop", "stored")
passed = failed = 0


def check(what, why):
    global passed, failed
    if why:
        failed += 1
        print("FAILED %s: %s" % (what, str(why)[:500]))
    else:
        passed += 1


def tlake(*words):
    done = subprocess.run([TLAKE, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError("exit %d: %s" % (done.returncode, done.stderr.decode(errors="replace")[-400:]))
    return json.loads(done.stdout)


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def lines_of(path):
    with open(path) as f:
        text = f.read()
    return text[:text.rfind("\n") + 1].splitlines()


def follow(folder, name, appends, pause, *options, whole=False):
    """One table written and watched; counts what was seen, and from where."""
    place = os.path.join(folder, name)
    command = [peers.PEER, "follow", place]
    if whole:
        command = [peers.TIMELAKE, "follow", place, "iot.trucks"]
        place += "/iot/trucks"
    url = "file://" + place
    out = os.path.join(folder, name + ".watch")
    writer = subprocess.Popen([*command, str(appends), str(pause)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watcher = None
    try:
        wait_for(lambda: os.path.exists(place + "/metadata/version-hint.text") or writer.poll() is not None)
        with open(out, "w") as f, open(out + ".errors", "w") as errors:
            watcher = subprocess.Popen([TLAKE, "watch", url, "--every", "20ms", "--json", *options], stdout=f, stderr=errors)
        said, errors = writer.communicate(timeout=120)
        check(name + ": the writer", errors if writer.returncode else None)
        written = [line.split() for line in said.splitlines()]
        last = int(written[-1][0])

        def seen_last():
            lines = lines_of(out)
            return watcher.poll() is not None or (lines and json.loads(lines[-1]).get("version") == last)
        check(name + ": ends in the last version", None if wait_for(seen_last) else "it did not get to %d" % last)
        time.sleep(0.1)
        check(name + ": watch goes on", None if watcher.poll() is None else "it ended: " + open(out + ".errors").read())
    finally:
        for p in (writer, watcher):
            if p is not None and p.poll() is None:
                p.terminate()
                p.wait()
    seen = [json.loads(line) for line in lines_of(out)]
    versions = [s["version"] for s in seen]
    check(name + ": each version once", None if versions == list(range(versions[0], last + 1)) else versions)
    files = {int(w[0]): int(w[1]) for w in written}
    for s in seen:
        try:
            n = len(tlake("open", url, "--version", str(s["version"]))["files"])
            check("%s: version %d" % (name, s["version"]), None if n == s["files"] == files.get(s["version"], n)
                  else "%d files seen, %d in its metadata, %s written" % (s["files"], n, files.get(s["version"])))
        except RuntimeError as e:
            check("%s: version %d" % (name, s["version"]), e)
    head, chain = tlake("open", url), tlake("open", url, "--no-head")
    check(name + ": at rest from the head", None if head["source"] == "head" else head["why_not_head"])
    for answer in (head, chain):
        for key in ("source", "requests", "round_trips", "why_not_head"):
            answer.pop(key)
        for f in answer["files"]:
            f.pop("status")  # a merge of manifests, which the writer's head does not retell, makes Added Existing
    check(name + ": the same without the head", None if head == chain else "open and open --no-head differ")
    sources = collections.Counter(s["source"] for s in seen)
    check(name + ": from the head where it was there in time", None if sources["head"] > 0 else dict(sources))
    print("%s: %d versions written, %d seen (%s)" % (name, last, len(seen), ", ".join("%s %d" % s for s in sources.items())))


def main():
    folder = tempfile.mkdtemp(prefix="timelake-following-")
    try:
        follow(folder, "slow", 30, 120)
        follow(folder, "fast", 45, 10)
        follow(folder, "by hint", 25, 60, "-o", "timelake_version_lookup=hint")
        follow(folder, "by listing", 25, 60, "-o", "timelake_freshness_check=list")
        if peers.have_timelake():
            follow(folder, "whole-crate", 30, 60, whole=True)
            follow(folder, "whole-crate-fast", 40, 0, whole=True)
        else:
            print("skipped: the whole Timelake crate as the writer: FULL=1 builds it")
    finally:
        shutil.rmtree(folder)
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
