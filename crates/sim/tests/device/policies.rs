//! Do policies of one's own decide in the place of those of the model, and are wrong answers faults in words?

use base::{OpKind, Ratio, Rng};
use sim::ftl::SuperblockState;
use sim::ftl::gc::own::{Candidates, VictimChoice};
use sim::ftl::pacing::Level;
use sim::ftl::pacing::own::Pace;
use sim::ftl::placement::own::{StreamChoice, Writes};
use sim::ftl::policies::Policies;
use sim::ftl::{StreamId, pacing};
use sim::{Config, Device, Probe};

use crate::common::{built_in, closed_loop, fill, op, random_writes, small, small_config};

/// A choice of victims by a function.
#[derive(Clone, Debug)]
struct Chooser(fn(&Candidates) -> usize);

impl VictimChoice for Chooser {
    fn choose(&mut self, candidates: Candidates) -> Result<usize, String> {
        Ok(self.0(&candidates))
    }

    fn copied(&self) -> Box<dyn VictimChoice> {
        Box::new(self.clone())
    }
}

fn index_of<T: Ord>(values: &[T], is_first: fn(&[T]) -> Option<&T>) -> usize {
    let wanted = is_first(values).expect("there are candidates");
    values.iter().position(|value| value == wanted).expect("it is one of them")
}

fn emptiest(candidates: &Candidates) -> usize {
    index_of(&candidates.valid_pages, |values| values.iter().min())
}

fn oldest(candidates: &Candidates) -> usize {
    index_of(&candidates.ages, |values| values.iter().max())
}

fn fullest(candidates: &Candidates) -> usize {
    index_of(&candidates.valid_pages, |values| values.iter().max())
}

/// Cost-benefit, as the built-in one reckons it.
fn worthiest(candidates: &Candidates) -> usize {
    let score = |index: usize| {
        let valid = u128::from(candidates.valid_pages[index]);
        let benefit = u128::from(candidates.superblock_pages) - valid;
        let age = u128::from(candidates.ages[index]) + 1;
        if valid == 0 { u128::MAX } else { benefit * age * 1_000_000 / (2 * valid) }
    };
    (0..candidates.ages.len()).rev().max_by_key(|&index| score(index)).expect("there are some")
}

/// Fills a drive and overwrites it twice at random.
fn wear_in<P: Probe>(device: &mut Device<P>) {
    let pages = device.config().geometry.logical_pages;
    let mut rng = Rng::split(1, "addresses");
    let mut next = 0;
    closed_loop(device, 32, 3 * pages, |tag| {
        next += 1;
        let page = if next <= pages { next - 1 } else { rng.below(pages) };
        op(OpKind::Write, page, 1, tag)
    });
}

/// Everything about a drive that its history determines, policies apart.
fn state(device: &Device) -> String {
    let ftl = device.ftl();
    let maps = (ftl.l2p.iter().collect::<Vec<_>>(), &ftl.erase_counts, &ftl.closed_at);
    format!("{maps:?} {:?} {:?}", device.now(), device.telemetry())
}

#[test]
fn the_built_in_policies_written_anew_give_the_same_drive() {
    for (name, choose) in
        [("greedy", emptiest as fn(&_) -> _), ("fifo", oldest), ("cost-benefit", worthiest)]
    {
        let mut built_in = small(&[("gc.policy", name)]);
        wear_in(&mut built_in);
        let mut own = small(&[("gc.policy", "windowed-greedy")]);
        *own.policies_mut() = Policies::default().with_victims(Chooser(choose));
        wear_in(&mut own);
        assert_eq!(own.policies_mut().take_fault(), None, "{name}");
        assert!(state(&own) == state(&built_in), "{name}");
        own.check().unwrap();
    }
}

#[test]
fn a_choice_among_the_superblocks_of_a_group_stays_within_it() {
    let groups = [("nand.die_groups", "2"), ("gc.victims", "per-group"), ("gc.free_high", "6")];
    let mut built_in = small(&groups);
    wear_in(&mut built_in);
    let mut own = small(&[&groups[..], &[("gc.policy", "fifo")]].concat());
    *own.policies_mut() = Policies::default().with_victims(Chooser(emptiest));
    wear_in(&mut own);
    assert!(state(&own) == state(&built_in));
}

