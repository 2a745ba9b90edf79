//! ssdlab against fio: 4 KB random writes at queue depth 32 through io_uring and O_DIRECT to the
//! same file. The two take turns, and take turns in going first, because a disk's speed drifts (some
//! lend speed for a while and take it back): only neighbours are compared, and their median counts.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};

use crate::log::Log;
use crate::proc;
use crate::workspace::Workspace;

/// What to measure with.
#[derive(Args)]
pub(crate) struct EngineArgs {
    /// Four turns of 5 s instead of four turns of 30 s.
    #[arg(long)]
    quick: bool,
    /// Where the file is made; its filesystem must know O_DIRECT. TMPDIR, or else /var/tmp.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// The same for both programs.
#[derive(Clone, Copy)]
struct Settings {
    turns: usize,
    seconds: u32,
    file_bytes: u64,
}

const FULL: Settings = Settings { turns: 4, seconds: 30, file_bytes: 2 << 30 };
const QUICK: Settings = Settings { turns: 4, seconds: 5, file_bytes: 512 << 20 };

const LOG: Log = Log::stderr("bench");

/// Times in /proc are given in ticks of this many ns; Linux keeps 100 Hz here on every machine.
const TICK_NS: f64 = 1e7;

/// One turn of one program.
struct Sample {
    iops: f64,
    cpu_ns_per_io: f64,
}

impl Sample {
    fn json(&self) -> Value {
        json!({ "iops": self.iops, "cpu_ns_per_io": self.cpu_ns_per_io })
    }
}

/// Measures and returns the JSON document.
pub(crate) fn run(workspace: &Workspace, args: &EngineArgs) -> Result<String> {
    if proc::which("fio").is_none() {
        bail!("fio is not in PATH: it is what ssdlab is compared with (Debian package fio)");
    }
    proc::stream(LOG, &mut workspace.build_release())?;
    let settings = if args.quick { QUICK } else { FULL };
    let dir = ScratchDir::make(args.dir.as_deref())?;
    let document = measure(workspace, settings, &dir.0)?;
    Ok(serde_json::to_string_pretty(&document)?)
}

fn measure(workspace: &Workspace, settings: Settings, dir: &Path) -> Result<Value> {
    let file = dir.join("bench.bin");
    proc::stream(LOG, &mut prepare_file(settings, &file))?;
    let mut turns = Vec::new();
    for number in 1..=settings.turns {
        let turn = Turn::take(workspace, settings, &file, number.is_multiple_of(2))?;
        let Turn { fio, ssdlab } = &turn;
        LOG.line(&format!(
            "turn {number} of {}: fio {:.0} IOPS, {:.0} ns CPU an I/O; ssdlab {:.0} IOPS, {:.0} ns",
            settings.turns, fio.iops, fio.cpu_ns_per_io, ssdlab.iops, ssdlab.cpu_ns_per_io
        ));
        turns.push(turn);
    }
    Ok(document(settings, &turns))
}

/// Both programs, one directly after the other.
struct Turn {
    fio: Sample,
    ssdlab: Sample,
}

impl Turn {
    fn take(
        workspace: &Workspace,
        settings: Settings,
        file: &Path,
        ssdlab_first: bool,
    ) -> Result<Self> {
        let early = if ssdlab_first { Some(ssdlab_turn(workspace, settings, file)?) } else { None };
        let fio = fio_turn(settings, file)?;
        let ssdlab = match early {
            Some(sample) => sample,
            None => ssdlab_turn(workspace, settings, file)?,
        };
        Ok(Self { fio, ssdlab })
    }
}

/// Every block is written once, so that no turn pays for the allocation of blocks.
fn prepare_file(settings: Settings, file: &Path) -> Command {
    let mut command = fio(settings, file);
    command.args(["--rw=write", "--bs=1M", "--ioengine=psync", "--end_fsync=1"]);
    command
}

fn fio(settings: Settings, file: &Path) -> Command {
    let mut command = Command::new("fio");
    command.args(["--name=bench", "--direct=1", "--thread"]);
    command.arg(format!("--filename={}", file.display()));
    command.arg(format!("--size={}", settings.file_bytes));
    command
}

fn fio_turn(settings: Settings, file: &Path) -> Result<Sample> {
    let mut command = fio(settings, file);
    command.args(["--rw=randwrite", "--bs=4k", "--iodepth=32", "--ioengine=io_uring"]);
    // What ssdlab does as well: registered buffers and files, and blocks drawn with replacement.
    command.args(["--fixedbufs=1", "--registerfiles=1", "--norandommap", "--randrepeat=0"]);
    command.args(["--time_based", "--output-format=json"]);
    command.arg(format!("--runtime={}", settings.seconds));
    let (text, cpu_ns) = capture_with_cpu(&mut command)?;
    let job: Value = serde_json::from_str(&text).context("fio did not print JSON")?;
    let write = &job["jobs"][0]["write"];
    sample(write["iops"].as_f64(), write["total_ios"].as_u64(), cpu_ns).context("in fio's JSON")
}

fn ssdlab_turn(workspace: &Workspace, settings: Settings, file: &Path) -> Result<Sample> {
    let library = file.with_file_name("runs");
    let mut command = Command::new(workspace.ssdlab());
    command.args(["run", "consistency"]).arg(format!("file:{}", file.display()));
    command.arg("--erase").arg(file).arg("--library").arg(library);
    command.arg("--set").arg(format!("duration={}s", settings.seconds));
    command.args(["--set", "fill=false", "--set", "purge=false", "--format", "json", "--quiet"]);
    let (text, cpu_ns) = capture_with_cpu(&mut command)?;
    let run = read_run(&text)?;
    let phases = run["phases"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let load = phases.iter().find(|phase| phase["name"] == "load");
    let ios = load.and_then(|load| load["ios"].as_u64());
    sample(run["metrics"]["iops_mean"].as_f64(), ios, cpu_ns).context("in run.json")
}

/// The run.json of the only run that the document names.
fn read_run(document: &str) -> Result<Value> {
    let document: Value = serde_json::from_str(document).context("ssdlab did not print JSON")?;
    let dir = document["run_dirs"][0].as_str().context("ssdlab named no run directory")?;
    let path = Path::new(dir).join("run.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn sample(iops: Option<f64>, ios: Option<u64>, cpu_ns: f64) -> Result<Sample> {
    let iops = iops.context("no figure of IOPS")?;
    let ios = ios.filter(|ios| *ios > 0).context("no number of I/Os")?;
    Ok(Sample { iops, cpu_ns_per_io: cpu_ns / ios as f64 })
}

/// Runs a command and gives its output and the CPU time that it and its children took, start and
/// end of the program included; that is the same burden for both and small against seconds of I/O.
fn capture_with_cpu(command: &mut Command) -> Result<(String, f64)> {
    let before = children_cpu_ns()?;
    let text = proc::capture(command)?;
    Ok((text, children_cpu_ns()? - before))
}

fn children_cpu_ns() -> Result<f64> {
    let stat =
        std::fs::read_to_string("/proc/self/stat").context("CPU times need Linux's /proc")?;
    children_ticks(&stat).map(|ticks| ticks * TICK_NS).context("/proc/self/stat is not as known")
}

/// Fields 16 and 17 of proc(5): user and system ticks of the children waited for. The name in
/// field 2 may hold spaces, so counting starts behind its closing bracket, at field 3.
fn children_ticks(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(13).take(2);
    let (user, system): (f64, f64) = (ticks.next()?.parse().ok()?, ticks.next()?.parse().ok()?);
    Some(user + system)
}

fn document(settings: Settings, turns: &[Turn]) -> Value {
    let median_of = |figure: &dyn Fn(&Turn) -> f64| median(turns.iter().map(figure).collect());
    json!({
        "bench": "engine",
        "settings": {
            "rw": "randwrite", "block_bytes": 4096, "queue_depth": 32, "engine": "io_uring",
            "direct": true, "file_bytes": settings.file_bytes, "turn_s": settings.seconds,
        },
        "samples": {
            "fio": turns.iter().map(|turn| turn.fio.json()).collect::<Vec<_>>(),
            "ssdlab": turns.iter().map(|turn| turn.ssdlab.json()).collect::<Vec<_>>(),
        },
        "median": {
            "fio": {
                "iops": median_of(&|turn| turn.fio.iops),
                "cpu_ns_per_io": median_of(&|turn| turn.fio.cpu_ns_per_io),
            },
            "ssdlab": {
                "iops": median_of(&|turn| turn.ssdlab.iops),
                "cpu_ns_per_io": median_of(&|turn| turn.ssdlab.cpu_ns_per_io),
            },
        },
        "iops_ratio": median_of(&|turn| turn.ssdlab.iops / turn.fio.iops),
        "cpu_ratio": median_of(&|turn| turn.ssdlab.cpu_ns_per_io / turn.fio.cpu_ns_per_io),
    })
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// A directory of our own that goes away with us.
struct ScratchDir(PathBuf);

impl ScratchDir {
    /// /tmp may be memory, which would measure no disk; hence /var/tmp where nothing is said.
    fn make(dir: Option<&Path>) -> Result<Self> {
        let parent = match dir {
            Some(dir) => dir.to_path_buf(),
            None => std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from),
        };
        let path = parent.join(format!("ssdlab-bench-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| {
            format!("cannot make {}; choose a place with --dir", path.display())
        })?;
        Ok(Self(path))
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // Nothing depends on it, and the name says whose it is.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
    }

    #[test]
    fn ticks_are_read_behind_a_name_with_spaces() {
        let stat = "7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 11 12 30 12 20 0";
        assert_eq!(children_ticks(stat), Some(42.0));
        assert_eq!(children_ticks("nonsense"), None);
    }

    #[test]
    fn a_child_costs_cpu_time() {
        let mut busy = Command::new("sh");
        busy.args(["-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done"]);
        let (text, cpu_ns) = capture_with_cpu(&mut busy).unwrap();
        assert_eq!(text.trim(), "done");
        assert!(cpu_ns > 0.0);
    }
}
