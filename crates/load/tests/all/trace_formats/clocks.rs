//! Clocks that go back, wrap or are coarse; volumes of several hosts; text of other editors.

use super::*;

/// Two days of a server in one file; each day has a clock from 0.
const TWO_DAYS: &str = "\
0 1 p 0 8 W 6 0 00000000000000000000000000000001
1000000000 1 p 8 8 W 6 0 00000000000000000000000000000002
2000000000 1 p 16 8 W 6 0 00000000000000000000000000000003
0 1 p 24 8 W 6 0 00000000000000000000000000000004
1000000000 1 p 32 8 W 6 0 00000000000000000000000000000005
2000000000 1 p 40 8 W 6 0 00000000000000000000000000000006
";

fn told(problems: &Problems) -> String {
    problems.sentences().join("; ")
}

#[test]
fn two_recordings_in_one_file_follow_each_other_and_are_told_once() {
    let (records, problems) = imported(TWO_DAYS.as_bytes(), "two-days.fiu");
    let pages: Vec<_> = records.iter().map(|record| record.offset / 4096).collect();
    assert_eq!(pages, [0, 1, 2, 3, 4, 5]);
    let length_ns = records[5].issue_ns - records[0].issue_ns;
    assert!((4_000_000_000..5_000_000_000).contains(&length_ns), "{length_ns}");
    let told = told(&problems);
    assert_eq!(told.matches("went back once").count(), 1, "{told}");
}

#[test]
fn a_counter_of_32_bits_wraps_and_goes_on() {
    let line = |us: u64, lbn: u64| format!("7,4096,1,write,{lbn},{}\n", us % (1 << 32));
    let start = (1 << 32) - 3_000_000;
    let text: String = (0..100).map(|i| line(start + i * 100_000, i * 8)).collect();
    let (records, problems) = imported(text.as_bytes(), "vmdk.trace");
    assert_eq!(records.len(), 100);
    for (record, i) in records.iter().zip(0..) {
        assert_eq!((record.issue_ns, record.offset), (i * 100_000_000, i * 4096));
    }
    let told = told(&problems);
    assert!(told.contains("counter of 32 bits, wrapped once"), "{told}");
    assert!(!told.contains("went back"), "{told}");
}

#[test]
fn small_disorder_is_sorted_and_counted() {
    let line = |us: u64| format!("1,R,{},4096,{us}\n", us * 4096);
    let swapped: String = (0..1000).map(|i| line((i ^ 1) * 100 + 1)).collect();
    let (records, problems) = imported(swapped.as_bytes(), "x.csv");
    assert!(records.windows(2).all(|pair| pair[0].issue_ns < pair[1].issue_ns));
    assert!(records.is_sorted_by_key(|record| record.offset));
    assert_eq!((problems.moved_ios, problems.clock_restarts), (500, 0));
    let told = told(&problems);
    assert!(told.contains("500 I/Os stood behind later ones and were sorted by time"), "{told}");
}

#[test]
fn a_clock_of_whole_seconds_is_named() {
    let line = |i: u64| format!("{},{},8,1,1063\n", 1_538_323_200 + i / 20, i * 8);
    let text: String = (0..200).map(line).collect();
    let (_, problems) = imported(text.as_bytes(), "cbs.csv");
    let told = told(&problems);
    assert!(told.contains("coarse, with steps of 1s: 190 of 200 I/Os"), "{told}");
}

#[test]
fn a_volume_of_msr_is_a_disk_of_a_host() {
    let two = "\
128166372003061629,usr,0,Write,0,4096,100
128166372013061629,hm,0,Read,0,4096,100
";
    let same_disk = "\
128166372003061629,hosta,0,Write,0,4096,26
128166372013061629,hostb,0,Read,0,4096,113
128166372023061629,hosta,0,Read,0,4096,50
";
    for (text, streams, names) in
        [(two, &[0, 1][..], ["usr_0", "hm_0"]), (same_disk, &[0, 1, 0][..], ["hosta_0", "hostb_0"])]
    {
        let (_dir, path) = file_with(text.as_bytes(), "two.csv");
        let mut source =
            load::trace::open(&path.to_string_lossy(), &ImportOptions::default()).unwrap();
        let records = all(&mut source).unwrap();
        let found: Vec<_> = records.iter().map(|record| record.stream).collect();
        assert_eq!(found, streams);
        assert_eq!(source.info().volumes.len(), 2);
        assert_eq!(source.info().streams, names);
        assert_eq!(records[1].offset, 1 << 20, "side by side");
        assert!(source.problems().is_empty(), "{:?}", source.problems());
    }
}

