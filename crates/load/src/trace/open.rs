//! A trace by its name: a file of any format, or `synth:SCENARIO[?scale=1/10&seed=1]`, synthesised
//! during reading.

use std::path::Path;

use base::Ratio;

use super::excerpt::ExcerptSource;
use super::import::chosen;
use super::placed::{OneVolume, Overlaid, SideBySide};
use super::streams::{Census, Volume, side_by_side};
use super::synth::{Scenario, Synth};
use super::{Addresses, ImportOptions, Layout, Source, TraceError, import};

const SYNTH: &str = "synth:";

/// Opens a trace by its name, with the layout of streams and the excerpt in the options. To lay
/// volumes side by side, it first reads a text for their sizes.
///
/// # Errors
/// If there is no such file, format or scenario, or a key is unknown.
pub fn open(name: &str, options: &ImportOptions) -> Result<Box<dyn Source>, TraceError> {
    let (source, excerpt) = (laid_out(name, options)?, options.excerpt);
    if excerpt.is_whole() {
        return Ok(source);
    }
    if name == "-" && excerpt.passes.get() > 1 {
        let hint = "standard input can be read only once; import it into a trace first (ssdlab trace import)";
        return Err(TraceError::Usage(hint.to_owned()));
    }
    let (name, options) = (name.to_owned(), options.clone());
    let again = Box::new(move || laid_out(&name, &options));
    Ok(Box::new(ExcerptSource::new(source, excerpt, again)))
}

/// A whole trace, with the layout of streams in the options.
fn laid_out(name: &str, options: &ImportOptions) -> Result<Box<dyn Source>, TraceError> {
    let source = apart(name, options)?;
    let info = source.info();
    if info.addresses != Addresses::OfEach {
        return Ok(source);
    }
    Ok(match options.layout {
        Layout::Apart => source,
        Layout::Overlay => Box::new(Overlaid(source)),
        Layout::SideBySide if name == "-" => Box::new(OneVolume::new(source)),
        Layout::SideBySide => {
            let volumes = if info.volumes.is_empty() {
                volumes(apart(name, options)?, name)?
            } else {
                side_by_side(info.volumes, name)?
            };
            Box::new(SideBySide::new(source, volumes, name))
        }
    })
}

/// The volumes of a trace, found by reading it to its end.
fn volumes(mut source: Box<dyn Source>, name: &str) -> Result<Vec<Volume>, TraceError> {
    let mut census = Census::default();
    while let Some(record) = source.next_record()? {
        census.add(&record);
    }
    census.volumes(name)
}

/// A trace whose streams keep their own addresses.
fn apart(name: &str, options: &ImportOptions) -> Result<Box<dyn Source>, TraceError> {
    let Some(scenario) = name.strip_prefix(SYNTH) else {
        return import(Path::new(name), options);
    };
    let format_options = &options.format_options;
    let given = [
        ("--from", options.format.is_some()),
        ("--event", format_options.event.is_some()),
        ("--wait-unit", format_options.wait_unit.is_some()),
        ("--time-unit", format_options.time_unit.is_some()),
    ];
    if let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
        return Err(TraceError::Usage(format!(
            "{flag} is for trace files, and {name} is made while it is read; leave {flag} away"
        )));
    }
    Ok(chosen(Box::new(synth(scenario)?), &options.streams))
}

/// Synthesises the trace `SCENARIO[?scale=1/10&seed=1]`.
///
/// # Errors
/// If there is no such scenario, or a key or value is invalid.
pub fn synth(text: &str) -> Result<Synth, TraceError> {
    let (name, keys) = text.split_once('?').unwrap_or((text, ""));
    let (mut scale, mut seed) = (Ratio::ONE, 1);
    for pair in keys.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let wrong = |error: &dyn std::fmt::Display| {
            TraceError::Usage(format!("{SYNTH}{text}: {key}={value} cannot be used: {error}"))
        };
        match key {
            "scale" => scale = value.parse().map_err(|error| wrong(&error))?,
            "seed" => seed = value.parse().map_err(|error| wrong(&error))?,
            _ => return Err(wrong(&"known are scale (e.g. 1/10) and seed")),
        }
    }
    Synth::new(&Scenario::load(name)?, scale, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_is_opened_by_its_name_with_scale_and_seed() {
        let trace = synth("light-2011?scale=1/100&seed=5").unwrap();
        assert_eq!(trace.records(), 3726 + 4597);
        assert_eq!(trace.info().source, "scenario light-2011, scale 1%, seed 5");
    }

    #[test]
    fn one_stream_of_a_scenario_and_no_option_of_files() {
        let all = ImportOptions::default();
        let read = |options: &ImportOptions| {
            let mut source = open("synth:light-2011?scale=1/1000", options)?;
            std::iter::from_fn(|| source.next_record().transpose()).collect::<Result<Vec<_>, _>>()
        };
        let of_all = read(&all).unwrap();
        let first = ImportOptions { streams: [0].into_iter().collect(), ..all.clone() };
        let of_first = read(&first).unwrap();
        assert_eq!(of_first.len(), of_all.iter().filter(|record| record.stream == 0).count());
        assert!((1..of_all.len()).contains(&of_first.len()));
        let format = Some("msr".parse().unwrap());
        let error = read(&ImportOptions { format, ..all }).unwrap_err().to_string();
        assert!(error.contains("--from is for trace files"), "{error}");
    }

    #[test]
    fn slips_are_named() {
        let message = |text| synth(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message("light-2011?sede=5").contains("known are scale (e.g. 1/10) and seed"));
        assert!(message("light-2011?scale=2").contains("scale=2 cannot be used"));
        assert!(message("lite").contains("there is no scenario `lite`"));
    }
}
