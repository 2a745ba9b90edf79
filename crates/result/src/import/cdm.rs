//! The text of `CrystalDiskMark` 3 to 9, and of `KDiskMark`, which writes the same.
//!
//! A line is a load with its queue depth and threads, then MB/s (decimal), and perhaps IOPS and the
//! mean latency in us. Versions up to 6 have the direction in the line, later ones in a heading above;
//! version 3 has no threads, and `4KB` for 4 KiB. The programs keep the best of their loops, and print
//! 0.000 for a test that was not run. `KDiskMark` divides KiB by 1,000 and calls it MB.

use std::path::PathBuf;

use base::Bytes;
use base::text::shortened;

use super::sheet::{ImportStep, Names, Sheet, word};
use super::{ImportError, date, input};
use crate::schema::Metrics;

const TEXT_BYTES_MAX: u64 = 1 << 20;
/// The beginnings of the heading, before the version.
const NAME: &str = "CrystalDiskMark ";
const NAME_OF_KDE: &str = "KDiskMark";
/// The ratio of MB by `KDiskMark` to those of 1,000,000 bytes.
const KIB_PER_1000_BYTES: f64 = 1.024;
/// Largest difference of a rate from its IOPS: both are rounded.
const RATE_DIFFERENCE: f64 = 0.01;

/// Reads the texts of one drive.
///
/// # Errors
/// For a file that is not of `CrystalDiskMark` 3 to 9, or has a line that cannot be read.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Sheet>, ImportError> {
    let mut sheet = Sheet { format: "cdm", ..Sheet::default() };
    let mut texts = Texts::default();
    let mut others = Vec::new();
    for path in input::files(paths)?.0 {
        let text = input::text(&path, "text of CrystalDiskMark", TEXT_BYTES_MAX);
        let is_other = match &text {
            Ok(text) => version(text).is_err(),
            Err(error) => {
                matches!(error, ImportError::Damaged { .. } | ImportError::TooLarge { .. })
            }
        };
        if is_other && !paths.contains(&path) {
            others.push(path.display().to_string());
            continue;
        }
        texts.read(&text?, &mut sheet).map_err(|reason| ImportError::damaged(&path, reason))?;
        sheet.files.push(path.display().to_string());
    }
    sheet.warnings.push(
        "each figure is the best one of several loops on a file within a file system".to_owned(),
    );
    sheet.warnings.extend(texts.warnings());
    if !others.is_empty() {
        sheet.warnings.push(format!("files that were not read: {}", shortened(&others.join(", "))));
    }
    Ok(vec![sheet])
}

/// The texts so far.
#[derive(Default)]
struct Texts {
    names: Names,
    /// Tests that were not run.
    not_run: Vec<String>,
    /// Whether rates were in thousands of KiB.
    has_kib: bool,
    has_zeros: bool,
}

impl Texts {
    fn read(&mut self, text: &str, sheet: &mut Sheet) -> Result<(), String> {
        let tool = version(text)?;
        if sheet.tool.is_empty() {
            sheet.tool = tool;
        } else if sheet.tool != tool {
            sheet.tool = format!("{}, {tool}", sheet.tool);
        }
        let mut section = Section::Unknown;
        let mut lines = 0;
        for (number, line) in (1_u32..).zip(text.lines()) {
            let line = line.trim().trim_start_matches("> ").trim();
            if let Some(next) = Section::of(line) {
                section = next;
            } else if let Some(load) = Load::of(line) {
                lines += 1;
                let step = self.step(line, &load, &section);
                sheet.steps.extend(step.map_err(|words| format!("line {number}: {words}"))?);
            } else if let Some((label, value)) = line.split_once(':') {
                add_condition(sheet, label.trim(), value.trim());
                self.has_zeros |= label.trim() == "Mode" && value.contains("0Fill");
            }
        }
        if lines == 0 {
            return Err(
                "no line of a load, such as `SEQ 1MiB (Q= 8, T= 1): 3549.1 MB/s`".to_owned()
            );
        }
        Ok(())
    }

