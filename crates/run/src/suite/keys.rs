//! The keys of a test: each is declared once, in the table of [`settings!`], with its form, name, default and help.
//! Its parameter, its field, its reading and its entry in `run.json` follow from that.

use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

use base::Nanos;
use load::Pacing;
use serde_json::Value;

use super::procedure::Notes;
use super::site::Site;
use super::steps::{self, AskedData};
use crate::error::RunError;
use crate::params::Params;

/// The text of a key among the parameters of a call.
pub(crate) struct Reading<'a> {
    pub(crate) name: &'a str,
    pub(crate) params: &'a Params,
    pub(crate) site: &'a Site<'a>,
    /// Remarks for the reader of the result.
    pub(crate) notes: &'a mut Notes,
}

/// A value in `run.json`.
pub(crate) trait Entry {
    /// Its names and values; `name` is that of the key with the unit of its form.
    fn entries(&self, name: &str) -> Vec<(String, Value)>;
}

/// Implements [`Entry`] for values with one entry.
macro_rules! entry {
    ($($Value:ty: |$value:ident| $entry:expr),+ $(,)?) => {
        $(impl $crate::suite::keys::Entry for $Value {
            fn entries(&self, name: &str) -> Vec<(String, serde_json::Value)> {
                let $value = self;
                vec![(name.to_owned(), $entry.into())]
            }
        })+
    };
}
pub(crate) use entry;

entry! {
    bool: |value| *value,
    u8: |value| *value,
    u32: |value| *value,
    u64: |value| *value,
    String: |value| value.clone(),
    Vec<u8>: |value| value.clone(),
    Vec<u32>: |value| value.clone(),
    Vec<u64>: |value| value.clone(),
    Vec<String>: |value| value.clone(),
    Nanos: |value| steps::seconds(*value),
    Vec<Nanos>: |value| value.iter().map(|time| steps::seconds(*time)).collect::<Vec<_>>(),
    AskedData: |value| value.text.clone(),
    Pacing: |value| value.to_string(),
}

/// The form of a key: the reading of its text.
pub(crate) trait Key {
    /// The value that a test computes with.
    type Value: Entry;

    /// The end of its name in `run.json`; empty for a value without a unit.
    const UNIT: &'static str = "";

    /// Reads the value.
    ///
    /// # Errors
    /// [`RunError::Usage`] for other text, or a value that is impossible at this site.
    fn read(reading: Reading<'_>) -> Result<Self::Value, RunError>;
}

/// The entries of the value of a key.
pub(crate) fn entries<F: Key>(name: &str, value: &F::Value) -> Vec<(String, Value)> {
    let end = if name.ends_with(F::UNIT) { "" } else { F::UNIT };
    value.entries(&format!("{name}{end}"))
}

/// Declares the settings of a test: `field: Form = parameter;`. Writes the struct and
/// [`Keys`](crate::suite::Keys), with its parameters in this order. `with` names further parameters that the form reads.
macro_rules! settings {
    (
        $(#[$doc:meta])*
        $visible:vis struct $Settings:ident {
            $($(#[$field_doc:meta])* $field:ident: $form:ty = $param:expr $(, with $($more:expr),+)?);+ $(;)?
        }
    ) => {
        $(#[$doc])*
        $visible struct $Settings {
            $($(#[$field_doc])* $field: <$form as $crate::suite::keys::Key>::Value,)+
        }

        impl $crate::suite::Keys for $Settings {
            const PARAMS: &'static [$crate::params::Param] = &[$($param $(, $($more),+)?),+];

            fn read(
                params: &$crate::params::Params,
                site: &$crate::suite::Site<'_>,
                notes: &mut $crate::suite::Notes,
            ) -> Result<Self, $crate::error::RunError> {
                use $crate::suite::keys::Key;
                use $crate::suite::keys::Reading;
                Ok(Self {
                    $($field: <$form>::read(Reading { name: $param.name, params, site, notes })?),+
                })
            }

            fn config(&self) -> $crate::suite::Config {
                use $crate::suite::keys::entries;
                [$(entries::<$form>($param.name, &self.$field)),+].into_iter().flatten().collect()
            }
        }
    };
}
pub(crate) use settings;

/// A length of time, from 1 s to 30 days.
pub(crate) enum Duration {}

/// The length of a pause, up to 30 days.
pub(crate) enum Pause {}

/// The lengths of pauses, in order.
pub(crate) enum Pauses {}

/// A size at the beginning of the span.
pub(crate) enum Region {}

/// The size of a command.
pub(crate) enum Block {}

/// A number of outstanding commands.
pub(crate) enum QueueDepth {}

/// A number of repetitions.
pub(crate) enum Count {}

/// The kind of written data.
pub(crate) enum Content {}

/// The pace of commands.
pub(crate) enum Rate {}

/// A word, a number or a flag.
pub(crate) struct Plain<T>(PhantomData<T>);

/// Different words or numbers, in order.
pub(crate) struct List<T>(PhantomData<T>);

impl Key for Duration {
    type Value = Nanos;
    const UNIT: &'static str = "_s";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Nanos, RunError> {
        params.duration(name)
    }
}

impl Key for Pause {
    type Value = Nanos;
    const UNIT: &'static str = "_s";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Nanos, RunError> {
        params.pause(name)
    }
}

impl Key for Pauses {
    type Value = Vec<Nanos>;
    const UNIT: &'static str = "_s";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<Nanos>, RunError> {
        params.pauses(name)
    }
}

impl Key for Region {
    type Value = u64;
    const UNIT: &'static str = "_bytes";

    fn read(Reading { name, params, site, notes }: Reading<'_>) -> Result<u64, RunError> {
        site.region(params, name, notes)
    }
}

impl Key for Block {
    type Value = u32;
    const UNIT: &'static str = "_bytes";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u32, RunError> {
        params.block_bytes(name)
    }
}

impl Key for QueueDepth {
    type Value = u32;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u32, RunError> {
        params.queue_depth(name)
    }
}

/// The depths of two jobs at once: a quarter of the queue, and the rest. Only the default, 256, adapts to a target
/// with a lower limit.
pub(crate) fn depths_of_two(
    Reading { name, params, site, .. }: Reading<'_>,
    jobs: &str,
) -> Result<[u32; 2], RunError> {
    let depth = match params.is_set(name) {
        true => params.queue_depth(name)?,
        false => params.queue_depth(name)?.min(site.limits.queue_depth_max),
    };
    if depth >= 2 {
        let quarter = (depth / 4).max(1);
        return Ok([quarter, depth - quarter]);
    }
    Err(RunError::Usage(format!(
        "a queue depth of {depth} has no room for {jobs} at once; expected at least 2 (--set {name}=)"
    )))
}

impl Key for Count {
    type Value = u32;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u32, RunError> {
        params.count(name)
    }
}

impl Key for Content {
    type Value = AskedData;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<AskedData, RunError> {
        steps::data(params, name)
    }
}

impl Key for Rate {
    type Value = Pacing;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Pacing, RunError> {
        params.get(name)
    }
}

impl<T: FromStr<Err: Display + 'static> + Entry> Key for Plain<T> {
    type Value = T;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<T, RunError> {
        params.get(name)
    }
}

impl<T: FromStr<Err: Display + 'static> + PartialEq> Key for List<T>
where
    Vec<T>: Entry,
{
    type Value = Vec<T>;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<T>, RunError> {
        params.list(name)
    }
}
