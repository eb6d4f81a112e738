//! peer follow DIR N PAUSE     creates a table in DIR and appends N times with random pauses up to PAUSE ms between
//! peer chain DIR MANIFESTS FILES     a table of one version with so many manifests of so many files each, no head
//! peer append DIR N           appends N times to the table that is there, 10 rows each: prints the version of each
//! peer files DIR head|chain   its version, then each live file: path, rows, size, sequence number, sorted
//! peer latest DIR head|file|all OUT  the newest rows per series as an Arrow stream: of the head, of the index file, or of
//!                             all live files by Timelake's own merging
//! peer bench-commit DIR N     appends one file N times to that table in memory and publishes each: ns of CPU of a commit
//!                             that merges no manifests, and of a publish, medians
//! peer bench-chain DIR N      ns of CPU per load of that table from memory, its live files included
//!
//! All by timelake-format's own write and read path. DIR may be a URL when PEER_AT=PREFIX=DIR says which folder the URLs
//! that begin with PREFIX are copied to.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::{ErrorKind, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use timelake_format::append::{append, AppendOptions};
use timelake_format::error::{WriteError, WriteResult};
use timelake_format::host::{Host, Listed, MemoryHost, Upload};
use timelake_format::iceberg::{
    manifest_file, write_manifest, write_manifest_list, DataFile, ManifestContext, ManifestWrite, Status,
};
use timelake_format::rows::{align_batch, latest_per_series};
use timelake_format::table::TableState;

use crate::{Answer, bench};

type Batches = Vec<RecordBatch>;

/// Runs a future whose host never waits.
fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// A folder; keys are file:// URIs. Objects appear whole.
struct Folder {
    seed: std::cell::Cell<u64>,
}

fn store_error(e: std::io::Error) -> WriteError {
    WriteError::Store(e.to_string())
}

fn path(uri: &str) -> String {
    let at = std::env::var("PEER_AT").unwrap_or_default();
    match at.rsplit_once('=').and_then(|(prefix, dir)| Some((uri.strip_prefix(prefix)?, dir))) {
        Some((rest, dir)) => format!("{dir}{rest}"),
        None => uri.strip_prefix("file://").unwrap_or(uri).into(),
    }
}

fn location(dir: &str) -> String {
    if dir.contains("://") { dir.into() } else { format!("file://{dir}") }
}

impl Folder {
    fn temporary(&self, uri: &str, bytes: &[u8]) -> WriteResult<String> {
        let path = path(uri);
        let folder = path.rsplit_once('/').map_or(".", |p| p.0);
        std::fs::create_dir_all(folder).map_err(store_error)?;
        let temporary = format!("{folder}/.new-{:x}", self.random());
        let mut file = std::fs::File::create(&temporary).map_err(store_error)?;
        file.write_all(bytes).map_err(store_error)?;
        Ok(temporary)
    }

    fn put_now(&self, uri: &str, bytes: &[u8]) -> WriteResult<()> {
        std::fs::rename(self.temporary(uri, bytes)?, path(uri)).map_err(store_error)
    }
}

struct FolderUpload {
    uri: String,
    bytes: Vec<u8>,
}

impl Upload for FolderUpload {
    async fn put_part(&mut self, bytes: Vec<u8>) -> WriteResult<()> {
        self.bytes.extend(bytes);
        Ok(())
    }

    async fn complete(self) -> WriteResult<()> {
        Folder { seed: std::cell::Cell::new(1) }.put_now(&self.uri, &self.bytes)
    }

    async fn abort(self) {}
}

impl Host for Folder {
    type Upload = FolderUpload;

    async fn get(&self, uri: &str) -> WriteResult<Option<Vec<u8>>> {
        match std::fs::read(path(uri)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(store_error(e)),
        }
    }

    async fn get_range(&self, uri: &str, start: u64, len: u64) -> WriteResult<Vec<u8>> {
        let bytes = self.get(uri).await?.ok_or_else(|| WriteError::NotFound(uri.into()))?;
        let start = (start as usize).min(bytes.len());
        Ok(bytes[start..start.saturating_add(len as usize).min(bytes.len())].to_vec())
    }

    async fn exists(&self, uri: &str) -> WriteResult<bool> {
        Ok(std::path::Path::new(&path(uri)).exists())
    }

