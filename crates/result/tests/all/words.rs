//! The editor's words: sections by chapter, quoted figures that are checked, and nothing that a
//! browser would run or load.

use result::report::words::{Chapter, TOP, WordsKind, WordsNode, add};
use result::report::{Report, build};
use result::store::{RunDir, RunWriter};
use tempfile::TempDir;

/// A page of runs: id, test, drive, spare area, and the steady mean.
fn report(runs: &[(&str, &str, &str, &str, Option<f64>)]) -> (TempDir, Report) {
    let library = tempfile::tempdir().unwrap();
    let dirs = runs.iter().map(|(id, test, drive, variant, mean)| {
        let mut run = crate::common::run_named(id);
        (run.test, run.target.name) = ((*test).to_owned(), format!("Drive {drive}"));
        run.target.spec = format!("sim:{drive}");
        run.span.variant = (*variant).to_owned();
        run.phases.clear();
        run.metrics.insert("iops_steady_mean".to_owned(), *mean);
        let writer = RunWriter::create(library.path(), &run).unwrap();
        RunDir::open(writer.path()).unwrap()
    });
    let report = build("title", &dirs.collect::<Vec<_>>()).unwrap();
    (library, report)
}

fn added(report: &Report, text: &str) -> Result<Report, String> {
    let chapters = ["consistency", "trim", "power"]
        .map(|test| Chapter { test: test.to_owned(), heading: format!("Heading of {test}") });
    let ids: Vec<_> = report.runs.iter().map(|run| run.run_id.as_str()).collect();
    let mut report = report.clone();
    let all = add(&mut report, text, &chapters, TOP, &ids);
    all.map(|()| report).map_err(|error| error.to_string())
}

fn two_drives() -> (TempDir, Report) {
    report(&[
        ("a", "consistency", "one", "default", Some(100.5)),
        ("b", "consistency", "one", "25%", Some(200.5)),
        ("c", "trim", "one", "default", Some(300.5)),
        ("d", "consistency", "two", "default", None),
    ])
}

fn all_nodes<'a>(nodes: &'a [WordsNode], found: &mut Vec<&'a WordsNode>) {
    for node in nodes {
        found.push(node);
        all_nodes(&node.content, found);
    }
}

fn figures(report: &Report) -> Vec<&str> {
    let mut nodes = Vec::new();
    report.words.iter().for_each(|section| all_nodes(&section.content, &mut nodes));
    nodes.iter().filter_map(|node| Some(node.figure.as_ref()?.run_id.as_str())).collect()
}

#[test]
fn sections_stand_in_their_chapters_and_quotes_mean_one_run() {
    let (_library, page) = two_drives();
    let text = "First words.\n\n# Heading of Consistency\n\nIt does **{{iops_steady_mean}}** and {{sim:one 25% \
        iops_steady_mean}}.\n\n### Within\n\n- one\n- two\n\n## trim\n\n{{Drive one iops_steady_mean}} {{ b iops_steady_mean }}\n";
    let page = added(&page, text).unwrap();
    let chapters: Vec<_> = page.words.iter().map(|section| section.chapter.as_str()).collect();
    assert_eq!(chapters, [TOP, "consistency", "trim"]);
    assert_eq!(figures(&page), ["a", "b", "c", "b"]);
    let kinds: Vec<_> = page.words[1].content.iter().map(|node| node.kind).collect();
    assert_eq!(kinds, [WordsKind::Paragraph, WordsKind::Heading, WordsKind::List]);
}

#[test]
fn a_figure_that_is_not_exactly_one_is_refused_with_its_line() {
    let (_library, page) = two_drives();
    for (text, words) in [
        ("x\n\n{{iops_steady_men}}", "line 3: `{{iops_steady_men}}`: no figure is called"),
        ("{{waf_steady}}", "no run on the page has this figure"),
        ("{{sim:two iops_steady_mean}}", "d has no value for it"),
        ("{{iops_steady_mean}}", "3 runs have it; name one: {{sim:one 25% iops_steady_mean}}"),
        ("{{sim:three iops_steady_mean}}", "no run of `sim:three`"),
        ("{{iops_steady_mean", "no `}}`"),
        ("# power\n\nx", "line 1: the page has no run of power"),
        (
            "a\n\n## Nonsense",
            "line 3: no chapter `Nonsense`; expected verdict or consistency, trim",
        ),
        ("[x](javascript:alert(1))", "a link to `javascript:alert(1)`"),
        (&format!("{} x", ">".repeat(100)), "parts within each other"),
    ] {
        let error = added(&page, text).unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn raw_html_and_pictures_are_text() {
    let (_library, page) = two_drives();
    let text = "<script>alert(1)</script>\n\na <img src=x onerror=y> ![a picture](https://example.com/x.png) \
        [link](https://example.com)\n\n    code {{not_a_figure}}\n";
    let page = added(&page, text).unwrap();
    let mut nodes = Vec::new();
    all_nodes(&page.words[0].content, &mut nodes);
    let texts: String = nodes.iter().map(|node| node.text.as_str()).collect();
    assert!(texts.contains("<script>alert(1)</script>") && texts.contains("<img src=x onerror=y>"));
    assert!(texts.contains("code {{not_a_figure}}"), "{texts}");
    assert!(texts.contains("a picture") && !texts.contains("x.png"), "{texts}");
    let links: Vec<_> = nodes.iter().filter_map(|node| node.link.as_deref()).collect();
    assert_eq!(links, ["https://example.com"]);
}
