//! From the text of a workload file to jobs on a span.

use base::{Bytes, Data, Nanos, OpKind};

use super::error::SpecError;
use super::file::{AfterText, JobText, MixText, OpText, WorkloadFile};
use crate::jobs::{JobSpec, Jobs, Think};
use crate::order::{Order, OrderError};
use crate::pacing::{Pacing, PacingError};
use crate::sizes::Sizes;
use crate::workload::{Mix, Shares, Workload};

/// The most jobs of a file.
pub const JOBS_MAX: usize = 256;
/// The most commands outstanding of a job with a rate and no depth of its own: the limit of SATA.
const PACED_QUEUE_DEPTH: u32 = 32;
/// The longest name of a job, in bytes.
const NAME_MAX: usize = 40;
/// The name of the sum in figures.
pub const ALL: &str = "all";

/// The place of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadSite {
    /// Length of the tested span, from LBA 0.
    pub span_bytes: u64,
    /// The most commands that may be outstanding.
    pub queue_depth_max: u32,
    /// Size of a logical block.
    pub logical_block_bytes: u32,
}

impl WorkloadFile {
    /// The jobs at a place, in the order of their names.
    ///
    /// # Errors
    /// [`SpecError`] with the first value that is impossible or contradicts another.
    pub fn jobs(&self, place: &WorkloadSite) -> Result<Jobs, SpecError> {
        self.check_names()?;
        let duration = self.duration.as_ref().map(|text| time("duration", text)).transpose()?;
        let jobs = self.job.iter().map(|(name, text)| {
            let reader = Reader { name, text, place, all: self };
            reader.job()
        });
        let mut jobs = Jobs { jobs: jobs.collect::<Result<_, _>>()?, duration };
        jobs.check()?;
        self.share_depth(&mut jobs, place);
        for job in &jobs.jobs {
            let named = |error| SpecError::Workload { job: job.name.clone(), error };
            job.workload.check(place.logical_block_bytes).map_err(named)?;
        }
        Ok(jobs)
    }

    fn check_names(&self) -> Result<(), SpecError> {
        let count = self.job.len();
        if count == 0 || count > JOBS_MAX {
            return Err(SpecError::Missing {
                key: "job".to_owned(),
                rule: format!("expected 1 to {JOBS_MAX} jobs, such as [job.log], not {count}"),
            });
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_bad = |name: &&String| {
            name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_plain) || *name == ALL
        };
        match self.job.keys().find(is_bad) {
            None => Ok(()),
            Some(name) => {
                let rule = format!(
                    "a job has a name of 1 to {NAME_MAX} letters, digits, `-` and `_`, and `{ALL}` is the sum"
                );
                Err(SpecError::value("job", name, rule))
            }
        }
    }

    /// Gives paced jobs that name no depth an equal share of the depth that the others leave.
    fn share_depth(&self, jobs: &mut Jobs, place: &WorkloadSite) {
        let names_one =
            |job: &JobSpec| self.job.get(&job.name).is_some_and(|text| text.queue_depth.is_some());
        let depth = |job: &JobSpec| if names_one(job) { job.workload.queue_depth } else { 0 };
        let named = jobs.outstanding_at_once(depth);
        let without = jobs.outstanding_at_once(|job| u32::from(!names_one(job))).max(1);
        let left = place.queue_depth_max.saturating_sub(named);
        let share = (left / without).clamp(1, PACED_QUEUE_DEPTH);
        for job in jobs.jobs.iter_mut().filter(|job| !names_one(job)) {
            job.workload.queue_depth = share;
        }
    }
}

/// One job and its surroundings.
struct Reader<'a> {
    name: &'a str,
    text: &'a JobText,
    place: &'a WorkloadSite,
    all: &'a WorkloadFile,
}

