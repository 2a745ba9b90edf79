//! The source of a test's figures: the phases of a run and their rows.

use base::OpKind;
use result::marks;
use result::marks::reading::written;
use result::marks::run::phases_of;
use result::marks::steady::{Before, obstacle, obstacle_of_past};
use result::rows::{PhaseRows, SecondRow};
use result::schema::{MarkKind, Phase, Run};
use result::stats::latency::Latencies;
use result::stats::scale::ScaledRun;

use crate::jobs::JobRecord;
use crate::replay::Meter;

/// All measurements so far.
#[derive(Clone, Copy, Debug)]
pub struct Measurements<'a> {
    /// The run with its phases.
    pub run: &'a Run,
    /// The rows of each phase, in the order of `run.phases`.
    pub rows: &'a [PhaseRows],
    /// The result of replaying the trace, or `None` if none was replayed.
    pub replay: Option<&'a Meter>,
    /// The jobs of all phases that had several.
    pub jobs: &'a [JobRecord],
}

/// One phase with its rows.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub phase: &'a Phase,
    pub rows: &'a PhaseRows,
}

impl<'a> Measurements<'a> {
    /// All phases in order, incomplete ones included.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = Part<'a>> + Clone + use<'a> {
        self.run.phases.iter().zip(self.rows).map(|(phase, rows)| Part { phase, rows })
    }

    /// The last phase of this name, complete or not.
    pub fn part(&self, name: &str) -> Option<Part<'a>> {
        self.parts().rfind(|part| part.phase.name == name)
    }

    /// The last phase of this name, if it ran to its end.
    pub fn complete(&self, name: &str) -> Option<Part<'a>> {
        self.part(name).filter(|part| part.phase.complete)
    }

    /// The reason why the drive was not in steady state during a part of the run, or `None` if it was.
    pub fn obstacle(&self, part: &Part<'_>) -> Option<String> {
        let start_ns = part.phase.start_ns;
        let span_bytes = Some(self.run.span.span_bytes);
        let mut before = Before { written_bytes: 0, span_bytes };
        for Part { phase, rows } in self.parts().take_while(|it| it.phase.start_ns < start_ns) {
            if phase.name.starts_with("purge") {
                before.written_bytes = 0;
            }
            let is_earlier =
                |row: &SecondRow| phase.start_ns.saturating_add(row.start_ns) < start_ns;
            before = before.then(&rows.seconds[..rows.seconds.partition_point(is_earlier)]);
            before.written_bytes += written(self.run, phase).saturating_sub(phase.bytes);
        }
        obstacle(&part.rows.seconds, before)
    }

    /// The reason why the drive was in steady state nowhere since its last purge, or `None` if there
    /// is none.
    pub fn obstacle_of_past(&self) -> Option<String> {
        let is_purge = |part: &Part<'_>| part.phase.name.starts_with("purge");
        let past = self.parts().rev().take_while(|part| !is_purge(part));
        let extra =
            |part: &Part<'_>| written(self.run, part.phase).saturating_sub(part.phase.bytes);
        let extra_bytes = past.clone().map(|part| extra(&part)).fold(0, u64::saturating_add);
        let rows: Vec<_> = past.map(|part| part.rows.seconds.as_slice()).collect();
        let span_bytes = Some(self.run.span.span_bytes);
        obstacle_of_past(&rows, Before { written_bytes: extra_bytes, span_bytes })
    }

    /// Whether a figure is of a step that wrote.
    pub fn wrote(&self, metric: &str) -> bool {
        let written = |phase: usize| {
            let rows = self.rows.get(phase).map_or(&[][..], |rows| &rows.seconds);
            rows.iter().any(|row| row.bytes[OpKind::Write.index()] > 0)
        };
        phases_of(&self.run.phases, metric).into_iter().any(written)
    }

    /// Whether the host may be the limit of a figure.
    pub fn is_host_limited(&self, metric: &str) -> bool {
        let figure = [(metric.to_owned(), Some(0.0))].into();
        let marks = marks::run::marks(self.run, &figure, &[]);
        marks.iter().any(|mark| mark.kind == MarkKind::HostLimited)
    }

    /// A job of the last phase of this name, complete or not; `None` if it has not begun.
    pub fn job(&self, phase: &str, job: &str) -> Option<Part<'a>> {
        let is_it = |record: &&JobRecord| record.phase == phase && record.job.name == job;
        let record = self.jobs.iter().rfind(is_it)?;
        Some(Part { phase: &record.job, rows: &record.rows })
    }

    /// The measurement of a job, or `None` if it did not run to its end.
    pub fn complete_job(&self, phase: &str, job: &str) -> Option<Part<'a>> {
        self.job(phase, job).filter(|part| part.phase.complete)
    }

    /// The run as one of a drive below full size, or `None` if the target has full size.
    pub fn scaled(&self) -> Option<ScaledRun<'a>> {
        ScaledRun::of(self.run, self.rows)
    }

    /// Whether a figure holds for the drive at full size.
    pub fn holds(&self, metric: &str) -> bool {
        self.scaled().is_none_or(|scaled| scaled.keeps(metric))
    }
}

impl Part<'_> {
    /// Commands per second over the whole phase.
    pub fn iops(&self) -> Option<f64> {
        self.per_second(self.phase.ios)
    }

    /// Decimal megabytes per second over the whole phase.
    pub fn mb_per_s(&self) -> Option<f64> {
        self.per_second(self.phase.bytes).map(|rate| rate / 1e6)
    }

    fn per_second(&self, count: u64) -> Option<f64> {
        let seconds = self.phase.duration_ns as f64 / 1e9;
        (seconds > 0.0).then(|| count as f64 / seconds)
    }

    /// Decimal megabytes per second of every row, in order.
    pub fn row_mb_per_s(&self) -> Vec<f64> {
        self.rows.seconds.iter().filter_map(result::stats::rates::mb_per_s).collect()
    }

    /// The latencies of all commands.
    pub fn latencies(&self) -> Latencies {
        Latencies::of(self.rows, 0..u32::MAX)
    }

    /// The latencies of one kind of command.
    pub fn latencies_of(&self, op: OpKind) -> Latencies {
        Latencies::of_kind(self.rows, op)
    }

    /// The mean latency of all commands, in ns; `None` if none ended.
    pub fn latency_ns_mean(&self) -> Option<f64> {
        self.latencies().mean_ns()
    }

    /// The largest latency of all, exact, in ns; `None` if no command ended.
    pub fn latency_ns_max(&self) -> Option<f64> {
        self.rows.seconds.iter().filter_map(|row| row.latency_ns_max).max().map(|ns| ns as f64)
    }
}
