//! A head of a table as `timelake` would publish it: N live files with statistics of five columns, an inline last-value
//! index, footers of the newest files up to the budget of 1 MiB. Numbers are made up, shapes and lengths are real.

use crate::encode;
use crate::zoo::Rng;
use arrow_array::builder::*;
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::WriterProperties;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;
use timelake_format::head::{section, HeadDoc};

const TABLE: &str = "s3://demo-lake/wh/iot/trucks";
const START: i64 = 1_767_225_600; // 2026-01-01
const DAY: i64 = 86_400;

struct File {
    path: String,
    day: i64,
    from: i64,
    to: i64,
    records: u64,
    size: u64,
    splits: Vec<i64>,
    snapshot: i64,
    sequence: i64,
}

fn snapshot_id(r: &mut Rng) -> i64 {
    (r.next() >> 1) as i64
}

fn uuid7(r: &mut Rng, ms: i64) -> String {
    let (a, b) = (r.next(), r.next());
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        ms >> 16,
        ms & 0xffff,
        a & 0xfff,
        0x8000 | (a >> 12) & 0x3fff,
        b & 0xffff_ffff_ffff
    )
}

/// Newest first, as commits put their files before the base's; about eight files a day.
fn files(n: usize, r: &mut Rng) -> Vec<File> {
    let mut files = Vec::with_capacity(n);
    let (mut snapshot, mut left) = (0, 0);
    let mut sequence = n as i64 / 2 + 1;
    for i in 0..n {
        if left == 0 {
            (snapshot, left) = (snapshot_id(r), 1 + r.below(4));
            sequence -= 1;
        }
        left -= 1;
        let back = i as i64 / 8;
        let day = START / DAY + 5 - back;
        let from = day * DAY * 1_000_000 + (r.below(8) * 3_600_000_000 + r.below(60_000_000)) as i64;
        let size = 2_000_000 + r.below(180_000_000);
        let date = date(day);
        let written = (day + 1) * DAY * 1000 + r.below(86_400_000) as i64;
        files.push(File {
            path: format!("{TABLE}/data/time_day={date}/{}.parquet", uuid7(r, written)),
            day,
            from,
            to: from + (40_000_000_000 + r.below(7_000_000_000)) as i64,
            records: size / 23,
            size,
            splits: (0..1 + size / 64_000_000).map(|s| 4 + (s * 64_000_000 + if s > 0 { r.below(900_000) } else { 0 }) as i64).collect(),
            snapshot,
            sequence: sequence.max(1),
        });
    }
    files
}

/// `YYYY-MM-DD` of days since 1970 (civil from days).
fn date(days: i64) -> String {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    format!("{:04}-{month:02}-{:02}", yoe + era * 400 + i64::from(month <= 2), doy - (153 * mp + 2) / 5 + 1)
}

fn files_section(files: &[File]) -> RecordBatch {
    let item = Arc::new(Field::new("item", DataType::Int64, true));
    let fields = vec![
        Field::new("path", DataType::Utf8, false),
        Field::new("size", DataType::UInt64, false),
        Field::new("records", DataType::UInt64, false),
        Field::new("partition", DataType::Int32, true),
        Field::new("sort_order_id", DataType::Int32, true),
        Field::new("split_offsets", DataType::List(item), true),
        Field::new("added", DataType::UInt8, false),
        Field::new("snapshot_id", DataType::Int64, false),
        Field::new("sequence_number", DataType::Int64, false),
        Field::new("file_sequence_number", DataType::Int64, false),
    ];
    let mut splits = ListBuilder::new(Int64Builder::new());
    for f in files {
        splits.append_value(f.splits.iter().map(|s| Some(*s)));
    }
    let sequences = || Arc::new(Int64Array::from_iter_values(files.iter().map(|f| f.sequence)));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(files.iter().map(|f| &f.path))),
        Arc::new(UInt64Array::from_iter_values(files.iter().map(|f| f.size))),
        Arc::new(UInt64Array::from_iter_values(files.iter().map(|f| f.records))),
        Arc::new(Int32Array::from_iter_values(files.iter().map(|f| f.day as i32))),
        Arc::new(PrimitiveArray::<Int32Type>::from_iter_values(files.iter().map(|_| 1))),
        Arc::new(splits.finish()),
        Arc::new(UInt8Array::from_iter_values(files.iter().map(|f| u8::from(f.snapshot == files[0].snapshot)))),
        Arc::new(Int64Array::from_iter_values(files.iter().map(|f| f.snapshot))),
        sequences(),
        sequences(),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

