//! One job of a job file on the way to a workload file.

use base::{Bytes, Nanos};

use super::FioError;
use super::ini::Section;
use super::options::{self, VERIFY};
use super::pattern::{self, OrderOptions};
use super::values::{Kind, Units, for_kind, is_set, nanos, range, split};
use crate::order::Order;
use crate::spec::{JobText, MixText, OpText};

const SECOND_NS: u64 = Nanos::SECOND.0;
const US_NS: u64 = 1_000;
/// The smallest sector of a drive.
const SECTOR_BYTES: u64 = 512;
/// The most clones of a job.
const NUMJOBS_MAX: u64 = 256;
/// Engines that wait for each command, so that `iodepth` does nothing.
const WAITING_ENGINES: [&str; 7] =
    ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice"];

/// A job, or the reads or the writes of a mixed one whose kinds have rates of their own.
pub(super) struct Part {
    section: Section,
    /// The end of its name: `-read`, `-write` or nothing.
    suffix: &'static str,
}

impl Part {
    /// The job, or its two parts: fio limits reads and writes each on their own.
    pub(super) fn of(section: Section) -> Result<Vec<Self>, FioError> {
        let rw = section.get("rw").map_or("", String::as_str);
        let rate = ["rate_iops", "rate"].into_iter().find_map(|key| Some((key, section.get(key)?)));
        let kinds = match rw {
            "rw" | "readwrite" => ["read", "write"],
            "randrw" => ["randread", "randwrite"],
            _ => return Ok(vec![Self { section, suffix: "" }]),
        };
        let Some((key, text)) = rate else { return Ok(vec![Self { section, suffix: "" }]) };
        if !is_set(section.get("time_based")) {
            let rule = "reads and writes have rates of their own, so that nothing tells how many of each there are: set \
                        time_based and a runtime";
            return Err(FioError::option(&section.name, key, text, rule));
        }
        let depths = depths(&section, text);
        let part = |at: usize| {
            let mut own = section.clone();
            own.set("rw", kinds[at]);
            for mix in ["rwmixread", "rwmixwrite"] {
                own.take(mix);
            }
            if let Some(depths) = depths {
                own.set("iodepth", &depths[at].to_string());
            }
            Self { section: own, suffix: ["-read", "-write"][at] }
        };
        Ok(vec![part(0), part(1)])
    }
}

/// The depth of a mixed job in two parts by their rates, or `None` if the job names none.
fn depths(section: &Section, rate: &str) -> Option<[u64; 2]> {
    let depth = Units::Binary.bytes(section.get("iodepth")?)?;
    let rates = [Kind::Read, Kind::Write].map(|kind| Units::Binary.bytes(for_kind(rate, kind)?));
    let (reads, writes) = (rates[0].unwrap_or(1), rates[1].unwrap_or(1));
    let both = u128::from(reads) + u128::from(writes);
    let share = u128::from(depth) * u128::from(reads) / both.max(1);
    let of_reads = u64::try_from(share).ok()?.clamp(1, depth.saturating_sub(1).max(1));
    Some([of_reads, depth.saturating_sub(of_reads).max(1)])
}

/// A job on the way.
pub(super) struct Job {
    section: Section,
    suffix: &'static str,
    units: Units,
    remarks: Vec<String>,
    harmless: Vec<String>,
}

/// The kinds of commands of `rw`.
struct Kinds {
    op: Option<OpText>,
    is_random: bool,
}

impl Kinds {
    /// The kind whose part of a value counts: writes in a mix.
    fn main(&self) -> Kind {
        match self.op {
            Some(OpText::Read) => Kind::Read,
            Some(OpText::Trim) => Kind::Trim,
            _ => Kind::Write,
        }
    }
}

impl Job {
    pub(super) fn new(part: Part) -> Self {
        let Part { mut section, suffix } = part;
        let is_decimal = section.take("kb_base").is_some_and(|base| base == "1000");
        let units = if is_decimal { Units::Decimal } else { Units::Binary };
        Self { section, suffix, units, remarks: Vec::new(), harmless: Vec::new() }
    }

