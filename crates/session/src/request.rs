//! The request for a run as data: its command, its run, and its place among others.
//!
//! A request confirms nothing: each call has its own confirmations.

use std::path::PathBuf;

use base::Bytes;
use device::host::shell::quoted;
use io::EngineChoice;
use result::schema::{Repeat, Request, Run};
use result::store::ios::{IosChoice, IosChoiceError};
use run::{RunError, SpanRequest, Workers};
use target::TargetError;

/// A request for a test with every default, on the whole target.
pub fn plain(test: &str, target: &str) -> Request {
    usual(Request {
        test: test.to_owned(),
        target: target.to_owned(),
        spare: None,
        span_bytes: None,
        settings: Vec::new(),
        purge: None,
        meter: None,
        seed: 1,
        workers: 1,
        cpu: String::new(),
        engine: String::new(),
        ios: None,
        quick: false,
        read_only: false,
    })
}

/// The one command that makes this request.
pub fn command(request: &Request) -> String {
    let usual = usual(request.clone());
    let option = |name: &str, value: Option<String>| {
        value.into_iter().flat_map(|value| [name.to_owned(), value]).collect::<Vec<_>>()
    };
    let unusual = |value: &String, usual: String| Some(value.clone()).filter(|v| *v != usual);
    let settings = request.settings.iter();
    let settings = settings.map(|setting| format!("{}={}", setting.name, setting.value));
    let workers = (request.workers != usual.workers).then(|| request.workers.to_string());
    let words = [
        ["ssdlab", "run", &request.test, &request.target].map(str::to_owned).to_vec(),
        option("--spare", request.spare.clone()),
        option("--span", request.span_bytes.map(|bytes| Bytes(bytes).to_string())),
        settings.flat_map(|setting| option("--set", Some(setting))).collect(),
        option("--purge", request.purge.clone()),
        option("--meter", request.meter.clone()),
        option("--seed", Some(request.seed.to_string())),
        option("--workers", workers),
        option("--cpu", unusual(&request.cpu, usual.cpu)),
        option("--engine", unusual(&request.engine, usual.engine)),
        option("--ios", request.ios.clone()),
        Vec::from_iter(request.read_only.then(|| "--read-only".to_owned())),
    ];
    words.concat().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A request with the engine and threads of a call without flags for them.
fn usual(request: Request) -> Request {
    let Workers { count: workers, placement } = Workers::PLAIN;
    let engine = EngineChoice::default().to_string();
    Request { workers, cpu: placement.name().to_owned(), engine, ..request }
}

/// The place of a request among those of its call that differ in the seed only, or `None` if there
/// is no other one.
pub fn repeat(request: &Request, call: &[Request]) -> Option<Repeat> {
    let same = |other: &&Request| Request { seed: request.seed, ..(*other).clone() } == *request;
    let repeats: Vec<_> = call.iter().filter(same).collect();
    let place = repeats.iter().position(|other| other.seed == request.seed)?;
    let of = u32::try_from(repeats.len()).ok().filter(|of| *of > 1)?;
    Some(Repeat { number: u32::try_from(place).ok()? + 1, of })
}

/// Whether the run comes from this request. A run of an older ssdlab is compared by its command.
pub fn is_of(run: &Run, request: &Request) -> bool {
    run.request.as_ref().map_or_else(
        || run.command == command(request),
        // An older ssdlab does not tell whether its form is quick; the settings do.
        |made_by| Request { quick: request.quick, ..made_by.clone() } == *request,
    )
}

/// The part of the target of a request.
///
/// # Errors
/// [`RunError::Usage`] for a share of spare area that is none.
pub fn span(request: &Request) -> Result<SpanRequest, RunError> {
    Ok(match (request.span_bytes, &request.spare) {
        (Some(bytes), _) => SpanRequest::Bytes(Bytes(bytes)),
        (None, Some(share)) => SpanRequest::Spare(share.parse().map_err(|error| {
            RunError::Usage(format!("the spare area `{share}` cannot be used: {error}"))
        })?),
        (None, None) => SpanRequest::Default,
    })
}

/// The threads of a request.
///
/// # Errors
/// [`RunError::Usage`] for threads that no call could ask for.
pub fn workers(request: &Request) -> Result<Workers, RunError> {
    let count = request.workers;
    if !(1..=run::WORKERS_MAX).contains(&count) {
        let most = run::WORKERS_MAX;
        return Err(RunError::Usage(format!("{count} workers; expected 1 to {most}")));
    }
    Ok(Workers { count, placement: request.cpu.parse()? })
}

/// The commands of a request that get a row in `ios.parquet`.
fn ios(request: &Request) -> Result<Option<IosChoice>, RunError> {
    let choice = request.ios.as_deref().map(str::parse).transpose();
    choice.map_err(|error: IosChoiceError| RunError::Usage(error.to_string()))
}

/// The run of a request, with its result in a library; [`Job::perform`](crate::job::Job::perform)
/// adds what surrounds it.
///
/// # Errors
/// [`RunError::Usage`] for a test, span, meter, threads or commands that no call could ask for.
pub fn to_run(request: &Request, library: PathBuf) -> Result<run::Request, RunError> {
    let pairs = request.settings.iter();
    let meter = request.meter.as_deref().map(str::parse).transpose();
    Ok(run::Request {
        settings: pairs.map(|setting| (setting.name.clone(), setting.value.clone())).collect(),
        span: span(request)?,
        seed: request.seed,
        read_only: request.read_only,
        command: command(request),
        recorded: Some(request.clone()),
        meter: meter.map_err(|error: TargetError| RunError::Target(error))?,
        workers: workers(request)?,
        ios: ios(request)?,
        ..run::Request::new(request.test.parse()?, library)
    })
}
