//! Log pages: what the books of the drive say.

use base::OpKind;
use nvme::command::{admin, nvm};
use nvme::fabrics::{DiscoveryEntry, discovery_log};
use nvme::fdp;
use nvme::identify::namespace_list_of;
use nvme::log::effect::{DATA, EXCLUSIVE, NAMESPACE as CAPABILITIES, NAMESPACES, SUPPORTED};
use nvme::log::{self, SmartLog, page};
use nvme::zns::{self, opcode};
use sim::PAGE_BYTES;

use super::controller::Controller;
use super::features::temperature_threshold;
use super::subsystem::{HOUR_NS, Subsystem};
use super::{placement, zones};
use crate::shared::locked;

/// Pages of an I/O controller.
const PAGES: [u8; 9] = [
    page::SUPPORTED,
    page::ERROR,
    page::SMART,
    page::FIRMWARE,
    page::CHANGED_NAMESPACES,
    page::EFFECTS,
    page::SELF_TEST,
    page::SANITIZE,
    page::OCP,
];

const MINUTE_NS: u64 = 60 * base::Nanos::SECOND.0;

/// Critical warning: the drive takes no changes.
pub const WARNING_READ_ONLY: u8 = 1 << 3;
/// Critical warning: the temperature is above the threshold.
pub const WARNING_TEMPERATURE: u8 = 1 << 1;

/// A page for the host of this controller, or `None` if it has no such page.
pub fn read(subsystem: &Subsystem, controller: &Controller, page: u8) -> Option<Vec<u8>> {
    Some(match page {
        page::SUPPORTED => {
            let of_placement = subsystem.placement().map_or(&[][..], |_| &placement::PAGES);
            let of_zones = subsystem.zones().map_or(&[][..], |_| &[page::CHANGED_ZONES]);
            log::supported(&[&PAGES, of_placement, of_zones].concat())
        }
        page::ERROR => locked(&subsystem.errors).encode(),
        page::SMART => smart(subsystem, controller).encode().to_vec(),
        page::FIRMWARE => log::firmware(&subsystem.names.firmware).to_vec(),
        page::CHANGED_NAMESPACES => {
            let changed = std::mem::take(&mut controller.state().namespaces_changed);
            namespace_list_of(&changed.into_iter().collect::<Vec<_>>())
        }
        page::CHANGED_ZONES => {
            let size_pages = subsystem.zones()?.size_pages;
            let state = controller.state();
            let starts = state.zones_changed.iter().map(|&zone| u64::from(zone) * size_pages);
            zns::changed(&starts.collect::<Vec<_>>())
        }
        page::EFFECTS => effects(subsystem),
        page::SELF_TEST => locked(&subsystem.self_tests).log().encode().to_vec(),
        page::SANITIZE => subsystem.sanitize_log().encode().to_vec(),
        page::OCP => ocp(subsystem),
        _ => return None,
    })
}

/// The only page of a discovery controller: this subsystem at the address that the host has found.
pub fn discovery(subsystem: &Subsystem, address: Option<std::net::SocketAddr>) -> Vec<u8> {
    let entry = address.map(|address| DiscoveryEntry {
        is_v6: address.is_ipv6(),
        port_id: 1,
        subsystem: subsystem.names.nqn.clone(),
        address: address.ip().to_string(),
        service: address.port().to_string(),
    });
    discovery_log(1, entry.as_slice())
}

