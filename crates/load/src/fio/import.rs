//! From a fio job file to a workload file.

use std::collections::BTreeMap;

use base::{Bytes, Nanos};

use super::ini::Section;
use super::not_carried::reason;
use super::pattern::{self, Asked};
use super::values::{bytes, for_kind, is_set, nanos, split};
use super::{FioError, ini};
use crate::spec::{AfterText, JobText, MixText, OpText, WorkloadFile};

const SECOND_NS: u64 = Nanos::SECOND.0;
const US_NS: u64 = 1_000;
/// The most clones of a job.
const NUMJOBS_MAX: u64 = 256;
/// Engines that wait for each command, so that `iodepth` does nothing.
const WAITING_ENGINES: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

/// A workload file and the options that are not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The workload.
    pub file: WorkloadFile,
    /// Each option that is not carried over, with the reason.
    pub not_carried: Vec<String>,
}

/// Reads a job file.
///
/// # Errors
/// [`FioError`] with line or job, option, value and rule: for text that is no job file, and for loads that no workload
/// file can describe.
pub fn import(text: &str) -> Result<Imported, FioError> {
    let mut imported = Imported { file: WorkloadFile::default(), not_carried: Vec::new() };
    let (mut before, mut group): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for section in ini::jobs(text)? {
        let name = section.name.clone();
        let mut job = Job { section, name: name.clone(), remarks: Vec::new() };
        if is_set(job.section.take("stonewall").as_ref()) && !group.is_empty() {
            before = std::mem::take(&mut group);
        }
        let clones = job.clones(&before)?;
        imported.not_carried.extend(job.remarks.iter().map(|remark| format!("[{name}] {remark}")));
        for clone in clones {
            let free = free_name(&imported.file, &name);
            group.push(free.clone());
            imported.file.job.insert(free, clone);
        }
    }
    if imported.file.job.is_empty() {
        return Err(FioError::Empty);
    }
    Ok(imported)
}

/// A name for a job that no other one has.
fn free_name(file: &WorkloadFile, name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
    let mut base: String = name.chars().map(plain).take(32).collect();
    if base.is_empty() || base == crate::spec::ALL {
        base = format!("job{base}");
    }
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let free =
        std::iter::once(base.clone()).chain(numbered).find(|name| !file.job.contains_key(name));
    free.unwrap_or(base)
}

/// A job on the way.
struct Job {
    section: Section,
    name: String,
    remarks: Vec<String>,
}

/// The kinds of commands of `rw`.
struct Kinds {
    op: Option<OpText>,
    is_random: bool,
}

impl Job {
    /// The job `numjobs` times; none for the replay of a log.
    fn clones(&mut self, before: &[String]) -> Result<Vec<JobText>, FioError> {
        if let Some(log) = self.section.take("read_iolog") {
            self.remarks.push(format!(
                "read_iolog={log}: the job is left out, its commands are those of the log; replay it with `ssdlab run \
                 replay TARGET --set trace={log}`"
            ));
            return Ok(Vec::new());
        }
        if let Some(log) = self.section.take("write_iolog") {
            self.remarks.push(format!(
                "write_iolog={log}: `ssdlab trace record` records the commands of a device"
            ));
        }
        let numjobs = self.number("numjobs", 1, 1, NUMJOBS_MAX)?;
        let increment = self.section.take("offset_increment");
        let mut job = self.job()?;
        job.after = match before {
            [] => None,
            [one] => Some(AfterText::One(one.clone())),
            several => Some(AfterText::Several(several.to_vec())),
        };
        self.remarks.extend(
            self.section
                .rest()
                .iter()
                .map(|(key, value)| format!("{key}={value}: {}", reason(key))),
        );
        let clone = |number: u64| {
            let Some(increment) = &increment else { return Ok(job.clone()) };
            let offset =
                job.offset.as_deref().map_or(Some(0), |text| text.parse().ok().map(|Bytes(b)| b));
            let moved = offset
                .zip(bytes(increment))
                .and_then(|(offset, step)| offset.checked_add(step.checked_mul(number)?));
            let moved =
                moved.ok_or_else(|| self.fail("offset_increment", increment, "expected bytes"))?;
            Ok(JobText { offset: Some(Bytes(moved).to_string()), ..job.clone() })
        };
        (0..numjobs).map(clone).collect()
    }

