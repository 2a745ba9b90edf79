//! `ssdlab library note`: the words of a run.

use result::schema::About;
use result::store::{RunDir, resolve_run};

use super::list::document;
use crate::args::Format;
use crate::args::runs::NoteArgs;
use crate::failure::EXIT_DONE;
use crate::ui::out::data;

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
