//! A sensor of the kernel's hwmon class, such as an INA219 on an I2C bus.
//!
//! Source of names and units: the kernel's `Documentation/hwmon/sysfs-interface.rst`:
//! `powerN_input` in µW, `inN_input` in mV, `currN_input` in mA. For a chip that reports voltage
//! and current only (INA3221, LTC4151), the product is computed here.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use target::TargetError;

use super::{Faults, HwmonSpec, Meter, Reading, believable_uw, now_ns};

const CLASS: &str = "/sys/class/hwmon";

/// Source of the power.
#[derive(Debug)]
enum Input {
    /// The chip reports it.
    Power(PathBuf),
    /// Voltage times current.
    Product { voltage: PathBuf, current: PathBuf },
}

/// An open sensor.
#[derive(Debug)]
pub(super) struct Hwmon {
    described: String,
    input: Input,
    interval: Duration,
    faults: Faults,
}

impl Hwmon {
    pub(super) fn open(spec: &HwmonSpec) -> Result<Self, TargetError> {
        Self::open_in(Path::new(CLASS), spec)
    }

    fn open_in(class: &Path, spec: &HwmonSpec) -> Result<Self, TargetError> {
        let dir = find(class, &spec.name)?;
        let attribute = |kind: &str| dir.join(format!("{kind}{}_input", spec.channel));
        let (power, voltage) = (attribute("power"), attribute("in"));
        let current = attribute("curr");
        let (input, from) = if power.exists() {
            (Input::Power(power), "power")
        } else if voltage.exists() && current.exists() {
            (Input::Product { voltage, current }, "voltage times current")
        } else {
            return Err(TargetError::Usage(format!(
                "{} has neither {} nor {} and {}; choose another input with ?channel=N",
                dir.display(),
                name(&power),
                name(&voltage),
                name(&current)
            )));
        };
        let described = format!("hwmon {}, {from}, input {}", spec.name, spec.channel);
        let interval = Duration::from_nanos(spec.interval.0);
        let meter = Self { described, input, interval, faults: Faults::default() };
        meter.power_uw().map_err(|error| match error {
            TargetError::Device { context, source } => TargetError::Device {
                context: format!("the meter does not answer: {context}"),
                source,
            },
            other => other,
        })?;
        Ok(meter)
    }

    fn power_uw(&self) -> Result<i64, TargetError> {
        let power_w = match &self.input {
            Input::Power(power) => number(power)? / 1e6,
            Input::Product { voltage, current } => number(voltage)? / 1e3 * number(current)? / 1e3,
        };
        believable_uw(power_w).ok_or_else(|| TargetError::Device {
            context: format!("{power_w} W is no power of a drive"),
            source: std::io::ErrorKind::InvalidData.into(),
        })
    }
}

impl Meter for Hwmon {
    fn describe(&self) -> String {
        self.described.clone()
    }

    fn read(&mut self, patience: Duration, out: &mut Vec<Reading>) -> Result<(), TargetError> {
        std::thread::sleep(self.interval.min(patience));
        let before_ns = now_ns();
        match self.power_uw() {
            Ok(power_uw) => {
                let at_ns = before_ns.midpoint(now_ns());
                out.push(Reading { at_ns, power_uw });
            }
            Err(error) => self.faults.note(|| error.to_string()),
        }
        Ok(())
    }

