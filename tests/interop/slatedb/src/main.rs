//! The real SlateDB at work: `slatedb-peer PATH SECONDS` opens the database PATH in the store that the environment names
//! (CLOUD_PROVIDER=local and LOCAL_PATH, or aws and AWS_...), puts, flushes to the log and to tables, lets the compactor
//! and the collector run often, and closes it when the time is over. Prints how many puts and flushes that were.
use slatedb::config::*;
use slatedb::{Db, Settings};
use std::time::{Duration, Instant};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn often(min_age: Duration) -> Option<GarbageCollectorDirectoryOptions> {
    Some(GarbageCollectorDirectoryOptions { interval: Some(ms(400)), min_age, dry_run: false })
}

fn settings() -> Settings {
    let mut s = Settings::default();
    s.flush_interval = Some(ms(50));
    s.manifest_poll_interval = ms(200);
    s.l0_sst_size_bytes = 64 * 1024;
    if let Some(c) = s.compactor_options.as_mut() {
        c.poll_interval = ms(150);
    }
    let mut gc = GarbageCollectorOptions::default();
    gc.manifest_options = often(ms(700));
    gc.compactions_options = often(ms(700));
    gc.wal_options = often(ms(700));
    gc.compacted_options = often(ms(700));
    s.garbage_collector_options = Some(gc);
    s
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let (path, seconds) = (words[1].as_str(), words[2].parse::<f64>()?);
    let store = slatedb::admin::load_object_store_from_env(None)?;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let (mut puts, mut flushes) = (0u64, 0u64);
    while Instant::now() < end {
        // A few openings: each writes manifests of its own, in bursts.
        let db = Db::builder(path, store.clone()).with_settings(settings()).build().await?;
        for round in 0..40u64 {
            for i in 0..20u64 {
                db.put(format!("key {}", (round * 7 + i) % 100).as_bytes(), vec![b'v'; 200]).await?;
                puts += 1;
            }
            let flush_type = if round % 3 == 0 { FlushType::MemTable } else { FlushType::Wal };
            db.flush_with_options(FlushOptions { flush_type }).await?;
            flushes += 1;
            tokio::time::sleep(ms([0, 0, 30, 120, 400][(puts as usize / 20) % 5])).await;
            if Instant::now() >= end {
                break;
            }
        }
        db.close().await?;
    }
    println!("{puts} puts, {flushes} flushes");
    Ok(())
}
