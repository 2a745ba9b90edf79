//! The point at which a run continues, for every state at its end.

use base::{Data, Nanos, OpKind};
use device::host::clock::MonotonicClock;
use load::{Order, Workload};
use target::Target;
use target::null::NullTarget;

use super::*;
use crate::suite::{Formula, steps};

const SPAN_BYTES: u64 = 1 << 30;

fn random(name: &str, kind: OpKind) -> PhaseSpec {
    let workload = Workload::new(kind, Order::Uniform, 4096, 32, SPAN_BYTES);
    steps::for_time(name, workload, Nanos::SECOND)
}

/// Purge, fill, read, write, read, purge, pass, pause, rounds, read.
fn procedure() -> Vec<Step> {
    let pass = steps::linear_pass("pass", OpKind::Write, Data::Incompressible, SPAN_BYTES);
    let phases = vec![random("a", OpKind::Write), random("b", OpKind::Read)];
    vec![
        steps::purge().into(),
        steps::fill("fill", SPAN_BYTES, 32).into(),
        random("read", OpKind::Read).into(),
        random("write", OpKind::Write).into(),
        random("again", OpKind::Read).into(),
        steps::purge().into(),
        pass.into(),
        steps::idle("pause", Nanos::SECOND).into(),
        Step::Rounds { rounds_max: 3, phases, settled: Formula::new(|_| false) },
        random("last", OpKind::Read).into(),
    ]
}

fn recorded(names: &str) -> Vec<Phase> {
    let phase = |name: &str| {
        let spec = steps::idle(name.trim_end_matches('!'), Nanos::SECOND);
        let phase = super::super::phase_record(&spec, String::new(), Nanos(0), Nanos(1));
        Phase { complete: !name.ends_with('!'), ..phase }
    };
    names.split_whitespace().map(phase).collect()
}

/// The step and the number of kept phases; an exclamation mark follows an interrupted phase.
fn point(names: &str, keeps_data: bool) -> (usize, usize) {
    let Point { step, phases, .. } = Point::find(&procedure(), &recorded(names), keeps_data);
    (step, phases)
}

#[test]
fn what_wrote_is_done_again_from_the_purge_before_it() {
    for keeps_data in [false, true] {
        for names in ["", "purge!", "purge", "purge fill!", "purge fill read write!"] {
            assert_eq!(point(names, keeps_data), (0, 0), "{names}");
        }
        let first_half = "purge fill read write again";
        for rest in ["", "purge!", "purge", "purge pass!", "purge pass", "purge pass pause!"] {
            assert_eq!(point(&format!("{first_half} {rest}"), keeps_data), (5, 5), "{rest}");
        }
    }
}

#[test]
fn what_only_read_is_done_again_by_itself_on_a_drive_that_keeps_its_data() {
    for names in ["purge fill", "purge fill read!"] {
        assert_eq!(point(names, true), (2, 2), "{names}");
        assert_eq!(point(names, false), (0, 0), "{names}");
    }
    assert_eq!(point("purge fill read write again!", true), (4, 4));
}

#[test]
fn rounds_are_kept_as_a_whole_or_not_at_all() {
    let before = "purge fill read write again purge pass pause";
    for rounds in ["a.r1", "a.r1 b.r1 a.r2!", "a.r1 b.r1 a.r2 b.r2"] {
        assert_eq!(point(&format!("{before} {rounds}"), true), (5, 5), "{rounds}");
    }
    assert_eq!(point(&format!("{before} a.r1 b.r1 last!"), true), (9, 10));
    assert_eq!(
        point(&format!("{before} a.r1 b.r1 last"), true),
        (10, 11),
        "only the end is missing"
    );
    let end = Point::find(&procedure(), &recorded(&format!("{before} a.r1 b.r1 last!")), true);
    assert_eq!(end.random_phases, 5, "read, write, again, a.r1 and b.r1");
}

#[test]
fn the_sentence_says_what_is_kept_and_what_is_done_again() {
    let what = |names: &str| {
        let phases = recorded(names);
        Point::find(&procedure(), &phases, true).what(&procedure(), &phases)
    };
    assert_eq!(what("purge fill read!"), "kept: purge, fill; goes on with `read`");
    let again = what("purge fill read write!");
    assert!(again.starts_with("none of its phases is kept; "), "{again}");
    assert!(again.ends_with("done again from `purge` on, including purge, fill, read"), "{again}");
}

/// All namespaces of a drive have its serial number.
#[test]
fn another_namespace_of_the_same_drive_is_another_target() {
    let identity = |wwid: Option<&str>| {
        let mut identity = NullTarget::new(SPAN_BYTES, MonotonicClock::start()).identity();
        identity.details.extend(wwid.map(|wwid| ("wwid".to_owned(), wwid.to_owned())));
        identity
    };
    let request = Request::new("latency".parse().unwrap(), "library".into());
    let limits = NullTarget::new(SPAN_BYTES, MonotonicClock::start()).limits();
    let plan = super::super::plan(&request, &identity(None), &limits).unwrap();
    let run = super::super::new_run(&request, &plan, &identity(Some("eui.1")), 0);
    for same in [None, Some("eui.1")] {
        refuse_other_target(&run, &identity(same)).unwrap();
    }
    let refused = refuse_other_target(&run, &identity(Some("eui.2"))).unwrap_err().to_string();
    assert!(refused.contains("world-wide name was eui.1 and now is eui.2"), "{refused}");
}

#[test]
fn what_ran_beside_the_kept_phases_stays_a_condition() {
    let kept = |then: &[(&str, &str)], now: &[(&str, &str)]| {
        let [then, mut now] = [then, now].map(|pairs| {
            let pairs =
                pairs.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned()));
            pairs.collect::<BTreeMap<_, _>>()
        });
        keep_beside(&mut now, &then);
        BESIDE.map(|label| now.get(label).cloned().unwrap_or_default())
    };
    let then = [("beside", "/dev/sdb"), ("shared_links", "none"), ("kernel", "6.1")];
    assert_eq!(kept(&then, &[]), ["/dev/sdb", ""]);
    assert_eq!(kept(&then, &[("beside", "none")]), ["/dev/sdb", ""]);
    assert_eq!(kept(&then, &[("beside", "/dev/sdb")]), ["/dev/sdb", ""]);
    assert_eq!(kept(&then, &[("beside", "/dev/sdc")]), ["/dev/sdb; later /dev/sdc", ""]);
    assert_eq!(kept(&[], &[("beside", "/dev/sdc")]), ["/dev/sdc", ""]);
}
