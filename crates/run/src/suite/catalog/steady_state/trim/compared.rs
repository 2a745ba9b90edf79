//! The evidence in the passes of the TRIM test, beside their noise.
//!
//! Each round has a tortured pass and one after TRIM between two fresh ones. Both are divided by
//! the fresh rate at their place, on a line (of logarithms) between the fresh passes around them,
//! so that a drift of the target or its host cancels. Over the rounds each ratio has a mean and,
//! from its spread, a range with 99.9% confidence on either side (Student's t). A claim needs
//! ranges, not means. Torture has left a mark if the whole range of the tortured ratio is below
//! 95%. TRIM has restored more, or less, than half of the loss if the whole range of the ratio
//! after TRIM lies above, or below, the middle between tortured and fresh.
//!
//! Ranges of few values assume that noise is not in two steps (a load that starts and stops); at
//! least four rounds make it improbable that such a load affects all tortured passes and no fresh
//! one. A simulated drive has no outside disturbance: one round is enough there, and its range is
//! three times the difference of its fresh passes.

use result::schema::{Verdict, VerdictOutcome};
use result::stats::findings::percent;
use result::stats::summary::Summary;

/// The mean of the pass after TRIM must reach this share of the fresh mean.
const MEAN_SHARE_MIN: f64 = 0.9;
/// And every zone this share of the same zone when fresh.
pub(super) const ZONE_SHARE_MIN: f64 = 0.5;
/// Above this share of the fresh mean the tortured pass shows no mark of torture.
const MARK_SHARE_MAX: f64 = 0.95;
/// Fewer rounds than these are no evidence if other programs may disturb the target.
const ROUNDS_MIN: usize = 4;
/// Half the range on a simulated drive, in differences between its fresh passes.
const SIMULATED_FACTOR: f64 = 3.0;
/// Ends of ranges above this share only show that the noise is huge.
const WORDS_MAX: f64 = 10.0;
/// Quantiles of Student's t at 99.9% for 3, 4 ... 9 degrees of freedom; the last applies to more.
const T_999: [f64; 7] = [10.215, 7.173, 5.893, 5.208, 4.785, 4.501, 4.297];

/// Mean rates of the passes with one kind of data, in their order. Between every two fresh ones
/// come a tortured one and one after TRIM.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Passes {
    pub(super) fresh: Vec<f64>,
    pub(super) tortured: Vec<f64>,
    pub(super) after_trim: Vec<f64>,
}

impl Passes {
    /// Logarithms of the tortured and of the trimmed rate over the fresh one, for each complete
    /// round.
    fn log_shares(&self) -> Vec<(f64, f64)> {
        let rates = self.fresh.windows(2).zip(&self.tortured).zip(&self.after_trim);
        let log_shares = rates.map(|((fresh, tortured), after_trim)| {
            let (before, after) = (fresh[0].ln(), fresh[1].ln());
            let fresh_at = |place: f64| before + place * (after - before);
            (tortured.ln() - fresh_at(1.0 / 3.0), after_trim.ln() - fresh_at(2.0 / 3.0))
        });
        log_shares.filter(|(a, b)| a.is_finite() && b.is_finite()).collect()
    }
}

/// Distance of the fastest of these rates from the slowest, as a share of that; `None` for fewer
/// than two.
pub(super) fn spread(rates: &[f64]) -> Option<f64> {
    let Summary { min, max, .. } = Summary::of(rates)?;
    (rates.len() > 1 && min > 0.0).then(|| max / min - 1.0)
}

/// A share and its range.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Estimate {
    mean: f64,
    low: f64,
    high: f64,
}

impl Estimate {
    fn of_logs(mean: f64, half_range: f64) -> Self {
        Self { mean: mean.exp(), low: (mean - half_range).exp(), high: (mean + half_range).exp() }
    }

    /// Whether its text differs from that of its mean.
    fn has_range(self) -> bool {
        self.high.is_finite() && percent(self.low) != percent(self.high)
    }

    /// `25% (24% to 26%)`, without the range if it is unknown or too small to show.
    fn words(self) -> String {
        let [mean, low, high] = [self.mean, self.low, self.high].map(percent);
        match self.high {
            _ if !self.has_range() => mean,
            ..=WORDS_MAX => format!("{mean} ({low} to {high})"),
            _ => format!("{mean} ({low} to more than {})", percent(WORDS_MAX)),
        }
    }
}

