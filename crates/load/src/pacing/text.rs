//! Paces as text, as settings and workload files hold them.

use std::fmt;
use std::str::FromStr;

use base::Nanos;

use super::{Pacing, RATE_IOPS_MAX};

/// A text that is no [`Pacing`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no rate; expected `max`, commands a second from 1 to 1000000000 such as `1000`, `20k` or \
     `1M`, `poisson:1000`, `bursts(20k, on=100ms, off=900ms)` or `ramp(1k, to=20k, over=60s)`"
)]
pub struct PacingError(String);

impl FromStr for Pacing {
    type Err = PacingError;

    fn from_str(text: &str) -> Result<Self, PacingError> {
        let error = || PacingError(base::text::shortened(text));
        let inside = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        if let Some(inside) = inside("bursts") {
            return bursts(inside).ok_or_else(error);
        }
        if let Some(inside) = inside("ramp") {
            return ramp(inside).ok_or_else(error);
        }
        let rate = |text: &str| rate_iops(text).ok_or_else(error);
        match text.split_once(':') {
            None if text == "max" => Ok(Self::ClosedLoop),
            None => Ok(Self::Fixed { rate_iops: rate(text)? }),
            Some(("poisson", mean)) => Ok(Self::Poisson { rate_iops: rate(mean)? }),
            Some(_) => Err(error()),
        }
    }
}

fn bursts(text: &str) -> Option<Pacing> {
    let (rate, [on, off]) = named(text, ["on", "off"])?;
    let (on, off) = (time(on)?, off.parse().ok()?);
    Some(Pacing::Bursts { rate_iops: rate_iops(rate)?, on, off })
}

fn ramp(text: &str) -> Option<Pacing> {
    let (from, [to, over]) = named(text, ["to", "over"])?;
    Some(Pacing::Ramp { from_iops: rate_iops(from)?, to_iops: rate_iops(to)?, over: time(over)? })
}

/// The first value, and those of two names in this order.
fn named<'a>(text: &'a str, names: [&str; 2]) -> Option<(&'a str, [&'a str; 2])> {
    let mut parts = text.split(',').map(str::trim);
    let first = parts.next()?;
    let mut value = |name: &str| parts.next()?.strip_prefix(name)?.trim_start().strip_prefix('=');
    let values = [value(names[0])?.trim(), value(names[1])?.trim()];
    parts.next().is_none().then_some((first, values))
}

/// A time above 0.
fn time(text: &str) -> Option<Nanos> {
    text.parse().ok().filter(|time: &Nanos| time.0 > 0)
}

/// `20k` is 20,000: rates are decimal, unlike block sizes.
fn rate_iops(text: &str) -> Option<u64> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1_000_000)),
    };
    let rate = digits.parse::<u64>().ok()?.checked_mul(factor)?;
    (1..=RATE_IOPS_MAX).contains(&rate).then_some(rate)
}

impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClosedLoop => f.write_str("max"),
            Self::Fixed { rate_iops } => write!(f, "{rate_iops}"),
            Self::Poisson { rate_iops } => write!(f, "poisson:{rate_iops}"),
            Self::Bursts { rate_iops, on, off } => {
                write!(f, "bursts({rate_iops}, on={on}, off={off})")
            }
            Self::Ramp { from_iops, to_iops, over } => {
                write!(f, "ramp({from_iops}, to={to_iops}, over={over})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_read_as_it_is_written() {
        let (on, off, over) = (Nanos(100_000_000), Nanos(900_000_000), Nanos(60_000_000_000));
        for (text, pacing) in [
            ("max", Pacing::ClosedLoop),
            ("1", Pacing::Fixed { rate_iops: 1 }),
            ("20k", Pacing::Fixed { rate_iops: 20_000 }),
            ("poisson:1M", Pacing::Poisson { rate_iops: 1_000_000 }),
            ("bursts(20k, on=100ms, off=900ms)", Pacing::Bursts { rate_iops: 20_000, on, off }),
            ("ramp(1k,to=5k,over=60s)", Pacing::Ramp { from_iops: 1_000, to_iops: 5_000, over }),
        ] {
            assert_eq!(text.parse(), Ok(pacing));
            assert_eq!(pacing.to_string().parse(), Ok(pacing));
        }
        for text in [
            "",
            "0",
            "fast",
            "poisson",
            "poisson:0",
            "even:5",
            "-1",
            "1001M",
            "1.5k",
            "bursts(5)",
            "bursts(5, on=0s, off=1s)",
            "bursts(5, off=1s, on=1s)",
            "ramp(0, to=5, over=1s)",
            "ramp(1, to=5, over=1s, x)",
            "ramp(1, to=5, over=0s)",
        ] {
            let error = text.parse::<Pacing>().unwrap_err().to_string();
            assert!(error.contains("poisson:1000"), "{error}");
        }
    }
}
