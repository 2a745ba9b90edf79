//! MSR Cambridge (SNIA IOTTA set 387): `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
//!
//! Both times in Windows file time, ticks of 100 ns (the epoch is 1601-01-01); offset and size in bytes.
//! A volume is a disk of a host: `usr,0` and `hm,0` are two.
//! Cite "Write Off-Loading", FAST 2008, when you use the set.

use std::collections::{BTreeMap, HashMap};

use base::OpKind;

use crate::trace::Addresses;
use crate::trace::format::about::About;
use crate::trace::format::parts::fields::{FieldFault, io, next, number, number_u32, separated};
use crate::trace::format::parts::names::Names;
use crate::trace::format::parts::time::TimeUnit;
use crate::trace::format::raw::{LineContent, LineFormat, Raw};
use crate::trace::streams::STREAMS_MAX;

pub(super) static FORMAT: About = About {
    time_unit: Some(TimeUnit::FileTime),
    addresses: Addresses::OfEach,
    ..About::of_lines("msr", |_, unit| Box::new(Msr { unit, volumes: Volumes::default() }))
};

struct Msr {
    unit: TimeUnit,
    volumes: Volumes,
}

/// Disks of hosts, each a stream.
#[derive(Default)]
struct Volumes {
    hosts: Names,
    /// The stream of each host and disk.
    streams: HashMap<(u32, u32), u32>,
    /// The host and disk of each stream.
    owners: BTreeMap<u32, (u32, u32)>,
    /// No number below is free.
    next_free: u32,
}

impl Volumes {
    /// The stream of a disk: its own number, or the first free one if that is taken by the disk of
    /// another host. Beyond the most streams, disks share theirs.
    fn stream(&mut self, host: &[u8], disk: u32) -> u32 {
        let volume = (self.hosts.number(host), disk);
        if let Some(&stream) = self.streams.get(&volume) {
            return stream;
        }
        if self.owners.len() == STREAMS_MAX {
            return disk;
        }
        let mut stream = disk;
        if self.owners.contains_key(&disk) {
            while self.owners.contains_key(&self.next_free) {
                self.next_free += 1;
            }
            stream = self.next_free;
        }
        self.streams.insert(volume, stream);
        self.owners.insert(stream, volume);
        stream
    }

    /// Host and disk of each stream if there are several hosts; numbers are names enough for one.
    fn names(&self) -> Vec<String> {
        let hosts = self.hosts.list();
        let last = self.owners.last_key_value().map(|(&stream, _)| stream as usize);
        let Some(last) = last.filter(|&last| hosts.len() > 1 && last < STREAMS_MAX) else {
            return Vec::new();
        };
        let mut names = vec![String::new(); last + 1];
        for (&stream, &(host, disk)) in &self.owners {
            names[stream as usize] = format!("{}_{disk}", hosts[host as usize]);
        }
        names
    }
}

fn kind(text: &[u8]) -> Result<OpKind, FieldFault> {
    match text {
        b"Read" | b"read" => Ok(OpKind::Read),
        b"Write" | b"write" => Ok(OpKind::Write),
        _ => Err(FieldFault::new("the type", "Read or Write", text)),
    }
}

impl LineFormat for Msr {
    fn parse(&mut self, line: &[u8]) -> Result<LineContent, FieldFault> {
        let mut fields = separated(line, b',');
        let time = next(&mut fields);
        if time == b"Timestamp" {
            return Ok(LineContent::Other);
        }
        let issue_ns = self.unit.point_ns(time, "the timestamp")?;
        let host = next(&mut fields);
        let disk = number_u32(next(&mut fields), "the disk number")?;
        let op = kind(next(&mut fields))?;
        let (offset, size) = (next(&mut fields), next(&mut fields));
        let bytes = (number(offset, "the offset")?, offset);
        let mut record = io(issue_ns, op, bytes, (number(size, "the size")?, size))?;
        let response_ns = self.unit.length_ns(next(&mut fields), "the response time")?;
        let service_ns = Some(response_ns).filter(|&ns| ns > 0);
        record.stream = self.volumes.stream(host, disk);
        Ok(LineContent::Io(Raw { record, service_ns }))
    }

    fn stream_names(&self) -> Vec<String> {
        self.volumes.names()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_of_hosts_have_streams_of_their_own() {
        let mut volumes = Volumes::default();
        let disks = [("a", 0), ("b", 0), ("a", 3), ("a", 1), ("b", 3), ("a", 0), ("b", 0)];
        let streams = disks.map(|(host, disk)| volumes.stream(host.as_bytes(), disk));
        assert_eq!(streams, [0, 1, 3, 2, 4, 0, 1]);
        assert_eq!(volumes.names(), ["a_0", "b_0", "a_1", "a_3", "b_3"]);
        let mut one = Volumes::default();
        assert_eq!([7, 1, 7].map(|disk| one.stream(b"hm", disk)), [7, 1, 7]);
        assert!(one.names().is_empty());
    }
}
