//! A run in progress, followed by server-sent events.
//!
//! `state` has the description of the run as `run.json` has it now, `phase` the rows of a phase
//! that has ended, `seconds` those of the phase in progress, and `end` the last status.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::{self, StreamExt};
use result::bench::scan_one;
use result::schema::{Phase, Run, RunStatus};
use result::stats::rates::iops;
use result::store::{LiveTail, RunDir};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::resources::Refusal;
use crate::state::{PlannedPhase, Server};

/// Time between two looks at the files of a run.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// `/live/<name>`: the events of a run until its end.
pub(crate) async fn follow(
    State(server): State<Arc<Server>>,
    Path(name): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let path = server.bench.run_dir(&name).ok_or_else(Refusal::no_run)?;
    let permit = Arc::clone(&server.live_readers).try_acquire_owned().map_err(|_| {
        let words = "too many readers follow runs; try again later".to_owned();
        Refusal(StatusCode::SERVICE_UNAVAILABLE, words)
    })?;
    let follower = Follower::new(path, server.plan);
    let looks =
        stream::unfold(Watch { server, follower: Some(follower), _permit: permit }, Watch::next);
    Ok(Sse::new(looks.flat_map(|events| stream::iter(events.into_iter().map(Ok))))
        .keep_alive(KeepAlive::new()))
}

/// A reader of one run.
struct Watch {
    server: Arc<Server>,
    /// `None` after the end of the run.
    follower: Option<Follower>,
    _permit: OwnedSemaphorePermit,
}

impl Watch {
    /// The events of the next look; `None` ends the stream.
    async fn next(mut self) -> Option<(Vec<Event>, Self)> {
        let mut follower = self.follower.take()?;
        if follower.has_looked {
            sleep(LOOK_EVERY).await;
        }
        if self.server.stop.load(Ordering::Relaxed) {
            return None;
        }
        let (events, follower) = spawn_blocking(move || (follower.look(), follower)).await.ok()?;
        self.follower = (!follower.has_ended).then_some(follower);
        Some((events, self))
    }
}

/// The state of a run as far as its reader knows it.
struct Follower {
    path: PathBuf,
    plan: fn(&Run) -> Vec<PlannedPhase>,
    /// The phases of its plan, or `None` before the first look.
    planned: Option<Vec<PlannedPhase>>,
    stamp: String,
    tail: LiveTail,
    phases_sent: usize,
    has_looked: bool,
    has_ended: bool,
}

/// A run in progress, for its reader.
#[derive(Serialize)]
struct Now<'a> {
    test: &'a str,
    drive: &'a str,
    kind: &'a str,
    variant: &'a str,
    status: RunStatus,
    phases: &'a [Phase],
    planned: &'a [PlannedPhase],
}

/// The rows of a phase that has ended.
#[derive(Serialize)]
struct Rows<'a> {
    phase: &'a str,
    iops: Vec<Option<f64>>,
    latency_ns_p99: Vec<Option<u64>>,
}

impl Follower {
    fn new(path: PathBuf, plan: fn(&Run) -> Vec<PlannedPhase>) -> Self {
        let tail = LiveTail::new(&path);
        let stamp = String::new();
        Self {
            path,
            plan,
            planned: None,
            stamp,
            tail,
            phases_sent: 0,
            has_looked: false,
            has_ended: false,
        }
    }

    /// The news since the last look.
    fn look(&mut self) -> Vec<Event> {
        self.has_looked = true;
        let mut events: Vec<_> = seconds(&mut self.tail).into_iter().collect();
        match self.opened() {
            Ok(dir) => self.describe(&dir, &mut events),
            Err(reason) => {
                self.has_ended = true;
                events.extend(event("end", &serde_json::json!({ "error": reason })));
            }
        }
        events
    }

    fn opened(&self) -> Result<RunDir, String> {
        let found = scan_one(&self.path).ok_or("there is no such run")?;
        found.obstacle.map_or(Ok(()), Err)?;
        RunDir::open(&self.path).map_err(|_| "the run cannot be read".to_owned())
    }

    fn describe(&mut self, dir: &RunDir, events: &mut Vec<Event>) {
        let run = dir.run();
        let stamp = format!("{:?} {}", run.status, run.phases.len());
        if stamp != self.stamp {
            self.stamp = stamp;
            let planned = self.planned.get_or_insert_with(|| (self.plan)(run));
            events.extend(event("state", &now(run, planned)));
            events.extend(self.new_phases(dir));
        }
        if run.status != RunStatus::Running {
            self.has_ended = true;
            events.extend(event("end", &serde_json::json!({ "status": run.status })));
        }
    }

    fn new_phases(&mut self, dir: &RunDir) -> Vec<Event> {
        let phases = &dir.run().phases;
        let new = self.phases_sent.min(phases.len())..phases.len();
        self.phases_sent = phases.len();
        new.filter_map(|index| rows(dir, index)).collect()
    }
}

fn now<'a>(run: &'a Run, planned: &'a [PlannedPhase]) -> Now<'a> {
    Now {
        test: &run.test,
        drive: &run.target.name,
        kind: run.target.kind.name(),
        variant: &run.span.variant,
        status: run.status,
        phases: &run.phases,
        planned,
    }
}

/// The rows of a phase, or `None` if it has none, or they cannot be read.
fn rows(dir: &RunDir, index: usize) -> Option<Event> {
    let phase = &dir.run().phases.get(index)?.name;
    let rows = dir.rows(index).ok()?.seconds;
    let latency_ns_p99 = rows.iter().map(|row| row.latency_ns_p99).collect();
    let iops: Vec<_> = rows.iter().map(iops).collect();
    if iops.is_empty() { None } else { event("phase", &Rows { phase, iops, latency_ns_p99 }) }
}

/// The new seconds of the phase in progress, or `None` if there are none.
fn seconds(tail: &mut LiveTail) -> Option<Event> {
    let seconds = tail.read();
    if seconds.is_empty() { None } else { event("seconds", &seconds) }
}

fn event(name: &str, data: &impl Serialize) -> Option<Event> {
    let text = serde_json::to_string(data).ok()?;
    Some(Event::default().event(name).data(text))
}
