//! The figures of a run as tables in Markdown.

use crate::metrics::find;
use crate::schema::{Run, Table, Verdict};

/// Target, conditions, figures, tables, sentences and the command that repeats the run. Values are
/// not rounded. Text of the run is escaped: none of it becomes a link, HTML or another table.
pub fn markdown(run: &Run) -> String {
    let simulated = if run.target.is_simulated() { " (simulated)" } else { "" };
    let mut lines = vec![
        format!("# {}{simulated}: {}", escaped(&run.target.name), escaped(&run.test)),
        String::new(),
    ];
    lines.extend(conditions(run));
    lines.extend(figures(run));
    run.tables.iter().for_each(|table| lines.extend(rows(table)));
    lines.extend(sentences(run));
    lines.push("```".to_owned());
    lines.push(run.command.replace("```", "'''"));
    lines.push("```".to_owned());
    lines.join("\n") + "\n"
}

fn conditions(run: &Run) -> Vec<String> {
    let origin = run.origin.as_ref().map(|origin| ("measured by", origin.tool.clone()));
    let firmware = run.target.firmware.as_ref().map(|firmware| ("firmware", firmware.clone()));
    let fixed = [
        ("run", run.run_id.clone()),
        ("version", run.tool_version.clone()),
        ("span", base::Bytes(run.span.span_bytes).rounded()),
        ("spare area", run.span.variant.clone()),
        ("engine", run.target.engine.clone()),
        ("seed", run.seed.to_string()),
    ];
    let all = origin.into_iter().chain(firmware).chain(fixed);
    let lines = all.map(|(name, value)| format!("- {name}: {}", escaped(&value)));
    lines.chain([String::new()]).collect()
}

fn figures(run: &Run) -> Vec<String> {
    let mut lines = vec![
        "| figure | value | unit | meaning | note |".to_owned(),
        "| --- | ---: | --- | --- | --- |".to_owned(),
    ];
    for (name, value) in &run.metrics {
        let metric = find(name);
        let unit = metric.map_or("", |metric| metric.unit.symbol());
        let label = metric.map_or("", |metric| &metric.label);
        let marks = run.marks.iter().filter(|mark| mark.metric == *name);
        let note = marks.map(|mark| escaped(&mark.text)).collect::<Vec<_>>().join("; ");
        let value = value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        let name = escaped(name);
        lines.push(format!("| {name} | {value} | {unit} | {} | {note} |", escaped(label)));
    }
    lines.push(String::new());
    lines
}

fn rows(table: &Table) -> Vec<String> {
    let column = |column: &crate::schema::TableColumn| match column.unit.as_str() {
        "" => escaped(&column.name),
        unit => format!("{} ({})", escaped(&column.name), escaped(unit)),
    };
    let names: Vec<_> = table.columns.iter().map(column).collect();
    let mut lines = vec![
        format!("## {}", escaped(&table.title)),
        String::new(),
        format!("| {} | {} |", escaped(&table.row_name), names.join(" | ")),
        format!("| --- |{}", " ---: |".repeat(names.len())),
    ];
    for row in &table.rows {
        let value = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), |it| it.to_string());
        let values: Vec<_> = row.values.iter().map(value).collect();
        lines.push(format!("| {} | {} |", escaped(&row.label), values.join(" | ")));
    }
    lines.push(String::new());
    lines
}

fn sentences(run: &Run) -> Vec<String> {
    let verdict =
        run.verdict.iter().map(|Verdict { text, .. }| format!("- Verdict: {}", escaped(text)));
    let findings = run.findings.iter().map(|finding| format!("- {}", escaped(&finding.text)));
    let warnings = run.warnings.iter().map(|text| format!("- Warning: {}", escaped(text)));
    let lines: Vec<_> = verdict.chain(findings).chain(warnings).collect();
    if lines.is_empty() { lines } else { lines.into_iter().chain([String::new()]).collect() }
}

/// Text that Markdown takes as it is, in a table too.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' => {
                safe.push('\\');
                safe.push(c);
            }
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_run_becomes_markup() {
        use pulldown_cmark::{Event, Parser, Tag};
        let hostile = "a|b\n# c <script> [x](javascript:0) `d` **e**";
        let safe = escaped(hostile);
        let plain = |event: &Event| match event {
            Event::Text(_) | Event::End(_) => true,
            Event::Start(tag) => *tag == Tag::Paragraph,
            _ => false,
        };
        let events: Vec<_> = Parser::new(&safe).collect();
        assert!(events.iter().all(plain), "{events:?}");
        let text = events.iter().filter_map(|event| match event {
            Event::Text(text) => Some(&**text),
            _ => None,
        });
        assert_eq!(text.collect::<String>(), hostile.replace('\n', " "));
    }
}
