//! The text of `CrystalDiskMark` 6, 7 and 8.
//!
//! A line is a load with its queue depth and threads, then MB/s (decimal), and perhaps IOPS and the
//! mean latency in us. Version 6 has the direction in the line, later ones in a heading above. The
//! program keeps the best of its loops.

use std::path::PathBuf;

use base::Bytes;
use base::text::shortened;

use super::sheet::{Names, Sheet, Step, word};
use super::{ImportError, input};
use crate::schema::Metrics;

const TEXT_BYTES_MAX: u64 = 1 << 20;
/// The beginning of the heading, before the version.
const NAME: &str = "CrystalDiskMark ";

/// Reads the texts of one drive.
///
/// # Errors
/// For a file that is not of `CrystalDiskMark` 6 to 8, or has a line that cannot be read.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Sheet>, ImportError> {
    let mut sheet = Sheet { format: "cdm", ..Sheet::default() };
    let mut names = Names::default();
    for path in input::files(paths)? {
        let text = input::text(&path, "text of CrystalDiskMark", TEXT_BYTES_MAX)?;
        read_text(&text, &mut sheet, &mut names)
            .map_err(|reason| ImportError::damaged(&path, reason))?;
        sheet.files.push(path.display().to_string());
    }
    sheet.warnings.push(
        "each figure is the best one of several loops on a file within a file system".to_owned(),
    );
    Ok(vec![sheet])
}

fn read_text(text: &str, sheet: &mut Sheet, names: &mut Names) -> Result<(), String> {
    let version = version(text)?;
    let tool = format!("{NAME}{version}");
    if sheet.tool.is_empty() {
        sheet.tool = tool;
    } else if sheet.tool != tool {
        sheet.tool = format!("{}, {tool}", sheet.tool);
    }
    let mut section = Section::Unknown;
    let before = sheet.steps.len();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.trim().trim_start_matches("> ").trim();
        if let Some(next) = Section::of(line) {
            section = next;
        } else if line.contains("(Q=") {
            let step = step(line, &section, names);
            sheet.steps.push(step.map_err(|words| format!("line {number}: {words}"))?);
        } else if let Some((label, value)) = line.split_once(':') {
            add_condition(sheet, label.trim(), value.trim());
        }
    }
    if sheet.steps.len() == before {
        return Err(
            "no line with a queue depth, such as `SEQ 1MiB (Q= 8, T= 1): 3549.1 MB/s`".to_owned()
        );
    }
    Ok(())
}

fn version(text: &str) -> Result<String, String> {
    let at = text.find(NAME).ok_or("expected the heading `CrystalDiskMark` with its version")?;
    let version = text[at + NAME.len()..].split_whitespace().next().unwrap_or_default();
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| !(6..=8).contains(&major)) {
        return Err(format!("expected CrystalDiskMark 6 to 8, found `{}`", shortened(version)));
    }
    Ok(shortened(version))
}

/// The lines below a heading.
#[derive(Debug, PartialEq)]
enum Section {
    /// Before any heading: the line has the direction.
    Unknown,
    Reads,
    Writes,
    /// Reads in percent.
    Mixed(u32),
}

impl Section {
    fn of(line: &str) -> Option<Self> {
        match line {
            "[Read]" => Some(Self::Reads),
            "[Write]" => Some(Self::Writes),
            _ => {
                let shares = line.strip_prefix("[Mix] Read ")?;
                Some(Self::Mixed(shares.split('%').next()?.trim().parse().ok()?))
            }
        }
    }

    /// The word of the load for names, as fio has it.
    fn load(&self, words: &str) -> Result<String, String> {
        let random = if words.contains("rnd") || words.contains("random") { "rand" } else { "" };
        Ok(match self {
            Self::Reads => format!("{random}read"),
            Self::Writes => format!("{random}write"),
            Self::Mixed(reads) => format!("{random}rw{reads}"),
            Self::Unknown if words.contains("read") => format!("{random}read"),
            Self::Unknown if words.contains("write") => format!("{random}write"),
            Self::Unknown => {
                return Err(format!("neither read nor write in `{}`", shortened(words)));
            }
        })
    }
}

/// `SEQ    1MiB (Q=  8, T= 1):  3549.123 MB/s [   3384.7 IOPS] <  2361.31 us>`
fn step(line: &str, section: &Section, names: &mut Names) -> Result<Step, String> {
    let (load, rest) = line.split_once('(').ok_or("no queue depth")?;
    let (queues, figures) = rest.split_once(')').ok_or("no end of the queue depth")?;
    let figures = figures.trim_start().strip_prefix(':').ok_or("no `:` behind the queue depth")?;
    let words = load.to_ascii_lowercase();
    let number = |name: &str| queue_number(queues, name);
    let (depth, threads) = (number("Q=")?, number("T=")?);
    let block = block(&words);
    let jobs = if threads > 1 { format!("_jobs{threads}") } else { String::new() };
    let kind = section.load(&words)?;
    let name = names.unique(&word(&format!("{kind}_{block}_qd{depth}{jobs}")));
    let mut metrics = Metrics::new();
    let value = |unit: &str| figure(figures, unit);
    metrics.insert(format!("{name}.mb_per_s"), Some(value(" MB/s")?.ok_or("no value in MB/s")?));
    metrics.insert(format!("{name}.iops"), value(" IOPS")?);
    let mean_us = value(" us")?;
    metrics.insert(format!("{name}.latency_ns_mean"), mean_us.map(|us| us * 1_000.0));
    metrics.retain(|_, value| value.is_some());
    let what = shortened(&line.split_whitespace().collect::<Vec<_>>().join(" "));
    Ok(Step { name, what, metrics, ..Step::default() })
}

