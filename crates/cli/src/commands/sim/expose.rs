//! `ssdlab expose`: a simulated drive as a disk for any other program.

mod contents;
pub mod record;
mod report;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::target::{Identity, IoError, TargetSpec};
use device::guard::file::FileClaim;
use device::host::memory;
use device::host::shell::quoted;
use expose::control::{Control, ControlServer};
use expose::fuse::{FuseError, Mounted};
use expose::plan::Shape;
use expose::server::Clients;
use expose::shared::Token;
use expose::{Disk, Pace, Server, ServerError, Shared};
use io::engine::sim;
use result::store::ios::IosWriter;

use self::record::{Present, Record};
use super::state;
use crate::args::expose::ExposeArgs;
use crate::failure::EXIT_DONE;
use crate::mapping::with_mapping;
use crate::stop;
use crate::ui::out::talk;
use crate::ui::table;

/// Time between two looks at the stop button.
const LOOK: Duration = Duration::from_millis(50);

/// Time between two looks at the other users of the contents file.
const USES_LOOK: Duration = Duration::from_secs(10);

/// Everything that serves a disk.
struct Fronts {
    nbd: Option<Server>,
    control: Option<ControlServer>,
    mounted: Option<Mounted>,
}

pub fn run(args: &ExposeArgs) -> anyhow::Result<u8> {
    let spec: TargetSpec = args.target.parse()?;
    let Some((name, settings)) = spec.model() else {
        let message = format!("{spec} is no simulated drive; expose takes sim:NAME");
        return Err(IoError::Usage(message).into());
    };
    let (config, assumed) = if args.power_cuts {
        with_mapping(name, settings)?
    } else {
        (sim::configure(name, settings)?, Vec::new())
    };
    let settings = [settings, &assumed].concat();
    let account_bytes = expose::disk::simulated::account_bytes(&config);
    let maps_bytes = sim::memory_bytes(name, &settings)? + account_bytes;
    let (contents, claim) = contents::open(args, &spec, Shape::of(&config), maps_bytes)?;
    let (identity, _) = sim::describe(&args.target, name, &settings)?;
    let is_loaded = contents.pages() > 0 && args.state.as_ref().is_none_or(|path| !path.exists());
    let mut disk = state::disk(args.state.as_deref(), config, contents)?;
    let mut record = record(args, &identity, &mut disk)?;
    let shared = Arc::new(Shared::new(disk, args.clock));
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

fn present(disk: &Disk<Token>) -> Present {
    let totals = disk.totals();
    Present { now: totals.now, row: disk.books().open_row(&totals) }
}

/// The run directory, which follows the disk; `None` if none is wanted.
fn record(
    args: &ExposeArgs,
    identity: &Identity,
    disk: &mut Disk<Token>,
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
    disk.books_mut().follow(record.observer(), totals);
    Ok(Some(record))
}

impl Fronts {
    /// Opens the file, then the control, then NBD: whoever finds one of them finds those before it too.
    fn open(args: &ExposeArgs, shared: &Arc<Shared>, identity: &Identity) -> Result<Self, IoError> {
        let mount = |directory: &std::path::PathBuf| mount(directory, shared);
        let mounted = args.fuse.as_ref().map(mount).transpose()?;
        let control = args.control.as_ref().map(|path| {
            let free: expose::control::FreeMemory = memory::available_bytes;
            let control = Control::new(Arc::clone(shared), identity.name.clone(), free);
            ControlServer::bind(path, control).map_err(refusal)
        });
        let control = control.transpose()?;
        let nbd = args.nbd.as_ref().map(|address| {
            let most = args.connections as usize;
            let (name, shared) = (identity.name.clone(), Arc::clone(shared));
            Server::bind(address, args.listen_anywhere, most, name, shared).map_err(refusal)
        });
        Ok(Self { nbd: nbd.transpose()?, control, mounted })
    }

    fn announce(&self, spec: &TargetSpec, shared: &Shared) {
        let size = table::bytes(shared.with(|disk| disk.shape().capacity_bytes));
        if let Some(nbd) = &self.nbd {
            talk!("{spec}: {size} at nbd {}", nbd.address());
        }
        if let Some(mounted) = &self.mounted {
            talk!("{spec}: {size} in the file {}", mounted.file().display());
        }
    }

    /// Serves until the stop button is pressed and the file is in no use.
    fn serve(
        self,
        shared: &Shared,
        stop: &AtomicBool,
        mut record: Option<&mut Record>,
        claim: Option<&FileClaim>,
    ) -> anyhow::Result<Clients> {
        let Self { nbd, control, mounted } = self;
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| shared.keep_time(&over));
            let control = control.as_ref().map(|control| scope.spawn(|| control.run(stop)));
            let nbd = nbd.map(|nbd| scope.spawn(|| nbd.run(stop)));
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
            let clients = nbd.map(|nbd| nbd.join().unwrap_or_default()).unwrap_or_default();
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

fn mount(directory: &Path, shared: &Arc<Shared>) -> Result<Mounted, IoError> {
    Mounted::at(directory, Arc::clone(shared)).map_err(|error| match error {
        FuseError::Directory { .. } | FuseError::Dead { .. } => IoError::Usage(error.to_string()),
        FuseError::Mount { ref source, .. } if source.kind() == ErrorKind::PermissionDenied => {
            IoError::Unsupported(format!("{error}; run as root, or install fusermount3"))
        }
        FuseError::Mount { directory, source } => {
            IoError::Device { context: format!("a mount at {}", directory.display()), source }
        }
    })
}

/// Waits until nobody uses the file.
fn unmount(mounted: Mounted) -> anyhow::Result<()> {
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

fn refusal(error: ServerError) -> IoError {
    let ServerError::Bind { address, source } = error;
    let context = format!("cannot listen at {address}");
    match source.kind() {
        ErrorKind::PermissionDenied if matches!(address, expose::Address::Tcp(_)) => {
            IoError::Usage(format!(
                "{context}: {source}; use localhost:PORT, or permit it with --listen-anywhere"
            ))
        }
        ErrorKind::AddrInUse if matches!(address, expose::Address::Unix(_)) => IoError::Refused {
            code: "existing-file",
            message: format!(
                "{context}: there is a socket in use, or a file that is none, and it stays; name another path"
            ),
        },
        ErrorKind::AddrInUse => {
            IoError::Usage(format!("{context}: it is in use; name another one"))
        }
        _ => IoError::Device { context, source },
    }
}
