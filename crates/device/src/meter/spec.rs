//! The user's argument of `--meter`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use base::Nanos;
use target::TargetError;
use target::spec::parse_settings;

const EXPECTED: &str = "hwmon:NAME or stream:PATH";

/// Time between two readings of a sensor: short enough for peaks, long for an I2C bus.
const INTERVAL: Nanos = Nanos(20_000_000);

/// A meter as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeterSpec {
    /// `hwmon:NAME[?channel=1&interval=20ms]`
    Hwmon(HwmonSpec),
    /// `stream:PATH[?clock=unix&offset=-5ms&baud=115200]`
    Stream(StreamSpec),
}

/// A sensor of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HwmonSpec {
    /// Its name (`ina219`) or its number (`hwmon3`).
    pub name: String,
    /// The number of its input.
    pub channel: u32,
    /// Time between two readings.
    pub interval: Nanos,
}

/// Lines from a file, a pipe or a serial port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSpec {
    /// Source of the lines.
    pub path: PathBuf,
    /// Zero of the times in them, or `None` to judge by the lines themselves.
    pub clock: Option<StreamClock>,
    /// Added to every time, ns.
    pub offset_ns: i64,
    /// Speed of a serial port, or `None` to leave it as it is.
    pub baud: Option<u32>,
}

/// Zero of the time of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamClock {
    /// None: the time of a line is the moment at which it was read.
    Arrival,
    /// Some moment of the meter's; the time of the first line is the moment at which it was read.
    Meter,
    /// 1970-01-01 UTC, by this machine's clock.
    Unix,
}

impl StreamClock {
    const ALL: [(Self, &str); 3] =
        [(Self::Arrival, "arrival"), (Self::Meter, "meter"), (Self::Unix, "unix")];

    /// The word on the command line and in results.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(clock, _)| *clock == self).map_or("", |(_, name)| name)
    }
}

impl FromStr for MeterSpec {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let usage =
            |what: &str| TargetError::Usage(format!("`{text}` {what}; expected {EXPECTED}"));
        let (kind, rest) = text.split_once(':').ok_or_else(|| usage("is no meter"))?;
        let (name, query) = rest.rsplit_once('?').unwrap_or((rest, ""));
        if name.is_empty() {
            return Err(usage("names no meter"));
        }
        let settings = parse_settings(text, query)?;
        match kind {
            "hwmon" => Ok(Self::Hwmon(hwmon(text, name, &settings)?)),
            "stream" => Ok(Self::Stream(stream(text, name, &settings)?)),
            _ => Err(usage("is no kind of meter")),
        }
    }
}

fn hwmon(text: &str, name: &str, settings: &[(String, String)]) -> Result<HwmonSpec, TargetError> {
    let mut spec = HwmonSpec { name: name.to_owned(), channel: 1, interval: INTERVAL };
    for (key, value) in settings {
        match key.as_str() {
            "channel" => spec.channel = number(text, key, value)?,
            "interval" => spec.interval = interval(text, value)?,
            _ => return Err(unknown(text, key, "channel and interval")),
        }
    }
    Ok(spec)
}

fn stream(
    text: &str,
    name: &str,
    settings: &[(String, String)],
) -> Result<StreamSpec, TargetError> {
    let mut spec = StreamSpec { path: name.into(), clock: None, offset_ns: 0, baud: None };
    for (key, value) in settings {
        match key.as_str() {
            "clock" => spec.clock = Some(clock(text, value)?),
            "offset" => spec.offset_ns = offset_ns(text, value)?,
            "baud" => spec.baud = Some(number(text, key, value)?),
            _ => return Err(unknown(text, key, "clock, offset and baud")),
        }
    }
    Ok(spec)
}

fn unknown(text: &str, key: &str, known: &str) -> TargetError {
    TargetError::Usage(format!("`{key}` in `{text}` is no setting of this meter; it has {known}"))
}

