//! Headings over the options of a command.

use clap::Arg;

/// A heading with the ids of its options.
type Heading = (&'static str, &'static [&'static str]);

const HEADINGS: [Heading; 6] = [
    (
        "Test and span",
        &[
            "settings",
            "workload",
            "spare",
            "span",
            "seed",
            "only",
            "quick",
            "full",
            "pts",
            "tests",
            "drives",
            "scale",
            "repeat",
            "interleave",
            "expect",
            "resume",
            "idle",
            "form",
            "mapping",
            "meter",
        ],
    ),
    ("Safety", &["erase", "erase_signatures", "read_only", "purge", "public", "token_file"]),
    ("Engine", &["engine", "workers", "cpu", "jobs"]),
    ("Words", &["label", "note", "tags", "no_tags", "facts", "firmware", "title", "words"]),
    ("Which runs", &["drive", "test", "tag", "since", "metrics", "threshold"]),
    ("Output", &["library", "output", "format", "quiet", "plan", "web", "split", "no_run", "to"]),
];

/// The option under its heading; the others stay under `Options`, arguments without a name under `Arguments`.
pub fn under_heading(arg: Arg) -> Arg {
    let id = arg.get_id().as_str().to_owned();
    let heading = HEADINGS.iter().find(|(_, ids)| ids.contains(&id.as_str()));
    match heading {
        Some((heading, _)) if !arg.is_positional() => arg.help_heading(*heading),
        _ => arg,
    }
}
