//! The statistics of a trace in the terminal.

use base::Nanos;
use load::trace::stats::{DEPTH_BINS, DepthTable, KindTotal, Pauses, SEQUENTIAL_WINDOW, Summary};
use load::trace::{Addresses, TraceInfo};

use super::comparison;
use crate::ui::out::data;
use crate::ui::table::{self, bytes, count, latency, seconds};

type Rows = Vec<Vec<String>>;

fn row(label: &str, value: String) -> Vec<String> {
    vec![format!("  {label}"), value]
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

pub fn print(info: &TraceInfo, summary: &Summary) {
    data!("{} trace: {}", info.origin.name(), info.source);
    table::print(&totals(summary));
    if let Some(published) = &info.published {
        data!("beside what was published");
        table::print(&comparison::rows(published, summary));
    }
    if summary.streams.rows.len() > 1 {
        data!("{}", streams_title(info, summary));
        table::print(&streams(info, summary));
    }
    data!("sizes of reads and writes");
    table::print(&sizes(summary));
    if let Some(depths) = &summary.queue_depth {
        data!("queue depth at issue, the new command included: mean {:.3}", depths.mean);
        table::print(&depth_rows(depths));
    }
    data!("pauses between issues");
    table::print(&pauses(&summary.pauses));
    data!("over time");
    table::print(&mix(summary));
    for warning in &info.warnings {
        data!("  warning: {warning}");
    }
}

/// Number of streams in the text; the JSON document has all.
const STREAMS_SHOWN: usize = 20;

fn streams_title(info: &TraceInfo, summary: &Summary) -> String {
    let addresses = match info.addresses {
        Addresses::Shared => "they share one address space",
        Addresses::OfEach => "each with addresses of its own",
        Addresses::SideBySide => "each has addresses of its own; here they lie side by side",
        Addresses::Overlaid => "each has addresses of its own; here they lie on top of each other",
    };
    format!("{} streams: {addresses}", count(summary.streams.rows.len() as f64))
}

/// The busiest streams.
fn streams(info: &TraceInfo, summary: &Summary) -> Rows {
    let mut busiest: Vec<_> = summary.streams.rows.iter().collect();
    busiest.sort_by_key(|row| (std::cmp::Reverse(row.ios), row.stream));
    let bound = if summary.streams.exact { "" } else { "at least " };
    let mut rows: Rows = vec![
        ["  stream", "commands", "bytes", "distinct data", "from byte", "name"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(busiest.iter().take(STREAMS_SHOWN).map(|row| {
        let volume = info.volumes.iter().find(|volume| volume.stream == row.stream);
        let name = info.streams.get(row.stream as usize).cloned().unwrap_or_default();
        vec![
            format!("  {}", row.stream),
            count(row.ios as f64),
            bytes(row.bytes),
            format!("{bound}{}", bytes(row.footprint_bytes)),
            volume.map_or_else(|| "0".to_owned(), |volume| count(volume.first_byte as f64)),
            name,
        ]
    }));
    if busiest.len() > STREAMS_SHOWN {
        let more = count((busiest.len() - STREAMS_SHOWN) as f64);
        rows.push(vec![format!("  {more} more"), "(--format json lists all)".to_owned()]);
    }
    rows
}

fn kind(total: KindTotal) -> String {
    format!("{} ({})", count(total.ios as f64), bytes(total.bytes))
}

fn totals(summary: &Summary) -> Rows {
    let mut rows = vec![
        row("reads", kind(summary.reads)),
        row("writes", kind(summary.writes)),
        row("flushes", count(summary.flushes as f64)),
        row("writes that flush first", count(summary.preflush_ios as f64)),
        row("deallocations", kind(summary.deallocates)),
        row("length", seconds(Nanos(summary.duration_ns))),
        row(
            &format!("sequential (begins where one of {SEQUENTIAL_WINDOW} before ended)"),
            percent(summary.sequential_share),
        ),
        row("aligned to 4 KiB", percent(summary.aligned_share)),
        row("highest byte", bytes(summary.end_bytes)),
    ];
    let footprint = &summary.footprint;
    let bound = if footprint.exact { "" } else { "at least " };
    let touched = format!(
        "{bound}{} (written {bound}{})",
        bytes(footprint.bytes),
        bytes(footprint.written_bytes)
    );
    rows.push(row("distinct data touched", touched));
    if let Some(reuse) = &summary.reuse {
        rows.push(row(
            "4 KiB uses that are the first of their page",
            percent(reuse.first_use_share),
        ));
        let distances = format!(
            "{}, {}, {}",
            bytes(reuse.distance_bytes_p50),
            bytes(reuse.distance_bytes_p75),
            bytes(reuse.distance_bytes_p90)
        );
        rows.push(row("other data between two uses, up to (50%, 75%, 90%)", distances));
    }
    rows
}

fn sizes(summary: &Summary) -> Rows {
    let used = summary.sizes.iter().filter(|size| size.reads + size.writes > 0);
    used.map(|size| {
        let counts = [size.reads, size.writes].map(|ios| count(ios as f64));
        let [reads, writes] = counts;
        vec![
            format!("  {}", size.size),
            percent(size.share),
            format!("{reads} reads"),
            format!("{writes} writes"),
        ]
    })
    .collect()
}

fn depth_rows(depths: &DepthTable) -> Rows {
    let shares = DEPTH_BINS.iter().zip(depths.shares).filter(|(_, share)| *share > 0.0);
    shares
        .map(|(&(first, last), share)| row(&comparison::depth_label(first, last), percent(share)))
        .collect()
}

fn pauses(pauses: &Pauses) -> Rows {
    let used = pauses.bins.iter().filter(|bin| bin.count > 0);
    let mut rows: Rows = used
        .map(|bin| {
            let total = format!("{} in all", seconds(Nanos(bin.total_ns)));
            vec![format!("  {}", bin.length), count(bin.count as f64), total]
        })
        .collect();
    rows.push(row("longest", latency(pauses.longest_ns as f64)));
    let bursts = format!(
        "{}, of {} I/Os on average, {} at most",
        count(pauses.bursts as f64),
        count(pauses.burst_ios_mean),
        count(pauses.burst_ios_max as f64)
    );
    rows.push(row("bursts (no pause of 25 ms within)", bursts));
    rows.push(row("length with pauses capped at 25 ms", seconds(Nanos(pauses.capped_ns))));
    rows
}

/// A dozen rows, for any number of slices.
fn mix(summary: &Summary) -> Rows {
    const ROWS: usize = 12;
    let chunk = summary.mix.len().div_ceil(ROWS).max(1);
    let rows = summary.mix.chunks(chunk).map(|slices| {
        let sum = |of: fn(&load::trace::stats::MixSlice) -> u64| slices.iter().map(of).sum::<u64>();
        let reads = KindTotal { ios: sum(|s| s.reads), bytes: sum(|s| s.read_bytes) };
        let writes = KindTotal { ios: sum(|s| s.writes), bytes: sum(|s| s.write_bytes) };
        vec![
            format!("  from {}", seconds(Nanos(slices[0].start_ns))),
            format!("{} read", kind(reads)),
            format!("{} written", kind(writes)),
        ]
    });
    rows.collect()
}