    fn faults(&self) -> &Faults {
        &self.faults
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The directory of the sensor with this name, or of this number.
fn find(class: &Path, wanted: &str) -> Result<PathBuf, TargetError> {
    let entries = fs::read_dir(class).into_iter().flatten().flatten();
    let mut sensors: Vec<(String, PathBuf)> = entries
        .map(|entry| {
            let chip = fs::read_to_string(entry.path().join("name")).unwrap_or_default();
            (chip.trim().to_owned(), entry.path())
        })
        .collect();
    sensors.sort_by(|a, b| a.1.cmp(&b.1));
    let fits = |(chip, path): &&(String, PathBuf)| chip == wanted || name(path) == wanted;
    let found: Vec<_> = sensors.iter().filter(fits).collect();
    match found.as_slice() {
        [(_, dir)] => Ok(dir.clone()),
        [] => Err(TargetError::Usage(format!(
            "there is no sensor `{wanted}` in {}; {}",
            class.display(),
            known(&sensors)
        ))),
        several => {
            let numbers: Vec<_> = several.iter().map(|(_, dir)| name(dir)).collect();
            Err(TargetError::Usage(format!(
                "several sensors are called `{wanted}`; name one by its number: {}",
                numbers.join(", ")
            )))
        }
    }
}

fn known(sensors: &[(String, PathBuf)]) -> String {
    if sensors.is_empty() {
        return "the kernel knows none (is the driver loaded?)".to_owned();
    }
    let names: Vec<_> =
        sensors.iter().map(|(chip, dir)| format!("{chip} ({})", name(dir))).collect();
    format!("known are {}", names.join(", "))
}

fn number(path: &Path) -> Result<f64, TargetError> {
    let failed =
        |source| TargetError::Device { context: format!("cannot read {}", path.display()), source };
    let text = fs::read_to_string(path).map_err(failed)?;
    // Attributes are whole numbers; a float holds all that a sensor could mean.
    let parsed = text.trim().parse::<i64>();
    parsed.map(|number| number as f64).map_err(|_| TargetError::Device {
        context: format!("{} says `{}`", path.display(), text.trim().escape_debug()),
        source: std::io::ErrorKind::InvalidData.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Nanos;

    /// Number, name, attributes.
    type Sensor<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

    /// A class directory with sensors.
    fn class(sensors: &[Sensor<'_>]) -> tempfile::TempDir {
        let class = tempfile::tempdir().expect("a directory");
        for (number, chip, attributes) in sensors {
            let dir = class.path().join(number);
            fs::create_dir(&dir).expect("a directory");
            fs::write(dir.join("name"), format!("{chip}\n")).expect("a file");
            for (attribute, value) in *attributes {
                fs::write(dir.join(attribute), format!("{value}\n")).expect("a file");
            }
        }
        class
    }

    fn spec(name: &str, channel: u32) -> HwmonSpec {
        HwmonSpec { name: name.to_owned(), channel, interval: Nanos(1_000_000) }
    }

    fn read(class: &Path, spec: &HwmonSpec) -> Result<i64, TargetError> {
        let mut meter = Hwmon::open_in(class, spec)?;
        let (before_ns, mut out) = (now_ns(), Vec::new());
        meter.read(Duration::from_millis(100), &mut out)?;
        assert!((before_ns..=now_ns()).contains(&out[0].at_ns));
        Ok(out[0].power_uw)
    }

    #[test]
    fn power_is_read_or_made_from_voltage_and_current() {
        let class = class(&[
            ("hwmon0", "coretemp", &[("temp1_input", "40000")]),
            ("hwmon1", "ina219", &[("power1_input", "2340000"), ("in1_input", "5000")]),
            ("hwmon2", "ina3221", &[("in2_input", "3300"), ("curr2_input", "-500")]),
        ]);
        let read = |name, channel| read(class.path(), &spec(name, channel)).expect(name);
        assert_eq!(read("ina219", 1), 2_340_000);
        assert_eq!(read("hwmon1", 1), 2_340_000);
        assert_eq!(read("ina3221", 2), -1_650_000);
    }

    #[test]
    fn a_sensor_that_is_not_there_is_refused_with_those_that_are() {
        let class = class(&[
            ("hwmon0", "ina219", &[("power1_input", "1")]),
            ("hwmon1", "ina219", &[("power1_input", "1")]),
            ("hwmon2", "coretemp", &[("temp1_input", "40000")]),
            ("hwmon3", "broken", &[("power1_input", "many")]),
            ("hwmon4", "sun", &[("power1_input", "1000000001")]),
        ]);
        for (name, words) in [
            ("ina226", "known are ina219 (hwmon0)"),
            ("ina219", "name one by its number: hwmon0, hwmon1"),
            ("coretemp", "neither power1_input nor in1_input and curr1_input"),
            ("broken", "says `many`"),
            ("sun", "1000.000001 W is no power of a drive"),
        ] {
            let error = Hwmon::open_in(class.path(), &spec(name, 1)).expect_err(name).to_string();
            assert!(error.contains(words), "{error}");
        }
        let error = find(Path::new("/nowhere"), "x").expect_err("none").to_string();
        assert!(error.contains("is the driver loaded"), "{error}");
    }

    #[test]
    fn a_sensor_that_fails_for_a_moment_is_asked_again() {
        let class = class(&[("hwmon0", "ina219", &[("power1_input", "7")])]);
        let mut meter = Hwmon::open_in(class.path(), &spec("ina219", 1)).expect("a sensor");
        let (path, mut out) = (class.path().join("hwmon0/power1_input"), Vec::new());
        let mut read = |meter: &mut Hwmon, value: &str| {
            fs::write(&path, value).expect("a file");
            meter.read(Duration::from_millis(5), &mut out).expect("it goes on");
        };
        read(&mut meter, "");
        read(&mut meter, "8");
        assert_eq!(out.iter().map(|reading| reading.power_uw).collect::<Vec<_>>(), [8]);
        assert_eq!(meter.faults().count, 1);
    }
}