/// The passes of one kind of data beside the fresh ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PassComparison {
    rounds: usize,
    is_simulated: bool,
    /// Tortured passes over fresh ones.
    tortured: Estimate,
    /// Passes after TRIM over fresh ones.
    after_trim: Estimate,
    /// Passes after TRIM over the middle between tortured and fresh ones.
    over_middle: Estimate,
    /// Distance of the fastest fresh pass from the slowest.
    fresh_spread: f64,
    /// The worst zone after TRIM over the same zone when fresh.
    worst_zone: f64,
    /// Whether a zone was below [`ZONE_SHARE_MIN`] in every pass after TRIM relative to every fresh
    /// one.
    has_slow_zone: bool,
}

/// The answer of one kind of data alone about TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrimAnswer {
    /// It restores the drive.
    Works,
    /// It restores less than half of the loss, or leaves a zone slow.
    DoesNotWork,
    /// No answer: too few rounds.
    TooFewRounds,
    /// No answer: torture has not slowed the target down.
    NoMark,
    /// No answer: noise hides it.
    Noise,
    /// Neither: it restores more than half of the loss, but not all.
    InPart,
}

impl TrimAnswer {
    pub(super) const fn is_settled(self) -> bool {
        !matches!(self, Self::TooFewRounds | Self::Noise)
    }

    const fn outcome(self) -> VerdictOutcome {
        match self {
            Self::Works => VerdictOutcome::Pass,
            Self::DoesNotWork => VerdictOutcome::Fail,
            Self::TooFewRounds | Self::NoMark | Self::Noise | Self::InPart => {
                VerdictOutcome::Inconclusive
            }
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Works => "TRIM works",
            Self::DoesNotWork => "TRIM does not work",
            Self::TooFewRounds => "fewer than four rounds do not show the noise",
            Self::NoMark => "torture left no mark",
            Self::Noise => "the noise is too large",
            Self::InPart => "TRIM brought back only a part of what torture took",
        }
    }

    /// The beginning of the verdict.
    fn begin(self) -> String {
        match self.outcome() {
            VerdictOutcome::Pass | VerdictOutcome::Fail => self.words().to_owned(),
            VerdictOutcome::Inconclusive => {
                format!("This run does not show whether TRIM works, because {}", self.words())
            }
        }
    }

    /// The addition to the figures of a kind of data whose answer differs from the verdict.
    fn aside(self) -> String {
        match self.outcome() {
            VerdictOutcome::Pass | VerdictOutcome::Fail => format!(" ({})", self.words()),
            VerdictOutcome::Inconclusive => format!(" (cannot tell: {})", self.words()),
        }
    }
}

impl PassComparison {
    /// `zones`: the worst zone's share, and whether it is slow in every pass. `None` without a complete round.
    pub(super) fn of(passes: &Passes, zones: (f64, bool), is_simulated: bool) -> Option<Self> {
        let shares = passes.log_shares();
        let fresh_spread = spread(&passes.fresh)?;
        let tortured: Vec<f64> = shares.iter().map(|(tortured, _)| *tortured).collect();
        let after_trim: Vec<f64> = shares.iter().map(|(_, after_trim)| *after_trim).collect();
        let middle = |tortured: f64| f64::midpoint(1.0, tortured.exp()).ln();
        let over_middle: Vec<f64> =
            shares.iter().map(|(tortured, after_trim)| after_trim - middle(*tortured)).collect();
        let estimate = |logs: &[f64]| {
            let simulated = SIMULATED_FACTOR * fresh_spread.ln_1p();
            let half_range = if is_simulated { simulated } else { half_range(logs) };
            Some(Estimate::of_logs(Summary::of(logs)?.mean, half_range))
        };
        Some(Self {
            rounds: shares.len(),
            is_simulated,
            tortured: estimate(&tortured)?,
            after_trim: estimate(&after_trim)?,
            over_middle: estimate(&over_middle)?,
            fresh_spread,
            worst_zone: zones.0,
            has_slow_zone: zones.1,
        })
    }

