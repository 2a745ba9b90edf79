//! `ssdlab plan`: every step that a run would take, what it destroys, how much it writes and how long
//! that may take. Touches nothing.

use std::collections::BTreeMap;
use std::path::Path;

use base::Nanos;
use io::shell::{quoted, quoted_path};
use io::{
    DeviceReport, Identity, IoError, Limits, PurgeMethod, PurgeOption, TargetKind, TargetSpec,
    guard, purge,
};
use load::Order;
use run::event::Length;
use run::session::{Plan, plan};
use run::suite::{Action, PhaseSpec, Step};
use run::{Request, SpanRequest};

use crate::args::{Format, PlanArgs, TestArgs};
use crate::failure::EXIT_DONE;
use crate::target;
use crate::ui::out::data;
use crate::ui::table::{bytes, seconds};

/// What nobody can know before: taken for estimates, and said to be one.
const ASSUMED_FILL_BYTES_PER_S: u64 = 400_000_000;
const ASSUMED_RANDOM_BYTES_PER_S: u64 = 80_000_000;

/// The longest command that a file or block device is opened for.
const TRANSFER_BYTES_MAX: u32 = 32 << 20;

/// A target as far as it can be known without touching it.
pub struct Described {
    /// Who it is.
    pub identity: Identity,
    /// What it takes.
    pub limits: Limits,
    /// Reasons why a run would be refused now.
    refusals: Vec<guard::Refusal>,
    /// What a run needs, e.g. `--erase SERIAL`.
    needs: Option<String>,
    /// The ways to purge it, the best first; empty where there is nothing to choose.
    purge_options: Vec<PurgeOption>,
}

impl Described {
    /// A target that nothing forbids and that needs no permission.
    fn harmless(identity: Identity, limits: Limits) -> Self {
        let (refusals, purge_options) = (Vec::new(), Vec::new());
        Self { identity, limits, refusals, needs: None, purge_options }
    }

    /// Its name as people read it: a simulated drive is not taken for the drive.
    pub fn name(&self) -> String {
        let simulated = self.identity.kind == TargetKind::Simulated;
        format!("{}{}", self.identity.name, if simulated { " (simulated)" } else { "" })
    }

    /// What a run needs, e.g. `--erase SERIAL`.
    pub fn needs(&self) -> Option<&str> {
        self.needs.as_deref()
    }

    /// The method that a plan would purge with, where it does and there is a choice.
    pub fn purge_of(
        &self,
        plan: &Plan,
        wanted: Option<PurgeMethod>,
    ) -> Result<Option<PurgeMethod>, IoError> {
        let purges = plan.phases().any(|phase| matches!(phase.action, Action::Purge));
        match self.purge_method(wanted) {
            _ if !purges => Ok(None),
            // Why the device is not to be touched comes before how it could be erased.
            Err(_) if !self.refusals.is_empty() => Ok(None),
            method => method,
        }
    }

    /// Reasons why a run would be refused now: code and message.
    pub fn refused_now(&self) -> Vec<(&'static str, &str)> {
        self.refusals.iter().map(|refusal| (refusal.code, &*refusal.message)).collect()
    }

    /// The method that a run would purge with, where there is a choice.
    pub fn purge_method(
        &self,
        wanted: Option<PurgeMethod>,
    ) -> Result<Option<PurgeMethod>, IoError> {
        if self.purge_options.is_empty() {
            return Ok(None);
        }
        purge::choose(&self.purge_options, wanted, &self.identity.name).map(Some)
    }
}

