//! The promises of a journal. A last line without its end is incomplete and does not count. Any
//! other change makes the journal worthless, so that it allows no statement about the drive.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use base::file::open_regular;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

use super::Layout;
use super::journal::{Checksum, FORMAT, Header, unusable};
use crate::error::RunError;

/// The common beginning of the formats of all versions.
const FORMATS: &str = "ssdlab-verify-";
/// The first version; its lines have no checksums.
const FORMAT_1: &str = "ssdlab-verify-1";
/// Eight digits and a space.
const CHECKSUM_BYTES: usize = 9;
/// A first line is shorter than this, for any name of the target.
const HEADER_BYTES_MAX: u64 = 1 << 16;

/// A journal, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promises {
    /// Parameters of the run.
    pub header: Header,
    /// The last promised generation, by block.
    pub durable: BTreeMap<u64, u64>,
    /// Whether it has checksums; false for a journal of the first version, in which damage may look
    /// like a promise.
    pub has_checksums: bool,
}

/// Reason to distrust a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Flaw {
    /// It is another file.
    Foreign(String),
    /// It differs from the written one.
    Damaged { line: usize, at_byte: usize, is_last: bool },
}

impl Promises {
    /// Reads the journal at `path`.
    ///
    /// # Errors
    /// [`RunError::Usage`] if it cannot be read or is not a journal, [`RunError::Journal`] if it is
    /// damaged.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let bytes = bytes_of(path).map_err(|error| unusable(path, error))?;
        Self::parse(&bytes).map_err(|flaw| match flaw {
            Flaw::Foreign(why) => RunError::Usage(format!(
                "{} is not a journal of `ssdlab verify`: {why}",
                path.display()
            )),
            Flaw::Damaged { line, at_byte, is_last } => RunError::Journal(format!(
                "the journal {} is damaged: its line {line}, from byte {at_byte} on, is not what was written, so \
                 nothing can be said about the drive; {}",
                path.display(),
                way_out(at_byte, is_last)
            )),
        })
    }

    fn parse(bytes: &[u8]) -> Result<Self, Flaw> {
        let first_end = bytes.iter().position(|byte| *byte == b'\n');
        let first = &bytes[..first_end.unwrap_or(0)];
        let no_header = || {
            let why = if bytes.is_empty() { "it is empty" } else { "line 1 is not its header" };
            Flaw::Foreign(why.to_owned())
        };
        let damaged =
            Flaw::Damaged { line: 1, at_byte: 0, is_last: first.len() + 1 >= bytes.len() };
        let (json, has_checksums) = match json_of(&Checksum::default(), first) {
            Some(json) => (json, true),
            None => (first, false),
        };
        let Some(value) = serde_json::from_slice::<Value>(json).ok() else {
            let is_ours = contains(first, FORMATS.as_bytes());
            return Err(if is_ours { damaged } else { no_header() });
        };
        let format = value["format"].as_str().filter(|format| format.starts_with(FORMATS));
        let format = format.ok_or_else(no_header)?;
        if format != if has_checksums { FORMAT } else { FORMAT_1 } {
            let why = format!("its format is {format}; expected {FORMAT} or {FORMAT_1}");
            return Err(Flaw::Foreign(why));
        }
        let header = header(&value).ok_or(damaged)?;
        let mut promises = Self { header, durable: BTreeMap::new(), has_checksums };
        promises.take_batches(bytes)?;
        Ok(promises)
    }

    /// Adds all lines after the first.
    fn take_batches(&mut self, bytes: &[u8]) -> Result<(), Flaw> {
        let (mut checksum, mut at_byte) = (Checksum::default(), 0);
        for (line, text) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let is_last = at_byte + text.len() == bytes.len();
            let batch = match text.strip_suffix(b"\n") {
                Some(_) if line == 1 => Some(Vec::new()),
                Some(text) => self.batch(&checksum, text),
                None if self.has_checksums && is_whole(&checksum, text) => None,
                // From a write that was cut off.
                None => Some(Vec::new()),
            };
            self.durable.extend(batch.ok_or(Flaw::Damaged { line, at_byte, is_last })?);
            checksum.add(text);
            at_byte += text.len();
        }
        Ok(())
    }

    /// The blocks of one line with their generations, if it is intact.
    fn batch(&self, checksum: &Checksum, text: &[u8]) -> Option<Vec<(u64, u64)>> {
        let json = if self.has_checksums { json_of(checksum, text)? } else { text };
        let batch: Vec<(u64, u64)> = serde_json::from_slice(json).ok()?;
        let blocks = self.header.layout.blocks();
        batch.iter().all(|(block, _)| *block < blocks).then_some(batch)
    }
}

