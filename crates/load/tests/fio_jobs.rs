//! Are fio's job files carried over with every option, or the option named?

use load::fio::{export, import};
use load::spec::{Place, WorkloadFile};

const PLACE: Place =
    Place { span_bytes: 64 << 30, queue_depth_max: 1024, logical_block_bytes: 512 };

/// The workload file of a job file without remarks.
fn imported(text: &str) -> String {
    let imported = import(text).unwrap();
    assert_eq!(imported.not_carried, Vec::<String>::new(), "{text}");
    imported.file.jobs(&PLACE).unwrap();
    imported.file.to_toml().unwrap()
}

fn remarks(text: &str) -> String {
    import(text).unwrap().not_carried.join("\n")
}

#[test]
fn every_option_of_the_list_is_carried_over() {
    for (options, expected) in [
        (
            "rw=read\nbs=128k\nsize=1g",
            "op = \"read\"\nblock = \"128KiB\"\npattern = \"sequential\"\nspan = \"1GiB\"\nqueue_depth = 1\nbytes = \"100%\"\n",
        ),
        (
            "rw=randread\nsize=1g",
            "op = \"read\"\nblock = \"4KiB\"\npattern = \"shuffled\"\nspan = \"1GiB\"\nqueue_depth = 1\nbytes = \"100%\"\n",
        ),
        (
            "rw=randwrite\nnorandommap\nsize=50%\nio_size=2g",
            "op = \"write\"\nblock = \"4KiB\"\npattern = \"uniform\"\nspan = \"50%\"\nqueue_depth = 1\nbytes = \"2GiB\"\n",
        ),
        (
            "rw=randrw\nrwmixread=70\nnorandommap=1\ntime_based\nruntime=30",
            "mix = { read = 70, write = 30 }\nblock = \"4KiB\"\npattern = \"uniform\"\nqueue_depth = 1\nduration = \"30s\"\n",
        ),
        (
            "rw=randrw\nrwmixwrite=25\nnorandommap\nruntime=1m",
            "mix = { read = 75, write = 25 }\nblock = \"4KiB\"\npattern = \"uniform\"\nqueue_depth = 1\nduration = \"60s\"\nbytes = \"100%\"\n",
        ),
        (
            "rw=randwrite\nbssplit=4k/60:64k/40\nnorandommap\nsize=1g",
            "op = \"write\"\nsizes = { 4KiB = 60, 64KiB = 40 }\npattern = \"uniform\"\nspan = \"1GiB\"\nqueue_depth = 1\nbytes = \"100%\"\n",
        ),
        (
            "rw=randread\nrandom_distribution=zipf:1.2\nsize=1g\nba=512",
            "op = \"read\"\nblock = \"4KiB\"\nalign = \"512B\"\npattern = \"zipf(1.2)\"\nspan = \"1GiB\"\nqueue_depth = 1\nbytes = \"100%\"\n",
        ),
        (
            "rw=randread\nrandom_distribution=zoned:60/10:30/20:8/30:2/40\nsize=1g",
            "op = \"read\"\nblock = \"4KiB\"\npattern = 'zones(\"10:60,20:30,30:8,40:2\", contiguous)'\nspan = \"1GiB\"\nqueue_depth = 1\nbytes = \"100%\"\n",
        ),
        (
            "rw=randread\nrandom_distribution=pareto:0.2\nsize=1g",
            "op = \"read\"\nblock = \"4KiB\"\npattern = \"pareto(20%)\"\nspan = \"1GiB\"\nqueue_depth = 1\nbytes = \"100%\"\n",
        ),
        (
            "rw=randread\npercentage_random=30\nsize=1g",
            "op = \"read\"\nblock = \"4KiB\"\npattern = \"random(30%)\"\nspan = \"1GiB\"\nqueue_depth = 1\nbytes = \"100%\"\n",
        ),
        (
            "rw=write\nrate_iops=1k\nrate_process=poisson\nsize=1g\nfsync=8\nsync=1",
            "op = \"write\"\nblock = \"4KiB\"\npattern = \"sequential\"\nspan = \"1GiB\"\nqueue_depth = 1\nrate = \"poisson:1024\"\nfua = 100\nflush_every = 8\nbytes = \"100%\"\n",
        ),
        (
            "rw=write\nrate=1m\nbs=64k\nsize=1g",
            "op = \"write\"\nblock = \"64KiB\"\npattern = \"sequential\"\nspan = \"1GiB\"\nqueue_depth = 1\nrate = \"16\"\nbytes = \"100%\"\n",
        ),
        (
            "rw=write\nthinktime=500\nthinktime_blocks=4\nsize=1g\nstartdelay=5",
            "op = \"write\"\nblock = \"4KiB\"\npattern = \"sequential\"\nspan = \"1GiB\"\nqueue_depth = 1\nthink = \"500us\"\nthink_after = 4\nbytes = \"100%\"\ndelay = \"5s\"\n",
        ),
        (
            "rw=write\nramp_time=5\nruntime=20\ntime_based\nbuffer_compress_percentage=54\ndirect=1",
            "op = \"write\"\nblock = \"4KiB\"\npattern = \"sequential\"\nqueue_depth = 1\ndata = \"46%\"\nduration = \"25s\"\nwarm_up = \"5s\"\n",
        ),
        (
            "rw=trim\noffset=1g\nsize=1g\nbs=1m,2m,4m\nzero_buffers",
            "op = \"trim\"\nblock = \"2MiB\"\npattern = \"sequential\"\noffset = \"1GiB\"\nspan = \"1GiB\"\nqueue_depth = 1\ndata = \"repeating\"\nbytes = \"100%\"\n",
        ),
    ] {
        let text = imported(&format!("[a]\n{options}\n"));
        let body = text.strip_prefix("[job.a]\n").unwrap().replace('\'', "");
        let plain = |text: &str| text.replace(['"', '\''], "");
        assert_eq!(plain(&body), plain(expected), "{options}");
    }
}

