//! Results of other programs: whatever the file holds, it becomes a run that can be read and drawn, or a message.

use std::fs;
use std::path::PathBuf;

use result::import::{Call, ImportError, Sheet, cdm, fio, phoronix, write};
use result::report::build;
use result::store::RunDir;

type Read = fn(&[PathBuf]) -> Result<Vec<Sheet>, ImportError>;

/// The name of a file and its reader; the first byte of an input chooses.
const READERS: [(&str, Read); 9] = [
    ("job.json", read_fio),
    ("x_bw.1.log", read_fio),
    ("x_iops.1.log", read_fio),
    ("x_lat.1.log", read_fio),
    ("x_clat_hist.1.log", read_fio),
    ("composite.xml", phoronix::read),
    ("result.json", phoronix::read),
    ("cdm.txt", cdm::read),
    ("w_iops.1.log", read_fio),
];

fn read_fio(paths: &[PathBuf]) -> Result<Vec<Sheet>, ImportError> {
    fio::read(paths, &[])
}

/// A sound job of random writes: the last reader has the log of it.
const JOB: &str = r#"{"fio version": "fio-3.36", "global options": {}, "jobs": [{"jobname": "w", "job options":
    {"rw": "randwrite", "bs": "4k"}, "write": {"iops": 5.5, "total_ios": 9, "runtime": 2000}}]}"#;

pub(crate) fn read(data: &[u8]) {
    let Some((&choice, content)) = data.split_first() else { return };
    let (name, read) = READERS[usize::from(choice) % READERS.len()];
    let place = tempfile::tempdir().expect("a place for files");
    let path = place.path().join(name);
    fs::write(&path, content).expect("room for a file");
    let mut paths = vec![path];
    if name.starts_with("w_") {
        paths.push(place.path().join("w.json"));
        fs::write(&paths[1], JOB).expect("room for a file");
    }
    let Ok(sheets) = read(&paths) else { return };
    let library = place.path().join("library");
    for sheet in sheets.into_iter().take(3) {
        let sheet = Sheet { drive: Some("drive".to_owned()), ..sheet };
        let Ok(dir) = write(&library, sheet, &Call::default()) else { continue };
        let dir = RunDir::open(&dir).expect("what was written can be read");
        let page = build("title", &[dir]).expect("the page of a sound run");
        let _ = serde_json::to_vec(&page).expect("a document");
    }
}

/// Sound files, each behind the byte that chooses its reader.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let histogram =
        format!("1000, 1, 4096{}\n2000, 0, 4096{}\n", ", 3".repeat(1856), ", 0".repeat(1856));
    let samples: [(u8, &[u8]); 10] = [
        (0, include_bytes!("../../crates/result/tests/import/fio-3.28.json")),
        (0, include_bytes!("../../crates/result/tests/import/fio-3.42.json")),
        (0, JOB.as_bytes()),
        (1, b"1000, 43384, 0, 4096, 0, 0\n2000, 43224, 1, 4096, 0, 0\n"),
        (2, b"500, 10846, 0, 0, 0, 0\n1000, 10806, 1, 0, 0, 0\n9000, 5, 1, 0, 0, 0\n"),
        (3, b"0, 21933, 0, 4096, 61440, 0x0000, 140197\n1700, 138059, 1, 4096, 53248, 0x0000, 443948\n"),
        (4, histogram.as_bytes()),
        (5, b"<PhoronixTestSuite><System><Identifier>a</Identifier><Hardware>Disk: x &amp; y</Hardware></System><Result>\
              <Identifier>pts/fio-2.1.0</Identifier><Scale>IOPS</Scale><Data><Entry><Identifier>a</Identifier><Value>9</Value>\
              </Entry></Data></Result></PhoronixTestSuite>"),
        (6, br#"{"systems": {"a": {"hardware": {"Disk": "x"}}}, "results": {"h": {"scale": "MB/s", "results": {"a": {"value": 1.5}}}}}"#),
        (7, b"CrystalDiskMark 8.0.4 x64\n[Mix] Read 70%/Write 30%\n SEQ 1MiB (Q= 8, T= 1): 5.1 MB/s [ 4.9 IOPS] < 3.2 us>\n"),
    ];
    let logs =
        (1..=15).map(|second| format!("{}, 500, 1, 0, 0\n", second * 1000)).collect::<String>();
    let load = (8, logs.into_bytes());
    let all = samples.iter().map(|(choice, bytes)| (*choice, bytes.to_vec())).chain([load]);
    all.map(|(choice, bytes)| [vec![choice], bytes].concat()).collect()
}
