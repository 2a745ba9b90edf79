//! Groups of dies: the superblock in which a stream goes on.

use sim::ftl::StreamId;

use super::Reference;

impl Reference {
    /// The stream goes on in the next group of dies.
    pub(super) fn turn(&mut self, stream: StreamId) {
        let at_hand = &mut self.streams[stream as usize];
        let (waiting, group) = &mut self.groups[stream as usize];
        waiting.push_back(at_hand.take());
        *at_hand = waiting.pop_front().flatten();
        *group = (*group + 1) % self.config.geometry.die_groups;
    }

    /// A stream that may not open a superblock goes on in the next group that has one: the host when the drive has few
    /// left, what is moved when it has none.
    pub(super) fn skip_groups(&mut self, stream: StreamId, actual: u32) {
        let (waiting, _) = &self.groups[stream as usize];
        let is_open_elsewhere = waiting.iter().flatten().any(|(open, _)| *open == actual);
        let may_skip = self.free.is_empty() || !StreamId::MOVED.contains(&stream);
        if !is_open_elsewhere || !may_skip {
            return;
        }
        while self.streams[stream as usize].is_none() {
            self.turn(stream);
        }
    }

    /// Whether a stream has an open superblock in some group.
    pub(super) fn is_open(&self, stream: StreamId) -> bool {
        let waiting = &self.groups[stream as usize].0;
        self.streams[stream as usize].is_some() || waiting.iter().any(Option::is_some)
    }
}
