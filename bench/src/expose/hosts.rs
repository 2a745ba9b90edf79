//! Small hosts of NBD and of NVMe/TCP for the same loop: commands of 4 KiB at random places, so many outstanding on each
//! connection.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nvme::command::{Command, Completion, DataDescriptor, FABRICS, nvm};
use nvme::fabrics::{ANY_CONTROLLER, Connect, ConnectData, PropertyAccess, kind, property};
use nvme::pdu::{COMMON_BYTES, ConnectionParameters, Digests, Pdu, PduState, parse};
use nvme::status::CommandStatus;

/// Size of a command, and its place in blocks of the namespace.
const BYTES: u32 = 4096;
/// Commands outstanding on a connection.
const DEPTH: u16 = 32;
/// Most data of a unit.
const UNIT_BYTES_MAX: usize = 1 << 20;

/// A protocol.
pub(super) trait Protocol {
    /// Adds a command of `BYTES` at a byte.
    fn issue(&self, out: &mut Vec<u8>, tag: u16, is_write: bool, offset: u64);

    /// Takes what stands first in the answers: its length, and the tag of a command that has ended; `None` if it is not
    /// whole.
    fn take(&self, input: &[u8], is_write: bool) -> Result<Option<(usize, Option<u16>)>>;
}

/// Places of commands in a span, by a step of Knuth's generator of 64 bits.
fn places(span_bytes: u64, mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % (span_bytes / u64::from(BYTES)) * u64::from(BYTES)
    }
}

/// Keeps commands outstanding for a time. Returns those that have ended.
pub(super) fn work<P: Protocol>(
    protocol: &P,
    mut stream: &TcpStream,
    is_write: bool,
    (span_bytes, time): (u64, Duration),
    seed: u64,
) -> Result<u64> {
    let mut place = places(span_bytes, seed);
    let mut out = Vec::new();
    (0..DEPTH).for_each(|tag| protocol.issue(&mut out, tag, is_write, place()));
    let (mut input, mut filled) = (vec![0; 4 << 20], 0);
    let (start, mut ended, mut outstanding) = (Instant::now(), 0, DEPTH);
    while outstanding > 0 {
        stream.write_all(&out)?;
        out.clear();
        let read = stream.read(&mut input[filled..])?;
        ensure!(read > 0, "the server has ended the connection");
        filled += read;
        let (mut at, is_over) = (0, start.elapsed() >= time);
        while let Some((bytes, tag)) = protocol.take(&input[at..filled], is_write)? {
            at += bytes;
            let Some(tag) = tag else { continue };
            if is_over {
                outstanding -= 1;
            } else {
                ended += 1;
                protocol.issue(&mut out, tag, is_write, place());
            }
        }
        input.copy_within(at..filled, 0);
        filled -= at;
    }
    Ok(ended)
}

/// Issues reads at a rate for a time, each alone: one that finds no free tag, or comes when this thread did not run, is
/// left out. Returns the ns from the issue of each to its end. The thread spins, so that it sees an end at once.
pub(super) fn paced<P: Protocol>(
    protocol: &P,
    mut stream: &TcpStream,
    rate_iops: u32,
    (span_bytes, time): (u64, Duration),
    seed: u64,
) -> Result<Vec<u64>> {
    let mut place = places(span_bytes, seed);
    let interval = Duration::from_secs(1) / rate_iops;
    stream.set_nonblocking(true)?;
    let (start, mut out, mut waits_ns) = (Instant::now(), Vec::new(), Vec::new());
    let mut issued = vec![start; usize::from(DEPTH)];
    let mut free: Vec<u16> = (0..DEPTH).collect();
    let (mut input, mut filled, mut due) = (vec![0; 1 << 20], 0, start);
    loop {
        let now = Instant::now();
        let is_over = now - start >= time;
        if is_over && free.len() == usize::from(DEPTH) {
            return Ok(waits_ns);
        }
        if !is_over && now >= due {
            if let Some(tag) = free.pop() {
                out.clear();
                protocol.issue(&mut out, tag, false, place());
                issued[usize::from(tag)] = now;
                stream.write_all(&out)?;
            }
            while due <= now {
                due += interval;
            }
        }
        match stream.read(&mut input[filled..]) {
            Ok(0) => bail!("the server has ended the connection"),
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error.into()),
        }
        let (mut at, now) = (0, Instant::now());
        while let Some((bytes, tag)) = protocol.take(&input[at..filled], false)? {
            at += bytes;
            let Some(tag) = tag else { continue };
            waits_ns.push((now - issued[usize::from(tag)]).as_nanos() as u64);
            free.push(tag);
        }
        input.copy_within(at..filled, 0);
        filled -= at;
    }
}

