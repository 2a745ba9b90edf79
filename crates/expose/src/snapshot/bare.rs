//! A drive without data in a file, for studies that need its maps and times only.
//!
//! ```text
//! HEAD  JSON: of which drive, by which program (Header)
//! BARE  the drive, as postcard encodes it
//! ```
//!
//! The frame is that of a [`super::file`], and so are the promises: complete or not there, checked before it is believed,
//! read only by a program with the same simulator.

use std::io::{self, Read};
use std::path::Path;

use base::file::open_regular;
use base::panics::caught;
use serde::{Deserialize, Serialize};
use sim::{Config, Drive};

use super::FileFault;
use super::file::{Replace, SIMULATOR, hash, put, read_header};
use super::sections::{Name, Writer, sections};

const NAMES: [Name; 2] = [*b"HEAD", *b"BARE"];

/// The account that the file of a drive gives of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the program that wrote it.
    pub ssdlab: String,
    /// Hash of the source of its simulator.
    simulator: String,
    /// Its target string.
    pub target: String,
    /// Hash of the resolved model.
    config: String,
    /// Its policies that are not those of the model, in words; a file cannot have them.
    pub policies: String,
}

/// A drive without outstanding commands and its caller's account of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BareState<D = Drive, T = Vec<u32>> {
    /// The drive.
    pub drive: D,
    /// Every tag, in the order of use: a drive with several queues puts a command into one by its tag.
    pub free_tags: T,
    /// Commands so far.
    pub commands: u64,
}

impl BareState {
    fn is_sound(&self, config: &Config) -> bool {
        let mut tags = self.free_tags.clone();
        tags.sort_unstable();
        self.drive.config() == config
            && self.drive.ftl().geometry == config.geometry
            && self.drive.is_idle()
            && tags.into_iter().eq(0..config.queue_depth)
            && self.drive.check().is_ok()
    }
}

/// Writes a state into a new file, with the target string of its drive and the words of its policies.
///
/// # Errors
/// [`FileFault`]; then there is no new file.
pub fn save(
    state: &BareState<&Drive, &[u32]>,
    (target, policies): (&str, &str),
    path: &Path,
) -> Result<(), FileFault> {
    Replace::Nothing.check(path)?;
    let header = Header {
        ssdlab: env!("CARGO_PKG_VERSION").to_owned(),
        simulator: SIMULATOR.to_owned(),
        target: target.to_owned(),
        config: hash(state.drive.config()),
        policies: policies.to_owned(),
    };
    let [head, bare] = NAMES;
    put(path, Replace::Nothing, |file| {
        let mut writer = Writer::new(file)?;
        writer.section(head, |out| Ok(serde_json::to_writer(out, &header)?))?;
        writer
            .section(bare, |out| postcard::to_io(state, out).map(drop).map_err(io::Error::other))?;
        writer.end()
    })
}

/// Reads the header of the file of a drive, whose checksums are all right.
///
/// # Errors
/// [`FileFault`].
pub fn header(path: &Path) -> Result<Header, FileFault> {
    let file = open_regular(path)?;
    let [head, _] = sections(&file, NAMES)?;
    read_header(&file, head)
}

/// Reads the state of a drive of this model.
///
/// # Errors
/// [`FileFault`].
pub fn read(path: &Path, config: &Config) -> Result<BareState, FileFault> {
    const FAULT: FileFault = FileFault::Damaged("its state of the drive");
    let file = open_regular(path)?;
    let [head, bare] = sections(&file, NAMES)?;
    let header: Header = read_header(&file, head)?;
    if header.simulator != SIMULATOR {
        return Err(FileFault::Simulator { program: header.ssdlab });
    }
    if header.config != hash(config) {
        return Err(FileFault::OtherDrive { found: header.target });
    }
    let read = postcard::from_io((bare.open(&file)?, &mut []));
    let (state, (mut rest, _)): (BareState, _) = read.map_err(|_| FAULT)?;
    let is_whole = rest.read(&mut [0])? == 0;
    let is_sound = is_whole && caught(|| state.is_sound(config)).unwrap_or(false);
    if is_sound { Ok(state) } else { Err(FAULT) }
}