pub fn run(args: &PlanArgs) -> anyhow::Result<u8> {
    let (mut documents, mut totals) = (Vec::new(), Vec::new());
    for text in &args.test.targets {
        let spec: TargetSpec = text.parse()?;
        target::check_purge(&spec, args.test.common.purge)?;
        let described = describe(&spec)?;
        let capacity_bytes = described.identity.capacity_bytes;
        let (spans, mut written_bytes) = (args.test.spans(), 0_u64);
        for &span in &spans {
            let plan = plan(&request(&args.test, span), &described.identity, &described.limits)?;
            let method = described.purge_of(&plan, args.test.common.purge)?;
            let total = total_cost(&plan, overwritten_bytes(&described, method));
            match args.test.common.format {
                Format::Json => documents.push(document(&described, &plan, method, total)),
                Format::Text => print(&described, &plan, method, total),
            }
            written_bytes = written_bytes.saturating_add(total.written_bytes);
        }
        if args.test.common.format == Format::Text && spans.len() > 1 {
            data!(
                "{} runs on {text}: writes {}",
                spans.len(),
                volume(written_bytes, capacity_bytes)
            );
        }
        totals.push(serde_json::json!({
            "target": text, "bytes_written_estimate": written_bytes,
            "drive_writes_estimate": drive_writes(written_bytes, capacity_bytes),
        }));
    }
    if args.test.common.format == Format::Json {
        data!("{}", serde_json::json!({ "plans": documents, "totals": totals }));
    }
    Ok(EXIT_DONE)
}

/// A request as far as a plan needs one.
pub fn request(args: &TestArgs, span: SpanRequest) -> Request {
    Request {
        settings: args.settings.clone(),
        span,
        seed: args.common.seed,
        meter: args.common.meter.clone(),
        ..Request::new(args.test, args.common.library.clone())
    }
}

/// What is known about a target without opening it.
pub fn describe(spec: &TargetSpec) -> Result<Described, IoError> {
    match spec {
        TargetSpec::Sim { name, settings } => {
            let (identity, limits) = io::engine::sim::describe(&spec.to_string(), name, settings)?;
            let refusal = target::check_memory(spec).err();
            let refusal = refusal
                .map(|error| guard::Refusal { code: "unsupported", message: error.to_string() });
            let refusals = refusal.into_iter().collect();
            Ok(Described { refusals, ..Described::harmless(identity, limits) })
        }
        TargetSpec::File { path, size_bytes, .. } => describe_file(spec, path, *size_bytes),
        TargetSpec::Block { path } => Ok(describe_block(spec, &guard::inspect(path)?)),
        TargetSpec::Null { size_bytes } => {
            let identity = bare_identity(spec, TargetKind::Null, *size_bytes);
            Ok(Described::harmless(identity, file_limits()))
        }
    }
}

fn bare_identity(spec: &TargetSpec, kind: TargetKind, capacity_bytes: u64) -> Identity {
    Identity {
        kind,
        name: spec.to_string(),
        spec: spec.to_string(),
        serial: None,
        firmware: None,
        capacity_bytes,
        raw_bytes: None,
        log_bytes: None,
        engine: String::new(),
        details: BTreeMap::new(),
    }
}

/// The limits of the real engines, as opened by a run.
fn file_limits() -> Limits {
    Limits {
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        transfer_bytes_max: TRANSFER_BYTES_MAX,
        queue_depth_max: io::open::QUEUE_DEPTH_MAX,
        deallocate: true,
        rest: false,
        energy: false,
        compresses: false,
    }
}

fn describe_file(
    spec: &TargetSpec,
    path: &Path,
    size_bytes: Option<u64>,
) -> Result<Described, IoError> {
    let found = io::open::look_at_file(path, size_bytes)?;
    let identity = bare_identity(spec, TargetKind::File, found.capacity_bytes);
    let needs = found.exists.then(|| format!("--erase {}", quoted_path(path)));
    let refusals = found.refusals;
    Ok(Described { needs, refusals, ..Described::harmless(identity, file_limits()) })
}

fn describe_block(spec: &TargetSpec, device: &DeviceReport) -> Described {
    let mut identity = bare_identity(spec, TargetKind::Block, device.capacity_bytes);
    identity.name = device.describe();
    identity.serial.clone_from(&device.serial);
    let limits = Limits {
        logical_block_bytes: device.logical_block_bytes,
        physical_block_bytes: device.physical_block_bytes,
        deallocate: device.deallocate,
        rest: io::rest::may_switch(device),
        ..file_limits()
    };
    let mut needs = device.confirmations.first().map(|word| format!("--erase {}", quoted(word)));
    if device.signatures.as_ref().is_some_and(|found| !found.is_empty()) {
        needs = needs.map(|needs| format!("{needs} --erase-signatures"));
    }
    let (refusals, purge_options) = (device.in_use.clone(), purge::survey(device));
    Described { identity, limits, refusals, needs, purge_options }
}

