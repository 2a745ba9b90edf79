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

/// The form of a key: the reading of its text, and its entry in `run.json`.
pub(crate) trait Key {
    /// The value that a test computes with.
    type Value;

    /// The end of its name in `run.json`; empty for a value without a unit.
    const UNIT: &'static str = "";

    /// Reads the value.
    ///
    /// # Errors
    /// [`RunError::Usage`] for other text, or a value that is impossible at this site.
    fn read(reading: Reading<'_>) -> Result<Self::Value, RunError>;

    /// The value in `run.json`; a form with other or more entries has [`Key::entries`] of its own.
    fn entry(_: &Self::Value) -> Value {
        Value::Null
    }

    /// Names and values in `run.json`.
    fn entries(name: &str, value: &Self::Value) -> Vec<(String, Value)> {
        let end = if name.ends_with(Self::UNIT) { "" } else { Self::UNIT };
        vec![(format!("{name}{end}"), Self::entry(value))]
    }
}

/// Declares the settings of a test: `field: Form = parameter;`. Writes the struct, its parameters in this order
/// (`PARAMS`), and [`Keys`](crate::suite::Keys). `with` names further parameters that the form reads.
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

        impl $Settings {
            $visible const PARAMS: &'static [$crate::params::Param] = &[$($param $(, $($more),+)?),+];
        }

        impl $crate::suite::Keys for $Settings {
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
                use $crate::suite::keys::Key;
                [$(<$form as Key>::entries($param.name, &self.$field)),+].into_iter().flatten().collect()
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

    fn entry(value: &Nanos) -> Value {
        steps::seconds(*value).into()
    }
}

impl Key for Pause {
    type Value = Nanos;
    const UNIT: &'static str = "_s";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Nanos, RunError> {
        params.pause(name)
    }

    fn entry(value: &Nanos) -> Value {
        steps::seconds(*value).into()
    }
}

impl Key for Pauses {
    type Value = Vec<Nanos>;
    const UNIT: &'static str = "_s";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<Nanos>, RunError> {
        params.pauses(name)
    }

    fn entry(value: &Vec<Nanos>) -> Value {
        value.iter().map(|pause| steps::seconds(*pause)).collect()
    }
}

impl Key for Region {
    type Value = u64;
    const UNIT: &'static str = "_bytes";

    fn read(Reading { name, params, site, notes }: Reading<'_>) -> Result<u64, RunError> {
        site.region(params, name, notes)
    }

    fn entry(value: &u64) -> Value {
        (*value).into()
    }
}

impl Key for Block {
    type Value = u32;
    const UNIT: &'static str = "_bytes";

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u32, RunError> {
        params.block_bytes(name)
    }

    fn entry(value: &u32) -> Value {
        (*value).into()
    }
}

impl Key for QueueDepth {
    type Value = u32;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<u32, RunError> {
        params.queue_depth(name)
    }

    fn entry(value: &u32) -> Value {
        (*value).into()
    }
}

/// The depth of two jobs at once; only the default, 256, adapts to a target with a lower limit.
pub(crate) fn depth_of_two(
    Reading { name, params, site, .. }: Reading<'_>,
    jobs: &str,
) -> Result<u32, RunError> {
    let depth = match params.is_set(name) {
        true => params.queue_depth(name)?,
        false => params.queue_depth(name)?.min(site.limits.queue_depth_max),
    };
    if depth >= 2 {
        return Ok(depth);
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

    fn entry(value: &u32) -> Value {
        (*value).into()
    }
}

impl Key for Content {
    type Value = AskedData;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<AskedData, RunError> {
        steps::data(params, name)
    }

    fn entry(value: &AskedData) -> Value {
        value.text.clone().into()
    }
}

impl Key for Rate {
    type Value = Pacing;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Pacing, RunError> {
        params.get(name)
    }

    fn entry(value: &Pacing) -> Value {
        value.to_string().into()
    }
}

impl<T: FromStr<Err: Display + 'static> + Clone + Into<Value>> Key for Plain<T> {
    type Value = T;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<T, RunError> {
        params.get(name)
    }

    fn entry(value: &T) -> Value {
        value.clone().into()
    }
}

impl<T: FromStr<Err: Display + 'static> + PartialEq + Clone + Into<Value>> Key for List<T> {
    type Value = Vec<T>;

    fn read(Reading { name, params, .. }: Reading<'_>) -> Result<Vec<T>, RunError> {
        params.list(name)
    }

    fn entry(value: &Vec<T>) -> Value {
        value.clone().into()
    }
}
