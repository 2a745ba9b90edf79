//! `ssdlab advise spare`: a search for the smallest spare area that holds a floor.
//!
//! Every try is a `consistency` run in the library: on a simulated drive in virtual time, on a real
//! one under the same guard as `ssdlab run`.

use std::sync::atomic::Ordering;

use ::target::{TargetError, TargetSpec};
use base::{Bytes, Nanos, Ratio};
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use io::open::Inspected;
use result::schema::{Request, Run};
use run::Test;
use run::advise::{Advice, Floor, Question, Search, SearchStep, Try};
use session::job::{Job, Origin, plan};

use crate::args::heading;
use crate::args::{CommonArgs, ExecutionArgs, Format, whole};
use crate::commands::plan::{print_refusal, refused_now};
use crate::cost::{self, Cost};
use crate::failure::{EXIT_DONE, EXIT_INTERRUPTED, EXIT_VERDICT, Failure};
use crate::job::{Call, one};
use crate::prepare;
use crate::ui::out::{data, talk};
use crate::ui::progress::Progress;
use crate::ui::table::{self, bytes, count, latency, seconds};
use crate::{request, stop};

const EXAMPLES: &str = "\
Examples:
  ssdlab advise spare sim:samsung-840-pro-256gb --floor 20000
  ssdlab advise spare /dev/sdb --floor 20000 --raw-capacity 256GiB --erase SERIAL
  ssdlab advise spare sim:samsung-840-pro-256gb --floor-latency 5ms --plan";

const OF_SPARE: &str = "\
Examples:
  ssdlab advise spare sim:samsung-840-pro-256gb --floor 20000 --hold every-second
  ssdlab advise spare /dev/sdb --floor 20000 --raw-capacity 256GiB --erase SERIAL
  ssdlab advise spare sim:samsung-840-pro-256gb --floor-latency 5ms --plan";

/// The subject of the advice.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum AdviseCommand {
    /// Find the smallest spare area that holds a floor under 4 KiB random writes
    #[command(after_help = OF_SPARE)]
    Spare(SpareArgs),
}

/// The rate that must hold the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Hold {
    /// The mean over steady state.
    #[default]
    Mean,
    /// Every second of it.
    EverySecond,
}

fn parse_floor(text: &str) -> Result<u64, String> {
    let floor = text.parse().ok().filter(|floor| *floor > 0);
    floor.ok_or_else(|| "expected random writes a second, a whole number such as 20000".to_owned())
}

/// Arguments of `advise spare`.
#[derive(Debug, ClapArgs)]
pub struct SpareArgs {
    /// Target: `sim:NAME[?key=value&...]`, `/dev/...` or `file:PATH?size=8GiB`
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Random writes per second that the drive must hold
    #[arg(long, value_name = "IOPS", allow_negative_numbers = true, value_parser = parse_floor, required_unless_present = "floor_latency")]
    pub floor: Option<u64>,
    /// Instead: the time within which 99% of the writes must end, e.g. `5ms`
    #[arg(long, value_name = "TIME", conflicts_with = "floor")]
    pub floor_latency: Option<Nanos>,
    /// Rate that must hold `--floor`: the mean over steady state, or every second of it
    #[arg(long, value_enum, default_value_t, conflicts_with = "floor_latency")]
    pub hold: Hold,
    /// Raw NAND of the drive, e.g. `256GiB`; drive models know it. Without it, shares refer to the
    /// advertised capacity and every try takes two more passes of random writes
    #[arg(long, value_name = "BYTES")]
    pub raw_capacity: Option<Bytes>,
    /// Largest spare area to try
    #[arg(long, value_name = "SHARE", default_value = "50%")]
    pub max_spare: Ratio,
    /// Grid of the search
    #[arg(long, value_name = "SHARE", default_value = "0.5%")]
    pub step: Ratio,
    /// Measured time of each try; default: until a fifth of the span is written at the floor
    #[arg(long, value_name = "TIME")]
    pub measure: Option<Nanos>,
    /// Commands kept outstanding
    #[arg(long, value_name = "N", default_value_t = 32, allow_negative_numbers = true, value_parser = whole::<u32, 1, { u32::MAX as u64 }>)]
    pub queue_depth: u32,
    /// Only print the tries, their longest duration and the amount they write
    #[arg(long, help_heading = heading::OUTPUT)]
    pub plan: bool,
    #[command(flatten)]
    pub common: CommonArgs,
    #[command(flatten)]
    pub execution: ExecutionArgs,
}

