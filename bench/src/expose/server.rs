//! A server of the bench, and the places at which it serves.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xtask::proc;

use crate::scratch::process_cpu_ns;

/// A server that is killed at the end.
pub(crate) struct Server {
    child: Child,
    /// That of its control, or of NBD.
    pub(super) socket: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; what it leaves is in the scratch directory.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

impl Server {
    /// Serves both protocols over the loopback interface, and says at the talk that it is ready.
    pub(super) fn of_both(
        program: &Path,
        dir: &Path,
        drive: &str,
        clock: &str,
    ) -> Result<(Self, Addresses)> {
        let [nbd, nvme] = [free_port()?, free_port()?].map(|port| format!("127.0.0.1:{port}"));
        let (talk, control) = (dir.join("talk"), dir.join("control"));
        let _ = std::fs::remove_file(&control);
        let mut command = Command::new(program);
        command.args(["sim", "expose", drive, "--no-run", "--clock", clock]);
        command.args(["--nbd", &nbd, "--nvme", &nvme, "--connections", "16"]);
        command.arg("--control").arg(&control).stdout(Stdio::null());
        command.stderr(std::fs::File::create(&talk)?);
        let server = Self { child: command.spawn()?, socket: control };
        let nqn = name_in(&talk)?;
        Ok((server, Addresses { nbd, nvme, nqn }))
    }

    /// Time of processors that it has taken so far.
    pub(super) fn cpu_ns(&self) -> Result<f64> {
        process_cpu_ns(self.child.id())
    }

    /// Its answer to an order of the control.
    pub(super) fn order(&self, order: &str) -> Result<Value> {
        let mut stream = UnixStream::connect(&self.socket)?;
        writeln!(stream, "{}", json!({ "order": order }))?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    /// Starts a server that serves at a socket.
    pub(crate) fn start(command: &mut Command, socket: PathBuf) -> Result<Self> {
        // One of an earlier server that was killed.
        let _ = std::fs::remove_file(&socket);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = Self { child: child.with_context(|| format!("{command:?}"))?, socket };
        let end = Instant::now() + Duration::from_secs(20);
        while UnixStream::connect(&server.socket).is_err() {
            if server.child.try_wait()?.is_some() || Instant::now() > end {
                bail!("{command:?} serves nothing");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Lets it end by itself, and returns its document.
    pub(crate) fn end(mut self) -> Result<Value> {
        proc::capture(Command::new("kill").arg(self.child.id().to_string()))?;
        let mut text = String::new();
        let mut stdout = self.child.stdout.take().context("its output is piped")?;
        std::io::Read::read_to_string(&mut stdout, &mut text)?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// The places at which one drive is served.
pub(super) struct Addresses {
    pub(super) nbd: String,
    pub(super) nvme: String,
    /// Name of its subsystem.
    pub(super) nqn: String,
}

/// The name of the drive that a server tells when it is ready.
fn name_in(talk: &Path) -> Result<String> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let text = std::fs::read_to_string(talk)?;
        if let Some((_, name)) = text.lines().find_map(|line| line.rsplit_once(" as nqn.")) {
            return Ok(format!("nqn.{name}"));
        }
        if Instant::now() > end {
            bail!("the server serves nothing: {text}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A port that nobody has.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
