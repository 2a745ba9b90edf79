//! Orders as text, as workload files hold them: `zipf(1.1)`, `zones("20:80")`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use base::text::shortened;
use base::{Bytes, Ratio};

use super::{Append, Layout, Order, Theta, Zone};
use crate::address::locality::Locality;

/// The most streams, and the most zones that are active at a time.
const STREAMS_MAX: u32 = 4_096;
/// The most parts of [`Order::Zones`].
const ZONES_MAX: usize = 64;
const KNOWN: &str = "uniform, sequential, sequential-once, shuffled, streams(4), stride(1MiB), random(30%), zipf(1.1), \
     pareto(20%), normal(10%), zones(\"20:80\"), read-only(40%), append(zones=8, zone=1GiB), trace(FILE)";

/// A text that is no order. Names the text and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no pattern: {rule}")]
pub struct OrderError {
    text: String,
    rule: String,
}

impl FromStr for Order {
    type Err = OrderError;

    fn from_str(text: &str) -> Result<Self, OrderError> {
        parsed(text.trim()).map_err(|rule| OrderError { text: shortened(text), rule })
    }
}

fn parsed(text: &str) -> Result<Order, String> {
    let Some((name, rest)) = text.split_once('(') else { return plain(text) };
    let inside = rest.strip_suffix(')').ok_or("expected `)` at its end")?.trim();
    let (inside, layout) = match inside.rsplit_once(',') {
        Some((first, "contiguous" | " contiguous")) => (first.trim(), Some(Layout::Contiguous)),
        Some((first, "scattered" | " scattered")) => (first.trim(), Some(Layout::Scattered)),
        _ => (inside, None),
    };
    let ranked = matches!(name, "zipf" | "pareto" | "zones" | "read-only");
    if layout.is_some() && !ranked {
        return Err(format!(
            "`{name}` has no ranks to place; leave `contiguous` or `scattered` away"
        ));
    }
    let layout = layout.unwrap_or_default();
    match name {
        "streams" => streams(inside),
        "stride" => stride(inside),
        "random" => partly_random(inside),
        "zipf" => Ok(Order::Zipf { theta: inside.parse()?, layout }),
        "pareto" => pareto(inside, layout),
        "normal" => normal(inside),
        "zones" => Ok(Order::Zones { zones: zones(inside)?, layout }),
        "read-only" => read_only(inside, layout),
        "append" => append(inside),
        "trace" => Ok(Order::Trace(Arc::new(Locality::read(unquoted(inside))?))),
        _ => Err(format!("known are {KNOWN}")),
    }
}

