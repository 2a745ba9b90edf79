//! Are fio's job files carried over with every option, or the option named?

use std::fs;
use std::path::{Path, PathBuf};

use load::fio::{Context, FioError, FioImport, export};
use load::spec::{JobText, WorkloadFile, WorkloadSite};

const PLACE: WorkloadSite =
    WorkloadSite { span_bytes: 64 << 30, queue_depth_max: 1024, logical_block_bytes: 512 };

fn import(text: &str) -> Result<FioImport, FioError> {
    load::fio::import(text, &Context::default())
}

/// The workload file of a job file without remarks, except for options without an effect.
fn imported(text: &str) -> String {
    let imported = import(text).unwrap();
    let told = imported.not_carried.iter().filter(|line| !line.starts_with("without an effect"));
    assert_eq!(told.collect::<Vec<_>>(), Vec::<&String>::new(), "{text}");
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
            "op = \"trim\"\nblock = \"4MiB\"\npattern = \"sequential\"\noffset = \"1GiB\"\nspan = \"1GiB\"\nqueue_depth = 1\ndata = \"repeating\"\nbytes = \"100%\"\n",
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
        (
            "ioengine=libaio\nfilename=/dev/nvme0n1\ngroup_reporting\nverify=crc32c\nbs_unaligned=0",
            "without an effect on the commands here: verify=crc32c, ioengine=libaio, filename=/dev/nvme0n1, group_reporting=1",
        ),
        ("numjobs=2", "[a] numjobs=2: without a filename each clone of fio has a file of its own"),
        ("steadystate=iops:1%", "[a] steadystate=iops:1%: fio may end the job earlier"),
        ("time_based\nruntime=9\nloops=3", "[a] 300% in all: the job is time_based"),
        ("size=4GiB", "[a] size=4gib: fio counts thousands here without kb_base=1000: 4000000000"),
        ("direct=0", "[a] direct=0: ssdlab bypasses the page cache always"),
        ("write_iolog=x.log", "[a] write_iolog=x.log: `ssdlab trace record`"),
        ("rw=rw", "[a] rw=rw: fio keeps one sequence of reads"),
        (
            "rw=randread\nruntime=1\ntime_based",
            "[a] norandommap=0 (fio's default): blocks are drawn with repetition",
        ),
        (
            "zonemode=strided\nzonesize=4k\nzoneskip=12k",
            "[a] zonemode=strided: after the last zone",
        ),
    ] {
        let remarks = remarks(&format!("[a]\nsize=1g\n{options}\n"));
        assert!(remarks.contains(expected), "{options}: {remarks}");
    }
    let clean = remarks("[a]\nsize=1g\nioengine=libaio\n[b]\nsize=1g\nioengine=libaio\n");
    assert_eq!(clean, "without an effect on the commands here: ioengine=libaio");
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
        (
            "rw=randread\nrandom_distribution=pareto:0.9",
            "[a] random_distribution=pareto:0.9: `pareto",
        ),
        ("zonemode=zbd", "[a] zonemode=zbd: expected none, or strided"),
        ("rate_iops=0", "[a] rate_iops=0: expected a rate"),
        ("rwmixread=101\nrw=randrw", "[a] rwmixread=101: expected a percentage"),
        ("flux_capacitor=88", "[a] flux_capacitor=88: this import does not know the option"),
        ("rw=randwrite\nverify=crc32c", "[a] verify=crc32c: fio reads back"),
        ("rw=randrw\nrate_iops=100", "[a] rate_iops=100: reads and writes have rates of their own"),
        ("rate_iops=100\nrate=1m", "[a] rate=1m: the job has rate_iops as well"),
        ("rate_iops=100\nthinktime=5", "[a] thinktime=5: a job with a rate has no pauses"),
        ("bsrange=4k-10k", "[a] bsrange=4k-10k: expected a range such as 4k-64k"),
        ("bsrange=4k-8k\nnumber_ios=5", "[a] number_ios=5: a number of commands is carried over"),
        ("bs=0", "[a] bs=0: expected a size"),
        ("loops=0", "[a] loops=0: expected a number from 1 to 100"),
        ("filesize=1k-10m", "[a] filesize=1k-10m: expected one size"),
        ("filesize=1m\nsize=8m", "[a] filesize=1m: the files have another size than the job"),
        ("wait_for=b", "[a] wait_for=b: expected the name of a job before this one"),
        ("iodepth=8\niodepth_low=2", "[a] iodepth_low=2: a command is issued"),
        ("startdelay=1-5", "[a] startdelay=1-5: expected a time"),
        ("size=1.5g", "[a] size=1.5g: expected a size"),
        ("ioengine=external:/tmp/x.so", "[a] ioengine=external:/tmp/x.so: this engine has no"),
        ("numjobs=200\n[b]\nnumjobs=200", "[b] numjobs=: a workload file has at most 256 jobs"),
    ] {
        let error = import(&format!("[a]\n{options}\n")).unwrap_err().to_string();
        assert!(error.contains(expected), "{options}: {error}");
    }
    let nothing = import("[a]\nread_iolog=x.log\n").unwrap_err().to_string();
    assert!(nothing.contains("no job"), "{nothing}");
}

