//! From a workload file to a fio job file.

use base::{Bytes, Nanos};

use crate::pacing::Pacing;
use crate::spec::{AfterText, JobText, MixText, OpText, WorkloadFile};

/// The job file, and each key that fio has no option for, with the reason.
pub fn export(file: &WorkloadFile) -> (String, Vec<String>) {
    let mut text =
        "; fio JOB.fio --filename=DEVICE\n[global]\nioengine=io_uring\ndirect=1\n".to_owned();
    let mut remarks = Vec::new();
    for (name, job) in in_order(file) {
        let mut out = Out { name, lines: Vec::new(), remarks: &mut remarks };
        out.job(job, file.duration.as_deref());
        text += &format!("\n[{name}]\n{}\n", out.lines.join("\n"));
    }
    (text, remarks)
}

/// Every job behind those that it waits for: fio's `stonewall` waits for all jobs before it.
fn in_order(file: &WorkloadFile) -> Vec<(&str, &JobText)> {
    let mut left: Vec<_> = file.job.iter().map(|(name, job)| (name.as_str(), job)).collect();
    left.sort_by_key(|(name, _)| waits(file, name, file.job.len()));
    left
}

/// Number of jobs in the longest chain before this one.
fn waits(file: &WorkloadFile, name: &str, left: usize) -> usize {
    let before = file.job.get(name).and_then(|job| job.after.as_ref()).map(AfterText::names);
    let longest = before
        .into_iter()
        .flatten()
        .filter(|_| left > 0)
        .map(|name| waits(file, name, left - 1) + 1);
    longest.max().unwrap_or(0)
}

/// The lines of a job on the way.
struct Out<'a> {
    name: &'a str,
    lines: Vec<String>,
    remarks: &'a mut Vec<String>,
}