impl SpareArgs {
    /// The performance that the drive must hold.
    pub fn wanted(&self) -> Floor {
        match (self.floor_latency, self.hold) {
            (Some(latency), _) => Floor::P99(latency),
            (None, Hold::Mean) => Floor::MeanIops(self.floor.unwrap_or_default()),
            (None, Hold::EverySecond) => Floor::EverySecondIops(self.floor.unwrap_or_default()),
        }
    }
}

pub fn run(args: &SpareArgs) -> anyhow::Result<u8> {
    let spec: TargetSpec = args.target.parse()?;
    let requirements = prepare::of_runs(&args.common, &args.execution);
    let inspection = prepare::inspect(vec![spec.clone()], requirements)?;
    let inspected = inspection.target(&spec)?;
    check_depth(args, inspected)?;
    let question = Question {
        floor: args.wanted(),
        spare_max: args.max_spare,
        step: args.step,
        raw_capacity: args.raw_capacity,
        measure: args.measure,
        queue_depth: args.queue_depth,
    };
    let search = Search::new(question, &inspected.identity)?;
    let cost = cost(args, &search, inspected)?;
    if args.plan {
        let failures = prepare::failures(&inspection);
        print_plan(args, &search, inspected, cost, &failures);
        return Ok(failures.first().map_or(EXIT_DONE, |failure| failure.exit_code));
    }
    let held = prepare::hold(inspection)?;
    let inspected = &held.target(&spec)?.inspected;
    if !args.execution.quiet {
        talk!("{}", announcement(&search, inspected, cost));
    }
    let interrupted = stop::button()?;
    let progress = Progress::new(args.execution.quiet);
    let library = &args.common.library;
    let call = Call { library, held: &held, interrupted: &interrupted, progress: &progress };
    let origin = Origin { about: args.execution.about.about(), ..Origin::default() };
    let advice = search.answer(|at| -> anyhow::Result<Run> {
        let request = request(args, &spec, at);
        let plan = plan(&request, inspected)?;
        let outcome = one(&call, &Job::new(request, &plan, inspected), &origin)?;
        outcome.failure.map_or(Ok(outcome.run), |failure| Err(failure.into()))
    });
    progress.finish();
    match advice {
        Ok(advice) => Ok(print(args, &search, inspected, &advice)),
        Err(_) if interrupted.load(Ordering::Relaxed) => {
            talk!("interrupted; the runs so far are in {}", args.common.library.display());
            Ok(EXIT_INTERRUPTED)
        }
        Err(error) => Err(error),
    }
}

/// Refuses a queue that the target does not have, with the name of the depth in this command.
fn check_depth(args: &SpareArgs, inspected: &Inspected) -> Result<(), TargetError> {
    let (depth, most) = (args.queue_depth, inspected.limits.queue_depth_max);
    if depth <= most {
        return Ok(());
    }
    Err(TargetError::Usage(format!(
        "--queue-depth {depth} is more than the {most} commands that {} takes at a time; lower it with \
         --queue-depth {most}",
        args.target
    )))
}

/// The request for a try.
fn request(args: &SpareArgs, spec: &TargetSpec, at: &Try) -> Request {
    let with = (Test::CONSISTENCY, at.settings.clone());
    request::of_test(with, spec, at.span(), &args.common, &args.execution)
}

/// The highest cost of the search: each try counts as the one over the whole drive.
fn cost(args: &SpareArgs, search: &Search, inspected: &Inspected) -> anyhow::Result<Cost> {
    let at = search.largest();
    let plan = plan(&request(args, &inspected.spec, &at), inspected)?;
    let method = cost::purge_of(inspected, &plan, args.common.purge);
    let overwritten_bytes = cost::overwritten_bytes(inspected, method);
    let of_try = cost::total_cost(&plan, overwritten_bytes);
    let tries = u64::from(search.tries_max());
    Ok(Cost {
        written_bytes: of_try.written_bytes.saturating_mul(tries),
        written_is_estimate: of_try.written_is_estimate,
        time: of_try.time.map(|time| base::Nanos(time.0.saturating_mul(tries))),
        is_estimate: true,
    })
}