    async fn put(&self, uri: &str, bytes: Vec<u8>) -> WriteResult<()> {
        self.put_now(uri, &bytes)
    }

    async fn put_if_absent(&self, uri: &str, bytes: Vec<u8>) -> WriteResult<bool> {
        let temporary = self.temporary(uri, &bytes)?;
        let linked = std::fs::hard_link(&temporary, path(uri));
        std::fs::remove_file(&temporary).map_err(store_error)?;
        match linked {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(store_error(e)),
        }
    }

    async fn upload(&self, uri: &str) -> WriteResult<FolderUpload> {
        Ok(FolderUpload { uri: uri.into(), bytes: vec![] })
    }

    async fn list(&self, prefix: &str) -> WriteResult<Vec<Listed>> {
        let (base, name) = prefix.rsplit_once('/').unwrap_or((".", prefix));
        let folder = path(base);
        let mut out = vec![];
        for entry in std::fs::read_dir(&folder).map_err(store_error)? {
            let entry = entry.map_err(store_error)?;
            let file = entry.file_name().to_string_lossy().into_owned();
            if file.starts_with(name) {
                let size = entry.metadata().map_or(0, |m| m.len());
                out.push(Listed { uri: format!("{base}/{file}"), size });
            }
        }
        out.sort_by(|a, b| a.uri.cmp(&b.uri));
        Ok(out)
    }

    async fn delete(&self, uris: &[String]) -> WriteResult<()> {
        for uri in uris {
            let _ = std::fs::remove_file(path(uri));
        }
        Ok(())
    }

    fn now_ms(&self) -> i64 {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
    }

    fn random(&self) -> u64 {
        let mut x = self.seed.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.seed.set(x);
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    async fn sleep(&self, ms: u64) {
        std::thread::sleep(std::time::Duration::from_millis(ms));
    }
}

fn text<E: std::fmt::Display>(e: E) -> String {
    e.to_string()
}

/// The first version of a table of trucks, by days.
fn metadata(location: &str, now: i64) -> String {
    let json = serde_json::json!({
        "format-version": 2, "table-uuid": "01a22936-54a9-704d-a8d9-18c81ca61488", "location": location,
        "last-sequence-number": 0, "last-updated-ms": now, "last-column-id": 4,
        "schemas": [{"schema-id": 0, "type": "struct", "fields": [
            {"id": 1, "name": "time", "required": true, "type": "timestamptz"},
            {"id": 2, "name": "truck", "required": false, "type": "int"},
            {"id": 3, "name": "site", "required": false, "type": "string"},
            {"id": 4, "name": "speed", "required": false, "type": "double"}]}],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": [
            {"source-id": 1, "field-id": 1000, "name": "time_day", "transform": "day"}]}],
        "default-spec-id": 0, "last-partition-id": 1000,
        "properties": {"timelake.chunk-interval": "day", "timelake.time-column": "time",
            "timelake.series-key": "truck", "timelake.format-version": "0.3.0", "timelake.compact-min-files": "6",
            "write.metadata.previous-versions-max": "1000"},
        "sort-orders": [{"order-id": 1, "fields": [
            {"source-id": 2, "transform": "identity", "direction": "asc", "null-order": "nulls-first"},
            {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}],
        "default-sort-order-id": 1, "refs": {}, "snapshots": [], "snapshot-log": [], "metadata-log": []
    });
    json.to_string()
}

fn rows(table: &TableState, n: i64) -> Answer<Batches> {
    const DAY: i64 = 86_400_000_000;
    let k = n * 10..n * 10 + 10;
    let columns: Vec<ArrayRef> = vec![
        Arc::new(TimestampMicrosecondArray::from_iter_values(k.clone().map(|k| 1_767_225_600_000_000 + k % 3 * DAY + k))
            .with_timezone("+00:00")),
        Arc::new(Int32Array::from_iter_values(k.clone().map(|k| (k % 4) as i32))),
        Arc::new(StringArray::from_iter_values(k.clone().map(|k| format!("site {}", k % 5)))),
        Arc::new(Float64Array::from_iter_values(k.map(|k| k as f64 / 2.0))),
    ];
    Ok(vec![RecordBatch::try_new(table.schema.clone(), columns).map_err(text)?])
}

