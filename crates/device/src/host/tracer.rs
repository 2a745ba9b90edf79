//! The kernel's own block tracer, through tracefs: no package, no relay files, no program beside it.
//!
//! The recipe: select the tracer `blk`, switch it to binary, omit the context in front of each
//! record, enable the device, read `trace_pipe`; the output is blktrace's stream of version 7.
//! Dropping the tracer restores all changed settings; after a kill [`restore_left_behind`] does it,
//! from a journal that was written before. The kernel drops events if its buffers overflow; it
//! counts them, and so does [`BlockTracer::losses`].
//!
//! There is one block tracer in a kernel: recording is refused while another tracer is selected.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use target::TargetError;

use crate::host::journal::{self, Journal};
use crate::host::shell::quoted_path;
use crate::host::sysfs::DeviceNumber;

/// Mount points of tracefs, on old and new systems.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The kernel's names of the block tracer, and of none.
const BLOCK_TRACER: &str = "blk";
const NO_TRACER: &str = "nop";

/// The settings of a recording, below tracefs and in this order. The buffer is that of each CPU.
const SETTINGS: [(&str, &str); 4] = [
    ("buffer_size_kb", "32768"),
    ("current_tracer", BLOCK_TRACER),
    ("options/bin", "1"),
    ("options/context-info", "0"),
];

/// Name of the journal: there is one block tracer in a kernel. Versions that know no such journal remove every
/// `*.json` that they cannot read.
const JOURNAL_NAME: &str = "block-tracer";

/// Pause between looks at an empty pipe.
const POLL: Duration = Duration::from_millis(5);

/// The settings found before a recording, enough to restore them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    /// Number of the device that is traced.
    device: String,
    /// The kernel's count of that device, so that another one of that number is left alone, or
    /// `None` in old kernels.
    sequence: Option<String>,
    /// The earlier value of each of [`SETTINGS`].
    settings: BTreeMap<String, String>,
}

/// Directories of the kernel's files.
#[derive(Clone, Debug)]
struct Place {
    tracefs: PathBuf,
    /// The kernel's directory of device numbers.
    devices: PathBuf,
    /// Directory of the journal.
    journals: PathBuf,
}

impl Place {
    /// The directories on this machine.
    fn live() -> Result<Self, TargetError> {
        let found = TRACEFS.iter().map(Path::new).find(|dir| dir.join("current_tracer").exists());
        let Some(tracefs) = found else {
            return Err(TargetError::Unsupported(
                "the kernel's tracefs is not to be seen; recording needs root and: mount -t tracefs nodev \
                 /sys/kernel/tracing"
                    .to_owned(),
            ));
        };
        let (devices, journals) = ("/sys/dev/block".into(), journal::DIR.into());
        Ok(Self { tracefs: tracefs.to_owned(), devices, journals })
    }

    /// The file that switches the tracing of one device.
    fn enable(&self, device: &str) -> PathBuf {
        self.devices.join(device).join("trace/enable")
    }

    fn sequence(&self, device: &str) -> Option<String> {
        read(&self.devices.join(device).join("diskseq")).ok()
    }

    /// The current settings.
    fn look(&self, device: &str) -> Result<Found, TargetError> {
        let setting = |(name, _): (&str, &str)| -> Result<_, TargetError> {
            // `7 (expanded: 1408)` is how an unused buffer tells its size.
            let held = read(&self.tracefs.join(name))?;
            let word = held.split_whitespace().next().unwrap_or_default();
            Ok((name.to_owned(), word.to_owned()))
        };
        let settings = SETTINGS.into_iter().map(setting).collect::<Result<_, _>>()?;
        Ok(Found { device: device.to_owned(), sequence: self.sequence(device), settings })
    }