    /// The end of its name.
    pub(super) fn suffix(&self) -> &'static str {
        self.suffix
    }

    /// Differences to fio, and the options without an effect.
    pub(super) fn told(&mut self) -> (Vec<String>, Vec<String>) {
        (std::mem::take(&mut self.remarks), std::mem::take(&mut self.harmless))
    }

    /// The job `numjobs` times; none for the replay of a log.
    pub(super) fn clones(&mut self) -> Result<Vec<JobText>, FioError> {
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
        self.check_engine()?;
        let numjobs = self.number("numjobs", 1, 1, NUMJOBS_MAX)?;
        let increment = self.section.take("offset_increment");
        let job = self.job()?;
        if numjobs > 1 && increment.is_none() && self.section.get("filename").is_none() {
            self.remarks.push(format!(
                "numjobs={numjobs}: without a filename each clone of fio has a file of its own; here all share the span"
            ));
        }
        self.check_rest()?;
        let clone = |number: u64| {
            let Some(increment) = &increment else { return Ok(job.clone()) };
            let offset =
                job.offset.as_deref().map_or(Some(0), |text| text.parse().ok().map(|Bytes(b)| b));
            let moved = offset
                .zip(self.units.bytes(increment))
                .and_then(|(offset, step)| offset.checked_add(step.checked_mul(number)?));
            let moved =
                moved.ok_or_else(|| self.fail("offset_increment", increment, "expected bytes"))?;
            Ok(JobText { offset: Some(Bytes(moved).to_string()), ..job.clone() })
        };
        (0..numjobs).map(clone).collect()
    }

    fn check_engine(&self) -> Result<(), FioError> {
        match self.section.get("ioengine") {
            Some(engine) if options::is_of_another_thing(engine) => {
                let rule = "this engine has no commands for a drive; expected libaio, io_uring, psync and the like";
                Err(self.fail("ioengine", engine, rule))
            }
            _ => Ok(()),
        }
    }

    /// Refuses options that nobody has taken and that change the load; keeps the others for their line.
    fn check_rest(&mut self) -> Result<(), FioError> {
        for (key, value) in self.section.rest() {
            if let Some(rule) = options::refusal(key, value) {
                return Err(self.fail(key, value, rule));
            }
            self.harmless.push(base::text::shortened(&format!("{key}={value}")));
        }
        Ok(())
    }

    fn job(&mut self) -> Result<JobText, FioError> {
        let kinds = self.kinds()?;
        let mut job = JobText { op: kinds.op, ..JobText::default() };
        if kinds.op.is_none() {
            job.mix = Some(self.mix()?);
        }
        self.lengths(&mut job, &kinds)?;
        self.place_and_end(&mut job)?;
        self.order(&mut job, &kinds)?;
        self.pace(&mut job, kinds.main())?;
        self.times(&mut job)?;
        self.content(&mut job)?;
        self.check_verify(&job)?;
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

    fn lengths(&mut self, job: &mut JobText, kinds: &Kinds) -> Result<(), FioError> {
        let own = |this: &Self, key: &str, text: &str| {
            let [read, write] = [Kind::Read, Kind::Write].map(|kind| for_kind(text, kind));
            if job.op.is_none() && read != write {
                let rule =
                    "reads and writes of one job have the same sizes here; make two jobs of it";
                return Err(this.fail(key, text, rule));
            }
            Ok(for_kind(text, kinds.main()).map(str::to_owned))
        };
        let [bs, range_text, split_text, align] =
            ["bs", "bsrange", "bssplit", "ba"].map(|key| self.section.take(key));
        let bs = bs.unwrap_or_else(|| "4k".to_owned());
        let block = own(self, "bs", &bs)?.unwrap_or_else(|| "4k".to_owned());
        let text = |bytes: u64| Bytes(bytes).to_string();
        if let Some(all) = split_text {
            let rule = "expected sizes with percents that add up to 100, such as 4k/60:64k/40";
            let sizes = own(self, "bssplit", &all)?.and_then(|own| split(&own, self.units));
            let sizes = sizes.ok_or_else(|| self.fail("bssplit", &all, rule))?;
            let weighted = sizes.into_iter().filter(|(_, share)| *share > 0);
            job.sizes = Some(weighted.map(|(size, share)| (text(size), share)).collect());
        } else if let Some(all) = range_text {
            let rule = "expected a range such as 4k-64k, whose end is a multiple of its begin";
            let sizes = own(self, "bsrange", &all)?.and_then(|own| range(&own, self.units));
            let sizes = sizes.ok_or_else(|| self.fail("bsrange", &all, rule))?;
            job.sizes = Some(sizes.into_iter().map(|size| (text(size), 1)).collect());
        } else {
            let bytes = self.units.bytes(&block).filter(|bytes| *bytes > 0);
            let bytes = bytes.ok_or_else(|| self.fail("bs", &bs, "expected a size such as 4k"))?;
            self.tell_units("bs", &block);
            if !bytes.is_multiple_of(SECTOR_BYTES) {
                self.remarks.push(format!(
                    "bs={block}: a drive takes commands of whole sectors of {SECTOR_BYTES} bytes only; with direct=1 fio \
                     fails as well"
                ));
            }
            job.block = Some(text(bytes));
        }
        if let Some(align) = align {
            let bytes = for_kind(&align, kinds.main()).and_then(|text| self.units.bytes(text));
            job.align =
                Some(text(bytes.ok_or_else(|| self.fail("ba", &align, "expected a size"))?));
        }
        Ok(())
    }

    /// Part of the target, and bytes or time at its end.
    fn place_and_end(&mut self, job: &mut JobText) -> Result<(), FioError> {
        let mut amount = |key: &str| {
            let text = self.section.take(key);
            text.map(|text| self.amount(key, &text)).transpose()
        };
        let (offset, size, io_size) = (amount("offset")?, amount("size")?, amount("io_size")?);
        // Of nothing, fio makes the whole device.
        let [size, io_size] = [size, io_size].map(|amount| amount.filter(|text| text != "0B"));
        let size = self.size_of_files(size)?;
        let runtime = self.section.take("runtime").filter(|text| text != "0");
        let runtime = runtime.map(|text| self.time("runtime", &text, SECOND_NS)).transpose()?;
        let runtime = runtime.filter(|time| time != "0s");
        let time_based = is_set(self.section.take("time_based").as_ref());
        if time_based && runtime.is_none() {
            return Err(self.fail("time_based", "1", "it needs a runtime"));
        }
        let bytes = self.bytes_with_repetitions(job, io_size.as_deref(), size.as_deref())?;
        if time_based && bytes != "100%" {
            self.remarks
                .push(format!("{bytes} in all: the job is time_based, so its time ends it"));
        }
        job.bytes = (!time_based).then_some(bytes);
        (job.offset, job.span, job.duration) = (offset, size, runtime);
        if let Some(rule) = self.section.take("steadystate") {
            self.remarks.push(format!(
                "steadystate={rule}: fio may end the job earlier; here its time or its bytes end it"
            ));
        }
        Ok(())
    }

    /// The size of the job, from that of its files if it names none itself.
    fn size_of_files(&mut self, size: Option<String>) -> Result<Option<String>, FioError> {
        let Some(text) = self.section.take("filesize") else { return Ok(size) };
        let files = self.section.get("nrfiles").map_or(Some(1), |files| files.parse().ok());
        let all =
            self.units.bytes(&text).zip(files).and_then(|(own, files)| own.checked_mul(files));
        let all = all.map(|all| Bytes(all).to_string());
        match (all, size) {
            (Some(all), None) => Ok(Some(all)),
            (Some(all), Some(size)) if all == size => Ok(Some(size)),
            (None, _) => Err(self.fail("filesize", &text, "expected one size, such as 1g")),
            (Some(_), Some(_)) => {
                let rule =
                    "the files have another size than the job; give size alone, or io_size with it";
                Err(self.fail("filesize", &text, rule))
            }
        }
    }

    /// The bytes of the job: `io_size` or its size, or so many commands, as often as it is repeated.
    fn bytes_with_repetitions(
        &mut self,
        job: &JobText,
        io_size: Option<&str>,
        size: Option<&str>,
    ) -> Result<String, FioError> {
        let loops = self.number("loops", 1, 1, 100)?;
        let number = self.number("number_ios", 0, 0, u64::MAX)?;
        let once = io_size.unwrap_or("100%");
        let bytes_of = |text: &str| text.parse().ok().map(|Bytes(bytes)| bytes);
        if number > 0 {
            let block = job.block.as_deref().and_then(bytes_of);
            let rule = "a number of commands is carried over as bytes, for which all have one size";
            let all = block.and_then(|block| block.checked_mul(number));
            let all = all.ok_or_else(|| self.fail("number_ios", &number.to_string(), rule))?;
            let most = io_size.or(size).and_then(bytes_of).unwrap_or(u64::MAX);
            return Ok(Bytes(all.min(most).saturating_mul(loops)).to_string());
        }
        let percent = |text: &str| text.strip_suffix('%')?.parse::<u64>().ok();
        match (bytes_of(once), percent(once)) {
            (Some(bytes), _) => Ok(Bytes(bytes.saturating_mul(loops)).to_string()),
            (None, Some(percent)) => Ok(format!("{}%", percent * loops)),
            (None, None) => Ok(once.to_owned()),
        }
    }

    fn order(&mut self, job: &mut JobText, kinds: &Kinds) -> Result<(), FioError> {
        let mode = self.section.take("zonemode");
        let [zone, range, skip] =
            ["zonesize", "zonerange", "zoneskip"].map(|key| self.section.take(key));
        let stride = match (mode.as_deref(), zone) {
            (Some("none"), _) | (None, None) => None,
            (Some("strided") | None, Some(zone)) => {
                let stride = pattern::stride(&zone, range.as_deref(), skip.as_deref(), self.units);
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
        let asked = OrderOptions {
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
        if let Err(error) = pattern.parse::<Order>() {
            let text = asked.distribution.unwrap_or_default();
            return Err(self.fail("random_distribution", &text, &error.to_string()));
        }
        job.pattern = Some(pattern);
        Ok(())
    }

    /// Whether the bytes of the job are no more than its part of the target.
    fn fits(&self, job: &JobText) -> bool {
        let bytes = |text: &Option<String>| text.as_ref()?.parse().ok().map(|Bytes(bytes)| bytes);
        bytes(&job.bytes).zip(bytes(&job.span)).is_some_and(|(bytes, span)| bytes <= span)
    }

    /// Depth, rate and pauses.
    fn pace(&mut self, job: &mut JobText, kind: Kind) -> Result<(), FioError> {
        let depth = self.number("iodepth", 1, 1, 65_536)?;
        let low = self.number("iodepth_low", depth, 0, 65_536)?;
        if low > 0 && low < depth {
            let rule =
                "a command is issued as soon as one has ended; remove it, or set it to the iodepth";
            return Err(self.fail("iodepth_low", &low.to_string(), rule));
        }
        let engine = self.section.get("ioengine");
        let waits = engine.is_none_or(|engine| WAITING_ENGINES.contains(&engine.as_str()));
        if waits && depth > 1 {
            self.remarks.push(format!(
                "iodepth={depth}: this ioengine (psync if none is named) waits for each command, so the depth is 1"
            ));
        }
        job.queue_depth = Some(if waits { 1 } else { depth as u32 });
        let poisson = self.section.take("rate_process").is_some_and(|process| process == "poisson");
        let Some(rate) = self.rate(job, kind)? else {
            return self.pauses(job);
        };
        job.rate = Some(if poisson { format!("poisson:{rate}") } else { rate.to_string() });
        for key in ["thinktime", "thinktime_blocks"] {
            if let Some(text) = self.section.take(key).filter(|text| text != "0") {
                return Err(self.fail(key, &text, "a job with a rate has no pauses here"));
            }
        }
        Ok(())
    }

    fn rate(&mut self, job: &JobText, kind: Kind) -> Result<Option<u64>, FioError> {
        let (iops, rate) = (self.section.take("rate_iops"), self.section.take("rate"));
        let (key, text) = match (iops, rate) {
            (None, None) => return Ok(None),
            (Some(text), None) => ("rate_iops", text),
            (None, Some(text)) => ("rate", text),
            (Some(_), Some(text)) => {
                return Err(self.fail("rate", &text, "the job has rate_iops as well; keep one"));
            }
        };
        // A kind without a rate has no limit.
        let Some(own) = for_kind(&text, kind).filter(|own| *own != "0" || !text.contains(','))
        else {
            return Ok(None);
        };
        let mean_bytes = mean_bytes(job);
        let value = self.units.bytes(own);
        let rate = value.map(|value| if key == "rate" { value / mean_bytes.max(1) } else { value });
        match rate.filter(|rate| (1..=crate::pacing::RATE_IOPS_MAX).contains(rate)) {
            Some(rate) => Ok(Some(rate)),
            None => Err(self.fail(key, &text, "expected a rate of at least one command a second")),
        }
    }

    fn pauses(&mut self, job: &mut JobText) -> Result<(), FioError> {
        let pause = self.section.take("thinktime");
        let every = self.number("thinktime_blocks", 1, 1, u32::MAX.into())?;
        let Some(pause) = pause.filter(|text| text != "0") else { return Ok(()) };
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

    /// Data, durability, the cache and placement.
    fn content(&mut self, job: &mut JobText) -> Result<(), FioError> {
        if let Some(text) = self.section.take("buffer_compress_percentage") {
            job.data = match self.percent("buffer_compress_percentage", &text)? {
                0 => None,
                100 => Some("repeating".to_owned()),
                percent => Some(format!("{}%", 100 - percent)),
            };
        }
        let pattern = self.section.take("buffer_pattern");
        if is_set(self.section.take("zero_buffers").as_ref()) || pattern.is_some() {
            job.data = Some("repeating".to_owned());
        }
        let every = self.number("fsync", 0, 0, u32::MAX.into())?;
        job.flush_every = (every > 0).then_some(every as u32);
        let sync = self.section.take("sync").filter(|text| !matches!(text.as_str(), "0" | "none"));
        let fua = self.section.take("writefua").filter(|text| text != "0");
        job.fua = sync.or(fua).map(|_| 100);
        let direct = self.section.take("direct");
        let buffered = self.section.take("buffered").is_some_and(|text| text != "0");
        if buffered || (direct.is_some() && !is_set(direct.as_ref())) {
            let remark = "direct=0: ssdlab bypasses the page cache always";
            self.remarks.push(remark.to_owned());
        }
        let handles = self.section.take("fdp_pli");
        if is_set(self.section.take("fdp").as_ref()) {
            let handles = handles.unwrap_or_else(|| "0".to_owned());
            let handle = handles.parse().map_err(|_| {
                let rule = "a job writes with one placement handle here; make one job of each";
                self.fail("fdp_pli", &handles, rule)
            })?;
            job.placement = Some(handle);
        }
        Ok(())
    }

    /// Refuses the reads that check what the job has written.
    fn check_verify(&mut self, job: &JobText) -> Result<(), FioError> {
        let Some(kind) = self.section.take("verify") else { return Ok(()) };
        let is_off = matches!(kind.as_str(), "0" | "null" | "none");
        let writes = matches!(job.op, None | Some(OpText::Write));
        let reads_back = self.section.get("do_verify").is_none_or(|text| text != "0");
        if writes && reads_back && !is_off {
            return Err(self.fail("verify", &kind, VERIFY));
        }
        self.harmless.push(format!("verify={}", base::text::shortened(&kind)));
        Ok(())
    }

    /// Tells of a size in units that fio reads otherwise than the rest of the world.
    fn tell_units(&mut self, key: &str, text: &str) {
        let text = text.trim().to_ascii_lowercase();
        if let Some(bytes) = self.units.bytes(&text)
            && text.ends_with("ib")
            && self.units.is_decimal(&text)
        {
            let remark = format!(
                "{key}={text}: fio counts thousands here without kb_base=1000: {bytes} bytes"
            );
            self.remarks.push(remark);
        }
    }

    fn number(&mut self, key: &str, usual: u64, min: u64, max: u64) -> Result<u64, FioError> {
        let Some(text) = self.section.take(key) else { return Ok(usual) };
        let number = self.units.bytes(&text).filter(|number| (min..=max).contains(number));
        number
            .ok_or_else(|| self.fail(key, &text, &format!("expected a number from {min} to {max}")))
    }

    fn percent(&self, key: &str, text: &str) -> Result<u8, FioError> {
        let percent = text.parse().ok().filter(|percent| *percent <= 100);
        percent.ok_or_else(|| self.fail(key, text, "expected a percentage from 0 to 100"))
    }

    /// Bytes or a percentage, in the words of a workload file.
    fn amount(&mut self, key: &str, text: &str) -> Result<String, FioError> {
        let most = if key == "io_size" { 10_000 } else { 100 };
        if text
            .strip_suffix('%')
            .is_some_and(|percent| percent.parse::<u16>().is_ok_and(|p| p <= most))
        {
            return Ok(text.to_owned());
        }
        let bytes = self.units.bytes(text);
        let bytes =
            bytes.ok_or_else(|| self.fail(key, text, "expected a size such as 1g, or 50%"))?;
        self.tell_units(key, text);
        Ok(Bytes(bytes).to_string())
    }

    fn time(&self, key: &str, text: &str, unit_ns: u64) -> Result<String, FioError> {
        let ns = nanos(text, unit_ns)
            .ok_or_else(|| self.fail(key, text, "expected a time such as 30s"))?;
        Ok(Nanos(ns).to_string())
    }

    fn fail(&self, key: &str, value: &str, rule: &str) -> FioError {
        FioError::option(&self.section.name, key, value, rule)
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
