//! NBD, the Network Block Device protocol, as bytes: negotiation, requests, replies.
//!
//! Fixed newstyle negotiation with structured replies and the metadata context `base:allocation`. Source:
//! <https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md>. Omitted: TLS, extended headers, resizing. The
//! only export has an empty name. All numbers are big endian. Nothing here waits but [`negotiate`], which takes any stream.

mod fields;

use std::io::{self, Read, Write};
use std::ops::Range;

use thiserror::Error;

use crate::plan::Shape;
use crate::request::{Action, Answer, Extent, Fault, Request};
use fields::Fields;

/// Longest data of a request or reply, in bytes.
pub const DATA_BYTES_MAX: u32 = 32 << 20;
/// Length of a request without its data, in bytes.
pub const REQUEST_BYTES: usize = 28;
/// Most extents of one reply.
pub const EXTENTS_MAX: usize = 4096;

const OPTION_BYTES_MAX: u32 = 64 << 10;
const OPTIONS_MAX: u32 = 256;

const GREETING_MAGIC: u64 = 0x4e42_444d_4147_4943;
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

mod option {
    pub(super) const EXPORT_NAME: u32 = 1;
    pub(super) const ABORT: u32 = 2;
    pub(super) const LIST: u32 = 3;
    pub(super) const INFO: u32 = 6;
    pub(super) const GO: u32 = 7;
    pub(super) const STRUCTURED_REPLY: u32 = 8;
    pub(super) const LIST_META_CONTEXT: u32 = 9;
    pub(super) const SET_META_CONTEXT: u32 = 10;
}

mod option_reply {
    pub(super) const ACK: u32 = 1;
    pub(super) const SERVER: u32 = 2;
    pub(super) const INFO: u32 = 3;
    pub(super) const META_CONTEXT: u32 = 4;
    pub(super) const UNSUPPORTED: u32 = 1 << 31 | 1;
    pub(super) const INVALID: u32 = 1 << 31 | 3;
    pub(super) const UNKNOWN: u32 = 1 << 31 | 6;
}

mod info {
    pub(super) const EXPORT: u16 = 0;
    pub(super) const NAME: u16 = 1;
    pub(super) const DESCRIPTION: u16 = 2;
    pub(super) const BLOCK_SIZE: u16 = 3;
}

mod command {
    pub(super) const READ: u16 = 0;
    pub(super) const WRITE: u16 = 1;
    pub(super) const DISCONNECT: u16 = 2;
    pub(super) const FLUSH: u16 = 3;
    pub(super) const TRIM: u16 = 4;
    pub(super) const CACHE: u16 = 5;
    pub(super) const WRITE_ZEROES: u16 = 6;
    pub(super) const BLOCK_STATUS: u16 = 7;
}

mod command_flag {
    pub(super) const FUA: u16 = 1;
    pub(super) const NO_HOLE: u16 = 2;
    pub(super) const DONT_FRAGMENT: u16 = 4;
    pub(super) const REQUEST_ONE: u16 = 8;
}

mod chunk {
    pub(super) const DONE: u16 = 1;
    pub(super) const OFFSET_DATA: u16 = 1;
    pub(super) const OFFSET_HOLE: u16 = 2;
    pub(super) const BLOCK_STATUS: u16 = 5;
    pub(super) const ERROR: u16 = 1 << 15 | 1;
}

const OTHER_NAME: &[u8] = b"the only export has an empty name";
const CONTEXT: &[u8] = b"base:allocation";
const CONTEXT_ID: u32 = 1;
/// Of an extent: nothing is stored, and it reads as zero.
const HOLE_AND_ZERO: u32 = 3;

/// An error after which nothing more can be understood or said.
#[derive(Debug, Error)]
pub enum NbdError {
    /// The stream failed, or ended in the middle.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bytes are not those of the protocol.
    #[error("{what} begins with {found:#x}; a client of NBD sends {expected:#x}")]
    Magic {
        /// Name of the message.
        what: &'static str,
        /// Its first number.
        found: u64,
        /// That of the protocol.
        expected: u64,
    },
    /// A message is longer than permitted.
    #[error("{what} has {bytes} bytes; at most {most} are permitted")]
    TooLong {
        /// Name of the message.
        what: &'static str,
        /// Its announced length.
        bytes: u32,
        /// The limit.
        most: u32,
    },
    /// The client goes on negotiating without end.
    #[error("more than {OPTIONS_MAX} options")]
    TooManyOptions,
    /// The client asks for another export in a way that permits no answer.
    #[error("there is no export of that name; the only one has an empty name")]
    NoSuchExport,
}

