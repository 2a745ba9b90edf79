//! Graphs made of characters: a scatter of rates on a logarithmic axis, and ranked bars.

use std::env;

use super::out::{self, data};
use super::table::count;

/// Characters of a sparkline at most.
const COLUMNS: usize = 72;
/// Lines of a graph.
const LINES: usize = 8;
/// Dots of a braille character across and down.
const ACROSS: usize = 2;
const DOWN: usize = 4;
/// Bits of a braille character, by column and row of the dot.
const DOTS: [[u32; DOWN]; ACROSS] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
const BRAILLE: u32 = 0x2800;
/// Length of the longest bar in characters.
const BAR: usize = 40;

/// Characters that the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// All.
    Unicode,
    /// Characters of ASCII.
    Ascii,
}

impl Letters {
    /// Characters of the locale in the environment.
    pub fn of_locale() -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
        let locale = locale.unwrap_or_default().to_lowercase();
        if locale.contains("utf-8") || locale.contains("utf8") {
            Self::Unicode
        } else {
            Self::Ascii
        }
    }
}

/// The rate of each second, from left to right, on a logarithmic axis from `bottom` on the last line to `top` on the
/// first one.
fn scatter(
    rates: &[f64],
    (bottom, top): (f64, f64),
    letters: Letters,
    columns: usize,
) -> Vec<String> {
    let (width, height) = match letters {
        Letters::Unicode => (columns * ACROSS, LINES * DOWN),
        Letters::Ascii => (columns, LINES),
    };
    let mut is_set = vec![vec![false; width]; height];
    for (second, rate) in rates.iter().enumerate() {
        let x = second * width / rates.len();
        let share = ((rate.max(1.0) / bottom).ln() / (top / bottom).ln()).clamp(0.0, 1.0);
        let y = ((1.0 - share) * (height - 1) as f64).round() as usize;
        is_set[y][x] = true;
    }
    (0..LINES).map(|line| characters(&is_set, line, letters)).collect()
}

fn characters(is_set: &[Vec<bool>], line: usize, letters: Letters) -> String {
    let dot = |column: usize, x: usize, y: usize| {
        if is_set[line * DOWN + y][column * ACROSS + x] { DOTS[x][y] } else { 0 }
    };
    let braille = |column: usize| {
        let dots = (0..ACROSS).flat_map(|x| (0..DOWN).map(move |y| (x, y)));
        let bits = dots.fold(0, |bits, (x, y)| bits | dot(column, x, y));
        char::from_u32(BRAILLE + bits).unwrap_or(' ')
    };
    let ascii = |column: usize| if is_set[line][column] { '.' } else { ' ' };
    let text: String = match letters {
        Letters::Unicode => (0..is_set[0].len() / ACROSS).map(braille).collect(),
        Letters::Ascii => (0..is_set[0].len()).map(ascii).collect(),
    };
    text.trim_end_matches([' ', '\u{2800}']).to_owned()
}

/// Prints the rates of every second as a graph; nothing without rates.
pub fn print_scatter(rates: &[f64]) {
    graph(rates).iter().for_each(|line| data!("{line}"));
}

/// The lines of a graph with its axes, none of which is wider than the terminal of a card.
fn graph(rates: &[f64]) -> Vec<String> {
    if rates.is_empty() {
        return Vec::new();
    }
    let letters = Letters::of_locale();
    let (bottom, top) = axis(rates);
    let (low, high) = (count(bottom), format!("{} IOPS", count(top)));
    let width = high.chars().count();
    let columns = out::COLUMNS.saturating_sub(width + "   |".len()).max(1);
    let drawn = scatter(rates, (bottom, top), letters, columns);
    let labelled = drawn.iter().enumerate().map(|(line, text)| {
        let label = match line {
            0 => high.as_str(),
            last if last + 1 == LINES => low.as_str(),
            _ => "",
        };
        format!("  {label:>width$} |{text}")
    });
    let seconds = format!("{} s", rates.len());
    let time = format!("  {:width$} 0{seconds:>columns$}", "");
    labelled.chain([time]).collect()
}

/// The ends of an axis that spans the rates: at least a factor of two, and from 1 on.
fn axis(rates: &[f64]) -> (f64, f64) {
    let top = rates.iter().copied().fold(2.0, f64::max);
    (rates.iter().copied().fold(top / 2.0, f64::min).max(1.0), top)
}

/// The rates of every second as one line of blocks, the mean rate of a block from 0 to the highest mean; empty
/// without rates.
pub fn sparkline(rates: &[f64]) -> String {
    let letters: Vec<char> = match Letters::of_locale() {
        Letters::Unicode => {
            "\u{2581}\u{2582}\u{2583}\u{2584}\u{2585}\u{2586}\u{2587}\u{2588}".chars().collect()
        }
        Letters::Ascii => "_.-=+*#".chars().collect(),
    };
    let columns = rates.len().min(COLUMNS);
    let mean = |index: usize| {
        let part = &rates[index * rates.len() / columns..(index + 1) * rates.len() / columns];
        part.iter().sum::<f64>() / part.len() as f64
    };
    let means: Vec<_> = (0..columns).map(mean).collect();
    let top = means.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let height = |mean: f64| (mean / top * (letters.len() - 1) as f64).round() as usize;
    means.into_iter().map(|mean| letters[height(mean).min(letters.len() - 1)]).collect()
}

