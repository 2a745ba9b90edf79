//! Published facts about a drive, real or simulated, each with its source.
//!
//! One table lists the facts. Readers, lists and pages iterate it, so a new fact takes a line here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::{grouped, shortened};

/// Beginnings of a source, which say how certain a value is.
pub const CERTAINTIES: [&str; 6] =
    ["published:", "rated:", "measured:", "derived:", "fitted:", "assumed:"];

/// A value with its provenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "{T}Fact")]
pub struct Sourced<T> {
    /// The value as it is used, in the unit of its field.
    pub value: T,
    /// Certainty and source of the value.
    pub from: String,
}

/// Whether the words for an interface mean NVMe, which PCIe carries.
pub fn is_nvme(interface: &str) -> bool {
    let interface = interface.to_ascii_lowercase();
    interface.contains("nvme") || interface.contains("pcie")
}

/// A rated figure with its conditions and its provenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RatedFigure {
    /// The value, in the unit that the key ends with.
    pub value: u64,
    /// Conditions of the vendor, e.g. `128 KiB, QD 32`; absent if nobody published them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<String>,
    /// Certainty and source of the value.
    pub from: String,
}

/// A price on a date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Hundredths of the currency.
    pub amount_cents: u64,
    /// The currency in three letters, e.g. `USD`.
    pub currency: String,
    /// Year, month and perhaps day, e.g. `2013-06`.
    pub date: String,
    /// Certainty and source of the price.
    pub from: String,
}

/// Kind of NAND by the bits in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum NandType {
    /// One bit.
    Slc,
    /// Two bits.
    Mlc,
    /// Three bits.
    Tlc,
    /// Four bits.
    Qlc,
}

/// Kind of host that a drive is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Use {
    /// A computer of one person.
    #[serde(rename = "client")]
    Client,
    /// A server that works at all hours.
    #[serde(rename = "data centre")]
    DataCentre,
}

/// The value of a fact of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactValue<'a> {
    /// Words.
    Text(&'a str),
    /// A whole number, in the unit of its fact.
    Number(u64),
    /// An amount in hundredths of the unit of its fact.
    Hundredths(u64),
}

/// A fact of a drive, as lists show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<'a> {
    /// Dotted name of the value.
    pub key: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// The value, with its type.
    pub value: FactValue<'a>,
    /// Unit of the value; empty if it has none.
    pub unit: &'a str,
    /// Conditions or date of the value, or `None` if it has none.
    pub conditions: Option<&'a str>,
    /// Certainty and source.
    pub from: &'a str,
}

/// The description of a fact.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FactColumn {
    /// Dotted name of the value.
    pub key: &'static str,
    /// Name for people.
    pub label: &'static str,
    /// Unit of the value; empty if it has none or says it itself.
    pub unit: &'static str,
    #[serde(skip)]
    get: for<'a> fn(&'a Facts, &Self) -> Option<Fact<'a>>,
}

/// A rule that a fact breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactFault {
    /// Dotted name of the value.
    pub key: String,
    /// The refused value as text.
    pub value: String,
    /// The rule, e.g. `it must be a word`.
    pub rule: String,
}

/// The type of a value in the table of facts.
trait Shown {
    fn shown(&self) -> FactValue<'_>;
}

impl Shown for String {
    fn shown(&self) -> FactValue<'_> {
        FactValue::Text(self)
    }
}

impl Shown for u64 {
    fn shown(&self) -> FactValue<'_> {
        FactValue::Number(*self)
    }
}

impl Shown for NandType {
    fn shown(&self) -> FactValue<'_> {
        FactValue::Text(self.name())
    }
}

impl Shown for Use {
    fn shown(&self) -> FactValue<'_> {
        FactValue::Text(match self {
            Self::Client => "client",
            Self::DataCentre => "data centre",
        })
    }
}

impl NandType {
    /// The word of the field.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slc => "SLC",
            Self::Mlc => "MLC",
            Self::Tlc => "TLC",
            Self::Qlc => "QLC",
        }
    }
}