async fn create<H: Host>(host: &H, location: &str) -> Answer<TableState> {
    let first = metadata(location, host.now_ms());
    let uri = format!("{location}/metadata/v1.metadata.json");
    if !host.put_if_absent(&uri, first.into_bytes()).await.map_err(text)? {
        return Err("the table is there already".into());
    }
    let mut table = TableState::load(host, location).await.map_err(text)?;
    table.files = Some(vec![]);
    table.write_head(host).await.map_err(text)?;
    host.put(&format!("{location}/metadata/version-hint.text"), b"1".to_vec()).await.map_err(text)?;
    Ok(table)
}

/// Prints each version with its number of files, as it is committed.
pub fn follow(dir: &str, n: &str, pause: &str) -> Answer<()> {
    let (n, pause): (i64, u64) = (n.parse().map_err(text)?, pause.parse().map_err(text)?);
    let host = Folder { seed: std::cell::Cell::new(u64::from(std::process::id()) * 2_654_435_761 + 1) };
    let location = location(dir);
    run(async {
        let mut table = create(&host, &location).await?;
        println!("{} 0", table.version);
        for k in 0..n {
            host.sleep(host.random() % (pause + 1)).await;
            let batches = rows(&table, k)?;
            let before = table.version;
            let (next, report) = append(&host, table, &batches, &AppendOptions::default()).await.map_err(text)?;
            if let Some(Err(e)) = report.maintenance {
                return Err(format!("maintenance: {e}"));
            }
            table = next;
            println!("{} {} +{}", table.version, table.files.as_ref().map_or(0, Vec::len), table.version - before);
        }
        Ok(())
    })
}

/// Rows as in `follow`, from `first` on; the writer itself fills the insertion time.
pub fn append_to(dir: &str, n: &str, first: &str) -> Answer<()> {
    let (n, first): (i64, i64) = (n.parse().map_err(text)?, first.parse().map_err(text)?);
    let host = Folder { seed: std::cell::Cell::new(u64::from(std::process::id()) * 2_654_435_761 + 1) };
    run(async {
        let location = location(dir);
        let mut table = TableState::load(&host, &location).await.map_err(text)?;
        for k in first..first + n {
            let mut given = table.clone();
            given.schema = Arc::new(table.schema.project(&[0, 1, 2, 3]).map_err(text)?);
            let options = AppendOptions { maintain: Some(false), ..AppendOptions::default() };
            let options = AppendOptions { batch_id: Some(format!("theirs-{k}")), ..options };
            for attempt in 0.. {
                match append(&host, table.clone(), &rows(&given, k)?, &options).await {
                    Ok(done) => {
                        table = done.0;
                        break;
                    }
                    Err(WriteError::Conflict(_)) if attempt < 50 => {
                        table = TableState::load(&host, &location).await.map_err(text)?;
                    }
                    Err(e) => return Err(e.to_string()),
                }
            }
            println!("{}", table.version);
        }
        Ok(())
    })
}

pub fn files(dir: &str, way: &str) -> Answer<()> {
    let host = Folder { seed: std::cell::Cell::new(1) };
    run(async {
        let location = location(dir);
        let mut table = TableState::load(&host, &location).await.map_err(text)?;
        if way == "chain" {
            table = TableState::load_version(&host, &location, table.version).await.map_err(text)?;
        } else if table.files.is_none() {
            return Err("no head was used".into());
        }
        println!("{}", table.version);
        let mut lines: Vec<String> = table.live_files(&host).await.map_err(text)?.iter()
            .map(|e| format!("{} {} {} {}", e.file.path, e.file.record_count, e.file.file_size, e.sequence_number))
            .collect();
        lines.sort();
        lines.iter().for_each(|line| println!("{line}"));
        Ok(())
    })
}

fn read_all(table: &TableState, path: &str) -> Answer<Batches> {
    let bytes = bytes::Bytes::from(std::fs::read(path).map_err(text)?);
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(bytes).map_err(text)?;
    reader.build().map_err(text)?.map(|b| align_batch(&b.map_err(text)?, &table.schema).map_err(text)).collect()
}

