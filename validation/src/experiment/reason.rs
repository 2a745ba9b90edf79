//! Reasons why figures of models are beyond the bounds: `drives/reasons/measured.toml`.
//!
//! ```toml
//! [[reason]]
//! drives = ["samsung-pm9a3-960gb"]    # none: all
//! quantities = ["zone streams"]
//! overload = true                     # only rows of overload; absent: all others
//! why = "The mechanism that the models lack."
//!
//! [[left_out]]
//! what = "latencies of another host"
//! why = "The reason."
//! ```

use serde::Deserialize;

use super::Fact;

/// A mechanism that the models lack, and the figures that need it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// Drive models; all if there is none.
    #[serde(default)]
    drives: Vec<String>,
    /// Names of quantities.
    quantities: Vec<String>,
    /// Whether it is about rows of overload.
    #[serde(default)]
    overload: bool,
    /// The mechanism, in one sentence or two.
    pub why: String,
}

/// Measurements that no model repeats.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The measurements.
    pub what: String,
    /// The reason, in one sentence or two.
    pub why: String,
}

/// The content of the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasons {
    /// Why figures are beyond their bounds.
    #[serde(default)]
    pub reason: Vec<Reason>,
    /// Why there are no figures.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// Reads the text of the file.
///
/// # Errors
/// The message of the parser, or the quantity that nobody knows.
pub fn reasons(text: &str) -> Result<Reasons, String> {
    let all: Reasons = toml::from_str(text).map_err(|error| error.to_string())?;
    let is_known = |name: &&String| super::Quantity::ALL.iter().any(|known| known.name() == **name);
    let mut quantities = all.reason.iter().flat_map(|one| &one.quantities);
    match quantities.find(|name| !is_known(name)) {
        Some(name) => Err(format!("drives/reasons/measured.toml: no quantity is called `{name}`")),
        None => Ok(all),
    }
}

impl Reason {
    /// Whether it is about this figure.
    pub fn is_about(&self, fact: &Fact) -> bool {
        let has = |names: &[String], name: &str| names.iter().any(|known| known == name);
        self.overload == fact.is_overload()
            && (self.drives.is_empty() || has(&self.drives, &fact.drive))
            && has(&self.quantities, fact.quantity.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_about_its_drives_and_quantities() {
        let text = "[[reason]]\ndrives = ['a']\nquantities = ['zone streams']\nwhy = 'x'\n\
                    [[reason]]\nquantities = ['WAF']\nwhy = 'y'\n";
        let reasons = reasons(text).unwrap().reason;
        let about = |line: &str| {
            let fact: Fact = line.parse().unwrap();
            reasons.iter().position(|reason| reason.is_about(&fact))
        };
        assert_eq!(about("a,zone streams,4 zones of 8 GiB,974,MB/s,,predicted,x"), Some(0));
        assert_eq!(about("b,zone streams,4 zones of 8 GiB,974,MB/s,,predicted,x"), None);
        assert_eq!(about("b,WAF,373 GiB,1.1,,,predicted,x"), Some(1));
        let overload =
            "[[reason]]\nquantities = ['read under load p50']\noverload = true\nwhy = 'z'\n";
        let reason = &super::reasons(overload).unwrap().reason[0];
        let at =
            |at: &str| format!("b,read under load p50,{at},1,us,,predicted,x").parse().unwrap();
        assert!(reason.is_about(&at("9 IOPS (overload)")) && !reason.is_about(&at("9 IOPS")));
        let unknown = text.replace("WAF", "mood");
        assert!(super::reasons(&unknown).unwrap_err().contains("`mood`"));
    }
}
