//! Runs side by side: those of one lane on real targets one after the other, since they would disturb each other; then
//! simulated ones on all processors, as far as they fit into the memory together, since nothing
//! disturbs virtual time.
//!
//! The longest work of a batch begins first, so that no long run is left over at the end. Results come in the
//! order of the tasks: the number of threads changes no result.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use base::Nanos;

/// The demands of one task.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    /// Whether it may run beside others: its target is simulated.
    pub is_simulated: bool,
    /// Memory of its target.
    pub memory_bytes: u64,
    /// Its length in any unit that all tasks share.
    pub length: u64,
    /// Its batch: every task of a batch begins before those of the next one.
    pub batch: usize,
    /// Its lane on real targets: the tasks of a lane run one after the other, and lanes beside each other.
    pub lane: usize,
}

/// The limits of all tasks together.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    threads: usize,
    memory_bytes: u64,
}

impl Limits {
    /// This many simulated drives at a time, or one for each processor, within the available memory.
    pub fn new(jobs: Option<u32>) -> Self {
        let processors = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self {
            threads: jobs.map_or_else(processors, |jobs| jobs as usize),
            memory_bytes: device::host::memory::available_bytes().unwrap_or(u64::MAX),
        }
    }

    /// The time that these tasks take side by side, if each takes its length and memory holds none back.
    pub fn time(&self, demands: &[Demand]) -> Nanos {
        let lengths = || demands.iter().map(|demand| demand.length);
        let sum = lengths().fold(0, u64::saturating_add);
        Nanos((sum / self.threads.max(1) as u64).max(lengths().max().unwrap_or_default()))
    }

    /// Memory for all tasks at a time.
    pub const fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }
}

/// Does every task until `stop` is set; `None` for those that did not begin.
pub fn carry_out<T: Sync, R: Send>(
    tasks: &[(Demand, T)],
    limits: Limits,
    stop: &AtomicBool,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<Option<R>> {
    let mut results: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    let done = Mutex::new(&mut results);
    let one = |index: usize| {
        let result = work(&tasks[index].1);
        locked(&done)[index] = Some(result);
    };
    let mut lanes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, (demand, _)) in
        tasks.iter().enumerate().filter(|(_, (demand, _))| !demand.is_simulated)
    {
        lanes.entry(demand.lane).or_default().push(index);
    }
    let drive = |lane: Vec<usize>| {
        let open = lane.into_iter().take_while(|_| !stop.load(Ordering::Relaxed));
        open.for_each(&one);
    };
    std::thread::scope(|scope| {
        let (drive, first) = (&drive, lanes.pop_first());
        for (_, lane) in lanes {
            scope.spawn(move || drive(lane));
        }
        first.into_iter().for_each(|(_, lane)| drive(lane));
    });
    let demands: Vec<_> = tasks.iter().map(|(demand, _)| *demand).collect();
    let queue = Queue::new(&demands, limits.memory_bytes);
    std::thread::scope(|scope| {
        for _ in 0..limits.threads.min(queue.len()) {
            scope.spawn(|| {
                while let Some(turn) = queue.next(stop) {
                    one(turn.index);
                }
            });
        }
    });
    results
}

/// A lock that a panic on another thread does not poison: the panic itself ends the scope.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The simulated tasks that wait for their turn.
struct Queue {
    state: Mutex<State>,
    ended: Condvar,
}

struct State {
    /// Waiting tasks in the order of their beginning: place in the list of tasks, and memory.
    waiting: Vec<(usize, u64)>,
    free_bytes: u64,
    running: usize,
}

/// A task whose turn it is, which holds its memory until it is dropped.
struct Turn<'a> {
    queue: &'a Queue,
    index: usize,
    memory_bytes: u64,
}

impl Queue {
    fn new(demands: &[Demand], free_bytes: u64) -> Self {
        let simulated = demands.iter().enumerate().filter(|(_, demand)| demand.is_simulated);
        let mut simulated: Vec<_> = simulated.collect();
        simulated.sort_by_key(|(_, demand)| (demand.batch, std::cmp::Reverse(demand.length)));
        let waiting = simulated.into_iter().map(|(index, demand)| (index, demand.memory_bytes));
        let state = State { waiting: waiting.collect(), free_bytes, running: 0 };
        Self { state: Mutex::new(state), ended: Condvar::new() }
    }

    fn len(&self) -> usize {
        locked(&self.state).waiting.len()
    }

