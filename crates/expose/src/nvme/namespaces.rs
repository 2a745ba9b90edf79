//! The namespaces of a drive: ranges of its logical pages, each with the hosts that have it.
//!
//! Phenomenon: a drive is divided between hosts that know nothing of each other and share its flash. Source: NVM Express
//! Base Specification 2.0, Namespace Management and Namespace Attachment. Simplifications: a namespace is one range of
//! neighbouring pages, the first free one that is long enough; all have blocks of one size, and a format empties all of
//! them; a host keeps what it has attached when it connects again under its name, and all of its controllers have the
//! same; the division is that of the server, and no saved state has it. Test: `tests/all/nvme_namespaces.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use nvme::status::CommandStatus;

use crate::request::Deletion;

/// Number of the first namespace, and of the only one of a drive that cannot be divided.
pub const NAMESPACE: u32 = 1;
/// Most namespaces at a time.
pub(super) const NAMESPACES_MAX: u32 = 16;
/// Most hosts that a namespace tells from others.
const HOSTS_MAX: usize = 256;

/// A part of the drive that hosts see as a drive.
#[derive(Clone, Debug)]
pub struct Namespace {
    /// Its bytes of the drive.
    pub bytes: Range<u64>,
    /// Globally unique number.
    pub guid: u128,
    /// Ends the requests that are for it.
    pub(super) deletion: Deletion,
    /// Whether hosts have it that are not named.
    of_all: bool,
    /// The hosts for which the opposite holds.
    exceptions: BTreeSet<String>,
}

impl Namespace {
    /// Whether a host has it.
    pub fn is_attached(&self, host: &str) -> bool {
        self.of_all != self.exceptions.contains(host)
    }

    /// Gives it to a host, or takes it away.
    ///
    /// # Errors
    /// A status: it is so already, or it has as many exceptions as may be.
    fn attach(&mut self, host: &str, is_attached: bool) -> Result<(), CommandStatus> {
        if self.is_attached(host) == is_attached {
            let status = if is_attached {
                CommandStatus::ALREADY_ATTACHED
            } else {
                CommandStatus::NOT_ATTACHED
            };
            return Err(status);
        }
        if !self.exceptions.remove(host) {
            if self.exceptions.len() == HOSTS_MAX {
                return Err(CommandStatus::CONTROLLER_LIST);
            }
            self.exceptions.insert(host.to_owned());
        }
        Ok(())
    }
}

/// All namespaces of a drive, by their numbers.
#[derive(Debug)]
pub struct Namespaces {
    capacity_bytes: u64,
    page_bytes: u64,
    /// Number of the next one, among all that there ever were.
    next_guid: u128,
    all: BTreeMap<u32, Namespace>,
    /// Bytes of deleted ones that still have to be emptied: whoever got them now would lose what it writes.
    leaving: Vec<Range<u64>>,
}

impl Namespaces {
    /// One namespace, which is the whole drive and belongs to all hosts.
    pub(super) fn whole(capacity_bytes: u64, page_bytes: u64, guid: u128) -> Self {
        let (bytes, exceptions) = (0..capacity_bytes, BTreeSet::new());
        let deletion = Deletion::default();
        let first = Namespace { bytes, guid, deletion, of_all: true, exceptions };
        let all = BTreeMap::from([(NAMESPACE, first)]);
        let next_guid = guid.wrapping_add(1);
        Self { capacity_bytes, page_bytes, next_guid, all, leaving: Vec::new() }
    }

    /// The namespace of this number, or `None` if there is none.
    pub(super) fn get(&self, id: u32) -> Option<&Namespace> {
        self.all.get(&id)
    }

    /// The numbers of all, or of those that a host has, in order.
    pub(super) fn ids(&self, host: Option<&str>) -> Vec<u32> {
        let has = |namespace: &Namespace| host.is_none_or(|host| namespace.is_attached(host));
        self.all.iter().filter(|(_, namespace)| has(namespace)).map(|(&id, _)| id).collect()
    }

    /// The first byte of the one that has this byte of the drive, or `None` if none has it.
    pub(super) fn start_of(&self, byte: u64) -> Option<u64> {
        let all = self.all.values();
        all.map(|found| &found.bytes).find(|bytes| bytes.contains(&byte)).map(|bytes| bytes.start)
    }

    /// Bytes that no namespace has.
    pub(super) fn free_bytes(&self) -> u64 {
        self.free().iter().map(|range| range.end - range.start).sum()
    }

