//! Lines of a meter that prints them: from a file that grows or is complete, a pipe, or a serial port.
//!
//! [`StreamClock`] converts the time of a line to the machine's monotonic clock. A pipe or port may
//! hold lines from before the run; they are discarded when it is opened, so that "now" means now.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use target::TargetError;

use super::line::{Line, Lines};
use super::{Faults, Meter, Reading, StreamClock, StreamSpec, now_ns};

/// The longest line that is read; of a longer line only the end is searched.
const LINE_BYTES_MAX: usize = 1_024;
/// Bytes taken at a time, so that the reader can stop in between.
const CHUNK_BYTES: usize = 16 << 10;
/// Most bytes from before the run that are discarded; any later bytes are from now.
const STALE_BYTES_MAX: usize = 1 << 20;
/// Pause at the end of a file.
const FILE_PAUSE: Duration = Duration::from_millis(20);
/// Times from here on count from 1970 if nothing else was specified: no meter runs for 31 years.
const UNIX_FROM_NS: f64 = 1e18;
/// Characters of a bad line that are shown.
const SHOWN_CHARS: usize = 40;

/// An open stream.
#[derive(Debug)]
pub(super) struct Stream {
    spec: StreamSpec,
    file: File,
    is_regular: bool,
    pending: Vec<u8>,
    /// Whether the end of a line that is too long is being searched.
    overlong: bool,
    line_number: u64,
    lines: Lines,
    clock: Clock,
    faults: Faults,
}

/// From the times of lines to the machine's monotonic clock.
#[derive(Debug)]
struct Clock {
    kind: Option<StreamClock>,
    offset_ns: i64,
    /// Offset that is added to a time of the meter's own clock.
    anchor_ns: Option<f64>,
    last_ns: Option<u64>,
}

impl Clock {
    /// The time of measurement of a line with this time, read at `now_ns` of the monotonic clock
    /// and `unix_ns` of the calendar, or `None` if it is before the previous one, or before the
    /// machine was started.
    fn at_ns(&mut self, time_ns: Option<f64>, now_ns: u64, unix_ns: u64) -> Option<u64> {
        let at_ns = match (self.kind, time_ns) {
            (Some(StreamClock::Arrival), _) | (_, None) => now_ns as f64,
            (Some(StreamClock::Unix), Some(time_ns)) => time_ns - (unix_ns as f64 - now_ns as f64),
            (Some(StreamClock::Meter), Some(time_ns)) => {
                time_ns + *self.anchor_ns.get_or_insert(now_ns as f64 - time_ns)
            }
            (None, Some(time_ns)) => {
                let is_unix = time_ns >= UNIX_FROM_NS;
                self.kind = Some(if is_unix { StreamClock::Unix } else { StreamClock::Meter });
                return self.at_ns(Some(time_ns), now_ns, unix_ns);
            }
        };
        let at_ns = at_ns + self.offset_ns as f64;
        let is_time = at_ns >= 0.0 && at_ns < u64::MAX as f64;
        let at_ns = is_time.then_some(at_ns as u64)?;
        if self.last_ns.is_some_and(|last_ns| at_ns < last_ns) {
            return None;
        }
        self.last_ns = Some(at_ns);
        Some(at_ns)
    }
}

impl Stream {
    pub(super) fn open(spec: &StreamSpec) -> Result<Self, TargetError> {
        let path = &spec.path;
        let failed = |source| TargetError::Device {
            context: format!("cannot open the meter's stream {}", path.display()),
            source,
        };
        // Without NONBLOCK a pipe would wait here for its writer, and a port for a carrier.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
        let file = File::options().read(true).custom_flags(flags).open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?.file_type();
        if kind.is_dir() || kind.is_block_device() {
            let what = if kind.is_dir() { "a directory" } else { "a block device" };
            return Err(TargetError::Usage(format!(
                "--meter stream:{} is {what}; expected a file, a pipe or a serial port",
                path.display()
            )));
        }
        prepare_port(&file, spec)?;
        let mut stream = Self {
            spec: spec.clone(),
            file,
            is_regular: kind.is_file(),
            pending: Vec::new(),
            overlong: false,
            line_number: 0,
            lines: Lines::default(),
            clock: Clock {
                kind: spec.clock,
                offset_ns: spec.offset_ns,
                anchor_ns: None,
                last_ns: None,
            },
            faults: Faults::default(),
        };
        if !stream.is_regular {
            stream.throw_away_the_past().map_err(failed)?;
        }
        Ok(stream)
    }

