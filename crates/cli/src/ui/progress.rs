//! Progress: one live line per run on a terminal, a few plain lines elsewhere.

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::Nanos;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use run::Event;
use run::event::Length;

use super::out::{talk, visible};
use super::table::{count, seconds};
use session::pool::Demand;

/// Least time between lines without a terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// All lines of a command.
pub struct Progress {
    bars: Option<MultiProgress>,
    quiet: bool,
}

/// The line about all runs of a call.
pub struct Tally<'a> {
    progress: &'a Progress,
    bar: Option<ProgressBar>,
    runs: usize,
    /// The length of all runs, or `None` if they do not share a clock.
    length: Option<u64>,
    started: Instant,
    /// Number and length of the runs that have ended.
    ended: Mutex<(usize, u64)>,
}

impl Tally<'_> {
    /// Counts a run that has ended.
    pub fn ended(&self, demand: &Demand) {
        let (runs, length) = {
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            *ended = (ended.0 + 1, ended.1.saturating_add(demand.length));
            *ended
        };
        if runs >= self.runs {
            return;
        }
        let left = self.length.map_or_else(String::new, |whole| {
            let share = (whole.saturating_sub(length)) as f64 / length.max(1) as f64;
            let left = self.started.elapsed().as_secs_f64() * share;
            format!(", about {} left", seconds(Nanos((left * 1e9) as u64)))
        });
        let text = format!("{runs} of {} runs done{left}", self.runs);
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None => self.progress.say(&text),
        }
    }
}

impl Drop for Tally<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The line of one run.
pub struct Line<'a> {
    progress: &'a Progress,
    bar: Option<ProgressBar>,
    test: String,
    /// The target as typed, or `None` if its name tells it from the others.
    typed: Option<String>,
    /// Whether its seconds are simulated.
    is_simulated: bool,
    name: RefCell<String>,
    phase: RefCell<String>,
    length: Cell<Length>,
    started: Cell<Instant>,
    last_plain: Cell<Instant>,
}

impl Progress {
    /// Live lines if stderr is a terminal, plain ones elsewhere, none with `--quiet`.
    pub fn new(quiet: bool) -> Self {
        let live = !quiet && std::io::stderr().is_terminal();
        Self { bars: live.then(MultiProgress::new), quiet }
    }

