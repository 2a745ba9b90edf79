//! Real targets measured at the same time: each has processors of its own as far as there are enough, a stop button of
//! its own, and its runs tell what ran beside them and what they share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use ::target::{TargetError, TargetSpec};
use base::Identity;
use device::describe::links::{SharedLink, shared};
use device::host::affinity::{self, Stay};
use io::open::{Held, Inspected};
use result::schema::{BESIDE, NONE_BESIDE};

/// Time between two looks at the stop button of the call.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The real targets of these, each once, in the order of the call.
pub(super) fn lanes(specs: &[TargetSpec]) -> Vec<TargetSpec> {
    let mut lanes: Vec<TargetSpec> = Vec::new();
    for spec in specs.iter().filter(|spec| !spec.kind().is_simulated()) {
        if !lanes.contains(spec) {
            lanes.push(spec.clone());
        }
    }
    lanes
}

/// Refuses a call with nothing to measure at the same time.
pub(super) fn check_several(specs: &[TargetSpec]) -> Result<(), TargetError> {
    let count = lanes(specs).len();
    if count > 1 {
        return Ok(());
    }
    Err(TargetError::Usage(format!(
        "--parallel is for two real targets or more, and this call has {count}; leave it away (simulated drives run side \
         by side anyway)"
    )))
}

/// The links that real targets of a call share: name, and the targets as typed.
pub(super) fn shared_links(targets: &[Inspected]) -> Vec<(String, Vec<String>)> {
    let specs: Vec<_> = targets.iter().map(|target| target.spec.clone()).collect();
    let lanes = lanes(&specs);
    let typed = |link: SharedLink| {
        let targets = link.targets.iter().map(|&lane| lanes[lane].to_string());
        (link.name, targets.collect())
    };
    shared(&lanes).into_iter().map(typed).collect()
}

/// The targets that are measured at the same time.
#[derive(Debug)]
pub(crate) struct Beside {
    lanes: Vec<Lane>,
    links: Vec<SharedLink>,
    /// Whether no two of them share a processor.
    is_apart: bool,
}

#[derive(Debug)]
struct Lane {
    spec: TargetSpec,
    /// Its name in the results of the others.
    name: String,
    processors: Vec<usize>,
    /// Its runs that have not ended.
    runs_left: AtomicUsize,
}

impl Beside {
    /// These targets, with `workers` threads each.
    pub(super) fn new(targets: &[Held], workers: u32) -> Self {
        let specs: Vec<_> = targets.iter().map(|held| held.inspected.spec.clone()).collect();
        let specs = lanes(&specs);
        let held = |spec: &TargetSpec| targets.iter().find(|held| &held.inspected.spec == spec);
        let near = |spec| held(spec).and_then(Held::interrupt_processor);
        let shares =
            affinity::shares(&specs.iter().map(near).collect::<Vec<_>>(), workers as usize);
        let is_apart = shares.is_some();
        let shares = shares.unwrap_or_else(|| vec![affinity::allowed_cpus(); specs.len()]);
        let links = shared(&specs);
        let lane = |(spec, processors): (TargetSpec, Vec<usize>)| Lane {
            name: held(&spec).map_or_else(|| spec.to_string(), name),
            spec,
            processors,
            runs_left: AtomicUsize::new(0),
        };
        let lanes = specs.into_iter().zip(shares).map(lane).collect();
        Self { lanes, links, is_apart }
    }

    /// Counts a run that will begin; its target's place among them, or `None` if it is none of them.
    pub(super) fn expect(&self, spec: &TargetSpec) -> Option<usize> {
        let lane = self.lane(spec)?;
        self.lanes[lane].runs_left.fetch_add(1, Ordering::Relaxed);
        Some(lane)
    }

    /// The turn of a run, which ends when it is dropped, or `None` if its target is none of them.
    pub(super) fn turn(&self, spec: &TargetSpec) -> Option<Turn<'_>> {
        self.lane(spec).map(|lane| Turn { beside: self, lane })
    }

    fn lane(&self, spec: &TargetSpec) -> Option<usize> {
        self.lanes.iter().position(|lane| &lane.spec == spec)
    }
}

/// The name of a target in the results of others: as typed, with its model.
fn name(held: &Held) -> String {
    let spec = held.inspected.spec.to_string();
    let model = held.inspected.identity.details.get(Identity::MODEL);
    model.map_or_else(|| spec.clone(), |model| format!("{spec} ({model})"))
}

/// The turn of one run among the targets that are measured at the same time.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    beside: &'a Beside,
    lane: usize,
}