/// Bytes that a purge by this method writes itself.
pub fn overwritten_bytes(described: &Described, method: Option<PurgeMethod>) -> u64 {
    let overwrites = method == Some(PurgeMethod::Overwrite);
    if overwrites { described.identity.capacity_bytes } else { 0 }
}

/// What a phase costs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Bytes it writes, estimated where a time ends it.
    pub written_bytes: u64,
    /// How long it takes; `None` for moments.
    pub time: Option<Nanos>,
    /// True where the time is an estimate.
    pub is_estimate: bool,
}

/// What a phase costs, as far as that can be known.
///
/// A purge that overwrites costs the writing of `overwritten_bytes`.
pub fn cost(phase: &PhaseSpec, overwritten_bytes: u64) -> Cost {
    let scaled = |value: u64, by: u64, over: u64| {
        let product = u128::from(value) * u128::from(by) / u128::from(over);
        u64::try_from(product).unwrap_or(u64::MAX)
    };
    let workload = match &phase.action {
        Action::Load { workload, .. } => workload,
        Action::Idle(time) => return Cost { time: Some(*time), ..Cost::default() },
        Action::Replay(replay) => {
            let time = |moved| Nanos(scaled(moved, Nanos::SECOND.0, ASSUMED_RANDOM_BYTES_PER_S));
            let time = replay.moved_bytes.map(|(read, written)| time(read + written));
            let written_bytes = replay.moved_bytes.map_or(0, |(_, written)| written);
            return Cost { written_bytes, time, is_estimate: true };
        }
        Action::Purge if overwritten_bytes > 0 => {
            let time = Nanos(scaled(overwritten_bytes, Nanos::SECOND.0, ASSUMED_FILL_BYTES_PER_S));
            return Cost { written_bytes: overwritten_bytes, time: Some(time), is_estimate: true };
        }
        Action::Purge | Action::Deallocate { .. } | Action::SetRest(_) => {
            return Cost { is_estimate: true, ..Cost::default() };
        }
    };
    let bytes_per_s = match workload.order {
        Order::Uniform | Order::Composite(_) => ASSUMED_RANDOM_BYTES_PER_S,
        Order::Sequential | Order::SequentialOnce | Order::OnePass { .. } => {
            ASSUMED_FILL_BYTES_PER_S
        }
    };
    let second_ns = Nanos::SECOND.0;
    let (moved_bytes, time, is_estimate) = match phase.length() {
        Length::Bytes(bytes) => (bytes, Some(Nanos(scaled(bytes, second_ns, bytes_per_s))), true),
        Length::Time(time) => (scaled(time.0, bytes_per_s, second_ns), Some(time), false),
        Length::Unknown => (0, None, true),
    };
    let write_percent = 100 - u64::from(workload.mix.read_percent());
    Cost { written_bytes: scaled(moved_bytes, write_percent, 100), time, is_estimate }
}

/// What all steps of a plan cost, rounds at their most.
pub fn total_cost(plan: &Plan, overwritten_bytes: u64) -> Cost {
    let steps = plan.procedure.steps.iter().map(|step| step_cost(step, overwritten_bytes));
    steps.fold(Cost::default(), |sum, more| Cost {
        written_bytes: sum.written_bytes.saturating_add(more.written_bytes),
        time: Some(Nanos(
            sum.time.unwrap_or_default().0.saturating_add(more.time.unwrap_or_default().0),
        )),
        is_estimate: true,
    })
}

/// Of phases of which only some are done, the mean one counts for each of those.
fn step_cost(step: &Step, overwritten_bytes: u64) -> Cost {
    let phases = step.phases();
    let all = phases.len().max(1) as u128;
    let done = step.phases_max().map_or(all, u128::from) * u128::from(step.rounds_max());
    let at_most = |sum: u128| u64::try_from(sum * done / all).unwrap_or(u64::MAX);
    let costs = || phases.iter().map(|phase| cost(phase, overwritten_bytes));
    let written = costs().map(|cost| u128::from(cost.written_bytes)).sum();
    let time = costs().map(|cost| u128::from(cost.time.unwrap_or_default().0)).sum();
    Cost { written_bytes: at_most(written), time: Some(Nanos(at_most(time))), is_estimate: true }
}

