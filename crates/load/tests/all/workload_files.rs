//! Are workload files read as they are written, and impossible ones refused with key, value and rule?

use base::{Data, Nanos, OpKind};
use load::jobs::Think;
use load::spec::library::BUILT_IN;
use load::spec::{WorkloadFile, WorkloadSite};
use load::{Mix, Order, Pacing};

const PLACE: WorkloadSite =
    WorkloadSite { span_bytes: 64 << 30, queue_depth_max: 32, logical_block_bytes: 512 };

const EXAMPLE: &str = r#"
duration = "200s"

[job.lookup]
mix = { read = 95, write = 5 }
sizes = { "4KiB" = 80, "64KiB" = 20 }
pattern = "zipf(1.1)"
rate = "poisson:20k"
span = "50%"

[job.compaction]
op = "write"
block = "512KiB"
pattern = "append(zones=4, zone=2GiB)"
queue_depth = 8
delay = "3s"
data = "46%"
fua = 7
placement = 2
warm_up = "10s"
seed = 9

[job.thinks]
op = "read"
block = "4KiB"
align = "512"
pattern = "stride(1MiB)"
offset = "1GiB"
span = "12.5%"
bytes = "200%"
queue_depth = 1
think = "2ms"
think_after = 5
after = "log"

[job.log]
op = "write"
block = "8KiB"
pattern = "sequential"
bytes = "1MiB"
queue_depth = 1
flush_every = 2
"#;

#[test]
fn every_key_means_what_its_name_says() {
    let jobs = WorkloadFile::parse(EXAMPLE).unwrap().jobs(&PLACE).unwrap();
    assert_eq!(jobs.duration, Some(Nanos(200_000_000_000)));
    let names: Vec<_> = jobs.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["compaction", "log", "lookup", "thinks"]);
    let [compaction, log, lookup, thinks] = &jobs.jobs[..] else { panic!() };
    assert_eq!(lookup.workload.mix, Mix::ReadPercent(95));
    assert_eq!(lookup.workload.pacing, Pacing::Poisson { rate_iops: 20_000 });
    assert_eq!((lookup.workload.span_bytes, lookup.workload.step_bytes()), (32 << 30, 4096));
    // 32 commands, less those of the others: of two jobs in turn, one.
    assert_eq!(lookup.workload.queue_depth, 23);
    assert_eq!(compaction.workload.data, Data::Compressible { physical_percent: 46 });
    let writes = &compaction.workload;
    assert_eq!((writes.fua_percent, writes.placement, compaction.seed), (7, 2, Some(9)));
    assert_eq!((compaction.delay.0, compaction.warm_up.0), (3_000_000_000, 10_000_000_000));
    assert_eq!((log.workload.flush_every, log.workload.limit_bytes), (Some(2), Some(1 << 20)));
    assert_eq!((thinks.after.as_slice(), thinks.workload.mix), (&[1][..], Mix::One(OpKind::Read)));
    assert_eq!(thinks.think, Some(Think { pause: Nanos(2_000_000), every: 5 }));
    assert_eq!(thinks.workload.order, Order::Stride { stride_bytes: 1 << 20 });
    assert_eq!((thinks.workload.span_offset_bytes, thinks.workload.span_bytes), (1 << 30, 8 << 30));
    assert_eq!(thinks.workload.limit_bytes, Some(16 << 30));
}

#[test]
fn a_file_reads_again_as_it_was_written() {
    let built_in = BUILT_IN.map(|(_, text)| text);
    for text in built_in.into_iter().chain([EXAMPLE]) {
        let file = WorkloadFile::parse(text).unwrap();
        let written = file.to_toml().unwrap();
        assert_eq!(WorkloadFile::parse(&written).unwrap(), file, "{written}");
    }
}

#[test]
fn every_built_in_workload_has_a_source_and_fits_small_and_large_drives() {
    for (name, text) in BUILT_IN {
        let file = WorkloadFile::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(file.about.is_some() && file.source.is_some(), "{name}");
        for span_bytes in [2 << 30, 240 << 30, 30_000_000_000_000_u64 / 4096 * 4096] {
            for (queue_depth_max, logical_block_bytes) in [(32, 512), (1024, 4096)] {
                let place = WorkloadSite { span_bytes, queue_depth_max, logical_block_bytes };
                let jobs = file.jobs(&place);
                let jobs = jobs.unwrap_or_else(|error| panic!("{name} on {span_bytes}: {error}"));
                assert!(jobs.queue_depth() <= queue_depth_max, "{name}: {}", jobs.queue_depth());
            }
        }
    }
}

/// A file with one job of these lines.
fn refused(lines: &str) -> String {
    let text = format!("[job.x]\n{lines}\n");
    let jobs = WorkloadFile::parse(&text).and_then(|file| file.jobs(&PLACE));
    jobs.err().unwrap_or_else(|| panic!("accepted: {text}")).to_string()
}

