//! The drive: one event at a time, in virtual time. [`Device::advance`] is the main loop.
//!
//! ```text
//!  submit -> controller -> link -> write buffer -> unit full -> die: program   (write)
//!  submit -> controller -> die: read -> channel -> link -> completion          (read)
//!               ^                                      |
//!               +-- relocate <- die: read <- garbage collection <- pacing
//! ```
//!
//! An optional mechanism decides in `mechanism/X.rs`, and the drive carries that out in `device/X.rs`: TurboWrite, a pSLC
//! cache, is `pslc`.
//!
//! A write is acknowledged when its last page is in the write buffer; its pages get their place in the host stream at
//! that moment. All results are a function of the model with its seed and of the commands with their times: no clock,
//! no threads.

mod admission;
mod by_the_clock;
mod check;
mod compression;
mod deallocation;
mod gc;
mod housekeeping;
mod idle_sort;
mod map_cache;
mod mapping;
mod mechanisms;
mod performance_mode;
mod placement;
mod policies;
mod power;
mod program;
mod pslc;
mod quiet_gc;
mod read;
mod read_ahead;
mod readings;
mod thermal;
mod timers;
mod transit;
mod wear_budget;
mod write_caps;
mod zones;

use std::hint::cold_path;

use base::{Completion, Nanos, Op, OpKind, TelemetryRow};

use crate::events::NEVER;
use crate::firmware::flush::Flushes;
use crate::firmware::write_buffer::WriteBuffer;
use crate::ftl::collector::Collector;
use crate::ftl::durability::StreamPrograms;
use crate::ftl::gc::VictimSelector;
use crate::ftl::pacing::{Bursts, HostRate, Pacing};
use crate::ftl::placement::Placement;
use crate::ftl::policies::Policies;
use crate::ftl::reclaim_groups::{GroupGc, ReclaimGroups};
use crate::ftl::{Ftl, StreamId};
use crate::geometry::{Divisor, Geometry};
use crate::host::commands::Commands;
use crate::host::link::Link;
use crate::host::pauses::Pauses;
use crate::host::processors::Processors;
use crate::host::queues::SubmissionQueues;
use crate::host::transit::Transit;
use crate::host::{Command, ControllerJob};
use crate::mechanism::mapping::MapLog;
use crate::mechanism::thermal::Thermal;
use crate::model::Config;
use crate::nand::fast::FastSuperblocks;
use crate::nand::programmed::ProgrammedUnits;
use crate::nand::{DieOp, Nand};
use crate::probe::{Probe, Silent};
use crate::telemetry::Recorder;
use mechanisms::Mechanisms;
use timers::Timers;

/// The errno of a command outside the drive or not aligned to its logical blocks (EINVAL).
const ERRNO_INVALID: i32 = 22;

/// A simulated drive, observed by a probe.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Device<P: Probe = Silent> {
    config: Config,
    now_ns: u64,
    commands: Commands,
    timers: Timers,
    mechanisms: Mechanisms,
    write_rate: Option<HostRate>,
    /// The path between program and drive, if it takes time.
    transit: Option<Transit>,
    controller: Processors,
    pauses: Option<Pauses>,
    queues: Option<SubmissionQueues>,
    link: Link,
    buffer: WriteBuffer,
    flushes: Flushes,
    nand: Nand,
    ftl: Ftl,
    pacing: Pacing,
    bursts: Option<Bursts>,
    victims: VictimSelector,
    /// Those of one's own; a saved state has none.
    #[serde(skip)]
    policies: Policies,
    collector: Collector,
    /// Garbage collection of the other reclaim groups, or `None` if there is only one.
    reclaim_groups: Option<Box<ReclaimGroups>>,
    programs: StreamPrograms,
    by_dies: Divisor,
    programmed: ProgrammedUnits,
    /// Running totals; levels are filled in when a row is taken. All but the host's pages are physical ones, which are
    /// smaller on a drive that compresses and may be larger on others.
    totals: TelemetryRow,
    /// Pages of 4,096 bytes that were written because the host wrote others of the same page.
    rewritten_pages: u64,
    recorder: Recorder,
    probe: P,
}