pub fn latest(dir: &str, way: &str, out: &str) -> Answer<()> {
    let host = Folder { seed: std::cell::Cell::new(1) };
    run(async {
        let location = location(dir);
        let mut table = TableState::load(&host, &location).await.map_err(text)?;
        let rows = match way {
            "head" => table.last_values.clone().ok_or("not in the head")?,
            "file" => {
                table = TableState::load_version(&host, &location, table.version).await.map_err(text)?;
                table.last_values(&host).await.map_err(text)?.ok_or("no index")?
            }
            _ => {
                let mut files = table.live_files(&host).await.map_err(text)?.to_vec();
                files.sort_by_key(|e| e.sequence_number);
                let mut batches = vec![];
                for e in files {
                    batches.extend(read_all(&table, &path(&e.file.path))?);
                }
                latest_per_series(&table.schema, &table.contract, &batches).map_err(text)?.ok_or("no rows")?
            }
        };
        let file = std::fs::File::create(out).map_err(text)?;
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(file, &rows.schema()).map_err(text)?;
        writer.write(&rows).and_then(|()| writer.finish()).map_err(text)
    })
}

/// `peer footer FILE BLOB`: the footer made for a head says what the file's own says, page indexes included.
pub fn footer(file: &str, blob: &str) -> Answer<()> {
    use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
    let read = |path: &str| -> Answer<ParquetMetaData> {
        let bytes = bytes::Bytes::from(std::fs::read(path).map_err(text)?);
        ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional).parse_and_finish(&bytes).map_err(text)
    };
    let (a, b) = (read(file)?, read(blob)?);
    let same = |what: &str, a: String, b: String| if a == b { Ok(()) } else { Err(format!("{what}: {a} and {b}")) };
    same("file", format!("{:?}", a.file_metadata()), format!("{:?}", b.file_metadata()))?;
    same("column indexes", format!("{:?}", a.column_index()), format!("{:?}", b.column_index()))?;
    same("offset indexes", format!("{:?}", a.offset_index()), format!("{:?}", b.offset_index()))?;
    if a.num_row_groups() != b.num_row_groups() {
        return Err("row groups".into());
    }
    for (x, y) in a.row_groups().iter().flat_map(|g| g.columns()).zip(b.row_groups().iter().flat_map(|g| g.columns())) {
        let say = |c: &parquet::file::metadata::ColumnChunkMetaData| {
            format!("{:?} {} {} {} {:?} {:?}", c.statistics(), c.num_values(), c.compressed_size(), c.data_page_offset(),
                c.dictionary_page_offset(), c.compression())
        };
        same("column", say(x), say(y))?;
    }
    println!("{} {}", a.column_index().is_some(), a.offset_index().is_some());
    Ok(())
}

fn data_file(location: &str, k: i64) -> DataFile {
    let id = |v: u64| BTreeMap::from([(1, v), (2, v), (3, v), (4, v)]);
    let time = 1_767_225_600_000_000 + k * 3_600_000_000;
    DataFile {
        path: format!("{location}/data/time_day=2026-01-{:02}/0191f3a2-{k:08x}-7c5d.parquet", 1 + k / 24 % 28),
        partition: Some(20_454 + (k / 24) as i32),
        record_count: 100_000 + k as u64,
        file_size: 4_000_000 + k as u64,
        column_sizes: id(900_000),
        value_counts: id(100_000),
        null_counts: id(0),
        nan_counts: BTreeMap::from([(4, 0)]),
        lower_bounds: BTreeMap::from([(1, time.to_le_bytes().to_vec()), (2, 0i32.to_le_bytes().to_vec()),
            (3, b"site 0".to_vec()), (4, 0f64.to_le_bytes().to_vec())]),
        upper_bounds: BTreeMap::from([(1, (time + 3_599_000_000).to_le_bytes().to_vec()),
            (2, 99i32.to_le_bytes().to_vec()), (3, b"site 9".to_vec()), (4, 130f64.to_le_bytes().to_vec())]),
        split_offsets: Some(vec![4, 1_000_000, 2_000_000]),
        sort_order_id: Some(1),
    }
}

