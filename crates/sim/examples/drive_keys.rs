//! Writes the keys of drive models into `docs/reference/formats/drive-model.md` of a checkout: its top is the argument, or else
//! the working directory.

use std::path::PathBuf;
use std::{env, fs, io};

use base::text::grouped;
use sim::model::{Key, Kind, Model};

/// The last heading of the page; what follows it is generated.
const HEADING: &str = "\n## Keys\n";

/// Powers of two from this one on are written as such.
const POWER_MIN: u64 = 1 << 16;

/// The most that a time may be.
const HOUR_NS: u64 = 3_600_000_000_000;

/// Width of the page.
const COLUMNS: usize = 100;

fn main() -> io::Result<()> {
    let top = env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let page = top.join("docs/reference/formats/drive-model.md");
    let text = fs::read_to_string(&page)?;
    let by_hand = text.split(HEADING).next().unwrap_or_default();
    fs::write(page, format!("{by_hand}{HEADING}{}", generated()))
}

fn generated() -> String {
    let mut text = String::from(
        "\n`cargo xtask schema` writes this list from the declarations in `crates/sim/src/`. A number without\n\
         bounds here has some that depend on other values of the model.\n",
    );
    let keys = Model::keys();
    for section in keys.chunk_by(|one, next| section(one) == section(next)) {
        text += &match self::section(&section[0]) {
            "" => "\n".to_owned(),
            name => format!("\n### [{name}]\n\n"),
        };
        text.extend(section.iter().map(item));
    }
    text
}

/// The table of a key, which is empty for one at the top of the file.
fn section(key: &Key) -> &str {
    key.name.split_once('.').map_or("", |(section, _)| section)
}

fn item(key: &Key) -> String {
    let kind = match (key.kind, key.range) {
        (Kind::Number, Some((min, u64::MAX))) => format!("from {}", number(min)),
        (Kind::Number, Some((min, max))) => format!("{} to {}", number(min), number(max)),
        (kind, _) => kind.to_string(),
    };
    let may = if key.is_optional { ", optional" } else { "" };
    wrapped(&format!("- `{}` ({kind}{may}): {}", key.name, key.about.trim()))
}

/// An item of a list, in lines of at most [`COLUMNS`].
fn wrapped(item: &str) -> String {
    let mut lines = vec![String::new()];
    for word in item.split_whitespace() {
        let line = lines.last_mut().expect("there is always one");
        if line.is_empty() {
            *line += word;
        } else if line.chars().count() + 1 + word.chars().count() <= COLUMNS {
            *line += &format!(" {word}");
        } else {
            lines.push(format!("  {word}"));
        }
    }
    lines.join("\n") + "\n"
}

/// A number with separators, as a power of two, or an hour in ns.
fn number(number: u64) -> String {
    if number == HOUR_NS {
        return "1 h".to_owned();
    }
    if number >= POWER_MIN && number.is_power_of_two() {
        return format!("2^{}", number.trailing_zeros());
    }
    grouped(&number.to_string())
}
