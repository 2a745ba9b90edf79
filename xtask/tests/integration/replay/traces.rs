//! Traces from outside: fio follows an exported trace, and an export of an import equals the
//! original.

use std::process::Command;

use crate::lab::{Answer, Lab};

/// A part of the light trace that fio replays within seconds: about 400 I/Os.
const PART: &str = "synth:light-2011?scale=1/2000";

fn convert(lab: &Lab, trace: &str, to: &str, output: &str) -> String {
    let path = lab.path(output);
    let args = ["trace", "convert", trace, "--to", to, "--format", "json", "-o"];
    let answer = Answer::of(lab.command(&args).arg(&path));
    answer.must_exit_with(0);
    assert!(answer.document()["ios"].as_u64().is_some_and(|ios| ios > 0), "{answer:?}");
    std::fs::read_to_string(path).expect("the converted trace")
}

/// (direction as fio logs it, bytes, offset) of every read and write of an iolog, in order.
fn operations(iolog: &str) -> Vec<(u64, u64, u64)> {
    let operation = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let direction = match words.get(2) {
            Some(&"read") => 0,
            Some(&"write") => 1,
            _ => return None,
        };
        Some((direction, words[4].parse().ok()?, words[3].parse().ok()?))
    };
    iolog.lines().filter_map(operation).collect()
}

#[test]
fn fio_does_what_an_exported_trace_says() {
    let lab = Lab::new();
    let iolog = convert(&lab, PART, "iolog", "light.iolog");
    let target = std::fs::File::create(lab.path("target")).expect("a file");
    target.set_len(64 << 30).expect("room for the addresses, without blocks");
    let mut fio = Command::new("fio");
    fio.current_dir(lab.path("")).args(["--name=replay", "--read_iolog=light.iolog"]);
    fio.args(["--replay_redirect=target", "--replay_no_stall=1", "--ioengine=psync"]);
    fio.args(["--write_lat_log=done", "--log_offset=1"]);
    let output = fio.output().expect("fio runs");
    assert!(output.status.success(), "{output:?}");
    let log = std::fs::read_to_string(lab.path("done_lat.1.log")).expect("fio's log");
    let field = |line: &str, index: usize| {
        line.split(',').nth(index).and_then(|text| text.trim().parse::<u64>().ok())
    };
    let done: Vec<_> = log
        .lines()
        .filter_map(|line| Some((field(line, 2)?, field(line, 3)?, field(line, 4)?)))
        .collect();
    let wanted = operations(&iolog);
    assert!(wanted.len() > 400, "{}", wanted.len());
    assert_eq!(done, wanted);
}

#[test]
fn a_trace_comes_back_from_every_format_it_is_written_in() {
    let lab = Lab::new();
    let totals = |trace: &str| {
        let answer = Answer::of(&mut lab.command(&["trace", "info", trace, "--format", "json"]));
        answer.must_exit_with(0);
        let summary = answer.document()["summary"].clone();
        (summary["reads"].clone(), summary["writes"].clone(), summary["sizes"].clone())
    };
    let original = totals(PART);
    for format in ["iolog", "msr", "blkparse"] {
        convert(&lab, PART, format, format);
        assert_eq!(totals(format), original, "{format}");
    }
}

#[test]
fn bad_lines_are_told_and_counted() {
    let lab = Lab::new();
    let text = "1,R,0,4096,1\n2,R,4096,4096,2\nthree\n4,W,0,4096,4\n";
    std::fs::write(lab.path("x.csv"), text).expect("a trace");
    let args = ["trace", "import", "x.csv", "-o", "x.trace.parquet", "--format", "json"];
    let answer = Answer::of(&mut lab.command(&args));
    answer.must_exit_with(0);
    let document = answer.document();
    assert_eq!(document["ios"], 3);
    assert_eq!(document["problems"]["bad_lines"], 1);
    assert!(answer.stderr.contains("line 3: the device is `three`"), "{}", answer.stderr);
    let args = ["trace", "info", "x.csv", "--from", "msr", "--format", "json"];
    let answer = Answer::of(&mut lab.command(&args));
    answer.must_exit_with(2);
    assert_eq!(answer.reason(), "usage");
}