pub fn chain(dir: &str, manifests: &str, files: &str) -> Answer<()> {
    let (manifests, files): (i64, i64) = (manifests.parse().map_err(text)?, files.parse().map_err(text)?);
    let host = Folder { seed: std::cell::Cell::new(99) };
    let location = "mem://bench/table".to_string();
    let first = metadata(&location, 1_767_225_600_000);
    let mut json: serde_json::Value = serde_json::from_str(&first).map_err(text)?;
    let (schema, spec) = (json["schemas"][0].to_string(), json["partition-specs"][0]["fields"].to_string());
    let context = ManifestContext {
        schema_json: &schema, schema_id: 0, spec_fields_json: &spec, spec_id: 0,
        partition: Some(("time_day", timelake_format::Chunk::Day)),
    };
    let mut list = vec![];
    let real = |uri: &str| uri.replace(&location, dir);
    for m in 0..manifests {
        let entries: Vec<ManifestWrite> = (0..files)
            .map(|f| ManifestWrite {
                status: Status::Added, snapshot_id: Some(77), sequence_number: Some(m + 1),
                file_sequence_number: Some(m + 1), file: Arc::new(data_file(&location, m * files + f)),
            })
            .collect();
        let bytes = write_manifest(&context, &entries).map_err(text)?;
        let uri = format!("{location}/metadata/m{m:05}.avro");
        host.put_now(&real(&uri), &bytes).map_err(text)?;
        list.push(manifest_file(&uri, &bytes, 0, 77, &entries, true));
    }
    let uri = format!("{location}/metadata/snap-77.avro");
    let bytes = write_manifest_list(&list, 77, None, manifests).map_err(text)?;
    host.put_now(&real(&uri), &bytes).map_err(text)?;
    json["snapshots"] = serde_json::json!([{"snapshot-id": 77, "sequence-number": manifests, "timestamp-ms": 1_767_225_600_000i64,
        "manifest-list": uri, "summary": {"operation": "append"}, "schema-id": 0}]);
    json["current-snapshot-id"] = 77.into();
    json["last-sequence-number"] = manifests.into();
    host.put_now(&real(&format!("{location}/metadata/v1.metadata.json")), json.to_string().as_bytes()).map_err(text)
}

pub fn bench_commit(dir: &str, n: &str) -> Answer<()> {
    use timelake_format::commit::{commit, Change};
    let host = MemoryHost::new(1);
    let location = "mem://bench/table";
    fill(&host, dir, location)?;
    let n: i64 = n.parse().map_err(text)?;
    let (mut commits, mut publishes) = (vec![], vec![]);
    run(async {
        let mut table = TableState::load(&host, location).await.map_err(text)?;
        table.live_files(&host).await.map_err(text)?;
        for k in -1..n {
            let mut file = data_file(location, 5_000_000 + k);
            file.path = format!("{location}/data/time_day=2026-01-01/new-{k}.parquet");
            let merges = table.manifests(&host).await.map_err(text)?.len() >= 8;
            let props: std::collections::HashMap<String, String> = Default::default();
            let start = crate::now();
            let change = Change::Append { files: vec![file], latest: None };
            table = commit(&host, table, &change, &props).await.map_err(text)?.0;
            let done = crate::now();
            table.write_head(&host).await.map_err(text)?;
            if k >= 0 {
                publishes.push(crate::now() - done);
                if !merges {
                    commits.push(done - start);
                }
            }
        }
        Ok::<(), String>(())
    })?;
    commits.sort_unstable();
    publishes.sort_unstable();
    println!("{} {}", commits[commits.len() / 2], publishes[publishes.len() / 2]);
    Ok(())
}

fn fill(host: &MemoryHost, dir: &str, location: &str) -> Answer<()> {
    for entry in std::fs::read_dir(format!("{dir}/metadata")).map_err(text)? {
        let path = entry.map_err(text)?.path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = std::fs::read(&path).map_err(text)?;
        run(host.put(&format!("{location}/metadata/{name}"), bytes)).map_err(text)?;
    }
    Ok(())
}

pub fn bench_chain(dir: &str, n: &str) -> Answer<()> {
    let host = MemoryHost::new(1);
    let location = "mem://bench/table";
    fill(&host, dir, location)?;
    let load = || -> Answer<usize> {
        run(async {
            let mut table = TableState::load(&host, location).await.map_err(text)?;
            Ok(table.live_files(&host).await.map_err(text)?.len())
        })
    };
    eprintln!("{} files", load()?);
    bench(n.parse().map_err(text)?, || drop(std::hint::black_box(load())));
    Ok(())
}
