//! `ssdlab library serve`: the Bench over HTTP, until Ctrl-C.

use std::net::SocketAddr;
use std::path::PathBuf;

use ::target::{Limits, TargetError};
use clap::Args as ClapArgs;
use result::schema::Run;
use run::session::plan;
use run::suite::Step;
use serve::{Config, IndexChanges, PlannedPhase, Token, UPLOAD_BYTES_MAX};
use session::request::to_run;

use crate::args::Format;
use crate::args::{LIBRARY, heading};
use crate::cost::{Cost, cost};
use crate::failure::EXIT_DONE;
use crate::page::load_page;
use crate::stop;
use crate::ui::out::{data, talk};
use crate::ui::wait::Wait;

/// Commands that a drive with NCQ takes at a time.
const SATA_QUEUE_DEPTH: u32 = 32;

const EXAMPLES: &str = "\
Examples:
  ssdlab library serve  # http://127.0.0.1:8080
  ssdlab library serve --library peers --listen 127.0.0.1:0
  ssdlab library serve --listen 0.0.0.0:8080 --public --token-file token";

/// The library and its page.
#[derive(Debug, ClapArgs)]
pub struct BenchArgs {
    /// Directory of run directories
    #[arg(long, value_name = "DIR", default_value = LIBRARY, help_heading = heading::OUTPUT)]
    pub library: PathBuf,
    /// Heading of the Bench
    #[arg(long, default_value = "SSD Bench", help_heading = heading::WORDS)]
    pub title: String,
    /// Page from this file instead of the built-in one
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub web: Option<PathBuf>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Arguments of `library serve`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Address and port; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Permit an address that other machines can reach; everybody there can read the library
    #[arg(long, help_heading = heading::SAFETY)]
    pub public: bool,
    /// Take uploads with the token in this file: one line of 16 to 512 characters that only you can
    /// read. Without it nobody can upload
    #[arg(long, value_name = "FILE", help_heading = heading::SAFETY)]
    pub token_file: Option<PathBuf>,
    /// Take no uploads
    #[arg(long, conflicts_with = "token_file", help_heading = heading::SAFETY)]
    pub read_only: bool,
    #[command(flatten)]
    pub bench: BenchArgs,
}

pub fn run(args: &ServeArgs) -> anyhow::Result<u8> {
    check_address(args)?;
    let token = args.token_file.as_deref().map(Token::read).transpose()?;
    let takes_uploads = token.is_some();
    let config = Config {
        library: args.bench.library.clone(),
        listen: args.listen,
        token,
        upload_bytes_max: UPLOAD_BYTES_MAX,
        title: args.bench.title.clone(),
        page: load_page(args.bench.web.as_deref())?.bench()?,
        plan: |run| planned(run).unwrap_or_default(),
    };
    let stop = stop::button()?;
    let mut wait =
        Some(Wait::new(&format!("reading the runs of {}", args.bench.library.display())));
    serve::serve(config, &stop, |address, refreshed| {
        drop(wait.take());
        tell(args, address, refreshed, takes_uploads);
    })?;
    talk!("stopped");
    Ok(EXIT_DONE)
}

/// The phases of a run, planned again from its request, or `None` if this version cannot plan it, or a file that the
/// request names would be read. Nothing touches the target, so its limits are those of any drive with its link.
fn planned(run: &Run) -> Option<Vec<PlannedPhase>> {
    let request = run.request.as_ref()?;
    if request.settings.iter().any(|set| matches!(set.name.as_str(), "trace" | "workload")) {
        return None;
    }
    let link = run.target.facts.interface.as_ref().map(|fact| fact.value.as_str());
    let host = run.target.details.get("host").map(String::as_str);
    let is_sata = link.or(host).is_some_and(|text| text.to_lowercase().contains("sata"));
    let queue_depth_max = if is_sata { SATA_QUEUE_DEPTH } else { Limits::BARE.queue_depth_max };
    let limits = Limits { queue_depth_max, rest: true, energy: true, ..Limits::BARE };
    let request = to_run(request, PathBuf::new()).ok()?;
    let plan = plan(&request, &run.target, &limits).ok()?;
    Some(plan.procedure.steps.iter().flat_map(phases).collect())
}

