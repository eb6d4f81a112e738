#!/usr/bin/env python3
"""Signatures of adapters/timelake_http.h against botocore's and the Azure SDK's: generated requests with hostile keys.

tests/interop/http.py [COUNT]     run by tests/interop/run; prints a line and `N passed, M failed`

The URL is ours; signing it is theirs: the same method, URL and headers go through botocore's S3SigV4Auth (headers),
S3SigV4QueryAuth (presigned) and azure.storage.blob's SharedKeyCredentialPolicy and generate_blob_sas. The URL itself must
be the key percent-encoded as Python's urllib encodes it."""
import base64
import datetime
import os
import random
import subprocess
import sys
import urllib.parse

import botocore.auth
import botocore.compat
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
TOOL = os.path.join(TOP, "build", "interop", "http")
S3, AZURE = "1", "2"
GET, STAT, LIST, PUT, DELETE = "0", "1", "2", "3", "4"
METHOD = {GET: "GET", STAT: "HEAD", LIST: "GET", PUT: "PUT", DELETE: "DELETE"}
ALPHABET = [*"abcxyz0129-._~ !\"#$%&'()*+,/:;<=>?@[]^`{|}\\\t\n\x01\x7f", "ü", "é", "日", "😀", "%2F", "%41", "+", "  ", "a/b", "//",
            "\u00a0", "\u2028"]
FIELDS = ("dialect mode kind condition key etag page offset length body now endpoint region access secret token account "
          "account_key virtual seconds permissions").split()


def text(rnd, most):
    return "".join(rnd.choice(ALPHABET) for _ in range(rnd.randint(1, most)))


def name(rnd):
    """A key; not one with a segment that no client can send."""
    while True:
        key = text(rnd, 24)
        if not any(segment in (".", "..") for segment in key.split("/")):
            return key


def generate(rnd, i):
    azure = i % 3 == 2
    kind = rnd.choice([GET, GET, STAT, LIST, PUT, PUT, DELETE])
    condition = rnd.choice("12") if kind == PUT and rnd.random() < 0.7 else "3" if kind == GET and rnd.random() < 0.3 else "0"
    r = dict.fromkeys(FIELDS, "")
    r.update(dialect=AZURE if azure else S3, mode="make", kind=kind, condition=condition, now=str(rnd.randrange(10**12, 4 * 10**12)),
             key=("az://cont-1/" if azure else "s3://buck.et-1/") + name(rnd), etag='"%032x"' % rnd.getrandbits(128))
    if kind == LIST and rnd.random() < 0.5:
        r["page"] = text(rnd, 12)
    if kind == GET and rnd.random() < 0.5:
        r.update(offset=str(rnd.randrange(10**6)), length=str(rnd.randrange(1, 10**6)))
    if kind == PUT:
        r["body"] = rnd.randbytes(rnd.choice([0, 1, 63, 64, 65, 1000]))
    if azure:
        r.update(account="acc0unt", account_key=base64.b64encode(rnd.randbytes(64)).decode(),
                 endpoint=rnd.choice(["", "http://127.0.0.1:10000/acc0unt"]))
        if i % 2 and i > 20:
            r.update(mode="sas", permissions=rnd.choice(["r", "rl", "rcwd"]), kind=GET)
            if rnd.random() < 0.3:
                r["key"] = "az://cont-1/"
    else:
        r.update(access="AK%dIAEXAMPLE" % i, secret=text(rnd, 40).translate({10: 97, 0: 98}), region=rnd.choice(["", "eu-central-1"]),
                 token=rnd.choice(["", "tok/en+%d==" % i]),
                 endpoint=rnd.choice(["", "http://127.0.0.1:9000", "https://s3.example:443/", "https://Host.example:8443/pre"]),
                 virtual=rnd.choice("001"))
        if r["virtual"] == "1":  # then an endpoint is of one bucket, and by its name not of this machine
            r["endpoint"] = r["endpoint"].replace("http:", "https:").replace("://", "://%s." % r["key"].split("/")[2])
        if i % 4 == 1:
            r.update(mode="presign", seconds=str(rnd.randrange(1, 604800)))
    return r


