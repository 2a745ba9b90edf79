//! A synthesised trace beside its target totals.

use load::trace::stats::{DEPTH_BINS, Summary};
use load::trace::synth::TraceTotals;
use serde::Serialize;

use crate::ui::table::count;

/// A figure of both.
#[derive(Serialize)]
pub struct Pair {
    name: String,
    published: f64,
    trace: f64,
    unit: Unit,
}

/// Form of a figure and of its difference.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// A count: the difference in percent.
    Count,
    /// A share: the difference in points.
    Share,
    /// A mean: the difference in percent.
    Mean,
}

impl Unit {
    fn shown(self, value: f64) -> String {
        match self {
            Self::Count => count(value),
            Self::Share => format!("{:.2}%", value * 100.0),
            Self::Mean => format!("{value:.3}"),
        }
    }

    fn difference(self, published: f64, trace: f64) -> String {
        match self {
            Self::Share => format!("{:+.2} points", (trace - published) * 100.0),
            Self::Count | Self::Mean => {
                format!("{:+.3}%", (trace - published) / published.max(1e-9) * 100.0)
            }
        }
    }
}

/// The name of a row of the depth table.
pub fn depth_label(first: u16, last: u16) -> String {
    match (first, last) {
        _ if first == last => format!("{first}"),
        (_, u16::MAX) => format!("> {}", first - 1),
        _ => format!("{first}-{last}"),
    }
}

/// Every published figure, and that of the trace.
pub fn pairs(published: &TraceTotals, summary: &Summary) -> Vec<Pair> {
    let pair = |name: &str, published: f64, trace: f64, unit| Pair {
        name: name.to_owned(),
        published,
        trace,
        unit,
    };
    let (reads, writes) = (summary.reads, summary.writes);
    let mut pairs = vec![
        pair("reads", published.reads as f64, reads.ios as f64, Unit::Count),
        pair("writes", published.writes as f64, writes.ios as f64, Unit::Count),
        pair("bytes read", published.read_bytes as f64, reads.bytes as f64, Unit::Count),
        pair("bytes written", published.write_bytes as f64, writes.bytes as f64, Unit::Count),
    ];
    if let Some(share) = published.sequential_share {
        pairs.push(pair("sequential", share, summary.sequential_share, Unit::Share));
    }
    for row in &summary.sizes {
        if let Some(&share) = published.sizes.get(row.size) {
            pairs.push(pair(row.size, share, row.share, Unit::Share));
        }
    }
    let Some(depths) = &summary.queue_depth else { return pairs };
    if let Some(mean) = published.queue_depth_mean {
        pairs.push(pair("mean queue depth", mean, depths.mean, Unit::Mean));
    }
    if let Some(share) = published.queue_depth_1_share {
        pairs.push(pair("queue depth 1", share, depths.shares[0], Unit::Share));
    }
    let table = published.queue_depth_shares.iter().flatten();
    for (((first, last), &share), found) in DEPTH_BINS.into_iter().zip(table).zip(depths.shares) {
        let name = format!("queue depth {}", depth_label(first, last));
        pairs.push(pair(&name, share, found, Unit::Share));
    }
    pairs
}

/// Name, published, in the trace, difference.
pub fn rows(published: &TraceTotals, summary: &Summary) -> Vec<Vec<String>> {
    let row = |pair: Pair| {
        let Pair { name, published, trace, unit } = pair;
        vec![
            format!("  {name}"),
            unit.shown(published),
            unit.shown(trace),
            unit.difference(published, trace),
        ]
    };
    let mut rows = vec![["  ", "published", "trace", "difference"].map(str::to_owned).to_vec()];
    rows.extend(pairs(published, summary).into_iter().map(row));
    rows
}