impl Reader<'_> {
    fn job(&self) -> Result<JobSpec, SpecError> {
        let time_of = |key: &str, text: &Option<String>| {
            text.as_ref().map(|text| time(&self.key(key), text)).transpose()
        };
        let JobText { after, delay, duration, warm_up, seed, .. } = self.text;
        Ok(JobSpec {
            seed: *seed,
            after: after
                .iter()
                .flat_map(AfterText::names)
                .map(|name| self.after(name))
                .collect::<Result<_, _>>()?,
            delay: time_of("delay", delay)?.unwrap_or_default(),
            duration: time_of("duration", duration)?,
            warm_up: time_of("warm_up", warm_up)?.unwrap_or_default(),
            think: self.think()?,
            ..JobSpec::new(self.name, self.workload()?)
        })
    }

    fn workload(&self) -> Result<Workload, SpecError> {
        let (mix, (block_bytes, sizes)) = (self.mix()?, self.lengths()?);
        let (pacing, queue_depth) = self.pace()?;
        let plain = Workload::new(OpKind::Read, self.order(mix)?, block_bytes, queue_depth, 0);
        let align_bytes =
            self.text.align.as_ref().map(|text| self.length("align", text)).transpose()?;
        let workload = Workload {
            mix,
            sizes,
            align_bytes,
            pacing,
            data: self.data()?,
            layout_seed: self.text.layout_seed.unwrap_or(plain.layout_seed),
            fua_percent: self.text.fua.unwrap_or(0),
            flush_every: self.flush_every()?,
            placement: self.text.placement.unwrap_or(0),
            ..plain
        };
        let workload = self.placed(workload)?;
        let limit_bytes = self.limit(&workload)?;
        Ok(Workload { limit_bytes, ..workload })
    }

    fn mix(&self) -> Result<Mix, SpecError> {
        match (self.text.op, self.text.mix) {
            (Some(op), None) => Ok(Mix::One(match op {
                OpText::Read => OpKind::Read,
                OpText::Write => OpKind::Write,
                OpText::Trim => OpKind::Deallocate,
                OpText::Flush => OpKind::Flush,
            })),
            (None, Some(mix)) => self.shares(mix),
            (Some(_), Some(_)) => {
                Err(self.fail("mix", "{ .. }", "the job has `op` as well; leave one of them away"))
            }
            (None, None) => Err(self.missing(
                "op",
                "expected read, write, trim or flush, or mix = { read = 70, write = 30 }",
            )),
        }
    }

    fn shares(&self, mix: MixText) -> Result<Mix, SpecError> {
        let MixText { read, write, trim, flush } = mix;
        let sum = [read, write, trim, flush].map(u32::from).iter().sum::<u32>();
        if sum != 100 {
            let value =
                format!("{{ read = {read}, write = {write}, trim = {trim}, flush = {flush} }}");
            let rule = format!("the shares are percents, so they add up to 100, not to {sum}");
            return Err(self.fail("mix", value, rule));
        }
        Ok(match (read, write) {
            (100, _) => Mix::One(OpKind::Read),
            (_, 100) => Mix::One(OpKind::Write),
            _ if trim == 100 => Mix::One(OpKind::Deallocate),
            _ if flush == 100 => Mix::One(OpKind::Flush),
            _ if trim == 0 && flush == 0 => Mix::ReadPercent(read),
            _ => Mix::Shares(Shares {
                flush_percent: flush,
                deallocate_percent: trim,
                reads: read,
                writes: write,
            }),
        })
    }

    /// The longest command, and the lengths if there are several.
    fn lengths(&self) -> Result<(u32, Option<Sizes>), SpecError> {
        match (&self.text.block, &self.text.sizes) {
            (Some(block), None) => Ok((self.length("block", block)?, None)),
            (None, Some(sizes)) => {
                let weighted =
                    sizes.iter().map(|(text, weight)| Ok((self.length("sizes", text)?, *weight)));
                let mut weighted = weighted.collect::<Result<Vec<_>, SpecError>>()?;
                weighted.sort_unstable();
                let sizes = Sizes::new(&weighted).ok_or_else(|| {
                    self.fail(
                        "sizes",
                        "{ .. }",
                        "expected sizes with weights above 0, such as { \"4KiB\" = 80 }",
                    )
                })?;
                Ok((sizes.largest_bytes(), Some(sizes)))
            }
            (Some(block), Some(_)) => Err(self.fail(
                "block",
                block,
                "the job has `sizes` as well; leave one of them away",
            )),
            (None, None) if self.text.op == Some(OpText::Flush) => {
                Ok((self.place.logical_block_bytes, None))
            }
            (None, None) => {
                Err(self.missing("block", "expected a size such as \"4KiB\", or `sizes`"))
            }
        }
    }

    fn length(&self, key: &str, text: &str) -> Result<u32, SpecError> {
        let Bytes(bytes) = text
            .parse()
            .map_err(|error: base::UnitError| self.fail(key, text, error.to_string()))?;
        let valid = u32::try_from(bytes).ok().filter(|bytes| (512..=32 << 20).contains(bytes));
        valid.ok_or_else(|| self.fail(key, text, "expected 512 bytes to 32MiB"))
    }

    fn order(&self, mix: Mix) -> Result<Order, SpecError> {
        match &self.text.pattern {
            Some(text) => text
                .parse()
                .map_err(|error: OrderError| self.fail("pattern", text, error.to_string())),
            None if mix == Mix::One(OpKind::Flush) => Ok(Order::Uniform),
            None => {
                Err(self
                    .missing("pattern", "expected an order such as \"uniform\" or \"sequential\""))
            }
        }
    }

    /// The rule of issue, and the most commands outstanding.
    fn pace(&self) -> Result<(Pacing, u32), SpecError> {
        let JobText { rate, queue_depth, .. } = self.text;
        let pacing = match rate {
            None => Pacing::ClosedLoop,
            Some(text) => text
                .parse()
                .map_err(|error: PacingError| self.fail("rate", text, error.to_string()))?,
        };
        match queue_depth {
            Some(0) => Err(self.fail("queue_depth", "0", "expected at least 1")),
            Some(depth) => Ok((pacing, *depth)),
            None if pacing == Pacing::ClosedLoop => {
                Err(self.missing("queue_depth", "a job without a rate keeps commands outstanding"))
            }
            // A share of the depth, once all jobs are known.
            None => Ok((pacing, 1)),
        }
    }

    fn think(&self) -> Result<Option<Think>, SpecError> {
        let JobText { think, think_after, rate, .. } = self.text;
        let Some(text) = think else {
            return match think_after {
                None => Ok(None),
                Some(every) => Err(self.fail(
                    "think_after",
                    every.to_string(),
                    "it counts commands up to `think`, which is missing",
                )),
            };
        };
        if rate.is_some() {
            return Err(self.fail(
                "think",
                text,
                "the job has a `rate`, so that pauses would only make it late",
            ));
        }
        let every = think_after.unwrap_or(1);
        if every == 0 {
            return Err(self.fail("think_after", every.to_string(), "expected at least 1"));
        }
        Ok(Some(Think { pause: time(&self.key("think"), text)?, every }))
    }

    fn data(&self) -> Result<Data, SpecError> {
        let Some(text) = &self.text.data else { return Ok(Data::Incompressible) };
        let percent =
            || text.strip_suffix('%')?.parse().ok().filter(|percent| (1..=100).contains(percent));
        match (text.as_str(), percent()) {
            ("incompressible", _) => Ok(Data::Incompressible),
            ("repeating", _) => Ok(Data::Repeating),
            (_, Some(physical_percent)) => Ok(Data::Compressible { physical_percent }),
            _ => {
                let rule = "expected incompressible, repeating, or the size after compression from 1% to 100%";
                Err(self.fail("data", text, rule))
            }
        }
    }

    fn flush_every(&self) -> Result<Option<u32>, SpecError> {
        match self.text.flush_every {
            Some(0) => {
                Err(self.fail("flush_every", "0", "expected a number of writes, at least 1"))
            }
            every => Ok(every),
        }
    }

    /// The workload at its part of the span.
    fn placed(&self, workload: Workload) -> Result<Workload, SpecError> {
        let whole = self.place.span_bytes;
        let step = u64::from(workload.step_bytes());
        let offset = self.text.offset.as_ref().map(|text| self.amount("offset", text, whole, step));
        let offset = offset.transpose()?.unwrap_or(0);
        let Some(left) = whole.checked_sub(offset) else {
            let text = self.text.offset.clone().unwrap_or_default();
            return Err(self.fail("offset", text, format!("the tested span has {whole} bytes")));
        };
        let span = self.text.span.as_ref().map(|text| self.amount("span", text, whole, step));
        let span = span.transpose()?.unwrap_or(left);
        if span > left {
            let text = self.text.span.clone().unwrap_or_default();
            let rule = format!("the tested span has {whole} bytes, and {left} from the offset on");
            return Err(self.fail("span", text, rule));
        }
        Ok(Workload { span_offset_bytes: offset, span_bytes: span, ..workload })
    }

    fn limit(&self, workload: &Workload) -> Result<Option<u64>, SpecError> {
        let Some(text) = &self.text.bytes else { return Ok(None) };
        if workload.mix == Mix::One(OpKind::Flush) {
            return Err(self.fail("bytes", text, "a flush moves no bytes; give a duration"));
        }
        match self.amount("bytes", text, workload.span_bytes, 1)? {
            0 => Err(self.fail("bytes", text, "expected more than 0")),
            bytes => Ok(Some(bytes)),
        }
    }

    /// Bytes, or a percentage of `whole` in whole steps.
    fn amount(&self, key: &str, text: &str, whole: u64, step: u64) -> Result<u64, SpecError> {
        let Some(percent) = text.trim().strip_suffix('%') else {
            let Bytes(bytes) = text
                .parse()
                .map_err(|error: base::UnitError| self.fail(key, text, error.to_string()))?;
            return Ok(bytes);
        };
        let hundredths = hundredths(percent.trim()).filter(|hundredths| *hundredths <= 1_000_000);
        let hundredths = hundredths.ok_or_else(|| {
            self.fail(
                key,
                text,
                "expected bytes, or a percentage up to 10000% with at most two decimals",
            )
        })?;
        let bytes = u128::from(whole) * u128::from(hundredths) / 10_000;
        Ok(u64::try_from(bytes).unwrap_or(u64::MAX) / step.max(1) * step.max(1))
    }

    fn after(&self, after: &str) -> Result<usize, SpecError> {
        let found = self.all.job.keys().position(|name| name == after);
        found.ok_or_else(|| {
            let names: Vec<_> = self.all.job.keys().map(String::as_str).collect();
            self.fail(
                "after",
                after,
                format!("there is no such job; there are {}", names.join(", ")),
            )
        })
    }

    fn key(&self, key: &str) -> String {
        format!("job.{}.{key}", self.name)
    }

    fn fail(&self, key: &str, value: impl Into<String>, rule: impl Into<String>) -> SpecError {
        SpecError::value(&self.key(key), value, rule)
    }

    fn missing(&self, key: &str, rule: &str) -> SpecError {
        SpecError::Missing { key: self.key(key), rule: rule.to_owned() }
    }
}

/// A time above 0.
fn time(key: &str, text: &str) -> Result<Nanos, SpecError> {
    let time: Nanos = text
        .parse()
        .map_err(|error: base::UnitError| SpecError::value(key, text, error.to_string()))?;
    if time.0 == 0 {
        return Err(SpecError::value(key, text, "expected a time above 0"));
    }
    Ok(time)
}

/// `12.5` as 1250.
fn hundredths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() > 6 || fraction.len() > 2 {
        return None;
    }
    format!("{whole}{fraction:0<2}").parse().ok()
}