#[test]
fn a_storage_bench_runs_on_a_file() {
    let lab = Lab::new();
    let target = format!("file:{}?size=256MiB", lab.path("disk").display());
    let library = lab.library();
    let mut command = lab.command(&["run", "light", &target, "--format", "json", "--library"]);
    command.arg(&library).args(["--set", "part=1/5000", "--set", "idle=none"]);
    let answer = Answer::of(&mut command);
    answer.must_exit_with(0);
    let metrics = answer.document()["runs"][0]["metrics"].clone();
    for name in ["avg_data_rate_mb_per_s", "busy_time_s", "avg_service_time_us"] {
        for suffix in ["", "_read", "_write"] {
            let value = &metrics[format!("{name}{suffix}")];
            assert!(value.as_f64().is_some_and(|value| value > 0.0), "{name}{suffix}: {metrics}");
        }
    }
}

/// A script finds the published figures beside those of the trace, like a person.
#[test]
fn the_figures_that_were_published_stand_beside_those_of_the_trace() {
    let lab = Lab::new();
    // Long enough that whole I/Os can make up the bytes.
    let trace = "synth:light-2011?scale=1/20";
    let answer = Answer::of(&mut lab.command(&["trace", "info", trace, "--format", "json"]));
    answer.must_exit_with(0);
    let document = answer.document();
    let comparison = document["comparison"].as_array().expect("a table");
    let pair = |name: &str| {
        let pair = comparison.iter().find(|pair| pair["name"] == name);
        let pair = pair.unwrap_or_else(|| panic!("no {name} in {comparison:?}"));
        ["published", "trace"].map(|column| pair[column].as_f64().expect("a number"))
    };
    for name in ["reads", "writes", "bytes read", "bytes written"] {
        let [published, trace] = pair(name);
        assert!((published - trace).abs() <= 0.001 * published, "{name}: {published} {trace}");
    }
    assert_eq!(document["summary"]["reads"]["ios"].as_f64(), Some(pair("reads")[1]));
}

/// A row per second for years would fill the memory, of a plan as of a run.
#[test]
fn a_trace_with_a_gap_of_years_is_refused_with_its_length_and_the_way_out() {
    const TICKS_A_YEAR: u64 = 365 * 86_400 * 10_000_000;
    let lab = Lab::new();
    let line = |year: u64| {
        format!("{},host,0,Write,0,4096,100\n", 128_166_372_000_000_000 + year * TICKS_A_YEAR)
    };
    std::fs::write(lab.path("x.csv"), [line(0), line(20)].concat()).expect("a trace");
    let drive = "sim:sandisk-extreme-ii-480gb?scale=1/128";
    for args in [
        ["plan", "replay", drive, "--set", "trace=x.csv", "--set", "idle=real"].as_slice(),
        ["trace", "replay", "x.csv", drive, "--idle", "real"].as_slice(),
        ["trace", "replay", "x.csv", drive, "--idle", "cap:100d"].as_slice(),
    ] {
        let answer = Answer::of(&mut lab.command(args));
        answer.must_exit_with(2);
        assert!(answer.stderr.contains("days, and a replay may take 30"), "{answer:#?}");
        assert!(answer.stderr.contains("idle=cap:25ms"), "{answer:#?}");
    }
    let args = ["trace", "replay", "x.csv", drive, "--set", "fill=false", "--quiet"];
    Answer::of(&mut lab.command(&args)).must_exit_with(0);
}

fn info(lab: &Lab, args: &[&str]) -> Answer {
    let args = [&["trace", "info", "--format", "json"], args].concat();
    Answer::of(&mut lab.command(&args))
}

