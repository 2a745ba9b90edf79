//! No file needs a file that needs it: a circle of files can only be read, moved and changed as
//! one.
//!
//! A file needs another if a path in its code leads there: through `use`, or written out from
//! `crate`, `super` or `self`. A re-export is followed to the file that defines the item, so that
//! the face of a folder, which re-exports names, creates no circle. Declaring a module is no need,
//! and tests do not count.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{files, read};
use super::text::code_lines;

/// A module of a crate: the names that lead to it from the crate's root.
type Module = Vec<String>;

/// A path to an item, in segments.
type ItemPath = Vec<String>;

/// One file of a crate.
struct Source {
    /// Path from the top of the checkout.
    file: String,
    /// Paths in its code.
    needs: Vec<ItemPath>,
    /// Re-exported names, with the path to each; `*` re-exports all names of a module.
    hands_on: Vec<(String, ItemPath)>,
}

/// The files of one crate, by module.
struct House {
    sources: BTreeMap<Module, Source>,
}

impl House {
    /// Reads the crate whose sources lie in `dir`.
    fn read(dir: &str) -> Self {
        let texts = files(dir, "rs").into_iter().map(|file| (read(&file), file));
        Self::of(dir, texts.map(|(text, file)| (file, text)))
    }

    fn of(dir: &str, texts: impl Iterator<Item = (String, String)>) -> Self {
        let mut sources = BTreeMap::new();
        for (file, text) in texts {
            let module = module_of(dir, &file);
            // Such a file or folder is declared by its parent, for tests only.
            if module.last().is_some_and(|name| ["tests", "each_check"].contains(&name.as_str())) {
                continue;
            }
            let code = without_tests(&text);
            let uses = uses(&code);
            let handed = uses.iter().filter(|(is_public, _, _)| *is_public);
            let hands_on = handed.map(|(_, name, path)| (name.clone(), path.clone())).collect();
            let mut needs: Vec<_> = uses
                .iter()
                .filter(|(is_public, _, _)| !is_public)
                .map(|(_, _, path)| path.clone())
                .collect();
            needs.extend(written_out(&code));
            sources.insert(module, Source { file, needs, hands_on });
        }
        Self { sources }
    }

    /// The module in which an item is defined; `None` for items of other crates.
    fn resolve(&self, from: &Module, path: &[String], steps: usize) -> Option<Module> {
        let first = path.first()?;
        // Names handed on in a ring end here.
        if steps > 20 {
            return None;
        }
        let (mut at, mut rest) = match first.as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from.split_last()?.1.to_vec(), &path[1..]),
            name => {
                let child = joined(from, name);
                self.sources.contains_key(&child).then_some((child, &path[1..]))?
            }
        };
        while let Some((name, after)) = rest.split_first() {
            if name == "super" {
                at = at.split_last()?.1.to_vec();
            } else if self.sources.contains_key(&joined(&at, name)) {
                at = joined(&at, name);
            } else {
                return Some(self.definition(&at, name, steps));
            }
            rest = after;
        }
        Some(at)
    }

    /// The module that defines what `at` calls `name`.
    fn definition(&self, at: &Module, name: &str, steps: usize) -> Module {
        let Some(source) = self.sources.get(at) else { return at.clone() };
        let named = source.hands_on.iter().filter(|(handed, _)| handed == name);
        let origin = named.filter_map(|(_, path)| self.resolve(at, path, steps + 1)).next();
        origin.unwrap_or_else(|| at.clone())
    }

    /// Each file with the files that it needs.
    fn edges(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut edges = BTreeMap::new();
        for (module, source) in &self.sources {
            let found = source.needs.iter().filter_map(|path| self.resolve(module, path, 0));
            let found = found.filter_map(|needed| self.sources.get(&needed));
            let needed = found.map(|needed| &*needed.file).filter(|file| *file != source.file);
            edges.insert(&*source.file, needed.collect());
        }
        edges
    }
}

fn joined(module: &[String], name: &str) -> Module {
    let mut longer = module.to_vec();
    longer.push(name.to_owned());
    longer
}

/// `crates/io/src/open/file.rs` in `crates/io/src` is the module `open::file`.
fn module_of(dir: &str, file: &str) -> Module {
    let inside = file.strip_prefix(dir).unwrap_or(file).trim_start_matches('/');
    let stem = inside.strip_suffix(".rs").unwrap_or(inside);
    let mut module: Module = stem.split('/').map(str::to_owned).collect();
    let last = module.last().map_or("", String::as_str);
    if last == "mod" || (module.len() == 1 && ["lib", "main"].contains(&last)) {
        module.pop();
    }
    module
}

/// The code before the module of tests, which stands last by convention, without comments.
fn without_tests(text: &str) -> String {
    let lines = code_lines(text).map(|(_, code)| code);
    let before = lines.take_while(|code| !code.starts_with("#[cfg(test)]"));
    before.collect::<Vec<_>>().join("\n")
}

/// Every name of the `use` declarations: whether it is re-exported, the name, and its path.
fn uses(code: &str) -> Vec<(bool, String, ItemPath)> {
    let mut found = Vec::new();
    for statement in code.split(';') {
        let words = statement.trim_start();
        // A declaration may follow the end of a block or an attribute.
        let start = words.rsplit(['}', ']']).next().unwrap_or(words);
        let whole =
            if words.starts_with("use ") || words.starts_with("pub") { words } else { start };
        let Some((head, tree)) = whole.split_once("use ") else { continue };
        let head = head.trim();
        if !(head.is_empty() || head.starts_with("pub")) || head.contains(char::is_whitespace) {
            continue;
        }
        let tree: String = tree.split_whitespace().collect::<Vec<_>>().join(" ");
        for (name, path) in leaves(&tree, &[]) {
            found.push((!head.is_empty(), name, path));
        }
    }
    found
}