impl Out<'_> {
    fn job(&mut self, job: &JobText, whole: Option<&str>) {
        let is_random = self.pattern(job.pattern.as_deref().unwrap_or("uniform"));
        self.kinds(job, is_random);
        self.lengths(job);
        self.option("offset", job.offset.as_deref().map(amount));
        self.option("size", job.span.as_deref().map(amount));
        self.ends(job, whole);
        self.pace(job);
        self.option("ramp_time", job.warm_up.as_deref().map(time));
        self.option("startdelay", job.delay.as_deref().map(time));
        self.option("fsync", job.flush_every.map(|every| every.to_string()));
        self.data(job);
        if let Some(after) = &job.after {
            self.lines.push("stonewall".to_owned());
            if after.names().len() == 1 {
                self.remark(
                    "after",
                    &after.names()[0],
                    "fio's stonewall waits for all jobs before it",
                );
            }
        }
        let numbers = [
            ("seed", job.seed.map(|seed| seed.to_string())),
            ("layout_seed", job.layout_seed.map(|seed| seed.to_string())),
            ("placement", job.placement.map(|handle| handle.to_string())),
        ];
        for (key, value) in numbers {
            if let Some(value) = value {
                self.remark(key, &value, "fio 3.33 has no option for it that does the same");
            }
        }
    }

    fn kinds(&mut self, job: &JobText, is_random: bool) {
        let random = if is_random { "rand" } else { "" };
        let rw = match (job.op, job.mix) {
            (Some(OpText::Write), _) => format!("{random}write"),
            (Some(OpText::Trim), _) => format!("{random}trim"),
            (Some(OpText::Flush), _) => {
                self.remark("op", "flush", "fio has no job of flushes alone; it reads instead");
                format!("{random}read")
            }
            (None, Some(MixText { read, write, trim, flush })) => {
                if trim > 0 || flush > 0 {
                    let value = format!("{{ trim = {trim}, flush = {flush} }}");
                    self.remark("mix", &value, "fio mixes reads and writes only");
                }
                let read = 100 * u32::from(read) / (u32::from(read) + u32::from(write)).max(1);
                self.lines.push(format!("rwmixread={read}"));
                if is_random { "randrw".to_owned() } else { "rw".to_owned() }
            }
            _ => format!("{random}read"),
        };
        self.lines.insert(0, format!("rw={rw}"));
    }

    fn lengths(&mut self, job: &JobText) {
        self.option("bs", job.block.as_deref().map(amount));
        if let Some(sizes) = &job.sizes {
            let total: u32 = sizes.values().fold(0, |sum, weight| sum.saturating_add(*weight));
            if total == 100 {
                let parts: Vec<_> = sizes
                    .iter()
                    .map(|(size, weight)| format!("{}/{weight}", amount(size)))
                    .collect();
                self.lines.push(format!("bssplit={}", parts.join(":")));
            } else {
                self.remark(
                    "sizes",
                    "{ .. }",
                    "fio's shares are percents; these weights do not add up to 100",
                );
            }
        }
        self.option("ba", job.align.as_deref().map(amount));
    }

    /// Whether the order is random.
    fn pattern(&mut self, pattern: &str) -> bool {
        let (name, inside) = pattern.split_once('(').unwrap_or((pattern, ""));
        let inside = inside.trim_end_matches(')');
        let value = inside.split(',').next().unwrap_or_default().trim();
        let share = |text: &str| text.trim_end_matches('%').parse::<f64>().ok();
        let options = match name {
            "sequential" | "sequential-once" => return false,
            "shuffled" => Vec::new(),
            "uniform" => vec!["norandommap".to_owned()],
            "random" => vec![
                "norandommap".to_owned(),
                format!("percentage_random={}", value.trim_end_matches('%')),
            ],
            "zipf" => vec![format!("random_distribution=zipf:{value}")],
            "pareto" => share(value)
                .map(|share| format!("random_distribution=pareto:{}", share / 100.0))
                .into_iter()
                .collect(),
            "normal" => vec![format!("random_distribution=normal:{}", value.trim_end_matches('%'))],
            "zones" if inside.ends_with("contiguous") => {
                vec![format!("random_distribution=zoned:{}", zoned(inside))]
            }
            _ => {
                self.remark("pattern", pattern, "fio has no such order; uniform instead");
                vec!["norandommap".to_owned()]
            }
        };
        self.lines.extend(options);
        true
    }

    fn ends(&mut self, job: &JobText, whole: Option<&str>) {
        let times = job
            .duration
            .as_deref()
            .into_iter()
            .chain(whole)
            .map(time)
            .map(|text| (ns(&text), text));
        if let Some((_, runtime)) = times.min() {
            self.lines.push(format!("runtime={runtime}"));
            if job.bytes.is_none() {
                self.lines.push("time_based".to_owned());
            }
        } else if job.bytes.is_none() {
            self.remark("duration", "missing", "fio ends a job after its size");
        }
        match job.bytes.as_deref() {
            None | Some("100%") => {}
            Some(percent) if percent.ends_with('%') => {
                self.remark("bytes", percent, "fio's io_size is a number of bytes");
            }
            Some(bytes) => self.lines.push(format!("io_size={}", amount(bytes))),
        }
    }

    fn pace(&mut self, job: &JobText) {
        self.lines.push(format!("iodepth={}", job.queue_depth.unwrap_or(32)));
        let rate = job.rate.as_deref().map(|text| (text, text.parse::<Pacing>()));
        match rate {
            None | Some((_, Ok(Pacing::ClosedLoop))) => {}
            Some((_, Ok(Pacing::Fixed { rate_iops } | Pacing::Poisson { rate_iops })))
                if job.op.is_none() =>
            {
                self.remark(
                    "rate",
                    &rate_iops.to_string(),
                    "fio limits reads and writes each on their own",
                );
            }
            Some((_, Ok(Pacing::Fixed { rate_iops }))) => {
                self.lines.push(format!("rate_iops={rate_iops}"));
            }
            Some((_, Ok(Pacing::Poisson { rate_iops }))) => {
                self.lines.push(format!("rate_iops={rate_iops}\nrate_process=poisson"));
            }
            Some((text, _)) => self.remark("rate", text, "fio has fixed rates and Poisson ones"),
        }
        self.option("thinktime", job.think.as_deref().map(|text| (ns(text) / 1_000).to_string()));
        self.option("thinktime_blocks", job.think_after.map(|every| every.to_string()));
    }

    fn data(&mut self, job: &JobText) {
        match job.fua {
            None | Some(0) => {}
            Some(100) => self.lines.push("sync=1".to_owned()),
            Some(share) => self.remark("fua", &share.to_string(), "fio forces all writes or none"),
        }
        match job.data.as_deref() {
            None | Some("incompressible") => self.lines.push("refill_buffers".to_owned()),
            Some("repeating") => self.lines.push("zero_buffers".to_owned()),
            Some(share) => {
                let left = share
                    .trim_end_matches('%')
                    .parse::<u8>()
                    .map_or(0, |share| 100_u8.saturating_sub(share));
                self.lines.push(format!("refill_buffers\nbuffer_compress_percentage={left}"));
            }
        }
    }

    fn option(&mut self, key: &str, value: Option<String>) {
        self.lines.extend(value.map(|value| format!("{key}={value}")));
    }

    fn remark(&mut self, key: &str, value: &str, reason: &str) {
        self.remarks.push(format!("job.{}.{key} = {value}: {reason}", self.name));
    }
}

/// A size in fio's words: plain bytes, or percent.
fn amount(text: &str) -> String {
    text.parse().map_or_else(|_| text.to_owned(), |Bytes(bytes)| bytes.to_string())
}

fn ns(text: &str) -> u64 {
    text.parse().map_or(0, |Nanos(ns)| ns)
}

/// A time in fio's words: whole seconds, or ms.
fn time(text: &str) -> String {
    let Nanos(ns) = text.parse().unwrap_or_default();
    if ns.is_multiple_of(Nanos::SECOND.0) {
        format!("{}s", ns / Nanos::SECOND.0)
    } else {
        format!("{}ms", ns.div_ceil(1_000_000))
    }
}

/// `"10:60,20:30", contiguous` as `60/10:30/20`, with the rest as fio wants it.
fn zoned(inside: &str) -> String {
    let text = inside.split('"').nth(1).unwrap_or_default();
    let (mut size_left, mut commands_left) = (100.0, 100.0);
    let mut parts = Vec::new();
    for part in text.split(',') {
        let (size, commands) = part.split_once(':').unwrap_or((part, "0"));
        let number = |text: &str| text.trim().trim_end_matches('%').parse::<f64>().unwrap_or(0.0);
        (size_left, commands_left) = (size_left - number(size), commands_left - number(commands));
        parts.push(format!("{}/{}", commands.trim(), size.trim()));
    }
    if size_left > 0.0 {
        parts.push(format!("{commands_left}/{size_left}"));
    }
    parts.join(":")
}