    fn job(&mut self) -> Result<JobText, FioError> {
        let kinds = self.kinds()?;
        let mut job = JobText { op: kinds.op, ..JobText::default() };
        if kinds.op.is_none() {
            job.mix = Some(self.mix()?);
        }
        let is_write = !matches!(kinds.op, Some(OpText::Read));
        self.lengths(&mut job, is_write)?;
        self.place_and_end(&mut job)?;
        self.order(&mut job, &kinds)?;
        self.pace(&mut job, is_write)?;
        self.times(&mut job)?;
        self.content(&mut job)?;
        Ok(job)
    }

    fn kinds(&mut self) -> Result<Kinds, FioError> {
        let text = self.section.take("rw").unwrap_or_else(|| "read".to_owned());
        let (op, is_random) = match text.as_str() {
            "read" => (Some(OpText::Read), false),
            "write" => (Some(OpText::Write), false),
            "trim" => (Some(OpText::Trim), false),
            "randread" => (Some(OpText::Read), true),
            "randwrite" => (Some(OpText::Write), true),
            "randtrim" => (Some(OpText::Trim), true),
            "rw" | "readwrite" => (None, false),
            "randrw" => (None, true),
            _ => {
                let rule = "expected read, write, trim, rw, randread, randwrite, randtrim or randrw, without a number behind";
                return Err(self.fail("rw", &text, rule));
            }
        };
        if op.is_none() && !is_random {
            let remark = "rw=rw: fio keeps one sequence of reads and one of writes; here both take turns in one";
            self.remarks.push(remark.to_owned());
        }
        Ok(Kinds { op, is_random })
    }

    fn mix(&mut self) -> Result<MixText, FioError> {
        let write = self
            .section
            .take("rwmixwrite")
            .map(|text| self.percent("rwmixwrite", &text))
            .transpose()?;
        let read = self
            .section
            .take("rwmixread")
            .map(|text| self.percent("rwmixread", &text))
            .transpose()?;
        let read = read.or(write.map(|write| 100 - write)).unwrap_or(50);
        Ok(MixText { read, write: 100 - read, ..MixText::default() })
    }

    fn lengths(&mut self, job: &mut JobText, is_write: bool) -> Result<(), FioError> {
        let bs = self.section.take("bs").unwrap_or_else(|| "4k".to_owned());
        let one = |this: &Self, key: &str, text: &str| {
            let (read, write) = (for_kind(text, false), for_kind(text, true));
            if job.op.is_none() && read != write {
                let rule =
                    "reads and writes of one job have the same sizes here; make two jobs of it";
                return Err(this.fail(key, text, rule));
            }
            Ok((if is_write { write } else { read }).unwrap_or("").to_owned())
        };
        let (block, align) = (one(self, "bs", &bs)?, self.section.take("ba"));
        let text = |bytes: u64| Bytes(bytes).to_string();
        match self.section.take("bssplit") {
            Some(sizes) => {
                let own = one(self, "bssplit", &sizes)?;
                let rule = "expected sizes with percents that add up to 100, such as 4k/60:64k/40";
                let sizes = split(&own).ok_or_else(|| self.fail("bssplit", &sizes, rule))?;
                let weighted = sizes.into_iter().filter(|(_, share)| *share > 0);
                job.sizes = Some(
                    weighted.map(|(size, share)| (text(size), share)).collect::<BTreeMap<_, _>>(),
                );
            }
            None => {
                let bytes = bytes(&block)
                    .ok_or_else(|| self.fail("bs", &bs, "expected a size such as 4k"))?;
                job.block = Some(text(bytes));
            }
        }
        if let Some(align) = align {
            let bytes = for_kind(&align, is_write).and_then(bytes);
            job.align =
                Some(text(bytes.ok_or_else(|| self.fail("ba", &align, "expected a size"))?));
        }
        Ok(())
    }

    /// Part of the target, and bytes or time at its end.
    fn place_and_end(&mut self, job: &mut JobText) -> Result<(), FioError> {
        let mut amount =
            |key: &str| self.section.take(key).map(|text| self.amount(key, &text)).transpose();
        let (offset, size, io_size) = (amount("offset")?, amount("size")?, amount("io_size")?);
        let runtime = self.section.take("runtime").or_else(|| self.section.take("timeout"));
        let runtime = runtime.map(|text| self.time("runtime", &text, SECOND_NS)).transpose()?;
        let time_based = is_set(self.section.take("time_based").as_ref());
        if time_based && runtime.is_none() {
            return Err(self.fail("time_based", "1", "it needs a runtime"));
        }
        job.bytes = (!time_based).then(|| io_size.clone().unwrap_or_else(|| "100%".to_owned()));
        if time_based && let Some(io_size) = io_size {
            self.remarks
                .push(format!("io_size={io_size}: the job is time_based, so its time ends it"));
        }
        (job.offset, job.span, job.duration) = (offset, size, runtime);
        Ok(())
    }

