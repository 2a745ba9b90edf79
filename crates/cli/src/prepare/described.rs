//! The facts known about a target, and the obstacles to a run on it, without touching it.

use std::collections::BTreeMap;
use std::path::Path;

use ::target::{Identity, IoError, Limits, PurgeMethod, PurgeOption, TargetKind, TargetSpec};
use device::DeviceReport;
use device::guard;
use device::host::shell::{quoted, quoted_path};
use device::purge;
use io::OpenOptions;
use io::open::FileFound;
use run::session::Plan;
use run::suite::Action;

use crate::failure::Failure;
use crate::target;

/// The longest command that a file or block device is opened for.
const TRANSFER_BYTES_MAX: u32 = 32 << 20;

/// A target as far as it can be known without touching it.
pub struct Described {
    /// Its identity.
    pub identity: Identity,
    /// Its limits.
    pub limits: Limits,
    /// The ways to purge it, the best first; empty where there is nothing to choose.
    pub purge_options: Vec<PurgeOption>,
    /// Whether it is a file that the run creates.
    pub is_new: bool,
    /// Why a run would not begin now, in the order in which it would find out.
    pub(super) obstacles: Vec<IoError>,
    /// The argument that a run needs, e.g. `--erase SERIAL`.
    needs: Option<String>,
}

impl Described {
    /// Looks at a target that is to be opened with these options.
    ///
    /// # Errors
    /// If there can be no such target.
    pub fn new(spec: &TargetSpec, options: &OpenOptions) -> Result<Self, IoError> {
        let mut found = match spec {
            TargetSpec::Sim { name, settings } => {
                let (identity, limits) =
                    io::engine::sim::describe(&spec.to_string(), name, settings)?;
                Self::harmless(identity, limits)
            }
            TargetSpec::File { path, size_bytes, .. } => {
                Self::file(spec, path, &io::open::look_at_file(path, *size_bytes)?)
            }
            TargetSpec::Block { path } => Self::block(spec, &guard::inspect(path)?),
            TargetSpec::Null { size_bytes } => {
                Self::harmless(bare_identity(spec, TargetKind::Null, *size_bytes), file_limits())
            }
        };
        found.object(spec, options);
        Ok(found)
    }

    /// A target that nothing forbids and that needs no permission.
    fn harmless(identity: Identity, limits: Limits) -> Self {
        let (purge_options, obstacles) = (Vec::new(), Vec::new());
        Self { identity, limits, purge_options, is_new: false, obstacles, needs: None }
    }

    fn file(spec: &TargetSpec, path: &Path, found: &FileFound) -> Self {
        let mut identity = bare_identity(spec, TargetKind::File, found.capacity_bytes);
        identity.serial = Some(found.path.display().to_string());
        let mut needs = found.exists.then(|| format!("--erase {}", quoted_path(path)));
        if !found.signatures.is_empty() {
            needs = needs.map(|needs| format!("{needs} --erase-signatures"));
        }
        let (purge_options, is_new) = (purge::file_options(true), !found.exists);
        Self { purge_options, is_new, needs, ..Self::harmless(identity, file_limits()) }
    }

    fn block(spec: &TargetSpec, device: &DeviceReport) -> Self {
        let mut identity = bare_identity(spec, TargetKind::Block, device.capacity_bytes);
        identity.name = device.describe();
        identity.serial.clone_from(&device.serial);
        identity.firmware.clone_from(&device.firmware);
        identity.details.extend(device.wwid.clone().map(|wwid| ("wwid".to_owned(), wwid)));
        let limits = Limits {
            logical_block_bytes: device.logical_block_bytes,
            physical_block_bytes: device.physical_block_bytes,
            deallocate: device.deallocate,
            rest: device::rest::may_switch(device),
            ..file_limits()
        };
        let mut needs =
            device.confirmations.first().map(|word| format!("--erase {}", quoted(word)));
        if device.signatures.as_ref().is_some_and(|found| !found.is_empty()) {
            needs = needs.map(|needs| format!("{needs} --erase-signatures"));
        }
        let obstacles = device.in_use.iter().cloned().map(IoError::from).collect();
        let purge_options = purge::survey(device);
        Self { purge_options, obstacles, needs, ..Self::harmless(identity, limits) }
    }

    /// Finds everything that speaks against opening it with these options.
    fn object(&mut self, spec: &TargetSpec, options: &OpenOptions) {
        // Who only reads may share the device.
        let mut in_use = std::mem::take(&mut self.obstacles);
        let first = io::open::rehearse(spec, options).err();
        let is_first = |other: &IoError| {
            first.as_ref().is_some_and(|first| first.to_string() == other.to_string())
        };
        in_use.retain(|other| options.write && !is_first(other));
        self.obstacles = first.into_iter().chain(in_use).collect();
        self.obstacles.extend(target::check_memory(spec).err());
        if options.purge.is_some() {
            self.obstacles.extend(self.purge_method(options.purge).err());
        }
    }

    /// Its name as people read it: a simulated drive is not taken for the drive.
    pub fn name(&self) -> String {
        let simulated = self.identity.kind == TargetKind::Simulated;
        format!("{}{}", self.identity.name, if simulated { " (simulated)" } else { "" })
    }

    /// The argument that a run needs, e.g. `--erase SERIAL`, or `None` if it needs none.
    pub fn needs(&self) -> Option<&str> {
        self.needs.as_deref()
    }

