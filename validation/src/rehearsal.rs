//! Rehearsals: a run in short on a small drive of the same model, which shows whether the program still does what it did
//! when a run was kept.
//!
//! The values of a model and the command stand in the key of a run. What is left is the program: the simulator, the
//! suite, the figures. A rehearsal goes through all of them in a fraction of a second. A kept run is true until a figure
//! of its rehearsal has another value; an edit that changes no result, a new mechanism and a new figure leave it true.

use base::Ratio;

use crate::cell::Cell;
use crate::experiment::Experiment;

/// The denominator of the scale of rehearsals.
const SCALE_DENOMINATOR: u64 = 1_024;

/// Settings that make a test short at that scale, by which the times of `consistency` shrink.
const SHORT: [(&str, &str); 12] = [
    ("consistency", "duration=4096s steady_from=2048s"),
    ("corners", "time=1s sequential_time=1s"),
    ("destroyer", "part=1/5000"),
    ("heavy", "part=1/5000"),
    ("incompressible", "time=1s"),
    ("latency", "time=1s"),
    ("linear", ""),
    ("power", "settle=1s rest=1s time=1s"),
    ("pslc", "write_bytes=64MiB burst_bytes=16MiB pauses=8s,40s"),
    ("sustained", "burst_bytes=64MiB"),
    ("sweep", "sweep_span=16MiB"),
    ("trim", "torture=1s"),
];

/// The figures of a cell in short, a line each, or the reason why it is refused.
pub fn of_cell(cell: &Cell) -> String {
    let run = || {
        let library = tempfile::tempdir().map_err(|error| error.to_string())?;
        short(cell)?.run(library.path()).map(|run| run.run().metrics.clone())
    };
    let line = |(name, value): (&String, &Option<f64>)| {
        format!("{name} {}\n", value.map_or("null".to_owned(), |value| value.to_string()))
    };
    match run() {
        Ok(metrics) => metrics.iter().map(line).collect(),
        Err(reason) => refused(&reason),
    }
}

/// The figures of an experiment in short, a line each, or the reason why it is refused.
pub fn of_experiment(experiment: &Experiment) -> String {
    let scale = Ratio::new(1, SCALE_DENOMINATOR).unwrap_or(Ratio::ONE);
    match experiment.run(scale) {
        Ok(figures) => figures.iter().map(|(name, value)| format!("{name} {value}\n")).collect(),
        Err(reason) => refused(&reason),
    }
}

/// Whether no figure of a rehearsal has another value in a later one.
pub fn agrees(then: &str, now: &str) -> bool {
    let figure = |line: &str| line.rsplit_once(' ').map(|(name, _)| format!("{name} "));
    then.lines().all(|line| {
        let same = figure(line).and_then(|name| now.lines().find(|line| line.starts_with(&name)));
        same.is_none_or(|same| same == line)
    })
}

fn refused(reason: &str) -> String {
    format!("refused: {reason}\n").replace('\n', " ") + "\n"
}

/// A cell at the scale of rehearsals, with the settings that make it short over its own.
fn short(cell: &Cell) -> Result<Cell, String> {
    let settings = SHORT.iter().find(|(test, _)| *test == cell.test);
    let (_, settings) = settings.ok_or_else(|| format!("no rehearsal of `{}`", cell.test))?;
    Ok(cell.shortened(format!("1/{SCALE_DENOMINATOR}"), settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(test: &str) -> Cell {
        Cell {
            drive: "samsung-840-evo-250gb".to_owned(),
            values: Vec::new(),
            test: test.to_owned(),
            settings: Vec::new(),
            spare: None,
            scale: None,
        }
    }

    #[test]
    fn each_test_is_rehearsed_with_the_settings_of_its_run() {
        for (test, _) in SHORT {
            let figures = of_cell(&cell(test));
            let known = figures.lines().filter(|line| !line.ends_with(" null"));
            assert!(known.count() > 1 && !figures.starts_with("refused"), "{test}: {figures}");
        }
        let settings =
            vec![("time".to_owned(), "5s".to_owned()), ("data".to_owned(), "46%".to_owned())];
        let short = short(&Cell { settings, ..cell("corners") }).unwrap();
        assert!(
            short.to_string().ends_with(
                "--set data=46% --set time=1s --set sequential_time=1s --set random_span=8MiB"
            ),
            "{short}"
        );
        assert!(of_cell(&cell("light")).starts_with("refused: no rehearsal of `light`"));
    }

    #[test]
    fn another_model_or_value_gives_other_figures() {
        let this = of_cell(&cell("linear"));
        assert_eq!(of_cell(&cell("linear")), this);
        let slower = cell("linear").with_value("nand.program_ns", "9_000_000");
        assert!(!agrees(&this, &of_cell(&slower)));
    }

    #[test]
    fn new_figures_agree_and_other_values_do_not() {
        let then = "a 1\nb null\n";
        assert!(agrees(then, then) && agrees(then, "a 1\nb null\nc 3\n") && agrees(then, "a 1\n"));
        assert!(!agrees(then, "a 10\nb null\n") && !agrees(then, "a 1\nb 2\n"));
        assert!(!agrees("refused: x\n", "refused: y\n"));
    }
}