fn plain(text: &str) -> Result<Order, String> {
    match text {
        "uniform" => Ok(Order::Uniform),
        "sequential" => Ok(Order::Sequential),
        "sequential-once" => Ok(Order::SequentialOnce),
        "shuffled" => Ok(Order::Shuffled),
        _ => Err(format!("known are {KNOWN}")),
    }
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

fn streams(text: &str) -> Result<Order, String> {
    let count = text.parse().ok().filter(|count| (1..=STREAMS_MAX).contains(count));
    let count = count.ok_or(format!("expected a number of streams from 1 to {STREAMS_MAX}"))?;
    Ok(Order::Streams { count })
}

fn stride(text: &str) -> Result<Order, String> {
    Ok(Order::Stride { stride_bytes: bytes(text)? })
}

fn partly_random(text: &str) -> Result<Order, String> {
    let percent = text.strip_suffix('%').and_then(|percent| percent.trim().parse().ok());
    let random_percent = percent.filter(|percent| *percent < 100);
    let random_percent = random_percent.ok_or("expected whole percents below 100%, such as 30%")?;
    Ok(Order::PartlyRandom { random_percent })
}

fn share(text: &str) -> Result<Ratio, String> {
    text.parse().map_err(|error: base::UnitError| error.to_string())
}

fn pareto(text: &str, layout: Layout) -> Result<Order, String> {
    let share = share(text)?;
    if share.is_zero() || share.as_f64() > 0.5 {
        return Err(
            "expected a share above 0 and at most 50%: 20% gives it 80% of the commands".to_owned()
        );
    }
    Ok(Order::Pareto { share, layout })
}

fn normal(text: &str) -> Result<Order, String> {
    let deviation = share(text)?;
    if deviation.is_zero() {
        return Err("expected a standard deviation above 0, as a share of the span".to_owned());
    }
    Ok(Order::Normal { deviation })
}

fn read_only(text: &str, layout: Layout) -> Result<Order, String> {
    let share = share(text)?;
    if share == Ratio::ONE || share.complement().is_zero() {
        return Err(
            "expected a share below 100%: something must be left to the commands".to_owned()
        );
    }
    Ok(Order::ReadOnly { share, layout })
}

impl FromStr for Theta {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rule = || {
            "expected an exponent from 0 to 4 with at most three decimals, such as 0.99".to_owned()
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_number =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || whole.len() > 1 || fraction.len() > 3 {
            return Err(rule());
        }
        let thousandths = format!("{whole}{fraction:0<3}").parse().map_err(|_| rule())?;
        (thousandths <= Self::MAX.thousandths).then_some(Self { thousandths }).ok_or_else(rule)
    }
}

/// Hundredths of a percent, the step of the parts.
const WHOLE: u64 = 10_000;

/// `20:80,30:15`: percents of the span, with percents of the commands; what is missing from 100 is
/// the last part.
fn zones(text: &str) -> Result<Arc<[Zone]>, String> {
    let mut zones = Vec::new();
    let (mut size_left, mut commands_left) = (WHOLE, WHOLE);
    for part in unquoted(text).split(',') {
        let (size, commands) = part.split_once(':').ok_or_else(|| {
            format!("`{}` is no part such as 20:80 (size and share of the commands)", part.trim())
        })?;
        let (size, commands) = (hundredths(size)?, hundredths(commands)?);
        let too_much = "the parts are more than 100%";
        size_left = size_left.checked_sub(size).ok_or(too_much)?;
        commands_left = commands_left.checked_sub(commands).ok_or(too_much)?;
        zones.push((size, commands));
    }
    zones.push((size_left, commands_left));
    zones.retain(|zone| *zone != (0, 0));
    if zones.iter().any(|(size, _)| *size == 0) {
        return Err("a part without size cannot have commands".to_owned());
    }
    if zones.len() > ZONES_MAX {
        return Err(format!("expected at most {ZONES_MAX} parts"));
    }
    let ratio = |value| Ratio::new(value, WHOLE).unwrap_or(Ratio::ONE);
    Ok(zones
        .into_iter()
        .map(|(size, commands)| Zone { size: ratio(size), commands: ratio(commands) })
        .collect())
}

fn hundredths(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let expected = || format!("`{text}` is no percentage from 0 to 100 with at most two decimals");
    let ratio: Ratio =
        format!("{}%", text.trim_end_matches('%')).parse().map_err(|_| expected())?;
    let value = ratio.of(WHOLE);
    (Ratio::new(value, WHOLE).is_some_and(|exact| exact.as_f64() == ratio.as_f64()))
        .then_some(value)
        .ok_or_else(expected)
}

fn bytes(text: &str) -> Result<u64, String> {
    text.parse().map(|Bytes(value)| value).map_err(|error: base::UnitError| error.to_string())
}

fn flag(text: &str) -> Option<bool> {
    text.parse().ok()
}

fn handles(text: &str) -> Option<u8> {
    text.parse().ok()
}

fn append(text: &str) -> Result<Order, String> {
    let mut append = Append { zones: 0, zone_bytes: 0, deallocate: true, handles: 0 };
    for pair in text.split(',') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (key.trim(), value.trim());
        let wrong = |expected: &str| format!("{key}={value}: expected {expected}");
        match key {
            "zones" => {
                let count = value.parse().ok().filter(|count| (1..=STREAMS_MAX).contains(count));
                append.zones = count.ok_or_else(|| wrong("1 to 4096 zones at a time"))?;
            }
            "zone" => append.zone_bytes = bytes(value).map_err(|error| wrong(&error))?,
            "deallocate" => {
                append.deallocate = flag(value).ok_or_else(|| wrong("true or false"))?;
            }
            "handles" => append.handles = handles(value).ok_or_else(|| wrong("0 to 255"))?,
            _ => {
                return Err(format!(
                    "`{key}` is unknown; known are zones, zone, deallocate and handles"
                ));
            }
        }
    }
    if append.zones == 0 || append.zone_bytes == 0 {
        return Err("expected zones and zone, as in append(zones=8, zone=1GiB)".to_owned());
    }
    Ok(Order::Append(append))
}

impl fmt::Display for Theta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.thousandths / 1_000, self.thousandths % 1_000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scattered => "",
            Self::Contiguous => ", contiguous",
        })
    }
}

