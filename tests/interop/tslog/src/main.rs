//! A table of timeseries-table-format, driven by lines of JSON: a request in, an answer out.
//!
//! tslog-peer FOLDER             requests from standard input, until it ends
//! tslog-peer FOLDER REQUEST     one request
//! tslog-peer replay FOLDER      seconds of opening it, segments
//! tslog-peer decode FOLDER      seconds of decoding its commits from memory
use std::error::Error;
use std::io::{BufRead, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, new_null_array};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use futures::TryStreamExt;
use serde_json::{Value, json};
use timeseries_table_format::storage::StorageError;
use timeseries_table_format::transaction_log::{Commit, CommitError, LogAction, TransactionLogStore};
use timeseries_table_format::{IndexKind, IndexValue, LogicalField, LogicalSchema, TableLocation, TableMeta, TimeSeriesTable};

type Answer = Result<Value, Box<dyn Error>>;

/// The kind of a failure, as far as the tests tell them apart.
fn kind(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    while let Some(e) = next {
        match e.downcast_ref::<CommitError>() {
            Some(CommitError::Conflict { .. }) => return Some("Conflict"),
            Some(CommitError::AmbiguousOutcome { .. }) => return Some("AmbiguousOutcome"),
            Some(CommitError::CommitSerialization { .. }) => return Some("CommitSerialization"),
            _ => {}
        }
        match e.downcast_ref::<StorageError>() {
            Some(StorageError::AlreadyExists { .. }) => return Some("Storage.AlreadyExists"),
            Some(StorageError::NotFound { .. }) => return Some("Storage.NotFound"),
            _ => {}
        }
        next = e.source();
    }
    None
}

fn parse<T: for<'a> serde::Deserialize<'a>>(request: &Value, member: &str) -> Result<T, Box<dyn Error>> {
    Ok(serde_json::from_value(request[member].clone())?)
}

/// A commit that says all that a state holds: what is compared with ours, byte for byte.
fn state(table: &TimeSeriesTable) -> Answer {
    let s = table.state();
    let mut actions = vec![LogAction::UpdateTableMeta(s.table_meta.clone())];
    for segment in s.segments_sorted_by_index()? {
        actions.push(LogAction::AddSegment(segment.clone()));
    }
    if let Some(c) = &s.table_coverage {
        let (index_kind, coverage_path) = (c.index_kind.clone(), c.coverage_path.clone());
        actions.push(LogAction::UpdateTableCoverage { index_kind, coverage_path });
    }
    let coverage_version = s.table_coverage.as_ref().map_or(0, |c| c.version);
    let timestamp = s.table_meta.created_at();
    let commit = Commit { version: s.version, base_version: coverage_version, timestamp, actions };
    Ok(json!({"ok": s.version, "state": serde_json::to_string(&commit)?}))
}

fn column(data_type: &DataType, values: &Int64Array) -> ArrayRef {
    let cast = |from: &dyn arrow::array::Array, to: &DataType| arrow::compute::cast(from, to);
    let made = match data_type {
        DataType::Binary => cast(values, &DataType::Utf8).and_then(|text| cast(&text, data_type)),
        _ => cast(values, data_type),
    };
    made.unwrap_or_else(|_| new_null_array(data_type, values.len()))
}