impl Device {
    /// A fresh drive: nothing mapped, time 0.
    pub fn new(config: Config) -> Self {
        Self::with_probe(config, Silent)
    }

    /// A drive with the data of `ftl`, all full units of it in NAND, at time 0: a start in a state that was prepared
    /// without time.
    pub fn with_ftl(config: Config, ftl: Ftl) -> Self {
        Self::assemble(config, ftl, Silent)
    }
}

impl<P: Probe> Device<P> {
    /// A fresh drive, observed from its first moment.
    pub fn with_probe(config: Config, probe: P) -> Self {
        let ftl = Ftl::new(config.geometry);
        Self::assemble(config, ftl, probe)
    }
}

impl<P: Probe> Device<P> {
    /// Present maps, counts and streams.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The observer of every event, as given to the drive.
    pub fn probe(&self) -> &P {
        &self.probe
    }

    fn assemble(config: Config, ftl: Ftl, probe: P) -> Self {
        let queue_depth = config.queue_depth as usize;
        let units = config.geometry.superblocks * config.geometry.superblock_units;
        let open_pages = ftl.stream(StreamId::Host).next_page % config.geometry.unit_pages;
        let (GroupGc { collector, pacing, bursts }, reclaim_groups) =
            gc::reclaim_groups::new_groups(&config);
        let mut device = Self {
            now_ns: 0,
            commands: Commands::new(queue_depth),
            timers: Timers::default(),
            mechanisms: Mechanisms::new(&config.options, &config.geometry, queue_depth),
            write_rate: config.options.write_rate.map(HostRate::new),
            transit: Transit::new(config.options.stages, config.interface.commands, config.seed),
            controller: Processors::new(1 + config.options.more_processors),
            pauses: config.options.pauses.map(|plan| Pauses::new(plan, config.seed)),
            queues: SubmissionQueues::new(&config.interface),
            link: Link::new(&config.interface),
            buffer: WriteBuffer::new(config.buffer_pages, open_pages, queue_depth),
            flushes: Flushes::new(queue_depth),
            nand: Nand::new(
                &config.geometry,
                config.nand,
                &config.options.nand_features,
                config.seed,
            ),
            ftl,
            pacing,
            bursts,
            victims: VictimSelector::new(config.gc_policy, config.gc_candidates, config.seed)
                .with_handle_first(config.options.placement.and_then(Placement::handle_first)),
            policies: Policies::default(),
            collector,
            reclaim_groups,
            programs: StreamPrograms::default(),
            by_dies: Divisor::new(config.geometry.dies),
            programmed: ProgrammedUnits::new(units),
            totals: TelemetryRow::default(),
            rewritten_pages: 0,
            recorder: Recorder::default(),
            config,
            probe,
        };
        if let Some(wear) = device.config.options.wear_leveling {
            device.ftl.allocation = wear.allocation;
        }
        if let Some(mode) = device.config.options.performance_mode {
            let superblocks = device.geometry().superblocks;
            device.nand.set_fast(FastSuperblocks::new(mode.program_ns, superblocks));
        }
        device.mark_written_units();
        device.start_clock();
        device
    }

    /// The resolved model.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Makes the drive new again (secure erase): nothing mapped, every superblock erased, counters at zero. The clock
    /// continues, and the drive stays as warm as it is; no command may be outstanding.
    pub fn reset(&mut self)
    where
        P: Default,
    {
        if self.totals == TelemetryRow::default() && self.ftl.is_new() {
            return;
        }
        let thermal = self.thermal_at(self.now_ns).map(Thermal::renewed);
        // The old maps go first: two drives of full size would need twice the memory.
        self.ftl = Ftl::new(Geometry {
            superblocks: 0,
            cache_superblocks: 0,
            logical_pages: 0,
            map_pages: 0,
            ..*self.geometry()
        });
        let ftl = Ftl::new(self.config.geometry);
        *self = self.renewed(ftl, thermal);
        self.look_at_temperature();
        self.start_clock();
    }