    /// `SEQ    1MiB (Q=  8, T= 1):  3549.123 MB/s [   3384.7 IOPS] <  2361.31 us>`; `None` for a test
    /// that was not run.
    fn step(
        &mut self,
        line: &str,
        load: &Load,
        section: &Section,
    ) -> Result<Option<ImportStep>, String> {
        let depth = load.number(&["Q=", "QD="])?;
        let threads = load.number(&["T="])?.unwrap_or(1);
        let bytes = load.block_bytes(depth.is_some());
        let jobs = if threads > 1 { format!("_jobs{threads}") } else { String::new() };
        let kind = section.load(&load.words)?;
        let name = format!("{kind}_{}_qd{}{jobs}", Bytes(bytes), depth.unwrap_or(1));
        let value = |unit: &str| figure(load.figures, unit);
        let mut mb_per_s = value(" MB/s")?.ok_or("no value in MB/s")?;
        let (iops, mean_us) = (value(" IOPS")?, value(" us")?);
        if mb_per_s == 0.0 && iops.is_none_or(|iops| iops == 0.0) {
            self.not_run.push(name);
            return Ok(None);
        }
        let of_iops = iops.unwrap_or(0.0) * bytes as f64 / 1e6;
        let is_near = |rate: f64| (rate / of_iops - 1.0).abs() <= RATE_DIFFERENCE;
        if of_iops > 0.0 && !is_near(mb_per_s) && is_near(mb_per_s * KIB_PER_1000_BYTES) {
            mb_per_s *= KIB_PER_1000_BYTES;
            self.has_kib = true;
        }
        let name = self.names.unique(&word(&name));
        let mut metrics = Metrics::new();
        metrics.insert(format!("{name}.mb_per_s"), Some(mb_per_s));
        metrics.insert(format!("{name}.iops"), iops);
        // Nothing takes no time: a mean of 0 was not measured.
        let mean_us = mean_us.filter(|us| *us > 0.0);
        metrics.insert(format!("{name}.latency_ns_mean"), mean_us.map(|us| us * 1_000.0));
        metrics.retain(|_, value| value.is_some());
        let what = shortened(&line.split_whitespace().collect::<Vec<_>>().join(" "));
        Ok(Some(ImportStep { name, what, metrics, ..ImportStep::default() }))
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.not_run.is_empty() {
            warnings.push(format!("tests that were not run (0.000): {}", self.not_run.join(", ")));
        }
        if self.has_zeros {
            let words =
                "mode <0Fill>: the data are zeros, which a drive that compresses writes faster";
            warnings.push(words.to_owned());
        }
        if self.has_kib {
            let words = "the program prints thousands of KiB/s under the name MB/s: the rates here are decimal, by its IOPS";
            warnings.push(words.to_owned());
        }
        warnings
    }
}

/// The program with its version.
fn version(text: &str) -> Result<String, String> {
    let Some(at) = text.find(NAME) else {
        let at = text
            .find(NAME_OF_KDE)
            .ok_or("expected the heading `CrystalDiskMark` with its version")?;
        let rest = text[at + NAME_OF_KDE.len()..].trim_start();
        let version = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
        return Ok(match version {
            Some((version, _)) => format!("{NAME_OF_KDE} {}", shortened(version)),
            None => NAME_OF_KDE.to_owned(),
        });
    };
    let version = text[at + NAME.len()..].split_whitespace().next().unwrap_or_default();
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| !(3..=9).contains(&major)) {
        return Err(format!("expected CrystalDiskMark 3 to 9, found `{}`", shortened(version)));
    }
    Ok(format!("{NAME}{}", shortened(version)))
}

/// The parts of a line with figures.
struct Load<'a> {
    /// The words before the queue depth, in lower case.
    words: String,
    /// The text in brackets; empty without it.
    queues: &'a str,
    figures: &'a str,
}

impl<'a> Load<'a> {
    /// The parts, or `None` if the line is none of a load.
    fn of(line: &'a str) -> Option<Self> {
        let lower = line.to_ascii_lowercase();
        let is_load = ["seq", "rnd", "random"].iter().any(|begin| lower.starts_with(begin));
        let (label, figures) = line.split_once(':').filter(|_| is_load)?;
        let (words, queues) = label.split_once('(').unwrap_or((label, ""));
        let queues = queues.split(')').next().unwrap_or_default();
        Some(Self { words: words.to_ascii_lowercase(), queues, figures })
    }

    /// The number behind one of the names, or `None` if the line has none of them.
    fn number(&self, names: &[&str]) -> Result<Option<u32>, String> {
        let found =
            names.iter().find_map(|name| Some((name, self.queues.find(name)? + name.len())));
        let Some((name, at)) = found else { return Ok(None) };
        let text = self.queues[at..].split(',').next().unwrap_or_default().trim();
        let fault = || format!("expected a number behind `{name}`, found `{}`", shortened(text));
        text.parse().map(Some).map_err(|_| fault())
    }

