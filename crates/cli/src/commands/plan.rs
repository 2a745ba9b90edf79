//! `ssdlab plan`: every step of a run, with the data it destroys, the bytes it writes and its
//! duration. Changes nothing, and exits with the code of the run.

use ::target::PurgeMethod;
use clap::Args as ClapArgs;
use io::open::Inspected;
use run::session::{Plan, Request, plan};
use run::suite::PhaseSpec;
use session::effort::effort;

use crate::args::{CommonArgs, Format, RunArgs};
use crate::cost::{Cost, cost, drive_writes, overwritten_bytes, purge_of, total_cost, volume};
use crate::failure::{EXIT_DONE, Failure};
use crate::prepare;
use crate::quick;
use crate::ui::out::{data, talk};
use crate::ui::table::{bytes, seconds};

const EXAMPLES: &str = "\
Examples:
  ssdlab plan consistency /dev/nvme1n1
  ssdlab plan waf sim:samsung-840-pro-256gb --set 'patterns=uniform;zipf(0.8)'
  ssdlab plan corners /dev/sdb --span 64GiB --format json";

/// Arguments of `plan`: those of `run`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct PlanArgs {
    #[command(flatten)]
    pub run: RunArgs,
}

pub fn run(PlanArgs { run: args }: &PlanArgs) -> anyhow::Result<u8> {
    let inspection = prepare::inspect(prepare::parse(&args.test.targets)?, prepare::of_test(args))?;
    let args = &quick::filled(args, &inspection)?;
    let (mut documents, mut totals) = (Vec::new(), Vec::new());
    for (text, target) in args.test.targets.iter().zip(inspection.targets()) {
        let (of_target, written_bytes) = plan_target(args, text, target)?;
        documents.extend(of_target);
        totals.push(serde_json::json!({
            "target": text, "bytes_written_estimate": written_bytes,
            "drive_writes_estimate":
                drive_writes(written_bytes, target.identity.capacity_bytes),
        }));
    }
    let failures = prepare::failures(&inspection);
    let links = inspection.shared_links();
    match args.test.common.format {
        Format::Text => {
            print_links(args, &links);
            failures.iter().for_each(print_refusal);
        }
        Format::Json => {
            failures.iter().for_each(|failure| talk!("error: {}", failure.message));
            let mut document = serde_json::json!({
                "plans": documents, "totals": totals,
                "error": failures.first(), "errors": failures,
            });
            if args.parallel.parallel {
                document["shared_links"] = links.iter().map(link_document).collect();
            }
            data!("{document}");
        }
    }
    Ok(failures.first().map_or(EXIT_DONE, |failure| failure.exit_code))
}

fn link_document((name, targets): &(String, Vec<String>)) -> serde_json::Value {
    serde_json::json!({ "link": name, "targets": targets })
}

/// Prints the links that targets measured at the same time share.
fn print_links(args: &RunArgs, links: &[(String, Vec<String>)]) {
    if args.parallel.parallel {
        data!(
            "real targets at the same time{}",
            if links.is_empty() { "; no shared link is known" } else { "" }
        );
    }
    links.iter().for_each(|link| data!("  {}", prepare::link_in_words(link)));
}

/// Plans every span of a target; returns the documents, if wanted, and the sum of bytes written.
fn plan_target(
    args: &RunArgs,
    text: &str,
    inspected: &Inspected,
) -> anyhow::Result<(Vec<serde_json::Value>, u64)> {
    let (spans, mut documents, mut written_bytes) = (args.test.spans(), Vec::new(), 0_u64);
    let format = args.test.common.format;
    for &span in &spans {
        let CommonArgs { meter, library, seed, .. } = args.test.common.clone();
        let (settings, plain) = (args.test.settings(), Request::new(args.test.test, library));
        let request = Request { settings, span, seed, meter, ..plain };
        let plan = plan(&request, &inspected.identity, &inspected.limits)?;
        let method = purge_of(inspected, &plan, args.test.common.purge);
        let total = total_cost(&plan, overwritten_bytes(inspected, method));
        match format {
            Format::Json => documents.push(document(inspected, &plan, method, total)),
            Format::Text => print(inspected, &plan, method, total),
        }
        written_bytes = written_bytes.saturating_add(total.written_bytes);
    }
    if format == Format::Text && spans.len() > 1 {
        let volume = volume(written_bytes, inspected.identity.capacity_bytes);
        data!("{} runs on {text}: writes {volume}", spans.len());
    }
    Ok((documents, written_bytes))
}