/// The phases of a step with all its rounds.
fn phases(step: &Step) -> Vec<PlannedPhase> {
    let count = step.phases_max().map_or(usize::MAX, |most| most as usize);
    let has_rounds = matches!(step, Step::Rounds { .. });
    let of_round = |round| {
        step.phases().iter().take(count).map(move |phase| {
            let Cost { time, is_estimate, .. } = cost(phase, 0);
            PlannedPhase {
                name: if has_rounds {
                    format!("{}.r{round}", phase.name)
                } else {
                    phase.name.clone()
                },
                duration_ns: time.map(|time| time.0),
                is_estimate,
                is_optional: round > 1,
            }
        })
    };
    (1..=step.rounds_max()).flat_map(of_round).collect()
}

/// Other machines reach the server only if the user said so.
fn check_address(args: &ServeArgs) -> Result<(), TargetError> {
    if args.listen.ip().is_loopback() {
        return Ok(());
    }
    let address = args.listen;
    if !args.public {
        return Err(TargetError::Usage(format!(
            "{address} can be reached by other machines, which can then read the library; \
             `--public` permits it, and 127.0.0.1 is this machine only"
        )));
    }
    if args.token_file.is_none() && !args.read_only {
        return Err(TargetError::Usage(format!(
            "on {address} say who may upload: `--token-file FILE` for those with the token, or \
             `--read-only` for nobody"
        )));
    }
    Ok(())
}

fn tell(args: &ServeArgs, address: SocketAddr, refreshed: IndexChanges, takes_uploads: bool) {
    let library = args.bench.library.display();
    let uploads = if takes_uploads { "uploads with the token" } else { "no uploads" };
    talk!("library {library}: {} new or changed runs read; {uploads}", refreshed.read);
    talk!("Ctrl-C stops the server");
    let url = format!("http://{address}");
    match args.bench.format {
        Format::Json => data!("{}", serde_json::json!({ "url": url })),
        Format::Text => data!("{url}"),
    }
}

#[cfg(test)]
mod tests {
    use result::schema::{Request, Setting};
    use session::request::plain;

    use super::*;

    fn planned_of(test: &str, setting: Option<(&str, &str)>) -> Option<Vec<PlannedPhase>> {
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../result/tests/compat/v2/run.json");
        let text = std::fs::read_to_string(example).unwrap();
        let run: Run = serde_json::from_str(&text).unwrap();
        let set = |(name, value): (&str, &str)| Setting {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let settings = setting.into_iter().map(set).collect();
        let request = Request { settings, ..plain(test, &run.target.spec) };
        planned(&Run { request: Some(request), ..run })
    }

    #[test]
    fn a_load_has_its_length_and_a_fill_a_guess() {
        let phases = planned_of("consistency", Some(("duration", "300s"))).unwrap();
        let of = |name| phases.iter().find(|phase| phase.name == name).unwrap();
        assert_eq!(
            (of("load").duration_ns, of("load").is_estimate),
            (Some(300_000_000_000), false)
        );
        assert!(of("fill").is_estimate && of("fill").duration_ns > Some(0));
        assert!(phases.iter().all(|phase| !phase.is_optional));
    }

    #[test]
    fn every_round_is_planned_and_only_the_first_is_certain() {
        let phases = planned_of("pts-iops", None).unwrap();
        let rounds = |end| phases.iter().filter(move |phase| phase.name.ends_with(end));
        assert!(rounds(".r1").count() > 1 && rounds(".r1").all(|phase| !phase.is_optional));
        assert_eq!(rounds(".r1").count(), rounds(".r25").count());
        assert!(rounds(".r2").all(|phase| phase.is_optional));
    }

    #[test]
    fn no_file_that_a_run_names_is_read() {
        assert_eq!(planned_of("replay", Some(("trace", "/proc/self/environ"))), None);
        assert_eq!(planned_of("workload", Some(("workload", "/proc/self/environ"))), None);
    }
}
