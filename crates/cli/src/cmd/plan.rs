//! `ssdlab plan`: every step that a run would take, what it destroys, how much it writes and how long
//! that may take. Touches nothing.

use std::collections::BTreeMap;
use std::path::Path;

use base::Nanos;
use io::{
    DeviceReport, Identity, IoError, Limits, OpenOptions, PurgeMethod, PurgeOption, TargetKind,
    TargetSpec, guard, purge,
};
use run::event::Length;
use run::session::{Plan, plan};
use run::suite::{Action, PhaseSpec};
use run::{Request, SpanRequest};

use crate::args::{Format, PlanArgs};
use crate::failure::EXIT_DONE;
use crate::ui::table::{bytes, seconds};

/// What nobody can know before: taken for estimates, and said to be one.
const ASSUMED_FILL_BYTES_PER_S: u64 = 400_000_000;
const ASSUMED_RANDOM_BYTES_PER_S: u64 = 80_000_000;

/// A target as far as it can be known without touching it.
struct Described {
    identity: Identity,
    limits: Limits,
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

    /// The method that a run would purge with, where there is a choice.
    fn purge_method(&self, wanted: Option<PurgeMethod>) -> Result<Option<PurgeMethod>, IoError> {
        if self.purge_options.is_empty() {
            return Ok(None);
        }
        purge::choose(&self.purge_options, wanted, &self.identity.name).map(Some)
    }
}

pub fn run(args: &PlanArgs) -> anyhow::Result<u8> {
    let mut documents = Vec::new();
    for text in &args.test.targets {
        let spec: TargetSpec = text.parse()?;
        let described = describe(&spec)?;
        for span in args.test.spans() {
            let plan = plan(&request(args, span), &described.identity, &described.limits)?;
            let has_purge = plan.phases.iter().any(|phase| matches!(phase.action, Action::Purge));
            let method = if has_purge { described.purge_method(args.test.purge)? } else { None };
            match args.test.format {
                Format::Json => documents.push(document(&described, &plan, method)),
                Format::Text => print(&described, &plan, method),
            }
        }
    }
    if args.test.format == Format::Json {
        println!("{}", serde_json::json!({ "plans": documents }));
    }
    Ok(EXIT_DONE)
}

fn request(args: &PlanArgs, span: SpanRequest) -> Request {
    Request {
        test: args.test.test,
        settings: args.test.settings.clone(),
        span,
        seed: args.test.seed,
        library: args.test.library.clone(),
        command: String::new(),
        environment: BTreeMap::new(),
        warnings: Vec::new(),
    }
}