#[test]
fn an_impossible_value_is_refused_with_its_key_and_rule() {
    const READ: &str = "op = 'read'\npattern = 'uniform'\nqueue_depth = 1\nduration = '1s'\n";
    const JOB: &str =
        "op = 'read'\npattern = 'uniform'\nqueue_depth = 1\nduration = '1s'\nblock = '4KiB'\n";
    for (base, lines, expected) in [
        (
            "",
            "op = 'erase'",
            "unknown variant `erase`, expected one of `read`, `write`, `trim`, `flush`",
        ),
        ("", "colour = 'red'", "unknown field `colour`"),
        ("", "op = 'read'", "`job.x.block` is missing"),
        (READ, "block = '5000'", "block size in bytes is 5000, but it must be a multiple"),
        (READ, "block = '1GiB'", "`job.x.block = 1GiB`: expected 512 bytes to 32MiB"),
        (READ, "block = 'big'", "`job.x.block = big`"),
        (READ, "sizes = { '4KiB' = 0 }", "`job.x.sizes = { .. }`: expected sizes with weights"),
        (JOB, "sizes = { '4KiB' = 1 }", "`job.x.block = 4KiB`: the job has `sizes` as well"),
        (JOB, "mix = { read = 50, write = 50 }", "`job.x.mix = { .. }`: the job has `op` as well"),
        (JOB, "offset = '65GiB'", "`job.x.offset = 65GiB`: the tested span has 68719476736"),
        (JOB, "offset = '60%'\nspan = '41%'", "`job.x.span = 41%`: the tested span has"),
        (JOB, "span = '1KiB'", "the length of the span in bytes is 1024"),
        (JOB, "offset = '100'", "the start of the span is 100"),
        (JOB, "rate = '0'", "`job.x.rate = 0`: `0` is no rate"),
        (JOB, "rate = '5'\nthink = '1ms'", "`job.x.think = 1ms`: the job has a `rate`"),
        (JOB, "think_after = 3", "`job.x.think_after = 3`: it counts commands up to `think`"),
        (JOB, "think = '1ms'\nthink_after = 0", "`job.x.think_after = 0`: expected at least 1"),
        (JOB, "data = '0%'", "`job.x.data = 0%`: expected incompressible"),
        (JOB, "fua = 101", "the share of forced writes is 101"),
        (JOB, "flush_every = 0", "`job.x.flush_every = 0`"),
        (JOB, "bytes = '0'", "`job.x.bytes = 0`: expected more than 0"),
        (JOB, "bytes = '1.234%'", "`job.x.bytes = 1.234%`: expected bytes, or a percentage"),
        (JOB, "after = 'y'", "`job.x.after = y`: there is no such job; there are x"),
        (JOB, "after = 'x'", "job `x`: it begins after a job which waits for it"),
        (JOB, "delay = '0s'", "`job.x.delay = 0s`: expected a time above 0"),
        (JOB, "warm_up = '2s'", "job `x`: the warm-up leaves nothing"),
        (JOB, "placement = 300", "invalid value"),
        (
            "op = 'read'\nblock = '4KiB'\nqueue_depth = 1\n",
            "pattern = 'spiral'",
            "`job.x.pattern = spiral`",
        ),
        (
            "op = 'read'\nblock = '4KiB'\nqueue_depth = 1\n",
            "pattern = 'uniform'",
            "neither it nor another job has an end",
        ),
        (
            "op = 'read'\nblock = '4KiB'\npattern = 'uniform'\n",
            "",
            "`job.x.queue_depth` is missing",
        ),
        (
            "op = 'read'\nblock = '4KiB'\npattern = 'uniform'\n",
            "queue_depth = 0",
            "`job.x.queue_depth = 0`",
        ),
        (
            "block = '4KiB'\npattern = 'uniform'\nqueue_depth = 1\n",
            "mix = { read = 60, write = 30 }",
            "add up to 100, not to 90",
        ),
        ("op = 'flush'\nqueue_depth = 1\n", "bytes = '1MiB'", "a flush moves no bytes"),
        (
            "op = 'read'\nblock = '4KiB'\nqueue_depth = 1\nduration = '1s'\n",
            "pattern = 'append(zones=2, zone=1MiB)'",
            "takes writes alone",
        ),
    ] {
        let error = refused(&format!("{base}{lines}"));
        assert!(error.contains(expected), "{lines}: {error}, not {expected}");
    }
}

#[test]
fn a_file_needs_jobs_with_names_of_their_own() {
    let empty = WorkloadFile::parse("[job]").unwrap().jobs(&PLACE).unwrap_err().to_string();
    assert!(empty.contains("expected 1 to 256 jobs"), "{empty}");
    let name = WorkloadFile::parse("[job.all]\n").unwrap().jobs(&PLACE).unwrap_err().to_string();
    assert!(name.contains("`job = all`: a job has a name of"), "{name}");
}

#[test]
fn a_rate_is_a_number_or_text() {
    let rate = |value: &str| {
        let text = format!(
            "[job.a]\nop = \"read\"\nblock = \"4KiB\"\npattern = \"uniform\"\nbytes = \"1MiB\"\nrate = {value}\n"
        );
        WorkloadFile::parse(&text).map(|file| file.job["a"].rate.clone().unwrap())
    };
    assert_eq!(rate("10000").unwrap(), "10000");
    assert_eq!(rate("\"poisson:20k\"").unwrap(), "poisson:20k");
    for wrong in ["-5", "1.5", "true", "[1]"] {
        let error = rate(wrong).unwrap_err().to_string();
        assert!(error.contains("expected a rate such as 1000"), "{wrong}: {error}");
    }
}