/// Small inputs whose outcome fio itself has told.
#[test]
fn options_that_change_the_load_are_carried_over() {
    let job = |text: &str, name: &str| words(&import(text).unwrap().file.job[name]);
    for (options, expected) in [
        ("size=1g\nloops=3\nrw=write\nbs=128k", "bytes=300%"),
        ("size=1g\nnumber_ios=1000\nrw=randread\nbs=4k", "bytes=4000KiB"),
        ("number_ios=10\nloops=3\nrw=read", "bytes=120KiB"),
        ("size=1m\nnumber_ios=1000\nrw=randread\nbs=4k", "bytes=1MiB"),
        ("bsrange=4k-12k\nrw=write", "sizes={12KiB=1,4KiB=1,8KiB=1}"),
        ("size=10GiB", "span=10GB"),
        ("size=10GiB\nkb_base=1000", "span=10GiB"),
        ("size=10g\nkb_base=1000", "span=10GB"),
        ("filesize=1g\nnrfiles=4", "span=4GiB"),
        ("bs=,8k\nrw=read", "block=4KiB"),
        ("writefua=1\nrw=write", "fua=100"),
        ("buffer_pattern=0xff\nrw=write", "data=repeating"),
        ("io_size=200%\nrw=write", "bytes=200%"),
    ] {
        let all = job(&format!("[a]\n{options}\n"), "a");
        assert!(all.contains(expected), "{options}: {all}");
    }
    for options in ["size=0\nruntime=0\nio_size=0", "size=100%"] {
        let all = job(&format!("[a]\nrw=write\n{options}\n"), "a").replace(" span=100%", "");
        assert_eq!(all, "op=write block=4KiB pattern=sequential queue_depth=1 bytes=100%");
    }
    let mix = "[m]\nrw=randrw\nrwmixread=70\nbs=4k\nrate_iops=1000,500\nioengine=libaio\niodepth=32\nruntime=60\ntime_based\n";
    let parts = ["m-read", "m-write"].map(|name| job(mix, name));
    let [reads, writes] =
        ["op=read", "op=write"].map(|op| format!("{op} block=4KiB pattern=uniform"));
    assert_eq!(parts[0], format!("{reads} queue_depth=21 rate=1000 duration=60s"));
    assert_eq!(parts[1], format!("{writes} queue_depth=11 rate=500 duration=60s"));
    let alone = job(&mix.replace("1000,500", ",500"), "m-read");
    assert!(!alone.contains("rate"), "{alone}");
}

/// A SATA drive takes 32 commands at a time.
#[test]
fn jobs_in_turn_never_add_their_depths() {
    let text = "[global]\ndirect=1\nioengine=libaio\nbs=4k\niodepth=32\nsize=64m\nruntime=3\ntime_based\n[one]\nrw=randread\n[two]\nstonewall\nrw=randwrite\n";
    let depth = |text: &str| {
        let place = WorkloadSite { queue_depth_max: 32, ..PLACE };
        import(text).unwrap().file.jobs(&place).unwrap().queue_depth()
    };
    assert_eq!(depth(text), 32);
    assert_eq!(depth(&text.replace("stonewall", "wait_for=one")), 32);
    assert_eq!(depth(&text.replace("stonewall", "")), 64);
}

#[test]
fn jobs_of_several_drives_are_refused_or_chosen() {
    let text = "[global]\nrw=randread\n[d1]\nfilename=/dev/nvme1n1:/dev/nvme2n1\n[d2]\nfilename=/dev/nvme3n1\n[d3]\nstonewall\nfilename=/dev/nvme3n1\n";
    let error = import(text).unwrap_err().to_string();
    assert!(error.contains("[d1] filename=") && error.contains("3 drives"), "{error}");
    assert!(error.contains("--filename DRIVE"), "{error}");
    let of = |drive: &str| {
        load::fio::import(text, &Context { drive: Some(drive), ..Context::default() })
    };
    let chosen = of("/dev/nvme3n1").unwrap().file;
    assert_eq!(chosen.job.keys().collect::<Vec<_>>(), ["d2", "d3"]);
    assert_eq!(chosen.job["d3"].after.as_ref().unwrap().names(), ["d2"]);
    let error = of("/dev/nvme1n1").unwrap_err().to_string();
    assert!(error.contains("one job for several drives"), "{error}");
    let error = of("/dev/sda").unwrap_err().to_string();
    assert!(error.contains("no job has filename=/dev/sda; there are /dev/nvme1n1"), "{error}");
    import("[a]\nfilename=f1:f2\n[b]\nfilename=f3\n").expect("files lie on one drive");
}

