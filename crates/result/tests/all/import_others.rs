//! Results of Phoronix and `CrystalDiskMark`, from small files in their formats.

use std::fs;
use std::path::PathBuf;

use result::import::{Call, ImportError, Sheet, cdm, name_drives, phoronix, write};
use result::store::RunDir;

fn read(
    reader: fn(&[PathBuf]) -> Result<Vec<Sheet>, ImportError>,
    name: &str,
    text: &str,
) -> Result<Vec<Sheet>, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    reader(&[path]).map_err(|error| error.to_string())
}

const COMPOSITE: &str = r#"<?xml version="1.0"?>
<PhoronixTestSuite>
  <Generated><Title>two disks</Title><TestClient>Phoronix Test Suite v10.8.4</TestClient></Generated>
  <System>
    <Identifier>box A</Identifier>
    <Hardware>Processor: CPU (8 Cores), Disk: 500GB ACME &amp; Sons SSD, Graphics: none</Hardware>
    <Software>OS: Debian 12</Software>
  </System>
  <System><Identifier>box B</Identifier></System>
  <Result>
    <Identifier>pts/fio-2.1.0</Identifier><Title>Flexible IO Tester</Title><AppVersion>3.35</AppVersion>
    <Description>Type: Random Read - Block Size: 4KB</Description><Scale>IOPS</Scale>
    <Data>
      <Entry><Identifier>box A</Identifier><Value>91400</Value><RawString>91400:91300</RawString></Entry>
      <Entry><Identifier>box B</Identifier><Value></Value></Entry>
    </Data>
  </Result>
  <Result>
    <Identifier>pts/fio-2.1.0</Identifier><Title>Flexible IO Tester</Title>
    <Description>Type: Random Read - Block Size: 4KB</Description><Scale>MB/s</Scale>
    <Data><Entry><Identifier>box A</Identifier><Value>357</Value></Entry></Data>
  </Result>
  <Result>
    <Identifier>pts/sqlite-2.1.0</Identifier><Title>SQLite</Title><Scale>Seconds</Scale>
    <Data><Entry><Identifier>box B</Identifier><Value>12.5</Value></Entry></Data>
  </Result>
</PhoronixTestSuite>"#;

#[test]
fn each_system_of_a_result_file_is_a_run() {
    let sheets = read(phoronix::read, "composite.xml", COMPOSITE).unwrap();
    let drives: Vec<_> = sheets.iter().map(|sheet| sheet.drive.clone().unwrap()).collect();
    assert_eq!(drives, ["500GB ACME & Sons SSD", "box B"]);
    let library = tempfile::tempdir().unwrap();
    let dirs =
        sheets.into_iter().map(|sheet| write(library.path(), sheet, &Call::default()).unwrap());
    let runs: Vec<_> = dirs.map(|dir| RunDir::open(&dir).unwrap()).collect();
    let run = runs[0].run();
    let name = "imported.fio_Type_Random_Read_-_Block_Size_4KB.iops";
    assert_eq!(run.metrics.get(name), Some(&Some(91_400.0)), "{:?}", run.metrics);
    assert_eq!(run.origin.as_ref().unwrap().tool, "Phoronix Test Suite v10.8.4");
    assert!(run.warnings.iter().any(|text| text.contains("MiB/s")));
    let rates = run.tables.iter().find(|table| table.name == "values_MB_s").unwrap();
    assert_eq!(rates.rows[0].values, [Some(357.0)]);
    // 91,400 commands of 4 KiB a second are 357 MiB/s.
    let name = "imported.fio_Type_Random_Read_-_Block_Size_4KB_2.mb_per_s";
    assert_eq!(run.metrics.get(name), Some(&Some(357.0 * 1.048_576)), "{:?}", run.metrics);
    assert_eq!(runs[1].run().tables[0].rows[0].values, [Some(12.5)]);
}

#[test]
fn the_json_of_a_result_file_says_the_same() {
    let json = r#"{"title": "t", "systems": {"box A": {"identifier": "box A",
        "hardware": {"Disk": "500GB ACME SSD"}, "software": []}},
        "results": {"abc": {"identifier": "pts/fio-2.1.0", "title": "F", "description": "Random Read",
        "scale": "IOPS", "results": {"box A": {"value": 91400.5, "raw_values": [1]}}}}}"#;
    let [sheet] = &read(phoronix::read, "r.json", json).unwrap()[..] else { panic!("one system") };
    assert_eq!(sheet.drive.as_deref(), Some("500GB ACME SSD"));
    assert_eq!(sheet.steps[0].metrics["fio_Random_Read.iops"], Some(91_400.5));
}

#[test]
fn entities_of_hostile_xml_are_neither_expanded_nor_fetched() {
    let mut bomb = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a0 \"aaaaaaaaaa\">".to_owned();
    for level in 1..40 {
        let before = format!("&a{};", level - 1).repeat(10);
        bomb += &format!("<!ENTITY a{level} \"{before}\">");
    }
    bomb += "<!ENTITY file SYSTEM \"file:///etc/hostname\"><!ENTITY far SYSTEM \"http://127.0.0.1:9/x\">]>";
    let body = COMPOSITE.split_once("?>").unwrap().1.replace("box B", "&a39;&file;&far;");
    let sheets = read(phoronix::read, "composite.xml", &(bomb + &body)).unwrap();
    assert_eq!(sheets[1].drive.as_deref(), Some("&a39;&file;&far;"));
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let deep = format!("<PhoronixTestSuite>{}", "<a>".repeat(50_000));
    for (text, words) in [
        ("", "no value of any test"),
        ("<html></html>", "expected the element `PhoronixTestSuite`, found `html`"),
        ("<PhoronixTestSuite><a></b>", "expected XML"),
        (deep.as_str(), "elements within each other"),
        ("{}", "expected JSON of Phoronix"),
        ("{\"results\": []}", "no value of any test"),
    ] {
        let error = read(phoronix::read, "x", text).unwrap_err();
        assert!(error.contains(words), "{text:.60}: {error}");
    }
}

#[test]
fn crystal_disk_mark_becomes_a_run_with_a_name() {
    let text = "CrystalDiskMark 8.0.4 x64\n[Read]\n RND 4KiB (Q= 32, T=16): 4094.649 MB/s [ 999670.2 IOPS] < 494.56 us>\n";
    let mut sheets = read(cdm::read, "cdm.txt", text).unwrap();
    let library = tempfile::tempdir().unwrap();
    let sheet = sheets.pop().unwrap();
    let error = write(library.path(), sheet.clone(), &Call::default()).unwrap_err().to_string();
    assert!(error.contains("--drive NAME"), "{error}");
    let mut sheets = [sheet];
    name_drives(&mut sheets, &["ACME".to_owned()]).unwrap();
    let [sheet] = sheets;
    let run = RunDir::open(&write(library.path(), sheet, &Call::default()).unwrap())
        .unwrap()
        .run()
        .clone();
    assert_eq!(run.metrics["imported.randread_4KiB_qd32_jobs16.iops"], Some(999_670.2));
    assert_eq!(run.origin.unwrap().tool, "CrystalDiskMark 8.0.4");
}