/// The names at the ends of a `use` tree.
fn leaves(tree: &str, before: &[String]) -> Vec<(String, ItemPath)> {
    let tree = tree.trim();
    if let Some((path, group)) = tree.split_once('{') {
        let before = [before, &segments(path)].concat();
        let group = group.strip_suffix('}').unwrap_or(group);
        return parts(group).into_iter().flat_map(|part| leaves(part, &before)).collect();
    }
    let (path, alias) =
        tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name)));
    let path = [before, &segments(path)].concat();
    let Some(last) = path.last() else { return Vec::new() };
    let name = alias.map_or(last.clone(), str::to_owned);
    vec![(name, path)]
}

/// The parts of a group, split at the commas outside inner groups.
fn parts(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    let mut start = 0;
    for (at, sign) in group.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&group[start..]);
    found.retain(|part| !part.trim().is_empty());
    found
}

fn segments(path: &str) -> ItemPath {
    let words = path.split("::").map(str::trim);
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Paths from `crate`, `super` or `self` in the midst of code.
fn written_out(code: &str) -> Vec<ItemPath> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    // A word with a colon at its end begins a group of `use`; its names are paths of their own.
    let words = code.split(|c: char| !is_path(c));
    let words = words.filter(|word| word.contains("::") && !word.ends_with(':'));
    let paths = words.map(segments);
    paths
        .filter(|path| matches!(path.first().map(String::as_str), Some("crate" | "super" | "self")))
        .collect()
}

/// All files that can be reached from one.
fn reached<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, start: &'a str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(file) = waiting.pop() {
        for &next in edges.get(file).into_iter().flatten() {
            if seen.insert(next) {
                waiting.push(next);
            }
        }
    }
    seen
}

/// The circles of a crate: sets of files of which each reaches all others.
fn circles<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let reach: BTreeMap<_, _> = edges.keys().map(|&file| (file, reached(edges, file))).collect();
    let mut found: Vec<Vec<&str>> = Vec::new();
    for (&file, others) in &reach {
        let beyond = others.iter().filter(|&&other| other != file && reach[other].contains(file));
        let mut circle: Vec<_> = beyond.copied().collect();
        circle.push(file);
        circle.sort_unstable();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

/// One line for each circle, with the needs behind it.
fn forbidden(house: &House) -> Vec<String> {
    let edges = house.edges();
    circles(&edges)
        .into_iter()
        .map(|circle| {
            let needs = |file: &str| {
                let inside: Vec<_> =
                    edges[file].iter().filter(|other| circle.contains(other)).copied().collect();
                format!("\n    {file} needs {}", inside.join(", "))
            };
            let needs: String = circle.iter().map(|file| needs(file)).collect();
            format!("{} files in a circle:{needs}", circle.len())
        })
        .collect()
}

#[test]
fn no_files_stand_in_a_circle() {
    let crates: BTreeSet<_> = files("crates", "rs")
        .iter()
        .filter_map(|file| file.split_once("/src/").map(|(name, _)| format!("{name}/src")))
        .chain(["bench/src", "validation/src", "xtask/src"].map(str::to_owned))
        .collect();
    let wrong: Vec<_> = crates.iter().flat_map(|dir| forbidden(&House::read(dir))).collect();
    assert!(wrong.is_empty(), "move what both need below both:\n  {}", wrong.join("\n  "));
}

#[cfg(test)]
fn house(texts: &[(&str, &str)]) -> House {
    let owned = texts.iter().map(|(file, text)| (format!("s/{file}"), (*text).to_owned()));
    House::of("s", owned)
}

#[test]
fn a_circle_is_noticed_and_a_face_is_none() {
    let over = house(&[
        ("lib.rs", "pub mod a;\npub mod b;"),
        ("a/mod.rs", "use crate::b::{self, Thing as Other};"),
        ("b/mod.rs", "pub struct Thing;\nfn f() { crate::a::run() }"),
    ]);
    assert_eq!(forbidden(&over).len(), 1);
    let within = house(&[("b/x.rs", "use super::y::Y;"), ("b/y.rs", "use super::x::X;")]);
    assert_eq!(forbidden(&within).len(), 1);
    let above = house(&[("b.rs", "mod x;\nuse x::X;"), ("b/x.rs", "use super::B;")]);
    assert_eq!(forbidden(&above).len(), 1);
    let face = house(&[
        ("b.rs", "mod x;\nmod y;\npub use x::X;"),
        ("b/x.rs", "use super::{y};"),
        ("b/y.rs", ""),
    ]);
    assert!(forbidden(&face).is_empty());
    let three = house(&[
        ("b/x.rs", "use super::y::Y;"),
        ("b/y.rs", "use super::z::Z;"),
        ("b/z.rs", "use super::x::X;"),
    ]);
    assert_eq!(forbidden(&three).len(), 1);
}

#[test]
fn a_name_handed_on_leads_to_the_file_that_defines_it() {
    let house = house(&[
        ("lib.rs", "pub mod a;\nmod b;\npub use a::inner::{Deep, more::*};"),
        ("a/mod.rs", "pub mod inner;"),
        ("a/inner.rs", "pub struct Deep;"),
        ("b.rs", "use crate::Deep;\n#[cfg(test)]\nmod tests { use crate::a; }"),
    ]);
    let edges = house.edges();
    assert_eq!(edges["s/b.rs"].iter().copied().collect::<Vec<_>>(), ["s/a/inner.rs"]);
    assert!(edges["s/lib.rs"].is_empty());
}