/// Two volumes of the Tencent set, both from sector 0.
const CLOUD: &str = "\
1538323200,0,128,0,1063
1538323201,0,8,1,1064
1538323202,5000,8,1,1063
";

#[test]
fn volumes_are_listed_chosen_and_laid_side_by_side() {
    let lab = Lab::new();
    std::fs::write(lab.path("cloud.csv"), CLOUD).expect("a trace");
    let args = ["trace", "import", "cloud.csv", "-o", "cloud.trace.parquet"];
    let answer = Answer::of(&mut lab.command(&args));
    answer.must_exit_with(0);
    assert!(answer.stderr.contains("2 volumes with addresses of their own"), "{}", answer.stderr);
    for trace in ["cloud.csv", "cloud.trace.parquet"] {
        let answer = info(&lab, &[trace]);
        answer.must_exit_with(0);
        let document = answer.document();
        assert_eq!(document["trace"]["addresses"], "side-by-side");
        let place = |volume: usize| document["trace"]["volumes"][volume]["first_byte"].as_u64();
        assert_eq!((place(0), place(1)), (Some(0), Some(3 << 20)));
        let rows = &document["summary"]["streams"]["rows"];
        let expected = serde_json::json!([
            { "stream": 1063, "ios": 2, "bytes": 69_632, "footprint_bytes": 69_632 },
            { "stream": 1064, "ios": 1, "bytes": 4096, "footprint_bytes": 4096 },
        ]);
        assert_eq!(rows, &expected);
        assert_eq!(document["summary"]["footprint"]["bytes"], 69_632 + 4096);
        let answer = Answer::of(&mut lab.command(&["trace", "info", trace]));
        let told = "2 streams: each has addresses of its own; here they lie side by side";
        assert!(answer.stdout.contains(told), "{}", answer.stdout);
        let one = info(&lab, &[trace, "--stream", "1064"]).document();
        assert_eq!(one["summary"]["end_bytes"], 4096, "{one}");
        let both = info(&lab, &[trace, "--stream", "1064,1063"]).document();
        assert_eq!(both["summary"]["ios"], 3);
        let overlaid = info(&lab, &[trace, "--streams", "overlay"]).document();
        assert_eq!(overlaid["summary"]["footprint"]["bytes"], 69_632, "page 0 is shared");
        assert_eq!(overlaid["trace"]["addresses"], "overlaid");
    }
    let answer = Answer::of(
        lab.command(&["trace", "info", "-"])
            .stdin(std::fs::File::open(lab.path("cloud.csv")).expect("the trace")),
    );
    answer.must_exit_with(2);
    assert!(answer.stderr.contains("can be read only once"), "{}", answer.stderr);
}

/// Windows file times and disks return unchanged, from a text and from a stored trace.
#[test]
fn msr_lines_come_back_with_their_times_and_disks() {
    let lab = Lab::new();
    let text = "\
128166372003061629,ssdlab,0,Read,383496192,32768,0
128166372013061730,ssdlab,1,Write,8192,4096,0
";
    std::fs::write(lab.path("hm.csv"), text).expect("a trace");
    assert_eq!(convert(&lab, "hm.csv", "msr", "again.csv"), text);
    let args = ["trace", "import", "hm.csv", "-o", "hm.trace.parquet"];
    Answer::of(&mut lab.command(&args)).must_exit_with(0);
    assert_eq!(convert(&lab, "hm.trace.parquet", "msr", "stored.csv"), text);
}

