//! Units of time: given, or doubted.

use load::trace::format::{Format, FormatOptions, TimeUnit};
use load::trace::import::{OrderedRecords, lines};
use load::trace::{ImportOptions, Source, StreamSet, import};

use super::{all, file_with, input};

#[test]
fn a_unit_of_time_may_be_told() {
    let with = |time_unit, format: &str, text: &str| {
        let format_options =
            FormatOptions { time_unit: Some(time_unit), ..FormatOptions::default() };
        let options = ImportOptions { format_options, ..ImportOptions::default() };
        let raw =
            lines(format.parse().unwrap(), input(text.as_bytes()), "memory", &options).unwrap();
        let mut source = OrderedRecords::new(raw, String::new(), StreamSet::default());
        all(&mut source).unwrap().iter().map(|record| record.issue_ns).collect::<Vec<_>>()
    };
    let alibaba = "1,R,0,4096,1577808144360\n1,R,0,4096,1577808144361\n";
    assert_eq!(with(TimeUnit::Milliseconds, "alibaba", alibaba), [0, 1_000_000]);
    let msr = "5.5,hm,0,Read,0,4096,0\n6.75,hm,0,Read,0,4096,0\n";
    assert_eq!(with(TimeUnit::Seconds, "msr", msr), [0, 1_250_000_000]);
    assert_eq!(with(TimeUnit::Microseconds, "mqsim", "5 0 100 8 1\n7.5 0 100 8 1\n"), [0, 2500]);
    let refused = |format: &str| {
        let time_unit = Some(TimeUnit::Seconds);
        let options = FormatOptions { time_unit, ..FormatOptions::default() };
        format.parse::<Format>().unwrap().check(&options, "x").unwrap_err().to_string()
    };
    assert!(refused("blktrace").contains("--time-unit is for traces of the format msr, fiu"));
    assert!(refused("csv").contains("time=UNIT"));
}

#[test]
fn an_implausible_unit_of_time_is_questioned() {
    let line = |i: u64| format!("1,R,{},4096,{}\n", i * 4096, 1_577_808_144_360_767 + i * 50);
    let text: String = (0..1000).map(line).collect();
    let doubt = |time_unit| {
        let format_options = FormatOptions { time_unit, ..FormatOptions::default() };
        let (_dir, path) = file_with(text.as_bytes(), "x.csv");
        let options = ImportOptions { format_options, ..ImportOptions::default() };
        let mut source = import(&path, &options).unwrap();
        all(&mut source).unwrap();
        (source.problems().sentences().join("; "), source.info().warnings.join("; "))
    };
    assert_eq!(doubt(None), (String::new(), String::new()));
    let (told, stored) = doubt(Some(TimeUnit::Nanoseconds));
    assert!(told.contains("read in ns, and are probably in us"), "{told}");
    assert_eq!(told, stored);
}
