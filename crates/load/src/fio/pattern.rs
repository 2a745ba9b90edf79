//! The order of a fio job as a pattern.

use super::values::Units;

/// The options that decide the order.
#[derive(Debug)]
pub(super) struct OrderOptions {
    /// Whether `rw` is one of the random kinds.
    pub(super) is_random: bool,
    pub(super) distribution: Option<String>,
    pub(super) percentage_random: Option<String>,
    /// Whether a block may be drawn twice before all were.
    pub(super) without_map: bool,
    /// Whether the job goes on after its size, which begins the map again.
    pub(super) repeats: bool,
    /// Length of every command, if all have one and begin at its multiples.
    pub(super) block_bytes: Option<u64>,
    /// Distance of the commands of `zonemode=strided`, and the length of what it does at each place.
    pub(super) stride: Option<(u64, u64)>,
}

/// The pattern and the remarks about it; an error is key, value and rule.
pub(super) fn pattern(
    asked: &OrderOptions,
) -> Result<(String, Vec<String>), (&'static str, String, String)> {
    if let Some((stride, zone)) = asked.stride {
        return strided(asked, stride, zone);
    }
    if !asked.is_random {
        return Ok(("sequential".to_owned(), Vec::new()));
    }
    let skew = match asked.distribution.as_deref() {
        None | Some("random") => None,
        Some(text) => Some(skewed(text).ok_or_else(|| {
            let rule = "expected random, zipf:1.1, pareto:0.2, normal:10 or zoned:60/10:40/90";
            ("random_distribution", text.to_owned(), rule.to_owned())
        })?),
    };
    if let Some(pattern) = skew {
        return Ok((pattern, Vec::new()));
    }
    match asked.percentage_random.as_deref().map(|text| (text, text.parse::<u8>().ok())) {
        None | Some((_, Some(100))) => Ok(uniform(asked)),
        Some((_, Some(0))) => Ok(("sequential".to_owned(), Vec::new())),
        Some((_, Some(percent))) if percent < 100 => {
            Ok((format!("random({percent}%)"), Vec::new()))
        }
        Some((text, _)) => {
            let rule = "expected a percentage from 0 to 100, one for all kinds of commands";
            Err(("percentage_random", text.to_owned(), rule.to_owned()))
        }
    }
}

/// fio marks what it has drawn (its random map), so that a job meets every block once.
fn uniform(asked: &OrderOptions) -> (String, Vec<String>) {
    if asked.without_map {
        return ("uniform".to_owned(), Vec::new());
    }
    if asked.repeats || asked.block_bytes.is_none() {
        let why = if asked.repeats {
            "the job goes on after its size"
        } else {
            "its commands have several sizes"
        };
        let remark = format!(
            "norandommap=0 (fio's default): blocks are drawn with repetition, because {why}"
        );
        return ("uniform".to_owned(), vec![remark]);
    }
    ("shuffled".to_owned(), Vec::new())
}

fn strided(
    asked: &OrderOptions,
    stride: u64,
    zone: u64,
) -> Result<(String, Vec<String>), (&'static str, String, String)> {
    if asked.is_random || asked.block_bytes != Some(zone) {
        let rule =
            "only sequential commands as long as the zone are carried over: set bs to the zonesize";
        return Err(("zonemode", "strided".to_owned(), rule.to_owned()));
    }
    let remark = "zonemode=strided: after the last zone fio begins at the first block again, and a stride one block later";
    Ok((format!("stride({})", base::Bytes(stride)), vec![remark.to_owned()]))
}

/// `None` for a distribution that has no pattern.
fn skewed(text: &str) -> Option<String> {
    let (kind, value) = text.split_once(':')?;
    let decimal = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
    match kind {
        "zipf" => Some(format!("zipf({})", trimmed(decimal(value)?, 3))),
        "pareto" => Some(format!("pareto({}%)", trimmed(100.0 * decimal(value)?, 2))),
        "normal" => Some(format!("normal({}%)", trimmed(decimal(value)?, 2))),
        "zoned" => zoned(value),
        _ => None,
    }
}

/// `60/10:40/`: percents of the commands and of the size; zones without a size share what is left.
fn zoned(text: &str) -> Option<String> {
    let percent =
        |text: &str| text.parse::<f64>().ok().filter(|value| (0.0..=100.0).contains(value));
    let parts: Vec<(f64, Option<f64>)> = text
        .split(':')
        .map(|part| {
            let (commands, size) = part.split_once('/')?;
            let size = if size.is_empty() { None } else { Some(percent(size)?) };
            Some((percent(commands)?, size))
        })
        .collect::<Option<_>>()?;
    let named: f64 = parts.iter().filter_map(|(_, size)| *size).sum();
    let without = parts.iter().filter(|(_, size)| size.is_none()).count();
    let rest = (100.0 - named).max(0.0) / without.max(1) as f64;
    let part = |(commands, size): &(f64, Option<f64>)| {
        format!("{}:{}", trimmed(size.unwrap_or(rest), 2), trimmed(*commands, 2))
    };
    let parts: Vec<_> = parts.iter().map(part).collect();
    Some(format!("zones(\"{}\", contiguous)", parts.join(",")))
}

/// A number with at most so many decimals.
fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The stride of `zonemode=strided`: the distance of two zones, and the length of a zone.
pub(super) fn stride(
    zone: &str,
    range: Option<&str>,
    skip: Option<&str>,
    units: Units,
) -> Option<(u64, u64)> {
    let bytes = |text: &str| units.bytes(text);
    let zone_bytes = bytes(zone)?;
    let range = range.map_or(Some(zone_bytes), bytes)?;
    Some((range.checked_add(skip.map_or(Some(0), bytes)?)?, zone_bytes))
}
