//! A run in 80 columns, and the ways to name it.

use crate::lab::{Answer, Lab};

const RUN: [&str; 7] = [
    "run",
    "consistency",
    "sim:sandisk-extreme-ii-480gb?scale=1/512",
    "--set",
    "duration=30s",
    "--quiet",
    "--library=runs",
];

#[test]
fn a_run_is_a_card_and_the_rest_is_asked_for() {
    let lab = Lab::new();
    let run = Answer::of(&mut lab.command(&RUN));
    run.must_exit_with(0);
    let show = |words: &[&str]| {
        let answer = Answer::of(lab.command(&["show", "--library=runs"]).args(words));
        answer.must_exit_with(0);
        answer.stdout
    };
    let card = show(&[]);
    assert_eq!(run.stdout, card, "a run ends with its card");
    let lines: Vec<&str> = card.lines().collect();
    let (dir, text) = lines.split_last().expect("lines");
    assert!(text.iter().all(|line| line.chars().count() <= 80), "{card}");
    assert!((8..=24).contains(&lines.len()), "{card}");
    assert!(!card.contains('\u{1b}'), "no colour in a pipe: {card}");
    let curve = text.iter().position(|line| line.starts_with("  30 s, ")).expect("a curve");
    assert!(curve <= 3, "the curve is first: {card}");
    let short = dir.rsplit('-').next().expect("the last letters");
    assert!(card.contains(&format!("ssdlab show {short} --all")), "{card}");
    assert_eq!(show(&[short]), card);
    let all = show(&[short, "--all"]);
    for words in ["fill", "Controller busy", "First minute, mean"] {
        assert!(all.contains(words) && !card.contains(words), "{words}: {all}");
    }
}

/// A test whose answer is a table has those of its columns on the card that fit, and a long title goes on below.
#[test]
fn a_table_of_a_card_is_cut_to_its_width() {
    let lab = Lab::new();
    let mut words = RUN.to_vec();
    let drive = "sim:generic-client-pcie4-tlc-2tb?scale=1/512";
    words.splice(1..5, ["fill-level", drive, "--spare=25%", "--quick"]);
    let run = Answer::of(&mut lab.command(&words));
    run.must_exit_with(0);
    assert!(run.stdout.lines().nth(1).is_some_and(|line| line.starts_with("  ")), "{}", run.stdout);
    assert!(run.stdout.contains("Speed by fill level"), "{}", run.stdout);
    let is_path = |line: &&str| line.starts_with("runs/");
    let widest =
        run.stdout.lines().filter(|line| !is_path(line)).map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{}", run.stdout);
}

/// The runs of a library stand below their drives, with names that other commands take.
#[test]
fn a_library_is_listed_by_drive() {
    let lab = Lab::new();
    let drive = "sim:generic-client-pcie4-tlc-2tb?scale=1/512";
    let mut other = RUN.to_vec();
    other.splice(2..3, [drive, "--spare=25%", "--label=a"]);
    for words in [&RUN[..], &other, &RUN] {
        Answer::of(&mut lab.command(words)).must_exit_with(0);
    }
    let list = Answer::of(&mut lab.command(&["library", "list", "--library=runs"]));
    list.must_exit_with(0);
    assert!(list.stdout.lines().all(|line| line.chars().count() <= 80), "{}", list.stdout);
    let (runs, drives): (Vec<_>, Vec<_>) =
        list.stdout.lines().partition(|line| line.starts_with("  "));
    assert_eq!((runs.len(), drives.len()), (3, 2), "{}", list.stdout);
    let last = runs.iter().find(|run| run.contains("25%")).expect("the run with spare");
    assert!(last.ends_with("  a"), "{last}");
    let name = last.split_whitespace().next().expect("a name");
    let shown = Answer::of(&mut lab.command(&["show", name, "--library=runs"]));
    assert!(shown.stdout.starts_with("Generic PCIe 4.0"), "{shown:#?}");
}

/// The live line of a run stays one line, whatever the width of the terminal.
#[test]
fn progress_is_one_line_of_the_terminal() {
    let lab = Lab::new();
    let ssdlab = lab.command(&RUN).get_program().to_owned();
    for columns in [60, 80, 100, 120] {
        let words = RUN.map(|word| if word == "--quiet" { "--jobs=1" } else { word });
        let words = words.map(|word| format!("'{word}'")).join(" ");
        let call = format!("stty cols {columns} rows 24; {} {words}", ssdlab.display());
        let mut script = std::process::Command::new("script");
        script.args(["--quiet", "--command", &call, "/dev/null"]).current_dir(lab.path("."));
        script.env("TERM", "xterm").env_remove("COLUMNS");
        let output = script.output().expect("script of util-linux");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Each drawing begins with the erasure of the line before it.
        let lines = text.split(['\r', '\n']).flat_map(|line| line.split("\u{1b}[2K"));
        let live: Vec<&str> = lines.filter(|line| line.starts_with(['░', '█'])).collect();
        let is_told = |line: &&&str| line.contains("IOPS") && line.contains(" left");
        let told = live.iter().find(is_told).unwrap_or_else(|| panic!("no rates in {text:?}"));
        // Time left is the reader's, and time done the drive's.
        assert!(columns < 80 || told.contains(" simulated"), "{told}");
        for line in live {
            assert!(line.chars().count() <= columns, "{columns}: {line:?}");
        }
    }
}

/// On a terminal the title is bold, unless `NO_COLOR` is set.
#[test]
fn a_terminal_gets_emphasis() {
    let lab = Lab::new();
    Answer::of(&mut lab.command(&RUN)).must_exit_with(0);
    let on_terminal = |setting: &str| {
        let ssdlab = lab.command(&["show", "--library=runs"]).get_program().to_owned();
        let call = format!("{setting} TERM=xterm {} show --library=runs", ssdlab.display());
        let mut script = std::process::Command::new("script");
        script.args(["--quiet", "--command", &call, "/dev/null"]).current_dir(lab.path("."));
        let output = script.env_remove("NO_COLOR").output().expect("script of util-linux");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(on_terminal("env").contains("\u{1b}[1m"), "{}", on_terminal("env"));
    assert!(!on_terminal("env NO_COLOR=1").contains('\u{1b}'));
}
