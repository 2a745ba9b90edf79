//! `ssdlab sim expose`: a simulated drive as a disk for any other program.

mod contents;
pub mod record;
mod report;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::target::{Identity, TargetError, TargetSpec};
use base::Bytes;
use clap::{ArgGroup, Args as ClapArgs};
use device::guard::file::FileClaim;
use device::host::memory;
use device::host::shell::quoted;
use expose::control::{Control, ControlServer};
use expose::fuse::{FuseError, FuseMount};
use expose::nbd::Export;
use expose::nvme::{Names, Subsystem};
use expose::plan::Shape;
use expose::server::Clients;
use expose::shared::RequestToken;
use expose::{Address, Disk, Pace, Server, ServerError, Service, SharedDisk};
use io::engine::sim;
use result::store::ios::{IosChoice, IosWriter};

use self::record::{Present, Record};
use super::state;
use crate::args::{Format, parse_ios, whole};
use crate::args::{LIBRARY, heading};
use crate::failure::EXIT_DONE;
use crate::mapping::with_mapping;
use crate::stop;
use crate::ui::out::talk;
use crate::ui::table;

const EXAMPLES: &str = "\
Examples:
  ssdlab sim expose sim:samsung-840-pro-256gb --nbd /tmp/disk --control /tmp/control
  ssdlab sim expose 'sim:samsung-840-pro-256gb?scale=1/64' --fuse mnt --clock real
  ssdlab sim expose sim:samsung-980-pro-1000gb --nvme 127.0.0.1:4420
  ssdlab sim expose sim:samsung-840-pro-256gb --nbd 127.0.0.1:10809 --contents disk.img --no-run";