/// The old handshake of NBD, which every server knows, and simple replies.
#[derive(Debug)]
pub(super) struct Nbd;

impl Nbd {
    pub(super) fn connect(address: &str) -> Result<TcpStream> {
        const FIXED_NO_ZEROES: u32 = 0b11;
        const EXPORT_NAME: u32 = 1;
        let mut stream = connected(address)?;
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting)?;
        ensure!(&greeting[..8] == b"NBDMAGIC", "no NBD server");
        let mut answer = FIXED_NO_ZEROES.to_be_bytes().to_vec();
        answer.extend(b"IHAVEOPT");
        answer.extend(EXPORT_NAME.to_be_bytes());
        answer.extend(0_u32.to_be_bytes());
        stream.write_all(&answer)?;
        // Size and flags of the export.
        stream.read_exact(&mut [0; 10])?;
        Ok(stream)
    }
}

impl Protocol for Nbd {
    fn issue(&self, out: &mut Vec<u8>, tag: u16, is_write: bool, offset: u64) {
        out.extend(0x2560_9513_u32.to_be_bytes());
        out.extend([0, 0, 0, u8::from(is_write)]);
        out.extend(u64::from(tag).to_be_bytes());
        out.extend(offset.to_be_bytes());
        out.extend(BYTES.to_be_bytes());
        if is_write {
            out.resize(out.len() + BYTES as usize, 7);
        }
    }

    fn take(&self, input: &[u8], is_write: bool) -> Result<Option<(usize, Option<u16>)>> {
        let bytes = 16 + if is_write { 0 } else { BYTES as usize };
        let Some(reply) = input.get(..bytes) else { return Ok(None) };
        ensure!(reply[..8] == [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0], "an error of NBD");
        Ok(Some((bytes, Some(u16::from_be_bytes([reply[14], reply[15]])))))
    }
}

/// An enabled controller of NVMe/TCP, without digests.
#[derive(Debug)]
pub(super) struct Nvme {
    address: String,
    nqn: String,
    controller_id: u16,
    /// The units of a read and of a write.
    units: [Vec<u8>; 2],
    /// The admin queue: without it all others end.
    _admin: TcpStream,
}

impl Nvme {
    pub(super) fn connect(address: &str, nqn: &str) -> Result<Self> {
        let (admin, controller_id) = queue(address, nqn, 0, ANY_CONTROLLER)?;
        let enable =
            PropertyAccess { is_long: false, offset: property::CONFIGURATION, value: 0x0046_0001 };
        execute(&admin, fabrics(kind::PROPERTY_SET, enable.dwords()), &[])?;
        let (address, nqn) = (address.to_owned(), nqn.to_owned());
        let units = [unit(false), unit(true)];
        Ok(Self { address, nqn, controller_id, units, _admin: admin })
    }

    /// A further queue.
    pub(super) fn queue(&self, queue_id: u16) -> Result<TcpStream> {
        Ok(queue(&self.address, &self.nqn, queue_id, self.controller_id)?.0)
    }
}

impl Protocol for Nvme {
    fn issue(&self, out: &mut Vec<u8>, tag: u16, is_write: bool, offset: u64) {
        let at = out.len() + COMMON_BYTES;
        out.extend(&self.units[usize::from(is_write)]);
        out[at + 2..at + 4].copy_from_slice(&tag.to_le_bytes());
        out[at + 40..at + 48].copy_from_slice(&(offset / u64::from(BYTES)).to_le_bytes());
    }