#[test]
fn a_byte_order_mark_and_line_ends_of_windows_cost_no_line() {
    let bom = "\
128166372003061629,usr,0,Write,0,4096,100
128166372003062629,usr,0,Read,0,4096,100
";
    let texts = [
        ("msr", bom),
        ("fiu", TWO_DAYS),
        ("spc", "0,0,4096,W,0\n0,8,4096,W,7e-06\n0,16,4096,W,0.001\n"),
        ("tencent", "1538323200,12910952,128,0,1063\n1538323201,6265688,8,1,1064\n"),
        ("alibaba", "419,W,8792731648,16384,1577808144360767\n"),
        ("iolog", "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 0 4096\n"),
        ("disksim", "0.5 0 0 8 1\n1.5 0 8 8 0\n"),
        ("systor17", "1456135145.133076000,0.000806000,R,0,899056122368,131072\n"),
        ("vscsi-text", "7,4096,1,write,0,55\n"),
        ("blkparse", "  8,0    0        1     0.000000000   697  Q   W 223490 + 8 [kjournald]\n"),
    ];
    for (name, text) in texts {
        let (records, _) = imported(text.as_bytes(), "plain");
        for marked in
            ["\u{feff}".to_owned() + text, "\u{feff}".to_owned() + &text.replace('\n', "\r\n")]
        {
            assert_eq!(detected(marked.as_bytes()).name(), name);
            let (found, problems) = imported(marked.as_bytes(), "marked");
            assert_eq!((&found, problems.bad_lines), (&records, 0), "{name}: {problems:?}");
        }
    }
    let spc = imported(texts[2].1.as_bytes(), "sci.spc").0;
    assert_eq!(spc.iter().map(|record| record.issue_ns).collect::<Vec<_>>(), [0, 7000, 1_000_000]);
}

/// The output of `blktrace -a issue`: neither queueing nor completion.
#[test]
fn a_block_trace_of_issues_alone_is_read_and_says_what_it_cannot_tell() {
    let line = |i: u64| format!("  8,0 0 {i} 0.00{i}000000 697 D W {} + 8 [kworker]\n", i * 8);
    let text: String = (1..9).map(line).collect();
    let (records, problems) = imported(text.as_bytes(), "d.txt");
    assert_eq!(records.len(), 8);
    assert!(records.iter().all(|record| record.queue_depth == 0), "no depth is known");
    let words = told(&problems);
    assert!(words.contains("no completions (C)") && words.contains("no events of queueing (Q)"));
    let v7 = std::fs::read(fixture("sample.blktrace.0")).unwrap();
    let (records, problems) = imported(&only_issues(&v7), "sda.bin");
    assert!(!records.is_empty() && records.iter().all(|record| record.queue_depth == 0));
    assert!(told(&problems).contains("no completions (C)"), "{problems:?}");
    // With both kinds nothing is amiss.
    let (records, problems) = imported(&v7, "sda.bin");
    assert!(records.iter().all(|record| record.queue_depth > 0));
    assert!(problems.remarks.is_empty(), "{problems:?}");
}

/// The records of issue in a file of version 7.
fn only_issues(v7: &[u8]) -> Vec<u8> {
    let mut issues = Vec::new();
    let mut rest = v7;
    while rest.len() >= 48 {
        let length = 48 + usize::from(u16::from_le_bytes([rest[46], rest[47]]));
        if rest[28] == 7 {
            issues.extend(&rest[..length]);
        }
        rest = &rest[length..];
    }
    issues
}