/// The disk, as a client sees it.
#[derive(Clone, Debug)]
pub struct Export {
    /// Its size.
    pub capacity_bytes: u64,
    /// Size and alignment of requests that need no read before a write, a power of two.
    pub preferred_bytes: u32,
    /// Words for people.
    pub description: String,
    /// Whether a trim has an effect.
    pub can_trim: bool,
    /// Whether every change is refused.
    pub is_read_only: bool,
}

impl Export {
    /// A disk of this shape.
    pub fn of(shape: &Shape, description: String) -> Self {
        Self {
            capacity_bytes: shape.capacity_bytes,
            preferred_bytes: shape.page_bytes as u32,
            can_trim: shape.deallocates,
            is_read_only: false,
            description,
        }
    }

    /// The transmission flags: flush, FUA, zeroes, data in one piece, several connections and cache, beside the flag
    /// that there are flags.
    fn flags(&self) -> u16 {
        const ALWAYS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 6 | 1 << 7 | 1 << 8 | 1 << 10;
        const READ_ONLY: u16 = 1 << 1;
        const TRIM: u16 = 1 << 5;
        let trim = if self.can_trim { TRIM } else { 0 };
        ALWAYS | trim | if self.is_read_only { READ_ONLY } else { 0 }
    }
}

/// The outcome of a negotiation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Whether replies are structured.
    pub structured: bool,
    /// Whether the client may ask for `base:allocation`.
    pub allocation: bool,
}

/// Greets a client and answers its options, or `None` if the client leaves it at that.
///
/// # Errors
/// [`NbdError`]; the connection is of no more use.
pub fn negotiate<S: Read + Write>(
    stream: &mut S,
    export: &Export,
) -> Result<Option<Agreement>, NbdError> {
    let greeting = [GREETING_MAGIC.to_be_bytes(), OPTION_MAGIC.to_be_bytes()].concat();
    stream.write_all(&greeting)?;
    stream.write_all(&(FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes())?;
    let flags = u32::from_be_bytes(take(stream)?);
    let with_zeroes = flags & u32::from(NO_ZEROES) == 0;
    let mut talk = Negotiation { stream, export, with_zeroes, agreed: Agreement::default() };
    for _ in 0..OPTIONS_MAX {
        match talk.answer_option()? {
            Next::Option => {}
            Next::Transmission => return Ok(Some(talk.agreed)),
            Next::End => return Ok(None),
        }
    }
    Err(NbdError::TooManyOptions)
}

fn take<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).map(|()| bytes)
}

enum Next {
    Option,
    Transmission,
    End,
}

struct Negotiation<'a, S> {
    stream: &'a mut S,
    export: &'a Export,
    with_zeroes: bool,
    agreed: Agreement,
}