/// How often these bytes fill the drive.
fn drive_writes(written_bytes: u64, capacity_bytes: u64) -> f64 {
    written_bytes as f64 / capacity_bytes.max(1) as f64
}

/// Bytes, and what they cost of the drive's endurance: that is rated in full drive writes.
pub fn volume(written_bytes: u64, capacity_bytes: u64) -> String {
    let writes = drive_writes(written_bytes, capacity_bytes);
    let decimals = if writes < 1.0 { 2 } else { 1 };
    format!("{} = {writes:.decimals$} full drive writes", bytes(written_bytes))
}

fn document(
    described: &Described,
    plan: &Plan,
    method: Option<PurgeMethod>,
    total: Cost,
) -> serde_json::Value {
    let overwritten_bytes = overwritten_bytes(described, method);
    let phase_document = |phase: &PhaseSpec, rounds_max: u32| {
        let Cost { written_bytes, time, is_estimate } = cost(phase, overwritten_bytes);
        serde_json::json!({
            "phase": phase.name, "what": phase.what, "destructive": phase.is_destructive(),
            "bytes_written_estimate": written_bytes,
            "drive_writes_estimate": drive_writes(written_bytes, described.identity.capacity_bytes),
            "duration_ns": time.map(|time| time.0),
            "duration_is_estimate": is_estimate, "rounds_max": rounds_max,
        })
    };
    let steps = plan.procedure.steps.iter();
    let phases: Vec<_> = steps
        .flat_map(|step| step.phases().iter().map(|phase| (phase, step.rounds_max())))
        .map(|(phase, rounds_max)| phase_document(phase, rounds_max))
        .collect();
    let purge_options: Vec<_> = described
        .purge_options
        .iter()
        .map(|option| {
            serde_json::json!({ "method": option.method.name(), "obstacle": option.obstacle })
        })
        .collect();
    serde_json::json!({
        "target": described.identity.spec, "name": described.identity.name,
        "simulated": described.identity.kind == TargetKind::Simulated,
        "capacity_bytes": described.identity.capacity_bytes,
        "span_bytes": plan.span.span_bytes, "variant": plan.span.variant,
        "bytes_written_estimate": total.written_bytes,
        "drive_writes_estimate": drive_writes(total.written_bytes, described.identity.capacity_bytes),
        "duration_ns_estimate": total.time.map(|time| time.0),
        "phases": phases, "notes": plan.procedure.notes, "refused_now": described.refused_now(),
        "needs": described.needs,
        "purge_method": method.map(PurgeMethod::name), "purge_options": purge_options,
    })
}

fn print(described: &Described, plan: &Plan, method: Option<PurgeMethod>, total: Cost) {
    data!("{}, span {}", described.name(), bytes(plan.span.span_bytes));
    let is_real = matches!(described.identity.kind, TargetKind::Block | TargetKind::File);
    let overwritten_bytes = overwritten_bytes(described, method);
    let capacity_bytes = described.identity.capacity_bytes;
    for step in &plan.procedure.steps {
        if step.rounds_max() > 1 {
            data!("  up to {} rounds of:", step.rounds_max());
        }
        if let Some(phases_max) = step.phases_max() {
            data!("  up to {phases_max} of these, chosen by what was measured before:");
        }
        let phases = step.phases().iter();
        phases.for_each(|phase| print_phase(phase, is_real, overwritten_bytes, capacity_bytes));
    }
    let clock = if is_real { "" } else { " of virtual time" };
    let (time, written) = (total.time.unwrap_or_default(), total.written_bytes);
    data!(
        "  in all up to about {}{clock}, writes {}",
        seconds(time),
        volume(written, capacity_bytes)
    );
    for note in &plan.procedure.notes {
        data!("  note: {note}");
    }
    if let Some(method) = method {
        data!("  purge by {}", method.name());
        for option in &described.purge_options {
            if let Some(obstacle) = &option.obstacle {
                data!("    not by {}: {obstacle}", option.method.name());
            }
        }
    }
    if let Some(needs) = &described.needs {
        data!("  needs {needs}");
    }
    print_refusals(described);
}

