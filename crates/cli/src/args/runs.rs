//! Arguments of `runs`.

use clap::{Args as ClapArgs, Subcommand};

use super::{Format, PlaceArgs, parse_word};

/// Arguments of `runs` and of its verbs.
#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArgs {
    /// The verb; without one, the runs are listed.
    #[command(subcommand)]
    pub verb: Option<RunsVerb>,
    #[command(flatten)]
    pub list: ListRunsArgs,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum RunsVerb {
    /// Remove runs
    Rm(RemoveArgs),
    /// Change label, remark and tags of a run
    Note(NoteArgs),
}

/// The runs to list.
#[derive(Debug, ClapArgs)]
pub struct ListRunsArgs {
    /// Only drives with this text in their name
    #[arg(long, value_name = "TEXT")]
    pub drive: Option<String>,
    /// Only this test
    #[arg(long, value_name = "TEST")]
    pub test: Option<String>,
    /// Only runs with this label
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// Only runs with this tag
    #[arg(long, value_name = "WORD")]
    pub tag: Option<String>,
    /// Only runs that began on this day or later (UTC), e.g. 2026-11-24
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    pub since: Option<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Arguments of `runs rm`.
#[derive(Debug, ClapArgs)]
pub struct RemoveArgs {
    /// Runs by their whole names
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Arguments of `runs note`.
#[derive(Debug, ClapArgs)]
pub struct NoteArgs {
    /// Run: path, name, start of a name, or `latest`
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Remark; an empty one removes it
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Name of its group
    #[arg(long, value_name = "NAME", value_parser = parse_word)]
    pub label: Option<String>,
    /// Word to find it by, in addition to those that it has; repeatable
    #[arg(long = "tag", value_name = "WORD", value_parser = parse_word)]
    pub tags: Vec<String>,
    /// Remove its tags first
    #[arg(long)]
    pub no_tags: bool,
    #[command(flatten)]
    pub place: PlaceArgs,
}

impl RunsArgs {
    /// Output on stdout.
    pub fn format(&self) -> Format {
        match &self.verb {
            None => self.list.place.format,
            Some(RunsVerb::Rm(args)) => args.place.format,
            Some(RunsVerb::Note(args)) => args.place.format,
        }
    }
}

/// A day as the first letters of a time: `2026-11-24`.
fn parse_date(text: &str) -> Result<String, String> {
    let is_number = |part: &str, width: usize, most: u32| {
        let number = part.parse::<u32>().ok().filter(|number| (1..=most).contains(number));
        part.len() == width && number.is_some()
    };
    let parts: Vec<_> = text.split('-').collect();
    match parts.as_slice() {
        [year, month, day]
            if is_number(year, 4, 9999) && is_number(month, 2, 12) && is_number(day, 2, 31) =>
        {
            Ok(text.to_owned())
        }
        _ => Err("expected a day such as 2026-11-24".to_owned()),
    }
}