/// Arguments of `sim expose`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("network").args(["nbd", "nvme"]).multiple(true)))]
pub struct ExposeArgs {
    /// Simulated drive: `sim:NAME[?key=value&...]`
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Serve NBD at a Unix socket of this path, or at a port
    #[arg(long, value_name = "SOCKET|HOST:PORT", required_unless_present_any = ["fuse", "nvme"])]
    pub nbd: Option<Address>,
    /// Serve an NVMe drive over TCP at a port; `nvme connect` makes it a drive of a Linux machine
    #[arg(long, value_name = "HOST:PORT")]
    pub nvme: Option<Address>,
    /// Host that may connect to the NVMe drive, by its name (`cat /etc/nvme/hostnqn`); repeatable. Default: every host
    /// of this machine
    #[arg(long, value_name = "NQN", requires = "nvme")]
    pub host_nqn: Vec<String>,
    /// Also serve other machines; the NVMe drive only with --host-nqn. There is neither password nor encryption: use a
    /// tunnel (ssh -L, stunnel) where the network is not your own
    #[arg(long, requires = "network")]
    pub listen_anywhere: bool,
    /// Mount the disk as the file `disk` in this empty directory
    #[arg(long, value_name = "DIR")]
    pub fuse: Option<PathBuf>,
    /// Pace of the drive's time: `fast`, `real`, or `real*N` for a drive N times slower
    #[arg(long, value_name = "PACE", default_value_t = Pace::Fast)]
    pub clock: Pace,
    /// Take orders at a Unix socket of this path; see `ssdlab sim control --help`
    #[arg(long, value_name = "SOCKET")]
    pub control: Option<PathBuf>,
    /// Let the drive lose its power on order: assume a map in NAND where the model has none, and keep account of all
    /// pages
    #[arg(long)]
    pub power_cuts: bool,
    /// Keep the data in this sparse file, an image of the disk; default: in memory
    #[arg(long, value_name = "FILE")]
    pub contents: Option<PathBuf>,
    /// Go on from the saved state in this file if there is one, and save the state there at the end
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Most data to keep: writes beyond it fail for lack of space. Default: the capacity of the drive
    #[arg(long, value_name = "BYTES")]
    pub contents_max: Option<Bytes>,
    /// Most connections at a time
    #[arg(long, value_name = "N", default_value_t = 16, allow_negative_numbers = true, value_parser = whole::<u32, 1, 1024>)]
    pub connections: u32,
    /// Directory of run directories: the work of the drive becomes a run in it
    #[arg(long, value_name = "DIR", default_value = LIBRARY, help_heading = heading::OUTPUT)]
    pub library: PathBuf,
    /// Write no run
    #[arg(long, conflicts_with = "library", help_heading = heading::OUTPUT)]
    pub no_run: bool,
    /// Keep single requests, one row each, in ios.parquet of the run directory: `all`, a random share such as `1%`, or
    /// `slowest:100`, the slowest 100 of each second of the drive (see docs/reference/formats/ios.md)
    #[arg(long, value_name = "REQUESTS", value_parser = parse_ios, conflicts_with = "no_run")]
    pub ios: Option<IosChoice>,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// Time between two looks at the stop button.
const LOOK: Duration = Duration::from_millis(50);

/// Time between two looks at the other users of the contents file.
const USES_LOOK: Duration = Duration::from_secs(10);

/// Everything that serves a disk.
struct Fronts {
    nbd: Option<Server>,
    nvme: Option<(Server, Arc<Subsystem>)>,
    control: Option<ControlServer>,
    mounted: Option<FuseMount>,
}

pub fn run(args: &ExposeArgs) -> anyhow::Result<u8> {
    let spec: TargetSpec = args.target.parse()?;
    let Some((name, settings)) = spec.model() else {
        let message = format!("{spec} is no simulated drive; expose takes sim:NAME");
        return Err(TargetError::Usage(message).into());
    };
    let (config, assumed) = if args.power_cuts {
        with_mapping(name, settings)?
    } else {
        (sim::configure(name, settings)?, Vec::new())
    };
    let has_zones = config.options.zones.is_some();
    if has_zones && (args.nbd.is_some() || args.fuse.is_some()) {
        let message = format!(
            "{spec} has zones, which NBD and FUSE do not know; expose it with --nvme alone"
        );
        return Err(TargetError::Usage(message).into());
    }
    let settings = [settings, &assumed].concat();
    let account_bytes = expose::disk::simulated::account_bytes(&config);
    let maps_bytes = sim::memory_bytes(name, &settings)? + account_bytes;
    let (contents, claim) = contents::open(args, &spec, Shape::of(&config), maps_bytes)?;
    let (identity, _) = sim::describe(&args.target, name, &settings)?;
    let is_loaded = contents.pages() > 0 && args.state.as_ref().is_none_or(|path| !path.exists());
    if has_zones && is_loaded {
        let message = "a drive with zones takes a contents file with data only with the --state that belongs to it";
        return Err(TargetError::Usage(message.to_owned()).into());
    }
    let mut disk = state::disk(args.state.as_deref(), config, contents)?;
    let mut record = record(args, &identity, &mut disk)?;
    let shared = Arc::new(SharedDisk::new(disk, args.clock));
    // Before the sockets: whoever finds them may ask for the end at once.
    let stop = stop::button()?;
    let fronts = Fronts::open(args, &shared, &identity)?;
    fronts.announce(&spec, &shared);
    for (key, value) in &assumed {
        talk!("assumed: {key}={value}");
    }
    if is_loaded {
        talk!("the drive has written the data of the contents file, in the order of addresses");
    }
    talk!("{}; Ctrl-C ends", words_of(args.clock));
    let served = fronts.serve(&shared, &stop, record.as_mut(), claim.as_ref());
    // Whatever ended the service, its work is kept.
    let present = shared.with(|disk| present(disk));
    let run_dir = record.map(|record| record.finish(&present)).transpose()?;
    shared.with(|disk| disk.contents().sync())?;
    if let Some(path) = &args.state {
        shared.with(|disk| state::save(disk, &identity.name, path))?;
        talk!("the state is saved in {}", path.display());
    }
    let clients = served?;
    report::print(args.format, &shared, &clients, run_dir.as_deref());
    Ok(EXIT_DONE)
}

fn words_of(pace: Pace) -> String {
    match pace {
        Pace::Fast => "virtual time runs as fast as it can".to_owned(),
        Pace::Real { slowdown: 1 } => "answers come at their simulated times".to_owned(),
        Pace::Real { slowdown } => {
            format!("answers come at their simulated times, {slowdown} times slower")
        }
    }
}

fn present(disk: &Disk<RequestToken>) -> Present {
    let totals = disk.totals();
    Present { now: totals.now, row: disk.accounting().open_row(&totals) }
}

/// The run directory, which follows the disk; `None` if none is wanted.
fn record(
    args: &ExposeArgs,
    identity: &Identity,
    disk: &mut Disk<RequestToken>,
) -> anyhow::Result<Option<Record>> {
    if args.no_run {
        return Ok(None);
    }
    if args.ios.is_some() {
        IosWriter::preflight(&args.library)?;
    }
    let config = BTreeMap::from([
        ("clock".to_owned(), args.clock.to_string().into()),
        ("power_cuts".to_owned(), args.power_cuts.into()),
    ]);
    let command = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    let words: Vec<String> = std::iter::once("ssdlab".to_owned()).chain(command).collect();
    let seed = disk.drive().config().seed;
    let totals = disk.totals();
    let mut record =
        Record::create(&args.library, identity, (words.join(" "), config), seed, totals.now)?;
    if let Some(choice) = args.ios {
        record.keep_ios(choice, args.clock)?;
    }
    disk.accounting_mut().follow(record.follower(), totals);
    Ok(Some(record))
}

impl Fronts {
    /// Opens the file, then the control, then NBD: whoever finds one of them finds those before it too.
    fn open(
        args: &ExposeArgs,
        shared: &Arc<SharedDisk>,
        identity: &Identity,
    ) -> Result<Self, TargetError> {
        let mount = |directory: &std::path::PathBuf| mount(directory, shared);
        let mounted = args.fuse.as_ref().map(mount).transpose()?;
        let control = args.control.as_ref().map(|path| {
            let free: expose::control::FreeMemory = memory::available_bytes;
            let control = Control::new(Arc::clone(shared), identity.name.clone(), free);
            ControlServer::bind(path, control).map_err(refusal)
        });
        let control = control.transpose()?;
        let nbd = args.nbd.as_ref().map(|address| {
            let shape = shared.with(|disk| *disk.shape());
            let service = Service::Nbd(Export::of(&shape, identity.name.clone()));
            server(args, address, service, shared)
        });
        let nvme = args.nvme.as_ref().map(|address| nvme(args, address, shared, &identity.name));
        Ok(Self { nbd: nbd.transpose()?, nvme: nvme.transpose()?, control, mounted })
    }