fn document(
    inspected: &Inspected,
    plan: &Plan,
    method: Option<PurgeMethod>,
    total: Cost,
) -> serde_json::Value {
    let overwritten_bytes = overwritten_bytes(inspected, method);
    let phase_document = |phase: &PhaseSpec, rounds_max: u32| {
        let Cost { written_bytes, written_is_estimate, time, is_estimate } =
            cost(phase, overwritten_bytes);
        serde_json::json!({
            "phase": phase.name, "what": phase.what, "destructive": phase.is_destructive(),
            "bytes_written_estimate": written_bytes, "bytes_written_is_estimate": written_is_estimate,
            "drive_writes_estimate": drive_writes(written_bytes, inspected.identity.capacity_bytes),
            "duration_ns": time.map(|time| time.0),
            "duration_is_estimate": is_estimate, "rounds_max": rounds_max,
        })
    };
    let steps = plan.procedure.steps.iter();
    let phases: Vec<_> = steps
        .flat_map(|step| step.phases().iter().map(|phase| (phase, step.rounds_max())))
        .map(|(phase, rounds_max)| phase_document(phase, rounds_max))
        .collect();
    let purge_options: Vec<_> = inspected
        .purge_options
        .iter()
        .map(|option| {
            serde_json::json!({ "method": option.method.name(), "obstacle": option.obstacle })
        })
        .collect();
    serde_json::json!({
        "target": inspected.identity.spec, "name": inspected.identity.name,
        "simulated": inspected.identity.kind.is_simulated(),
        "capacity_bytes": inspected.identity.capacity_bytes,
        "span_bytes": plan.span.span_bytes, "variant": plan.span.variant,
        "bytes_written_estimate": total.written_bytes,
        "drive_writes_estimate": drive_writes(total.written_bytes, inspected.identity.capacity_bytes),
        "duration_ns_estimate": total.time.map(|time| time.0),
        "phases": phases, "notes": plan.procedure.notes, "refused_now": refused_now(inspected),
        "needs": inspected.needs,
        "purge_method": method.map(PurgeMethod::name), "purge_options": purge_options,
    })
}

fn print(inspected: &Inspected, plan: &Plan, method: Option<PurgeMethod>, total: Cost) {
    data!("{}, span {}", inspected.name(), bytes(plan.span.span_bytes));
    let is_real = inspected.identity.kind.stores_data();
    let overwritten_bytes = overwritten_bytes(inspected, method);
    let capacity_bytes = inspected.identity.capacity_bytes;
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
    let time = seconds(total.time.unwrap_or_default());
    let clock = match is_real {
        true => String::new(),
        false => format!(
            " of virtual time (about {} to wait here)",
            seconds(effort(plan, &inspected.identity))
        ),
    };
    data!("  in all about {time}{clock}, writes {}", total.volume(capacity_bytes));
    for note in &plan.procedure.notes {
        data!("  note: {note}");
    }
    if let Some(method) = method {
        data!("  purge by {}", method.name());
        for option in &inspected.purge_options {
            if let Some(obstacle) = &option.obstacle {
                data!("    not by {}: {obstacle}", option.method.name());
            }
        }
    }
    if let Some(needs) = &inspected.needs {
        data!("  needs {needs}");
    }
}

/// Reasons for a refusal now: code and message.
pub fn refused_now(inspected: &Inspected) -> Vec<(String, String)> {
    let failures = inspected.obstacles.iter().map(Failure::from_io);
    failures.map(|failure| (failure.reason, failure.message)).collect()
}

/// Prints the reasons for a refusal now.
pub fn print_refusal(failure: &Failure) {
    data!("would be refused ({}): {}", failure.reason, failure.message);
}

fn print_phase(phase: &PhaseSpec, is_real: bool, overwritten_bytes: u64, capacity_bytes: u64) {
    let erases = if is_real && phase.is_destructive() { " DESTROYS DATA" } else { "" };
    let cost = cost(phase, overwritten_bytes);
    let time = match cost.time {
        None => "moments".to_owned(),
        Some(time) if cost.is_estimate => format!("about {}", seconds(time)),
        Some(time) => seconds(time),
    };
    let clock = if is_real { "" } else { " of virtual time" };
    let written = if cost.written_bytes > 0 {
        format!(", writes {}", cost.volume(capacity_bytes))
    } else {
        String::new()
    };
    data!("  {:6}{erases} {time}{clock}{written}: {}", phase.name, phase.what);
}