#[test]
fn an_empty_trace_is_empty() {
    let lab = Lab::new();
    std::fs::write(lab.path("empty.csv"), "").expect("a file");
    let answer = Answer::of(&mut lab.command(&["trace", "info", "empty.csv"]));
    answer.must_exit_with(2);
    assert!(answer.stderr.contains("empty.csv is empty: it has 0 bytes"), "{}", answer.stderr);
    let header = "Timestamp,Response,IOType,LUN,Offset,Size\n";
    for text in ["", header] {
        std::fs::write(lab.path("empty.csv"), text).expect("a file");
        let args = ["trace", "info", "empty.csv", "--from", "systor17"];
        let answer = Answer::of(&mut lab.command(&args));
        answer.must_exit_with(0);
        assert!(answer.stdout.contains("0 commands: the trace is empty"), "{}", answer.stdout);
        assert_eq!(info(&lab, &args[2..]).document()["summary"]["ios"], 0);
        for command in ["import", "model"] {
            let args = ["trace", command, "empty.csv", "--from", "systor17", "-o", "out"];
            let answer = Answer::of(&mut lab.command(&args));
            answer.must_exit_with(2);
            assert!(answer.stderr.contains("holds no I/O"), "{}", answer.stderr);
            assert!(!lab.path("out").exists());
        }
    }
    let args = ["trace", "replay", "empty.csv", "null:"];
    Answer::of(&mut lab.command(&args)).must_exit_with(2);
}

#[test]
fn any_csv_is_read_by_its_columns_and_a_wrong_unit_is_questioned() {
    let lab = Lab::new();
    let lines: String = (0..200)
        .map(|i| format!("x;{};W;{};4\n", 1_577_808_144_360_767_u64 + i * 50, i * 8))
        .collect();
    std::fs::write(lab.path("x.csv"), lines).expect("a trace");
    let columns =
        |unit: &str| format!("csv:-,time={unit},op,offset=sectors,length=KiB,delimiter=semicolon");
    let answer = info(&lab, &["x.csv", "--from", &columns("us")]);
    answer.must_exit_with(0);
    assert_eq!(answer.document()["summary"]["writes"]["bytes"], 200 * 4096);
    assert_eq!(answer.document()["summary"]["duration_ns"], 199 * 50_000);
    assert_eq!(answer.stderr, "");
    let answer = info(&lab, &["x.csv", "--from", &columns("ns")]);
    answer.must_exit_with(0);
    assert!(answer.stderr.contains("read in ns, and are probably in us"), "{}", answer.stderr);
    let answer = info(&lab, &["x.csv", "--from", "csv:time=us,op,offset=blocks,length=KiB"]);
    answer.must_exit_with(2);
    assert!(
        answer.stderr.contains("`offset=blocks`: expected a unit after `=`"),
        "{}",
        answer.stderr
    );
}

/// An unknown figure, and placement on a drive without handles: refused before anything runs.
#[test]
fn what_a_drive_or_the_catalogue_does_not_have_is_refused_first() {
    let lab = Lab::new();
    let sweep = "metrics = [\"latency_ns_p9x\"]\n[fixed]\ndrive = \"samsung-840-pro-256gb\"\ntest = \"replay\"\n\
                 [vary]\n\"gc.policy\" = [\"greedy\", \"cost-benefit\"]\n";
    std::fs::write(lab.path("typo.toml"), sweep).expect("a sweep");
    let answer =
        Answer::of(lab.command(&["sim", "sweep", "typo.toml", "--output"]).arg(lab.path("out")));
    answer.must_exit_with(2);
    assert!(answer.stderr.contains("there is no metric `latency_ns_p9x`"), "{answer:#?}");
    assert!(!lab.path("out").exists(), "nothing ran");
    let workload = "duration=\"2s\"\n[job.h]\nop=\"write\"\nblock=\"4KiB\"\npattern=\"uniform\"\n\
                    span=\"10%\"\nqueue_depth=16\nrate=\"1800\"\nplacement=1\n";
    std::fs::write(lab.path("handles.toml"), workload).expect("a workload");
    let library = lab.library();
    let mut run =
        lab.command(&["run", "workload", "sim:samsung-840-pro-256gb?scale=1/256", "--workload"]);
    run.arg(lab.path("handles.toml")).arg("--library").arg(&library);
    let answer = Answer::of(&mut run);
    answer.must_exit_with(5);
    assert!(
        answer.stderr.contains("has placement = 1")
            && answer.stderr.contains("no placement handles")
    );
}