    /// Reasons why a run would not begin now: code and message.
    pub fn refused_now(&self) -> Vec<(String, String)> {
        let failures = self.obstacles.iter().map(Failure::from_io);
        failures.map(|failure| (failure.reason, failure.message)).collect()
    }

    /// The method that a plan would purge with, where it does and there is a choice.
    pub fn purge_of(&self, plan: &Plan, wanted: Option<PurgeMethod>) -> Option<PurgeMethod> {
        let purges = plan.phases().any(|phase| matches!(phase.action, Action::Purge));
        // A method that is not possible is one of the obstacles.
        self.purge_method(wanted).ok().flatten().filter(|_| purges)
    }

    fn purge_method(&self, wanted: Option<PurgeMethod>) -> Result<Option<PurgeMethod>, IoError> {
        if self.purge_options.is_empty() {
            return Ok(None);
        }
        ::target::purge::choose(&self.purge_options, wanted, &self.identity.name).map(Some)
    }
}

fn bare_identity(spec: &TargetSpec, kind: TargetKind, capacity_bytes: u64) -> Identity {
    Identity {
        kind,
        name: spec.to_string(),
        spec: spec.to_string(),
        serial: None,
        firmware: None,
        capacity_bytes,
        raw_bytes: None,
        log_bytes: None,
        engine: String::new(),
        details: BTreeMap::new(),
    }
}

/// The limits of the real engines, as opened by a run.
fn file_limits() -> Limits {
    Limits {
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        transfer_bytes_max: TRANSFER_BYTES_MAX,
        queue_depth_max: io::options::QUEUE_DEPTH_MAX,
        deallocate: true,
        rest: false,
        energy: false,
        compresses: false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use run::Request;

    use super::*;

    fn described(target: &str) -> Result<Described, IoError> {
        let options = OpenOptions { write: true, ..OpenOptions::default() };
        Described::new(&target.parse().unwrap(), &options)
    }

    fn reasons(described: &Described) -> Vec<String> {
        described.refused_now().into_iter().map(|(reason, _)| reason).collect()
    }

    /// A run cuts or extends an existing file to the size that is named.
    #[test]
    fn a_file_is_planned_with_the_size_that_a_run_gives_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, vec![1; (4 << 20) + 100]).unwrap();
        for (query, expected) in [("?size=2MiB", 2 << 20), ("?size=8MiB", 8 << 20), ("", 4 << 20)] {
            let described = described(&format!("file:{}{query}", path.display())).unwrap();
            assert_eq!(described.identity.capacity_bytes, expected, "{query}");
            assert_eq!(described.needs(), Some(&*format!("--erase {}", quoted_path(&path))));
            assert_eq!(reasons(&described), ["existing-file"]);
        }
        assert_eq!(fs::metadata(&path).unwrap().len(), (4 << 20) + 100);
    }

    /// That a file may not be overwritten is what matters; how it could be erased comes after it.
    #[test]
    fn why_a_target_is_not_to_be_touched_comes_before_how_it_could_be_erased() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, vec![1; 8192]).unwrap();
        let spec = format!("file:{}?size=64MiB", path.display()).parse().unwrap();
        let (write, purge) = (true, Some(PurgeMethod::NvmeFormat));
        let options = OpenOptions { write, purge, ..OpenOptions::default() };
        let found = Described::new(&spec, &options).unwrap();
        assert_eq!(reasons(&found), ["existing-file", "unsupported"]);
        let erase = vec![path.display().to_string()];
        let found = Described::new(&spec, &OpenOptions { erase, ..options }).unwrap();
        assert_eq!(reasons(&found), ["unsupported"]);
        let request = Request::new(run::Test::Consistency, "library".into());
        let plan = run::session::plan(&request, &found.identity, &found.limits).unwrap();
        assert_eq!(found.purge_of(&plan, Some(PurgeMethod::NvmeFormat)), None);
        assert_eq!(found.purge_of(&plan, None), Some(PurgeMethod::Deallocate));
        assert_eq!(fs::read(&path).unwrap(), vec![1; 8192]);
    }

    #[test]
    fn what_a_run_refuses_is_not_planned() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().display();
        for (target, expected) in [
            ("file:/dev/sdzz?size=1MiB".to_owned(), "outside /dev, /proc and /sys"),
            ("file:/proc/x?size=1MiB".to_owned(), "outside /dev, /proc and /sys"),
            (format!("file:{dir}/nodir/y?size=1MiB"), "its directory"),
            (format!("file:{dir}/new"), "?size=8GiB"),
            (format!("file:{dir}"), "is a directory"),
            ("file:/dev/null?size=1MiB".to_owned(), "is not a regular file"),
        ] {
            match described(&target).map(|described| described.identity) {
                Err(IoError::Usage(message)) => assert!(message.contains(expected), "{message}"),
                other => panic!("{target}: {other:?}"),
            }
        }
        let huge = described(&format!("file:{dir}/new?size=1048576TiB")).unwrap();
        assert_eq!(reasons(&huge), ["device"]);
        assert!(huge.refused_now()[0].1.contains("smaller ?size="), "{:?}", huge.refused_now());
        assert_eq!(fs::read_dir(dir.to_string()).unwrap().count(), 0);
    }
}
