//! `ssdlab run`: one run, or several, for each target and each span.

pub mod resume;

use result::schema::{self, Invocation};
use run::RunError;

use crate::args::RunArgs;
use crate::job::{Job, Origin, Task, carry_out, unix_ns};
use crate::prepare::{self, Looked, Wish};
use crate::quick;
use crate::request;

pub fn run(args: &RunArgs) -> anyhow::Result<u8> {
    let looked = prepare::look(prepare::parse(&args.test.targets)?, Wish::of(args))?;
    let args = &quick::filled(args, &looked)?;
    let planned = jobs(args, &looked)?;
    let (jobs, requests): (Vec<_>, Vec<_>) = repeated(args, &planned).into_iter().unzip();
    let id = format!("{:x}-{:x}", unix_ns(), std::process::id());
    let commands = requests.iter().map(request::command).collect();
    let invocation = Some(Invocation { id, commands, requests: requests.clone() });
    let origin =
        |request| Box::new(Origin { invocation: invocation.clone(), ..Origin::of(args, request) });
    let origins = requests.into_iter().map(origin);
    let tasks: Vec<_> = jobs.into_iter().zip(origins).map(|(job, o)| Task::Open(job, o)).collect();
    carry_out(args, &tasks, &looked.hold()?)
}

/// Every target with every span, planned before the first one starts.
fn jobs(args: &RunArgs, looked: &Looked) -> Result<Vec<Job>, RunError> {
    let mut jobs = Vec::new();
    for target in looked.targets() {
        for span in args.test.spans() {
            let (request, described) = (request::of_test(&args.test, span), &target.described);
            let plan = run::session::plan(&request, &described.identity, &described.limits)?;
            jobs.push(Job::new(target.spec.clone(), span, &plan, described));
        }
    }
    Ok(jobs)
}

/// Every repetition of these jobs in its turn, each with a seed of its own.
fn repeated(args: &RunArgs, jobs: &[Job]) -> Vec<(Job, schema::Request)> {
    let one = |job: &Job, number: u32| {
        let request = request::of(args, &job.spec, job.span);
        let seed = request.seed.wrapping_add(number.into());
        (job.clone(), schema::Request { seed, ..request })
    };
    let numbers = 0..args.repeat.repeat;
    if args.repeat.interleave {
        return numbers.flat_map(|number| jobs.iter().map(move |job| one(job, number))).collect();
    }
    jobs.iter().flat_map(|job| numbers.clone().map(move |number| one(job, number))).collect()
}