    fn order(&mut self, job: &mut JobText, kinds: &Kinds) -> Result<(), FioError> {
        let mode = self.section.take("zonemode");
        let [zone, range, skip] =
            ["zonesize", "zonerange", "zoneskip"].map(|key| self.section.take(key));
        let stride = match (mode.as_deref(), zone) {
            (Some("none"), _) | (None, None) => None,
            (Some("strided") | None, Some(zone)) => {
                let stride = pattern::stride(&zone, range.as_deref(), skip.as_deref());
                Some(
                    stride
                        .ok_or_else(|| self.fail("zonesize", &zone, "expected sizes such as 4k"))?,
                )
            }
            (mode, _) => {
                let rule = "expected none, or strided with a zonesize";
                return Err(self.fail("zonemode", mode.unwrap_or_default(), rule));
            }
        };
        let block = job.block.as_deref().filter(|_| job.align.is_none());
        let asked = Asked {
            is_random: kinds.is_random,
            distribution: self.section.take("random_distribution"),
            percentage_random: self.section.take("percentage_random"),
            without_map: is_set(self.section.take("norandommap").as_ref()),
            repeats: job.bytes.is_none()
                || job.bytes.as_deref().is_some_and(|bytes| bytes != "100%" && !self.fits(job)),
            block_bytes: block.and_then(|text| text.parse().ok()).map(|Bytes(bytes)| bytes),
            stride,
        };
        let (pattern, remarks) =
            pattern::pattern(&asked).map_err(|(key, value, rule)| self.fail(key, &value, &rule))?;
        self.remarks.extend(remarks);
        job.pattern = Some(pattern);
        Ok(())
    }

    /// Whether the bytes of the job are no more than its part of the target.
    fn fits(&self, job: &JobText) -> bool {
        let bytes = |text: &Option<String>| text.as_ref()?.parse().ok().map(|Bytes(bytes)| bytes);
        bytes(&job.bytes).zip(bytes(&job.span)).is_some_and(|(bytes, span)| bytes <= span)
    }

    /// Depth, rate and pauses.
    fn pace(&mut self, job: &mut JobText, is_write: bool) -> Result<(), FioError> {
        let depth = self.number("iodepth", 1, 1, 65_536)?;
        let engine = self.section.take("ioengine");
        let waits = engine.as_deref().is_none_or(|engine| WAITING_ENGINES.contains(&engine));
        if let Some(engine) = engine {
            self.remarks.push(format!("ioengine={engine}: {}", reason("ioengine")));
        }
        if waits && depth > 1 {
            self.remarks.push(format!(
                "iodepth={depth}: this ioengine (psync if none is named) waits for each command, so the depth is 1"
            ));
        }
        job.queue_depth = Some(if waits { 1 } else { depth as u32 });
        let poisson = self.section.take("rate_process").is_some_and(|process| process == "poisson");
        let Some(rate) = self.rate(job, is_write)? else {
            return self.pauses(job);
        };
        job.rate = Some(if poisson { format!("poisson:{rate}") } else { rate.to_string() });
        Ok(())
    }

    fn rate(&mut self, job: &JobText, is_write: bool) -> Result<Option<u64>, FioError> {
        let (iops, rate) = (self.section.take("rate_iops"), self.section.take("rate"));
        let (key, text) = match (iops, rate) {
            (None, None) => return Ok(None),
            (Some(text), _) => ("rate_iops", text),
            (None, Some(text)) => ("rate", text),
        };
        if job.op.is_none() {
            self.remarks.push(format!(
                "{key}={text}: fio limits reads and writes each on their own; make two jobs of it to keep both rates"
            ));
            return Ok(None);
        }
        let value = for_kind(&text, is_write).and_then(bytes);
        let mean_bytes = mean_bytes(job);
        let rate = value.map(|value| if key == "rate" { value / mean_bytes.max(1) } else { value });
        match rate.filter(|rate| (1..=crate::pacing::RATE_IOPS_MAX).contains(rate)) {
            Some(rate) => Ok(Some(rate)),
            None => Err(self.fail(key, &text, "expected a rate of at least one command a second")),
        }
    }