fn wrong(text: &str, key: &str, value: &str, expected: &str) -> TargetError {
    TargetError::Usage(format!("{key}={value} in `{text}` cannot be used; expected {expected}"))
}

fn number(text: &str, key: &str, value: &str) -> Result<u32, TargetError> {
    value.parse().map_err(|_| wrong(text, key, value, "a whole number"))
}

fn clock(text: &str, value: &str) -> Result<StreamClock, TargetError> {
    let found = StreamClock::ALL.into_iter().find(|(_, name)| *name == value);
    found
        .map(|(clock, _)| clock)
        .ok_or_else(|| wrong(text, "clock", value, "arrival, meter or unix"))
}

fn interval(text: &str, value: &str) -> Result<Nanos, TargetError> {
    const RANGE: std::ops::RangeInclusive<Nanos> = Nanos(1_000_000)..=Nanos::SECOND;
    let parsed = value.parse().ok().filter(|interval| RANGE.contains(interval));
    parsed.ok_or_else(|| wrong(text, "interval", value, "1ms to 1s"))
}

fn offset_ns(text: &str, value: &str) -> Result<i64, TargetError> {
    let (sign, digits) = value.strip_prefix('-').map_or((1, value), |digits| (-1, digits));
    let parsed = digits.parse::<Nanos>().ok().and_then(|offset| i64::try_from(offset.0).ok());
    let parsed = parsed.map(|offset| sign * offset);
    parsed.ok_or_else(|| wrong(text, "offset", value, "a time such as 20ms or -1s"))
}

impl fmt::Display for MeterSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, settings) = match self {
            Self::Hwmon(spec) => (format!("hwmon:{}", spec.name), spec.settings()),
            Self::Stream(spec) => (format!("stream:{}", spec.path.display()), spec.settings()),
        };
        let settings: Vec<_> =
            settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        match settings.join("&") {
            query if query.is_empty() && !start.contains('?') => f.write_str(&start),
            query => write!(f, "{start}?{query}"),
        }
    }
}

impl HwmonSpec {
    fn settings(&self) -> Vec<(&'static str, String)> {
        let channel = (self.channel != 1).then(|| ("channel", self.channel.to_string()));
        let interval = (self.interval != INTERVAL).then(|| ("interval", self.interval.to_string()));
        channel.into_iter().chain(interval).collect()
    }
}

impl StreamSpec {
    fn settings(&self) -> Vec<(&'static str, String)> {
        let clock = self.clock.map(|clock| ("clock", clock.name().to_owned()));
        let sign = if self.offset_ns < 0 { "-" } else { "" };
        let offset = format!("{sign}{}", Nanos(self.offset_ns.unsigned_abs()));
        let offset = (self.offset_ns != 0).then_some(("offset", offset));
        let baud = self.baud.map(|baud| ("baud", baud.to_string()));
        clock.into_iter().chain(offset).chain(baud).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_is_written_as_it_is_read() {
        for text in [
            "hwmon:ina219",
            "hwmon:hwmon3?channel=2&interval=5ms",
            "stream:/dev/ttyUSB0?clock=meter&offset=-20ms&baud=115200",
            "stream:watts.csv",
            "stream:odd?name?clock=unix",
        ] {
            let spec: MeterSpec = text.parse().expect(text);
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_meter_is_named_with_what_was_expected() {
        for (text, words) in [
            ("ina219", "expected hwmon:NAME"),
            ("hwmon:", "names no meter"),
            ("usb:1", "no kind of meter"),
            ("hwmon:ina219?rate=5", "it has channel and interval"),
            ("hwmon:ina219?interval=0ms", "1ms to 1s"),
            ("stream:x?clock=sun", "arrival, meter or unix"),
            ("stream:x?offset=--5ms", "-1s"),
            ("stream:x?offset=400y", "-1s"),
            ("stream:x?baud=fast", "a whole number"),
        ] {
            let error = text.parse::<MeterSpec>().expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