    /// The first task that fits into the memory beside those that run, once there is one; `None` if
    /// none is left.
    fn next(&self, stop: &AtomicBool) -> Option<Turn<'_>> {
        let mut state = locked(&self.state);
        while !state.waiting.is_empty() && !stop.load(Ordering::Relaxed) {
            if let Some((index, memory_bytes)) = state.take() {
                return Some(Turn { queue: self, index, memory_bytes });
            }
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }
}

impl State {
    /// A task alone always begins: the target itself refuses what does not fit at all.
    fn take(&mut self) -> Option<(usize, u64)> {
        let (is_alone, free_bytes) = (self.running == 0, self.free_bytes);
        let fits = |(_, memory_bytes): &(usize, u64)| is_alone || *memory_bytes <= free_bytes;
        let taken = self.waiting.iter().position(fits)?;
        let (index, memory_bytes) = self.waiting.remove(taken);
        let memory_bytes = memory_bytes.min(free_bytes);
        self.free_bytes -= memory_bytes;
        self.running += 1;
        Some((index, memory_bytes))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = locked(&self.queue.state);
        state.free_bytes += self.memory_bytes;
        state.running -= 1;
        self.queue.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn tasks(demands: &[(bool, u64, u64)]) -> Vec<(Demand, u64)> {
        let demand = |&(is_simulated, memory_bytes, length): &(bool, u64, u64)| {
            (Demand { is_simulated, memory_bytes, length, batch: 0, lane: 0 }, memory_bytes)
        };
        demands.iter().map(demand).collect()
    }

    /// The tasks in the order of their beginning, and the most memory in use at once.
    fn observed(demands: &[(bool, u64, u64)], threads: usize, memory: u64) -> (Vec<u64>, u64) {
        let (order, used, most) = (Mutex::new(Vec::new()), AtomicU64::new(0), AtomicU64::new(0));
        let limits = Limits { threads, memory_bytes: memory };
        let results =
            carry_out(&tasks(demands), limits, &AtomicBool::new(false), |&memory_bytes| {
                locked(&order).push(memory_bytes);
                let now = used.fetch_add(memory_bytes, Ordering::SeqCst) + memory_bytes;
                most.fetch_max(now, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(2));
                used.fetch_sub(memory_bytes, Ordering::SeqCst);
                memory_bytes
            });
        let expected: Vec<_> = demands.iter().map(|demand| Some(demand.1)).collect();
        assert_eq!(results, expected, "results stand in the order of the tasks");
        (order.into_inner().unwrap(), most.into_inner())
    }

    #[test]
    fn real_targets_go_first_in_their_order_and_then_the_longest_work() {
        let demands = [(true, 1, 5), (false, 2, 1), (true, 3, 9), (false, 4, 7), (true, 5, 6)];
        assert_eq!(observed(&demands, 1, 100).0, [2, 4, 3, 5, 1]);
    }

    #[test]
    fn no_more_runs_side_by_side_than_fit_into_the_memory() {
        let demands: Vec<_> = (0..24).map(|index| (true, 1 + index % 5, index)).collect();
        assert!(observed(&demands, 8, 7).1 <= 7);
        assert_eq!(observed(&demands, 8, 0).1, 5, "one at a time where even one is too large");
    }

    #[test]
    fn lanes_of_real_targets_run_beside_each_other_and_their_tasks_in_order() {
        let demands = [(0, 1), (1, 2), (0, 3), (1, 4), (2, 5)];
        let task = |&(lane, name)| (Demand { lane, ..Demand::default() }, (lane, name));
        let tasks: Vec<_> = demands.iter().map(task).collect();
        let (begun, order) = (std::sync::Barrier::new(3), Mutex::new(Vec::new()));
        let limits = Limits { threads: 1, memory_bytes: 0 };
        let results = carry_out(&tasks, limits, &AtomicBool::new(false), |&(lane, name)| {
            if [1, 2, 5].contains(&name) {
                begun.wait();
            }
            locked(&order).push((lane, name));
            name
        });
        assert_eq!(results, [1, 2, 3, 4, 5].map(Some));
        let order = order.into_inner().unwrap();
        let of = |lane| order.iter().filter(move |task| task.0 == lane).map(|task| task.1);
        assert!(of(0).eq([1, 3]) && of(1).eq([2, 4]), "{order:?}");
    }

    #[test]
    fn a_stop_leaves_what_has_not_begun() {
        let stop = AtomicBool::new(false);
        let limits = Limits { threads: 1, memory_bytes: 9 };
        let demands = [(true, 1, 3), (true, 1, 2), (true, 1, 1)];
        let results =
            carry_out(&tasks(&demands), limits, &stop, |_| stop.store(true, Ordering::Relaxed));
        assert_eq!(results, [Some(()), None, None]);
    }
}
