//! The marks of a run as footnotes: each text once, with a number that stands beside its figures.

use base::text::hanging;
use result::metrics::find;
use result::schema::{Mark, MarkKind};

use crate::ui::out::data;

/// The marks of a run by their texts, in the order of their kinds.
pub struct Footnotes<'a>(Vec<Footnote<'a>>);

struct Footnote<'a> {
    kind: MarkKind,
    text: &'a str,
    metrics: Vec<&'a str>,
}

/// The place of a kind among the footnotes, the gravest first, and the words before its texts.
const fn heading(kind: MarkKind) -> (u8, &'static str) {
    match kind {
        MarkKind::NotSteady => (0, "not in steady state: "),
        MarkKind::Interrupted => (1, "interrupted: "),
        MarkKind::Stopped => (2, "the program stood still: "),
        MarkKind::PartOfDrive => (3, "a part of the drive: "),
        MarkKind::Scale => (4, ""),
        MarkKind::HostLimited => (5, "the host: "),
        MarkKind::FewSamples => (6, ""),
        MarkKind::TwoRegimes => (7, ""),
        MarkKind::Unsettled => (8, "a snapshot: "),
        MarkKind::Unwritten => (9, "blocks without data: "),
        MarkKind::AtLeast => (10, "cut short: "),
        MarkKind::LateEnd => (11, "the slowest command: "),
    }
}

impl<'a> Footnotes<'a> {
    /// The footnotes of the marks of these figures.
    pub fn of(marks: &'a [Mark], is_shown: impl Fn(&str) -> bool) -> Self {
        let mut notes: Vec<Footnote<'a>> = Vec::new();
        for Mark { metric, kind, text, .. } in marks.iter().filter(|mark| is_shown(&mark.metric)) {
            match notes.iter_mut().find(|note| note.kind == *kind && note.text == *text) {
                Some(note) => note.metrics.push(metric),
                None => notes.push(Footnote { kind: *kind, text, metrics: vec![metric] }),
            }
        }
        notes.sort_by_key(|note| heading(note.kind).0);
        Self(notes)
    }

    /// The numbers of the footnotes of a figure, such as `[1][3]`; empty without any.
    pub fn signs(&self, metric: &str) -> String {
        let of_metric = (1..).zip(&self.0).filter(|(_, note)| note.metrics.contains(&metric));
        of_metric.map(|(number, _)| format!("[{number}]")).collect()
    }

    /// Prints the footnotes, in lines of so many columns if that is given. Figures that have no line of their own are
    /// named.
    pub fn print(&self, columns: Option<usize>) {
        for (number, Footnote { kind, text, metrics }) in (1..).zip(&self.0) {
            let (_, words) = heading(*kind);
            let has_line = |metric: &&&str| find(metric).is_some_and(|row| row.in_summary);
            let others: Vec<_> = metrics.iter().filter(|metric| !has_line(metric)).collect();
            let names = match others[..] {
                [] => String::new(),
                [only] => format!(" ({only})"),
                [first, ..] => format!(" ({first} and {} more)", others.len() - 1),
            };
            let note = format!("{words}{text}{names}");
            let item = hanging(&format!("  [{number}] "), &note, columns.unwrap_or(usize::MAX));
            data!("{item}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_told_once_and_every_figure_refers_to_it() {
        let mark = |metric: &str, kind, text: &str| Mark {
            metric: metric.to_owned(),
            kind,
            text: text.to_owned(),
            levels: None,
        };
        let marks = [
            mark("latency_ns_max", MarkKind::LateEnd, "late"),
            mark("iops_steady_mean", MarkKind::NotSteady, "0 pages"),
            mark("waf_steady", MarkKind::NotSteady, "0 pages"),
            mark("iops_steady_mean", MarkKind::Scale, "at scale 1/64"),
        ];
        let notes = Footnotes::of(&marks, |_| true);
        assert_eq!(notes.0.len(), 3);
        assert_eq!(notes.signs("iops_steady_mean"), "[1][2]");
        assert_eq!(notes.signs("waf_steady"), "[1]");
        assert_eq!(notes.signs("latency_ns_max"), "[3]");
        assert_eq!(notes.signs("iops_mean"), "");
    }
}