    /// The size in its words. Sequential loads without one have 1 MiB, and 128 KiB with a queue depth:
    /// help of versions 3 to 6.
    fn block_bytes(&self, has_depth: bool) -> u64 {
        let text: String = self.words.split_whitespace().collect();
        let at = text.find(|c: char| c.is_ascii_digit());
        let (number, unit) = at.map_or(("", ""), |at| {
            let text = &text[at..];
            text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
        });
        let shift = match unit.chars().next() {
            Some('k') => 10,
            Some('m') => 20,
            Some('g') => 30,
            _ => 0,
        };
        let told = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        told.unwrap_or(if has_depth { 128 << 10 } else { 1 << 20 })
    }
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
    if key == "date" {
        sheet.started_unix_ns = sheet.started_unix_ns.or(date::unix_ns(value));
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
        let mut texts = Texts::default();
        texts.read(text, &mut sheet)?;
        sheet.warnings = texts.warnings();
        Ok(sheet)
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
    fn versions_from_6_on_have_their_figures() {
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
    fn versions_3_and_5_have_the_direction_in_the_line() {
        let three = "CrystalDiskMark 3.0.1 x64 (C) 2007-2010 hiyohiyo\n\
            * MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]\n\
            \x20          Sequential Read :   268.253 MB/s\n\
            \x20        Random Write 512KB :   250.437 MB/s\n\
            \x20   Random Read 4KB (QD=1) :    23.262 MB/s [  5679.2 IOPS]\n\
            \x20 Random Write 4KB (QD=32) :   228.133 MB/s [ 55696.6 IOPS]\n\n\
            \x20 Test : 1000 MB [C: 55.6% (66.3/119.2 GB)] (x5)\n  Date : 2010/11/27 20:40:25\n";
        let sheet = of(three).unwrap();
        assert_eq!(sheet.started_unix_ns, Some(1_290_890_425_000_000_000));
        assert_eq!(
            sheet.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(),
            ["read_1MiB_qd1", "randwrite_512KiB_qd1", "randread_4KiB_qd1", "randwrite_4KiB_qd32"]
        );
        assert_eq!(sheet.steps[2].metrics["randread_4KiB_qd1.iops"], Some(5_679.2));
        assert_eq!(sheet.tool, "CrystalDiskMark 3.0.1");
        let five = "CrystalDiskMark 5.1.2 x64 (C) 2007-2016 hiyohiyo\n\
            \x20  Sequential Read (Q= 32,T= 1) :   548.011 MB/s\n\
            \x20        Sequential Write (T= 1) :   493.612 MB/s\n\
            \x20Random Write 4KiB (Q= 32,T= 1) :   331.571 MB/s [ 80949.0 IOPS]\n";
        let five = figures(five);
        let names: Vec<_> = five.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "read_128KiB_qd32.mb_per_s",
                "write_1MiB_qd1.mb_per_s",
                "randwrite_4KiB_qd32.iops",
                "randwrite_4KiB_qd32.mb_per_s"
            ]
        );
    }

    /// 49.7 commands of 1 MiB are 52.1 MB, and the program prints 50.851.
    #[test]
    fn the_mb_of_kdiskmark_are_thousands_of_kib() {
        let text = "KDiskMark (3.2.0): https://github.com/JonMagon/KDiskMark\n\
            Flexible I/O Tester (fio-3.39): https://github.com/axboe/fio\n\n[Read]\n\
            Sequential   1 MiB (Q=  8, T= 1):    50.851 MB/s [     49.7 IOPS] < 158255.28 us>\n[Write]\n\
            Random       4 KiB (Q= 32, T= 1):    14.712 MB/s [   3678.0 IOPS] < 11072.93 us>\n\n\
            Date: 2026-02-26 16:29:06\n";
        let sheet = of(text).unwrap();
        assert_eq!(sheet.tool, "KDiskMark 3.2.0");
        assert!(sheet.started_unix_ns.is_some());
        let rate = sheet.steps[0].metrics["read_1MiB_qd8.mb_per_s"].unwrap();
        assert!((rate - 52.071).abs() < 0.001, "{rate}");
        let rate = sheet.steps[1].metrics["randwrite_4KiB_qd32.mb_per_s"].unwrap();
        assert!((rate - 15.065).abs() < 0.001, "{rate}");
        assert!(sheet.warnings.iter().any(|text| text.contains("thousands of KiB/s")));
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        for (text, words) in [
            ("", "expected the heading"),
            ("CrystalDiskMark 2.2.0 x64", "3 to 9, found `2.2.0`"),
            ("CrystalDiskMark 8.0.4", "no line of a load"),
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
