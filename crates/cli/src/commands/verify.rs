//! `ssdlab verify`: does a drive keep the data that it has acknowledged? Writes, records flushed
//! batches, reads back. `--check` only reads back, for instance after a power cut; `--power-cuts`
//! is for simulated drives, see [`power_cuts`].

pub mod power_cuts;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use ::target::{Target, TargetError, TargetSpec};
use base::verifiable::Sector;
use base::{Bytes, Nanos};
use clap::Args as ClapArgs;
use device::host::shell::{quoted, quoted_path};
use io::{OpenOptions, RealTarget};
use run::verify::Layout;
use run::verify::check::{BrokenBlock, Report, check};
use run::verify::journal::{Header, Journal};
use run::verify::promises::Promises;
use run::verify::writer::{Stop, WriteCounts, write};
use run::{RunError, SpanRequest};

use crate::args::Format;
use crate::args::heading;
use crate::failure::{EXIT_DONE, EXIT_VERDICT};
use crate::inputs::Inputs;
use crate::prepare::{self, Requirements, Targets};
use crate::stop;
use crate::ui::out::{data, talk};

const EXAMPLES: &str = "\
Examples:
  ssdlab verify 'file:disk?size=1GiB' --duration 10s
  ssdlab verify /dev/nvme1n1 --erase SERIAL --journal /mnt/other/verify.journal
  ssdlab verify /dev/nvme1n1 --check --journal /mnt/other/verify.journal
  ssdlab verify sim:samsung-840-pro-256gb --power-cuts 100";

/// Default number of outstanding commands.
pub const QUEUE_DEPTH: u32 = 32;

/// Arguments of `verify`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// Target: `/dev/...` or `file:PATH?size=1GiB`; `sim:NAME` with --power-cuts
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Only read back the blocks of an earlier run, e.g. after a power cut; no writes
    #[arg(long, conflicts_with_all = ["erase", "duration", "writes", "span", "block", "seed"])]
    pub check: bool,
    /// Cut the power of a simulated drive this many times, at random moments of a random workload,
    /// and check every page after each recovery
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["check", "journal", "erase", "duration", "writes", "span", "block"])]
    pub power_cuts: Option<u64>,
    /// Journal of promises; keep it on another drive, best on another machine
    #[arg(long, value_name = "FILE", default_value = "ssdlab-verify.journal")]
    pub journal: PathBuf,
    /// Confirm that everything on the device with this serial may be erased (an existing file: its
    /// path; a loop device: the path of the file behind it)
    #[arg(long, value_name = "SERIAL", help_heading = heading::SAFETY)]
    pub erase: Vec<String>,
    /// Also erase recognised data: file systems, partition tables, databases, archives, ...
    #[arg(long, requires = "erase", help_heading = heading::SAFETY)]
    pub erase_signatures: bool,
    /// Time to write; Ctrl-C ends it earlier
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub duration: Nanos,
    /// Most writes
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    pub writes: u64,
    /// Bytes to use from LBA 0
    #[arg(long, value_name = "BYTES", help_heading = heading::TEST)]
    pub span: Option<Bytes>,
    /// Size of a block
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    pub block: Bytes,
    /// Outstanding commands
    #[arg(long, value_name = "N", default_value_t = QUEUE_DEPTH)]
    pub queue_depth: u32,
    /// Seed of addresses and data; default: a new one each time
    #[arg(long, value_name = "N", help_heading = heading::TEST)]
    pub seed: Option<u64>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

pub fn run(args: &VerifyArgs) -> anyhow::Result<u8> {
    let spec: TargetSpec = args.target.parse()?;
    if let Some(cuts) = args.power_cuts {
        return power_cuts::run(args, &spec, cuts);
    }
    refuse_nothing(args)?;
    refuse_forgetful(&spec)?;
    let (written, promises, report) = if args.check {
        let promises = promised(args)?;
        let mut target = open_again(args, &spec, &promises)?;
        (None, promises.clone(), check(&mut target, &promises)?)
    } else {
        refuse_journal(args, &spec)?;
        let seed = seed(args);
        let held = held(args, &spec)?;
        let options = OpenOptions { verifiable: true, seed, ..options(args, &held) };
        let mut target = open(&held, &spec, &options)?;
        let written = write_all(args, &mut target, seed)?;
        let promises = promised(args)?;
        let report = check(&mut target, &promises)?;
        (Some(written), promises, report)
    };
    match args.format {
        Format::Json => data!("{}", document(args, written, &promises, &report)),
        Format::Text => print(args, written, &promises, &report),
    }
    Ok(if report.broken_blocks() > 0 { EXIT_VERDICT } else { EXIT_DONE })
}

