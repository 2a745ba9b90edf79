//! `ssdlab verify`: does a drive keep what it has acknowledged? Writes, notes what was flushed, reads back.
//! `--check` only reads back, for instance after a power cut; `--power-cuts` is for simulated drives, see
//! [`power_cuts`](super::power_cuts).

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use io::verifiable::Sector;
use io::{IoError, OpenOptions, RealTarget, Target, TargetSpec, open_block, open_file};
use run::SpanRequest;
use run::verify::Layout;
use run::verify::check::{Broken, Report, check};
use run::verify::journal::{Header, Journal, Promises};
use run::verify::writer::{Stop, Written, write};

use crate::args::Format;
use crate::args::verify::VerifyArgs;
use crate::cmd::run::stop_button;
use crate::failure::{EXIT_DONE, EXIT_VERDICT};
use crate::ui::out::data;

pub fn run(args: &VerifyArgs) -> anyhow::Result<u8> {
    let spec: TargetSpec = args.target.parse()?;
    if let Some(cuts) = args.power_cuts {
        return super::power_cuts::run(args, &spec, cuts);
    }
    let (written, promises, report) = if args.check {
        let promises = Promises::read(&args.journal)?;
        let mut target = open_again(args, &spec, &promises)?;
        (None, promises.clone(), check(&mut target, &promises)?)
    } else {
        let seed = seed(args);
        let mut target = open(&spec, &write_options(args, seed))?;
        let written = write_all(args, &mut target, seed)?;
        let promises = Promises::read(&args.journal)?;
        let report = check(&mut target, &promises)?;
        (Some(written), promises, report)
    };
    match args.format {
        Format::Json => data!("{}", document(args, written, &promises, &report)),
        Format::Text => print(args, written, &promises, &report),
    }
    Ok(if report.broken_blocks() > 0 { EXIT_VERDICT } else { EXIT_DONE })
}

/// Data of an earlier run must not pass for that of this one, hence another seed each time.
pub fn seed(args: &VerifyArgs) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    args.seed.unwrap_or(since.as_nanos() as u64)
}

fn write_options(args: &VerifyArgs, seed: u64) -> OpenOptions {
    OpenOptions {
        queue_depth: args.queue_depth,
        write: true,
        erase: args.erase.clone(),
        erase_signatures: args.erase_signatures,
        verifiable: true,
        seed,
        ..OpenOptions::default()
    }
}

fn open(spec: &TargetSpec, options: &OpenOptions) -> Result<RealTarget, IoError> {
    match spec {
        TargetSpec::Block { path } => open_block(path, options),
        TargetSpec::File { path, size_bytes, keep } => open_file(path, *size_bytes, *keep, options),
        TargetSpec::Sim { .. } => Err(IoError::Unsupported(format!(
            "{spec} keeps no data to read back; --power-cuts N shows what it would lose with its power"
        ))),
        TargetSpec::Null { .. } => Err(IoError::Unsupported(format!(
            "{spec} keeps no data; verify a block device or a file"
        ))),
    }
}

/// Opens the target for reading and makes sure that it is the one of the journal.
fn open_again(
    args: &VerifyArgs,
    spec: &TargetSpec,
    promises: &Promises,
) -> Result<RealTarget, IoError> {
    let options = OpenOptions { queue_depth: args.queue_depth, ..OpenOptions::default() };
    let target = open(spec, &options)?;
    let (found, expected) = (serial(&target), &promises.header.serial);
    if found == *expected {
        return Ok(target);
    }
    Err(IoError::Refused {
        code: "wrong-serial",
        message: format!(
            "{} was written by {expected}, and {spec} is {found}",
            args.journal.display()
        ),
    })
}

/// What tells the target from others: its serial, or the name of one that has none.
fn serial(target: &RealTarget) -> String {
    let identity = target.identity();
    identity.serial.unwrap_or(identity.spec)
}

fn write_all(args: &VerifyArgs, target: &mut RealTarget, seed: u64) -> anyhow::Result<Written> {
    let span = args.span.map_or(SpanRequest::Default, SpanRequest::Bytes);
    let span_bytes = span.resolve(&target.identity())?.span_bytes;
    let layout = Layout::new(span_bytes, args.block.0, &target.limits())?;
    target.confine(layout.span_bytes);
    let header = Header { serial: serial(target), seed, layout };
    let mut journal = Journal::create(&args.journal, &header)?;
    let interrupted = stop_button()?;
    let stop = Stop { duration: args.duration, writes_max: args.writes, interrupted: &interrupted };
    Ok(write(target, &layout, seed, &mut journal, &stop)?)
}

fn document(
    args: &VerifyArgs,
    written: Option<Written>,
    promises: &Promises,
    report: &Report,
) -> serde_json::Value {
    let counts: serde_json::Map<_, _> = report
        .counts
        .iter()
        .map(|(finding, count)| (finding.name().to_owned(), (*count).into()))
        .collect();
    let broken: Vec<_> = report
        .broken
        .iter()
        .map(|broken| {
            serde_json::json!({
                "offset_bytes": broken.offset_bytes, "finding": broken.finding.name(),
                "promised_write": broken.promised, "holds": holds(broken),
            })
        })
        .collect();
    serde_json::json!({
        "target": args.target, "journal": args.journal, "seed": promises.header.seed,
        "writes": written.map(|written| written.writes),
        "flushes": written.map(|written| written.flushes),
        "promised_blocks": promises.durable.len(), "counts": counts,
        "broken_blocks": report.broken_blocks(), "broken": broken,
    })
}

fn print(args: &VerifyArgs, written: Option<Written>, promises: &Promises, report: &Report) {
    if let Some(Written { writes, flushes }) = written {
        data!("{}: {writes} writes acknowledged in {flushes} flushed batches", args.target);
    }
    data!("{} blocks were promised (journal {})", promises.durable.len(), shown(&args.journal));
    for (finding, count) in &report.counts {
        data!("  {count:>10} {}", finding.name());
    }
    for broken in &report.broken {
        let Broken { offset_bytes, finding, promised, .. } = broken;
        let (finding, holds) = (finding.name(), holds(broken));
        data!("  at {offset_bytes}: {finding}: promised write {promised}, holds {holds}");
    }
    match report.broken_blocks() {
        0 => data!("The drive kept every promise."),
        blocks => data!("The drive broke its promise for {blocks} blocks."),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// What a block holds, in words; equal neighbours are said once.
fn holds(broken: &Broken) -> String {
    let mut words: Vec<String> = broken.found.iter().map(sector).collect();
    words.dedup();
    words.join(", ")
}

fn sector(sector: &Sector) -> String {
    match sector {
        Sector::Intact { offset_bytes, generation } => {
            let block = offset_bytes / io::verifiable::SECTOR_BYTES as u64;
            format!("write {generation} of sector {block}")
        }
        Sector::Zeros => "zeros".to_owned(),
        Sector::Unknown => "other data".to_owned(),
    }
}