impl<S: Read + Write> Negotiation<'_, S> {
    fn answer_option(&mut self) -> Result<Next, NbdError> {
        let magic = u64::from_be_bytes(take(self.stream)?);
        if magic != OPTION_MAGIC {
            let (what, found, expected) = ("an option", magic, OPTION_MAGIC);
            return Err(NbdError::Magic { what, found, expected });
        }
        let option = u32::from_be_bytes(take(self.stream)?);
        let bytes = u32::from_be_bytes(take(self.stream)?);
        if bytes > OPTION_BYTES_MAX {
            return Err(NbdError::TooLong { what: "an option", bytes, most: OPTION_BYTES_MAX });
        }
        let mut data = vec![0; bytes as usize];
        self.stream.read_exact(&mut data)?;
        self.answer(option, &data)
    }

    fn answer(&mut self, option: u32, data: &[u8]) -> Result<Next, NbdError> {
        match option {
            option::EXPORT_NAME => return self.enter_at_once(data),
            option::ABORT => {
                self.reply(option, option_reply::ACK, &[])?;
                return Ok(Next::End);
            }
            option::LIST if data.is_empty() => self.list(option)?,
            option::INFO | option::GO => return self.describe(option, data),
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.agreed.structured = true;
                self.reply(option, option_reply::ACK, &[])?;
            }
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => self.contexts(option, data)?,
            option::LIST | option::STRUCTURED_REPLY => {
                self.reply(option, option_reply::INVALID, b"this option has no data")?;
            }
            _ => self.reply(option, option_reply::UNSUPPORTED, b"not supported by this server")?,
        }
        Ok(Next::Option)
    }

    fn reply(&mut self, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
        let mut reply = OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
        for number in [option, kind, data.len() as u32] {
            reply.extend(number.to_be_bytes());
        }
        reply.extend(data);
        self.stream.write_all(&reply)
    }

    /// The old option, which has no answer but the export.
    fn enter_at_once(&mut self, name: &[u8]) -> Result<Next, NbdError> {
        if !name.is_empty() {
            return Err(NbdError::NoSuchExport);
        }
        let mut reply = self.export.capacity_bytes.to_be_bytes().to_vec();
        reply.extend(self.export.flags().to_be_bytes());
        reply.resize(reply.len() + if self.with_zeroes { 124 } else { 0 }, 0);
        self.stream.write_all(&reply)?;
        Ok(Next::Transmission)
    }

    fn list(&mut self, option: u32) -> io::Result<()> {
        // The length of an empty name, and words for people.
        let mut server = 0_u32.to_be_bytes().to_vec();
        server.extend(self.export.description.as_bytes());
        self.reply(option, option_reply::SERVER, &server)?;
        self.reply(option, option_reply::ACK, &[])
    }

    /// Describes the export, and enters it if that was the option.
    fn describe(&mut self, option: u32, data: &[u8]) -> Result<Next, NbdError> {
        let mut fields = Fields(data);
        let parsed = fields.text().and_then(|name| Some((name, fields.kinds_of_info()?)));
        let Some((name, wanted)) = parsed.filter(|_| fields.0.is_empty()) else {
            self.reply(option, option_reply::INVALID, b"the option is cut short or too long")?;
            return Ok(Next::Option);
        };
        if !name.is_empty() {
            self.reply(option, option_reply::UNKNOWN, OTHER_NAME)?;
            return Ok(Next::Option);
        }
        for kind in [info::EXPORT, info::BLOCK_SIZE, info::NAME, info::DESCRIPTION] {
            let is_for_all = kind == info::EXPORT || kind == info::BLOCK_SIZE;
            if is_for_all || wanted.contains(&kind) {
                let info = self.info(kind);
                self.reply(option, option_reply::INFO, &info)?;
            }
        }
        self.reply(option, option_reply::ACK, &[])?;
        Ok(if option == option::GO { Next::Transmission } else { Next::Option })
    }

    fn info(&self, kind: u16) -> Vec<u8> {
        let mut info = kind.to_be_bytes().to_vec();
        match kind {
            info::EXPORT => {
                info.extend(self.export.capacity_bytes.to_be_bytes());
                info.extend(self.export.flags().to_be_bytes());
            }
            info::BLOCK_SIZE => {
                for bytes in [1, self.export.preferred_bytes, DATA_BYTES_MAX] {
                    info.extend(bytes.to_be_bytes());
                }
            }
            info::DESCRIPTION => info.extend(self.export.description.as_bytes()),
            _ => {}
        }
        info
    }

    fn contexts(&mut self, option: u32, data: &[u8]) -> io::Result<()> {
        let mut fields = Fields(data);
        let parsed = fields.text().and_then(|name| Some((name, fields.texts()?)));
        let Some((name, queries)) = parsed.filter(|_| fields.0.is_empty()) else {
            return self.reply(option, option_reply::INVALID, b"the option is malformed");
        };
        if !self.agreed.structured {
            let message = b"structured replies come first";
            return self.reply(option, option_reply::INVALID, message);
        }
        if !name.is_empty() {
            return self.reply(option, option_reply::UNKNOWN, OTHER_NAME);
        }
        let is_list = option == option::LIST_META_CONTEXT;
        let matches = queries.iter().any(|&query| query == CONTEXT || is_list && query == b"base:");
        let is_found = matches || is_list && queries.is_empty();
        if !is_list {
            self.agreed.allocation = is_found;
        }
        if is_found {
            let id = if is_list { 0 } else { CONTEXT_ID };
            let context = [&id.to_be_bytes(), CONTEXT].concat();
            self.reply(option, option_reply::META_CONTEXT, &context)?;
        }
        self.reply(option, option_reply::ACK, &[])
    }
}

/// The parts of a request that its reply needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NbdCookie {
    /// Chosen by the client.
    pub cookie: u64,
    /// First byte of the request.
    pub offset: u64,
    /// Whether the client wants the data of a read in one piece.
    pub in_one_piece: bool,
}

