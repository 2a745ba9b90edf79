//! Results of fio as runs that a model can repeat.
//!
//! Random 4 KiB reads at several depths become points of one `qd-sweep`, whatever run, file and section of it they come
//! from. Jobs side by side are one load: their commands outstanding and their rates add up. Random 4 KiB writes with a
//! row for each second become the load of `consistency`, if fio names the span (`size`). The files do not tell the size
//! of the drive: it is that of the base model. All other loads are left out.

use std::collections::BTreeMap;

use base::Bytes;
use result::import::IMPORTED;
use result::report::GRAPHED_PHASE;
use result::schema::{Phase, Run, Setting};
use result::stats::consistency::configured_from_s;
use run::RunError;

use super::figures::{self, Figures, Latencies};
use super::measured::{Measurements, obstacle};

/// Begins of the names of steps, before the depth.
const READS: &str = "randread_4KiB_qd";
const WRITES: &str = "randwrite_4KiB_qd";
/// Figures of reads that `qd-sweep` has too.
const ENDS: [&str; 2] = ["iops", "latency_ns_p50"];

/// Test, settings, share of the LBA space, and figures.
type Load = (&'static str, Vec<Setting>, f64, Figures);

/// The runs of a model that have the figures of imported ones.
///
/// # Errors
/// [`RunError::Usage`] for a run without such figures, with the missing condition.
pub(super) fn read(
    runs: &[&Run],
    capacity_bytes: u64,
    held_out: bool,
) -> Result<Vec<Measurements>, RunError> {
    let of = |id: String, (test, settings, kept, figures): Load| -> Result<_, RunError> {
        Ok(Measurements {
            id,
            test: test.parse()?,
            settings,
            capacity_bytes,
            kept,
            scale: None,
            host: None,
            figures,
            latencies: Latencies::default(),
            held_out,
        })
    };
    let (mut all, mut curve, mut with_reads) = (Vec::new(), Curve::default(), Vec::new());
    for run in runs {
        let writes = writes(run, capacity_bytes);
        let has_reads = curve.add(run);
        if has_reads {
            with_reads.push(run.run_id.as_str());
        }
        match writes {
            Ok(writes) => all.push(of(run.run_id.clone(), writes)?),
            Err(missing) if !has_reads => {
                return Err(RunError::Usage(format!(
                    "run {} has nothing that a fit can use: no random 4 KiB reads alone, and {missing}",
                    run.run_id
                )));
            }
            Err(_) => {}
        }
    }
    if !with_reads.is_empty() {
        all.push(of(with_reads.join(" + "), curve.load())?);
    }
    Ok(all)
}

/// Reads by the commands outstanding: the values of [`ENDS`], each of them once for each time that it was measured.
#[derive(Default)]
struct Curve(BTreeMap<u32, [Vec<f64>; ENDS.len()]>);

impl Curve {
    /// Adds the reads of a run; returns whether it has some.
    fn add(&mut self, run: &Run) -> bool {
        let mut has_some = false;
        for jobs in side_by_side(run) {
            let depth = jobs
                .iter()
                .try_fold(0_u32, |sum, job| sum.checked_add(outstanding(&job.name, READS)?));
            let Some(depth) = depth else { continue };
            let rates = jobs.iter().map(|job| figure(run, job, ENDS[0]));
            let Some(rate) = rates.sum::<Option<f64>>() else { continue };
            let [all_rates, medians] = self.0.entry(depth).or_default();
            all_rates.push(rate);
            // The median of several jobs lies somewhere between theirs.
            if let [only] = jobs {
                medians.extend(figure(run, only, ENDS[1]));
            }
            has_some = true;
        }
        has_some
    }

    /// The curve as a `qd-sweep`: a depth that was measured several times has the mean.
    fn load(self) -> Load {
        let depths: Vec<_> = self.0.keys().map(u32::to_string).collect();
        let mut figures = Figures::new();
        for (depth, values) in self.0 {
            for (end, values) in ENDS.into_iter().zip(values).filter(|it| !it.1.is_empty()) {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                figures.extend(figures::named(&format!("qd-sweep.read_qd{depth}.{end}"), mean));
            }
        }
        ("qd-sweep", vec![setting("queue_depths", depths.join(","))], 1.0, figures)
    }
}

/// The steps of a run in groups that began together.
fn side_by_side(run: &Run) -> impl Iterator<Item = &[Phase]> {
    run.phases.chunk_by(|one, other| one.start_ns == other.start_ns)
}

/// The commands outstanding of a step by its name: `randread_4KiB_qd8`, with clones `randread_4KiB_qd8_jobs4`, and with
/// a number of its own either of them and `_2`; or `None` if the step has another load.
fn outstanding(name: &str, begin: &str) -> Option<u32> {
    let mut words = name.strip_prefix(begin)?.split('_');
    let depth: u32 = words.next()?.parse().ok()?;
    let jobs = words.next().and_then(|word| word.strip_prefix("jobs"));
    depth.checked_mul(jobs.map_or(Ok(1), str::parse).ok()?)
}

fn figure(run: &Run, step: &Phase, end: &str) -> Option<f64> {
    let name = format!("{IMPORTED}.{}.{end}", step.name);
    run.metrics.get(&name).copied().flatten().filter(|it| *it > 0.0)
}

/// The load of random writes as a `consistency`; or the missing condition.
fn writes(run: &Run, capacity_bytes: u64) -> Result<Load, String> {
    if let Some(mark) = obstacle(run, "iops_steady_mean") {
        return Err(format!("its random writes were not in steady state: {}", mark.text));
    }
    let rate = run.metrics.get("iops_steady_mean").copied().flatten().filter(|it| *it > 0.0);
    let is_load = |jobs: &[Phase]| jobs.iter().any(|job| job.name == GRAPHED_PHASE);
    let jobs = side_by_side(run).find(|jobs| is_load(jobs));
    let (Some(rate), Some(jobs)) = (rate, jobs) else {
        return Err(
            "no random writes with a row for each second (write_iops_log, log_avg_msec=1000)"
                .to_owned(),
        );
    };
    let [load] = jobs else {
        return Err(
            "other jobs ran beside its random writes (`stonewall` separates them)".to_owned()
        );
    };
    let steps =
        run.metrics.keys().filter_map(|name| name.strip_prefix(IMPORTED)?.split('.').nth(1));
    let depth = steps.filter_map(|step| outstanding(step, WRITES)).next();
    let depth = depth.ok_or("its random writes are not of 4 KiB")?;
    let span = run.config.get("size").and_then(|size| size.as_str());
    let span = span.and_then(|size| size.to_ascii_uppercase().parse::<Bytes>().ok());
    let span = span.ok_or("its random writes name no span (fio's `size`)")?;
    let kept = span.0 as f64 / capacity_bytes as f64;
    if !(0.1..=1.02).contains(&kept) {
        return Err("its span is below a tenth of the base model, or larger than it".to_owned());
    }
    let settings = vec![
        setting("duration", format!("{:.0}s", load.duration_ns as f64 / 1e9)),
        setting("steady_from", format!("{}s", configured_from_s(run))),
        setting("queue_depth", depth.to_string()),
    ];
    let figures = figures::named("iops_steady_mean", rate).into_iter().collect();
    Ok(("consistency", settings, kept.min(1.0), figures))
}

fn setting(name: &str, value: String) -> Setting {
    Setting { name: name.to_owned(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An imported run of steps with a start, a rate and a median.
    fn run(id: &str, steps: &[(&str, u64, f64, f64)]) -> Run {
        let template = include_str!("../../../result/tests/compat/v2/run.json");
        let mut run: Run = serde_json::from_str(template).expect("a run");
        (run.run_id, run.test) = (id.to_owned(), IMPORTED.to_owned());
        (run.metrics, run.phases) = (BTreeMap::new(), Vec::new());
        for (name, start_ns, iops, median) in steps {
            let (name, start_ns) = ((*name).to_owned(), *start_ns);
            run.metrics.insert(format!("{IMPORTED}.{name}.iops"), Some(*iops));
            run.metrics.insert(format!("{IMPORTED}.{name}.latency_ns_p50"), Some(*median));
            run.phases.push(Phase { name, start_ns, ..Phase::default() });
        }
        run
    }

    fn figures(runs: &[&Run]) -> (String, Vec<(String, f64)>) {
        let mut found = read(runs, 1 << 30, false).expect("reads");
        let curve = found.pop().expect("a curve");
        assert!(found.is_empty() && curve.test_name() == "qd-sweep");
        (curve.id, curve.figures.into_iter().map(|(name, it)| (name, it.value)).collect())
    }

    fn named(depth: u32, end: &str, value: f64) -> (String, f64) {
        (format!("qd-sweep.read_qd{depth}.{end}"), value)
    }

    #[test]
    fn jobs_side_by_side_and_clones_are_one_load() {
        let jobs = [
            ("randread_4KiB_qd8", 0, 100.0, 9.0),
            ("randread_4KiB_qd8_2", 0, 120.0, 9.0),
            ("randread_4KiB_qd4_jobs8", 5, 300.0, 8.0),
        ];
        let expected =
            [named(16, "iops", 220.0), named(32, "iops", 300.0), named(32, "latency_ns_p50", 8.0)];
        assert_eq!(figures(&[&run("a", &jobs)]), ("a".to_owned(), expected.to_vec()));
    }

    #[test]
    fn several_runs_are_one_curve_and_repeated_depths_have_the_mean() {
        let one = run("a", &[("randread_4KiB_qd1", 0, 10.0, 90.0)]);
        let other = [("randread_4KiB_qd1", 0, 12.0, 80.0), ("randread_4KiB_qd2", 3, 20.0, 99.0)];
        let expected = [
            named(1, "iops", 11.0),
            named(1, "latency_ns_p50", 85.0),
            named(2, "iops", 20.0),
            named(2, "latency_ns_p50", 99.0),
        ];
        let (id, found) = figures(&[&one, &run("b", &other)]);
        assert_eq!((id.as_str(), found), ("a + b", expected.to_vec()));
    }

    #[test]
    fn reads_beside_another_load_tell_nothing_about_reads_alone() {
        let jobs = [("randread_4KiB_qd8", 0, 100.0, 9.0), ("randwrite_4KiB_qd1", 0, 50.0, 9.0)];
        let refused = read(&[&run("a", &jobs)], 1 << 30, false).expect_err("nothing to use");
        assert!(refused.to_string().contains("no random 4 KiB reads alone"), "{refused}");
    }
}
