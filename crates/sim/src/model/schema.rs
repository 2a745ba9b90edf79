//! The keys of a model: one declaration gives a section its type, its keys and their ranges.
//!
//! ```ignore
//! section! {
//!     /// A cap on host writes.
//!     pub struct ThrottleModel {
//!         /// Rate after the burst.
//!         pub bytes_per_s: Sourced<u64> [4_096, 1_000_000_000_000],
//!         /// Volume at full speed; absent: none.
//!         pub burst_bytes: Option<Sourced<u64>>,
//!     }
//! }
//! ```
//!
//! Overrides, messages about unknown keys and the table in `docs/reference/formats/drive-model.md` come from [`Field::list`],
//! refusals of values outside `[least, most]` from [`Field::check`]. Rules between keys stand in code, beside the
//! section that they belong to.

use base::Facts;
use base::facts::Sourced;

/// The longest time of a single value.
pub(crate) const HOUR_NS: u64 = 3_600_000_000_000;

/// The highest rate of data.
pub(crate) const TB_PER_S: u64 = 1_000_000_000_000;

/// Reason for the refusal of a model. Names the key, the value and the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The text is no TOML, lacks a key, has an unknown one or one of the wrong type.
    #[error("drive model `{name}`: {message}")]
    Parse {
        /// Name of the model.
        name: String,
        /// Message of the parser, with the place.
        message: String,
    },
    /// A value breaks a rule.
    #[error("drive model `{name}`: `{key}` is {value}, but {rule}")]
    Value {
        /// Name of the model.
        name: String,
        /// Dotted name of the value.
        key: String,
        /// The refused value as text.
        value: String,
        /// The rule it breaks.
        rule: String,
    },
    /// A host profile is no TOML, lacks a key, or has a value that breaks a rule.
    #[error("host profile `{name}`: {message}")]
    Host {
        /// Name of the profile.
        name: String,
        /// The fault.
        message: String,
    },
    /// An override names no value of the model.
    #[error("drive model `{name}` has no value `{key}`; {known}")]
    UnknownKey {
        /// Name of the model.
        name: String,
        /// The requested key.
        key: String,
        /// The existing keys.
        known: String,
    },
}

/// The model whose values are checked, by its name.
pub(crate) struct Check<'a> {
    pub(crate) name: &'a str,
}

impl Check<'_> {
    pub(crate) fn fail<T>(
        &self,
        key: &str,
        value: impl std::fmt::Display,
        rule: &str,
    ) -> Result<T, ModelError> {
        Err(ModelError::Value {
            name: self.name.to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
            rule: rule.to_owned(),
        })
    }

    pub(crate) fn within(
        &self,
        key: &str,
        value: u64,
        min: u64,
        max: u64,
    ) -> Result<(), ModelError> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        self.fail(key, value, &format!("it must lie between {min} and {max}"))
    }
}

/// Kind of a value in TOML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of a list of words.
    Word,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Number => "a whole number",
            Self::Flag => "true or false",
            Self::Word => "a word",
        })
    }
}

/// A key of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its dotted name.
    pub name: String,
    /// The kind of its value.
    pub kind: Kind,
    /// Least and most of a number, or `None` if other values of the model set its limits.
    pub range: Option<(u64, u64)>,
    /// Whether a section may omit it.
    pub is_optional: bool,
    /// The meaning.
    pub about: &'static str,
}

/// A type of sourced values.
pub(crate) trait Value {
    const KIND: Kind = Kind::Word;

    /// The value, if it is a number.
    fn number(&self) -> Option<u64> {
        None
    }
}

impl Value for u64 {
    const KIND: Kind = Kind::Number;

    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

impl Value for u32 {
    const KIND: Kind = Kind::Number;

    fn number(&self) -> Option<u64> {
        Some((*self).into())
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Flag;
}

impl Value for String {}

/// A field of a section: a value or a section of its own.
pub(crate) trait Field {
    /// Adds the key to a list, or the keys of the section of this name.
    fn list(key: Key, keys: &mut Vec<Key>)
    where
        Self: Sized;

    /// Refuses a number outside the range of its key.
    fn check(
        &self,
        key: &str,
        range: Option<(u64, u64)>,
        check: &Check<'_>,
    ) -> Result<(), ModelError>;