def made(requests):
    """(outcome, URL or query, headers) of each, from our tool."""
    def field(value):
        return (value if isinstance(value, bytes) else value.encode()).hex()
    lines = "".join("\t".join(field(r[f]) for f in FIELDS) + "\n" for r in requests)
    done = subprocess.run([TOOL], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    for block in done.stdout.decode().split("\n\n")[:-1]:
        outcome, url, *headers = block.split("\n")
        yield int(outcome), url, dict(h.split(": ", 1) for h in headers)


def at(r):
    return datetime.datetime.fromtimestamp(int(r["now"]) // 1000, datetime.timezone.utc)


def check_url(r, url):
    """The path is the key, the query what was asked for; both as urllib encodes them."""
    if r["kind"] == LIST:
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query, keep_blank_values=True))
        assert query["prefix"] == r["key"].split("/", 3)[3] and query.get("continuation-token", query.get("marker", "")) == r["page"]
    else:
        assert url.split("?")[0].endswith("/" + urllib.parse.quote(r["key"].split("/", 3)[3], safe="/~")), url


def check_s3(r, url, headers):
    signed = {k: v for k, v in headers.items() if k not in ("authorization", "accept-encoding", "content-length")
              and not k.startswith("x-amz-date") and not k.startswith("x-amz-content") and k != "x-amz-security-token"}
    credentials = Credentials(r["access"], r["secret"], r["token"] or None)
    region = r["region"] or "us-east-1"
    real, botocore.auth.get_current_datetime = botocore.auth.get_current_datetime, lambda *a, **k: at(r).replace(tzinfo=None)
    try:
        if r["mode"] == "presign":
            parts = urllib.parse.urlsplit(url)
            plain = "&".join(p for p in parts.query.split("&") if not p.startswith("X-Amz-"))
            request = AWSRequest(METHOD[r["kind"]], url.split("?")[0] + ("?" + plain if plain else ""), headers=signed)
            botocore.auth.S3SigV4QueryAuth(credentials, "s3", region, int(r["seconds"])).add_auth(request)
            theirs = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.url).query, keep_blank_values=True))
            ours = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
            assert ours == theirs, (ours, theirs)
        else:
            request = AWSRequest(METHOD[r["kind"]], url, headers=signed, data=r["body"] or b"")
            request.context["client_config"] = None
            request.context["payload_signing_enabled"] = True
            botocore.auth.S3SigV4Auth(credentials, "s3", region).add_auth(request)
            theirs = {k.lower(): v for k, v in request.headers.items()}
            for key in ("authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"):
                assert headers.get(key) == theirs.get(key), (key, headers.get(key), theirs.get(key))
    finally:
        botocore.auth.get_current_datetime = real


def check_azure(r, url, headers):
    from azure.core.pipeline import PipelineContext, PipelineRequest
    from azure.core.pipeline.transport import HttpRequest
    from azure.storage.blob._shared.authentication import SharedKeyCredentialPolicy
    if r["mode"] == "sas":
        from azure.storage.blob._shared_access_signature import BlobSharedAccessSignature
        signer = BlobSharedAccessSignature("acc0unt", r["account_key"])
        signer.x_ms_version = "2021-12-02"
        container, blob = r["key"].split("/", 3)[2:]
        if blob:
            theirs = signer.generate_blob(container, blob, permission=r["permissions"], expiry=at(r))
        else:
            theirs = signer.generate_container(container, permission=r["permissions"], expiry=at(r))
        ours, theirs = dict(urllib.parse.parse_qsl(url)), dict(urllib.parse.parse_qsl(theirs))
        assert ours == theirs, (ours, theirs)
        return
    assert headers["x-ms-date"] == at(r).strftime("%a, %d %b %Y %H:%M:%S GMT")
    request = HttpRequest(METHOD[r["kind"]], url, headers={k: v for k, v in headers.items() if k != "authorization"})
    SharedKeyCredentialPolicy("acc0unt", r["account_key"]).on_request(PipelineRequest(request, PipelineContext(None)))
    assert headers["authorization"] == request.headers["Authorization"]


def main(count):
    rnd = random.Random(5)
    requests = [generate(rnd, i) for i in range(count)]
    counts, failed = {}, 0
    for r, (outcome, url, headers) in zip(requests, made(requests)):
        kind = {S3: "S3 ", AZURE: "Azure "}[r["dialect"]] + {"make": "headers", "presign": "presigned", "sas": "SAS"}[r["mode"]]
        try:
            assert outcome == 0, url
            if r["mode"] != "sas":
                check_url(r, url)
            (check_s3 if r["dialect"] == S3 else check_azure)(r, url, headers)
            counts[kind] = counts.get(kind, 0) + 1
        except Exception as e:  # a check that cannot be made is a failure too
            failed += 1
            if failed <= 5:
                print("FAILED %s of %r: %s %s" % (kind, r["key"], type(e).__name__, str(e)[:600]))
    print("signatures equal: " + ", ".join("%s %d" % c for c in sorted(counts.items())))
    print("%d passed, %d failed" % (sum(counts.values()), failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 750))