    fn pauses(&mut self, job: &mut JobText) -> Result<(), FioError> {
        let pause = self.section.take("thinktime");
        let every = self.number("thinktime_blocks", 1, 1, u32::MAX.into())?;
        let Some(pause) = pause else { return Ok(()) };
        job.think = Some(self.time("thinktime", &pause, US_NS)?);
        job.think_after = (every > 1).then_some(every as u32);
        Ok(())
    }

    fn times(&mut self, job: &mut JobText) -> Result<(), FioError> {
        let mut time = |key: &str| {
            let text = self.section.take(key).filter(|text| text != "0");
            text.map(|text| self.time(key, &text, SECOND_NS)).transpose()
        };
        job.delay = time("startdelay")?;
        job.warm_up = time("ramp_time")?;
        // fio's runtime begins after the ramp.
        if let (Some(warm_up), Some(duration)) = (&job.warm_up, &job.duration) {
            let ns = |text: &String| text.parse().map_or(0, |Nanos(ns)| ns);
            job.duration = Some(Nanos(ns(warm_up).saturating_add(ns(duration))).to_string());
        }
        Ok(())
    }

    /// Data, durability and the cache.
    fn content(&mut self, job: &mut JobText) -> Result<(), FioError> {
        if let Some(text) = self.section.take("buffer_compress_percentage") {
            job.data = Some(match self.percent("buffer_compress_percentage", &text)? {
                100 => "repeating".to_owned(),
                percent => format!("{}%", 100 - percent),
            });
        }
        if is_set(self.section.take("zero_buffers").as_ref()) {
            job.data = Some("repeating".to_owned());
        }
        let every = self.number("fsync", 0, 0, u32::MAX.into())?;
        job.flush_every = (every > 0).then_some(every as u32);
        let sync = self.section.take("sync");
        job.fua = sync.filter(|text| !matches!(text.as_str(), "0" | "none")).map(|_| 100);
        let direct = self.section.take("direct");
        if direct.is_some() && !is_set(direct.as_ref()) {
            let remark = "direct=0: ssdlab bypasses the page cache always";
            self.remarks.push(remark.to_owned());
        }
        Ok(())
    }

    fn number(&mut self, key: &str, usual: u64, min: u64, max: u64) -> Result<u64, FioError> {
        let Some(text) = self.section.take(key) else { return Ok(usual) };
        let number = bytes(&text).filter(|number| (min..=max).contains(number));
        number
            .ok_or_else(|| self.fail(key, &text, &format!("expected a number from {min} to {max}")))
    }

    fn percent(&self, key: &str, text: &str) -> Result<u8, FioError> {
        let percent = text.parse().ok().filter(|percent| *percent <= 100);
        percent.ok_or_else(|| self.fail(key, text, "expected a percentage from 0 to 100"))
    }

    /// Bytes or a percentage, in the words of a workload file.
    fn amount(&self, key: &str, text: &str) -> Result<String, FioError> {
        if text
            .strip_suffix('%')
            .is_some_and(|percent| percent.parse::<u8>().is_ok_and(|p| p <= 100))
        {
            return Ok(text.to_owned());
        }
        let bytes = bytes(text)
            .ok_or_else(|| self.fail(key, text, "expected a size such as 1g, or 50%"))?;
        Ok(Bytes(bytes).to_string())
    }

    fn time(&self, key: &str, text: &str, unit_ns: u64) -> Result<String, FioError> {
        let ns = nanos(text, unit_ns)
            .ok_or_else(|| self.fail(key, text, "expected a time such as 30s"))?;
        Ok(Nanos(ns).to_string())
    }

    fn fail(&self, key: &str, value: &str, rule: &str) -> FioError {
        FioError::Option {
            job: base::text::shortened(&self.name),
            key: key.to_owned(),
            value: base::text::shortened(value),
            rule: rule.to_owned(),
        }
    }
}

/// Mean length of the commands of a job.
fn mean_bytes(job: &JobText) -> u64 {
    let bytes = |text: &String| text.parse().map_or(0, |Bytes(bytes)| bytes);
    match (&job.block, &job.sizes) {
        (Some(block), _) => bytes(block),
        (None, Some(sizes)) => {
            let total: u64 = sizes.values().map(|weight| u64::from(*weight)).sum();
            let sum: u64 = sizes
                .iter()
                .map(|(size, weight)| bytes(size).saturating_mul((*weight).into()))
                .fold(0, u64::saturating_add);
            sum / total.max(1)
        }
        (None, None) => 0,
    }
}