fn announcement(search: &Search, inspected: &Inspected, cost: Cost) -> String {
    format!(
        "up to {} tries for {}; all of them take about {} on the drive's clock and write {}",
        search.tries_max(),
        search.floor().in_words(),
        seconds(cost.time.unwrap_or_default()),
        cost.volume(inspected.identity.capacity_bytes)
    )
}

fn print_plan(
    args: &SpareArgs,
    search: &Search,
    inspected: &Inspected,
    cost: Cost,
    failures: &[Failure],
) {
    let erases = inspected.identity.kind.stores_data();
    match args.common.format {
        Format::Json => data!(
            "{}",
            serde_json::json!({
                "target": args.target, "holds": search.floor().in_words(), "destructive": erases,
                "tries_max": search.tries_max(), "bytes_written_estimate": cost.written_bytes,
                "duration_ns_estimate": cost.time.map(|time| time.0), "needs": inspected.needs,
                "refused_now": refused_now(inspected),
                "error": failures.first(), "errors": failures,
            })
        ),
        Format::Text => {
            let destroys = if erases { " DESTROYS DATA;" } else { "" };
            data!("{}:{destroys} {}", inspected.name(), announcement(search, inspected, cost));
            inspected.needs.iter().for_each(|needs| data!("  needs {needs}"));
            failures.iter().for_each(print_refusal);
        }
    }
}

/// Prints the result; the exit code says whether there is an answer.
fn print(args: &SpareArgs, search: &Search, inspected: &Inspected, advice: &Advice) -> u8 {
    let answer = advice.answer.map(|position| &advice.tried[position]);
    match args.common.format {
        Format::Json => data!("{}", document(args, search, inspected, advice)),
        Format::Text => {
            print_tries(search, inspected, advice);
            match answer {
                Some(answer) => print_answer(search, inspected, answer),
                None => data!("{}", refusal(search, &advice.tried[advice.best])),
            }
        }
    }
    if answer.is_some() { EXIT_DONE } else { EXIT_VERDICT }
}

fn refusal(search: &Search, best: &SearchStep) -> String {
    format!(
        "No spare area that was tried holds {}: the best is {}, at {}",
        search.floor().in_words(),
        figure(search, best.figure),
        spare(search, &best.at)
    )
}

fn spare(search: &Search, at: &Try) -> String {
    format!("{:.1}% of its {} capacity", 100.0 * at.spare_share, search.base)
}

fn figure(search: &Search, value: f64) -> String {
    if search.floor().metric().starts_with("latency") {
        latency(value)
    } else {
        format!("{} IOPS", count(value))
    }
}

/// The price of a usable GB at this span, of the drive at full size, in the currency of its price;
/// `None` if nobody knows the price.
fn price_per_gb(inspected: &Inspected, span_bytes: u64) -> Option<(f64, &str)> {
    let identity = &inspected.identity;
    let price = identity.facts.price.as_ref()?;
    let scale = identity.scale().map_or(1.0, |scale| scale.as_f64());
    let usable_gb = span_bytes as f64 / scale / 1e9;
    Some((price.amount_cents as f64 / 100.0 / usable_gb, &price.currency))
}

fn print_tries(search: &Search, inspected: &Inspected, advice: &Advice) {
    let has_price = inspected.identity.facts.price.is_some();
    let mut head = vec!["spare", "bytes used", search.floor().metric(), "WAF", "holds"];
    head.extend(has_price.then_some("per usable GB"));
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    let mut tried: Vec<_> = advice.tried.iter().collect();
    tried.sort_by_key(|tried| std::cmp::Reverse(tried.at.span_bytes));
    rows.extend(tried.into_iter().map(|tried| {
        let waf = tried.run.metrics.get("waf_steady").copied().flatten();
        let price = price_per_gb(inspected, tried.at.span_bytes);
        let mut row = vec![
            format!("{:.1}%", 100.0 * tried.at.spare_share),
            bytes(tried.at.span_bytes),
            figure(search, tried.figure),
            waf.map_or_else(|| "-".to_owned(), |waf| format!("{waf:.2}")),
            if tried.holds { "yes" } else { "no" }.to_owned(),
        ];
        row.extend(price.map(|(amount, currency)| format!("{amount:.2} {currency}")));
        row
    }));
    table::print(&rows);
    if let Some(price) = &inspected.identity.facts.price {
        data!("  price of {}, {}", price.date, price.from);
    }
}