/// The SMART log.
pub fn smart(subsystem: &Subsystem, controller: &Controller) -> SmartLog {
    let (totals, is_read_only) =
        subsystem.shared.with(|disk| (disk.totals(), disk.faults.is_read_only));
    let temperature_k = (totals.telemetry.temperature_mk / 1000) as u16;
    let is_hot = temperature_threshold(controller).is_some_and(|limit| temperature_k >= limit);
    let [reads, writes] = [OpKind::Read, OpKind::Write].map(OpKind::index);
    let errors = locked(&subsystem.errors);
    SmartLog {
        critical_warning: if is_read_only { WARNING_READ_ONLY } else { 0 }
            | if is_hot { WARNING_TEMPERATURE } else { 0 },
        temperature_k,
        available_spare_percent: 100,
        host_read_bytes: totals.counts.bytes[reads],
        host_written_bytes: totals.counts.bytes[writes],
        host_reads: totals.counts.ios[reads],
        host_writes: totals.counts.ios[writes],
        busy_min: totals.telemetry.controller_busy_ns / MINUTE_NS,
        power_cycles: 1,
        power_on_hours: totals.now.0 / HOUR_NS,
        media_errors: errors.media_count(),
        error_log_entries: errors.count(),
        ..SmartLog::default()
    }
}

/// Physical media units written: the pages that the drive has programmed.
fn ocp(subsystem: &Subsystem) -> Vec<u8> {
    let (totals, superblocks) =
        subsystem.shared.with(|disk| (disk.totals(), disk.drive().config().geometry.superblocks));
    let free_percent = totals.telemetry.free_superblocks * 100 / u64::from(superblocks).max(1);
    log::ocp(totals.telemetry.programmed_pages * PAGE_BYTES, free_percent as u8).to_vec()
}

/// Of all command sets together.
fn effects(subsystem: &Subsystem) -> Vec<u8> {
    let admin = [
        admin::GET_LOG_PAGE,
        admin::IDENTIFY,
        admin::ABORT,
        admin::SET_FEATURES,
        admin::GET_FEATURES,
        admin::ASYNC_EVENT,
        admin::SELF_TEST,
        admin::KEEP_ALIVE,
    ];
    let erasing = [
        (admin::FORMAT, SUPPORTED | DATA | CAPABILITIES | EXCLUSIVE),
        (admin::SANITIZE, SUPPORTED | DATA | EXCLUSIVE),
    ];
    let io = [
        (nvm::FLUSH, SUPPORTED),
        (nvm::WRITE, SUPPORTED | DATA),
        (nvm::READ, SUPPORTED),
        (nvm::WRITE_UNCORRECTABLE, SUPPORTED | DATA),
        (nvm::COMPARE, SUPPORTED),
        (nvm::WRITE_ZEROES, SUPPORTED | DATA),
        (nvm::DATASET_MANAGEMENT, SUPPORTED | DATA),
        (nvm::VERIFY, SUPPORTED),
        (nvm::COPY, SUPPORTED | DATA),
        (opcode::APPEND, SUPPORTED | DATA),
        (opcode::MANAGEMENT_SEND, SUPPORTED | DATA),
        (opcode::MANAGEMENT_RECEIVE, SUPPORTED),
    ];
    let handles = [fdp::opcode::MANAGEMENT_RECEIVE, fdp::opcode::MANAGEMENT_SEND];
    let handles = handles.map(|opcode| (opcode, SUPPORTED));
    let handles = handles.into_iter().filter(|_| subsystem.placement().is_some());
    let io: Vec<_> = io
        .into_iter()
        .filter(|&(opcode, _)| zones::permit(subsystem.zones(), opcode))
        .chain(handles)
        .collect();
    let directives = subsystem.placement().map(|_| (admin::DIRECTIVE_RECEIVE, SUPPORTED));
    let dividing = [
        (admin::NAMESPACE_MANAGEMENT, SUPPORTED | DATA | NAMESPACES | EXCLUSIVE),
        (admin::NAMESPACE_ATTACHMENT, SUPPORTED | NAMESPACES | EXCLUSIVE),
    ];
    let dividing = dividing.into_iter().filter(|_| subsystem.can_be_divided());
    let plain = admin.iter().map(|&opcode| (opcode, SUPPORTED)).chain(directives).chain(dividing);
    log::effects(&plain.chain(erasing).collect::<Vec<_>>(), &io)
}