/// The name of a field without the mark of a name that is also a word of Rust.
const fn plain(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

macro_rules! fact_table {
    (
        general { $($(#[doc = $doc:literal])+ $name:ident: $kind:ty, $label:literal, $unit:literal;)+ }
        rated { $($(#[doc = $rated_doc:literal])+ $rated:ident: $rated_label:literal, $rated_unit:literal;)+ }
    ) => {
        /// Published facts about a drive. Each of them may be absent.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Facts {
            $($(#[doc = $doc])+
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $name: Option<Sourced<$kind>>,)+
            /// Figures that the vendor rates the drive at.
            #[serde(default, skip_serializing_if = "Rated::is_empty")]
            pub rated: Rated,
            /// Price on a date; absent if unknown.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub price: Option<Price>,
        }

        /// Figures that the vendor rates a drive at. Each of them may be absent.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Rated {
            $($(#[doc = $rated_doc])+
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $rated: Option<RatedFigure>,)+
        }

        impl Facts {
            /// Every fact, in the order of lists.
            pub const COLUMNS: &'static [FactColumn] = &[
                $(FactColumn {
                    key: plain(stringify!($name)),
                    label: $label,
                    unit: $unit,
                    get: |facts, column| {
                        facts.$name.as_ref().map(|fact| Fact::of(column, fact.value.shown(), &fact.from))
                    },
                },)+
                $(FactColumn {
                    key: concat!("rated.", stringify!($rated)),
                    label: $rated_label,
                    unit: $rated_unit,
                    get: |facts, column| facts.rated.$rated.as_ref().map(|fact| fact.of(column)),
                },)+
                FactColumn {
                    key: "price",
                    label: "Price",
                    unit: "",
                    get: |facts, column| facts.price.as_ref().map(|price| price.of(column)),
                },
            ];
        }
    };
}

fact_table! {
    general {
        /// The drives that differ from this one in capacity alone.
        family: String, "Family", "";
        /// Kind of host that it is made for.
        r#use: Use, "Use", "";
        /// Date of its release, e.g. `2013-06`.
        released: String, "Released", "";
        /// Version of its firmware.
        firmware: String, "Firmware", "";
        /// Controller.
        controller: String, "Controller", "";
        /// Vendor and kind of the NAND.
        nand: String, "NAND", "";
        /// Bits in a cell.
        nand_type: NandType, "NAND type", "";
        /// Node or number of layers, e.g. `19 nm`.
        nand_node: String, "NAND node", "";
        /// Number of NAND packages.
        packages: u64, "NAND packages", "";
        /// Number of dies in all packages.
        dies: u64, "NAND dies", "";
        /// DRAM, e.g. `512 MB DDR3`.
        dram: String, "DRAM", "";
        /// Interface, e.g. `SATA 6 Gb/s`.
        interface: String, "Interface", "";
        /// Form factor, e.g. `2.5 in, 7 mm`.
        form_factor: String, "Form factor", "";
        /// Encryption, e.g. `AES-256, TCG Opal 2.0`.
        encryption: String, "Encryption", "";
        /// Host writes that the warranty covers, in TB.
        endurance_tb: u64, "Endurance", "TB";
        /// Warranty in years.
        warranty_years: u64, "Warranty", "years";
    }
    rated {
        /// Sequential reads in MB/s.
        sequential_read_mb_per_s: "Rated sequential read", "MB/s";
        /// Sequential writes in MB/s.
        sequential_write_mb_per_s: "Rated sequential write", "MB/s";
        /// Random reads of 4 KiB per second.
        random_read_iops: "Rated random read", "IOPS";
        /// Random writes of 4 KiB per second.
        random_write_iops: "Rated random write", "IOPS";
        /// Latency of a read in ns.
        read_latency_ns: "Rated read latency", "ns";
        /// Latency of a write in ns.
        write_latency_ns: "Rated write latency", "ns";
        /// Power at work in mW.
        active_mw: "Rated power, active", "mW";
        /// Power at rest in mW.
        idle_mw: "Rated power, idle", "mW";
    }
}

impl<'a> Fact<'a> {
    fn of(column: &FactColumn, value: FactValue<'a>, from: &'a str) -> Self {
        let &FactColumn { key, label, unit, .. } = column;
        Self { key, label, value, unit, conditions: None, from }
    }

    /// The value with its unit: `95,000 IOPS`.
    pub fn text(&self) -> String {
        let value = match self.value {
            FactValue::Text(text) => text.to_owned(),
            FactValue::Number(number) => grouped(&number.to_string()),
            FactValue::Hundredths(number) => {
                format!("{}.{:02}", grouped(&(number / 100).to_string()), number % 100)
            }
        };
        if self.unit.is_empty() { value } else { format!("{value} {}", self.unit) }
    }
}

impl RatedFigure {
    fn of(&self, column: &FactColumn) -> Fact<'_> {
        let fact = Fact::of(column, FactValue::Number(self.value), &self.from);
        Fact { conditions: self.conditions.as_deref(), ..fact }
    }
}

impl Rated {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Price {
    fn of(&self, column: &FactColumn) -> Fact<'_> {
        let fact = Fact::of(column, FactValue::Hundredths(self.amount_cents), &self.from);
        Fact { unit: &self.currency, conditions: Some(&self.date), ..fact }
    }
}

impl Facts {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The known facts, in the order of [`Facts::COLUMNS`].
    pub fn known(&self) -> impl Iterator<Item = Fact<'_>> {
        Self::COLUMNS.iter().filter_map(|column| (column.get)(self, column))
    }

    /// Checks what the types do not say: sources and the form of a price.
    ///
    /// # Errors
    /// [`FactFault`] with the key, the value and the rule.
    pub fn check(&self) -> Result<(), FactFault> {
        for Fact { key, from, .. } in self.known() {
            if !has_certainty(from) {
                let rule = format!("it must begin with one of {}", CERTAINTIES.join(" "));
                return Err(fault(&format!("{key}.from"), from, rule));
            }
        }
        self.price.as_ref().map_or(Ok(()), Price::check)
    }
}

impl Price {
    /// Checks currency and date.
    ///
    /// # Errors
    /// [`FactFault`] with the key, the value and the rule.
    pub fn check(&self) -> Result<(), FactFault> {
        let Self { currency, date, .. } = self;
        if currency.len() != 3 || !currency.bytes().all(|letter| letter.is_ascii_uppercase()) {
            let rule = "it must be three capital letters such as USD".to_owned();
            return Err(fault("price.currency", currency, rule));
        }
        if !is_date(date) {
            let rule = "it must be a year, a month or a day such as 2013-06".to_owned();
            return Err(fault("price.date", date, rule));
        }
        Ok(())
    }
}

fn fault(key: &str, value: &str, rule: String) -> FactFault {
    FactFault { key: key.to_owned(), value: format!("`{}`", shortened(value)), rule }
}

/// Whether a source begins with its certainty.
pub fn has_certainty(from: &str) -> bool {
    CERTAINTIES.iter().any(|word| from.starts_with(word))
}

/// Whether a text is `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    let form: String =
        text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    ["0000", "0000-00", "0000-00-00"].contains(&form.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(currency: &str, date: &str) -> Facts {
        let (currency, date) = (currency.to_owned(), date.to_owned());
        let from = "published: a shop".to_owned();
        let price = Some(Price { amount_cents: 43_999, currency, date, from });
        Facts { price, ..Facts::default() }
    }

    #[test]
    fn a_price_needs_a_currency_and_a_date() {
        let refused = |currency: &str, date: &str| price(currency, date).check().unwrap_err().key;
        for date in ["2013", "2013-06", "2013-06-03"] {
            assert_eq!(price("USD", date).check(), Ok(()));
        }
        assert_eq!(refused("dollars", "2013-06"), "price.currency");
        assert_eq!(refused("usd", "2013-06"), "price.currency");
        assert_eq!(refused("USD", "June 2013"), "price.date");
        assert_eq!(refused("USD", "2013-6"), "price.date");
    }

    #[test]
    fn known_facts_come_in_the_order_of_the_table_with_their_sources() {
        let dies = Some(Sourced { value: 64, from: "assumed: 64 Gbit each".to_owned() });
        let from = "published: a review".to_owned();
        let r#use = Some(Sourced { value: Use::DataCentre, from });
        let facts = Facts { dies, r#use, ..price("USD", "2013-06") };
        let known: Vec<_> = facts.known().map(|fact| (fact.key, fact.text())).collect();
        let expected = [("use", "data centre"), ("dies", "64"), ("price", "439.99 USD")];
        assert_eq!(known, expected.map(|(key, text)| (key, text.to_owned())));
        assert!(!facts.is_empty() && Facts::default().is_empty());
    }

    #[test]
    fn a_source_without_its_certainty_is_refused_by_key() {
        let controller = Some(Sourced { value: "X".to_owned(), from: "a friend".to_owned() });
        let fault = Facts { controller, ..Facts::default() }.check().unwrap_err();
        assert_eq!((fault.key.as_str(), fault.value.as_str()), ("controller.from", "`a friend`"));
        assert!(fault.rule.contains("published:"));
    }
}