    /// Restores all settings, the last change first. If somebody else has selected a tracer since,
    /// the settings are theirs.
    fn put_back(&self, found: &Found) -> Result<(), TargetError> {
        let enable = self.enable(&found.device);
        let is_same = enable.exists() && self.sequence(&found.device) == found.sequence;
        if is_same && read(&enable)? != "0" {
            write(&enable, "0")?;
        }
        let selected = read(&self.tracefs.join("current_tracer"))?;
        if ![NO_TRACER, BLOCK_TRACER].contains(&selected.as_str()) {
            return Ok(());
        }
        let before = |(name, _)| Some((self.tracefs.join(name), found.settings.get(name)?));
        SETTINGS
            .into_iter()
            .rev()
            .filter_map(before)
            .try_for_each(|(path, value)| write(&path, value))
    }

    fn restore_left_behind(&self) -> Vec<Result<String, TargetError>> {
        let put_back = |(found, journal): (Found, Journal)| {
            self.put_back(&found)?;
            journal.remove();
            Ok("block tracer of the kernel: as a recording that was killed had found it".to_owned())
        };
        journal::left_behind(&self.journals, JOURNAL_NAME).into_iter().map(put_back).collect()
    }
}

/// Restores the settings changed by a recording that was killed, as
/// [`crate::rest::restore_left_behind`]; returns nothing if there is none. A recording that is
/// still alive is left alone.
pub fn restore_left_behind() -> Vec<Result<String, TargetError>> {
    if !Path::new(journal::DIR).join(JOURNAL_NAME).exists() {
        return Vec::new();
    }
    match Place::live() {
        Ok(place) => place.restore_left_behind(),
        Err(error) => vec![Err(error)],
    }
}

/// The block tracer at work on one device. Reading returns blktrace's binary stream, which ends
/// when the time is over or the stop button is pressed.
pub struct BlockTracer {
    place: Place,
    /// Closed before the tracer is restored: the kernel does not change a tracer while it is read.
    pipe: Option<File>,
    enabled: bool,
    until: Option<Instant>,
    stop: Arc<AtomicBool>,
    lost_before: u64,
    found: Found,
    /// Held until all settings are restored.
    journal: Option<Journal>,
}

