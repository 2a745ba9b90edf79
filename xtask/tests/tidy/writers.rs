//! Whatever opens a file of the user for writing, replaces or removes it, passes the guard: such
//! calls stand in the places below and nowhere else.

use super::source::{files, must_be_empty, read};
use super::text::code_lines;

/// Calls that create, change, replace or remove a file. The text after a word border.
const WRITING: &[&str] = &[
    "File::create",
    "File::options",
    "OpenOptions::new",
    "fs::write",
    "fs::rename",
    "fs::copy",
    "fs::hard_link",
    "fs::remove_",
    "set_len(",
    ".persist",
    "UnixListener::bind",
    "renameat",
    "unlink(",
];

/// The places, and why they may. A folder ends with a slash.
const PLACES: &[(&str, &str)] = &[
    ("crates/base/src/file.rs", "opens files for reading"),
    ("crates/device/src/guard", "the guard itself: opens after its checks"),
    ("crates/device/src/describe/loops.rs", "opens loop devices for reading, to ask them"),
    ("crates/device/src/host/journal.rs", "the journal of changed settings in a folder of its own"),
    ("crates/device/src/host/tracer.rs", "switches of the kernel's tracer"),
    ("crates/device/src/meter/stream.rs", "opens a meter for reading"),
    ("crates/device/src/nvme/generic.rs", "the node of a namespace that the guard has claimed"),
    ("crates/device/src/rest/sata.rs", "switches of the kernel in sysfs"),
    ("crates/io/src/open/file.rs", "targets of `file:`, after the checks of the guard"),
    ("crates/io/src/ownership.rs", "removes the file that the run created, by device and inode"),
    ("crates/io/src/space.rs", "the size of a file that is claimed"),
    ("crates/cli/src/output_file.rs", "outputs of every command, after the guard"),
    ("crates/cli/src/stop.rs", "removes the temporary file of an output"),
    ("crates/cli/src/commands/library/export.rs", "a new folder, filled under a temporary name"),
    ("crates/expose/src/contents.rs", "the size of a contents file that the guard has opened"),
    ("crates/expose/src/socket.rs", "its own socket, and one that nobody is bound to"),
    ("crates/expose/src/snapshot/file.rs", "a new file, or a saved state that the guard passed"),
    ("validation/src/store.rs", "the folder of runs of the developers' checks"),
    ("crates/result/src/bench/", "the folder of a site"),
    ("crates/result/src/store", "run directories in a library"),
    ("crates/run/src/verify/journal.rs", "a journal, which must be a new file"),
    ("crates/serve/src/", "index and uploads of a library"),
    ("py/src/traces.rs", "a new trace file, in place of none"),
    ("crates/study/src/sweep/book.rs", "new files of a sweep; its log passes the guard"),
];

/// The code of a file up to its tests.
fn code(text: &str) -> &str {
    text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code)
}

fn writes(code: &str) -> bool {
    WRITING.iter().any(|call| {
        let starts = code.match_indices(call).map(|(at, _)| &code[..at]);
        starts.into_iter().any(|before| {
            call.starts_with('.') || !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        })
    })
}

#[test]
fn files_of_the_user_are_written_in_known_places() {
    let tests = ["/tests.rs", "/each_check.rs", "/machine.rs"];
    let is_tests = |file: &String| tests.iter().any(|name| file.ends_with(name));
    let sources = [files("crates", "rs"), files("py/src", "rs"), files("validation", "rs")]
        .concat()
        .into_iter();
    let sources = sources.filter(|file| file.contains("/src/") && !is_tests(file));
    let mut elsewhere = Vec::new();
    let mut unused: Vec<_> = PLACES.iter().map(|(place, _)| *place).collect();
    for file in sources {
        let text = read(&file);
        for (number, line) in code_lines(code(&text)).filter(|(_, line)| writes(line)) {
            unused.retain(|place| !file.starts_with(place));
            if !PLACES.iter().any(|(place, _)| file.starts_with(place)) {
                elsewhere.push(format!("{file}:{number}: {}", line.trim()));
            }
        }
    }
    let rule = "open it by device::guard or cli's OutputFile, or name the place with its reason";
    must_be_empty(rule, &elsewhere);
    let unused: Vec<_> = unused.into_iter().map(str::to_owned).collect();
    must_be_empty("a place that writes nothing any more", &unused);
}

/// The calls by which a file passes the guard, in the places that open files of the user's choice.
#[test]
fn the_places_that_the_user_names_pass_the_guard() {
    const CALLS: &[(&str, &str)] = &[
        ("crates/cli/src/output_file.rs", "guard::check_replaceable("),
        ("crates/cli/src/commands/sim/expose/contents.rs", "guard::file::open("),
        ("crates/cli/src/commands/sim/state.rs", "guard::check_replaceable("),
        ("crates/io/src/open/file.rs", "somebodys::require_unused("),
        ("crates/io/src/open/file.rs", "FileClaim::take("),
        ("crates/io/src/open/block.rs", "guard::claim("),
        ("crates/study/src/sweep/book.rs", "check_replaceable("),
    ];
    let missing: Vec<_> = CALLS
        .iter()
        .filter(|(file, call)| !code(&read(file)).contains(call))
        .map(|(file, call)| format!("{file}: {call}"))
        .collect();
    must_be_empty("it opens files of the user, so it calls the guard", &missing);
}

#[test]
fn writing_calls_are_recognised() {
    assert!(writes("let file = File::create_new(path)?;"));
    assert!(writes("std::fs::write(path, text)"));
    assert!(writes("file.persist(&target)?;"));
    assert!(!writes("let mut file = OutputFile::create(path, &inputs)?;"));
    assert!(!writes("let file = File::open(path)?;"));
}
