//! The parameters in a file of MQSim: elements with a text, in elements with a name.

use quick_xml::events::Event;
use quick_xml::reader::Reader;

/// Elements within elements; the formats have four.
const DEPTH_MAX: usize = 16;

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) value: String,
    is_taken: bool,
}

/// Parameters, each of which is taken once.
#[derive(Debug, Default)]
pub(super) struct Parameters(Vec<Parameter>);

impl Parameters {
    /// The text of a parameter, or `None` if the file does not give it.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let found = self.0.iter_mut().find(|parameter| parameter.name == name)?;
        found.is_taken = true;
        Some(found.value.clone())
    }

    /// A number within limits.
    ///
    /// # Errors
    /// If it is absent or none.
    pub(super) fn number(&mut self, name: &str, most: f64) -> Result<f64, String> {
        let text = self.text(name).ok_or_else(|| format!("it has no {name}"))?;
        let number = text.parse().ok().filter(|number| (0.0..=most).contains(number));
        number.ok_or_else(|| {
            let text = base::text::shortened(&text);
            format!("{name} is `{text}`, expected a number from 0 to {most}")
        })
    }

    /// A whole number of at most 2^32.
    ///
    /// # Errors
    /// As [`Self::number`].
    pub(super) fn whole(&mut self, name: &str) -> Result<u64, String> {
        let number = self.number(name, (1_u64 << 32) as f64)?;
        if number.fract() == 0.0 {
            Ok(number as u64)
        } else {
            Err(format!("{name} is `{number}`, expected a whole number"))
        }
    }

    /// Those that nobody took.
    pub(super) fn left(&self) -> impl Iterator<Item = &Parameter> {
        self.0.iter().filter(|parameter| !parameter.is_taken)
    }
}

/// An element that holds others, with the parameters in it.
pub(super) struct Section {
    /// Its name.
    pub(super) name: String,
    pub(super) parameters: Parameters,
}

/// The sections of a file, in their order; the first is its root.
///
/// # Errors
/// If it is no XML, is cut off, or has elements too deep within each other.
pub(super) fn sections(text: &str) -> Result<Vec<Section>, String> {
    let mut reader = Reader::from_str(text);
    let mut sections: Vec<Section> = Vec::new();
    // The open elements, each with its place among the sections once it holds another one.
    let mut open: Vec<(String, Option<usize>)> = Vec::new();
    let mut content = String::new();
    loop {
        match reader.read_event().map_err(|error| format!("it is no XML: {error}"))? {
            Event::Start(start) => {
                if open.len() == DEPTH_MAX {
                    return Err(format!("more than {DEPTH_MAX} elements within each other"));
                }
                let name = start.local_name().as_ref().to_owned();
                if let Some((name, section)) = open.last_mut()
                    && section.is_none()
                {
                    *section = Some(sections.len());
                    let (name, parameters) = (name.clone(), Parameters::default());
                    sections.push(Section { name, parameters });
                }
                open.push((name, None));
                content.clear();
            }
            Event::Text(text) => content.push_str(&text),
            Event::GeneralRef(name) => {
                let name = base::text::shortened(&name);
                return Err(format!("it has the entity `&{name};`, and no parameter needs one"));
            }
            Event::DocType(_) => return Err("it defines a document type of its own".to_owned()),
            Event::End(_) => {
                let closed = open.pop();
                if let Some((name, None)) = closed {
                    let holder = open.last().and_then(|(_, section)| *section);
                    let value = content.trim().to_owned();
                    if let Some(section) = holder.and_then(|place| sections.get_mut(place)) {
                        section.parameters.0.push(Parameter { name, value, is_taken: false });
                    }
                }
                content.clear();
            }
            Event::Eof if open.is_empty() => return Ok(sections),
            Event::Eof => return Err("it is cut off".to_owned()),
            _ => {}
        }
    }
}