impl BlockTracer {
    /// Starts recording the events on `device`, for `duration` or until `stop`.
    ///
    /// # Errors
    /// [`TargetError::Usage`] if it is no block device, [`TargetError::Unsupported`] if this kernel or user
    /// cannot trace, [`TargetError::Refused`] if somebody else is tracing.
    pub fn start(
        device: &Path,
        duration: Option<Duration>,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, TargetError> {
        let number = DeviceNumber::of_block_node(device).ok_or_else(|| {
            let name = device.display();
            TargetError::Usage(format!(
                "`{name}` is no block device; name one such as /dev/nvme0n1"
            ))
        })?;
        let until = duration.map(|duration| Instant::now() + duration);
        Self::start_at(Place::live()?, &number.to_string(), until, stop)
    }

    fn start_at(
        place: Place,
        device: &str,
        until: Option<Instant>,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, TargetError> {
        require_block_tracer(&place, device)?;
        let found = place.look(device)?;
        let journal = Journal::write(&place.journals, JOURNAL_NAME, &found)?;
        let lost_before = lost(&place.tracefs);
        let (pipe, journal) = (None, Some(journal));
        // From here on dropping the tracer restores the settings after any failure.
        let mut tracer =
            Self { place, pipe, enabled: false, until, stop, lost_before, found, journal };
        for (name, value) in SETTINGS {
            write(&tracer.place.tracefs.join(name), value)?;
        }
        tracer.pipe = Some(open_pipe(&tracer.place.tracefs)?);
        write(&tracer.enable(), "1")?;
        tracer.enabled = true;
        Ok(tracer)
    }

    fn enable(&self) -> PathBuf {
        self.place.enable(&self.found.device)
    }

    /// A handle to ask for lost events while something else reads.
    pub fn losses(&self) -> Losses {
        Losses { tracefs: self.place.tracefs.clone(), before: self.lost_before }
    }

    fn disable(&mut self) {
        if std::mem::take(&mut self.enabled) {
            // A device that cannot be disabled is gone, and so is its tracing.
            let _ = write(&self.enable(), "0");
        }
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Counts events that the kernel dropped.
#[derive(Clone, Debug)]
pub struct Losses {
    tracefs: PathBuf,
    before: u64,
}

impl Losses {
    /// Events dropped since the start. Ask while the tracer still lives: its end clears the buffers.
    pub fn events(&self) -> u64 {
        lost(&self.tracefs).saturating_sub(self.before)
    }
}

impl Read for BlockTracer {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let Some(pipe) = &mut self.pipe else { return Ok(0) };
            match pipe.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => return other,
            }
            // Empty. Events from before the end must still come out, so the end is checked first.
            if !self.enabled {
                return Ok(0);
            }
            if self.is_over() {
                self.disable();
            } else {
                std::thread::sleep(POLL);
            }
        }
    }
}

impl Drop for BlockTracer {
    fn drop(&mut self) {
        self.disable();
        self.pipe = None;
        // A setting that cannot be restored now stays in the journal, for the next start.
        if self.place.put_back(&self.found).is_ok()
            && let Some(journal) = self.journal.take()
        {
            journal.remove();
        }
    }
}

/// Makes sure that this kernel can trace the device, and that nobody traces anything now.
fn require_block_tracer(place: &Place, device: &str) -> Result<(), TargetError> {
    let tracers = read(&place.tracefs.join("available_tracers"))?;
    let has_tracer = tracers.split_whitespace().any(|tracer| tracer == BLOCK_TRACER);
    if !has_tracer || !place.enable(device).exists() {
        let text = "this kernel has no block tracer (CONFIG_BLK_DEV_IO_TRACE)";
        return Err(TargetError::Unsupported(text.to_owned()));
    }
    let selector = place.tracefs.join("current_tracer");
    let selected = read(&selector)?;
    if selected != NO_TRACER {
        return Err(TargetError::Refused {
            code: "tracer-in-use",
            message: format!(
                "the kernel's tracer is in use ({selected}); end that first: echo nop > {}",
                quoted_path(&selector)
            ),
        });
    }
    Ok(())
}

fn open_pipe(tracefs: &Path) -> Result<File, TargetError> {
    let path = tracefs.join("trace_pipe");
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(nonblock).open(&path);
    opened.map_err(failed("opened", &path))
}

fn failed<'a>(verb: &'a str, path: &'a Path) -> impl Fn(std::io::Error) -> TargetError + 'a {
    move |source| TargetError::Device {
        context: format!("{} could not be {verb}", path.display()),
        source,
    }
}

fn read(path: &Path) -> Result<String, TargetError> {
    let text = fs::read_to_string(path).map_err(failed("read", path))?;
    Ok(text.trim().to_owned())
}

fn write(path: &Path, value: &str) -> Result<(), TargetError> {
    fs::write(path, value).map_err(failed("written", path))
}

/// Events that the kernel dropped on all CPUs.
fn lost(tracefs: &Path) -> u64 {
    let cpus = fs::read_dir(tracefs.join("per_cpu")).into_iter().flatten().flatten();
    let stats = cpus.filter_map(|cpu| fs::read_to_string(cpu.path().join("stats")).ok());
    stats.map(|text| dropped(&text)).sum()
}

/// The dropped events in the `stats` of one CPU.
fn dropped(stats: &str) -> u64 {
    let counter = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let counts = ["overrun", "commit overrun", "dropped events"].contains(&name.trim());
        counts.then(|| value.trim().parse::<u64>().ok())?
    };
    stats.lines().filter_map(counter).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_drop_events_counts() {
        let stats = "entries: 5\noverrun: 7\ncommit overrun: 1\nbytes: 99\ndropped events: 2\nread events: 3\n";
        assert_eq!(dropped(stats), 10);
    }

    /// The kernel's files as a tree of plain ones, with one device.
    struct Kernel {
        dir: tempfile::TempDir,
        place: Place,
    }

    const DEVICE: &str = "250:0";