const SITES: [&str; 12] = [
    "aachen", "bergen-nord", "córdoba", "dresden", "essen", "florence-east", "graz", "hamburg", "izmir", "jena", "kiel", "łódź",
];

/// Lower and upper bound of column `id` in a file.
fn bounds(f: &File, id: usize, r: &mut Rng) -> (Vec<u8>, Vec<u8>) {
    match id % 5 {
        1 => (f.from.to_le_bytes().into(), f.to.to_le_bytes().into()),
        2 => ((r.below(40) as i64).to_le_bytes().into(), (960 + r.below(40) as i64).to_le_bytes().into()),
        3 => (SITES[r.below(3) as usize].into(), SITES[9 + r.below(3) as usize].into()),
        4 => {
            let v = |x: u64| (x as f64 / 1000.0).to_le_bytes().to_vec();
            (v(r.below(5000)), v(90_000 + r.below(10_000)))
        }
        _ => {
            let v = |x: f64| ((x * 100.0).round() / 100.0).to_le_bytes().to_vec();
            (v(-20.0 + r.below(900) as f64 / 100.0), v(30.0 + r.below(900) as f64 / 100.0))
        }
    }
}

fn columns_section(files: &[File], columns: usize, r: &mut Rng) -> RecordBatch {
    let n = files.len() * columns;
    let (mut file, mut field) = (UInt32Builder::with_capacity(n), Int32Builder::with_capacity(n));
    let (mut lower, mut upper) = (BinaryBuilder::new(), BinaryBuilder::new());
    let mut counts = [(); 4].map(|()| UInt64Builder::with_capacity(n));
    for (i, f) in files.iter().enumerate() {
        for id in 1..=columns {
            let (low, high) = bounds(f, id, r);
            file.append_value(i as u32);
            field.append_value(id as i32);
            lower.append_value(low);
            upper.append_value(high);
            let double = matches!(id % 5, 4 | 0);
            counts[0].append_value(f.records);
            counts[1].append_value(if double { r.below(50) } else { 0 });
            counts[2].append_option(double.then_some(0));
            counts[3].append_value(f.size / [9, 3, 11, 5, 4][id % 5] - r.below(5000));
        }
    }
    let mut fields = vec![
        Field::new("file", DataType::UInt32, false),
        Field::new("field_id", DataType::Int32, false),
        Field::new("lower", DataType::Binary, true),
        Field::new("upper", DataType::Binary, true),
    ];
    let mut arrays: Vec<ArrayRef> =
        vec![Arc::new(file.finish()), Arc::new(field.finish()), Arc::new(lower.finish()), Arc::new(upper.finish())];
    for (name, mut b) in ["values", "nulls", "nans", "size"].into_iter().zip(counts) {
        fields.push(Field::new(name, DataType::UInt64, true));
        arrays.push(Arc::new(b.finish()));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

/// Rows of the table, with its schema as Arrow.
fn rows(n: usize, device: impl Fn(usize) -> i64, r: &mut Rng) -> RecordBatch {
    let field = |id: usize, name: &str, t, nullable| {
        Field::new(name, t, nullable)
            .with_metadata(HashMap::from([("PARQUET:field_id".to_string(), id.to_string())]))
    };
    let fields = vec![
        field(1, "time", DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())), false),
        field(2, "device", DataType::Int64, false),
        field(3, "site", DataType::Utf8, true),
        field(4, "value", DataType::Float64, true),
        field(5, "temp", DataType::Float64, true),
    ];
    let times = (0..n).map(|i| (START + 5 * DAY) * 1_000_000 + i as i64 * 1_000_000 + r.below(900_000) as i64);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("+00:00")),
        Arc::new(Int64Array::from_iter_values((0..n).map(device))),
        Arc::new(StringArray::from_iter_values((0..n).map(|i| SITES[i % SITES.len()]))),
        Arc::new(Float64Array::from_iter((0..n).map(|_| (r.below(50) > 0).then(|| r.below(100_000_000) as f64 / 1000.0)))),
        Arc::new(Float64Array::from_iter((0..n).map(|_| Some((r.below(6000) as f64 - 2000.0) / 100.0)))),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// A real footer in the head's form: page indexes, metadata, length, magic.
