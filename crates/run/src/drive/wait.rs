//! Waits of a loop with a schedule.

use base::{Completion, Nanos};
use target::{Target, TargetError};

/// Lets time pass until `due`, or until a command ends. With nothing outstanding (`is_idle`) it
/// sleeps, at most a second so that it can check the stop button, and spins for the last part of
/// the wait, `watch`.
///
/// # Errors
/// If the target as a whole is lost.
pub(crate) fn wait_until<T: Target>(
    target: &mut T,
    due: Nanos,
    watch: Nanos,
    is_idle: bool,
    ended: &mut Vec<Completion>,
) -> Result<(), TargetError> {
    if is_idle {
        let wake = Nanos(due.0.saturating_sub(watch.0));
        let second = Nanos(target.now().0.saturating_add(Nanos::SECOND.0));
        target.idle_until(wake.min(second));
        let now = target.now();
        if now < wake || now >= due {
            return Ok(());
        }
    }
    target.reap_until(due, ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::scripted::{Event, Reply, ScriptedTarget};

    const MS_NS: u64 = 1_000_000;

    /// The end of each sleep of a target with nothing outstanding.
    fn waits_ms(due_ms: u64, watch_ms: u64, oversleep_ms: u64) -> Vec<u64> {
        let mut target = ScriptedTarget::new(1 << 20, Reply::after_ns(1));
        target.oversleep = Nanos(oversleep_ms * MS_NS);
        let [due, watch] = [due_ms, watch_ms].map(|ms| Nanos(ms * MS_NS));
        wait_until(&mut target, due, watch, true, &mut Vec::new()).unwrap();
        let until = target.events().iter().filter_map(|(_, event)| match event {
            Event::Idled(until) => Some(until.0 / MS_NS),
            _ => None,
        });
        until.collect()
    }

    #[test]
    fn an_idle_loop_sleeps_and_watches_the_clock_at_last() {
        assert_eq!(waits_ms(500, 0, 0), [500]);
        assert_eq!(waits_ms(500, 2, 0), [498, 500]);
        assert_eq!(waits_ms(500, 2, 1), [498, 500]);
        assert_eq!(waits_ms(500, 2, 3), [498], "it overslept");
        assert_eq!(waits_ms(5000, 2, 0), [1000], "the stop button is looked at");
    }
}
