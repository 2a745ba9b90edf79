//! All removals of a source file in one build: each function with a check has a second body without it, and a
//! variable of the environment chooses between them. This concerns the copy that is tested, and nothing else.

use std::ops::Range;

use anyhow::{Result, ensure};

use super::list::Mutant;

/// The variable with the names of the removed checks, with commas between.
pub(super) const VARIABLE: &str = "SSDLAB_MUTANTS";

/// The source with a body for each of the mutants, which are all of this file.
pub(super) fn switched(source: &str, mutants: &[&Mutant]) -> Result<String> {
    let bodies = bodies(&code_only(source));
    let mut switches: Vec<(Range<usize>, String)> = Vec::new();
    for mutant in mutants {
        let Some(start) = source.find(&mutant.text) else { continue };
        let end = start + mutant.text.len();
        let around = bodies.iter().filter(|body| body.start < start && end < body.end);
        let body = around.min_by_key(|body| body.len());
        let name = &mutant.name;
        ensure!(
            body.is_some(),
            "the check {name} is in no function, so that nothing can choose to leave it out"
        );
        let body = body.cloned().unwrap_or_default();
        let original = &source[body.clone()];
        let mut without = original.replacen(&mutant.text, &mutant.becomes, 1);
        // Of the bodies of a function, one runs: that of a check lacks its cover, too, if it is here.
        if let Some(cover) = mutants.iter().find(|it| mutant.covered_by.as_ref() == Some(&it.name))
        {
            without = without.replacen(&cover.text, &cover.becomes, 1);
        }
        let is_removed = format!(
            "std::env::var(\"{VARIABLE}\").is_ok_and(|all| all.split(',').any(|it| it == \"{name}\"))"
        );
        let branch = format!("if {is_removed} {without} else ");
        match switches.iter_mut().find(|(range, _)| *range == body) {
            Some((_, branches)) => branches.push_str(&branch),
            None => switches.push((body, branch)),
        }
    }
    switches.sort_by_key(|(body, _)| body.start);
    let is_apart = switches.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start);
    ensure!(
        is_apart,
        "a function in another one has a check, too; give that function another place"
    );
    let mut text = source.to_owned();
    for (body, branches) in switches.into_iter().rev() {
        let original = source[body.clone()].to_owned();
        text.replace_range(body, &format!("{{ {branches}{original} }}"));
    }
    Ok(text)
}

/// The name of the check whose removal stands at a line of a switched source, or `None` if the line is before all.
pub(super) fn removal_at(switched: &str, line: usize) -> Option<&str> {
    let end = switched.split_inclusive('\n').take(line).map(str::len).sum();
    let (_, from_name) = switched[..end].rsplit_once("|it| it == \"")?;
    from_name.split('"').next()
}

/// The source with blanks in place of comments, strings and characters.
fn code_only(source: &str) -> Vec<u8> {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = end_of_text(bytes, at);
        code[at..end].fill(b' ');
        at = end.max(at + 1);
    }
    code
}

/// The end of the comment, string or character that begins here, or the same place if none does.
fn end_of_text(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let is_word_before = at > 0 && is_word(bytes[at - 1]);
    let after = |mark: &[u8], from: usize| {
        let found = rest[from..].windows(mark.len()).position(|window| window == mark);
        at + found.map_or(rest.len(), |found| from + found + mark.len())
    };
    match rest {
        [b'/', b'/', ..] => after(b"\n", 2),
        [b'/', b'*', ..] => after(b"*/", 2),
        [b'r', b'"' | b'#', ..] if !is_word_before => {
            let hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
            if rest.get(1 + hashes) != Some(&b'"') {
                return at;
            }
            after(&[&b"\""[..], &b"#".repeat(hashes)].concat(), 2 + hashes)
        }
        [b'"', ..] => at + end_of_quoted(rest, b'"'),
        [b'\'', b'\\', ..] => at + end_of_quoted(rest, b'\''),
        [b'\'', ..] => {
            // A lifetime has no second mark.
            let char_bytes = str::from_utf8(&rest[1..]).ok().and_then(|text| text.chars().next());
            let end = 1 + char_bytes.map_or(0, char::len_utf8);
            if rest.get(end) == Some(&b'\'') { at + end + 1 } else { at }
        }
        _ => at,
    }
}

