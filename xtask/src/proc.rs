//! Running other programs: streamed line by line, or captured; an error always shows the command.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, WaitId, WaitIdOptions};

use crate::log::Log;

thread_local! {
    static PROCESSOR_TIME: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The processor time of the programs that [`stream`] ran on this thread since the last call, with that of
/// their own children.
pub fn take_processor_time() -> Duration {
    PROCESSOR_TIME.take()
}

/// Runs a command, passing its stdout and stderr on to `log` as they come.
pub fn stream(log: Log, command: &mut Command) -> Result<()> {
    log.line(&format!("$ {}", shown(command)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Some tools colour a pipe as well.
    command.env("NO_COLOR", "1");
    let mut child = command.spawn().with_context(|| cannot_start(command))?;
    let stdout = child.stdout.take().context("stdout was not piped")?;
    let stderr = child.stderr.take().context("stderr was not piped")?;
    std::thread::scope(|scope| {
        scope.spawn(|| copy_lines(log, stdout));
        scope.spawn(|| copy_lines(log, stderr));
    });
    if let Some(used) = processor_time(&child) {
        PROCESSOR_TIME.set(PROCESSOR_TIME.get() + used);
    }
    check(command, child.wait()?)
}

/// Waits for the end of `child` and reads its processor time and that of the children it has waited for; or
/// `None` if /proc is missing.
fn processor_time(child: &Child) -> Option<Duration> {
    let pid = Pid::from_child(child);
    rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        .ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name of the program, in parentheses, may hold spaces. proc(5): utime, stime, cutime, cstime.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    // A tick of USER_HZ is 10 ms on x86 and ARM.
    Some(Duration::from_millis(10 * ticks))
}

/// Runs a command whose stdout is data; its stderr passes through.
pub fn capture(command: &mut Command) -> Result<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let output = command
        .spawn()
        .and_then(std::process::Child::wait_with_output)
        .with_context(|| cannot_start(command))?;
    check(command, output.status)?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("output of `{}` is not UTF-8", shown(command)))
}

/// Runs a command whose stdout is data and which talks much; its stderr is in the error of a failure.
pub fn capture_quietly(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| cannot_start(command))?;
    let talk = String::from_utf8_lossy(&output.stderr);
    check(command, output.status).with_context(|| talk.trim().to_owned())?;
    String::from_utf8(output.stdout)
        .with_context(|| format!("output of `{}` is not UTF-8", shown(command)))
}

/// Whether the command could be started and succeeded; its output is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Finds a program like a shell, and also in Debian's directories for the administrator.
pub fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|dir| dir.join(program))
        .find(|candidate| candidate.is_file())
}

/// Bytes that an ordinary user can still write to the filesystem of `dir`.
pub fn free_bytes(dir: &Path) -> Result<u64> {
    let text = capture(Command::new("df").args(["--block-size=1", "--output=avail"]).arg(dir))?;
    let bytes = text.lines().last().unwrap_or_default().trim();
    bytes.parse().with_context(|| format!("df said {bytes:?} instead of a number of bytes"))
}

fn copy_lines(log: Log, source: impl Read) {
    let mut reader = BufReader::new(source);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        log.line(&String::from_utf8_lossy(&line));
        line.clear();
    }
}

fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`: is it installed and in PATH?", shown(command))
}

/// The command as a user would type it, with programs by their last name to keep lines short.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut text = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_show_the_command() {
        let error = capture(Command::new("false").arg("--really")).unwrap_err();
        assert!(error.to_string().contains("`false --really` ended with"), "{error}");
        let error = capture(&mut Command::new("no-such-program")).unwrap_err();
        assert!(error.to_string().contains("is it installed"), "{error}");
    }

    #[test]
    fn processor_time_is_that_of_a_program_and_of_its_children() {
        take_processor_time();
        let spin = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
        stream(
            Log::stdout("spin"),
            Command::new("sh").args(["-c", &format!("sh -c '{spin}'; true")]),
        )
        .unwrap();
        assert!(take_processor_time() > Duration::ZERO);
        assert_eq!(take_processor_time(), Duration::ZERO);
    }

    #[test]
    fn programs_are_found_in_path() {
        assert!(which("sh").is_some());
        assert_eq!(which("no-such-program"), None);
    }

    #[test]
    fn free_space_is_that_of_the_file_system() {
        assert_eq!(free_bytes(Path::new("/proc")).unwrap(), 0);
        let counted = capture(Command::new("stat").args(["-f", "--format=%a %S", "/"])).unwrap();
        let (blocks, block_bytes) = counted.trim().split_once(' ').unwrap();
        let bytes = blocks.parse::<u64>().unwrap() * block_bytes.parse::<u64>().unwrap();
        // Others write to the same file system meanwhile.
        assert!(free_bytes(Path::new("/")).unwrap().abs_diff(bytes) < 1 << 30);
        let error = free_bytes(Path::new("/no/such/place")).unwrap_err().to_string();
        assert!(error.contains("df") && error.contains("/no/such/place"), "{error}");
    }
}