/// A request of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NbdCommand {
    /// One for the disk.
    Disk(NbdCookie, Request),
    /// One for the extents of these bytes.
    Extents {
        /// To answer it with.
        mark: NbdCookie,
        /// The bytes.
        range: Range<u64>,
        /// Most extents of the answer.
        most: usize,
    },
    /// One that is refused at once.
    Refused(NbdCookie, Fault),
    /// The client leaves.
    Disconnect,
}

/// The begin of what a client has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// A request needs so many bytes in all, and they are not there yet.
    Incomplete(usize),
    /// A request of so many bytes.
    Complete(usize, NbdCommand),
}

/// The first request in `input`.
///
/// # Errors
/// [`NbdError::Magic`] and [`NbdError::TooLong`]: the end of the request is unknown.
pub fn parse(input: &[u8], export: &Export, agreed: Agreement) -> Result<RequestState, NbdError> {
    let mut fields = Fields(input);
    let header = (|| {
        let magic = fields.u32()?;
        Some((magic, fields.u16()?, fields.u16()?, fields.u64()?, fields.u64()?, fields.u32()?))
    })();
    let Some((magic, flags, command, cookie, offset, bytes)) = header else {
        return Ok(RequestState::Incomplete(REQUEST_BYTES));
    };
    if magic != REQUEST_MAGIC {
        let (found, expected) = (u64::from(magic), u64::from(REQUEST_MAGIC));
        return Err(NbdError::Magic { what: "a request", found, expected });
    }
    let data_bytes = if command == command::WRITE { bytes } else { 0 };
    if data_bytes > DATA_BYTES_MAX {
        return Err(NbdError::TooLong { what: "a write", bytes, most: DATA_BYTES_MAX });
    }
    let whole_bytes = REQUEST_BYTES + data_bytes as usize;
    let Some(data) = fields.bytes(data_bytes as usize) else {
        return Ok(RequestState::Incomplete(whole_bytes));
    };
    let in_one_piece = flags & command_flag::DONT_FRAGMENT != 0;
    let mark = NbdCookie { cookie, offset, in_one_piece };
    let header = Header { mark, flags, command, bytes: u64::from(bytes) };
    Ok(RequestState::Complete(whole_bytes, header.command(data, export, agreed)))
}

struct Header {
    mark: NbdCookie,
    flags: u16,
    command: u16,
    bytes: u64,
}

impl Header {
    fn command(&self, data: &[u8], export: &Export, agreed: Agreement) -> NbdCommand {
        if self.command == command::DISCONNECT {
            return NbdCommand::Disconnect;
        }
        let is_extents = self.command == command::BLOCK_STATUS && agreed.allocation;
        let (mark, Some(action)) =
            (self.mark, self.action().or(is_extents.then_some(Action::Fetch)))
        else {
            return NbdCommand::Refused(self.mark, Fault::Invalid);
        };
        if let Err(fault) = self.check(action, export) {
            return NbdCommand::Refused(mark, fault);
        }
        if is_extents {
            let is_one = self.flags & command_flag::REQUEST_ONE != 0;
            let range = mark.offset..mark.offset + self.bytes;
            return NbdCommand::Extents { mark, range, most: if is_one { 1 } else { EXTENTS_MAX } };
        }
        let fua = self.flags & command_flag::FUA != 0;
        let (offset, bytes) =
            if action == Action::Flush { (0, 0) } else { (mark.offset, self.bytes) };
        NbdCommand::Disk(
            mark,
            Request { fua, data: data.to_vec(), ..Request::new(action, offset, bytes) },
        )
    }

    /// The wish for the disk, or `None` if it has no such command.
    fn action(&self) -> Option<Action> {
        let keeps_pages = self.flags & command_flag::NO_HOLE != 0;
        Some(match self.command {
            command::READ => Action::Read,
            command::WRITE => Action::Write,
            command::FLUSH => Action::Flush,
            command::TRIM => Action::Trim,
            command::CACHE => Action::Fetch,
            command::WRITE_ZEROES => Action::Zero { keeps_pages },
            _ => return None,
        })
    }