/// The length of a quoted text with escapes.
fn end_of_quoted(rest: &[u8], mark: u8) -> usize {
    let mut end = 1;
    while end < rest.len() && rest[end] != mark {
        end += if rest[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(rest.len())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The bodies of all functions, braces included.
fn bodies(code: &[u8]) -> Vec<Range<usize>> {
    let mut bodies = Vec::new();
    for at in 0..code.len() {
        let is_word_before = at > 0 && is_word(code[at - 1]);
        if code[at..].starts_with(b"fn ") && !is_word_before {
            bodies.extend(body(code, at));
        }
    }
    bodies
}

/// The body of the function that begins here, or `None` if it is only declared.
fn body(code: &[u8], function: usize) -> Option<Range<usize>> {
    let (mut brackets, mut braces, mut start) = (0_i32, 0_i32, None);
    for (at, byte) in code.iter().enumerate().skip(function) {
        match (byte, start) {
            (b'(' | b'[', None) => brackets += 1,
            (b')' | b']', None) => brackets -= 1,
            (b';', None) if brackets == 0 => return None,
            (b'{', _) => {
                start = start.or(Some(at));
                braces += 1;
            }
            (b'}', Some(start)) => {
                braces -= 1;
                if braces == 0 {
                    return Some(start..at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(name: &str, text: &str, becomes: &str) -> Mutant {
        Mutant {
            name: name.to_owned(),
            file: String::new(),
            text: text.to_owned(),
            becomes: becomes.to_owned(),
            test: "package program filter".to_owned().try_into().unwrap(),
            covered_by: None,
        }
    }

    const SOURCE: &str = "fn a<'a>(x: &'a [u8; 2]) -> bool {\n    // no }\n    let s = (\"}\", '}', '\\'', r#\"}\"#);\n    \
                          x == y && z\n}\nfn b();\nfn c() { d() }\n";

    #[test]
    fn a_function_gets_a_body_for_each_removal() {
        let (one, other) = (mutant("one", "x == y", "true"), mutant("other", " && z", ""));
        let text = switched(SOURCE, &[&one, &other]).unwrap();
        assert!(text.starts_with("fn a<'a>(x: &'a [u8; 2]) -> bool { if std::env::var("), "{text}");
        assert_eq!(text.matches("let s = ").count(), 3);
        let line = |part: &str| text[..text.find(part).unwrap()].lines().count();
        assert_eq!(removal_at(&text, line("true && z")), Some("one"));
        assert_eq!(removal_at(&text, line("    x == y\n")), Some("other"));
        assert_eq!(text.matches("    true && z\n}").count(), 1);
        assert_eq!(text.matches("    x == y\n}").count(), 1);
        assert!(text.ends_with("    x == y && z\n} }\nfn b();\nfn c() { d() }\n"), "{text}");
    }

    #[test]
    fn a_check_and_its_cover_leave_one_function_together() {
        let (mut one, other) = (mutant("one", "x == y", "true"), mutant("other", " && z", ""));
        one.covered_by = Some("other".to_owned());
        let text = switched(SOURCE, &[&one, &other]).unwrap();
        assert_eq!(text.matches("    true\n}").count(), 1, "{text}");
        assert_eq!(text.matches("    x == y\n}").count(), 1, "{text}");
    }

    #[test]
    fn a_check_outside_of_functions_is_told() {
        let error = switched(SOURCE, &[&mutant("one", "fn b();", "")]).unwrap_err().to_string();
        assert!(error.contains("the check one is in no function"), "{error}");
    }
}