    /// Ranges of whole pages that no namespace has or had until now, in order.
    fn free(&self) -> Vec<Range<u64>> {
        let all = self.all.values().map(|namespace| &namespace.bytes);
        let mut taken: Vec<_> = all.chain(&self.leaving).collect();
        taken.sort_by_key(|bytes| bytes.start);
        let (mut free, mut start) = (Vec::new(), 0);
        for bytes in taken {
            free.push(start..bytes.start.max(start));
            start = start.max(bytes.end.next_multiple_of(self.page_bytes));
        }
        free.push(start..self.capacity_bytes.max(start));
        free
    }

    /// Makes a namespace that no host has yet; returns its number.
    ///
    /// # Errors
    /// A status: there is no range, or no number.
    pub(super) fn create(&mut self, bytes: u64) -> Result<u32, CommandStatus> {
        if bytes == 0 {
            return Err(CommandStatus::INVALID_FIELD);
        }
        let id = (1..=NAMESPACES_MAX).find(|id| !self.all.contains_key(id));
        let id = id.ok_or(CommandStatus::NAMESPACE_IDS)?;
        let free = self.free().into_iter().find(|range| range.end - range.start >= bytes);
        let start = free.ok_or(CommandStatus::NAMESPACE_CAPACITY)?.start;
        let guid = self.next_guid;
        self.next_guid = guid.wrapping_add(1);
        let (bytes, exceptions) = (start..start + bytes, BTreeSet::new());
        let deletion = Deletion::default();
        let namespace = Namespace { bytes, guid, deletion, of_all: false, exceptions };
        self.all.insert(id, namespace);
        Ok(id)
    }

    /// Takes a namespace away, whose bytes are free once they are released; returns it, or `None` if there is none.
    pub(super) fn delete(&mut self, id: u32) -> Option<Namespace> {
        let deleted = self.all.remove(&id)?;
        deleted.deletion.happen();
        self.leaving.push(deleted.bytes.clone());
        Some(deleted)
    }

    /// Takes all namespaces away; returns the bytes of the drive, to be released, and them by their numbers.
    pub(super) fn delete_all(&mut self) -> (Range<u64>, BTreeMap<u32, Namespace>) {
        let bytes = 0..self.capacity_bytes;
        self.leaving.push(bytes.clone());
        self.all.values().for_each(|namespace| namespace.deletion.happen());
        (bytes, std::mem::take(&mut self.all))
    }

    /// Frees the bytes of a deletion, which are empty now.
    pub(super) fn release(&mut self, bytes: &Range<u64>) {
        if let Some(place) = self.leaving.iter().position(|leaving| leaving == bytes) {
            self.leaving.swap_remove(place);
        }
    }

    /// Attaches a namespace to these hosts, or detaches it from them: all or none.
    ///
    /// # Errors
    /// A status: there is no such namespace, or it is so already for one of the hosts.
    pub(super) fn attach(
        &mut self,
        id: u32,
        hosts: &BTreeSet<&str>,
        is_attached: bool,
    ) -> Result<(), CommandStatus> {
        let namespace = self.all.get_mut(&id).ok_or(CommandStatus::INVALID_NAMESPACE)?;
        let mut changed = namespace.clone();
        hosts.iter().try_for_each(|host| changed.attach(host, is_attached))?;
        *namespace = changed;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_deleted_one_are_free_when_they_are_empty() {
        let mut all = Namespaces::whole(1 << 20, 4096, 7);
        let whole = all.delete(NAMESPACE).expect("the first one").bytes;
        assert_eq!((all.free_bytes(), all.ids(None)), (0, vec![]));
        assert_eq!(all.create(4096), Err(CommandStatus::NAMESPACE_CAPACITY));
        all.release(&whole);
        assert_eq!((all.create(4096), all.create(8192)), (Ok(1), Ok(2)));
        let (bytes, deleted) = all.delete_all();
        assert_eq!((bytes.clone(), deleted.len()), (0..1 << 20, 2));
        assert_eq!(
            all.create(4096),
            Err(CommandStatus::NAMESPACE_CAPACITY),
            "not beside them either"
        );
        all.release(&bytes);
        assert_eq!(all.free_bytes(), 1 << 20);
    }

    #[test]
    fn a_deletion_is_that_of_one_namespace() {
        let mut all = Namespaces::whole(1 << 20, 4096, 7);
        let first = all.delete(NAMESPACE).expect("the first one");
        all.release(&first.bytes);
        let ids = [4096, 8192].map(|bytes| all.create(bytes).expect("room"));
        let [second, third] = ids.map(|id| all.get(id).expect("just made").deletion.clone());
        assert!(first.deletion.has_happened());
        assert!(!second.has_happened() && !third.has_happened());
        all.delete(ids[0]);
        assert!(second.has_happened() && !third.has_happened());
        all.delete_all();
        assert!(third.has_happened());
    }
}