    /// The value under a dotted name, which is empty for the field itself; `None` if it is absent.
    fn find(&self, key: &str) -> Option<Entry>;
}

/// A value that a model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Number(u64),
    /// A flag, a word or a section.
    Other,
}

impl<T: Value> Field for Sourced<T> {
    fn list(key: Key, keys: &mut Vec<Key>) {
        keys.push(Key { kind: T::KIND, ..key });
    }

    fn check(
        &self,
        key: &str,
        range: Option<(u64, u64)>,
        check: &Check<'_>,
    ) -> Result<(), ModelError> {
        match (self.value.number(), range) {
            (Some(number), Some((min, max))) => check.within(key, number, min, max),
            _ => Ok(()),
        }
    }

    fn find(&self, key: &str) -> Option<Entry> {
        debug_assert!(key.is_empty(), "a value has no key {key}");
        Some(self.value.number().map_or(Entry::Other, Entry::Number))
    }
}

impl<F: Field> Field for Option<F> {
    fn list(key: Key, keys: &mut Vec<Key>) {
        F::list(Key { is_optional: true, ..key }, keys);
    }

    fn check(
        &self,
        key: &str,
        range: Option<(u64, u64)>,
        check: &Check<'_>,
    ) -> Result<(), ModelError> {
        self.as_ref().map_or(Ok(()), |field| field.check(key, range, check))
    }

    fn find(&self, key: &str) -> Option<Entry> {
        self.as_ref()?.find(key)
    }
}

/// Descriptions of the drive for readers: they have no key of the simulation.
macro_rules! description {
    ($($type:ty),*) => {
        $(impl Field for $type {
            fn list(_: Key, _: &mut Vec<Key>) {}

            fn check(
                &self,
                _: &str,
                _: Option<(u64, u64)>,
                _: &Check<'_>,
            ) -> Result<(), ModelError> {
                Ok(())
            }

            fn find(&self, _: &str) -> Option<Entry> {
                Some(Entry::Other)
            }
        })*
    };
}

description!(String, Facts);

/// The dotted name of a key in a section; the model itself has no name.
pub(crate) fn joined(section: &str, key: &str) -> String {
    if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
}

/// Declares a section; see the [module](self).
macro_rules! section {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[serde($serde:ident)])?
                pub $field:ident: $type:ty $([$min:expr, $max:expr])?,
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[doc = $doc])*
                $(#[serde($serde)])?
                pub $field: $type,
            )*
        }

        impl $crate::model::schema::Field for $name {
            fn list(
                section: $crate::model::schema::Key,
                keys: &mut Vec<$crate::model::schema::Key>,
            ) {
                $(
                    let key = $crate::model::schema::Key {
                        name: $crate::model::schema::joined(&section.name, stringify!($field)),
                        kind: $crate::model::schema::Kind::Word,
                        range: $crate::model::schema::range!($($min, $max)?),
                        is_optional: false,
                        about: concat!($($doc),*),
                    };
                    <$type as $crate::model::schema::Field>::list(key, keys);
                )*
            }

            fn check(
                &self,
                section: &str,
                _: Option<(u64, u64)>,
                check: &$crate::model::schema::Check<'_>,
            ) -> Result<(), $crate::model::schema::ModelError> {
                $(
                    $crate::model::schema::Field::check(
                        &self.$field,
                        &$crate::model::schema::joined(section, stringify!($field)),
                        $crate::model::schema::range!($($min, $max)?),
                        check,
                    )?;
                )*
                Ok(())
            }

            fn find(&self, key: &str) -> Option<$crate::model::schema::Entry> {
                let (field, rest) = key.split_once('.').unwrap_or((key, ""));
                match field {
                    "" => Some($crate::model::schema::Entry::Other),
                    $(stringify!($field) => {
                        $crate::model::schema::Field::find(&self.$field, rest)
                    })*
                    _ => {
                        debug_assert!(false, "{} has no key {field}", stringify!($name));
                        None
                    }
                }
            }
        }
    };
}

/// The range of a key, if it has one.
macro_rules! range {
    () => {
        None
    };
    ($min:expr, $max:expr) => {
        Some(($min, $max))
    };
}

pub(crate) use {range, section};