#[test]
fn wrong_answers_are_faults_and_the_drive_goes_on_greedily() {
    for (choose, words) in [
        (
            (|candidates| candidates.ages.len()) as fn(&Candidates) -> usize,
            "expected an index from 0 to",
        ),
        (fullest, "in succession whose"),
    ] {
        let mut device = small(&[]);
        let pages = device.config().geometry.logical_pages * 3 / 4;
        fill(&mut device, pages);
        *device.policies_mut() = Policies::default().with_victims(Chooser(choose));
        random_writes(&mut device, pages, 2 * pages, &mut Rng::new(1));
        let fault = device.policies_mut().take_fault().expect("it is noted");
        assert!(fault.contains(words), "{fault}");
        device.check().unwrap();
        let waf = device.telemetry().programmed_pages as f64 / device.telemetry().host_pages as f64;
        assert!(waf < 2.0, "{waf}");
        // Once the fault is taken, it is asked again.
        random_writes(&mut device, pages, pages, &mut Rng::new(2));
        assert!(device.policies_mut().take_fault().is_some());
    }
}

#[test]
fn policies_outlast_a_reset_and_go_with_a_clone() {
    let mut device = small(&[]);
    *device.policies_mut() = Policies::default().with_victims(Chooser(|_| usize::MAX));
    wear_in(&mut device);
    assert!(device.policies_mut().take_fault().is_some());
    device.reset();
    wear_in(&mut device.clone());
    assert_eq!(device.policies_mut().take_fault(), None, "the copy goes its own way");
    wear_in(&mut device);
    assert!(device.policies_mut().take_fault().is_some());
}

/// Pages that come back soon go to stream 1.
#[derive(Clone, Debug)]
struct Soon(u32);

impl StreamChoice for Soon {
    fn assign(&mut self, writes: Writes) -> Result<Vec<u8>, String> {
        let is_soon = |&interval: &u32| u8::from(interval > 0 && interval < self.0);
        Ok(writes.intervals.iter().map(is_soon).collect())
    }

    fn copied(&self) -> Box<dyn StreamChoice> {
        Box::new(self.clone())
    }
}

const TWO_HANDLES: [(&str, &str); 3] = [
    ("interface.kind", "nvme"),
    ("interface.placement_handles", "2"),
    ("gc.handle_isolation", "persistent"),
];

/// Write amplification when a tenth of the data gets nine tenths of the writes.
fn skewed_waf(policies: Policies) -> (f64, Device) {
    let mut device = small(&TWO_HANDLES);
    *device.policies_mut() = policies;
    let pages = device.config().geometry.logical_pages * 9 / 10;
    fill(&mut device, pages);
    let mut rng = Rng::split(1, "addresses");
    let mut write = |device: &mut Device, count| {
        closed_loop(device, 32, count, |tag| {
            let (first, count) =
                if rng.chance(9, 10) { (0, pages / 10) } else { (pages / 10, pages * 9 / 10) };
            op(OpKind::Write, first + rng.below(count), 1, tag)
        });
    };
    write(&mut device, 4 * pages);
    let before = device.telemetry();
    write(&mut device, 2 * pages);
    let after = device.telemetry();
    let programmed = after.programmed_pages - before.programmed_pages;
    assert_eq!(device.policies_mut().take_fault(), None);
    device.check().unwrap();
    (programmed as f64 / (after.host_pages - before.host_pages) as f64, device)
}

#[test]
fn streams_by_the_interval_of_writes_keep_hot_data_apart() {
    let pages = small(&TWO_HANDLES).config().geometry.logical_pages;
    let (mixed, _) = skewed_waf(Policies::default());
    let (apart, device) = skewed_waf(Policies::default().with_streams(Soon(pages as u32 / 2)));
    println!("one stream {mixed:.3}, two by interval {apart:.3}");
    assert!(apart < 0.9 * mixed, "{apart} {mixed}");
    let hot = pages * 9 / 10 / 10;
    let ftl = device.ftl();
    let stream_of = |page| ftl.written_by[ftl.superblock_of(ftl.l2p.get(page)) as usize].handle();
    let hot_in_its_stream = (0..hot).filter(|&page| stream_of(page) == 1).count();
    assert!(hot_in_its_stream as u64 > hot * 8 / 10, "{hot_in_its_stream} of {hot}");
}