fn footer(r: &mut Rng) -> Vec<u8> {
    let batch = rows(4000, |i| i as i64 % 1000, r);
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(500)
        .set_write_batch_size(500)
        .set_max_row_group_row_count(Some(4000))
        .build();
    let mut file = vec![];
    let mut w = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    w.write(&batch).unwrap();
    w.close().unwrap();
    let metadata = ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Required)
        .parse_and_finish(&Bytes::from(file))
        .unwrap();
    let mut out = vec![];
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

fn metadata_json(files: &[File], r: &mut Rng) -> String {
    let snapshots = 40;
    let version = snapshots + 2;
    let mut s = format!(
        "{{\"format-version\":2,\"table-uuid\":\"{}\",\"location\":\"{TABLE}\",\"last-sequence-number\":{},\
         \"last-updated-ms\":1767700000000,\"last-column-id\":5,\"current-schema-id\":0,\"schemas\":[{{\"type\":\"struct\",\
         \"schema-id\":0,\"fields\":[{{\"id\":1,\"name\":\"time\",\"required\":true,\"type\":\"timestamptz\"}},\
         {{\"id\":2,\"name\":\"device\",\"required\":true,\"type\":\"long\"}},{{\"id\":3,\"name\":\"site\",\"required\":false,\
         \"type\":\"string\"}},{{\"id\":4,\"name\":\"value\",\"required\":false,\"type\":\"double\"}},{{\"id\":5,\"name\":\"temp\",\
         \"required\":false,\"type\":\"double\"}}]}}],\"default-spec-id\":0,\"partition-specs\":[{{\"spec-id\":0,\"fields\":\
         [{{\"source-id\":1,\"field-id\":1000,\"name\":\"time_day\",\"transform\":\"day\"}}]}}],\"last-partition-id\":1000,\
         \"default-sort-order-id\":1,\"sort-orders\":[{{\"order-id\":1,\"fields\":[{{\"transform\":\"identity\",\"source-id\":2,\
         \"direction\":\"asc\",\"null-order\":\"nulls-first\"}}]}}],\"properties\":{{\"timelake.head-format\":\"arrow\",\
         \"timelake.series-key\":\"device\",\"timelake.time-column\":\"time\",\"write.parquet.compression-codec\":\"zstd\"}},\
         \"snapshots\":[",
        uuid7(r, START * 1000),
        files.first().map_or(0, |f| f.sequence),
    );
    let mut log = String::new();
    let mut metadata_log = String::new();
    let mut parent = None;
    for i in 0..snapshots {
        let id = if i + 1 == snapshots { files.first().map_or(1, |f| f.snapshot) } else { snapshot_id(r) };
        let at = (START + i * 3600) * 1000 + r.below(1000) as i64;
        let comma = if i > 0 { "," } else { "" };
        let (a, b) = (uuid7(r, at), uuid7(r, at));
        write!(s, "{comma}{{\"snapshot-id\":{id},").unwrap();
        if let Some(p) = parent {
            write!(s, "\"parent-snapshot-id\":{p},").unwrap();
        }
        write!(
            s,
            "\"sequence-number\":{},\"timestamp-ms\":{at},\"manifest-list\":\"{TABLE}/metadata/snap-{id}-{a}.avro\",\"summary\":\
             {{\"operation\":\"append\",\"added-data-files\":\"{}\",\"added-records\":\"{}\",\"added-files-size\":\"{}\",\
             \"total-data-files\":\"{}\",\"total-records\":\"{}\",\"timelake.batch-id\":\"ingest-{b}\",\
             \"timelake.last-value-index\":\"{TABLE}/metadata/lvi-{id}-{b}.parquet\"}},\"schema-id\":0}}",
            i + 1,
            1 + r.below(8),
            r.below(9_000_000),
            r.below(900_000_000),
            files.len(),
            files.len() * 3_900_000
        )
        .unwrap();
        write!(log, "{comma}{{\"snapshot-id\":{id},\"timestamp-ms\":{at}}}").unwrap();
        write!(metadata_log, "{comma}{{\"metadata-file\":\"{TABLE}/metadata/v{}.metadata.json\",\"timestamp-ms\":{at}}}", version - snapshots + i)
            .unwrap();
        parent = Some(id);
    }
    let current = parent.unwrap();
    write!(
        s,
        "],\"current-snapshot-id\":{current},\"snapshot-log\":[{log}],\"metadata-log\":[{metadata_log}],\"refs\":{{\"main\":\
         {{\"snapshot-id\":{current},\"type\":\"branch\"}}}},\"statistics\":[],\"partition-statistics\":[]}}"
    )
    .unwrap();
    s
}

