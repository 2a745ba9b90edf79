//! Policies of one's own: code outside this crate decides in the place of the policies of a model.
//!
//! There are three: [`VictimChoice`] (which superblock is collected), [`StreamChoice`] (which data belongs together) and
//! [`Pace`] (how much moves for what the host writes). Each is a trait with one question. `examples/own-policy` has a
//! whole program with one, the Python package passes functions of Python.
//!
//! A policy must be deterministic, so that a drive repeats its nanoseconds. Its state is cloned with the drive. A wrong
//! answer is a fault in words: the drive goes on by greedy choice, with the pacing of its model and without streams, and
//! asks no more, until [`Policies::take_fault`] is called. Test: `tests/device/policies.rs`.

use super::gc::own::{OwnVictims, VictimChoice};
use super::pacing::own::Pace;
use super::placement::own::{OwnStreams, StreamChoice};

/// The policies of one's own in a drive; the others are those of the model.
#[derive(Debug, Default)]
pub struct Policies {
    pub(crate) victims: Option<OwnVictims>,
    pub(crate) streams: Option<OwnStreams>,
    pub(crate) pace: Option<Box<dyn Pace>>,
    fault: Option<String>,
}

impl Clone for Policies {
    fn clone(&self) -> Self {
        Self {
            victims: self.victims.clone(),
            streams: self.streams.clone(),
            pace: self.pace.as_deref().map(Pace::copied),
            fault: self.fault.clone(),
        }
    }
}

impl Policies {
    /// The same with a choice of victims.
    #[must_use]
    pub fn with_victims(self, choice: impl VictimChoice + 'static) -> Self {
        Self { victims: Some(OwnVictims::new(Box::new(choice))), ..self }
    }

    /// The same with a choice of streams, for a drive with placement handles.
    #[must_use]
    pub fn with_streams(self, choice: impl StreamChoice + 'static) -> Self {
        Self { streams: Some(OwnStreams::new(Box::new(choice))), ..self }
    }

    /// The same with a pace.
    #[must_use]
    pub fn with_pace(self, pace: impl Pace + 'static) -> Self {
        Self { pace: Some(Box::new(pace)), ..self }
    }

    /// The policies for a drive that is new again, taken from one: nothing is known of its writes.
    #[must_use]
    pub fn renewed(&mut self) -> Self {
        let Self { victims, streams, pace, fault } = std::mem::take(self);
        Self { victims, streams: streams.map(OwnStreams::renewed), pace, fault }
    }

    /// Whether one of them chooses streams.
    pub fn chooses_streams(&self) -> bool {
        self.streams.is_some()
    }

    /// The fault of a policy since the last call, in words, or `None` if there was none.
    pub fn take_fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// The answer of a policy, or `None` after a fault.
    pub(crate) fn answer<T>(
        &mut self,
        ask: impl FnOnce(&mut Self) -> Option<Result<T, String>>,
    ) -> Option<T> {
        if self.fault.is_some() {
            return None;
        }
        match ask(self)? {
            Ok(answer) => Some(answer),
            Err(words) => {
                self.fault = Some(words);
                None
            }
        }
    }
}
