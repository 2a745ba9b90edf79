//! The search for the spare area that a drive needs for a floor; the caller runs the tests.
//!
//! The necessary share of spare area falls with the floor, so that bisection over a grid of spans
//! finds it. The first try has the most spare (if that does not hold the floor, nothing does), the
//! second none beyond the reserve of the drive, the next the middle of the rest. Each try is a
//! `consistency` run over that span, preconditioned in one pass if the NAND is known, else by a
//! fill and two random spans.

use base::{Bytes, Nanos, Ratio};
use result::schema::{Run, RunStatus};
use result::stats::consistency::fresh_name;
use target::Identity;

use crate::error::RunError;
use crate::recorder::LENGTH_MAX;
use crate::span::SpanRequest;
use crate::suite::precondition::ONE_PASS;

/// The performance that the drive must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// At least this number of random writes per second, on average over steady state.
    MeanIops(u64),
    /// At least this number in every second of it.
    EverySecondIops(u64),
    /// 99 of 100 commands of steady state end within this time.
    P99(Nanos),
}

/// The question of the user.
#[derive(Clone, Debug)]
pub struct Question {
    /// The performance that the drive must hold.
    pub floor: Floor,
    /// The largest spare area to try, as a share of the raw capacity.
    pub spare_max: Ratio,
    /// Grid of the search, as a share of the raw capacity.
    pub step: Ratio,
    /// Raw capacity for a target that does not report it.
    pub raw_capacity: Option<Bytes>,
    /// Measured time of each try; `None`: until a fifth of the span is written at the floor.
    pub measure: Option<Nanos>,
    /// Commands kept outstanding.
    pub queue_depth: u32,
}

/// Part of the span that is written in the measured time at the floor: 1 / this.
const MEASURED_PART: u64 = 5;
/// Random spans written before the measured time if a single pass is not possible.
const SETTLE_SPANS: u64 = 2;
/// There is one figure per second, and a steady window has at least ten.
const MEASURE_MIN_S: u64 = 10;
const BLOCK_BYTES: u64 = 4096;
/// Spans end on this boundary.
const ALIGNMENT: Bytes = Bytes(128 << 10);

impl Floor {
    /// The deciding figure of a run, by its name in the metrics.
    pub const fn metric(self) -> &'static str {
        match self {
            Self::MeanIops(_) => "iops_steady_mean",
            Self::EverySecondIops(_) => "iops_steady_min",
            Self::P99(_) => "latency_steady_ns_p99",
        }
    }

    /// The meaning of "holds", in words.
    pub fn in_words(self) -> String {
        match self {
            Self::MeanIops(iops) => format!("{iops} IOPS on average over steady state"),
            Self::EverySecondIops(iops) => format!("{iops} IOPS in every second of steady state"),
            Self::P99(latency) => format!("99% of the latencies of steady state within {latency}"),
        }
    }

    /// Whether a figure holds the floor.
    pub fn holds(self, figure: f64) -> bool {
        match self {
            Self::MeanIops(iops) | Self::EverySecondIops(iops) => figure >= iops as f64,
            Self::P99(latency) => figure <= latency.0 as f64,
        }
    }

    /// Whether the first figure is the better one.
    fn is_better(self, figure: f64, than: f64) -> bool {
        match self {
            Self::MeanIops(_) | Self::EverySecondIops(_) => figure > than,
            Self::P99(_) => figure < than,
        }
    }

    /// The rate of the floor; for a latency by Little's law.
    fn rate_iops(self, queue_depth: u32) -> u64 {
        match self {
            Self::MeanIops(iops) | Self::EverySecondIops(iops) => iops,
            Self::P99(latency) => {
                (u64::from(queue_depth) * Nanos::SECOND.0).checked_div(latency.0).unwrap_or(1)
            }
        }
        .max(1)
    }
}

/// A question about a target: the spans to try.
#[derive(Clone, Debug)]
pub struct Search {
    question: Question,
    /// Base of the shares, in bytes.
    pub base_bytes: u64,
    /// `raw` or `advertised`.
    pub base: &'static str,
    is_one_pass: bool,
    /// Spans in descending order; the first is the whole LBA space.
    spans_bytes: Vec<u64>,
}

/// One run of the search.
#[derive(Clone, Debug)]
pub struct Try {
    /// Bytes used, from LBA 0.
    pub span_bytes: u64,
    /// The rest, as a share of [`Search::base_bytes`].
    pub spare_share: f64,
    /// Settings of the `consistency` run.
    pub settings: Vec<(String, String)>,
}