    /// A line for a run of a test, whose seconds may be simulated; `typed` tells its target from others of the same name.
    pub fn line(&self, test: &str, typed: Option<String>, is_simulated: bool) -> Line<'_> {
        let bar = self.bars.as_ref().map(|bars| {
            let style = ProgressStyle::with_template("{bar:10} {wide_msg}");
            let bar = bars.add(ProgressBar::new(1000));
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Line {
            progress: self,
            bar,
            test: test.to_owned(),
            typed,
            is_simulated,
            name: RefCell::default(),
            phase: RefCell::default(),
            length: Cell::new(Length::Unknown),
            started: Cell::new(Instant::now()),
            last_plain: Cell::new(Instant::now()),
        }
    }

    /// A line below the others that counts the runs of a call.
    pub fn tally(&self, demands: &[Demand]) -> Tally<'_> {
        let bar = self.bars.as_ref().filter(|_| demands.len() > 1).map(|bars| {
            let style = ProgressStyle::with_template("{msg}");
            let bar = bars.add(ProgressBar::new_spinner());
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        let is_virtual = demands.iter().all(|demand| demand.is_simulated);
        let length = demands.iter().map(|demand| demand.length).fold(0, u64::saturating_add);
        let (runs, started, ended) = (demands.len(), Instant::now(), Mutex::default());
        Tally { progress: self, bar, runs, length: is_virtual.then_some(length), started, ended }
    }

    /// Removes the live lines.
    pub fn finish(&self) {
        if let Some(bars) = &self.bars {
            let _ = bars.clear();
        }
    }

    fn say(&self, text: &str) {
        match &self.bars {
            _ if self.quiet => {}
            Some(bars) => {
                let _ = bars.println(visible(text));
            }
            None => talk!("{text}"),
        }
    }
}

impl Line<'_> {
    /// Shows an event.
    pub fn event(&self, event: &Event) {
        match event {
            Event::Started { run_id, target, variant, seed, config } => {
                let typed = self.typed.as_ref().filter(|typed| *typed != target);
                let target =
                    typed.map_or_else(|| target.clone(), |typed| format!("{typed}, {target}"));
                *self.name.borrow_mut() = format!("{} {target} [{variant}]", self.test);
                let config: Vec<_> = config.iter().map(|(k, v)| format!("{k}={v}")).collect();
                self.progress.say(&format!("{run_id}: seed {seed}, {}", config.join(" ")));
            }
            Event::Resumed { run_id, what } => {
                self.progress.say(&format!("continues {run_id}: {what}"));
            }
            Event::PhaseStarted { name, what, length } => self.phase_started(name, what, *length),
            Event::Second { iops, bytes_done, elapsed, latency_ns_p99, .. } => {
                self.second(*iops, *bytes_done, *elapsed, *latency_ns_p99);
            }
            Event::PhaseEnded { name, ios, duration } => {
                let text = format!("{name}: {} I/Os in {}", count(*ios as f64), seconds(*duration));
                self.progress.say(&format!("{} {text}", self.name.borrow()));
            }
            Event::Warning(text) => {
                self.progress.say(&format!("warning: {}: {text}", self.name.borrow()));
            }
        }
    }

    fn phase_started(&self, name: &str, what: &str, length: Length) {
        name.clone_into(&mut self.phase.borrow_mut());
        self.length.set(length);
        self.started.set(Instant::now());
        match &self.bar {
            Some(bar) => {
                bar.set_position(0);
                bar.set_message(
                    visible(&format!("{name}: {} {what}", self.name.borrow())).into_owned(),
                );
            }
            None => self.progress.say(&format!("{} {name}: {what}", self.name.borrow())),
        }
    }

    fn second(&self, iops: f64, bytes_done: u64, elapsed: Nanos, p99: Option<u64>) {
        let share = match self.length.get() {
            Length::Time(whole) => Some(elapsed.0 as f64 / whole.0.max(1) as f64),
            Length::Bytes(whole) => Some(bytes_done as f64 / whole.max(1) as f64),
            Length::Unknown => None,
        };
        let p99 = p99.map_or_else(String::new, |ns| format!(", p99 {:.2} ms", ns as f64 / 1e6));
        let left = share.map_or_else(String::new, |share| {
            let elapsed = self.started.get().elapsed();
            let left = elapsed.mul_f64((1.0 - share).max(0.0) / share.max(1e-6));
            format!(", {} left", seconds(Nanos(left.as_nanos() as u64)))
        });
        let whole = match self.length.get() {
            Length::Time(whole) => format!(" of {}", seconds(whole)),
            Length::Bytes(_) | Length::Unknown => String::new(),
        };
        let clock = if self.is_simulated { " simulated" } else { " done" };
        let done = format!("{}{whole}{clock}", seconds(elapsed));
        let (name, phase) = (self.name.borrow(), self.phase.borrow());
        let share = share.map(|share| (share, format!("{:.0}%", share * 100.0)));
        if let Some(bar) = &self.bar {
            let (share, percent) = share.unwrap_or_default();
            bar.set_position((share * 1000.0) as u64);
            // The end is cut where the terminal is narrow.
            let text =
                format!("{percent}{left}, {} IOPS{p99}, {done}, {phase}: {name}", count(iops));
            bar.set_message(visible(text.trim_start_matches(", ")).into_owned());
        } else if self.last_plain.get().elapsed() >= PLAIN_EVERY {
            self.last_plain.set(Instant::now());
            let percent = share.map_or_else(String::new, |(_, percent)| percent + ", ");
            let text = format!("{percent}{} IOPS{p99}, {done}{left}", count(iops));
            self.progress.say(&format!("{name} {phase}: {text}"));
        }
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