/// A job in one line: the keys of a workload file.
fn words(job: &JobText) -> String {
    let file = WorkloadFile { job: [("x".to_owned(), job.clone())].into(), ..Default::default() };
    let text = file.to_toml().unwrap();
    let lines = text.lines().skip(1).map(|line| line.replace([' ', '"', '\''], ""));
    lines.collect::<Vec<_>>().join(" ")
}

fn job_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            job_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "fio") {
            found.push(path);
        }
    }
}

/// Job files of the kinds that fio's examples, clouds, storage systems and databases publish. The
/// first lines of each are its outcome: `;= NAME: JOB` for a job, `;~ WORDS` for a remark, `;! WORDS`
/// for a refusal.
#[test]
fn job_files_of_public_kinds_are_imported_or_refused_by_rule() {
    let mut files = Vec::new();
    job_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio_jobs"), &mut files);
    files.sort();
    assert!(files.len() >= 60, "{}", files.len());
    let variables = |name: &str| (name == "DBENCH_MOUNTPOINT").then(|| "/data".to_owned());
    let mut faults = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        let lines = |mark: &str| {
            text.lines().filter_map(|line| line.strip_prefix(mark)).collect::<Vec<_>>()
        };
        let (jobs, remarks, refusals) = (lines(";= "), lines(";~ "), lines(";! "));
        let context = Context { variables: &variables, ..Context::default() };
        let outcome = load::fio::import(&text, &context);
        let fault = match &outcome {
            Err(error) => refusals.is_empty() || !error.to_string().contains(refusals[0]),
            Ok(imported) => {
                let own = imported.file.job.iter();
                let mut own: Vec<_> =
                    own.map(|(name, job)| format!("{name}: {}", words(job))).collect();
                let mut expected: Vec<_> = jobs.iter().map(|job| (*job).to_owned()).collect();
                own.sort();
                expected.sort();
                let told = imported.not_carried.join("\n");
                own != expected || !remarks.iter().all(|remark| told.contains(remark))
            }
        };
        if fault {
            let shown = match outcome {
                Err(error) => format!(";! {error}"),
                Ok(imported) => {
                    let jobs = imported.file.job.iter();
                    let jobs = jobs.map(|(name, job)| format!(";= {name}: {}", words(job)));
                    jobs.chain(imported.not_carried).collect::<Vec<_>>().join("\n")
                }
            };
            faults.push(format!("{}\n{shown}", path.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// The first file of `tests/fio_jobs` that fio itself would run on a drive is valid for one.
#[test]
fn imported_job_files_are_valid_workloads() {
    let mut files = Vec::new();
    job_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio_jobs"), &mut files);
    let place = WorkloadSite { span_bytes: 1 << 40, ..PLACE };
    let variables = |_: &str| Some("x".to_owned());
    for path in files.iter().filter(|path| !path.ends_with("storage/etcd-wal.fio")) {
        let text = fs::read_to_string(path).unwrap();
        let context = Context { variables: &variables, ..Context::default() };
        if let Ok(imported) = load::fio::import(&text, &context) {
            imported
                .file
                .jobs(&place)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}

#[test]
fn hostile_job_files_do_not_panic() {
    for text in [
        "[a]\nrw=randrw\nrate_iops=0,0\ntime_based\nruntime=1\niodepth=99999999999999999999",
        "[a]\nbssplit=::::/\n",
        "[a]\nbs=18446744073709551615p\nnumber_ios=18446744073709551615\nloops=100",
        "[a]\nnumber_ios=18446744073709551615\nloops=100\nbs=1",
        "[a]\nrandom_distribution=zoned:1e308/1e308:nan/inf\nrw=randread",
        "[a]\nnumjobs=256\noffset_increment=18446744073709551615\n",
        "[a]\nwait_for=a\n[a]\nwait_for=a\n",
        "[\u{0}]\nfilename=:::\\::\n",
        "[a]\nruntime=18446744073709551615d\n[]\nrw=read:\n=\n",
        "[a]\nfilesize=1g\nnrfiles=99999999999999\nsize=18446744073709551615",
        "[a]\nzonemode=strided\nzonesize=18446744073709551615\nzoneskip=1\n",
    ] {
        if let Ok(imported) = import(text) {
            let _ = imported.file.jobs(&PLACE);
            let _ = export(&imported.file);
        }
    }
    let long = format!("[a]\nfilename={}\n", "/dev/x:".repeat(1 << 14));
    assert!(import(&long).is_ok_and(|imported| imported.not_carried[0].len() < 10_000));
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