/// Rows for the columns of the schema, or those of them that are named. Index values begin at `from`, `step` apart;
/// entities take turns.
fn batch(table: &TimeSeriesTable, request: &Value) -> Result<RecordBatch, Box<dyn Error>> {
    let schema: SchemaRef = match request["schema"].is_null() {
        true => table.state().table_meta.arrow_schema_ref()?,
        false => parse::<LogicalSchema>(request, "schema")?.to_arrow_schema_ref()?,
    };
    let number = |member: &str, or: i64| request[member].as_i64().unwrap_or(or);
    let (rows, from, step, entities) = (number("rows", 1), number("from", 0), number("step", 1), number("entities", 1));
    let only: Option<Vec<String>> = parse(request, "columns")?;
    let index = table.index_spec();
    let (mut fields, mut columns) = (vec![], vec![]);
    for field in schema.fields().iter().filter(|f| only.as_ref().is_none_or(|o| o.contains(f.name()))) {
        let values = Int64Array::from_iter_values((0..rows).map(|i| match field.name() {
            name if *name == index.column => from + i / entities * step,
            name if index.entity_columns.contains(name) => i % entities,
            _ => i,
        }));
        fields.push(field.clone());
        columns.push(column(field.data_type(), &values));
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// All rows: how many, and how many nulls each column has.
async fn scan(table: &TimeSeriesTable) -> Answer {
    let (from, to): (IndexValue, IndexValue) = match &table.index_spec().kind {
        IndexKind::Timestamp { .. } => {
            let day = |seconds| chrono::DateTime::from_timestamp(seconds, 0).unwrap_or_default();
            (day(-(1 << 33)).into(), day(1 << 33).into())
        }
        IndexKind::Int64 { .. } => (i64::MIN.into(), i64::MAX.into()),
        IndexKind::UInt64 { .. } => (u64::MIN.into(), u64::MAX.into()),
    };
    let batches: Vec<RecordBatch> = table.scan_range(from, to).await?.try_collect().await?;
    let mut nulls = serde_json::Map::new();
    for b in &batches {
        for (field, column) in b.schema().fields().iter().zip(b.columns()) {
            let before = nulls.get(field.name()).and_then(Value::as_u64).unwrap_or(0);
            nulls.insert(field.name().clone(), json!(before + column.logical_null_count() as u64));
        }
    }
    Ok(json!({"ok": table.state().version, "rows": batches.iter().map(RecordBatch::num_rows).sum::<usize>(), "nulls": nulls}))
}

/// Adds columns called name-<version> until the table has so many versions. Those that this writer won.
async fn race(table: &mut TimeSeriesTable, until: u64, name: &str) -> Answer {
    let mut won = vec![];
    while table.state().version < until {
        let column = json!([{"name": format!("{name}-{}", table.state().version + 1), "data_type": "Float64", "nullable": true}]);
        match table.add_columns(serde_json::from_value::<Vec<LogicalField>>(column)?).await {
            Ok(version) => won.push(version),
            Err(e) if matches!(kind(&e), Some("Conflict" | "Storage.AlreadyExists")) => {}
            Err(e) => return Err(e.into()),
        }
        table.refresh().await?;
    }
    Ok(json!({"ok": table.state().version, "won": won}))
}

async fn perform(folder: &str, table: &mut Option<TimeSeriesTable>, request: &Value) -> Answer {
    let place = TableLocation::local(folder);
    let op = request["op"].as_str().unwrap_or_default();
    match op {
        "create" => *table = Some(TimeSeriesTable::create(place, parse::<TableMeta>(request, "meta")?).await?),
        "open" => *table = Some(TimeSeriesTable::open(place).await?),
        _ if table.is_none() => *table = Some(TimeSeriesTable::open(place).await?),
        _ => {}
    }
    let t = table.as_mut().ok_or("no table")?;
    match op {
        "refresh" => drop(t.refresh().await?),
        "add" => drop(t.add_columns(parse::<Vec<LogicalField>>(request, "columns")?).await?),
        "append" => drop(t.append(batch(t, request)?).await?),
        "optimize" => drop(t.optimize().await?),
        "race" => return race(t, parse(request, "until")?, &parse::<String>(request, "name")?).await,
        "scan" => return scan(t).await,
        "state" => return state(t),
        "create" | "open" => {}
        _ => return Err("no such request".into()),
    }
    Ok(json!({"ok": t.state().version}))
}

/// Seconds of a replay from the folder, and how many segments are live.
async fn replay(folder: &str) -> Result<(), Box<dyn Error>> {
    let start = std::time::Instant::now();
    let state = TransactionLogStore::new(TableLocation::local(folder)).rebuild_table_state().await?;
    println!("{} {}", start.elapsed().as_secs_f64(), state.segments.len());
    Ok(())
}

/// Seconds of nothing but decoding the same texts from memory, by the crate's steps: to a generic value, from that to a
/// commit. Five times.
async fn decode(folder: &str) -> Result<(), Box<dyn Error>> {
    let mut texts = vec![];
    for version in 1..=TransactionLogStore::new(TableLocation::local(folder)).load_current_version().await? {
        texts.push(std::fs::read_to_string(format!("{folder}/_timeseries_log/{version:010}.json"))?);
    }
    for _ in 0..5 {
        let (start, mut actions) = (std::time::Instant::now(), 0);
        for text in &texts {
            let value: Value = serde_json::from_str(text)?;
            actions += serde_json::from_value::<Commit>(value)?.actions.len();
        }
        std::hint::black_box(actions);
        println!("{}", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    match (words.first().map(String::as_str), words.get(1)) {
        (Some("replay"), Some(folder)) => return runtime.block_on(replay(folder)),
        (Some("decode"), Some(folder)) => return runtime.block_on(decode(folder)),
        _ => {}
    }
    let mut table = None;
    let mut answer = |line: &str| -> Result<(), Box<dyn Error>> {
        let request = serde_json::from_str(line)?;
        let said = runtime.block_on(perform(&words[0], &mut table, &request)).unwrap_or_else(|e| {
            json!({"error": kind(e.as_ref()).unwrap_or("other"), "text": e.to_string()})
        });
        println!("{said}");
        Ok(std::io::stdout().flush()?)
    };
    match words.get(1) {
        Some(request) => answer(request)?,
        None => {
            for line in std::io::stdin().lock().lines() {
                answer(&line?)?;
            }
        }
    }
    Ok(())
}