impl Try {
    /// The span of the run.
    pub const fn span(&self) -> SpanRequest {
        SpanRequest::Bytes(Bytes(self.span_bytes))
    }
}

/// The result of a try.
#[derive(Clone, Debug)]
pub struct SearchStep {
    /// The try.
    pub at: Try,
    /// The deciding figure.
    pub figure: f64,
    /// Whether it holds the floor.
    pub holds: bool,
    pub run: Run,
}

/// The result of the search.
#[derive(Clone, Debug)]
pub struct Advice {
    /// All tries, in order.
    pub tried: Vec<SearchStep>,
    /// Index of the smallest spare area that holds; `None` if none does.
    pub answer: Option<usize>,
    /// Index of the best figure.
    pub best: usize,
}

impl Search {
    /// The spans to try on a target.
    ///
    /// # Errors
    /// [`RunError::Usage`] if the floor, the raw capacity or the grid makes no sense for it.
    pub fn new(question: Question, target: &Identity) -> Result<Self, RunError> {
        let capacity = target.capacity_bytes;
        let raw = question.raw_capacity.map(|bytes| bytes.0).or(target.raw_bytes);
        check(&question, raw, target)?;
        let (base_bytes, base) = raw.map_or((capacity, "advertised"), |raw| (raw, "raw"));
        let span_min = question.spare_max.complement().of(base_bytes);
        let step = Bytes(question.step.of(base_bytes)).align_down(ALIGNMENT).0.max(ALIGNMENT.0);
        let next = |span: &u64| span.checked_sub(step).filter(|&next| next > 0 && next >= span_min);
        let aligned = Bytes(capacity).align_down(ALIGNMENT).0;
        let spans_bytes: Vec<u64> = std::iter::successors(Some(aligned), next).collect();
        if spans_bytes.len() < 2 {
            let built_in = 100.0 * (1.0 - capacity as f64 / base_bytes as f64);
            return Err(RunError::Usage(format!(
                "--max-spare {:.1}% is not a step beyond the {built_in:.1}% that {} keeps anyway; ask for more",
                100.0 * question.spare_max.as_f64(),
                target.name
            )));
        }
        let is_one_pass = raw.is_some();
        let search = Self { question, base_bytes, base, is_one_pass, spans_bytes };
        search.check_length(target)?;
        Ok(search)
    }

    /// Refuses tries beyond the longest test.
    fn check_length(&self, target: &Identity) -> Result<(), RunError> {
        let (settle_s, measure_s) = self.lengths_s(self.spans_bytes[0]);
        let most_s = LENGTH_MAX.0 / Nanos::SECOND.0;
        if settle_s.saturating_add(measure_s) <= most_s {
            return Ok(());
        }
        let days = |seconds: u64| seconds as f64 / 86_400.0;
        Err(RunError::Usage(format!(
            "to find out whether {} holds {} would take {:.1} days to settle and {:.1} to measure, and a try may take \
             30; ask for a higher floor, or set the measured time with --measure, such as --measure 20m",
            target.name,
            self.question.floor.in_words(),
            days(settle_s),
            days(measure_s)
        )))
    }

    /// Seconds of a try over this span to settle, and to measure.
    fn lengths_s(&self, span_bytes: u64) -> (u64, u64) {
        let rate_iops = self.question.floor.rate_iops(self.question.queue_depth);
        let span_s = span_bytes / BLOCK_BYTES / rate_iops;
        let whole_s = |time: Nanos| time.0.div_ceil(Nanos::SECOND.0);
        let measure_s = self.question.measure.map_or(span_s / MEASURED_PART, whole_s);
        let measure_s = measure_s.max(MEASURE_MIN_S);
        // After the pass only what it could not know has to settle.
        let settle_s = if self.is_one_pass { measure_s / 2 } else { SETTLE_SPANS * span_s };
        (settle_s.max(1), measure_s)
    }

    /// The most tries of the search.
    pub fn tries_max(&self) -> u32 {
        // Both ends, then a bisection of what lies between them.
        2 + (self.spans_bytes.len() as u64 - 1).next_power_of_two().ilog2()
    }

    /// The try over the whole LBA space, which costs the most.
    pub fn largest(&self) -> Try {
        self.try_at(0)
    }

    /// The performance that the drive must hold.
    pub const fn floor(&self) -> Floor {
        self.question.floor
    }