    fn announce(&self, spec: &TargetSpec, shared: &SharedDisk) {
        let size = table::bytes(shared.with(|disk| disk.shape().capacity_bytes));
        if let Some(nbd) = &self.nbd {
            talk!("{spec}: {size} at nbd {}", nbd.address());
        }
        if let Some((nvme, subsystem)) = &self.nvme {
            talk!("{spec}: {size} at nvme {} as {}", nvme.address(), subsystem.names.nqn);
        }
        if let Some(mounted) = &self.mounted {
            talk!("{spec}: {size} in the file {}", mounted.file().display());
        }
    }

    /// Serves until the stop button is pressed and the file is in no use.
    fn serve(
        self,
        shared: &SharedDisk,
        stop: &AtomicBool,
        mut record: Option<&mut Record>,
        claim: Option<&FileClaim>,
    ) -> anyhow::Result<Clients> {
        let Self { nbd, nvme, control, mounted } = self;
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| shared.keep_time(&over));
            let control = control.as_ref().map(|control| scope.spawn(|| control.run(stop)));
            let servers = nbd.into_iter().chain(nvme.map(|(server, _)| server));
            let servers: Vec<_> = servers.map(|server| scope.spawn(|| server.run(stop))).collect();
            let mut saved = Ok(());
            let (mut unused, mut looked) = (Ok(()), Instant::now());
            while !stop.load(Ordering::Relaxed) {
                thread::sleep(LOOK);
                if let Some(claim) = claim.filter(|_| looked.elapsed() >= USES_LOOK) {
                    (unused, looked) = (claim.require_unused(), Instant::now());
                    stop.fetch_or(unused.is_err(), Ordering::Relaxed);
                }
                if let Some(record) = record.as_deref_mut()
                    && saved.is_ok()
                {
                    saved = record.save_sometimes(&shared.with(|disk| present(disk)));
                }
            }
            let clients = servers.into_iter().map(|server| server.join().unwrap_or_default());
            let clients = clients.fold(Clients::default(), Clients::and);
            let ended = control.map(thread::ScopedJoinHandle::join);
            let unmounted = mounted.map_or(Ok(()), unmount);
            over.store(true, Ordering::Relaxed);
            drop(ended);
            unused?;
            unmounted?;
            saved?;
            Ok(clients)
        })
    }
}

