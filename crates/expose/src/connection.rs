//! One client of NBD.
//!
//! On the fast clock the requests that it has sent so far go to the drive together, and the replies go back together.
//! On the real clock each request goes to the drive when it comes, and its reply goes back when its time has come
//! ([`in_time`]). In both cases the depth of its queue is the one that the drive sees.

mod in_time;
mod input;

use std::io::Write;
use std::time::Duration;

use crate::clock::Pace;
use crate::input_buffer::INPUT_BYTES;
use crate::nbd::{self, Agreement, Export, NbdCommand, NbdError};
use crate::shared::{RequestToken, SharedDisk};
use crate::socket::Stream;

pub use input::Input;

/// Time for a client to negotiate.
const NEGOTIATION: Duration = Duration::from_secs(10);

/// Serves a client until it leaves.
///
/// # Errors
/// [`NbdError`]: the client or its connection is broken.
pub fn serve(stream: &mut Stream, export: &Export, shared: &SharedDisk) -> Result<(), NbdError> {
    stream.set_patience(Some(NEGOTIATION))?;
    let Some(agreed) = nbd::negotiate(stream, export)? else { return Ok(()) };
    stream.set_patience(None)?;
    match shared.pace() {
        Pace::Fast => serve_at_once(stream, export, agreed, shared),
        Pace::Real { .. } => in_time::serve(stream, export, agreed, shared),
    }
}

fn serve_at_once(
    stream: &mut Stream,
    export: &Export,
    agreed: Agreement,
    shared: &SharedDisk,
) -> Result<(), NbdError> {
    let mut input = Input::default();
    let mut replies = Vec::new();
    while let Some(batch) = input.batch(stream, export, agreed)? {
        carry_out(batch, shared, agreed, &mut replies);
        stream.write_all(&replies)?;
        replies.clear();
        replies.shrink_to(INPUT_BYTES);
    }
    Ok(())
}

fn carry_out(batch: Vec<NbdCommand>, shared: &SharedDisk, agreed: Agreement, out: &mut Vec<u8>) {
    shared.with(|disk| {
        for command in batch {
            match command {
                NbdCommand::Disk(mark, request) => disk.submit(RequestToken::Mark(mark), request),
                NbdCommand::Extents { mark, range, most } => {
                    nbd::extents(out, mark, &disk.extents(range, most));
                }
                NbdCommand::Refused(mark, fault) => nbd::reply(out, agreed, mark, Err(fault)),
                NbdCommand::Disconnect => {}
            }
        }
        for finished in disk.run() {
            // Nobody else sends while this thread has the disk.
            if let RequestToken::Mark(mark) = finished.token {
                nbd::reply(out, agreed, mark, finished.result.as_ref().map_err(|fault| *fault));
            }
        }
    });
}
