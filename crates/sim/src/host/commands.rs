//! The commands of a drive: outstanding ones, ended ones, and the time since the last one.

use std::ops::{Index, IndexMut};

use base::{Completion, Nanos, Status};

use super::Command;

/// All commands, by their tags.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Commands {
    slots: Vec<Command>,
    outstanding: u32,
    last_end_ns: u64,
    is_host_missed: bool,
    ended: Vec<Completion>,
}

impl Commands {
    /// No commands, with tags for the depth of the queue.
    pub fn new(queue_depth: usize) -> Self {
        Self {
            slots: vec![Command::NONE; queue_depth],
            outstanding: 0,
            last_end_ns: 0,
            is_host_missed: false,
            ended: Vec::with_capacity(queue_depth),
        }
    }

    /// Adds a command; true if it is the only outstanding one.
    ///
    /// # Panics
    /// When the tag is not below the queue depth.
    #[inline(always)]
    pub fn send(&mut self, tag: u32, command: Command) -> bool {
        self.slots[tag as usize] = command;
        self.outstanding += 1;
        self.outstanding == 1
    }

    /// Ends a command with success.
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

    /// Rejects a command; it ends at once with this errno.
    #[cold]
    pub fn refuse(&mut self, tag: u32, errno: i32, now_ns: u64) {
        let now = Nanos(now_ns);
        let status = Status::Failed { errno };
        self.ended.push(Completion { tag, status, submitted: now, done: now });
    }

    /// Number of outstanding commands.
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Number of ended commands that the host has not taken yet.
    #[inline]
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

    /// Time at which the host will have been away for this long, or `None` while a command is
    /// outstanding.
    pub fn away_ns(&self, after_ns: u64) -> Option<u64> {
        (self.outstanding == 0).then(|| self.last_end_ns.saturating_add(after_ns))
    }

    /// Records whether the drive watches for the return of the host.
    pub fn miss_host(&mut self, is_missed: bool) {
        self.is_host_missed = is_missed;
    }

    /// Whether the drive watches for the return of the host.
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
