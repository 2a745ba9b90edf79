//! Autonomous power state transitions (feature 0Ch).

use base::bytes::u32_at;

use crate::bytes::put;

/// Number of the feature.
pub const FEATURE: u8 = 0x0c;
/// Bytes of the table: an entry for each of 32 power states.
pub const TABLE_BYTES: usize = 256;
/// Bytes of an entry.
const ENTRY_BYTES: usize = 8;
/// The largest time of an entry.
const AFTER_MS_MAX: u32 = 0xff_ffff;

/// The state that a controller enters by itself from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Number of the state that it enters, below 32.
    pub to: u8,
    /// Idle time in the state before, from 1 to 16,777,215 ms.
    pub after_ms: u32,
}

/// The table with the transition out of each state from state 0 on, where there is one.
pub fn table(transitions: &[Option<Transition>]) -> [u8; TABLE_BYTES] {
    let mut bytes = [0; TABLE_BYTES];
    for (at, transition) in (0..TABLE_BYTES).step_by(ENTRY_BYTES).zip(transitions) {
        if let Some(Transition { to, after_ms }) = *transition {
            let entry = u32::from(to & 0x1f) << 3 | after_ms.min(AFTER_MS_MAX) << 8;
            put(&mut bytes, at, entry.to_le_bytes());
        }
    }
    bytes
}

/// The transitions of a table. Missing bytes count as zero: no transition.
pub fn transitions(bytes: &[u8]) -> [Option<Transition>; 32] {
    std::array::from_fn(|state| {
        let entry = u32_at(bytes, state * ENTRY_BYTES);
        let transition = Transition { to: (entry >> 3 & 0x1f) as u8, after_ms: entry >> 8 };
        (transition.after_ms > 0).then_some(transition)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_table_survives_the_wire(
            wanted in prop::collection::vec(prop::option::of((0_u8..32, 1..AFTER_MS_MAX)), 0..33),
        ) {
            let wanted: Vec<_> = wanted
                .into_iter()
                .map(|wanted| wanted.map(|(to, after_ms)| Transition { to, after_ms }))
                .collect();
            let found = transitions(&table(&wanted));
            prop_assert_eq!(&found[..wanted.len()], &wanted[..]);
            prop_assert!(found[wanted.len()..].iter().all(Option::is_none));
        }

        #[test]
        fn no_table_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = transitions(&bytes);
        }
    }

    /// Figure 324 of the base specification 2.0.
    #[test]
    fn an_entry_has_the_state_before_the_time() {
        let bytes = table(&[Some(Transition { to: 3, after_ms: 0x0102 }), None]);
        assert_eq!(bytes[..12], [3 << 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