fn describe(spec: &TargetSpec) -> Result<Described, IoError> {
    match spec {
        TargetSpec::Sim { name, settings } => {
            let (identity, limits) = io::engine::sim::describe(&spec.to_string(), name, settings)?;
            Ok(Described::harmless(identity, limits))
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
        engine: String::new(),
        details: BTreeMap::new(),
    }
}

/// The limits of the real engines, as opened by a run.
fn file_limits() -> Limits {
    Limits {
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        transfer_bytes_max: OpenOptions::default().transfer_bytes_max,
        queue_depth_max: io::open::QUEUE_DEPTH_MAX,
        deallocate: true,
    }
}

fn describe_file(
    spec: &TargetSpec,
    path: &Path,
    size_bytes: Option<u64>,
) -> Result<Described, IoError> {
    let existing = std::fs::metadata(path).ok().map(|metadata| metadata.len());
    let Some(capacity_bytes) = existing.or(size_bytes) else {
        return Err(IoError::Usage(format!(
            "{} does not exist; give the size to create it with: file:{}?size=8GiB",
            path.display(),
            path.display()
        )));
    };
    let identity = bare_identity(spec, TargetKind::File, capacity_bytes);
    let needs = existing.map(|_| format!("--erase {}", path.display()));
    Ok(Described { needs, ..Described::harmless(identity, file_limits()) })
}

fn describe_block(spec: &TargetSpec, device: &DeviceReport) -> Described {
    let mut identity = bare_identity(spec, TargetKind::Block, device.capacity_bytes);
    identity.name = device.describe();
    identity.serial.clone_from(&device.serial);
    let limits = Limits {
        logical_block_bytes: device.logical_block_bytes,
        physical_block_bytes: device.physical_block_bytes,
        deallocate: device.deallocate,
        ..file_limits()
    };
    let mut needs = device.confirmations.first().map(|word| format!("--erase {word}"));
    if device.signatures.as_ref().is_some_and(|found| !found.is_empty()) {
        needs = needs.map(|needs| format!("{needs} --erase-signatures"));
    }
    let (refusals, purge_options) = (device.in_use.clone(), purge::survey(device));
    Described { identity, limits, refusals, needs, purge_options }
}

/// Bytes that a purge by this method writes itself.
fn overwritten_bytes(described: &Described, method: Option<PurgeMethod>) -> u64 {
    let overwrites = method == Some(PurgeMethod::Overwrite);
    if overwrites { described.identity.capacity_bytes } else { 0 }
}

/// Bytes written and time taken; time is an estimate where it is not set.
fn cost(phase: &PhaseSpec, overwritten_bytes: u64) -> (u64, Option<Nanos>, bool) {
    let length = match phase.action {
        Action::Purge if overwritten_bytes > 0 => Length::Bytes(overwritten_bytes),
        _ => phase.length(),
    };
    match (&phase.action, length) {
        (_, Length::Bytes(bytes)) => {
            let ns = u128::from(bytes) * 1_000_000_000 / u128::from(ASSUMED_FILL_BYTES_PER_S);
            (bytes, u64::try_from(ns).ok().map(Nanos), true)
        }
        (Action::Load { .. }, Length::Time(time)) => {
            let bytes = u128::from(time.0) * u128::from(ASSUMED_RANDOM_BYTES_PER_S) / 1_000_000_000;
            (u64::try_from(bytes).unwrap_or(u64::MAX), Some(time), false)
        }
        _ => (0, None, true),
    }
}

fn document(described: &Described, plan: &Plan, method: Option<PurgeMethod>) -> serde_json::Value {
    let phases: Vec<_> = plan
        .phases
        .iter()
        .map(|phase| {
            let (bytes, time, estimated) = cost(phase, overwritten_bytes(described, method));
            serde_json::json!({
                "phase": phase.name, "what": phase.what, "destructive": phase.is_destructive(),
                "bytes_written_estimate": bytes, "duration_ns": time.map(|time| time.0),
                "duration_is_estimate": estimated,
            })
        })
        .collect();
    let refusals: Vec<_> = described.refusals.iter().map(|r| (r.code, &r.message)).collect();
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
        "phases": phases, "refused_now": refusals, "needs": described.needs,
        "purge_method": method.map(PurgeMethod::name), "purge_options": purge_options,
    })
}

fn print(described: &Described, plan: &Plan, method: Option<PurgeMethod>) {
    println!("{}, span {}", described.identity.name, bytes(plan.span.span_bytes));
    let is_real = matches!(described.identity.kind, TargetKind::Block | TargetKind::File);
    for phase in &plan.phases {
        let erases = if is_real && phase.is_destructive() { " DESTROYS DATA" } else { "" };
        let (written, time, estimated) = cost(phase, overwritten_bytes(described, method));
        let time = match time {
            None => "moments".to_owned(),
            Some(time) if estimated => format!("about {}", seconds(time)),
            Some(time) => seconds(time),
        };
        let clock = if is_real { "" } else { " of virtual time" };
        let up_to = if written > 0 {
            format!(", writes up to about {}", bytes(written))
        } else {
            String::new()
        };
        println!("  {:6}{erases} {time}{clock}{up_to}: {}", phase.name, phase.what);
    }
    if let Some(method) = method {
        println!("  purge by {}", method.name());
        for option in &described.purge_options {
            if let Some(obstacle) = &option.obstacle {
                println!("    not by {}: {obstacle}", option.method.name());
            }
        }
    }
    if let Some(needs) = &described.needs {
        println!("  needs {needs}");
    }
    for refusal in &described.refusals {
        println!("  would be refused ({}): {}", refusal.code, refusal.message);
    }
}
