//! Facts files: the published facts of a real drive, found by its model and firmware.
//!
//! ```toml
//! [match]
//! model = "Samsung SSD 840 PRO Series"
//! firmware = "DXM06B0Q"               # absent: every version
//!
//! [facts]
//! controller = { value = "Samsung MDX", from = "published: the review" }
//! ```

use base::Facts;
use base::text::shortened_words;
use serde::Deserialize;

/// Folder of a library with a facts file for each drive.
pub const FACTS_FOLDER: &str = "facts";

/// The facts of the drives of one model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactsFile {
    /// The drives that the facts are about.
    #[serde(rename = "match")]
    pub drives: Drives,
    pub facts: Facts,
}

/// A model, or one firmware version of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drives {
    /// The model as the drive reports it.
    pub model: String,
    /// The firmware version; absent: every version.
    pub firmware: Option<String>,
}

impl FactsFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// The fault in words: key, value and rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: Self =
            toml::from_str(text).map_err(|error| shortened_words(error.to_string().trim_end()))?;
        file.facts.check().map_err(|fault| {
            format!("`facts.{}` is {}, but {}", fault.key, fault.value, fault.rule)
        })?;
        Ok(file)
    }

    /// Whether the facts are about this drive.
    pub fn is_about(&self, model: &str, firmware: Option<&str>) -> bool {
        let Drives { model: about, firmware: version } = &self.drives;
        about == model && version.as_deref().is_none_or(|version| firmware == Some(version))
    }

    /// The file about this drive among several, or `None` if there is none. A file for its firmware version goes
    /// before one for every version.
    pub fn about<'a>(
        files: impl IntoIterator<Item = &'a Self>,
        model: &str,
        firmware: Option<&str>,
    ) -> Option<&'a Self> {
        let matching = files.into_iter().filter(|file| file.is_about(model, firmware));
        matching.min_by_key(|file| file.drives.firmware.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(head: &str) -> FactsFile {
        let facts = "[facts]\nfamily = { value = 'F', from = 'published: test' }";
        FactsFile::parse(&format!("[match]\n{head}\n{facts}")).unwrap()
    }

    #[test]
    fn a_file_for_the_firmware_goes_before_one_for_the_model() {
        let files = [
            file("model = 'other'"),
            file("model = 'A'"),
            file("model = 'A'\nfirmware = '2'"),
            file("model = 'A'\nfirmware = '3'"),
        ];
        let found = |model, firmware| {
            let found = FactsFile::about(&files, model, firmware);
            found.map(|found| files.iter().position(|file| file == found).unwrap())
        };
        assert_eq!(found("A", Some("2")), Some(2));
        assert_eq!(found("A", Some("4")), Some(1));
        assert_eq!(found("A", None), Some(1));
        assert_eq!(found("B", Some("2")), None);
    }

    #[test]
    fn faults_are_told_with_the_key_and_the_rule() {
        let refusal = |text: &str| FactsFile::parse(text).unwrap_err();
        let from = |from: &str| {
            format!("match = {{ model = 'A' }}\nfacts.dram = {{ value = '1 GB', from = '{from}' }}")
        };
        assert!(FactsFile::parse(&from("published: test")).is_ok());
        let unsure = refusal(&from("a friend"));
        assert!(unsure.contains("`facts.dram.from` is `a friend`, but it must begin"), "{unsure}");
        assert!(refusal("facts.dram = 3").contains("dram"));
        assert!(refusal("match.model = 'A'").contains("facts"));
        assert!(refusal("match.modle = 'A'\nfacts = {}").contains("modle"));
    }

    #[test]
    fn hostile_files_are_refused_in_a_short_message() {
        let rated = |value: &str| {
            format!(
                "match.model = 'A'\nfacts.rated.random_read_iops = {{ value = {value}, from = 'rated: x' }}"
            )
        };
        for value in ["nan", "inf", "-inf", "1e308", "-1", "18446744073709551616", "'many'", "[1]"]
        {
            let refused = FactsFile::parse(&rated(value)).unwrap_err();
            assert!(refused.contains("random_read_iops"), "{value}: {refused}");
        }
        assert!(FactsFile::parse(&rated("100000")).is_ok());
        let long = "x".repeat(1 << 20);
        for text in [
            String::new(),
            "\u{feff}".repeat(1_000),
            "[".repeat(100_000),
            format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000)),
            format!("{long} = 1"),
            format!("match.model = '{long}'\nfacts.dram = {{ value = '{long}', from = '{long}' }}"),
            format!("match.model = 'A'\nfacts.{long} = 1"),
            "match.model = 'A'\n".repeat(1_000),
            format!("match.model = 'A'\n{}", "facts = {}\n".repeat(2)),
        ] {
            let refused = FactsFile::parse(&text).unwrap_err();
            assert!(refused.len() < 4_000, "{} bytes: {}", text.len(), &refused[..200]);
        }
    }
}