/// Says why a run would be refused now.
pub fn print_refusals(described: &Described) {
    for refusal in &described.refusals {
        data!("  would be refused ({}): {}", refusal.code, refusal.message);
    }
}

fn print_phase(phase: &PhaseSpec, is_real: bool, overwritten_bytes: u64, capacity_bytes: u64) {
    let erases = if is_real && phase.is_destructive() { " DESTROYS DATA" } else { "" };
    let Cost { written_bytes, time, is_estimate } = cost(phase, overwritten_bytes);
    let time = match time {
        None => "moments".to_owned(),
        Some(time) if is_estimate => format!("about {}", seconds(time)),
        Some(time) => seconds(time),
    };
    let clock = if is_real { "" } else { " of virtual time" };
    let up_to = if written_bytes > 0 {
        format!(", writes up to about {}", volume(written_bytes, capacity_bytes))
    } else {
        String::new()
    };
    data!("  {:6}{erases} {time}{clock}{up_to}: {}", phase.name, phase.what);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn described(target: &str) -> Result<Described, IoError> {
        describe(&target.parse().unwrap())
    }

    /// A run cuts or extends an existing file to the size that is named.
    #[test]
    fn a_file_is_planned_with_the_size_that_a_run_gives_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, vec![1; (4 << 20) + 100]).unwrap();
        for (query, expected) in [("?size=2MiB", 2 << 20), ("?size=8MiB", 8 << 20), ("", 4 << 20)] {
            let described = described(&format!("file:{}{query}", path.display())).unwrap();
            assert_eq!(described.identity.capacity_bytes, expected, "{query}");
            assert_eq!(described.needs(), Some(&*format!("--erase {}", path.display())));
        }
        assert_eq!(fs::metadata(&path).unwrap().len(), (4 << 20) + 100);
    }

    /// Without the right to open a device no way to purge it is found; that it is mounted is what matters.
    #[test]
    fn why_a_device_is_not_to_be_touched_comes_before_how_it_could_be_erased() {
        let mut described = described("null:?size=1GiB").unwrap();
        let obstacle = Some("could not be opened".to_owned());
        described.purge_options = vec![PurgeOption { method: PurgeMethod::Overwrite, obstacle }];
        let request = Request::new(run::Test::Consistency, "library".into());
        let plan = plan(&request, &described.identity, &described.limits).unwrap();
        assert!(described.purge_of(&plan, None).is_err());
        let message = "it is mounted".to_owned();
        described.refusals = vec![guard::Refusal { code: "mounted", message }];
        assert_eq!(described.purge_of(&plan, None).unwrap(), None);
    }

    #[test]
    fn what_is_written_is_told_in_full_drive_writes() {
        assert_eq!(volume(2_300_000_000_000, 480_000_000_000), "2.3 TB = 4.8 full drive writes");
        assert_eq!(volume(4_000_000_000, 480_000_000_000), "4.0 GB = 0.01 full drive writes");
        assert_eq!(volume(0, 0), "0 B = 0.00 full drive writes");
    }

    #[test]
    fn what_a_run_refuses_is_not_planned() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().display();
        for (target, expected) in [
            ("file:/dev/sdzz?size=1MiB".to_owned(), "outside /dev, /proc and /sys"),
            ("file:/proc/x?size=1MiB".to_owned(), "outside /dev, /proc and /sys"),
            (format!("file:{dir}/nodir/y?size=1MiB"), "its directory"),
            (format!("file:{dir}/new"), "?size=8GiB"),
            (format!("file:{dir}"), "is a directory"),
            ("file:/dev/null?size=1MiB".to_owned(), "is not a regular file"),
        ] {
            match described(&target).map(|described| described.identity) {
                Err(IoError::Usage(message)) => assert!(message.contains(expected), "{message}"),
                other => panic!("{target}: {other:?}"),
            }
        }
        let huge = described(&format!("file:{dir}/new?size=1048576TiB")).unwrap();
        assert_eq!(huge.refusals.first().map(|refusal| refusal.code), Some("no-space"));
    }
}
