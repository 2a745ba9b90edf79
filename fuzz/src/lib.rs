//! The readers tried with hostile input: those of traces, workload files, facts files, run directories,
//! results to import, NBD, NVMe/TCP and orders to an exposed drive. A target takes any bytes and must neither panic, nor hang, nor ask for much memory. libFuzzer drives them
//! (`fuzz_targets/`), and so does a driver of our own (`src/bin/driver.rs`) if there is no
//! cargo-fuzz.

use std::io::{Cursor, Write};

use load::trace::format::{
    BlktraceSource, CsvSpec, Event, Format, FormatOptions, HEAD_BYTES, NamedFormat, VscsiSource,
    detect,
};
use load::trace::import::{OrderedRecords, lines};
use load::trace::stats::TraceStats;
use load::trace::store::{TraceReader, TraceWriter};
use load::trace::synth::{Scenario, Synth};
use load::trace::{Addresses, ImportOptions, Layout, Record, Source, StreamSet, TraceInfo, open};

mod control;
mod facts;
mod import;
pub mod mutate;
mod nbd;
mod nvme;
mod run_directory;
mod workload;

/// One thing to try.
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub const TARGETS: [Target; 14] = [
    Target { name: "lines", run: every_text_format, seeds: text_seeds },
    Target { name: "files", run: files, seeds: file_seeds },
    Target { name: "csv", run: csv, seeds: csv_seeds },
    Target { name: "blktrace", run: blktrace, seeds: blktrace_seeds },
    Target { name: "trace_file", run: trace_file, seeds: trace_file_seeds },
    Target { name: "scenario", run: scenario, seeds: scenario_seeds },
    Target { name: "workload", run: workload::file, seeds: workload::file_seeds },
    Target { name: "fio_job", run: workload::job_file, seeds: workload::job_file_seeds },
    Target { name: "facts", run: facts::read, seeds: facts::seeds },
    Target { name: "import", run: import::read, seeds: import::seeds },
    Target { name: "run_directory", run: run_directory::read, seeds: run_directory::seeds },
    Target { name: "nbd", run: nbd::serve, seeds: nbd::seeds },
    Target { name: "nvme", run: nvme::serve, seeds: nvme::seeds },
    Target { name: "control", run: control::obey, seeds: control::seeds },
];

impl Target {
    /// The target of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Tries it with an input.
    pub fn run(&self, data: &[u8]) {
        (self.run)(data);
    }

    /// Inputs to begin with.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        (self.seeds)()
    }
}

/// Reads to the end, or to the first error, and checks what every trace promises.
fn read_all(source: &mut dyn Source) {
    let mut stats = TraceStats::default();
    let mut last_ns = 0;
    while let Ok(Some(record)) = source.next_record() {
        assert!(record.issue_ns >= last_ns, "time goes back");
        last_ns = record.issue_ns;
        stats.add(&record);
    }
    let summary = stats.summary();
    assert!(summary.sequential_share <= 1.0, "more sequential I/Os than there are");
    let _ = source.problems().sentences();
}

fn every_text_format(data: &[u8]) {
    for format in Format::all() {
        read_lines(format, None, data);
    }
    let _ = detect(&data[..data.len().min(HEAD_BYTES)], "input");
}

fn read_lines(format: Format, csv: Option<CsvSpec>, data: &[u8]) {
    let format_options = FormatOptions { csv, ..FormatOptions::default() };
    let options = ImportOptions { format_options, ..ImportOptions::default() };
    let input = Box::new(Cursor::new(data.to_vec()));
    if let Ok(raw) = lines(format, input, "input", &options) {
        read_all(&mut OrderedRecords::new(raw, String::new(), StreamSet::default()));
    }
}

/// As the program opens it: packed or not, found out, volumes laid out; and as a binary file of vscsiStats.
fn files(data: &[u8]) {
    let path = std::env::temp_dir().join(format!("ssdlab-fuzz-{}", std::process::id()));
    std::fs::write(&path, data).expect("a file for the input");
    for layout in [Layout::SideBySide, Layout::Overlay] {
        let options = ImportOptions { layout, ..ImportOptions::default() };
        if let Ok(mut source) = open(&path.to_string_lossy(), &options) {
            read_all(&mut source);
        }
    }
    let _ = std::fs::remove_file(&path);
    let head = &data[..data.len().min(HEAD_BYTES)];
    if let Ok(raw) = VscsiSource::new(Box::new(Cursor::new(data.to_vec())), head, "input") {
        read_all(&mut OrderedRecords::new(Box::new(raw), String::new(), StreamSet::default()));
    }
}

