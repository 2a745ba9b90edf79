//! Outstanding commands, each with its tag until its end.

use base::{Nanos, Op};

use crate::recorder::Recorder;

#[derive(Clone, Copy)]
pub(crate) struct OutstandingCommand<N> {
    /// The command.
    pub(crate) op: Op,
    /// Start of its latency.
    pub(crate) since: Nanos,
    /// A note of its issuer.
    pub(crate) note: N,
}

/// Tags and their commands.
pub(crate) struct Outstanding<N> {
    free_tags: Vec<u32>,
    /// The holder of each tag, or `None` if it is free.
    holders: Vec<Option<OutstandingCommand<N>>>,
}

impl<N: Copy> Outstanding<N> {
    /// No command; at most `queue_depth` of them.
    pub(crate) fn new(queue_depth: u32) -> Self {
        Self {
            free_tags: (0..queue_depth).rev().collect(),
            holders: vec![None; queue_depth as usize],
        }
    }

    /// Largest number of commands.
    pub(crate) fn queue_depth(&self) -> u32 {
        self.holders.len() as u32
    }

    /// Number of outstanding commands.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        (self.holders.len() - self.free_tags.len()) as u32
    }

    /// Whether there is none.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.free_tags.len() == self.holders.len()
    }

    /// The tag for the next command, or `None` if all are held.
    #[inline]
    pub(crate) fn next_tag(&self) -> Option<u32> {
        self.free_tags.last().copied()
    }

    /// Adds a command with the [next tag](Self::next_tag).
    #[inline]
    pub(crate) fn begin(&mut self, command: OutstandingCommand<N>) {
        debug_assert_eq!(self.next_tag(), Some(command.op.tag), "tags are held in their order");
        self.free_tags.pop();
        self.holders[command.op.tag as usize] = Some(command);
    }

    /// Removes the command of a tag and frees the tag; `None` if it had none.
    #[inline]
    pub(crate) fn end(&mut self, tag: u32) -> Option<OutstandingCommand<N>> {
        let holder = &mut self.holders[tag as usize];
        if holder.is_some() {
            self.free_tags.push(tag);
        }
        // Moved out last, and so once: a second copy takes 7 ns, a third of a command on the null target.
        holder.take()
    }

    /// Records all of them for a lost target; `job` tells the job of each.
    pub(crate) fn give_up(&self, now: Nanos, recorder: &mut Recorder, job: impl Fn(&N) -> u32) {
        for OutstandingCommand { op, since, note } in self.holders.iter().flatten() {
            recorder.given_up(op, *since, now, job(note));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Data, OpKind};
    use result::store::ios::NO_JOB;

    fn issued(tag: u32, since: u64) -> OutstandingCommand<char> {
        let op = Op {
            kind: OpKind::Read,
            data: Data::Incompressible,
            fua: false,
            placement: 0,
            len: 1,
            tag,
            offset: 0,
        };
        OutstandingCommand { op, since: Nanos(since), note: 'x' }
    }

    #[test]
    fn a_tag_is_held_from_issue_to_end() {
        let mut outstanding = Outstanding::new(2);
        assert!(outstanding.is_idle() && outstanding.next_tag() == Some(0));
        outstanding.begin(issued(0, 5));
        outstanding.begin(issued(1, 6));
        assert_eq!((outstanding.count(), outstanding.next_tag()), (2, None));
        let ended = outstanding.end(0).unwrap();
        assert_eq!((ended.since, ended.note, outstanding.next_tag()), (Nanos(5), 'x', Some(0)));
        assert!(outstanding.end(0).is_none(), "it has ended");
        assert_eq!(outstanding.count(), 1);
    }

    #[test]
    fn commands_on_a_lost_target_count_with_their_waits() {
        let mut outstanding = Outstanding::new(4);
        outstanding.begin(issued(0, 100));
        outstanding.begin(issued(1, 400));
        outstanding.end(0);
        let mut recorder = Recorder::new(Nanos(0), None);
        outstanding.give_up(Nanos(1000), &mut recorder, |_| NO_JOB);
        assert_eq!((recorder.ios_unanswered, recorder.longest_is_late()), (1, None));
        let (rows, _) = recorder.finish(Nanos(1000));
        assert_eq!(rows.seconds[0].latency_ns_max, Some(600));
    }
}
