//! `composite.xml`.

use quick_xml::events::Event;
use quick_xml::reader::Reader;

use super::{ResultFile, System, TestResult};

/// Elements within elements; the format has five.
const DEPTH_MAX: usize = 32;

/// Reads the elements that matter by their places in the document.
///
/// # Errors
/// If it is no XML, or not of the suite.
pub(super) fn read(text: &str) -> Result<ResultFile, String> {
    let mut reader = Reader::from_str(text);
    let (mut path, mut content, mut file) = (Vec::new(), String::new(), ResultDraft::default());
    loop {
        let event = reader.read_event();
        match event.map_err(|error| format!("expected XML of Phoronix: {error}"))? {
            Event::Start(start) => {
                path.push(start.local_name().as_ref().to_owned());
                content.clear();
                file.begin(&path)?;
            }
            Event::Text(text) => content.push_str(&text),
            Event::CData(text) => content.push_str(&text),
            Event::GeneralRef(name) => content.push_str(&entity(&name)),
            Event::End(_) => {
                file.end(&path, content.trim());
                content.clear();
                path.pop();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(file.file)
}

/// The character that an entity stands for; an unknown one stays as it is.
fn entity(name: &str) -> String {
    let plain = quick_xml::escape::resolve_predefined_entity(name).map(str::to_owned);
    let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix('x') {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    });
    let character = || number.and_then(char::from_u32).map(String::from);
    plain.or_else(character).unwrap_or_else(|| format!("&{name};"))
}

/// The file so far, with the entry that is open.
#[derive(Default)]
struct ResultDraft {
    file: ResultFile,
    entry: (String, String),
}

impl ResultDraft {
    fn begin(&mut self, path: &[String]) -> Result<(), String> {
        if path.len() > DEPTH_MAX {
            return Err(format!("more than {DEPTH_MAX} elements within each other"));
        }
        match names(path)[..] {
            ["PhoronixTestSuite"] => {}
            [other] => {
                return Err(format!(
                    "expected the element `PhoronixTestSuite`, found `{}`",
                    base::text::shortened(other)
                ));
            }
            ["PhoronixTestSuite", "System"] => self.file.systems.push(System::default()),
            ["PhoronixTestSuite", "Result"] => self.file.results.push(TestResult::default()),
            ["PhoronixTestSuite", "Result", "Data", "Entry"] => self.entry = Default::default(),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, path: &[String], content: &str) {
        let text = content.to_owned();
        let (system, result) = (self.file.systems.last_mut(), self.file.results.last_mut());
        match (names(path).get(1..).unwrap_or_default(), system, result) {
            (["Generated", "TestClient"], ..) => self.file.client = base::text::shortened(content),
            (["System", name], Some(system), _) => match *name {
                "Identifier" => system.name = text,
                "Hardware" => system.hardware = text,
                "Software" => system.software = text,
                "TimeStamp" => system.time = text,
                _ => {}
            },
            (["Result", name], _, Some(result)) => match *name {
                "Identifier" => result.test = text,
                "Title" => result.title = text,
                "AppVersion" => result.version = text,
                "Description" => result.description = text,
                "Scale" => result.scale = text,
                _ => {}
            },
            (["Result", "Data", "Entry", "Identifier"], ..) => self.entry.0 = text,
            (["Result", "Data", "Entry", "Value"], ..) => self.entry.1 = text,
            (["Result", "Data", "Entry"], _, Some(result)) => {
                result.values.push(std::mem::take(&mut self.entry));
            }
            _ => {}
        }
    }
}

fn names(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}