#[test]
fn clones_and_stonewalls_keep_their_relations() {
    let text = "[global]\nsize=1g\nrw=write\n[a]\nnumjobs=2\noffset_increment=1g\n[b]\nstonewall\n[c]\n[d]\nwait_for_previous\n";
    let file = import(text).unwrap().file;
    let after = |name: &str| file.job[name].after.as_ref().map(|after| after.names().to_vec());
    assert_eq!(file.job.keys().collect::<Vec<_>>(), ["a", "a-2", "b", "c", "d"]);
    assert_eq!((after("a"), after("a-2")), (None, None));
    assert_eq!(after("b").unwrap(), ["a", "a-2"]);
    assert_eq!(
        (after("c"), after("d").unwrap()),
        (after("b"), vec!["b".to_owned(), "c".to_owned()])
    );
    let offsets = ["a", "a-2"].map(|name| file.job[name].offset.clone().unwrap());
    assert_eq!(offsets, ["0B", "1GiB"]);
    file.jobs(&PLACE).unwrap();
}

#[test]
fn the_depth_of_an_engine_that_waits_is_one() {
    let depth = |options: &str| {
        let imported = import(&format!("[a]\nsize=1g\niodepth=32\n{options}\n")).unwrap();
        (imported.file.job["a"].queue_depth.unwrap(), imported.not_carried.join("\n"))
    };
    assert_eq!(depth("ioengine=libaio").0, 32);
    let (one, remark) = depth("ioengine=psync");
    assert!(one == 1 && remark.contains("iodepth=32: this ioengine"), "{remark}");
    assert_eq!(depth("").0, 1);
}

#[test]
fn what_is_not_carried_over_is_named_with_its_reason() {
    for (options, expected) in [
        ("ioengine=libaio", "[a] ioengine=libaio: ssdlab has engines of its own (--engine)"),
        ("filename=/dev/nvme0n1", "[a] filename=/dev/nvme0n1: the target of the call"),
        ("group_reporting", "[a] group_reporting=1: it concerns the output of fio"),
        ("verify=crc32c", "[a] verify=crc32c: data is not checked here"),
        ("flux_capacitor=88", "[a] flux_capacitor=88: this import does not know it"),
        ("loops=3", "[a] loops=3"),
        ("direct=0", "[a] direct=0: ssdlab bypasses the page cache always"),
        ("write_iolog=x.log", "[a] write_iolog=x.log: `ssdlab trace record`"),
        ("rw=rw", "[a] rw=rw: fio keeps one sequence of reads"),
        (
            "rw=randread\nruntime=1\ntime_based",
            "[a] norandommap=0 (fio's default): blocks are drawn with repetition",
        ),
        ("rw=randrw\nrate_iops=100", "[a] rate_iops=100: fio limits reads and writes each"),
        (
            "zonemode=strided\nzonesize=4k\nzoneskip=12k",
            "[a] zonemode=strided: after the last zone",
        ),
    ] {
        let remarks = remarks(&format!("[a]\nsize=1g\n{options}\n"));
        assert!(remarks.contains(expected), "{options}: {remarks}");
    }
    let log = remarks("[a]\nread_iolog=x.log\n[b]\nsize=1g\n");
    assert!(log.contains("replay TARGET --set trace=x.log"), "{log}");
}

