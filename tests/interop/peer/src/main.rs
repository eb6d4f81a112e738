//! Timelake's own head codecs behind a command line, for tests and benchmarks that need an answer from the reference:
//!
//! peer dump FILE                      the document as JSON, as `tlake head --json` prints it
//! peer equal A B                      exit 0 if both decode to the same document, else the first difference; where JSON is
//!                                     involved doubles may be two steps apart (serde_json rounds like that): says so
//! peer encode --codec arrow|json IN OUT
//! peer make DIR                       documents of every type in both codecs, and what Timelake makes of them (zoo.json)
//! peer gen --files N [--columns C] OUT.arrow OUT.json     a realistic head of a table with N files
//! peer bench-decode FILE N            ns of CPU per decode: median and least
//! peer bench-encode FILE N

mod dump;
mod follow;
mod gen;
mod zoo;

use timelake_format::head::{self, HeadCodec, HeadDoc, Header};

type Answer<T> = Result<T, String>;

fn codec(name: &str) -> Answer<&'static dyn HeadCodec> {
    head::built_in(name).ok_or_else(|| format!("no codec {name}"))
}

pub fn decode(bytes: &[u8]) -> Answer<(u64, String, HeadDoc)> {
    let header = Header::parse(bytes).ok_or("not a head")?;
    let doc = codec(header.codec)?.decode(header.body).map_err(|e| e.to_string())?;
    Ok((header.version, header.codec.to_string(), doc))
}

fn read(path: &str) -> Answer<Vec<u8>> {
    std::fs::read(path).map_err(|e| format!("{path}: {e}"))
}

fn write(path: &str, bytes: &[u8]) -> Answer<()> {
    std::fs::write(path, bytes).map_err(|e| format!("{path}: {e}"))
}

fn read_head(path: &str) -> Answer<(u64, String, HeadDoc)> {
    decode(&read(path)?).map_err(|e| format!("{path}: {e}"))
}

pub fn encode(version: u64, name: &str, doc: &HeadDoc) -> Answer<Vec<u8>> {
    head::encode(version, codec(name)?, doc).map_err(|e| e.to_string())
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

/// CPU time of this thread in ns (Linux): other load on the machine does not count.
pub fn now() -> i64 {
    let mut t = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(3, &mut t) };
    t.seconds * 1_000_000_000 + t.nanoseconds
}

fn bench(n: usize, mut run: impl FnMut()) {
    let mut times: Vec<i64> = (0..n.max(1))
        .map(|_| {
            let start = now();
            run();
            now() - start
        })
        .collect();
    times.sort_unstable();
    println!("{} {}", times[times.len() / 2], times[0]);
}

fn equal(a: &str, b: &str) -> Answer<()> {
    let (va, ca, a) = read_head(a)?;
    let (vb, cb, b) = read_head(b)?;
    if va != vb {
        return Err(format!("versions {va} and {vb}"));
    }
    let mut rounded = (ca != cb || ca == "json").then_some(0);
    dump::difference(&a, &b, &mut rounded).map_or(Ok(()), Err)?;
    if let Some(n @ 1..) = rounded {
        println!("rounded: {n} rows");
    }
    Ok(())
}

fn run(args: &[&str]) -> Answer<()> {
    match args {
        ["dump", file] => {
            let (version, codec, doc) = read_head(file)?;
            println!("{}", dump::document(version, &codec, &doc));
            Ok(())
        }
        ["equal", a, b] => equal(a, b),
        ["encode", "--codec", name, from, to] => {
            let (version, _, doc) = read_head(from)?;
            write(to, &encode(version, name, &doc)?)
        }
        ["make", dir] => zoo::make(dir),
        ["gen", "--files", n, arrow, json] => gen::gen(n, "5", arrow, json),
        ["gen", "--files", n, "--columns", c, arrow, json] => gen::gen(n, c, arrow, json),
        ["bench-decode", file, n] => {
            let bytes = read(file)?;
            decode(&bytes)?;
            bench(n.parse().map_err(|_| "a number")?, || drop(std::hint::black_box(decode(&bytes))));
            Ok(())
        }
        ["bench-encode", file, n] => {
            let (version, name, doc) = read_head(file)?;
            bench(n.parse().map_err(|_| "a number")?, || drop(std::hint::black_box(encode(version, &name, &doc))));
            Ok(())
        }
        ["follow", dir, n, pause] => follow::follow(dir, n, pause),
        ["append", dir, n, first] => follow::append_to(dir, n, first),
        ["footer", file, blob] => follow::footer(file, blob),
        ["files", dir, way] => follow::files(dir, way),
        ["latest", dir, way, out] => follow::latest(dir, way, out),
        ["chain", dir, manifests, files] => follow::chain(dir, manifests, files),
        ["bench-commit", dir, n] => follow::bench_commit(dir, n),
        ["bench-chain", dir, n] => follow::bench_chain(dir, n),
        _ => Err("usage: peer dump|equal|encode|make|gen|follow|append|files|footer|chain|bench-chain|bench-commit|bench-decode|bench-encode ...".into()),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Err(e) = run(&args.iter().map(String::as_str).collect::<Vec<_>>()) {
        eprintln!("peer: {e}");
        std::process::exit(1);
    }
}