/// The first line tells the columns, as the command line does; the others are the file.
fn csv(data: &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let (told, rest) = data.split_at(end);
    let Ok(told) = std::str::from_utf8(told) else { return };
    if let Ok(NamedFormat { format, csv }) = told.parse() {
        read_lines(format, csv, rest);
    }
}

/// Two files, so that merging is tried as well; the first byte says where one ends.
fn blktrace(data: &[u8]) {
    let Some((&cut, data)) = data.split_first() else { return };
    let (first, second) = data.split_at(data.len() * usize::from(cut) / 256);
    let file = |bytes: &[u8]| {
        let input: load::trace::format::BoxedInput = Box::new(Cursor::new(bytes.to_vec()));
        ("input".to_owned(), input)
    };
    for event in [Event::Queue, Event::Issue] {
        if let Ok(raw) = BlktraceSource::new(vec![file(first), file(second)], event) {
            read_all(&mut OrderedRecords::new(Box::new(raw), String::new(), StreamSet::default()));
        }
    }
}

fn trace_file(data: &[u8]) {
    if let Ok(mut reader) = TraceReader::new(bytes::Bytes::copy_from_slice(data), "input") {
        read_all(&mut reader);
    }
}

/// A scenario that is accepted must make a trace, or say why it cannot.
fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(scenario) = Scenario::parse("input", text) else { return };
    let scale = base::Ratio::new(1, 50_000).unwrap_or(base::Ratio::ONE);
    if let Ok(mut synth) = Synth::new(&scenario, scale, 1)
        && synth.records() < 1_000_000
    {
        read_all(&mut synth);
    }
}

fn text_seeds() -> Vec<Vec<u8>> {
    let samples: [&[u8]; 14] = [
        b"fio version 2 iolog\na add\na open\na read 0 4096\na wait 2000 0\na trim 8192 4096\nb sync 0 0\n",
        b"fio version 3 iolog\n0 a add\n1 a open\n5 a write 16388096 4096\n9 a datasync 0 0\n",
        b"128166372003061629,hm,0,Read,383496192,32768,1000\n128166372003061729,hm,1,Write,8192,512,50\n",
        b"89966904702391 4892 syslogd 904265560 8 W 6 0 531e779d\n89966904712391 1990 x 508541144 16 R 6 0 9ec2\n",
        b"0,20941264,8192,W,0.551706\n1,20939840,8192,r,0.554041,x\n",
        b"1538323200,12910952,128,0,1063\n1538323201,6265688,8,1,1064\n",
        b"419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n",
        b"BeginHeader\nDiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\n\
          EndHeader\n DiskRead, 5000, sqlservr.exe (2876), 3160, 0xfffffa80, 0x1000, 0x00002000, 3000, 1\n\
          DiskFlush, 7000, System (   4), 3160, 0xfffffa80, 500, 0\n",
        b"0.000000 0 100 8 1\n1.500000 1 200 16 0\n",
        b"7 0 100 8 1\n1500007 1 200 16 0\n",
        b"Timestamp,Response,IOType,LUN,Offset,Size\n1456135145.133,0.000806,R,0,899056122368,131072\n1456135146,,W,4,0,512\n",
        b"#Vscsi Cmd Trace. (Trace Format Version 1)\n7,4096,1,write,24048792,2756778716647\n8,512,1,0x28,7,2756783857269\n",
        b"  8,0 0 1 0.000000000 10 Q WBS 1976 + 8 [x]\n  8,0 0 2 0.100000000 10 C WBS 1976 + 8 [0]\n",
        include_bytes!("../../crates/load/tests/fixtures/fio-3.42-write_iolog-v3.log"),
    ];
    let blkparse = include_bytes!("../../crates/load/tests/fixtures/sample.blkparse.txt");
    let mut seeds: Vec<_> = samples.iter().map(|sample| sample.to_vec()).collect();
    seeds.push(blkparse[..blkparse.len().min(4000)].to_vec());
    seeds
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("memory takes all");
    packed.finish().expect("memory takes all")
}

