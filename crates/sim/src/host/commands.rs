//! The commands of a drive: those under way, those that have ended, and the time since there are none.

use std::ops::{Index, IndexMut};

use base::{Completion, Nanos, Status};

use super::Command;

/// All commands, by their tags.
#[derive(Debug)]
pub struct Commands {
    slots: Vec<Command>,
    outstanding: u32,
    last_end_ns: u64,
    is_host_missed: bool,
    ended: Vec<Completion>,
}

impl Commands {
    /// None yet, and tags for as many as the queue is deep.
    #[must_use]
    pub fn new(queue_depth: usize) -> Self {
        Self {
            slots: vec![Command::NONE; queue_depth],
            outstanding: 0,
            last_end_ns: 0,
            is_host_missed: false,
            ended: Vec::with_capacity(queue_depth),
        }
    }

    /// Takes a command; true where it is the only one outstanding.
    ///
    /// # Panics
    /// When the tag is not below the queue depth.
    #[inline(always)]
    pub fn send(&mut self, tag: u32, command: Command) -> bool {
        self.slots[tag as usize] = command;
        self.outstanding += 1;
        self.outstanding == 1
    }

    /// A command has ended well.
    #[inline]
    pub fn end(&mut self, tag: u32, now_ns: u64) {
        debug_assert!(self.outstanding > 0, "command {tag} ends, and none is outstanding");
        debug_assert!(self.last_end_ns <= now_ns, "command {tag} ends before an earlier one");
        let submitted = Nanos(self.slots[tag as usize].submitted_ns);
        self.outstanding -= 1;
        self.last_end_ns = now_ns;
        let done = Nanos(now_ns);
        self.ended.push(Completion { tag, status: Status::Ok, submitted, done });
    }

    /// A command is not taken; it ends at once with this errno.
    #[cold]
    pub fn refuse(&mut self, tag: u32, errno: i32, now_ns: u64) {
        let now = Nanos(now_ns);
        let status = Status::Failed { errno };
        self.ended.push(Completion { tag, status, submitted: now, done: now });
    }

    /// Commands sent and not yet ended.
    #[inline]
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Commands that have ended and that nobody has taken yet.
    #[inline]
    #[must_use]
    pub fn ended(&self) -> usize {
        self.ended.len()
    }

    /// Moves the commands that have ended to `out`.
    #[inline]
    pub fn take_ended(&mut self, out: &mut Vec<Completion>) {
        if out.is_empty() {
            std::mem::swap(out, &mut self.ended);
        } else {
            out.append(&mut self.ended);
        }
    }

    /// When the host will have been away for so long, or `None` while a command is outstanding.
    #[must_use]
    pub fn away_ns(&self, after_ns: u64) -> Option<u64> {
        (self.outstanding == 0).then(|| self.last_end_ns.saturating_add(after_ns))
    }

    /// Notes whether somebody wants to know when the host comes back.
    pub fn miss_host(&mut self, is_missed: bool) {
        self.is_host_missed = is_missed;
    }

    /// Whether somebody wants to know when the host comes back.
    #[must_use]
    pub fn is_host_missed(&self) -> bool {
        self.is_host_missed
    }
}

impl Index<u32> for Commands {
    type Output = Command;

    #[inline(always)]
    fn index(&self, tag: u32) -> &Command {
        &self.slots[tag as usize]
    }
}

impl IndexMut<u32> for Commands {
    #[inline(always)]
    fn index_mut(&mut self, tag: u32) -> &mut Command {
        &mut self.slots[tag as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_away_from_the_end_of_its_last_command_on() {
        let mut commands = Commands::new(2);
        assert!(commands.send(1, Command::NONE) && !commands.send(0, Command::NONE));
        commands.end(1, 10);
        assert_eq!((commands.outstanding(), commands.away_ns(5)), (1, None));
        commands.end(0, 30);
        assert_eq!((commands.outstanding(), commands.away_ns(5)), (0, Some(35)));
        commands.refuse(0, 22, 40);
        let mut out = Vec::new();
        commands.take_ended(&mut out);
        let ends: Vec<_> = out.iter().map(|end| (end.tag, end.done)).collect();
        assert_eq!(ends, [(1, Nanos(10)), (0, Nanos(30)), (0, Nanos(40))]);
        assert_eq!((commands.ended(), commands.away_ns(5)), (0, Some(35)));
    }

    #[test]
    #[cfg_attr(
        debug_assertions,
        should_panic(expected = "command 1 ends, and none is outstanding")
    )]
    fn a_command_ends_once() {
        let mut commands = Commands::new(2);
        commands.send(1, Command::NONE);
        (0..1 + u64::from(cfg!(debug_assertions))).for_each(|now_ns| commands.end(1, now_ns));
    }
}