impl fmt::Display for Append {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "append(zones={}, zone={}", self.zones, Bytes(self.zone_bytes))?;
        if self.handles > 0 {
            write!(f, ", handles={}", self.handles)?;
        }
        f.write_str(if self.deallocate { ")" } else { ", deallocate=false)" })
    }
}

/// A percentage with as many decimals as it needs, up to two.
fn percent(ratio: Ratio) -> String {
    let text = format!("{:.2}", 100.0 * ratio.as_f64());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl fmt::Display for Order {
    /// The text that gives the same order again, but for the three that no text gives.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SequentialOnce => f.write_str("sequential-once"),
            Self::PartlyRandom { random_percent } => write!(f, "random({random_percent}%)"),
            Self::Sequential => f.write_str("sequential"),
            Self::Uniform => f.write_str("uniform"),
            Self::OnePass { .. } => f.write_str("steady-state"),
            Self::Composite(_) => f.write_str("composite"),
            Self::Shuffled => f.write_str("shuffled"),
            Self::Streams { count } => write!(f, "streams({count})"),
            Self::Stride { stride_bytes } => write!(f, "stride({})", Bytes(*stride_bytes)),
            Self::Zipf { theta, layout } => write!(f, "zipf({theta}{layout})"),
            Self::Pareto { share, layout } => write!(f, "pareto({share}{layout})"),
            Self::Normal { deviation } => write!(f, "normal({deviation})"),
            Self::Zones { zones, layout } => {
                let part =
                    |zone: &Zone| format!("{}:{}", percent(zone.size), percent(zone.commands));
                let parts: Vec<_> = zones.iter().map(part).collect();
                write!(f, "zones(\"{}\"{layout})", parts.join(","))
            }
            Self::ReadOnly { share, layout } => write!(f, "read-only({share}{layout})"),
            Self::Append(append) => append.fmt(f),
            Self::WholeZones(order) => write!(f, "whole zones, {} at a time", order.at_a_time),
            Self::Trace(locality) => write!(f, "trace({})", locality.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_reads_back_as_it_is_written() {
        for text in [
            "uniform",
            "sequential",
            "sequential-once",
            "shuffled",
            "streams(4)",
            "stride(1MiB)",
            "random(30%)",
            "zipf(1.1)",
            "zipf(0)",
            "zipf(0.99, contiguous)",
            "pareto(20%)",
            "normal(10%)",
            "zones(\"20:80,80:20\")",
            "zones(\"5:90,5:5,90:5\", contiguous)",
            "zones(\"0.5:99.25,99.5:0.75\")",
            "read-only(40%)",
            "append(zones=8, zone=1GiB)",
            "append(zones=2, zone=64MiB, handles=2, deallocate=false)",
            "trace(synth:light-2011?scale=1/1000)",
        ] {
            let order: Order = text.parse().unwrap();
            assert_eq!(order.to_string(), text);
        }
    }

    #[test]
    fn one_part_has_a_rest_and_a_whole_list_has_none() {
        let zones = |text: &str| -> Vec<u64> {
            match text.parse().unwrap() {
                Order::Zones { zones, .. } => zones.iter().map(|zone| zone.size.of(100)).collect(),
                other => panic!("{other}"),
            }
        };
        assert_eq!(zones("zones(20:80)"), [20, 80]);
        assert_eq!(zones("zones(\"20:80, 80:20\")"), [20, 80]);
    }

    #[test]
    fn slips_name_the_text_and_the_rule() {
        for (text, rule) in [
            ("zipfian", "known are uniform"),
            ("zipf(1.1", "expected `)`"),
            ("zipf(-1)", "an exponent from 0 to 4"),
            ("zipf(4.001)", "an exponent from 0 to 4"),
            ("zipf(1e3)", "an exponent from 0 to 4"),
            ("pareto(0.9)", "at most 50%"),
            ("pareto(0)", "above 0"),
            ("normal(0)", "above 0"),
            ("zones(20)", "no part such as 20:80"),
            ("zones(60:50,60:50)", "more than 100%"),
            ("zones(100:80)", "without size"),
            ("zones(33.333:50)", "at most two decimals"),
            ("read-only(100%)", "below 100%"),
            ("streams(0)", "from 1 to"),
            ("streams(4, contiguous)", "no ranks"),
            ("append(zones=4)", "zones and zone"),
            ("append(zones=4, zone=1GiB, colour=red)", "`colour` is unknown"),
            ("trace(no-such-file)", "no-such-file"),
        ] {
            let error = text.parse::<Order>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains(rule), "{error}");
        }
    }
}
