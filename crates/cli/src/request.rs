//! The request for a run as data: made from the arguments, stored in the result, read by
//! `--resume`, and printed as the one command that repeats the run.
//!
//! A request confirms nothing: each call has its own confirmations.

use ::target::TargetSpec;
use result::schema::{Request, Setting};
use run::{RunError, SpanRequest, WORKERS_MAX};
use study::request::span;

pub use study::request::{command, is_of, repeat};

use crate::args::repeat::AboutArgs;
use crate::args::resume::ResumeArgs;
use crate::args::{CommonArgs, DriveArgs, EngineArgs, RunArgs};

/// The request for one run of a call.
pub fn of(args: &RunArgs, spec: &TargetSpec, span: SpanRequest) -> Request {
    let (common, engine) = (&args.test.common, &args.drive.engine);
    let (spare, span_bytes) = match span {
        SpanRequest::Default => (None, None),
        SpanRequest::Spare(share) => (Some(share.to_string()), None),
        SpanRequest::Bytes(bytes) => (None, Some(bytes.0)),
    };
    let settings = args.test.settings().into_iter();
    Request {
        test: args.test.test.name().to_owned(),
        target: spec.to_string(),
        spare,
        span_bytes,
        settings: settings.map(|(name, value)| Setting { name, value }).collect(),
        purge: common.purge.map(|method| method.name().to_owned()),
        meter: common.meter.as_ref().map(ToString::to_string),
        seed: common.seed,
        workers: engine.workers,
        cpu: engine.cpu.name().to_owned(),
        engine: engine.engine.to_string(),
        ios: args.drive.ios.as_ref().map(ToString::to_string),
        quick: args.test.quick,
    }
}

/// The meaning of a stored request.
#[derive(Debug)]
pub struct Stored {
    /// The target.
    pub spec: TargetSpec,
    /// The part of the target.
    pub span: SpanRequest,
    /// The other settings; library, confirmations, messages and format are those of the call that
    /// continues it.
    pub args: RunArgs,
}

impl Stored {
    /// Reads a request back.
    ///
    /// # Errors
    /// [`RunError::Usage`] for a value that no call could have requested.
    pub fn new(request: &Request, call: &ResumeArgs) -> Result<Self, RunError> {
        let read = || -> anyhow::Result<_> {
            Ok((request.target.parse()?, span(request)?, arguments(request, call)?))
        };
        let (spec, span, args) = read().map_err(|error| {
            let command = command(request);
            RunError::Usage(format!(
                "the run says that `{command}` repeats it, which cannot be used: {error}"
            ))
        })?;
        Ok(Self { spec, span, args })
    }
}

fn arguments(request: &Request, call: &ResumeArgs) -> anyhow::Result<RunArgs> {
    let settings = request.settings.iter();
    let settings = settings.map(|setting| (setting.name.clone(), setting.value.clone())).collect();
    let common = CommonArgs {
        purge: request.purge.as_deref().map(str::parse).transpose()?,
        meter: request.meter.as_deref().map(str::parse).transpose()?,
        library: call.library.clone(),
        seed: request.seed,
        format: call.format,
    };
    let drive = DriveArgs {
        erase: call.erase.clone(),
        erase_signatures: call.erase_signatures,
        engine: engine(request)?,
        facts: Vec::new(),
        ios: request.ios.as_deref().map(str::parse).transpose()?,
        about: AboutArgs::default(),
        quiet: call.quiet,
    };
    let mut args = RunArgs::part(request.test.parse()?, settings, common, drive);
    args.test.quick = request.quick;
    Ok(RunArgs { jobs: call.jobs, ..args })
}