/// Refuses a run without writes: it would keep every promise.
fn refuse_nothing(args: &VerifyArgs) -> Result<(), RunError> {
    let (flag, expected) = match (args.writes, args.duration) {
        (0, _) => ("--writes 0", "at least 1"),
        (_, Nanos(0)) => ("--duration 0s", "a time above 0, such as 60s"),
        _ => return Ok(()),
    };
    Err(RunError::Usage(format!("{flag} would write nothing to read back; expected {expected}")))
}

/// Refuses an existing journal, or the target as journal, before the target is opened: a user who
/// is asked for `--erase` first gives it, and the promises are lost.
fn refuse_journal(args: &VerifyArgs, spec: &TargetSpec) -> Result<(), RunError> {
    let path = &args.journal;
    Inputs::default().target(spec).require_other(path, "--journal")?;
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let journal = path.display();
    let another = "name another one with --journal";
    if Journal::is_being_written(path) {
        return Err(RunError::Usage(format!(
            "the journal {journal} exists already, and another `ssdlab verify` is writing it; wait for that, or {another}"
        )));
    }
    let what = Promises::read(path).map(|promises| {
        let blocks = promises.durable.len();
        let serial = &promises.header.serial;
        let seed = promises.header.seed;
        let command = format!(
            "ssdlab verify {} --check --journal {}",
            quoted(&spec.to_string()),
            quoted_path(path)
        );
        format!(
            "from a run on {serial} (seed {seed}) that came to its end or was stopped before it: it promises {blocks} \
             blocks. Read them back with `{command}`, which writes nothing"
        )
    });
    let what = what.unwrap_or_else(|error| format!("and it cannot be read back: {error}"));
    Err(RunError::Usage(format!(
        "the journal {journal} exists already, {what}; then remove it, or {another}"
    )))
}

/// The promises of the journal, at least one.
fn promised(args: &VerifyArgs) -> Result<Promises, RunError> {
    let promises = Promises::read(&args.journal)?;
    if !promises.durable.is_empty() {
        return Ok(promises);
    }
    Err(RunError::Target(TargetError::Unsupported(format!(
        "nothing was promised, so nothing was checked: the journal {} notes no flushed batch; write for longer \
         (--duration, --writes) with a new --journal",
        args.journal.display()
    ))))
}

/// A new seed each time: data of an earlier run must not pass for that of this one.
pub fn seed(args: &VerifyArgs) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    args.seed.unwrap_or(since.as_nanos() as u64)
}

/// Refuses targets that store nothing.
fn refuse_forgetful(spec: &TargetSpec) -> Result<(), TargetError> {
    let kind = spec.kind();
    if kind.stores_data() {
        return Ok(());
    }
    Err(TargetError::Unsupported(if kind.is_simulated() {
        format!(
            "{spec} keeps no data to read back; --power-cuts N shows what it would lose with its power"
        )
    } else {
        format!("{spec} keeps no data; verify a block device or a file")
    }))
}

/// The target, checked and held.
fn held(args: &VerifyArgs, spec: &TargetSpec) -> Result<Targets, TargetError> {
    let requirements = Requirements {
        write: !args.check,
        erase: &args.erase,
        erase_signatures: args.erase_signatures,
        ..Requirements::READ
    };
    prepare::hold(prepare::inspect(vec![spec.clone()], requirements)?)
}

fn options(args: &VerifyArgs, held: &Targets) -> OpenOptions {
    OpenOptions { queue_depth: args.queue_depth, ..held.options().clone() }
}