/// A bar with its name and its value in words.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The thing that has the value.
    pub name: String,
    pub value: f64,
    /// The value as it is shown.
    pub words: String,
}

/// Prints bars, the first one on top, in proportion to the largest value.
pub fn print_bars(bars: &[Bar]) {
    let widest =
        |of: fn(&Bar) -> &String| bars.iter().map(|bar| of(bar).chars().count()).max().unwrap_or(0);
    let (names, words) = (widest(|bar| &bar.name), widest(|bar| &bar.words));
    for (bar, line) in bars.iter().zip(lengths(bars)) {
        let full = if Letters::of_locale() == Letters::Unicode { "\u{2588}" } else { "#" };
        let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(text.chars().count()));
        let (name, value) = (&bar.name, &bar.words);
        let line = full.repeat(line);
        data!("    {name}{}  {}{value}  {line}", pad(name, names), pad(value, words));
    }
}

/// Lengths in characters; a value above zero has at least one.
fn lengths(bars: &[Bar]) -> impl Iterator<Item = usize> {
    let largest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    bars.iter().map(move |bar| {
        let share = if largest > 0.0 { bar.value.max(0.0) / largest } else { 0.0 };
        ((share * BAR as f64).round() as usize).max(usize::from(share > 0.0))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn dots(lines: &[String]) -> u32 {
        let letters = lines.iter().flat_map(|line| line.chars()).map(u32::from);
        letters.map(|letter| letter.saturating_sub(BRAILLE).count_ones()).sum()
    }

    #[test]
    fn a_fall_is_seen_and_stalls_stand_on_the_bottom_line() {
        let rates: Vec<_> =
            (0..144).map(|second| if second < 72 { 10_000.0 } else { 0.0 }).collect();
        let lines = scatter(&rates, (1.0, 10_000.0), Letters::Unicode, COLUMNS);
        assert_eq!((lines.len(), dots(&lines)), (LINES, 144));
        assert_eq!((dots(&lines[..1]), dots(&lines[LINES - 1..])), (72, 72));
        let lines = scatter(&rates, (1.0, 10_000.0), Letters::Ascii, COLUMNS);
        assert_eq!(lines[0], ".".repeat(36));
        assert_eq!(lines[LINES - 1], format!("{}{}", " ".repeat(36), ".".repeat(36)));
    }

    #[test]
    fn the_axis_spans_the_rates() {
        assert_eq!(axis(&[15_000.0, 70_000.0]), (15_000.0, 70_000.0));
        assert_eq!(axis(&[15_000.0; 3]), (7_500.0, 15_000.0));
        assert_eq!(axis(&[0.0, 9_000.0]), (1.0, 9_000.0));
        assert_eq!(axis(&[0.0]), (1.0, 2.0));
    }

    #[test]
    fn a_graph_fits_into_80_columns() {
        for top in [9.0, 9_000.0, 9_000_000.0] {
            let lines = graph(&[top / 3.0, top, top / 2.0, top]);
            let widths: Vec<_> = lines.iter().map(|line| line.chars().count()).collect();
            assert_eq!(widths.iter().max(), Some(&80), "{lines:?}");
            assert_eq!(lines.len(), LINES + 1);
        }
    }

    #[test]
    fn a_sparkline_is_at_most_as_wide_as_a_graph() {
        for seconds in [1, 71, 72, 100_000] {
            let rates: Vec<_> = (0..seconds).map(f64::from).collect();
            let line = sparkline(&rates);
            assert_eq!(line.chars().count(), (seconds as usize).min(COLUMNS), "{seconds}");
        }
        assert_eq!(sparkline(&[]), "");
    }

    #[test]
    fn one_fast_second_does_not_flatten_a_sparkline() {
        let rates: Vec<_> = (0..2_000).map(|second| if second == 0 { 1e6 } else { 1e3 }).collect();
        let burst_and_fall = [vec![1e6], vec![5e4; 999], vec![1e4; 1_000]].concat();
        let levels = |rates: &[f64]| sparkline(rates).chars().collect::<BTreeSet<_>>().len();
        assert!(levels(&rates) == 2 && levels(&burst_and_fall) >= 3);
    }

    #[test]
    fn any_number_of_seconds_has_a_place() {
        for seconds in [1, 2, 71, 145, 100_000] {
            let lines = scatter(&vec![f64::MAX; seconds], (1.0, 2.0), Letters::Unicode, COLUMNS);
            assert!(dots(&lines) > 0, "{seconds}");
        }
    }

    #[test]
    fn bars_are_in_proportion_and_never_vanish() {
        let bar = |value| Bar { name: String::new(), value, words: String::new() };
        let bars = [100.0, 50.0, 0.001, 0.0, -5.0].map(bar);
        assert_eq!(lengths(&bars).collect::<Vec<_>>(), [40, 20, 1, 0, 0]);
        assert_eq!(lengths(&[bar(0.0)]).collect::<Vec<_>>(), [0]);
    }
}
