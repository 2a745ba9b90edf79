//! `ssdlab expose`: a simulated drive as a disk for any other program.

use std::io::ErrorKind;
use std::path::Path;

use ::target::{IoError, TargetSpec};
use base::Bytes;
use device::host::memory;
use expose::contents::ContentsError;
use expose::nbd::Mark;
use expose::plan::Shape;
use expose::server::Clients;
use expose::{Contents, Disk, Server, ServerError};
use io::engine::sim;
use serde_json::json;

use crate::args::Format;
use crate::args::expose::ExposeArgs;
use crate::failure::EXIT_DONE;
use crate::stop;
use crate::ui::out::{data, talk};
use crate::ui::table;

pub fn run(args: &ExposeArgs) -> anyhow::Result<u8> {
    let spec: TargetSpec = args.target.parse()?;
    let Some((name, settings)) = spec.model() else {
        let message = format!("{spec} is no simulated drive; expose takes sim:NAME");
        return Err(IoError::Usage(message).into());
    };
    let config = sim::configure(name, settings)?;
    let shape = Shape::of(&config);
    let maps_bytes = sim::memory_bytes(name, settings)?;
    let contents = contents(args, &spec, shape, maps_bytes)?;
    let (identity, _) = sim::describe(&args.target, name, settings)?;
    let is_loaded = contents.pages() > 0;
    let disk = Disk::new(::sim::Drive::new(config), contents);
    let connections_max = args.connections as usize;
    let server =
        Server::bind(&args.nbd, args.listen_anywhere, connections_max, identity.name, disk)
            .map_err(refusal)?;
    let stop = stop::button()?;
    talk!("{spec}: {} at nbd {}", table::bytes(shape.capacity_bytes), server.address());
    if is_loaded {
        talk!("the drive has written the data of the contents file, in the order of addresses");
    }
    talk!("virtual time runs as fast as it can; Ctrl-C ends");
    let (disk, clients) = server.run(&stop);
    disk.contents().sync()?;
    report(args.format, &disk, &clients);
    Ok(EXIT_DONE)
}

/// The contents, for which there is room.
fn contents(
    args: &ExposeArgs,
    spec: &TargetSpec,
    shape: Shape,
    maps_bytes: u64,
) -> Result<Contents, IoError> {
    let most = args.contents_max.map_or(shape.capacity_bytes, |most| most.0);
    let most = most.min(shape.capacity_bytes);
    memory::check(&spec.to_string(), maps_bytes)?;
    let free_bytes = match &args.contents {
        Some(path) => free_bytes(path)?,
        None => memory::available_bytes().map(|bytes| bytes.saturating_sub(maps_bytes)),
    };
    if let Some(free_bytes) = free_bytes.filter(|&free_bytes| free_bytes < most) {
        let place = if args.contents.is_some() { "the file system" } else { "memory" };
        return Err(IoError::Unsupported(format!(
            "{spec} may hold {} of data, and {} are free in {place}; permit less with --contents-max, expose a part of \
             the drive with the key `scale=1/64` in the target, or name a file elsewhere with --contents",
            Bytes(most).rounded(),
            Bytes(free_bytes).rounded()
        )));
    }
    let contents = match &args.contents {
        Some(path) => Contents::in_file(path, shape, most),
        None => Contents::in_memory(shape, most),
    };
    contents.map_err(|error| match error {
        ContentsError::File { path, source } => {
            IoError::Device { context: format!("the contents file {}", path.display()), source }
        }
        ContentsError::Memory(source) => {
            IoError::Device { context: "the contents in memory".to_owned(), source }
        }
        other => IoError::Usage(other.to_string()),
    })
}

/// Bytes that a contents file may still take, with those that it has; `None` if its folder is unknown.
fn free_bytes(path: &Path) -> Result<Option<u64>, IoError> {
    use std::os::unix::fs::MetadataExt;
    const BLOCK_BYTES: u64 = 512;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let context = || format!("the folder of the contents file {}", path.display());
    let space = rustix::fs::statvfs(folder)
        .map_err(|errno| IoError::Device { context: context(), source: errno.into() })?;
    let held_bytes = path.metadata().map_or(0, |found| found.blocks() * BLOCK_BYTES);
    Ok(Some(space.f_bavail.saturating_mul(space.f_frsize).saturating_add(held_bytes)))
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
        ErrorKind::AddrInUse => {
            IoError::Usage(format!("{context}: it is in use; name another one with --nbd"))
        }
        _ => IoError::Device { context, source },
    }
}

fn report(format: Format, disk: &Disk<Mark>, clients: &Clients) {
    let totals = disk.drive().telemetry();
    let waf = totals.programmed_pages as f64 / totals.host_pages as f64;
    let waf = Some(waf).filter(|waf| waf.is_finite());
    let time = disk.drive().now();
    match format {
        Format::Json => data!(
            "{}",
            json!({
                "host_pages": totals.host_pages,
                "programmed_pages": totals.programmed_pages,
                "waf": waf,
                "simulated_ns": time.0,
                "connections": clients.served,
                "connections_turned_away": clients.turned_away,
                "connections_broken": clients.broken,
                "last_error": clients.last_error,
            })
        ),
        Format::Text => {
            let waf = waf.map_or_else(|| "unknown".to_owned(), |waf| format!("{waf:.2}"));
            data!(
                "simulated: {} written by the host, {} to NAND, WAF {waf}, in {}",
                Bytes(totals.host_pages * ::sim::PAGE_BYTES).rounded(),
                Bytes(totals.programmed_pages * ::sim::PAGE_BYTES).rounded(),
                table::seconds(time)
            );
            data!(
                "connections: {}, turned away: {}, broken: {}",
                clients.served,
                clients.turned_away,
                clients.broken
            );
            if let Some(error) = &clients.last_error {
                data!("the last of these: {error}");
            }
        }
    }
}
