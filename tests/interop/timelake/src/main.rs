//! timelake-peer follow DIR NAMESPACE.TABLE N PAUSE     creates a table in the lake DIR and appends N times, PAUSE ms between
//! timelake-peer append URL NAMESPACE.TABLE N WRITER    appends N times to a table that is there, with batch ids WRITER-0, ...,
//!                                                      each anew after a conflict; the store's options are the environment's
//! timelake-peer cold URL NAMESPACE.TABLE N [KEY=VALUE]...    ms of each of N cold opens, the file list included
//! timelake-peer read DIR NAMESPACE.TABLE               prints the version, the rows, and the rows of each writer
//!
//! Each commit prints: version, number of live files, versions since the one before.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use timelake::datafusion::arrow::array::{Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use timelake::datafusion::arrow::datatypes::{DataType, Field, Schema, TimeUnit};
use timelake::{AppendOptions, Lake, Session, Table, TableOptions};

type Answer<T> = Result<T, Box<dyn Error>>;

fn schema() -> Arc<Schema> {
    Arc::new(Schema::new(vec![
        Field::new("time", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), false),
        Field::new("truck", DataType::Int32, true),
        Field::new("site", DataType::Utf8, true),
        Field::new("speed", DataType::Float64, true),
    ]))
}

/// Ten rows of their own: no two batches share a key.
fn rows(writer: i64, k: i64) -> Answer<RecordBatch> {
    const DAY: i64 = 86_400_000_000;
    let at = (writer * 1_000_000 + k) * 10;
    let keys = || at..at + 10;
    Ok(RecordBatch::try_new(schema(), vec![
        Arc::new(TimestampMicrosecondArray::from_iter_values(keys().map(|k| 1_767_225_600_000_000 + k % 3 * DAY + k))
            .with_timezone("UTC")),
        Arc::new(Int32Array::from_iter_values(keys().map(|k| (k % 4) as i32))),
        Arc::new(StringArray::from_iter_values(keys().map(|_| format!("writer {writer}")))),
        Arc::new(Float64Array::from_iter_values(keys().map(|k| k as f64 / 2.0))),
    ])?)
}

async fn appends(mut table: Table, writer: i64, n: i64, pause: u64) -> Answer<()> {
    for k in 0..n {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let options = AppendOptions { batch_id: Some(format!("{writer}-{k}")), ..AppendOptions::default() };
        let before = table.version();
        let (next, result) = table.append(&[rows(writer, k)?], options).await?;
        if let Some(Err(e)) = result.maintenance {
            return Err(format!("maintenance: {e}").into());
        }
        table = next;
        println!("{} {} +{}", table.version(), table.files().await?.len(), table.version() - before);
    }
    Ok(())
}

/// A writer among others: no maintenance, and a batch that lost ten times is tried again.
async fn append_among(url: &str, name: &str, writer: i64, n: i64) -> Answer<()> {
    let mut table = Lake::open(url, HashMap::new())?.table(name).await?;
    for k in 0..n {
        for attempt in 0.. {
            let options = AppendOptions { batch_id: Some(format!("{writer}-{k}")), maintain: Some(false), ..Default::default() };
            match table.append(&[rows(writer, k)?], options).await {
                Ok((next, _)) => {
                    table = next;
                    break;
                }
                Err(timelake::Error::Conflict(_)) if attempt < 50 => table = table.lake().table(name).await?,
                Err(e) => return Err(e.into()),
            }
        }
        println!("{}", table.version());
    }
    tokio::time::sleep(Duration::from_secs(2)).await; // heads are published in the background
    Ok(())
}

async fn follow(dir: &str, name: &str, n: i64, pause: u64) -> Answer<()> {
    let lake = Lake::open(dir, HashMap::new())?;
    let mut options = TableOptions { time_column: Some("time".into()), series_key: vec!["truck".into()], ..Default::default() };
    options.properties.insert("timelake.compact-min-files".into(), "6".into());
    let table = lake.create_table(name, &schema(), options).await?;
    println!("{} 0", table.version());
    appends(table, 0, n, pause).await?;
    tokio::time::sleep(Duration::from_secs(2)).await; // heads are published in the background
    Ok(())
}

async fn read(dir: &str, name: &str) -> Answer<()> {
    let lake = Lake::open(dir, HashMap::new())?;
    let table = lake.table(name).await?;
    let sql = format!("SELECT site, count(*) AS n FROM {name} GROUP BY site ORDER BY site");
    println!("version {}", table.version());
    for batch in Session::new(lake).sql(&sql).await?.collect().await? {
        let sites = timelake::datafusion::arrow::compute::cast(batch.column(0), &DataType::Utf8)?;
        let sites = sites.as_any().downcast_ref::<StringArray>().ok_or("site is no string")?;
        let counts = batch.column(1).as_any().downcast_ref::<Int64Array>().ok_or("no count")?;
        for i in 0..batch.num_rows() {
            println!("{}\t{}", if sites.is_null(i) { "" } else { sites.value(i) }, counts.value(i));
        }
    }
    Ok(())
}

/// A new lake each time, so that nothing is known and no connection is there.
async fn cold(url: &str, name: &str, n: usize, options: &[&str]) -> Answer<()> {
    let options: HashMap<String, String> =
        options.iter().filter_map(|o| o.split_once('=')).map(|(k, v)| (k.to_string(), v.to_string())).collect();
    for _ in 0..n {
        let lake = Lake::open(url, options.clone())?;
        let began = std::time::Instant::now();
        let table = lake.table(name).await?;
        let files = table.files().await?.len();
        println!("{:.3} {} {files}", began.elapsed().as_secs_f64() * 1e3, table.version());
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Answer<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["follow", dir, name, n, pause] => follow(dir, name, n.parse()?, pause.parse()?).await,
        ["append", dir, name, n, writer] => {
            append_among(dir, name, writer.parse()?, n.parse()?).await
        }
        ["cold", url, name, n, ref options @ ..] => cold(url, name, n.parse()?, options).await,
        ["read", dir, name] => read(dir, name).await,
        _ => Err("usage: follow DIR TABLE N PAUSE | append URL TABLE N WRITER | read DIR TABLE".into()),
    }
}