fn open(
    held: &Targets,
    spec: &TargetSpec,
    options: &OpenOptions,
) -> Result<RealTarget, TargetError> {
    let target = held.target(spec)?.open(options)?.real();
    target.ok_or_else(|| TargetError::Unsupported(format!("{spec} cannot be verified")))
}

/// Opens the target for reading and makes sure that it is the one of the journal.
fn open_again(
    args: &VerifyArgs,
    spec: &TargetSpec,
    promises: &Promises,
) -> Result<RealTarget, TargetError> {
    let held = held(args, spec)?;
    let target = open(&held, spec, &options(args, &held))?;
    match other_drive(&promises.header, &serial(&target), wwid(&target).as_deref()) {
        None => Ok(target),
        Some((expected, found)) => Err(TargetError::Refused {
            code: "wrong-serial",
            message: format!(
                "the journal {} is of {expected}, and {spec} is {found}; name the target that was written, or \
                 its journal with --journal",
                args.journal.display()
            ),
        }),
    }
}

/// The expected and the actual serial or name, or `None` if neither differs.
fn other_drive<'a>(
    header: &'a Header,
    serial: &'a str,
    wwid: Option<&'a str>,
) -> Option<(&'a str, &'a str)> {
    if header.serial != serial {
        return Some((&header.serial, serial));
    }
    // Another port may give the same drive a name of another scheme: `naa.5000...` and `t10.ATA...`.
    let scheme = |wwid: &str| wwid.split('.').next().map(str::to_owned);
    let (expected, found) = (header.wwid.as_deref()?, wwid?);
    (expected != found && scheme(expected) == scheme(found)).then_some((expected, found))
}

/// The mark that distinguishes the target: its serial, or its name if it has none.
fn serial(target: &RealTarget) -> String {
    let identity = target.identity();
    identity.serial.unwrap_or(identity.spec)
}

/// The mark that distinguishes the namespaces of one drive, or `None` if it has none.
fn wwid(target: &RealTarget) -> Option<String> {
    target.identity().details.remove("wwid")
}

fn write_all(args: &VerifyArgs, target: &mut RealTarget, seed: u64) -> anyhow::Result<WriteCounts> {
    let span = args.span.map_or(SpanRequest::Default, SpanRequest::Bytes);
    let span_bytes = span.resolve(&target.identity())?.span_bytes;
    let layout = Layout::new(span_bytes, args.block.0, &target.limits())?;
    target.confine(layout.span_bytes);
    let header = Header { serial: serial(target), wwid: wwid(target), seed, layout };
    let mut journal = Journal::create(&args.journal, &header)?;
    talk!("{}: seed {seed}, journal {}", args.target, args.journal.display());
    let interrupted = stop::button()?;
    let stop = Stop { duration: args.duration, writes_max: args.writes, interrupted: &interrupted };
    Ok(write(target, &layout, seed, &mut journal, &stop)?)
}

fn document(
    args: &VerifyArgs,
    written: Option<WriteCounts>,
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
        "target": args.target, "journal": args.journal, "journal_has_checksums": promises.has_checksums,
        "seed": promises.header.seed,
        "writes": written.map(|written| written.writes),
        "flushes": written.map(|written| written.flushes),
        "promised_blocks": promises.durable.len(), "counts": counts,
        "broken_blocks": report.broken_blocks(), "other_run_blocks": report.other_run_blocks,
        "broken": broken,
    })
}