    /// Reads the waiting bytes without using them, up to a line's end; keeps a heading among them.
    fn throw_away_the_past(&mut self) -> std::io::Result<()> {
        let (mut chunk, mut thrown) = ([0; CHUNK_BYTES], 0);
        while thrown < STALE_BYTES_MAX {
            let read = self.take(&mut chunk)?;
            if read == 0 {
                break;
            }
            thrown += read;
            self.each_line(&chunk[..read], |stream, line| {
                stream.lines.read(line);
            });
        }
        Ok(())
    }

    /// Bytes that are there now, or 0 if there are none.
    fn take(&mut self, chunk: &mut [u8]) -> std::io::Result<usize> {
        match self.file.read(chunk) {
            Err(error) if is_for_now(&error) => Ok(0),
            other => other,
        }
    }

    /// Cuts bytes into lines.
    fn each_line(&mut self, bytes: &[u8], mut use_line: impl FnMut(&mut Self, &[u8])) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = part.strip_suffix(b"\n").map_or((part, false), |text| (text, true));
            if self.pending.len() + text.len() > LINE_BYTES_MAX {
                self.overlong = true;
                self.pending.clear();
            } else if !self.overlong {
                self.pending.extend_from_slice(text);
            }
            if ended {
                self.line_number += 1;
                let line = std::mem::take(&mut self.pending);
                if std::mem::take(&mut self.overlong) {
                    self.bad("is too long", b"");
                } else {
                    use_line(self, &line);
                }
            }
        }
    }

    fn use_line(&mut self, line: &[u8], out: &mut Vec<Reading>) {
        match self.lines.read(line) {
            Line::Silent => {}
            Line::Bad(why) => self.bad(why, line),
            Line::Reading { time_ns, power_uw } => {
                match self.clock.at_ns(time_ns, now_ns(), unix_ns()) {
                    Some(at_ns) => out.push(Reading { at_ns, power_uw }),
                    None => self.bad("has a time before that of the line before", line),
                }
            }
        }
    }

    fn bad(&mut self, why: &str, line: &[u8]) {
        let number = self.line_number;
        self.faults.note(|| {
            let text = String::from_utf8_lossy(line);
            let start: String = text.chars().take(SHOWN_CHARS).collect();
            format!("line {number} (`{}`) {why}", start.trim().escape_debug())
        });
    }

    /// Waits until there is something to read. At the end of a file, and while a pipe has no writer, poll does not
    /// wait.
    fn wait(&self, patience: Duration) {
        let wait = Timespec::try_from(patience).ok();
        let mut watched = [PollFd::new(&self.file, PollFlags::IN)];
        let ready = poll(&mut watched, wait.as_ref()).is_ok_and(|count| count > 0);
        if ready && !watched[0].revents().contains(PollFlags::IN) {
            std::thread::sleep(patience.min(FILE_PAUSE));
        }
    }
}

impl Meter for Stream {
    fn describe(&self) -> String {
        let clock = self.clock.kind.map_or("not known yet", StreamClock::name);
        let offset_ms = self.spec.offset_ns as f64 / 1e6;
        let offset = if self.spec.offset_ns == 0 {
            String::new()
        } else {
            format!(", offset {offset_ms} ms")
        };
        format!("stream, times by: {clock}{offset}")
    }