fn queue_number(queues: &str, name: &str) -> Result<u32, String> {
    let at =
        queues.find(name).ok_or_else(|| format!("no `{name}` in `({})`", shortened(queues)))?;
    let text = queues[at + name.len()..].split(',').next().unwrap_or_default().trim();
    let fault = || format!("expected a number behind `{name}`, found `{}`", shortened(text));
    text.parse().map_err(|_| fault())
}

/// The size in the words of a load; sequential loads of version 6 have 128 KiB.
fn block(words: &str) -> String {
    let size = words.split_whitespace().find_map(|one| one.parse::<Bytes>().ok());
    size.unwrap_or(Bytes(128 << 10)).to_string()
}

/// The number before a unit, or `None` if the line has no such unit.
fn figure(figures: &str, unit: &str) -> Result<Option<f64>, String> {
    let Some((before, _)) = figures.split_once(unit) else { return Ok(None) };
    let text = before.rsplit(['[', '<', ']']).next().unwrap_or(before).trim();
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    let fault =
        || format!("expected a number before `{}`, found `{}`", unit.trim(), shortened(text));
    value.map(Some).ok_or_else(fault)
}

/// Conditions stand below the figures: size, date, operating system, mode.
fn add_condition(sheet: &mut Sheet, label: &str, value: &str) {
    let key = match label {
        "Test" => "test_size",
        "OS" => "os",
        "Date" => "date",
        "Profile" => "profile",
        "Mode" => "mode",
        "Time" => "time",
        "Comment" => "comment",
        _ => return,
    };
    if value.is_empty() {
        return;
    }
    if key == "os" {
        sheet.environment.insert(key.to_owned(), shortened(value));
    } else {
        sheet.config.insert(key.to_owned(), shortened(value).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Sheet, String> {
        let mut sheet = Sheet::default();
        read_text(text, &mut sheet, &mut Names::default()).map(|()| sheet)
    }

    fn figures(text: &str) -> Vec<(String, f64)> {
        let steps = of(text).unwrap().steps;
        steps
            .into_iter()
            .flat_map(|step| step.metrics)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    #[test]
    fn three_versions_have_their_figures() {
        let six = "CrystalDiskMark 6.0.2 x64 (C) 2007-2018 hiyohiyo\n\
            \x20  Sequential Read (Q= 32,T= 1) :  3484.870 MB/s\n\
            \x20Random Write 4KiB (Q=  8,T= 8) :  1500.100 MB/s [ 366235.4 IOPS]\n";
        assert_eq!(
            figures(six),
            [
                ("read_128KiB_qd32.mb_per_s".to_owned(), 3484.87),
                ("randwrite_4KiB_qd8_jobs8.iops".to_owned(), 366_235.4),
                ("randwrite_4KiB_qd8_jobs8.mb_per_s".to_owned(), 1500.1),
            ]
        );
        let seven = "CrystalDiskMark 7.0.0 x64 (C) 2007-2019 hiyohiyo\n[Read]\n\
            Sequential 1MiB (Q=  8, T= 1):   101.514 MB/s [     96.8 IOPS] < 81970.32 us>\n[Write]\n\
            \x20   Random 4KiB (Q= 32, T=16):     0.691 MB/s [    168.7 IOPS] <708764.71 us>\n";
        let seven = figures(seven);
        assert_eq!(seven[1].0, "read_1MiB_qd8.latency_ns_mean");
        assert!((seven[1].1 - 81_970_320.0).abs() < 1e-3);
        assert_eq!(seven[3], ("randwrite_4KiB_qd32_jobs16.iops".to_owned(), 168.7));
        let eight = of("CrystalDiskMark 8.0.4 Shizuku Edition x64 (C) 2007-2021 hiyohiyo\n[Mix] Read 70%/Write 30%\n\
            \x20 RND    4KiB (Q=  1, T= 1):    78.170 MB/s [  19084.5 IOPS] <    52.30 us>\n\
            \x20  Test: 1 GiB (x5) [C: 45% (212/466GiB)]\n     OS: Windows 11\n")
        .unwrap();
        assert_eq!(eight.steps[0].name, "randrw70_4KiB_qd1");
        assert_eq!(eight.config["test_size"], "1 GiB (x5) [C: 45% (212/466GiB)]");
        assert_eq!(eight.environment["os"], "Windows 11");
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        for (text, words) in [
            ("", "expected the heading"),
            ("CrystalDiskMark 3.0.1 x64", "6 to 8, found `3.0.1`"),
            ("CrystalDiskMark 8.0.4", "no line with a queue depth"),
            (
                "CrystalDiskMark 8.0.4\n SEQ 1MiB (Q= 8, T= 1): 1 MB/s",
                "line 2: neither read nor write",
            ),
            (
                "CrystalDiskMark 8.0.4\n[Read]\nSEQ 1MiB (Q= x, T= 1): 1 MB/s",
                "line 3: expected a number behind `Q=`",
            ),
            (
                "CrystalDiskMark 8.0.4\n[Read]\nSEQ 1MiB (Q= 8, T= 1): nan MB/s",
                "expected a number before `MB/s`",
            ),
            ("CrystalDiskMark 8.0.4\n[Read]\nSEQ 1MiB (Q= 8, T= 1): 5 GB/s", "no value in MB/s"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