    fn check(&self, action: Action, export: &Export) -> Result<(), Fault> {
        const KNOWN: u16 = command_flag::FUA
            | command_flag::NO_HOLE
            | command_flag::DONT_FRAGMENT
            | command_flag::REQUEST_ONE;
        if self.flags & !KNOWN != 0 {
            return Err(Fault::Invalid);
        }
        if action == Action::Flush {
            return Ok(());
        }
        let is_change = !matches!(action, Action::Read | Action::Fetch);
        if is_change && export.is_read_only {
            return Err(Fault::ReadOnly);
        }
        let end = self.mark.offset.checked_add(self.bytes).ok_or(Fault::Invalid)?;
        if end > export.capacity_bytes {
            return Err(if is_change { Fault::NoSpace } else { Fault::Invalid });
        }
        match self.bytes {
            0 => Err(Fault::Invalid),
            bytes if action == Action::Read && bytes > u64::from(DATA_BYTES_MAX) => {
                Err(Fault::TooLong)
            }
            _ if action == Action::Trim && !export.can_trim => Err(Fault::Unsupported),
            _ => Ok(()),
        }
    }
}

/// Appends the reply to a request of the disk.
pub fn reply(
    out: &mut Vec<u8>,
    agreed: Agreement,
    mark: NbdCookie,
    result: Result<&Answer, Fault>,
) {
    match result {
        Err(fault) if agreed.structured => {
            let error = [&errno(fault).to_be_bytes()[..], &0_u16.to_be_bytes()].concat();
            structured(out, mark, chunk::DONE, chunk::ERROR, &[&error]);
        }
        Err(fault) => simple(out, mark, errno(fault)),
        Ok(Answer::Data { bytes, extents }) if agreed.structured => {
            data(out, mark, bytes, extents);
        }
        Ok(answer) => {
            simple(out, mark, 0);
            if let Answer::Data { bytes, .. } = answer {
                out.extend(bytes);
            }
        }
    }
}

/// Appends the reply to a request for extents.
pub fn extents(out: &mut Vec<u8>, mark: NbdCookie, extents: &[Extent]) {
    let mut status = CONTEXT_ID.to_be_bytes().to_vec();
    for extent in extents {
        status.extend((extent.bytes as u32).to_be_bytes());
        status.extend(if extent.is_hole { HOLE_AND_ZERO } else { 0 }.to_be_bytes());
    }
    structured(out, mark, chunk::DONE, chunk::BLOCK_STATUS, &[&status]);
}

fn errno(fault: Fault) -> u32 {
    match fault {
        Fault::ReadOnly => 1,
        Fault::Io | Fault::Source | Fault::Deleted | Fault::Zone(_) => 5,
        Fault::Invalid => 22,
        Fault::NoSpace => 28,
        Fault::TooLong => 75,
        Fault::Unsupported => 95,
    }
}

fn simple(out: &mut Vec<u8>, mark: NbdCookie, errno: u32) {
    out.extend(SIMPLE_REPLY_MAGIC.to_be_bytes());
    out.extend(errno.to_be_bytes());
    out.extend(mark.cookie.to_be_bytes());
}

fn structured(out: &mut Vec<u8>, mark: NbdCookie, flags: u16, kind: u16, parts: &[&[u8]]) {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    out.extend(STRUCTURED_REPLY_MAGIC.to_be_bytes());
    out.extend(flags.to_be_bytes());
    out.extend(kind.to_be_bytes());
    out.extend(mark.cookie.to_be_bytes());
    out.extend((bytes as u32).to_be_bytes());
    parts.iter().for_each(|part| out.extend(*part));
}

/// The data of a read: one chunk, or one for each extent.
fn data(out: &mut Vec<u8>, mark: NbdCookie, bytes: &[u8], extents: &[Extent]) {
    let whole = [Extent { bytes: bytes.len() as u64, is_hole: false }];
    let mut extents = if mark.in_one_piece { &whole } else { extents }.iter().peekable();
    let (mut offset, mut rest) = (mark.offset, bytes);
    while let Some(extent) = extents.next() {
        let flags = if extents.peek().is_none() { chunk::DONE } else { 0 };
        let (part, behind) = rest.split_at(rest.len().min(extent.bytes as usize));
        let place = offset.to_be_bytes();
        if extent.is_hole {
            let hole_bytes = (part.len() as u32).to_be_bytes();
            structured(out, mark, flags, chunk::OFFSET_HOLE, &[&place, &hole_bytes]);
        } else {
            structured(out, mark, flags, chunk::OFFSET_DATA, &[&place, part]);
        }
        (offset, rest) = (offset + extent.bytes, behind);
    }
}