    /// A new drive with these maps at this temperature, at the present moment of this one, with its supply and policies.
    fn renewed(&mut self, ftl: Ftl, thermal: Option<Thermal>) -> Self
    where
        P: Default,
    {
        let mut next = Self::assemble(self.config.clone(), ftl, P::default());
        next.now_ns = self.now_ns;
        next.mechanisms.power =
            self.mechanisms.power.as_ref().map(|power| power.renewed(self.now_ns));
        next.mechanisms.thermal = thermal;
        next.policies = self.policies.renewed();
        next
    }

    /// The drive's clock.
    pub fn now(&self) -> Nanos {
        Nanos(self.now_ns)
    }

    /// Sends a command at this moment. Tags are below the queue depth, and no two outstanding commands share one.
    ///
    /// # Panics
    /// When the tag is not below the queue depth: a bug in the caller.
    #[inline(always)]
    pub fn submit(&mut self, op: &Op) {
        if self.mechanisms.zones.is_some() {
            return self.submit_to_zone(op);
        }
        self.ftl.prefetch_logical(op.offset >> self.page_bits());
        if !self.accepts(op) {
            return self.commands.refuse(op.tag, ERRNO_INVALID, self.now_ns);
        }
        let now_ns = self.now_ns;
        let mut command = Command::new(op, self.page_bits(), now_ns);
        if self.config.geometry.page_granules > 1 {
            command.data = op.data;
        }
        command.placement = self.placement_of(op);
        self.send(op.tag, command);
    }

    #[inline(always)]
    fn send(&mut self, tag: u32, command: Command) {
        if self.commands.send(tag, command) {
            self.host_is_back();
        }
        match &mut self.transit {
            None => self.take_up(tag, command.kind, command.bytes),
            Some(transit) => transit.submit(tag, command.kind, command.bytes, self.now_ns),
        }
    }

    /// The placement handle of a command: the host's, or that of a choice of streams of one's own.
    #[inline]
    fn placement_of(&mut self, op: &Op) -> u8 {
        if self.policies.streams.is_some() { self.own_placement_of(op) } else { op.placement }
    }

    /// A command is in the drive's queue.
    #[inline(always)]
    fn take_up(&mut self, tag: u32, kind: OpKind, bytes: u32) {
        match &mut self.queues {
            None => self.decode(tag, kind, bytes),
            Some(queues) => {
                if let Some(tag) = queues.submit(tag) {
                    self.decode_queued(tag);
                }
            }
        }
    }

    /// The first outstanding command has come: it ends the idle power state of a drive that has such.
    #[inline(never)]
    fn host_is_back(&mut self) {
        if self.commands.is_host_missed() {
            self.wait_for_idle();
        }
        if let Some(power) = &self.mechanisms.power {
            self.controller.hold_until(self.now_ns + power.wake_ns(self.now_ns));
            self.note_work(true);
        }
    }

    /// The controller takes a command of one of several queues up.
    fn decode_queued(&mut self, tag: u32) {
        let Command { kind, bytes, .. } = self.commands[tag];
        self.decode(tag, kind, bytes);
    }

    /// The controller accepts a command.
    #[inline(always)]
    fn decode(&mut self, tag: u32, kind: OpKind, bytes: u32) {
        self.note_order(tag, kind);
        if kind == OpKind::Write
            && let Some(pauses) = &mut self.pauses
        {
            let wait_ns = pauses.wait_ns(self.now_ns);
            if wait_ns > 0 {
                self.controller.pause(self.now_ns, wait_ns);
            }
        }
        let length_ns = match kind {
            OpKind::Read => self.config.read_command_ns,
            OpKind::Write | OpKind::Flush | OpKind::Deallocate => self.config.write_command_ns,
        };
        let is_in_order = self.queues.is_none() && self.controller.are_in_order();
        if kind == OpKind::Write && is_in_order && !self.link.is_expecting() {
            // Both servers are first come first served and nobody can come between, so the end of
            // the transfer is known already: one event less.
            let decoded_ns = self.controller.reserve(self.now_ns, length_ns);
            return self.link.push(decoded_ns, kind, bytes, tag);
        }
        self.link.expect(kind);
        self.controller.push(self.now_ns, length_ns, ControllerJob::Command { tag });
    }