    fn try_at(&self, index: usize) -> Try {
        let span_bytes = self.spans_bytes[index];
        let (settle_s, measure_s) = self.lengths_s(span_bytes);
        let mut settings = vec![
            ("duration", format!("{}s", settle_s + measure_s)),
            ("steady_from", format!("{settle_s}s")),
            ("queue_depth", self.question.queue_depth.to_string()),
        ];
        if self.is_one_pass {
            settings.push(("precondition", ONE_PASS.to_owned()));
            let raw = self.question.raw_capacity;
            settings.extend(raw.map(|raw| ("raw_capacity", raw.to_string())));
        }
        Try {
            span_bytes,
            spare_share: 1.0 - span_bytes as f64 / self.base_bytes as f64,
            settings: settings.into_iter().map(|(k, v)| (k.to_owned(), v)).collect(),
        }
    }

    /// Finds the smallest spare area that holds the floor; `measure` does a try.
    ///
    /// # Errors
    /// The errors of `measure`, and a run that did not reach its end.
    pub fn answer<E: From<RunError>>(
        &self,
        mut measure: impl FnMut(&Try) -> Result<Run, E>,
    ) -> Result<Advice, E> {
        let mut tried: Vec<SearchStep> = Vec::new();
        let mut holds_at = |index: usize| -> Result<bool, E> {
            let at = self.try_at(index);
            let run = measure(&at)?;
            let figure = self.figure(&run)?;
            let holds = self.question.floor.holds(figure);
            tried.push(SearchStep { at, figure, holds, run });
            Ok(holds)
        };
        // The first index does not hold, the second does.
        let (mut fails, mut holds) = (0, self.spans_bytes.len() - 1);
        if holds_at(holds)? && !holds_at(0)? {
            while holds - fails > 1 {
                let middle = usize::midpoint(fails, holds);
                if holds_at(middle)? { holds = middle } else { fails = middle }
            }
        }
        Ok(self.advice(tried))
    }

    fn advice(&self, tried: Vec<SearchStep>) -> Advice {
        let floor = self.question.floor;
        let positions = 0..tried.len();
        let holding = positions.clone().filter(|&position| tried[position].holds);
        let answer = holding.max_by_key(|&position| tried[position].at.span_bytes);
        let better = |a: usize, b: usize| {
            if floor.is_better(tried[b].figure, tried[a].figure) { b } else { a }
        };
        let best = positions.reduce(better).unwrap_or_default();
        Advice { tried, answer, best }
    }

    fn figure(&self, run: &Run) -> Result<f64, RunError> {
        let metric = self.question.floor.metric();
        let of = |name: &str| run.metrics.get(name).copied().flatten();
        // A drive that does not hold the floor while it is fresh does not hold it later.
        let fresh = || of(&fresh_name(metric)?).filter(|fresh| !self.question.floor.holds(*fresh));
        let figure = of(metric).or_else(fresh);
        figure.filter(|_| run.status == RunStatus::Complete).ok_or_else(|| {
            let (id, status) = (&run.run_id, run.status);
            let mark = run.marks.iter().find(|mark| mark.metric == metric);
            let why = mark.map_or_else(|| format!("it is {status:?}"), |mark| mark.text.clone());
            RunError::Usage(format!("the run {id} gives no {metric}: {why}"))
        })
    }
}

fn check(question: &Question, raw: Option<u64>, target: &Identity) -> Result<(), RunError> {
    let usage = |text: String| Err(RunError::Usage(text));
    if matches!(
        question.floor,
        Floor::MeanIops(0) | Floor::EverySecondIops(0) | Floor::P99(Nanos(0))
    ) {
        return usage("a floor of 0 says nothing; ask for more than that".to_owned());
    }
    if let (Some(scale), false) = (target.scale(), matches!(question.floor, Floor::MeanIops(_))) {
        return usage(format!(
            "{} at scale {scale} does not keep what the whole drive does in its slowest moments: ask for a mean \
             (--floor), or take the drive without scale=",
            target.name
        ));
    }
    if question.step.is_zero() || question.queue_depth == 0 {
        return usage("--step and --queue-depth must be more than 0".to_owned());
    }
    if let Some(measure) =
        question.measure.filter(|measure| measure.0 < MEASURE_MIN_S * Nanos::SECOND.0)
    {
        return usage(format!(
            "--measure {measure} is too short; expected {MEASURE_MIN_S}s at least: there is one figure a second"
        ));
    }
    match raw {
        Some(raw) if raw < target.capacity_bytes => usage(format!(
            "--raw-capacity {} is less than the {} that {} offers",
            Bytes(raw).rounded(),
            Bytes(target.capacity_bytes).rounded(),
            target.name
        )),
        _ => Ok(()),
    }
}
