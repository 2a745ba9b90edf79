use super::*;

fn message(text: &str) -> String {
    text.parse::<CsvSpec>().err().map(|error| error.to_string()).unwrap_or_default()
}

fn parsed(spec: &str, lines: &[&str]) -> Vec<Result<LineContent, FieldFault>> {
    let mut csv = Csv::new(spec.parse().unwrap());
    lines.iter().map(|line| csv.parse(line.as_bytes())).collect()
}

/// Time, operation, offset, length, stream, service time.
fn tuple(parsed: &Result<LineContent, FieldFault>) -> (u64, OpKind, u64, u32, u32, Option<u64>) {
    match parsed {
        Ok(LineContent::Io(Raw { record: r, service_ns })) => {
            (r.issue_ns, r.op, r.offset, r.len, r.stream, *service_ns)
        }
        other => panic!("no I/O: {other:?}"),
    }
}

#[test]
fn entries_are_the_columns_in_their_order() {
    let all = parsed(
        "csv:time=us,-,op=0:read|1:write,offset=sectors,length=KiB,volume,response=ms",
        &["5,x,1,8,4,7,0.5", "6,x,0,9,1,8,"],
    );
    assert_eq!(tuple(&all[0]), (5000, OpKind::Write, 4096, 4096, 7, Some(500_000)));
    assert_eq!(tuple(&all[1]), (6000, OpKind::Read, 4608, 1024, 8, None));
}

#[test]
fn columns_are_found_by_name_and_by_number() {
    let all = parsed(
        "csv:offset=4KiB@block,time=s@1,op@kind,length=bytes@bytes,process=names@who,delimiter=semicolon",
        &[
            "at;kind;block;bytes;who",
            "1.5;WRITE;2;512;\"a;b\"",
            "2; flush ;;;c",
            "2;trim;1;4096;\"a;b\"",
        ],
    );
    assert_eq!(all[0], Ok(LineContent::Other));
    assert_eq!(tuple(&all[1]), (1_500_000_000, OpKind::Write, 8192, 512, 0, None));
    assert_eq!(tuple(&all[2]), (2_000_000_000, OpKind::Flush, 0, 0, 1, None));
    assert_eq!(tuple(&all[3]), (2_000_000_000, OpKind::Deallocate, 4096, 4096, 0, None));
}

#[test]
fn runs_of_blanks_are_one_delimiter() {
    let all =
        parsed("csv:time=ns,op,offset=bytes,length=bytes,delimiter=space", &["1   r  0    512"]);
    assert_eq!(tuple(&all[0]), (1, OpKind::Read, 0, 512, 0, None));
}

#[test]
fn a_line_that_does_not_fit_is_told_with_the_key_that_helps() {
    let faults =
        |spec: &str, line: &str| parsed(spec, &[line])[0].as_ref().unwrap_err().to_string();
    let spec = "csv:time=ns,op,offset=bytes,length=bytes";
    assert!(faults(spec, "1,7,0,512").contains("the operation is `7`, expected one of r, rd"));
    assert!(faults(spec, "1,7,0,512").contains("--from csv:op=WORD:KIND"));
    assert_eq!(faults(spec, "1,r,0"), "the length is missing, expected a number");
    let named = "csv:time=ns@t,op@op,offset=bytes@lba,length=bytes@len";
    assert!(faults(named, "t,op,x,len").contains("one with the column `lba` that --from names"));
}

#[test]
fn a_slip_in_the_grammar_names_the_entry_and_what_was_expected() {
    for (spec, expected) in [
        (
            "csv:time,op,offset=bytes,length=bytes",
            "`time`: expected a unit of time after `=`: s, ms",
        ),
        ("csv:time=us,op=2:erase,offset=bytes,length=bytes", "WORD:KIND with a KIND of read"),
        ("csv:time=us,op,offset=blocks,length=bytes", "`offset=blocks`: expected a unit after `=`"),
        ("csv:time=us,op,offset=bytes", "`length`: expected this column as well"),
        ("csv:time=us,time=us,op,offset=bytes,length=bytes", "expected each key once"),
        ("csv:time=us,op,offset=bytes@0,length=bytes", "counted from 1"),
        ("csv:time=us,op,offset=bytes@,length=bytes", "the number or the name of a column"),
        ("csv:time=us,op,offset=bytes,length=bytes,volume=9", "numbers (no `=`) or words"),
        ("csv:time=us,op,offset=bytes,length=bytes,delimiter=ab", "comma, semicolon, tab"),
        ("csv:time=us,op,offset=bytes,length=bytes,header=2", "header=yes or header=no"),
        ("csv:time=us,op@x,offset=bytes,length=bytes,header=no", "header=yes, since"),
        ("csv:when=us", "`when=us`: expected time, op, offset"),
    ] {
        assert!(message(spec).contains(expected), "{spec}: {}", message(spec));
    }
}

#[test]
fn stamps_of_the_end_give_the_issue() {
    let all = parsed(
        "csv:time-end=us,response=ms,op,offset=bytes,length=bytes",
        &["5000,0.5,r,0,512", "5001,,r,0,512", "100,1,r,0,512"],
    );
    assert_eq!(tuple(&all[0]), (4_500_000, OpKind::Read, 0, 512, 0, Some(500_000)));
    assert!(all[1].is_err() && all[2].is_err(), "{all:?}");
    let all = parsed(
        "csv:time=us,time-end=us,op,offset=bytes,length=bytes",
        &["10,30,w,0,512", "10,,w,0,512", "30,10,w,0,512"],
    );
    assert_eq!(tuple(&all[0]), (10_000, OpKind::Write, 0, 512, 0, Some(20_000)));
    assert_eq!(tuple(&all[1]), (10_000, OpKind::Write, 0, 512, 0, None));
    assert!(all[2].is_err(), "{all:?}");
    let rest = "op,offset=bytes,length=bytes";
    assert!(message(&format!("csv:time-end=s,{rest}")).contains("an end alone tells no issue"));
    let three = message(&format!("csv:time=s,time-end=s,response=s,{rest}"));
    assert!(three.contains("two of the columns"), "{three}");
}