/// Commands of vscsiStats: version 1 has 32 bytes, version 2 has 40.
fn vscsi_seed(version: u8) -> Vec<u8> {
    let record = |index: u8| {
        let (serial, len) = ([index, 0, 0, 0], [0, 16, 0, 0]);
        let kind = [0x28 + index % 3, 0, 0, version];
        let front = if version == 2 { [kind, serial, len] } else { [serial, len, [1, 0, 0, 0]] };
        let fourth = if version == 2 { [1, 0, 0, 0] } else { kind };
        let mut bytes =
            [front.concat(), fourth.to_vec(), vec![index, 0, 0, 0, 0, 0, 0, 0]].concat();
        bytes.extend((u64::from(index) * 100).to_le_bytes());
        bytes.extend(if version == 2 { vec![9, 0, 0, 0, 0, 0, 0, 0] } else { vec![] });
        bytes
    };
    (0..20).flat_map(record).collect()
}

fn file_seeds() -> Vec<Vec<u8>> {
    let texts = text_seeds();
    let blktrace = include_bytes!("../../crates/load/tests/fixtures/sample.blktrace.0");
    let plain = [vscsi_seed(1), vscsi_seed(2), blktrace[..4800].to_vec()];
    let all: Vec<_> = texts.into_iter().chain(plain).collect();
    let all_packed: Vec<_> = all.iter().map(|bytes| packed(bytes)).collect();
    all.into_iter().chain(all_packed).chain(trace_file_seeds()).collect()
}

fn csv_seeds() -> Vec<Vec<u8>> {
    let samples: [&[u8]; 4] = [
        b"csv:time=us,-,op=0:read|1:write,offset=sectors,length=KiB,volume,response=ms\n5,x,1,8,4,7,0.5\n6,x,0,9,1,8,\n",
        b"csv:offset=4KiB@block,time=s@1,op@kind,length=bytes@bytes,process=names@who,delimiter=semicolon\n\
          at;kind;block;bytes;who\n1.5;W;2;512;\"a;b\"\n2;flush;;;c\n",
        b"csv:time=datetime,op,offset=bytes,length=bytes\n2016-02-22 10:00:00.013118,r,0,512\n2016-02-29T23:59:59Z,w,9,1\n",
        b"csv:time=filetime,op,offset=MiB,length=sectors,delimiter=space,header=yes\nt o a l\n128166372003061629  read 1 8\n",
    ];
    samples.map(<[u8]>::to_vec).to_vec()
}

fn blktrace_seeds() -> Vec<Vec<u8>> {
    let whole = include_bytes!("../../crates/load/tests/fixtures/sample.blktrace.0");
    let with_cut = |cut: u8, bytes: &[u8]| [&[cut], bytes].concat();
    vec![with_cut(128, &whole[..4800]), with_cut(0, &whole[20_000..24_800]), with_cut(7, whole)]
}

fn trace_file_seeds() -> Vec<Vec<u8>> {
    let file = |records: u64, addresses: Addresses| {
        let mut writer = TraceWriter::new(Vec::new(), "seed").expect("memory takes all");
        let mut rng = base::Rng::new(records);
        for index in 0..records {
            let op = base::OpKind::ALL[rng.below(4) as usize];
            let record = Record::new(index * 1000, op, rng.below(1 << 40), 4096);
            let record = Record { stream: (index % 5) as u32, ..record };
            writer.push(&record).expect("memory takes all");
        }
        let info = TraceInfo { addresses, ..TraceInfo::default() };
        writer.finish(&info).expect("memory takes all").0
    };
    let shared = [0, 3, 1000].map(|records| file(records, Addresses::Shared));
    let of_each = [1, 1000].map(|records| file(records, Addresses::OfEach));
    shared.into_iter().chain(of_each).collect()
}

fn scenario_seeds() -> Vec<Vec<u8>> {
    let texts = [
        include_str!("../../crates/load/scenarios/heavy-2011.toml"),
        include_str!("../../crates/load/scenarios/light-2011.toml"),
        include_str!("../../crates/load/scenarios/destroyer-2013.toml"),
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}
