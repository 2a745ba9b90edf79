//! Commands of the NVM command set as requests for the disk.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use nvme::command::{
    ALL_NAMESPACES, COPY_SOURCE_BYTES, Command, CopySource, DatasetRange, RANGE_BYTES, nvm,
};
use nvme::fdp;
use nvme::log::SanitizeState;
use nvme::status::CommandStatus;
use nvme::zns::opcode;

use super::channel::{Channel, CommandReply, CommandResult};
use super::controller::Controller;
use super::namespaces::NAMESPACE;
use super::subsystem::{Subsystem, TRANSFER_BYTES_MAX};
use super::{features, placement, zones};
use crate::request::{Action, Answer, Deletion, Fault, Request};
use crate::shared::{Reply, locked};

/// Forced unit access, in dword 12.
const FORCED: u32 = 1 << 30;
/// Deallocate, in dword 12 of Write Zeroes.
const DEALLOCATES: u32 = 1 << 25;
/// Protection information, in dword 12: there is none.
const PROTECTION: u32 = 0b1111 << 26;
/// Deallocate, in dword 11 of Dataset Management.
const DATASET_DEALLOCATES: u32 = 1 << 2;

/// The requests of a command, and the use of their answers.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    requests: Vec<Request>,
    /// The data of a Compare, or `None` for other commands.
    expected: Option<Vec<u8>>,
}

impl From<Request> for Plan {
    fn from(request: Request) -> Self {
        Self { requests: vec![request], expected: None }
    }
}