fn print_answer(search: &Search, inspected: &Inspected, answer: &SearchStep) {
    let identity = &inspected.identity;
    let block_bytes = u64::from(inspected.limits.logical_block_bytes);
    let metric = |name: &str| answer.run.metrics.get(name).copied().flatten();
    data!("");
    data!(
        "{} holds {} with {} spare: {}",
        inspected.name(),
        search.floor().in_words(),
        spare(search, &answer.at),
        figure(search, answer.figure)
    );
    let rate = |name| metric(name).map_or_else(|| "-".to_owned(), count);
    let slowest = match identity.scale() {
        Some(scale) => format!("slowest second and p99 unknown at scale {scale}"),
        None => format!(
            "slowest second {}, p99 {}",
            rate("iops_steady_min"),
            metric("latency_steady_ns_p99").map_or_else(|| "-".to_owned(), latency)
        ),
    };
    data!("  there: mean {} IOPS, {slowest}", rate("iops_steady_mean"));
    let span_bytes = answer.at.span_bytes;
    if span_bytes == identity.capacity_bytes {
        data!("  Nothing need be set up: the drive keeps that much anyway.");
        return;
    }
    data!(
        "  use {} blocks of {block_bytes} bytes, {span_bytes} bytes, from LBA 0; leave the rest unwritten after a \
         purge:",
        span_bytes / block_bytes
    );
    for (way, command) in set_up(span_bytes, block_bytes) {
        data!("    {way}: {command}");
    }
    data!("  More ways and what undoes them: docs/reference/spare-area.md");
}

/// Commands that make it permanent; see `docs/reference/spare-area.md`.
fn set_up(span_bytes: u64, block_bytes: u64) -> [(&'static str, String); 3] {
    let blocks = span_bytes / block_bytes;
    // A GPT keeps its backup at the end of the disk: `parted` counts the last byte of the partition.
    let last = span_bytes.saturating_sub(1);
    [
        ("partition", format!("parted --script DEVICE mklabel gpt mkpart data 1MiB {last}B")),
        (
            "namespace",
            format!("nvme create-ns CONTROLLER --nsze={blocks} --ncap={blocks} --flbas=0"),
        ),
        ("protected area", format!("hdparm -N p{} DEVICE", span_bytes / 512)),
    ]
}

fn document(
    args: &SpareArgs,
    search: &Search,
    inspected: &Inspected,
    advice: &Advice,
) -> serde_json::Value {
    let identity = &inspected.identity;
    let block_bytes = u64::from(inspected.limits.logical_block_bytes);
    let of_try = |tried: &SearchStep| {
        serde_json::json!({
            "span_bytes": tried.at.span_bytes, "spare_share": tried.at.spare_share,
            "figure": tried.figure, "holds": tried.holds, "run_id": tried.run.run_id,
            "waf_steady": tried.run.metrics.get("waf_steady"),
            "price_per_gb": price_per_gb(inspected, tried.at.span_bytes).map(|(amount, _)| amount),
        })
    };
    let answer = advice.answer.map(|position| {
        let tried = &advice.tried[position];
        let span_bytes = tried.at.span_bytes;
        let set_up = set_up(span_bytes, block_bytes).map(|(_, command)| command).to_vec();
        let mut document = of_try(tried);
        document["blocks"] = (span_bytes / block_bytes).into();
        document["block_bytes"] = block_bytes.into();
        document["set_up"] = set_up.into();
        document
    });
    let dirs = advice.tried.iter().map(|tried| args.common.library.join(&tried.run.run_id));
    serde_json::json!({
        "target": identity.spec, "simulated": identity.kind.is_simulated(),
        "holds": search.floor().in_words(), "metric": search.floor().metric(),
        "currency": identity.facts.price.as_ref().map(|price| &price.currency),
        "base": search.base, "base_bytes": search.base_bytes, "answer": answer,
        "best": of_try(&advice.tried[advice.best]),
        "tries": advice.tried.iter().map(of_try).collect::<Vec<_>>(),
        "run_dirs": dirs.collect::<Vec<_>>(),
    })
}
