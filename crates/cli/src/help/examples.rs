//! Examples of each command, from `examples.txt`. A test calls every one of them, up to its effect.

/// Blocks with an empty line between: the path of a command in brackets, then a line for each example. `#` begins a
/// remark, as in a shell.
const TEXT: &str = include_str!("examples.txt");

/// The examples of the command at this path, which has no `ssdlab`; none of one that is not there.
pub fn of(path: &str) -> Vec<&'static str> {
    let block = blocks().find(|(known, _)| *known == path);
    block.map_or_else(Vec::new, |(_, lines)| lines.lines().collect())
}

fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    let block = |block: &'static str| block.trim_start().strip_prefix('[')?.split_once("]\n");
    TEXT.split("\n\n").filter_map(block)
}

/// The paths of all commands with examples.
#[cfg(test)]
pub fn paths() -> Vec<&'static str> {
    blocks().map(|(path, _)| path).collect()
}