fn engine(request: &Request) -> anyhow::Result<EngineArgs> {
    let workers = request.workers;
    anyhow::ensure!(
        (1..=WORKERS_MAX).contains(&workers),
        "{workers} workers; expected 1 to {WORKERS_MAX}"
    );
    Ok(EngineArgs { workers, cpu: request.cpu.parse()?, engine: request.engine.parse()? })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use result::schema::Run;

    use super::*;
    use crate::args::resume::RunCommand;
    use crate::args::{Args, Command, Format, JobsArg};
    use crate::prepare;

    fn call() -> ResumeArgs {
        ResumeArgs {
            run: "latest".to_owned(),
            erase: Vec::new(),
            erase_signatures: false,
            library: "library".into(),
            quiet: false,
            format: Format::Text,
            jobs: JobsArg::default(),
        }
    }

    /// The request of the first run of a call.
    fn asked(words: &[String]) -> Request {
        let Command::Run(RunCommand::New(args)) = Args::try_parse_from(words).unwrap().command
        else {
            panic!("{words:?}");
        };
        of(&args, &prepare::parse(&args.test.targets).unwrap()[0], args.test.spans()[0])
    }

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_request_survives_the_result_the_call_that_continues_it_and_the_command() {
        for text in [
            "ssdlab run consistency null: --seed 1",
            "ssdlab run consistency sim:ideal?scale=1/64 --spare 25% --set duration=60s --set steady_from=9s \
             --purge deallocate --meter hwmon:ina219/in0 --seed 18446744073709551615",
            "ssdlab run corners /dev/nvme0n1 --span 4GiB --seed 7 --workers 4 --cpu pinned --engine uring,sqpoll \
             --ios slowest:100",
            "ssdlab run latency /dev/sda --spare 1/3 --seed 0 --cpu free --engine sync",
        ] {
            let request = asked(&words(&text.split_whitespace().collect::<Vec<_>>()));
            let json = serde_json::to_string(&request).unwrap();
            let stored = Stored::new(&serde_json::from_str(&json).unwrap(), &call()).unwrap();
            assert_eq!(of(&stored.args, &stored.spec, stored.span), request, "{text}");
            let typed = shlex::split(&command(&request)).unwrap();
            assert_eq!(asked(&typed), request, "{text}");
            let plain = command(&request).replace('\'', "");
            assert_eq!(plain, text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }

    #[test]
    fn a_command_is_quoted_for_a_shell() {
        let trace = "trace=a trace of 'Jürgen' \"§1\" $(reboot) \\ 雪.csv";
        let target = "file:/tmp/it's a disk?size=16MiB";
        let typed = ["ssdlab", "run", "replay", target, "--set", trace, "--seed", "1"];
        let request = asked(&words(&typed));
        assert_eq!(shlex::split(&command(&request)).unwrap(), typed);
    }

    #[test]
    fn a_stored_request_that_nobody_could_have_made_is_refused() {
        let request = asked(&words(&["ssdlab", "run", "consistency", "null:"]));
        let wrong = [
            Request { test: "consistancy".to_owned(), ..request.clone() },
            Request { target: "nowhere".to_owned(), ..request.clone() },
            Request { spare: Some("120%".to_owned()), ..request.clone() },
            Request { purge: Some("magic".to_owned()), ..request.clone() },
            Request { meter: Some("magic".to_owned()), ..request.clone() },
            Request { workers: 0, ..request.clone() },
            Request { workers: u32::MAX, ..request.clone() },
            Request { cpu: "magic".to_owned(), ..request.clone() },
            Request { engine: "magic".to_owned(), ..request.clone() },
            Request { ios: Some("magic".to_owned()), ..request.clone() },
        ];
        for wrong in wrong {
            let refused = Stored::new(&wrong, &call()).err();
            assert!(
                matches!(&refused, Some(RunError::Usage(text)) if text.contains("cannot be used")),
                "{wrong:?}: {refused:?}"
            );
        }
    }

    #[test]
    fn a_run_of_an_older_version_is_known_by_its_command() {
        let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../result/tests/compat/v2/run.json");
        let text = std::fs::read_to_string(example).unwrap();
        let run: Run = serde_json::from_str(&text).unwrap();
        let request = asked(&words(&["ssdlab", "run", "consistency", "null:"]));
        assert_eq!(run.request, None);
        assert!(!is_of(&run, &request));
        let same = Run { command: command(&request), ..run };
        assert!(is_of(&same, &request));
        let other = Request { seed: 2, ..request.clone() };
        assert!(!is_of(&Run { request: Some(other), ..same }, &request), "the request decides");
    }
}