    fn accepts(&self, op: &Op) -> bool {
        let end = op.offset.saturating_add(u64::from(op.len));
        let odd_bytes =
            (op.offset | u64::from(op.len)) & (self.config.interface.logical_block_bytes - 1);
        let capacity_bytes = self.geometry().logical_pages << self.page_bits();
        odd_bytes == 0 && op.len > 0 && end <= capacity_bytes || op.kind == OpKind::Flush
    }

    /// Whether no command is outstanding, and every ended one was reaped.
    pub fn is_idle(&self) -> bool {
        self.commands.outstanding() == 0 && self.commands.ended() == 0
    }

    /// Lets time pass until at least `min` commands have ended and moves them to `out`. Fewer end only if no more can.
    #[inline]
    pub fn reap(&mut self, min: usize, out: &mut Vec<Completion>) {
        debug_assert!(self.are_queues_sound(), "a command waits that the host has not sent");
        // An outstanding command becomes a completion here only.
        let wanted = min.min(self.commands.ended() + self.commands.outstanding() as usize);
        self.advance(wanted, NEVER - 1);
        self.commands.take_ended(out);
    }

    /// Whether the number of commands that wait, for room, programs or the journal, is at most that of the outstanding
    /// ones.
    fn are_queues_sound(&self) -> bool {
        let held = self.mechanisms.mapping.as_ref().map_or(0, MapLog::held);
        let waiting = self.buffer.waiting() + self.flushes.waiting() + held;
        waiting <= self.commands.outstanding() as usize
    }

    /// Lets time pass until `until`, and handles all events before it.
    pub fn run_until(&mut self, until: Nanos) {
        // Two stretches: as long as commands are outstanding, and the remainder, in which the drive may become idle.
        loop {
            let outstanding = self.commands.outstanding() as usize;
            let wanted =
                if outstanding > 0 { self.commands.ended() + outstanding } else { usize::MAX };
            if !self.advance(wanted, until.0) {
                break;
            }
        }
        self.record_until(until.0);
        self.now_ns = self.now_ns.max(until.0);
    }

    /// Lets time pass until a command has ended, or until `until`, whichever comes first.
    pub fn run_until_end(&mut self, until: Nanos) {
        let is_idle = self.commands.ended() == 0 && self.commands.outstanding() == 0;
        if is_idle || !self.advance(1, until.0) {
            self.run_until(until);
        }
    }

    /// The main loop: one event after the other, until this number of commands has ended; false if the next event is
    /// after `limit_ns` before that.
    #[inline(never)]
    fn advance(&mut self, wanted: usize, limit_ns: u64) -> bool {
        let mut quiet_end_ns = self.quiet_end_ns(limit_ns);
        while self.commands.ended() < wanted {
            let link_ns = self.link.next_event_ns();
            let controller_ns = self.controller.next_event_ns();
            let die_ns = self.nand.next_event_ns();
            // The dies come last, because theirs is the time that is known last.
            let mut next_ns = link_ns.min(controller_ns).min(die_ns);
            next_ns = next_ns.min(self.timers.next_ns()).min(self.next_transit_ns());
            if next_ns >= quiet_end_ns {
                cold_path();
                // While commands are outstanding the drive has work: noted when the first of them came.
                if self.commands.outstanding() == 0 {
                    self.note_work(self.next_work_ns() != NEVER);
                    // It may begin to look at the temperature before that.
                    next_ns = next_ns.min(self.timers.next_ns());
                }
                if next_ns > limit_ns {
                    return false;
                }
                self.record_until(next_ns);
                quiet_end_ns = self.quiet_end_ns(limit_ns);
            }
            debug_assert!(next_ns >= self.now_ns, "time goes backwards");
            self.now_ns = next_ns;
            if link_ns == next_ns {
                self.on_link();
            } else if controller_ns == next_ns {
                self.on_controller();
            } else if die_ns == next_ns {
                self.on_nand();
            } else if self.next_transit_ns() == next_ns {
                self.on_transit();
            } else {
                self.on_timer();
            }
        }
        true
    }

    /// Before this moment no row ends, nothing is after the limit, and the host waits.
    #[inline]
    fn quiet_end_ns(&self, limit_ns: u64) -> u64 {
        if self.commands.outstanding() == 0 {
            return 0;
        }
        limit_ns.saturating_add(1).min(self.recorder.mark_ns())
    }