#[derive(Clone, Debug)]
struct Answer(Vec<u8>);

impl StreamChoice for Answer {
    fn assign(&mut self, _: Writes) -> Result<Vec<u8>, String> {
        Ok(self.0.clone())
    }

    fn copied(&self) -> Box<dyn StreamChoice> {
        Box::new(self.clone())
    }
}

#[test]
fn streams_that_do_not_exist_or_do_not_fit_are_faults() {
    for (answer, words) in [
        (vec![2; 4096], "chose stream 2; expected 0 to 1"),
        (vec![0; 7], "7 streams; expected 4096"),
    ] {
        let mut device = small(&TWO_HANDLES);
        *device.policies_mut() = Policies::default().with_streams(Answer(answer));
        random_writes(&mut device, 1000, 5000, &mut Rng::new(1));
        let fault = device.policies_mut().take_fault().expect("it is noted");
        assert!(fault.contains(words), "{fault}");
    }
}

/// The pace of the model.
#[derive(Clone, Debug)]
struct Same(pacing::Pacing);

impl Pace for Same {
    fn owed_pages(&mut self, level: Level, host_pages: u32) -> Result<u64, String> {
        Ok(self.0.owed_pages(level, host_pages))
    }

    fn copied(&self) -> Box<dyn Pace> {
        Box::new(self.clone())
    }
}

#[derive(Clone, Debug)]
struct Steady(u64);

impl Pace for Steady {
    fn owed_pages(&mut self, _: Level, host_pages: u32) -> Result<u64, String> {
        Ok(self.0 * u64::from(host_pages))
    }

    fn copied(&self) -> Box<dyn Pace> {
        Box::new(self.clone())
    }
}

#[test]
fn a_pace_written_anew_gives_the_same_drive_and_an_eager_one_costs_more() {
    let config: Config = small_config(Ratio::ONE, &[]);
    let mut built_in = Device::new(config.clone());
    wear_in(&mut built_in);
    let mut own = Device::new(config.clone());
    let pacing = pacing::Pacing::new(config.pacing, config.free_low, config.free_high);
    *own.policies_mut() = Policies::default().with_pace(Same(pacing));
    wear_in(&mut own);
    assert!(state(&own) == state(&built_in));
    let mut eager = Device::new(config);
    *eager.policies_mut() = Policies::default().with_pace(Steady(40));
    wear_in(&mut eager);
    assert_eq!(eager.policies_mut().take_fault(), None);
    let moved = |device: &Device| device.telemetry().gc_moved_pages;
    assert!(moved(&eager) > moved(&own), "{} {}", moved(&eager), moved(&own));
    *eager.policies_mut() = Policies::default().with_pace(Steady(1000));
    wear_in(&mut eager);
    let fault = eager.policies_mut().take_fault().expect("it is noted");
    assert!(fault.contains("expected 0 to 512"), "{fault}");
}

#[test]
fn candidates_are_the_closed_superblocks_with_their_facts() {
    #[derive(Clone, Debug)]
    struct Watcher;
    impl VictimChoice for Watcher {
        fn choose(&mut self, candidates: Candidates) -> Result<usize, String> {
            let count = candidates.superblocks.len();
            let lists = [
                candidates.valid_pages.len(),
                candidates.ages.len(),
                candidates.erases.len(),
                candidates.streams.len(),
            ];
            let is_in_order = candidates.superblocks.is_sorted();
            let is_within =
                candidates.valid_pages.iter().all(|&valid| valid <= candidates.superblock_pages);
            let are_known = candidates.ages.iter().all(|&age| age > 0)
                && candidates.streams.contains(&StreamId::Host);
            if lists == [count; 4] && is_in_order && is_within && are_known {
                Ok(emptiest(&candidates))
            } else {
                Err(format!("{candidates:?}"))
            }
        }

        fn copied(&self) -> Box<dyn VictimChoice> {
            Box::new(self.clone())
        }
    }
    let mut device = built_in("samsung-840-pro-256gb", "1/256", &[]);
    *device.policies_mut() = Policies::default().with_victims(Watcher);
    wear_in(&mut device);
    assert_eq!(device.policies_mut().take_fault(), None);
    assert!(device.ftl().states.contains(&SuperblockState::Closed));
}