fn print(args: &VerifyArgs, written: Option<WriteCounts>, promises: &Promises, report: &Report) {
    if let Some(WriteCounts { writes, flushes }) = written {
        data!("{}: {writes} writes acknowledged in {flushes} flushed batches", args.target);
    }
    data!("{} blocks were promised (journal {})", promises.durable.len(), shown(&args.journal));
    for (finding, count) in &report.counts {
        data!("  {count:>10} {}", finding.name());
    }
    for broken in &report.broken {
        let BrokenBlock { offset_bytes, finding, promised, .. } = broken;
        let (finding, holds) = (finding.name(), holds(broken));
        data!("  at {offset_bytes}: {finding}: promised write {promised}, holds {holds}");
    }
    match report.broken_blocks() {
        0 => data!("The drive kept every promise."),
        blocks => data!("The drive broke its promise for {blocks} blocks."),
    }
    if report.other_run_blocks > 0 {
        data!(
            "{} of them hold what another run of `ssdlab verify` wrote: where that run came later, the drive is \
             not to blame.",
            report.other_run_blocks
        );
    }
    if report.broken_blocks() > 0 && !promises.has_checksums {
        data!(
            "The journal is of the first version, without checksums: if it was damaged, that may be its fault."
        );
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The content of a block, in words; equal neighbours appear once.
fn holds(broken: &BrokenBlock) -> String {
    if broken.found.is_empty() {
        return "what cannot be read".to_owned();
    }
    let mut words: Vec<String> = broken.found.iter().map(sector).collect();
    words.dedup();
    words.join(", ")
}

fn sector(sector: &Sector) -> String {
    match sector {
        Sector::Intact { offset_bytes, generation } => {
            let block = offset_bytes / base::verifiable::SECTOR_BYTES as u64;
            format!("write {generation} of sector {block}")
        }
        Sector::OtherRun { seed, generation } => {
            format!("write {generation} of another run (seed {seed})")
        }
        Sector::Zeros => "zeros".to_owned(),
        Sector::Unknown => "other data".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use clap::Parser;

    use super::*;
    use crate::commands::{Args, Command};
    use crate::failure::Failure;

    /// The exit code of `ssdlab verify` with these arguments, and its message after a failure.
    fn verify(words: &[&str]) -> (u8, String) {
        let words = ["ssdlab", "verify"].iter().chain(words);
        let Command::Verify(args) = Args::try_parse_from(words).unwrap().command else { panic!() };
        match run(&args) {
            Ok(code) => (code, String::new()),
            Err(error) => {
                let Failure { message, exit_code, .. } = Failure::from_error(&error);
                (exit_code, message)
            }
        }
    }

    /// A file of 4 MiB written by an earlier run, as a target of half its size, with the journal.
    fn written(dir: &Path) -> [String; 3] {
        let file = dir.join("file").display().to_string();
        let (target, journal) = (format!("file:{file}?size=2MiB&keep=true"), dir.join("journal"));
        let journal = journal.display().to_string();
        assert_eq!(verify(&[&target, "--journal", &journal, "--writes", "3000"]).0, EXIT_DONE);
        File::options().write(true).open(&file).unwrap().set_len(4 << 20).unwrap();
        [file, target, journal]
    }

    #[test]
    fn a_refused_command_leaves_an_existing_file_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let [file, target, journal] = written(dir.path());
        let before = fs::read(&file).unwrap();
        let other = dir.path().join("other").display().to_string();
        let refused: [(&[&str], &str); 4] = [
            (&["--journal", &journal], "exists already"),
            (&["--journal", "/nope/jx"], "/nope/jx cannot be used"),
            (&["--journal", &other, "--block", "3KiB"], "a block of 3072 bytes"),
            (&["--journal", &other, "--span", "4GiB"], "--span 4GiB is larger"),
        ];
        for (words, expected) in refused {
            let (code, message) = verify(&[&[&target, "--erase", &file], words].concat());
            assert_eq!(code, 2, "{words:?}: {message}");
            assert!(message.contains(expected), "{message}");
            assert!(fs::read(&file).unwrap() == before, "{words:?}");
        }
        assert_eq!(verify(&[&target, "--check", "--journal", &journal]).0, EXIT_DONE);
    }

    #[test]
    fn a_refused_command_leaves_no_new_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        let target = format!("file:{}?size=2MiB&keep=true", path("new"));
        for words in [["--journal", "/nope/jx"], ["--block", "3KiB"]] {
            let journal = ["--journal", &path("journal")];
            let words = [&words[..], if words[0] == "--block" { &journal } else { &[] }].concat();
            assert_eq!(verify(&[&[&target[..]], &words[..]].concat()).0, 2, "{words:?}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{words:?}");
        }
        assert_eq!(verify(&[&target, "--writes", "9", "--journal", &path("journal")]).0, 0);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_was_never_promised_is_not_kept_either() {
        let dir = tempfile::tempdir().unwrap();
        let [_, target, journal] = written(dir.path());
        for (flag, value) in [("--writes", "0"), ("--duration", "0s")] {
            let (code, message) = verify(&[&target, flag, value]);
            assert_eq!(code, 2, "{message}");
            assert!(message.contains(&format!("{flag} {value}")), "{message}");
        }
        let new = format!("file:{}?size=1MiB", dir.path().join("new").display());
        let other = dir.path().join("other").display().to_string();
        let nothing = "nothing was promised, so nothing was checked";
        let (code, message) = verify(&[&new, "--journal", &other, "--duration", "1ns"]);
        assert_eq!((code, message.contains(nothing)), (5, true), "{message}");

        let text = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, format!("{}\n", text.lines().next().unwrap())).unwrap();
        let (code, message) = verify(&[&target, "--check", "--journal", &journal]);
        assert_eq!((code, message.contains(nothing)), (5, true), "{message}");
    }

    #[test]
    fn a_damaged_journal_accuses_no_drive() {
        let dir = tempfile::tempdir().unwrap();
        let [_, target, journal] = written(dir.path());
        let whole = fs::read(&journal).unwrap();
        // A digit of a promise: without a checksum, the promise of a write that never was.
        let digit = whole.windows(2).rposition(|pair| pair == b"]]").unwrap() - 1;
        let mut flipped = whole.clone();
        flipped[digit] ^= 1;
        fs::write(&journal, &flipped).unwrap();
        let check = [&target, "--check", "--journal", &journal];
        let (code, message) = verify(&check);
        assert_eq!(code, 4, "{message}");
        let line = whole[..digit].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        assert!(message.contains(&format!("from byte {line} on")), "{message}");
        // The advice of the message.
        fs::write(&journal, &whole[..line]).unwrap();
        assert_eq!(verify(&check), (EXIT_DONE, String::new()));
    }

    #[test]
    fn a_journal_of_the_first_version_is_still_read() {
        let dir = tempfile::tempdir().unwrap();
        let [_, target, journal] = written(dir.path());
        let text = fs::read_to_string(&journal).unwrap();
        let lines = text.lines().map(|line| line[9..].replace("verify-2", "verify-1") + "\n");
        fs::write(&journal, lines.collect::<String>()).unwrap();
        assert_eq!(verify(&[&target, "--check", "--journal", &journal]).0, EXIT_DONE);
    }

    #[test]
    fn the_other_namespace_of_a_drive_is_another_drive() {
        let layout = Layout { span_bytes: 1 << 20, block_bytes: 4096 };
        let wwid = Some("eui.1".to_owned());
        let header = Header { serial: "S1".to_owned(), wwid, seed: 1, layout };
        let other = |serial, wwid| other_drive(&header, serial, wwid);
        assert_eq!(other("S1", Some("eui.1")), None);
        assert_eq!(other("S1", Some("eui.2")), Some(("eui.1", "eui.2")));
        assert_eq!(other("S2", Some("eui.1")), Some(("S1", "S2")));
        assert_eq!(other("S1", Some("nvme.1-S1")), None);
        assert_eq!(other("S1", None), None);
    }

    #[test]
    fn a_target_that_is_not_the_one_that_was_written_is_not_judged() {
        let dir = tempfile::tempdir().unwrap();
        let [file, target, journal] = written(dir.path());
        let other = dir.path().join("other").display().to_string();
        fs::copy(&file, &other).unwrap();
        let (code, message) = verify(&[&format!("file:{other}"), "--check", "--journal", &journal]);
        assert_eq!((code, message.contains("is of /")), (3, true), "{message}");
        File::options().write(true).open(&file).unwrap().set_len(1 << 20).unwrap();
        let target = target.split('?').next().unwrap();
        let (code, message) = verify(&[target, "--check", "--journal", &journal]);
        assert_eq!(code, 3, "{message}");
        assert!(
            message.contains("2097152 bytes") && message.contains("1048576 bytes"),
            "{message}"
        );
        let (code, message) = verify(&[target, "--check", "--journal", &file]);
        assert_eq!((code, message.contains("is not a journal")), (2, true), "{message}");
    }
}