    /// Time of the next end of an operation in the drive; [`NEVER`] if none is in progress.
    fn next_work_ns(&self) -> u64 {
        let link_ns = self.link.next_event_ns();
        link_ns.min(self.controller.next_event_ns()).min(self.nand.next_event_ns())
    }

    #[inline]
    fn record_until(&mut self, until_ns: u64) {
        if self.recorder.is_due(until_ns) {
            self.record_rows(until_ns);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_rows(&mut self, until_ns: u64) {
        while self.recorder.is_due(until_ns) {
            let totals = self.telemetry_at(self.recorder.mark_ns());
            self.recorder.record(totals);
        }
    }

    fn on_link(&mut self) {
        let Some(tag) = self.link.pop() else { return };
        let command = &self.commands[tag];
        if command.kind == OpKind::Write {
            if command.is_whole_pages() {
                self.arrive(tag);
            } else if self.mechanisms.map_cache.is_some() {
                self.find_pages(tag);
            } else {
                self.read_before_write(tag);
            }
        } else {
            self.complete(tag);
            self.use_gap();
        }
    }

    #[inline(always)]
    fn on_controller(&mut self) {
        match self.controller.pop() {
            Some(ControllerJob::Command { tag }) => {
                if let Some(queues) = &mut self.queues
                    && let Some(next) = queues.decoded(self.commands[tag].kind)
                {
                    self.decode_queued(next);
                }
                self.on_command(tag);
            }
            Some(ControllerJob::Relocate { unit, pages, valid }) => {
                self.relocate(unit, pages, valid);
            }
            Some(ControllerJob::Sort) => self.sorted(),
            None => {}
        }
    }

    #[inline(never)]
    fn on_command(&mut self, tag: u32) {
        let command = self.commands[tag];
        match command.kind {
            OpKind::Write => self.come_to_link(tag),
            OpKind::Read if self.mechanisms.map_cache.is_some() => self.find_pages(tag),
            OpKind::Read => self.read(tag),
            OpKind::Flush => {
                self.flush(tag);
                self.pump();
            }
            OpKind::Deallocate => match command.zone_action {
                Some(action) => self.on_zone_action(tag, action),
                None => self.on_deallocation(tag),
            },
        }
    }

    #[inline(always)]
    fn on_nand(&mut self) {
        let Some((die, op)) = self.nand.on_event(self.now_ns) else { return };
        match op {
            DieOp::Program { unit, stream, sequence } if stream.is_moved() => {
                self.moved_programmed(unit, stream, sequence);
            }
            DieOp::Program { unit, stream, sequence } => {
                self.buffer_programmed(unit, stream, sequence);
            }
            DieOp::Parity { unit } => self.in_nand(unit),
            DieOp::Map { unit, write } => self.map_programmed(unit, write),
            DieOp::GcRead { unit, pages, valid } => {
                let length_ns = self.config.relocate_ns * u64::from(pages);
                let job = ControllerJob::Relocate { unit, pages, valid };
                self.controller.push(self.now_ns, length_ns, job);
            }
            DieOp::HostRead { tag, .. } => self.read_ended(tag),
            DieOp::MapRead { tag, .. } => self.have_segment(tag),
            DieOp::MapLoad { .. } => {}
            DieOp::ReadAhead { fetch, .. } => self.fetched(fetch),
            DieOp::Patrol { .. } => self.patrolled(),
            DieOp::SortRead { pages, .. } => self.sort_read(pages),
            DieOp::Erase { superblock } => self.die_erased(die, superblock),
        }
        self.reclaim_read_superblocks();
    }

    #[inline]
    fn geometry(&self) -> &Geometry {
        &self.config.geometry
    }

    #[inline]
    fn complete(&mut self, tag: u32) {
        let now_ns = self.now_ns;
        if let Some(transit) = &mut self.transit {
            return transit.end(tag, self.commands[tag].kind, now_ns);
        }
        self.commands.end(tag, now_ns);
    }

    #[inline]
    fn come_to_link(&mut self, tag: u32) {
        let Command { kind, bytes, .. } = self.commands[tag];
        self.link.arrive(kind);
        self.link.push(self.now_ns, kind, bytes, tag);
    }
}
