//! Streams that a file names with words instead of numbers.

use std::collections::HashMap;

/// Most distinct names; all further ones share the number of the last.
const NAMES_MAX: usize = 1 << 16;

/// Most bytes of all names together; names after that share the number of the last.
const NAMES_BYTES_MAX: usize = 16 << 20;

/// Names, numbered in the order of their first appearance.
#[derive(Default)]
pub(crate) struct Names {
    numbers: HashMap<Vec<u8>, u32>,
    names: Vec<String>,
    bytes: usize,
    /// The last name: the most likely next one.
    last: (Vec<u8>, u32),
}

impl Names {
    /// The number of a name.
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        if !self.names.is_empty() && self.last.0 == name {
            return self.last.1;
        }
        let number = self.numbers.get(name).copied().unwrap_or_else(|| self.take_in(name));
        self.last.0.clear();
        self.last.0.extend_from_slice(name);
        self.last.1 = number;
        number
    }

    fn take_in(&mut self, name: &[u8]) -> u32 {
        if self.names.len() < NAMES_MAX && self.bytes < NAMES_BYTES_MAX {
            self.bytes += name.len();
            let number = self.names.len() as u32;
            self.numbers.insert(name.to_vec(), number);
            self.names.push(String::from_utf8_lossy(name).into_owned());
        }
        self.names.len() as u32 - 1
    }

    /// All of them, by number.
    pub(crate) fn list(&self) -> Vec<String> {
        self.names.clone()
    }
}
