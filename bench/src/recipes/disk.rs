//! A file system on an exposed drive.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::super::expose::server::Server;
use super::super::scratch::ScratchDir;
use super::accounting::{self, settled};
use super::file_system::{FileSystem, command};
use xtask::proc;

/// Name of the moment before the first request.
pub(super) const FRESH: &str = "fresh";
/// Most looks at the accounting of a drive that should be at rest.
const LOOKS: u32 = 5;

/// A file system on a loop device over the file of an exposed drive.
pub(super) struct Disk {
    program: PathBuf,
    file_system: FileSystem,
    server: Option<Server>,
    loop_device: String,
    is_mounted: bool,
    pub(super) dir: ScratchDir,
}

impl Disk {
    pub(super) fn make(program: &Path, drive: &str, file_system: FileSystem) -> Result<Self> {
        let dir = ScratchDir::make(None)?;
        for name in ["fuse", "fs"] {
            fs::create_dir(dir.0.join(name))?;
        }
        let socket = dir.0.join("ssdlab.sock");
        let mut server = Command::new(program);
        server.args([
            "sim",
            "expose",
            drive,
            "--no-run",
            "--power-cuts",
            "--format",
            "json",
            "--fuse",
        ]);
        server.arg(dir.0.join("fuse")).arg("--control").arg(dir.0.join("control"));
        let server = Server::start(server.arg("--nbd").arg(&socket), socket)?;
        let mut disk = Self {
            program: program.to_owned(),
            file_system,
            server: Some(server),
            loop_device: String::new(),
            is_mounted: false,
            dir,
        };
        disk.order(&["mark", FRESH])?;
        let file = disk.dir.0.join("fuse/disk");
        let mut losetup = Command::new("losetup");
        losetup.args(["--find", "--show", "--direct-io=on"]).arg(file);
        disk.loop_device = proc::capture(&mut losetup)?.trim().to_owned();
        proc::capture(&mut command(&file_system.make(Path::new(&disk.loop_device))))?;
        Ok(disk)
    }

    pub(super) fn root(&self) -> PathBuf {
        self.dir.0.join("fs")
    }

    pub(super) fn mount(&mut self) -> Result<()> {
        let mut mount = Command::new("mount");
        proc::capture(
            mount.args(["-t", self.file_system.name(), &self.loop_device]).arg(self.root()),
        )?;
        self.is_mounted = true;
        Ok(())
    }

    /// Unmounts, as soon as the processes of a stopped program are gone.
    pub(super) fn unmount(&mut self) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(20);
        while let Err(error) = proc::capture(Command::new("umount").arg(self.root())) {
            if Instant::now() > end {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        self.is_mounted = false;
        Ok(())
    }

    pub(super) fn sync(&self) -> Result<()> {
        proc::capture(Command::new("sync").arg("--file-system").arg(self.root())).map(drop)
    }

    pub(super) fn order(&self, order: &[&str]) -> Result<Value> {
        let mut command = Command::new(&self.program);
        command.args(["sim", "control"]).arg(self.dir.0.join("control")).args(order);
        Ok(serde_json::from_str(&proc::capture(command.args(["--format", "json"]))?)?)
    }

    /// Ends what came before, and lets the account begin.
    pub(super) fn begin(&self) -> Result<()> {
        self.sync()?;
        self.order(&["idle", "1"])?;
        self.order(&["reset"]).map(drop)
    }

    /// The account of the work since [`Disk::begin`].
    pub(super) fn account(&self) -> Result<Value> {
        self.sync()?;
        let end = self.order(&["status"])?;
        self.check_life()?;
        Ok(settled(&end, self.order(&["status"])?))
    }

    /// Checks the accounting of the drive at rest.
    fn check_life(&self) -> Result<()> {
        let check = || {
            self.order(&["idle", "1"])?;
            accounting::check_life(&self.order(&["waf", "--since", FRESH])?)
        };
        // A database that runs on may write just before the look.
        let mut outcome = check();
        for _ in 1..LOOKS {
            if outcome.is_err() {
                outcome = check();
            }
        }
        outcome
    }

    /// The check of the file system, which changes nothing.
    pub(super) fn check(&self) -> Result<()> {
        let check = self.file_system.check(Path::new(&self.loop_device));
        proc::capture(&mut command(&check)).map(drop)
    }

    pub(super) fn end(mut self) -> Result<()> {
        proc::capture(Command::new("losetup").args(["--detach", &self.loop_device]))?;
        self.loop_device.clear();
        let server = self.server.take().context("it serves")?;
        server.end().map(drop)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A thing that fails here is gone already.
        if self.is_mounted {
            let _ = Command::new("umount").arg(self.root()).status();
        }
        if !self.loop_device.is_empty() {
            let _ = Command::new("losetup").args(["--detach", &self.loop_device]).status();
        }
        let fuse = self.dir.0.join("fuse");
        if let Some(server) = self.server.take() {
            drop(server);
            let _ = Command::new("umount").arg(fuse).status();
        }
    }
}