#[test]
fn a_load_that_cannot_be_described_is_refused_with_option_and_value() {
    for (options, expected) in [
        ("rw=randread:8", "[a] rw=randread:8: expected read, write"),
        ("rw=randrw\nbs=4k,8k", "[a] bs=4k,8k: reads and writes of one job have the same sizes"),
        ("bssplit=4k/60", "[a] bssplit=4k/60: expected sizes with percents"),
        ("size=much", "[a] size=much: expected a size"),
        ("time_based", "[a] time_based=1: it needs a runtime"),
        ("iodepth=0", "[a] iodepth=0: expected a number from 1"),
        (
            "rw=randread\nrandom_distribution=gamma:3",
            "[a] random_distribution=gamma:3: expected random",
        ),
        ("zonemode=zbd", "[a] zonemode=zbd: expected none, or strided"),
        ("rate_iops=0", "[a] rate_iops=0: expected a rate"),
        ("rwmixread=101\nrw=randrw", "[a] rwmixread=101: expected a percentage"),
    ] {
        let error = import(&format!("[a]\n{options}\n")).unwrap_err().to_string();
        assert!(error.contains(expected), "{options}: {error}");
    }
    let nothing = import("[a]\nread_iolog=x.log\n").unwrap_err().to_string();
    assert!(nothing.contains("no job"), "{nothing}");
}

#[test]
fn an_exported_file_is_imported_as_the_same_jobs() {
    let text = r#"
[job.first]
mix = { read = 70, write = 30 }
sizes = { "4KiB" = 60, "64KiB" = 40 }
pattern = "uniform"
span = "1GiB"
queue_depth = 16
bytes = "100%"
data = "46%"

[job.second]
op = "write"
block = "8KiB"
align = "4KiB"
pattern = "zipf(1.2)"
offset = "25%"
span = "50%"
queue_depth = 4
duration = "30s"
flush_every = 3
fua = 100
after = "first"
delay = "2s"

[job.third]
op = "read"
block = "4KiB"
pattern = 'zones("10:60,90:40", contiguous)'
span = "1GiB"
queue_depth = 1
bytes = "2GiB"
think = "1ms"
think_after = 2

[job.fourth]
op = "read"
block = "4KiB"
pattern = "random(30%)"
span = "1GiB"
queue_depth = 8
rate = "poisson:500"
bytes = "100%"
"#;
    let file = WorkloadFile::parse(text).unwrap();
    file.jobs(&PLACE).unwrap();
    let (fio, remarks) = export(&file);
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(remarks[0].contains("fio's stonewall waits for all jobs before it"));
    let mut back = import(&fio).unwrap().file;
    let second = back.job.get_mut("second").unwrap();
    assert_eq!(second.after.as_ref().unwrap().names().len(), 3, "all jobs before it");
    second.after.clone_from(&file.job["second"].after);
    assert_eq!(back, file, "{fio}");
}

#[test]
fn a_key_that_fio_has_no_option_for_is_named() {
    for (key, value) in [
        ("placement", "2"),
        ("seed", "7"),
        ("fua", "10"),
        ("pattern", "streams(4)"),
        ("rate", "bursts(5, on=1s, off=1s)"),
        ("bytes", "250%"),
    ] {
        let is_number = value.parse::<u32>().is_ok();
        let quoted = if is_number { value.to_owned() } else { format!("\"{value}\"") };
        let pattern = if key == "pattern" { "" } else { "pattern = \"uniform\"" };
        let bytes = if key == "bytes" { "" } else { "bytes = \"100%\"" };
        let text = format!(
            "[job.a]\nop = \"write\"\nblock = \"4KiB\"\nqueue_depth = 1\n{pattern}\n{bytes}\n{key} = {quoted}\n"
        );
        let (_, remarks) = export(&WorkloadFile::parse(&text).unwrap());
        assert!(
            remarks.iter().any(|remark| remark.starts_with(&format!("job.a.{key} = "))),
            "{key}: {remarks:?}"
        );
    }
}