/// Checks the length of the data that a command announces to send.
///
/// # Errors
/// A status: they are not those of its blocks, or too many.
pub fn check_data(command: &Command, subsystem: &Subsystem) -> Result<(), CommandStatus> {
    let expected = match command.opcode {
        opcode if !zones::permit(subsystem.zones(), opcode) => {
            return Err(CommandStatus::INVALID_OPCODE);
        }
        nvm::WRITE | nvm::COMPARE | opcode::APPEND => {
            blocks(command) * u64::from(subsystem.block_bytes())
        }
        nvm::DATASET_MANAGEMENT => ranges(command) * RANGE_BYTES as u64,
        nvm::COPY if sources(command) > u64::from(subsystem.copy_limits().sources) + 1 => {
            return Err(CommandStatus::SIZE_LIMIT);
        }
        nvm::COPY => sources(command) * COPY_SOURCE_BYTES as u64,
        opcode::MANAGEMENT_SEND => 0,
        fdp::opcode::MANAGEMENT_SEND if subsystem.placement().is_some() => {
            placement::update_bytes(command)
        }
        _ => return Err(CommandStatus::INVALID_OPCODE),
    };
    if expected > TRANSFER_BYTES_MAX {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let is_right = u64::from(command.data.bytes) == expected;
    // Linux sends all of its page of ranges.
    let is_longer =
        command.opcode == nvm::DATASET_MANAGEMENT && u64::from(command.data.bytes) > expected;
    if is_right || is_longer { Ok(()) } else { Err(CommandStatus::DATA_LENGTH) }
}

fn blocks(command: &Command) -> u64 {
    u64::from(command.dwords[2] & 0xffff) + 1
}

/// Sources of a Copy.
fn sources(command: &Command) -> u64 {
    u64::from(command.dwords[2] & 0xff) + 1
}

/// Ranges of a Dataset Management.
fn ranges(command: &Command) -> u64 {
    u64::from(command.dwords[0] & 0xff) + 1
}

/// Turns a command into requests, each with its reply, which ends the command with the last of them. Commands without
/// requests end at once.
///
/// # Errors
/// That of the connection.
pub fn take(
    subsystem: &Subsystem,
    controller: &Controller,
    channel: &Arc<Channel>,
    command: &Command,
    data: Vec<u8>,
) -> std::io::Result<Vec<(Request, Reply)>> {
    if let Some(plan) = subsystem.zones()
        && command.opcode == opcode::MANAGEMENT_RECEIVE
        && command.namespace_id == NAMESPACE
    {
        let bytes = u64::from(command.data.bytes).min(TRANSFER_BYTES_MAX);
        channel.reserve(bytes)?;
        channel.complete(command, bytes, zones::report(subsystem, plan, command));
        return Ok(Vec::new());
    }
    if let Some(plan) = subsystem.placement()
        && command.namespace_id == NAMESPACE
    {
        if command.opcode == fdp::opcode::MANAGEMENT_RECEIVE {
            let bytes = u64::from(command.data.bytes).min(TRANSFER_BYTES_MAX);
            channel.reserve(bytes)?;
            channel.complete(command, bytes, placement::status(subsystem, plan, command));
            return Ok(Vec::new());
        }
        if command.opcode == fdp::opcode::MANAGEMENT_SEND {
            channel.complete(command, 0, placement::update(subsystem, plan, command, &data));
            return Ok(Vec::new());
        }
    }
    let Plan { requests, expected } = match plan(subsystem, controller, command, data) {
        Ok(plan) if !plan.requests.is_empty() => plan,
        other => {
            channel.complete(command, 0, other.map(|_| CommandReply::default()));
            return Ok(Vec::new());
        }
    };
    let is_read = matches!(requests[0].action, Action::Read);
    let reserved_bytes: u64 = requests
        .iter()
        .map(|request| match request.action {
            Action::Read | Action::Copy => request.bytes,
            _ => request.data.len() as u64,
        })
        .sum();
    channel.reserve(reserved_bytes)?;
    let end = {
        let (channel, command) = (Arc::clone(channel), *command);
        move |result: CommandResult| channel.complete(&command, reserved_bytes, result)
    };
    let is_change = !is_read && command.opcode != nvm::VERIFY;
    let request = match <[Request; 1]>::try_from(requests) {
        Ok([request]) => request,
        Err(requests) => return Ok(together(requests, end)),
    };
    let block_bytes = u64::from(subsystem.block_bytes());
    let reply = move |result: Result<Answer, Fault>| {
        let result = result.map_err(|fault| status_of(fault, is_change));
        end(result.and_then(|answer| match (answer, expected) {
            (Answer::Data { bytes, .. }, Some(expected)) if bytes != expected => {
                Err(CommandStatus::COMPARE_FAILURE)
            }
            (Answer::Data { bytes, .. }, None) => Ok(bytes.into()),
            (Answer::Place(offset), _) => Ok((offset / block_bytes).into()),
            _ => Ok(CommandReply::default()),
        }));
    };
    Ok(vec![(request, Box::new(reply))])
}

/// Changes that end a command with the last of them, with the first error.
fn together(
    requests: Vec<Request>,
    end: impl FnOnce(CommandResult) + Send + 'static,
) -> Vec<(Request, Reply)> {
    let left = AtomicUsize::new(requests.len());
    let shared = Arc::new((left, Mutex::new(None), Mutex::new(Some(end))));
    let reply = |request| {
        let shared = Arc::clone(&shared);
        let reply = move |result: Result<Answer, Fault>| {
            let (left, fault, end) = &*shared;
            if let Err(found) = result {
                locked(fault).get_or_insert(status_of(found, true));
            }
            if left.fetch_sub(1, Ordering::AcqRel) == 1
                && let Some(end) = locked(end).take()
            {
                end(locked(fault).take().map_or(Ok(CommandReply::default()), Err));
            }
        };
        (request, Box::new(reply) as Reply)
    };
    requests.into_iter().map(reply).collect()
}

fn plan(
    subsystem: &Subsystem,
    controller: &Controller,
    command: &Command,
    data: Vec<u8>,
) -> Result<Plan, CommandStatus> {
    let (bytes, deletion) = match (command.opcode, command.namespace_id) {
        (nvm::FLUSH, ALL_NAMESPACES) => (0..subsystem.capacity_bytes(), None),
        (_, id) => {
            let found = subsystem.namespace_of(id, controller);
            let (bytes, deletion) = found.ok_or(CommandStatus::INVALID_NAMESPACE)?;
            (bytes, Some(deletion))
        }
    };
    let space = Space { bytes, block_bytes: subsystem.block_bytes().into(), deletion };
    if subsystem.sanitize_log().state == SanitizeState::InProgress {
        return Err(CommandStatus::SANITIZING);
    }
    if !zones::permit(subsystem.zones(), command.opcode) {
        return Err(CommandStatus::INVALID_OPCODE);
    }
    let placement = match command.opcode {
        nvm::WRITE | nvm::COPY => placement::handle_of(subsystem, command)?,
        _ => 0,
    };
    let one = |action, fua, data, expected| {
        let (offset, bytes) = space.place(command.u64_in(0), blocks(command))?;
        let carries_data =
            expected || matches!(action, Action::Read | Action::Write | Action::Append);
        if carries_data && bytes > TRANSFER_BYTES_MAX || command.dwords[2] & PROTECTION != 0 {
            return Err(CommandStatus::INVALID_FIELD);
        }
        if action == Action::Read && u64::from(command.data.bytes) != bytes {
            return Err(CommandStatus::DATA_LENGTH);
        }
        let (data, expected) = if expected { (Vec::new(), Some(data)) } else { (data, None) };
        Ok(Plan {
            requests: vec![Request { fua, placement, data, ..Request::new(action, offset, bytes) }],
            expected,
        })
    };
    let is_durable = || command.dwords[2] & FORCED != 0 || !features::has_write_cache(controller);
    let planned = match command.opcode {
        nvm::FLUSH => Ok(Request::new(Action::Flush, 0, 0).into()),
        nvm::WRITE => one(Action::Write, is_durable(), data, false),
        nvm::READ => one(Action::Read, false, Vec::new(), false),
        nvm::COMPARE => one(Action::Read, false, data, true),
        nvm::VERIFY => one(Action::Fetch, false, Vec::new(), false),
        nvm::WRITE_ZEROES => {
            let keeps_pages = command.dwords[2] & DEALLOCATES == 0;
            one(Action::Zero { keeps_pages }, is_durable(), Vec::new(), false)
        }
        nvm::WRITE_UNCORRECTABLE => spoil(subsystem, &space, command),
        opcode::APPEND => {
            subsystem.zones().map_or(Ok(()), |plan| zones::check_append(command, plan))?;
            one(Action::Append, is_durable(), data, false)
        }
        opcode::MANAGEMENT_SEND => {
            let plan = subsystem.zones().ok_or(CommandStatus::INVALID_OPCODE)?;
            let request = zones::order(subsystem, plan, command)?;
            Ok(Plan { requests: request.into_iter().collect(), expected: None })
        }
        nvm::COPY => {
            let copy = copy(subsystem, &space, command, &data)?;
            Ok(Request { fua: is_durable(), placement, ..copy }.into())
        }
        nvm::DATASET_MANAGEMENT => dataset(&space, command, &data),
        _ => Err(CommandStatus::INVALID_OPCODE),
    };
    let mut plan = planned?;
    plan.requests.iter_mut().for_each(|request| request.deletion.clone_from(&space.deletion));
    Ok(plan)
}

/// A copy from sources in format 0 within the limits of the namespace. They may overlap the destination: all are read
/// before anything is written.
fn copy(
    subsystem: &Subsystem,
    space: &Space,
    command: &Command,
    data: &[u8],
) -> Result<Request, CommandStatus> {
    const FORMAT: u32 = 0b1111 << 8;
    if command.dwords[2] & FORMAT != 0 {
        return Err(CommandStatus::INVALID_FIELD);
    }
    let sources: Vec<_> = data
        .chunks_exact(COPY_SOURCE_BYTES)
        .take(sources(command) as usize)
        .map(CopySource::decode)
        .collect();
    let limits = subsystem.copy_limits();
    let blocks: u32 = sources.iter().map(|source| source.blocks).sum();
    if blocks > limits.blocks
        || sources.iter().any(|source| source.blocks > u32::from(limits.source_blocks))
    {
        return Err(CommandStatus::SIZE_LIMIT);
    }
    let range = |source: &CopySource| {
        let (offset, bytes) = space.place(source.start, source.blocks.into())?;
        Ok(offset..offset + bytes)
    };
    let sources = sources.iter().map(range).collect::<Result<_, CommandStatus>>()?;
    let (offset, bytes) = space.place(command.u64_in(0), blocks.into())?;
    Ok(Request { sources, ..Request::new(Action::Copy, offset, bytes) })
}

/// Makes the blocks unreadable.
fn spoil(subsystem: &Subsystem, space: &Space, command: &Command) -> Result<Plan, CommandStatus> {
    let (offset, bytes) = space.place(command.u64_in(0), blocks(command))?;
    let is_possible = subsystem.shared.with(|disk| {
        if space.deletion.as_ref().is_some_and(Deletion::has_happened) {
            return Err(CommandStatus::INVALID_NAMESPACE);
        }
        let shape = *disk.shape();
        Ok(!disk.faults.is_read_only && disk.faults.spoil(&shape, &(offset..offset + bytes)))
    })?;
    if is_possible {
        Ok(Plan { requests: Vec::new(), expected: None })
    } else {
        Err(CommandStatus::WRITE_PROTECTED)
    }
}

/// Deallocates the ranges; their other attributes are hints.
fn dataset(space: &Space, command: &Command, data: &[u8]) -> Result<Plan, CommandStatus> {
    let mut requests = Vec::new();
    for range in
        data.chunks_exact(RANGE_BYTES).take(ranges(command) as usize).map(DatasetRange::decode)
    {
        let blocks = u64::from(range.blocks);
        let (offset, bytes) = space.place(range.start, blocks)?;
        if command.dwords[1] & DATASET_DEALLOCATES != 0 && bytes > 0 {
            requests.push(Request::new(Action::Trim, offset, bytes));
        }
    }
    Ok(Plan { requests, expected: None })
}

/// The bytes of the drive that are a namespace, in logical blocks.
struct Space {
    bytes: Range<u64>,
    block_bytes: u64,
    /// Deletion of the namespace, or `None` if it is the drive.
    deletion: Option<Deletion>,
}

impl Space {
    /// The bytes of these blocks: the first one, and their number.
    fn place(&self, start: u64, blocks: u64) -> Result<(u64, u64), CommandStatus> {
        let end = start.checked_add(blocks).and_then(|end| end.checked_mul(self.block_bytes));
        if end.is_some_and(|end| end <= self.bytes.end - self.bytes.start) {
            Ok((self.bytes.start + start * self.block_bytes, blocks * self.block_bytes))
        } else {
            Err(CommandStatus::LBA_OUT_OF_RANGE)
        }
    }
}

/// The status of a command that failed.
pub(super) fn status_of(fault: Fault, is_change: bool) -> CommandStatus {
    match fault {
        Fault::Io if is_change => CommandStatus::WRITE_FAULT,
        Fault::Io | Fault::Source => CommandStatus::READ_ERROR,
        Fault::ReadOnly => CommandStatus::WRITE_PROTECTED,
        Fault::NoSpace => CommandStatus::CAPACITY,
        Fault::Deleted => CommandStatus::INVALID_NAMESPACE,
        Fault::Zone(reason) => zones::status_of(reason),
        Fault::Invalid | Fault::Unsupported | Fault::TooLong => CommandStatus::INVALID_FIELD,
    }
}

#[cfg(test)]
mod tests {
    use base::Ratio;
    use nvme::command::DataDescriptor;
    use sim::Model;

    use super::super::subsystem::Names;
    use super::*;
    use crate::contents::Contents;
    use crate::plan::Shape;
    use crate::{Disk, Pace, SharedDisk};

    /// A drive of about 120 MB in blocks of 4096 bytes.
    fn subsystem() -> Subsystem {
        let name = "corsair-neutron-240gb";
        let text = sim::model::built_in(name).expect("a built-in model");
        let blocks = ("interface.logical_block_bytes".to_owned(), "4096".to_owned());
        let model = Model::load(name, text, &[blocks]).expect("a valid model");
        let config = model.resolve(Ratio::new(1, 2000).expect("a ratio")).expect("a drive");
        let shape = Shape::of(&config);
        let contents = Contents::in_memory(shape, shape.capacity_bytes).expect("memory");
        let shared = SharedDisk::new(Disk::new(config, contents), Pace::Fast);
        Subsystem::new(Arc::new(shared), Names::new(name, "model", "place"), Vec::new(), 1)
    }

    #[test]
    fn requests_end_with_the_namespace_of_their_command() {
        let subsystem = subsystem();
        let controller = Controller::new(1, "host".to_owned(), [0; 16], false, 0);
        let range = DatasetRange { start: 0, blocks: 1, attributes: 0 }.encode();
        let source = CopySource { start: 0, blocks: 1 }.encode();
        let commands = [
            (nvm::READ, 0, Vec::new()),
            (nvm::WRITE, 0, vec![1; 4096]),
            (nvm::WRITE_ZEROES, 0, Vec::new()),
            (nvm::DATASET_MANAGEMENT, DATASET_DEALLOCATES, range.to_vec()),
            (nvm::COPY, 0, source.to_vec()),
        ];
        let planned = commands.map(|(opcode, dword, sent)| {
            let data = DataDescriptor { offset: 0, bytes: 4096, kind: 0 };
            let dwords = [0, dword, 0, 0, 0, 0];
            let command = Command { opcode, flags: 0, id: 0, namespace_id: 1, data, dwords };
            plan(&subsystem, &controller, &command, sent).expect("requests").requests
        });
        let all = || planned.iter().flatten();
        assert_eq!((all().count(), all().any(Request::is_void)), (5, false));
        subsystem.namespaces_mut().delete(1).expect("the first one");
        assert!(all().all(Request::is_void), "{planned:#?}");
    }
}