    /// Figures by the end of their name.
    pub(super) fn metrics(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("tortured_share", self.tortured.mean),
            ("tortured_share_high", self.tortured.high),
            ("after_trim_share", self.after_trim.mean),
            ("after_trim_share_low", self.after_trim.low),
            ("after_trim_worst_zone_share", self.worst_zone),
            ("fresh_spread_share", self.fresh_spread),
            ("rounds", self.rounds as f64),
        ]
        .map(|(name, value)| (name, Some(value).filter(|value| value.is_finite())))
    }

    /// The answer of the passes with this kind of data alone.
    pub(super) fn answer(&self) -> TrimAnswer {
        let reaches = self.after_trim.mean >= MEAN_SHARE_MIN;
        if !self.is_simulated && self.rounds < ROUNDS_MIN {
            TrimAnswer::TooFewRounds
        } else if self.tortured.mean >= MARK_SHARE_MAX {
            TrimAnswer::NoMark
        } else if self.tortured.high >= MARK_SHARE_MAX {
            TrimAnswer::Noise
        } else if self.has_slow_zone {
            TrimAnswer::DoesNotWork
        } else if self.over_middle.high < 1.0 {
            if reaches { TrimAnswer::NoMark } else { TrimAnswer::DoesNotWork }
        } else if self.over_middle.low <= 1.0 {
            TrimAnswer::Noise
        } else if reaches && self.worst_zone >= ZONE_SHARE_MIN {
            TrimAnswer::Works
        } else {
            TrimAnswer::InPart
        }
    }

    /// The source of the ranges, or `None` if there are none.
    fn range_words(&self) -> Option<&'static str> {
        let words = if self.is_simulated {
            "; ranges are three times what the fresh passes differ by"
        } else {
            "; ranges hold with 99.9% confidence on either side"
        };
        (self.tortured.has_range() || self.after_trim.has_range()).then_some(words)
    }

    /// The figures of this kind of data in words.
    fn words(&self, kind: &str) -> String {
        let rounds =
            if self.rounds == 1 { "1 round".into() } else { format!("{} rounds", self.rounds) };
        format!(
            "in {rounds} with {kind} data a linear pass after torture does {} of the fresh speed, \
             after TRIM {} with {} in the worst zone, and the {} fresh passes differ by up to {}",
            self.tortured.words(),
            self.after_trim.words(),
            percent(self.worst_zone),
            self.rounds + 1,
            percent(self.fresh_spread)
        )
    }
}

/// Possible distance of the mean of these values from the truth, with 99.9% confidence on either
/// side.
fn half_range(values: &[f64]) -> f64 {
    let count = values.len();
    let stddev = Summary::of(values).and_then(|summary| summary.stddev);
    let (true, Some(stddev)) = (count >= ROUNDS_MIN, stddev) else { return f64::INFINITY };
    let quantile = T_999[(count - ROUNDS_MIN).min(T_999.len() - 1)];
    quantile * stddev / (count as f64).sqrt()
}

/// The decision over all kinds of data. A failure of one is a failure; otherwise one that passes is
/// enough, because the other only could not tell. `None` if no kind has a complete round.
pub(super) fn verdict(found: &[(&str, PassComparison)]) -> Option<Verdict> {
    let answers = || found.iter().map(|(_, compared)| compared.answer());
    let first = |outcome| answers().find(|answer| answer.outcome() == outcome);
    let decisive =
        [VerdictOutcome::Fail, VerdictOutcome::Pass, VerdictOutcome::Inconclusive].map(first);
    let answer = decisive.into_iter().flatten().next()?;
    let words = |(kind, compared): &(&str, PassComparison)| {
        let own = compared.answer();
        let aside = if own == answer { String::new() } else { own.aside() };
        format!("{}{aside}", compared.words(kind))
    };
    let figures: Vec<String> = found.iter().map(words).collect();
    let ranges = found.iter().find_map(|(_, compared)| compared.range_words()).unwrap_or_default();
    let text = format!("{}: {}{ranges}.", answer.begin(), figures.join("; "));
    Some(Verdict { outcome: answer.outcome(), text })
}

#[cfg(test)]
mod tests;
