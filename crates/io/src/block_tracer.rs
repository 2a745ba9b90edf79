//! The kernel's own block tracer, through tracefs: no package, no relay files, no program beside it.
//!
//! The recipe: select the tracer `blk`, switch it to binary, leave out the context in front of each record, enable the
//! device, read `trace_pipe`; what comes out is blktrace's stream of version 7. Everything that was changed is put
//! back when the tracer is dropped. The kernel drops events where its buffers run over; it counts them, and so does
//! [`BlockTracer::lost_events`].
//!
//! There is one block tracer in a kernel: recording is refused while another tracer is selected.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::IoError;
use crate::sysfs::DeviceNumber;

/// Where tracefs is mounted, on old and new systems.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Buffer of each CPU while recording.
const BUFFER_KB: &str = "32768";

/// Pause between looks at an empty pipe.
const POLL: Duration = Duration::from_millis(5);

/// A setting of the kernel that was changed, and what it was.
struct Changed {
    path: PathBuf,
    before: String,
}

/// The block tracer at work on one device. Reading gives blktrace's binary stream, and ends when the time is over or
/// the stop button is pressed.
pub struct BlockTracer {
    tracefs: PathBuf,
    /// Closed before the tracer is put back: the kernel does not change a tracer that is being read.
    pipe: Option<File>,
    enable: PathBuf,
    enabled: bool,
    until: Option<Instant>,
    stop: Arc<AtomicBool>,
    lost_before: u64,
    changed: Vec<Changed>,
}

impl BlockTracer {
    /// Starts recording what happens on `device`, for `duration` or until `stop`.
    ///
    /// # Errors
    /// [`IoError::Usage`] where it is no block device, [`IoError::Unsupported`] where this kernel or user cannot trace,
    /// [`IoError::Refused`] where somebody else is tracing.
    pub fn start(
        device: &Path,
        duration: Option<Duration>,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, IoError> {
        let number = DeviceNumber::of_block_node(device).ok_or_else(|| {
            let name = device.display();
            IoError::Usage(format!("`{name}` is no block device; name one such as /dev/nvme0n1"))
        })?;
        let enable = PathBuf::from(format!("/sys/dev/block/{number}/trace/enable"));
        let tracefs = find_tracefs(&enable)?;
        let tracer = tracefs.join("current_tracer");
        let selected = read(&tracer)?;
        if selected != "nop" {
            return Err(IoError::Refused {
                code: "tracer-in-use",
                message: format!(
                    "the kernel's tracer is in use ({selected}); end that first: echo nop > {}",
                    tracer.display()
                ),
            });
        }
        let mut changed = Vec::new();
        let started = settings(&tracefs)
            .into_iter()
            .try_for_each(|(path, value)| change(&path, value, &mut changed))
            .and_then(|()| open_pipe(&tracefs))
            .and_then(|pipe| write(&enable, "1").map(|()| pipe));
        match started {
            Ok(pipe) => Ok(Self {
                lost_before: lost(&tracefs),
                tracefs,
                pipe: Some(pipe),
                enable,
                enabled: true,
                until: duration.map(|duration| Instant::now() + duration),
                stop,
                changed,
            }),
            Err(error) => {
                restore(&changed);
                Err(error)
            }
        }
    }

    /// A handle to ask for lost events while something else reads.
    #[must_use]
    pub fn losses(&self) -> Losses {
        Losses { tracefs: self.tracefs.clone(), before: self.lost_before }
    }

    fn disable(&mut self) {
        if std::mem::take(&mut self.enabled) {
            // What cannot be disabled is gone, and so is its tracing.
            let _ = write(&self.enable, "0");
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
    #[must_use]
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
            // Empty. What was traced before the end must still come out, so the end is looked at first.
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
        restore(&self.changed);
    }
}

/// What is set while recording, in this order.
fn settings(tracefs: &Path) -> [(PathBuf, &'static str); 4] {
    [
        (tracefs.join("buffer_size_kb"), BUFFER_KB),
        (tracefs.join("current_tracer"), "blk"),
        (tracefs.join("options/bin"), "1"),
        (tracefs.join("options/context-info"), "0"),
    ]
}

fn find_tracefs(enable: &Path) -> Result<PathBuf, IoError> {
    let found = TRACEFS.iter().map(Path::new).find(|dir| dir.join("current_tracer").exists());
    let Some(tracefs) = found else {
        return Err(IoError::Unsupported(
            "the kernel's tracefs is not to be seen; recording needs root and: mount -t tracefs nodev \
             /sys/kernel/tracing"
                .to_owned(),
        ));
    };
    let tracers = read(&tracefs.join("available_tracers"))?;
    if !tracers.split_whitespace().any(|tracer| tracer == "blk") || !enable.exists() {
        let text = "this kernel has no block tracer (CONFIG_BLK_DEV_IO_TRACE)";
        return Err(IoError::Unsupported(text.to_owned()));
    }
    Ok(tracefs.to_owned())
}

fn open_pipe(tracefs: &Path) -> Result<File, IoError> {
    let path = tracefs.join("trace_pipe");
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(nonblock).open(&path);
    opened.map_err(failed("opened", &path))
}

fn failed<'a>(verb: &'a str, path: &'a Path) -> impl Fn(std::io::Error) -> IoError + 'a {
    move |source| IoError::Device {
        context: format!("{} could not be {verb}", path.display()),
        source,
    }
}

fn read(path: &Path) -> Result<String, IoError> {
    let text = fs::read_to_string(path).map_err(failed("read", path))?;
    Ok(text.trim().to_owned())
}

fn write(path: &Path, value: &str) -> Result<(), IoError> {
    fs::write(path, value).map_err(failed("written", path))
}

fn change(path: &Path, value: &str, changed: &mut Vec<Changed>) -> Result<(), IoError> {
    // `7 (expanded: 1408)` is how an unused buffer tells its size.
    let before = read(path)?.split_whitespace().next().unwrap_or_default().to_owned();
    write(path, value)?;
    changed.push(Changed { path: path.to_owned(), before });
    Ok(())
}

/// Puts everything back, the last change first.
fn restore(changed: &[Changed]) {
    for Changed { path, before } in changed.iter().rev() {
        // There is nobody to tell, and nothing else to try.
        let _ = write(path, before);
    }
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

    #[test]
    fn a_file_is_no_device() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let error = BlockTracer::start(file.path(), None, stop).err().unwrap().to_string();
        assert!(error.contains("is no block device"), "{error}");
    }
}