    fn read(&mut self, patience: Duration, out: &mut Vec<Reading>) -> Result<(), TargetError> {
        self.wait(patience);
        let mut chunk = [0; CHUNK_BYTES];
        let read = self.take(&mut chunk).map_err(|source| TargetError::Device {
            context: format!("the meter's stream {} is gone", self.spec.path.display()),
            source,
        })?;
        if read == 0 {
            std::thread::sleep(patience.min(FILE_PAUSE));
        }
        self.each_line(&chunk[..read], |stream, line| stream.use_line(line, out));
        Ok(())
    }

    fn faults(&self) -> &Faults {
        &self.faults
    }
}

fn is_for_now(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | Interrupted)
}

/// Makes a serial port deliver bytes as they come, at the requested speed. Other files stay unchanged.
fn prepare_port(file: &File, spec: &StreamSpec) -> Result<(), TargetError> {
    let name = spec.path.display();
    let Ok(mut settings) = tcgetattr(file.as_fd()) else {
        return match spec.baud {
            None => Ok(()),
            Some(_) => {
                Err(TargetError::Usage(format!("{name} is no serial port; leave ?baud= away")))
            }
        };
    };
    settings.make_raw();
    set_speed(&mut settings, spec.baud)
        .and_then(|()| tcsetattr(file.as_fd(), OptionalActions::Now, &settings))
        .and_then(|()| tcflush(file.as_fd(), QueueSelector::IFlush))
        .map_err(|errno| TargetError::Device {
            context: format!("cannot set up the serial port {name}"),
            source: errno.into(),
        })
}

fn set_speed(settings: &mut Termios, baud: Option<u32>) -> rustix::io::Result<()> {
    baud.map_or(Ok(()), |baud| settings.set_speed(baud))
}

fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::time::Instant;

    fn spec(path: &Path) -> StreamSpec {
        StreamSpec { path: path.to_owned(), clock: None, offset_ns: 0, baud: None }
    }

    fn powers(readings: &[Reading]) -> Vec<i64> {
        readings.iter().map(|reading| reading.power_uw).collect()
    }

    /// Reads until there is this number of readings, for at most 10 s.
    fn read_until(stream: &mut Stream, count: usize) -> Vec<Reading> {
        let (begun, mut out) = (Instant::now(), Vec::new());
        while out.len() < count && begun.elapsed() < Duration::from_secs(10) {
            stream.read(Duration::from_millis(10), &mut out).expect("a stream");
        }
        out
    }

    fn written(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("watts");
        std::fs::write(&path, content).expect("a file");
        (dir, path)
    }

    #[test]
    fn a_file_is_read_from_its_start_and_followed() {
        let (_dir, path) = written(b"time_s,power_w\n0,1\n0.25,2\n0.5,");
        let mut stream = Stream::open(&spec(&path)).expect("a file");
        let first = read_until(&mut stream, 2);
        assert_eq!(powers(&first), [1_000_000, 2_000_000]);
        assert_eq!(first[1].at_ns - first[0].at_ns, 250_000_000, "the meter's own clock");
        let mut file = File::options().append(true).open(&path).expect("a file");
        file.write_all(b"3\n").expect("it grows");
        let more = read_until(&mut stream, 1);
        assert_eq!(powers(&more), [3_000_000]);
        assert_eq!(more[0].at_ns - first[0].at_ns, 500_000_000);
    }

    #[test]
    fn each_clock_lays_times_onto_the_machines() {
        let clock = |kind, offset_ns| Clock { kind, offset_ns, anchor_ns: None, last_ns: None };
        let (now, unix) = (5_000_000_000, 1_795_000_000_000_000_000);
        let at = |clock: &mut Clock, time_ns| clock.at_ns(time_ns, now, unix);
        assert_eq!(at(&mut clock(Some(StreamClock::Arrival), 0), Some(7.0)), Some(now));
        assert_eq!(at(&mut clock(None, -1_000), None), Some(now - 1_000));
        let earlier = Some(unix as f64 - 2e9);
        assert_eq!(at(&mut clock(Some(StreamClock::Unix), 0), earlier), Some(3_000_000_000));
        assert_eq!(at(&mut clock(None, 0), earlier), Some(3_000_000_000), "such a time is Unix's");
        let mut meter = clock(Some(StreamClock::Meter), 20);
        assert_eq!(at(&mut meter, Some(100.0)), Some(now + 20));
        assert_eq!(at(&mut meter, Some(350.0)), Some(now + 270));
        assert_eq!(at(&mut meter, Some(349.0)), None, "time does not go back");
        assert_eq!(
            at(&mut clock(Some(StreamClock::Unix), 0), Some(0.0)),
            None,
            "before the machine"
        );
        assert_eq!(at(&mut clock(Some(StreamClock::Unix), 0), Some(1e300)), None);
    }

    #[test]
    fn bad_lines_are_counted_and_the_first_is_shown() {
        let long = "9".repeat(5_000);
        let content = format!("1\nwhat\u{7}?\n{long}\n2\n-\n3\n");
        let (_dir, path) = written(content.as_bytes());
        let mut stream = Stream::open(&spec(&path)).expect("a file");
        assert_eq!(powers(&read_until(&mut stream, 3)), [1_000_000, 2_000_000, 3_000_000]);
        let first = "line 2 (`what\\u{7}?`) has a field that is no number";
        assert_eq!(stream.faults(), &Faults { count: 3, first: Some(first.to_owned()) });
    }

    #[test]
    fn an_endless_line_takes_neither_memory_nor_for_ever() {
        let mut stream = Stream::open(&spec(Path::new("/dev/zero"))).expect("it opens");
        let mut out = Vec::new();
        for _ in 0..100 {
            stream.read(Duration::from_millis(1), &mut out).expect("it reads");
        }
        assert!(out.is_empty() && stream.pending.len() <= LINE_BYTES_MAX);
    }

    #[test]
    fn a_pipe_may_have_no_writer_yet_and_lose_it_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).expect("a pipe");
        let mut stream = Stream::open(&spec(&path)).expect("no writer is no failure");
        for power in ["1", "2"] {
            let mut writer = File::options().write(true).open(&path).expect("a writer");
            writeln!(writer, "{power}").expect("it writes");
            drop(writer);
            assert_eq!(read_until(&mut stream, 1).len(), 1);
        }
    }

    #[test]
    fn what_a_pipe_held_before_the_run_is_thrown_away_but_for_its_heading() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).expect("a pipe");
        let mut writer = File::options().read(true).write(true).open(&path).expect("a writer");
        writer.write_all(b"power_mw\n500\n600\n").expect("it writes");
        let mut stream = Stream::open(&spec(&path)).expect("a pipe");
        writer.write_all(b"700\n").expect("it writes");
        assert_eq!(powers(&read_until(&mut stream, 1)), [700_000]);
    }

    #[test]
    fn a_serial_port_is_read_raw_at_the_speed_asked_for() {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let port = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&port).and_then(|()| unlockpt(&port)).expect("its other end");
        let name = ptsname(&port, Vec::new()).expect("its name").into_string().expect("text");
        let spec = StreamSpec { baud: Some(57_600), ..spec(Path::new(&name)) };
        let mut stream = Stream::open(&spec).expect("a port");
        assert_eq!(tcgetattr(&stream.file).expect("a port").input_speed(), 57_600);
        rustix::io::write(&port, b"1.5\r\n\x03\n2.5\r\n").expect("it sends");
        assert_eq!(powers(&read_until(&mut stream, 2)), [1_500_000, 2_500_000]);
        assert_eq!(stream.faults().count, 1, "a control character is no signal here");
    }

    #[test]
    fn what_is_no_stream_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let error = Stream::open(&spec(dir.path())).expect_err("a directory").to_string();
        assert!(error.contains("is a directory"), "{error}");
        let error = Stream::open(&spec(&dir.path().join("none"))).expect_err("nothing");
        assert!(matches!(error, TargetError::Device { .. }), "{error}");
        let (_dir, path) = written(b"1\n");
        let with_speed = StreamSpec { baud: Some(9_600), ..spec(&path) };
        let error = Stream::open(&with_speed).expect_err("a file").to_string();
        assert!(error.contains("no serial port"), "{error}");
    }
}
