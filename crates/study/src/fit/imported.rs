//! Results of fio as runs that a model can repeat.
//!
//! Random 4 KiB reads at several depths become points of `qd-sweep`. Random 4 KiB writes with a row for each
//! second become the load of `consistency`, if fio names the span (`size`). The files do not tell the
//! size of the drive: it is that of the base model. All other loads are left out.

use base::Bytes;
use result::report::GRAPHED_PHASE;
use result::schema::{Run, Setting};
use run::RunError;

use super::figures::{self, Figures, Latencies};
use super::measured::{Measurements, obstacle};

/// Begin and end of the name of a figure, around the depth.
const READS: &str = "imported.randread_4KiB_qd";
const WRITES: &str = "imported.randwrite_4KiB_qd";
/// Figures of reads that `qd-sweep` has too.
const ENDS: [&str; 2] = ["iops", "latency_ns_p50"];
/// Share of the load after which its rows are steady, as those of `consistency`.
const STEADY: f64 = 0.7;

/// The runs of a model that have the figures of an imported one.
///
/// # Errors
/// [`RunError::Usage`] for a run without such figures, with the missing condition.
pub(super) fn read(
    run: &Run,
    capacity_bytes: u64,
    held_out: bool,
) -> Result<Vec<Measurements>, RunError> {
    let of = |found: Option<(&str, Vec<Setting>, f64, Figures)>| -> Result<_, RunError> {
        let Some((test, settings, kept, figures)) = found else { return Ok(None) };
        Ok(Some(Measurements {
            id: run.run_id.clone(),
            test: test.parse()?,
            settings,
            capacity_bytes,
            kept,
            scale: None,
            host: None,
            figures,
            latencies: Latencies::default(),
            held_out,
        }))
    };
    let writes = writes(run, capacity_bytes);
    let reads = reads(run);
    if reads.is_none()
        && let Err(missing) = &writes
    {
        return Err(RunError::Usage(format!(
            "run {} has nothing that a fit can use: no random 4 KiB reads of one job, and {missing}",
            run.run_id
        )));
    }
    let both = [of(reads)?, of(writes.ok())?];
    Ok(both.into_iter().flatten().collect())
}

/// The depths of reads as a `qd-sweep`.
fn reads(run: &Run) -> Option<(&'static str, Vec<Setting>, f64, Figures)> {
    let mut figures = Figures::new();
    let mut depths = Vec::new();
    for (name, value) in &run.metrics {
        let (Some(rest), Some(value)) = (name.strip_prefix(READS), value) else { continue };
        // A name with `_jobs` or a number of its own has no depth here.
        let Some((depth, end)) = rest.split_once('.') else { continue };
        let Ok(depth) = depth.parse::<u32>() else { continue };
        if *value > 0.0 && ENDS.contains(&end) {
            let name = format!("qd-sweep.read_qd{depth}.{end}");
            figures.extend(figures::named(&name, *value));
            depths.push(depth);
        }
    }
    depths.sort_unstable();
    depths.dedup();
    let depths: Vec<_> = depths.iter().map(u32::to_string).collect();
    (!figures.is_empty())
        .then(|| ("qd-sweep", vec![setting("queue_depths", depths.join(","))], 1.0, figures))
}

/// The load of random writes as a `consistency`; or the missing condition.
fn writes(
    run: &Run,
    capacity_bytes: u64,
) -> Result<(&'static str, Vec<Setting>, f64, Figures), String> {
    if let Some(mark) = obstacle(run, "iops_steady_mean") {
        return Err(format!("its random writes were not in steady state: {}", mark.text));
    }
    let rate = run.metrics.get("iops_steady_mean").copied().flatten().filter(|it| *it > 0.0);
    let load = run.phases.iter().find(|phase| phase.name == GRAPHED_PHASE);
    let (Some(rate), Some(load)) = (rate, load) else {
        return Err(
            "no random writes with a row for each second (write_iops_log, log_avg_msec=1000)"
                .to_owned(),
        );
    };
    let depth = run
        .metrics
        .keys()
        .find_map(|name| name.strip_prefix(WRITES)?.strip_suffix(".iops")?.parse::<u32>().ok());
    let depth = depth.ok_or("its random writes are not of 4 KiB by one job")?;
    let span = run.config.get("size").and_then(|size| size.as_str());
    let span = span.and_then(|size| size.to_ascii_uppercase().parse::<Bytes>().ok());
    let span = span.ok_or("its random writes name no span (fio's `size`)")?;
    let kept = span.0 as f64 / capacity_bytes as f64;
    if !(0.1..=1.02).contains(&kept) {
        return Err("its span is below a tenth of the base model, or larger than it".to_owned());
    }
    let seconds = load.duration_ns as f64 / 1e9;
    let settings = vec![
        setting("duration", format!("{seconds:.0}s")),
        setting("steady_from", format!("{:.0}s", seconds * STEADY)),
        setting("queue_depth", depth.to_string()),
    ];
    let figures = figures::named("iops_steady_mean", rate).into_iter().collect();
    Ok(("consistency", settings, kept.min(1.0), figures))
}

fn setting(name: &str, value: String) -> Setting {
    Setting { name: name.to_owned(), value }
}