    impl Kernel {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let at = |name: &str| dir.path().join(name);
            let place =
                Place { tracefs: at("tracing"), devices: at("devices"), journals: at("run") };
            let kernel = Self { place, dir };
            kernel.set("tracing/available_tracers", "blk function nop\n");
            kernel.set("tracing/current_tracer", "nop\n");
            kernel.set("tracing/buffer_size_kb", "7 (expanded: 1408)\n");
            kernel.set("tracing/options/bin", "0\n");
            kernel.set("tracing/options/context-info", "1\n");
            kernel.set("tracing/trace_pipe", "");
            kernel.set("devices/250:0/trace/enable", "0\n");
            kernel.set("devices/250:0/diskseq", "9\n");
            kernel
        }

        fn set(&self, name: &str, value: &str) {
            let path = self.dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, value).unwrap();
        }

        fn settings(&self) -> [String; 5] {
            let names = SETTINGS.map(|(name, _)| self.place.tracefs.join(name));
            let [a, b, c, d] = names.map(|path| read(&path).unwrap());
            [a, b, c, d, read(&self.place.enable(DEVICE)).unwrap()]
        }

        fn start(&self) -> Result<BlockTracer, TargetError> {
            let stop = Arc::new(AtomicBool::new(false));
            BlockTracer::start_at(self.place.clone(), DEVICE, None, stop)
        }

        /// A recording whose process is gone: its lock is free, its journal is there.
        fn killed(&self) {
            let mut tracer = self.start().unwrap();
            drop(tracer.journal.take());
            tracer.place.tracefs = "/gone".into();
            tracer.place.devices = "/gone".into();
            tracer.enabled = false;
            drop(tracer);
            assert_eq!(self.settings(), RECORDING);
        }
    }

    const RECORDING: [&str; 5] = ["32768", "blk", "1", "0", "1"];
    const PUT_BACK: [&str; 5] = ["7", "nop", "0", "1", "0"];

    #[test]
    fn a_recording_that_ends_puts_everything_back_and_forgets_it() {
        let kernel = Kernel::new();
        let tracer = kernel.start().unwrap();
        assert_eq!(kernel.settings(), RECORDING);
        let alive = kernel.place.restore_left_behind();
        assert!(alive.is_empty() && kernel.settings() == RECORDING, "{alive:?}");
        drop(tracer);
        assert_eq!(kernel.settings(), PUT_BACK);
        assert_eq!(fs::read_dir(&kernel.place.journals).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_recording_left_behind_is_put_back_once() {
        let kernel = Kernel::new();
        kernel.killed();
        let refused = kernel.start().err().unwrap().to_string();
        assert!(refused.contains("in use (blk)"), "{refused}");
        let words: Vec<_> = kernel.place.restore_left_behind().into_iter().flatten().collect();
        assert!(matches!(words.as_slice(), [words] if words.contains("killed")), "{words:?}");
        assert_eq!(kernel.settings(), PUT_BACK);
        assert!(kernel.place.restore_left_behind().is_empty());
        drop(kernel.start().unwrap());
    }

    #[test]
    fn what_somebody_else_has_set_since_is_left_alone() {
        let kernel = Kernel::new();
        kernel.killed();
        kernel.set("tracing/current_tracer", "function");
        kernel.set("devices/250:0/diskseq", "10\n");
        assert!(kernel.place.restore_left_behind().iter().all(Result::is_ok));
        assert_eq!(kernel.settings(), ["32768", "function", "1", "0", "1"]);
    }

    #[test]
    fn a_recording_that_cannot_begin_leaves_nothing_changed() {
        let kernel = Kernel::new();
        fs::remove_file(kernel.place.tracefs.join("trace_pipe")).unwrap();
        let error = kernel.start().err().unwrap().to_string();
        assert!(error.contains("trace_pipe"), "{error}");
        assert_eq!(kernel.settings(), PUT_BACK);
        assert_eq!(fs::read_dir(&kernel.place.journals).unwrap().count(), 0);
    }

    #[test]
    fn a_file_is_no_device() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let error = BlockTracer::start(file.path(), None, stop).err().unwrap().to_string();
        assert!(error.contains("is no block device"), "{error}");
    }
}