/// The content of the file; only the beginning of one that cannot be a journal, such as a whole
/// drive.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (open_regular(path)?, Vec::new());
    file.by_ref().take(HEADER_BYTES_MAX).read_to_end(&mut bytes)?;
    if contains(&bytes, FORMATS.as_bytes()) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The JSON of a line, or `None` if its checksum does not agree.
fn json_of<'a>(before: &Checksum, line: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, json) = line.split_at_checked(CHECKSUM_BYTES)?;
    (before.before(json).as_bytes() == sum).then_some(json)
}

/// Whether an unfinished line begins with a whole one: its end was then changed, and not cut off.
fn is_whole(before: &Checksum, line: &[u8]) -> bool {
    let Some(json) = line.get(CHECKSUM_BYTES..) else { return false };
    let mut values = Deserializer::from_slice(json).into_iter::<IgnoredAny>();
    let is_json = matches!(values.next(), Some(Ok(_)));
    let end = CHECKSUM_BYTES + values.byte_offset();
    is_json && end < line.len() && json_of(before, &line[..end]).is_some()
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

fn way_out(at_byte: usize, is_last: bool) -> String {
    if is_last && at_byte > 0 {
        return format!(
            "where the machine that wrote it went down, its last line may be torn: what stands before is sound, \
             and `truncate --size {at_byte}` on a copy keeps just that"
        );
    }
    "use a copy of it that is not damaged, or write anew with another --journal".to_owned()
}

fn header(value: &Value) -> Option<Header> {
    let block_bytes = u32::try_from(value["block_bytes"].as_u64()?).ok()?;
    if block_bytes < 512 || !block_bytes.is_power_of_two() {
        return None;
    }
    Some(Header {
        serial: value["serial"].as_str()?.to_owned(),
        wwid: value["wwid"].as_str().map(str::to_owned),
        seed: value["seed"].as_str()?.parse().ok()?,
        layout: Layout { span_bytes: value["span_bytes"].as_u64()?, block_bytes },
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::journal::Journal;
    use super::*;

    fn example() -> Header {
        let layout = Layout { span_bytes: 1 << 20, block_bytes: 4096 };
        Header { serial: "S1".to_owned(), wwid: Some("eui.1".to_owned()), seed: u64::MAX, layout }
    }

    const BATCHES: [&[(u64, u64)]; 3] = [&[(3, 1), (5, 2)], &[(3, 3), (255, 4)], &[(7, 5)]];

    /// The bytes of a journal with these batches.
    fn journal(header: &Header, batches: &[&[(u64, u64)]]) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = Journal::create(&path, header).unwrap();
        for batch in batches {
            journal.flushed(batch).unwrap();
        }
        fs::read(&path).unwrap()
    }

    /// A journal in the first format.
    fn journal_1(batches: &[&[(u64, u64)]]) -> String {
        let header = r#"{"block_bytes":4096,"format":"ssdlab-verify-1","seed":"18446744073709551615","serial":"S1","span_bytes":1048576}"#;
        let batches = batches.iter().map(|batch| serde_json::json!(batch).to_string());
        std::iter::once(header.to_owned()).chain(batches).map(|line| line + "\n").collect()
    }

    fn message(bytes: &[u8]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        fs::write(&path, bytes).unwrap();
        Promises::read(&path).unwrap_err().to_string()
    }

    #[test]
    fn what_was_flushed_is_read_back_the_last_version_of_each_block() {
        let read = Promises::parse(&journal(&example(), &BATCHES)).unwrap();
        let durable = BTreeMap::from([(3, 3), (5, 2), (7, 5), (255, 4)]);
        assert_eq!(read, Promises { header: example(), durable, has_checksums: true });
        let first = Promises::parse(journal_1(&BATCHES).as_bytes()).unwrap();
        let header = Header { wwid: None, ..example() };
        assert_eq!(first, Promises { header, has_checksums: false, ..read });
    }

    /// The example of `docs/reference/formats/journal.md`, written out, so that the format cannot change
    /// unnoticed.
    #[test]
    fn the_bytes_are_those_of_the_description() {
        let bytes = journal(&example(), &[&[(3, 1), (5, 2)]]);
        let expected = "98bba756 {\"block_bytes\":4096,\"format\":\"ssdlab-verify-2\",\
                        \"seed\":\"18446744073709551615\",\"serial\":\"S1\",\"span_bytes\":1048576,\"wwid\":\"eui.1\"}\n\
                        ac7d465f [[3,1],[5,2]]\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn no_flipped_bit_changes_what_is_promised() {
        let whole = journal(&example(), &BATCHES);
        let torn = [&whole[..], &whole[whole.len() - 9..whole.len() - 4]].concat();
        for bytes in [whole, torn] {
            let promises = Promises::parse(&bytes).unwrap();
            let mut refused = 0;
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                match Promises::parse(&flipped) {
                    Ok(read) => assert_eq!(read, promises, "bit {bit}"),
                    Err(_) => refused += 1,
                }
            }
            // Only the torn end is free to change.
            assert!(refused >= bytes.len() * 8 - 5 * 8, "{refused} of {}", bytes.len() * 8);
        }
    }

    #[test]
    fn a_journal_cut_off_anywhere_promises_its_whole_lines() {
        let whole = journal(&example(), &BATCHES);
        let ends: Vec<usize> = (1..=whole.len()).filter(|end| whole[end - 1] == b'\n').collect();
        for length in 0..=whole.len() {
            let lines = ends.iter().filter(|end| **end <= length).count();
            let read = Promises::parse(&whole[..length]);
            if lines == 0 {
                assert!(matches!(read, Err(Flaw::Foreign(_))), "{length} bytes: {read:?}");
            } else {
                let durable = BATCHES[..lines - 1].concat().into_iter().collect();
                assert_eq!(read.unwrap().durable, durable, "{length} bytes");
            }
        }
    }

    #[test]
    fn lines_that_are_lost_doubled_or_exchanged_are_damage() {
        let whole = journal(&example(), &BATCHES);
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        for order in [&[0, 2, 3][..], &[0, 1, 1, 2, 3], &[0, 2, 1, 3], &[0, 0, 1, 2, 3]] {
            let bytes: Vec<u8> = order.iter().flat_map(|line| lines[*line]).copied().collect();
            let line = order.iter().zip(0..).position(|(line, place)| *line != place).unwrap() + 1;
            let read = Promises::parse(&bytes).unwrap_err();
            assert!(
                matches!(read, Flaw::Damaged { line: l, .. } if l == line),
                "{order:?}: {read:?}"
            );
        }
    }

    #[test]
    fn damage_is_told_with_its_place_and_never_as_the_fault_of_the_drive() {
        let whole = journal(&example(), &BATCHES);
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        let second = lines[0].len();
        let last = whole.len() - lines[3].len();
        for (at, place, help) in [
            (12, "line 1, from byte 0 on".to_owned(), "a copy of it"),
            (second + 3, format!("line 2, from byte {second} on"), "a copy of it"),
            (last + 3, format!("line 4, from byte {last} on"), "truncate --size"),
        ] {
            let mut bytes = whole.clone();
            bytes[at] = 0xff;
            let message = message(&bytes);
            assert!(message.contains(&place) && message.contains(help), "{message}");
            assert!(message.contains("nothing can be said about the drive"), "{message}");
        }
    }

    #[test]
    fn another_file_is_not_taken_for_a_journal() {
        assert!(message(b"").contains("it is empty"));
        let device = Promises::read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(device.contains("it is a character device"), "{device}");
        for text in ["{}\n", "hello\n[[1,1]]\n", "00000000 hello\n"] {
            assert!(message(text.as_bytes()).contains("line 1 is not its header"), "{text}");
        }
        let later = journal_1(&[]).replace("verify-1", "verify-3");
        assert!(message(later.as_bytes()).contains("ssdlab-verify-3; expected"), "{later}");
        let unsummed = journal_1(&[]).replace("verify-1", "verify-2");
        assert!(message(unsummed.as_bytes()).contains("ssdlab-verify-2; expected"), "{unsummed}");
    }

    #[test]
    fn blocks_outside_the_span_were_never_written() {
        let outside: &[(u64, u64)] = &[(256, 1)];
        for bytes in [journal(&example(), &[outside]), journal_1(&[outside]).into_bytes()] {
            assert!(message(&bytes).contains("line 2"));
        }
    }
}