fn footers_section(files: &[File], mut budget: usize, r: &mut Rng) -> RecordBatch {
    let (mut paths, mut footers) = (StringBuilder::new(), BinaryBuilder::new());
    for f in files {
        let bytes = footer(r);
        if bytes.len() > budget {
            break;
        }
        budget -= bytes.len();
        paths.append_value(&f.path);
        footers.append_value(bytes);
    }
    let fields = vec![Field::new("path", DataType::Utf8, false), Field::new("footer", DataType::Binary, false)];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![Arc::new(paths.finish()), Arc::new(footers.finish())]).unwrap()
}

pub fn gen(n: &str, columns: &str, arrow: &str, json: &str) -> Result<(), String> {
    let number = |s: &str| s.parse::<usize>().map_err(|_| format!("not a number: {s}"));
    let (n, columns) = (number(n)?, number(columns)?);
    let mut r = Rng(n as u64 + 12345);
    let files = files(n, &mut r);
    let text: ArrayRef = Arc::new(StringArray::from(vec![metadata_json(&files, &mut r)]));
    let metadata = Schema::new(vec![Field::new("json", DataType::Utf8, false)]);
    let mut doc = HeadDoc {
        properties: BTreeMap::from([("layout".to_string(), "1".to_string())]),
        sections: BTreeMap::from([
            (section::METADATA.to_string(), RecordBatch::try_new(Arc::new(metadata), vec![text]).unwrap()),
            (section::FILES.into(), files_section(&files)),
            (section::COLUMNS.into(), columns_section(&files, columns, &mut r)),
        ]),
    };
    let without = encode(42, "arrow", &doc)?.len();
    doc.sections.insert(section::LAST_VALUES.into(), rows(300, |i| i as i64, &mut r));
    let index = encode(42, "arrow", &doc)?.len() - without;
    doc.sections.insert(section::FOOTERS.into(), footers_section(&files, (1 << 20) - index, &mut r));
    for (codec, path) in [("arrow", arrow), ("json", json)] {
        std::fs::write(path, encode(42, codec, &doc)?).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(())
}
