//! Host profiles: TOML files with a source for every value, like drive models.

use std::num::NonZero;

use base::text::{shortened, shortened_words};
use serde::Deserialize;
use toml::Table;

use super::schema::{HOUR_NS, TB_PER_S};
use super::{ModelError, Sourced, toml_file};
use crate::host::system::HostSystem;

/// A host as its file describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostProfile {
    /// Name for people.
    pub name: String,
    /// Processor time to submit a command.
    pub submit_ns: Sourced<u64>,
    /// Least time between two commands that pass the port.
    pub port_ns: Sourced<u64>,
    /// Time from the report of the drive to the program.
    pub complete_ns: Sourced<u64>,
    /// Most outstanding commands in the operating system.
    pub queue_depth: Sourced<u32>,
    /// Rate at which the program makes the data of a write beyond its first 4 KiB, or `None` if that takes no time.
    pub data_bytes_per_s: Option<Sourced<u64>>,
}

/// The word for no host: commands reach the drive at once.
pub const NO_HOST: &str = "none";

/// The host profiles in ssdlab: name and text.
pub const HOSTS: [(&str, &str); 5] = [
    ("sata-2012", include_str!("../../hosts/sata-2012.toml")),
    ("sata-2012-file", include_str!("../../hosts/sata-2012-file.toml")),
    ("sata-hba-2020", include_str!("../../hosts/sata-hba-2020.toml")),
    ("nvme-2024", include_str!("../../hosts/nvme-2024.toml")),
    ("nvme-2024-checksums", include_str!("../../hosts/nvme-2024-checksums.toml")),
];

/// The text of a built-in profile, or `None` if there is none of this name.
pub fn built_in_host(name: &str) -> Option<&'static str> {
    HOSTS.iter().find(|(built_in, _)| *built_in == name).map(|(_, text)| *text)
}

impl HostProfile {
    /// Reads a profile. `name` is for messages.
    ///
    /// # Errors
    /// [`ModelError::Host`] with the key, the value and the rule.
    pub fn load(name: &str, text: &str) -> Result<Self, ModelError> {
        let fail = |message: String| ModelError::Host {
            name: shortened(name),
            message: shortened_words(message.trim_end()),
        };
        let profile: Self = toml::from_str(text).map_err(|error| fail(error.to_string()))?;
        let table: Table = toml::from_str(text).map_err(|error| fail(error.to_string()))?;
        toml_file::check_provenance(name, &table, "").map_err(|error| match error {
            ModelError::Value { key, value, rule, .. } => {
                fail(format!("`{key}` is {value}, but {rule}"))
            }
            other => other,
        })?;
        profile.check().map_err(fail)?;
        Ok(profile)
    }

    /// This profile with another time under `key`, which its name tells from then on.
    ///
    /// # Errors
    /// [`ModelError::Host`] for a key that is no time of a host, and for a value out of its range.
    pub fn with(mut self, key: &str, text: &str) -> Result<Self, ModelError> {
        let name = self.name.clone();
        let fail = |message: String| ModelError::Host { name, message: shortened_words(&message) };
        let time = match key {
            "submit_ns" => &mut self.submit_ns,
            "port_ns" => &mut self.port_ns,
            "complete_ns" => &mut self.complete_ns,
            _ => {
                let key = shortened(key);
                return Err(fail(format!(
                    "`{key}` is no time of a host; expected submit_ns, port_ns or complete_ns"
                )));
            }
        };
        let Ok(value) = text.replace('_', "").parse() else {
            let text = shortened(text);
            return Err(fail(format!("`{key}` is `{text}`; expected a whole number")));
        };
        *time = Sourced { value, from: "override: command line".to_owned() };
        self.name = format!("{} [{key}={value}]", self.name);
        self.check().map(|()| self).map_err(fail)
    }

    fn check(&self) -> Result<(), String> {
        let data_bytes_per_s = self.data_bytes_per_s.as_ref().map_or(TB_PER_S, |rate| rate.value);
        for (key, value, min, max) in [
            ("submit_ns", self.submit_ns.value, 0, HOUR_NS),
            ("port_ns", self.port_ns.value, 0, HOUR_NS),
            ("complete_ns", self.complete_ns.value, 0, HOUR_NS),
            ("queue_depth", self.queue_depth.value.into(), 1, 65_536),
            ("data_bytes_per_s", data_bytes_per_s, 1_000_000, TB_PER_S),
        ] {
            if !(min..=max).contains(&value) {
                return Err(format!("`{key}` is {value}, but it must lie between {min} and {max}"));
            }
        }
        Ok(())
    }

    /// The integers of the simulation.
    pub fn system(&self) -> HostSystem {
        HostSystem {
            submit_ns: self.submit_ns.value,
            port_ns: self.port_ns.value,
            complete_ns: self.complete_ns.value,
            queue_depth: self.queue_depth.value,
            data_bytes_per_s: self
                .data_bytes_per_s
                .as_ref()
                .and_then(|rate| NonZero::new(rate.value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_host_is_sound() {
        for (name, text) in HOSTS {
            HostProfile::load(name, text).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn a_changed_time_is_in_the_name_of_a_profile_and_within_its_range() {
        let (name, text) = HOSTS[0];
        let with = |key, value| HostProfile::load(name, text).expect("sound").with(key, value);
        let changed = with("complete_ns", "40_000").expect("a time");
        assert_eq!(changed.system().complete_ns, 40_000);
        assert!(changed.name.ends_with("[complete_ns=40000]"), "{}", changed.name);
        for (key, value, words) in [
            ("queue_depth", "3", "is no time of a host"),
            ("port_ns", "fast", "expected a whole number"),
            ("submit_ns", "9000000000000000", "must lie between 0 and"),
        ] {
            let message = with(key, value).expect_err(key).to_string();
            assert!(message.contains(words) && message.contains(key), "{message}");
        }
    }

    #[test]
    fn a_profile_is_refused_with_key_value_and_rule() {
        let (name, text) = HOSTS[0];
        let refusal = |from: &str, to: &str| {
            let spoiled = text.replacen(from, to, 1);
            assert_ne!(spoiled, text, "{from} is in the file");
            HostProfile::load(name, &spoiled).expect_err(to).to_string()
        };
        let deep = refusal("queue_depth = { value = 32", "queue_depth = { value = 70_000");
        assert!(deep.contains("`queue_depth` is 70000, but it must lie between 1 and"), "{deep}");
        assert!(deep.contains(name), "{deep}");
        let source = refusal("from = \"assumed:", "from = \"guess:");
        assert!(source.contains("must begin with one of published:"), "{source}");
        assert!(refusal("port_ns", "prot_ns").contains("prot_ns"));
    }
}