    fn take(&self, input: &[u8], _: bool) -> Result<Option<(usize, Option<u16>)>> {
        const COMPLETION: u8 = 0x05;
        const DATA: u8 = 0x07;
        let Some(&[kind, _, _, _, a, b, c, d]) = input.first_chunk() else { return Ok(None) };
        let bytes = u32::from_le_bytes([a, b, c, d]) as usize;
        let Some(unit) = input.get(..bytes) else { return Ok(None) };
        match kind {
            DATA => Ok(Some((bytes, None))),
            COMPLETION => {
                let end = Completion::decode(&unit[COMMON_BYTES..]);
                ensure!(end.status == CommandStatus::SUCCESS, "{end:?}");
                Ok(Some((bytes, Some(end.command_id))))
            }
            other => bail!("a unit of type {other}"),
        }
    }
}

/// The unit of a command at block 0.
fn unit(is_write: bool) -> Vec<u8> {
    let kind = if is_write { DataDescriptor::IN_CAPSULE } else { DataDescriptor::TRANSPORT };
    let command = Command {
        opcode: if is_write { nvm::WRITE } else { nvm::READ },
        flags: Command::DESCRIPTOR,
        id: 0,
        namespace_id: 1,
        data: DataDescriptor { offset: 0, bytes: BYTES, kind },
        dwords: [0; 6],
    };
    let data = [7; BYTES as usize];
    let mut out = Vec::new();
    let data = if is_write { &data[..] } else { &[] };
    Pdu::Command(command, data).encode(&mut out, Digests::default(), 0);
    out
}

fn connected(address: &str) -> Result<TcpStream> {
    let stream = TcpStream::connect(address).with_context(|| address.to_owned())?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A queue of a controller, which the first one makes, and the number of the controller.
fn queue(address: &str, nqn: &str, queue_id: u16, controller_id: u16) -> Result<(TcpStream, u16)> {
    let mut stream = connected(address)?;
    let parameters =
        ConnectionParameters { format: 0, alignment: 0, digests: Digests::default(), limit: 0 };
    let mut bytes = Vec::new();
    Pdu::ConnectionRequest(parameters).encode(&mut bytes, Digests::default(), 0);
    let mut answer = vec![0; bytes.len()];
    stream.write_all(&bytes)?;
    stream.read_exact(&mut answer)?;
    let connect = Connect { format: 0, queue_id, entries: 127, attributes: 0, keep_alive_ms: 0 };
    let data = ConnectData {
        host_id: [1; 16],
        controller_id,
        subsystem: nqn.to_owned(),
        host: "nqn.2026-11.invalid.ssdlab:bench".to_owned(),
    };
    let id = execute(&stream, fabrics(kind::CONNECT, connect.dwords()), &data.encode())?;
    Ok((stream, id as u16))
}

fn fabrics(kind: u8, dwords: [u32; 6]) -> Command {
    let data = DataDescriptor { offset: 0, bytes: 0, kind: DataDescriptor::IN_CAPSULE };
    let (opcode, flags, namespace_id) = (FABRICS, Command::DESCRIPTOR, kind.into());
    Command { opcode, flags, id: 1, namespace_id, data, dwords }
}

/// Carries a command out and returns its result.
fn execute(mut stream: &TcpStream, command: Command, data: &[u8]) -> Result<u64> {
    let bytes = data.len() as u32;
    let command = Command { data: DataDescriptor { bytes, ..command.data }, ..command };
    let mut out = Vec::new();
    Pdu::Command(command, data).encode(&mut out, Digests::default(), 0);
    stream.write_all(&out)?;
    let mut answer = [0; 24];
    stream.read_exact(&mut answer)?;
    match parse(&answer, Digests::default(), UNIT_BYTES_MAX)? {
        PduState::Complete { pdu: Pdu::Completion(end), .. }
            if end.status == CommandStatus::SUCCESS =>
        {
            Ok(end.result)
        }
        other => bail!("{other:?}"),
    }
}