fn server(
    args: &ExposeArgs,
    address: &Address,
    service: Service,
    shared: &Arc<SharedDisk>,
) -> Result<Server, TargetError> {
    let most = args.connections as usize;
    Server::bind(address, args.listen_anywhere, most, service, Arc::clone(shared)).map_err(refusal)
}

/// The server of the drive over NVMe/TCP.
fn nvme(
    args: &ExposeArgs,
    address: &Address,
    shared: &Arc<SharedDisk>,
    model: &str,
) -> Result<(Server, Arc<Subsystem>), TargetError> {
    let Some(place) = place_of(address) else {
        let message = format!("--nvme {address}: name a host and its port, as 127.0.0.1:4420");
        return Err(TargetError::Usage(message));
    };
    if args.listen_anywhere && args.host_nqn.is_empty() {
        let message = "name each host that may use the NVMe drive with --host-nqn; without a list, \
                       only this machine is served";
        return Err(TargetError::Usage(message.to_owned()));
    }
    let name = args.target.trim_start_matches("sim:").split('?').next().unwrap_or_default();
    let names = Names::new(name, model, place);
    // A queue for each connection, less the admin queue and one for discovery.
    let io_queues_max = args.connections.saturating_sub(2).max(1) as u16;
    let subsystem =
        Arc::new(Subsystem::new(Arc::clone(shared), names, args.host_nqn.clone(), io_queues_max));
    let server = server(args, address, Service::Nvme(Arc::clone(&subsystem)), shared)?;
    Ok((server, subsystem))
}

/// Host and port, or `None` for a path or a port that the system chooses: the drive is named by its place.
fn place_of(address: &Address) -> Option<&str> {
    match address {
        Address::Tcp(place) if !place.ends_with(":0") => Some(place),
        _ => None,
    }
}

fn mount(directory: &Path, shared: &Arc<SharedDisk>) -> Result<FuseMount, TargetError> {
    FuseMount::at(directory, Arc::clone(shared)).map_err(|error| match error {
        FuseError::Directory { .. } | FuseError::Dead { .. } => {
            TargetError::Usage(error.to_string())
        }
        FuseError::Mount { ref source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            TargetError::Unsupported(format!("{error}; run as root, or install fusermount3"))
        }
        FuseError::Mount { directory, source } => {
            TargetError::Device { context: format!("a mount at {}", directory.display()), source }
        }
    })
}

/// Waits until nobody uses the file.
fn unmount(mounted: FuseMount) -> anyhow::Result<()> {
    let mut is_told = false;
    while !mounted.unmount()? {
        if !is_told {
            let file = mounted.file();
            talk!(
                "{} is in use: unmount what is on it, and detach its loop device",
                file.display()
            );
            is_told = true;
        }
        thread::sleep(LOOK);
    }
    Ok(mounted.end()?)
}

fn refusal(error: ServerError) -> TargetError {
    let ServerError::Bind { address, source } = error;
    let context = format!("cannot listen at {address}");
    match source.kind() {
        ErrorKind::PermissionDenied if matches!(address, expose::Address::Tcp(_)) => {
            TargetError::Usage(format!(
                "{context}: {source}; use localhost:PORT, or permit it with --listen-anywhere"
            ))
        }
        ErrorKind::AddrInUse if matches!(address, expose::Address::Unix(_)) => {
            TargetError::Refused {
                code: "existing-file",
                message: format!(
                    "{context}: there is a socket in use, or a file that is none, and it stays; name another path"
                ),
            }
        }
        ErrorKind::AddrInUse => {
            TargetError::Usage(format!("{context}: it is in use; name another one"))
        }
        _ => TargetError::Device { context, source },
    }
}
