//! `ssdlab library note`: the words of a run.

use clap::Args as ClapArgs;
use result::schema::About;
use result::store::{RunDir, resolve_run};

use super::list::document;
use crate::args::heading;
use crate::args::{Format, PlaceArgs, parse_word};
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

const EXAMPLES: &str = "\
Examples:
  ssdlab library note latest --label before --tag lab
  ssdlab library note latest --note 'bay 3, new firmware'
  ssdlab library note 20261124-1025 --no-tags --note ''";

/// Arguments of `library note`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct NoteArgs {
    /// Run: path, name, start of a name, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Remark; an empty one removes it
    #[arg(long, value_name = "TEXT", help_heading = heading::WORDS)]
    pub note: Option<String>,
    /// Name of its group
    #[arg(long, value_name = "NAME", value_parser = parse_word, help_heading = heading::WORDS)]
    pub label: Option<String>,
    /// Word to find it by, in addition to those that it has; repeatable
    #[arg(long = "tag", value_name = "WORD", value_parser = parse_word, help_heading = heading::WORDS)]
    pub tags: Vec<String>,
    /// Remove its tags first
    #[arg(long, help_heading = heading::WORDS)]
    pub no_tags: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
}

pub fn run(args: &NoteArgs) -> anyhow::Result<u8> {
    let mut dir = RunDir::open(&resolve_run(&args.place.library, &args.run)?)?;
    let About { label, note, tags } = dir.run().about.clone();
    let mut tags = if args.no_tags { Vec::new() } else { tags };
    tags.extend(args.tags.iter().filter(|tag| !tags.contains(tag)).cloned().collect::<Vec<_>>());
    let note = args.note.clone().or(note).filter(|note| !note.is_empty());
    dir.set_about(About { label: args.label.clone().or(label), note, tags })?;
    match args.place.format {
        Format::Json => data!("{}", document(&dir)),
        Format::Text => data!("{}", dir.path().display()),
    }
    Ok(EXIT_DONE)
}