impl Turn<'_> {
    /// The conditions of a run that begins now, label to value: what runs beside it, the links that it shares with
    /// these, and its processors.
    pub(crate) fn conditions(&self) -> BTreeMap<String, String> {
        let Self { beside: Beside { lanes, links, is_apart }, lane } = self;
        let runs =
            |other: &usize| other != lane && lanes[*other].runs_left.load(Ordering::Relaxed) > 0;
        let names = |others: &[usize]| {
            let running = others.iter().filter(|other| runs(other));
            running.map(|&other| lanes[other].name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let or_none = |text: String| if text.is_empty() { NONE_BESIDE.to_owned() } else { text };
        let with = |link: &SharedLink| {
            let others = names(&link.targets);
            let is_shared = link.targets.contains(lane) && !others.is_empty();
            is_shared.then(|| format!("{} with {others}", link.name))
        };
        let shared: Vec<_> = links.iter().filter_map(with).collect();
        let whose = if *is_apart { "its own" } else { "shared with the others" };
        let processors = affinity::list(&lanes[*lane].processors);
        let [beside, shared_links] = BESIDE;
        [
            (beside, or_none(names(&(0..lanes.len()).collect::<Vec<_>>()))),
            (shared_links, or_none(shared.join("; "))),
            ("processors", format!("{processors}, {whose}")),
        ]
        .map(|(label, value)| (label.to_owned(), value))
        .into()
    }

    /// Does the work of the run on its processors, with a stop button of its own: what stops one run stops no other,
    /// and the button of the call stops all.
    pub(crate) fn work<R>(&self, call: &AtomicBool, work: impl FnOnce(&AtomicBool) -> R) -> R {
        let _stay = Stay::on(&self.beside.lanes[self.lane].processors);
        let own = AtomicBool::new(call.load(Ordering::Relaxed));
        let (running, ended) = channel::<()>();
        thread::scope(|scope| {
            let own = &own;
            scope.spawn(move || {
                while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                    if call.load(Ordering::Relaxed) {
                        own.store(true, Ordering::Relaxed);
                    }
                }
            });
            // Dropped at the end of the work, which ends the looks.
            let _running = running;
            work(own)
        })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let left = &self.beside.lanes[self.lane].runs_left;
        let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str) -> Lane {
        Lane {
            spec: name.parse().unwrap(),
            name: name.to_owned(),
            processors: affinity::allowed_cpus(),
            runs_left: AtomicUsize::new(0),
        }
    }

    #[test]
    fn a_run_tells_what_runs_beside_it_when_it_begins() {
        let links = vec![
            SharedLink { name: "USB hub 2-1".to_owned(), targets: vec![0, 1] },
            SharedLink { name: "HBA 0000:00:17.0".to_owned(), targets: vec![1, 2] },
        ];
        let lanes = ["/dev/sda", "/dev/sdb", "/dev/sdc"].map(lane).into();
        let beside = Beside { lanes, links, is_apart: false };
        for (name, lane) in [("/dev/sda", 0), ("/dev/sdb", 1), ("/dev/sdb", 1), ("/dev/sdc", 2)] {
            assert_eq!(beside.expect(&name.parse().unwrap()), Some(lane));
        }
        let turn = |name: &str| beside.turn(&name.parse().unwrap()).unwrap();
        let told = |turn: &Turn<'_>, label: &str| turn.conditions()[label].clone();
        let (first, second) = (turn("/dev/sda"), turn("/dev/sdb"));
        assert_eq!(told(&first, "beside"), "/dev/sdb, /dev/sdc");
        assert_eq!(told(&first, "shared_links"), "USB hub 2-1 with /dev/sdb");
        assert!(told(&first, "processors").ends_with(", shared with the others"));
        assert_eq!(
            told(&second, "shared_links"),
            "USB hub 2-1 with /dev/sda; HBA 0000:00:17.0 with /dev/sdc"
        );
        drop((first, second, turn("/dev/sdc")));
        let again = turn("/dev/sdb");
        assert_eq!(
            (told(&again, "beside"), told(&again, "shared_links")),
            ("none".into(), "none".into())
        );
        assert!(beside.turn(&"sim:ideal".parse().unwrap()).is_none());
    }

    #[test]
    fn the_button_of_a_call_stops_every_run_and_that_of_a_run_no_other() {
        let lanes = ["/dev/sda", "/dev/sdb"].map(lane).into();
        let beside = Beside { lanes, links: Vec::new(), is_apart: false };
        let (call, turn) =
            (AtomicBool::new(false), beside.turn(&"/dev/sda".parse().unwrap()).unwrap());
        turn.work(&call, |own| own.store(true, Ordering::Relaxed));
        assert!(!call.load(Ordering::Relaxed));
        turn.work(&call, |own| {
            assert!(!own.load(Ordering::Relaxed));
            call.store(true, Ordering::Relaxed);
            while !own.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        });
        turn.work(&call, |own| assert!(own.load(Ordering::Relaxed), "at once"));
    }

    #[test]
    fn one_real_target_has_nothing_beside_it() {
        let check = |texts: &[&str]| {
            let specs = texts.iter().map(|text| text.parse().unwrap());
            check_several(&specs.collect::<Vec<_>>()).is_ok()
        };
        assert!(check(&["/dev/sda", "sim:ideal", "/dev/sdb"]));
        assert!(
            !check(&["/dev/sda", "sim:ideal", "/dev/sda"]) && !check(&["sim:ideal", "sim:ideal"])
        );
    }
}
