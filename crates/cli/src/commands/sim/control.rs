//! `ssdlab sim control`: commands to an exposed drive over its control socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use ::target::TargetError;
use base::Bytes;
use clap::{Args as ClapArgs, Subcommand};
use expose::control::ControlCommand;
use serde_json::{Map, Value};

use crate::args::Format;
use crate::args::heading;
use crate::failure::{EXIT_DONE, EXIT_VERDICT};
use crate::ui::out::data;
use crate::ui::table;

const EXAMPLES: &str = "\
Examples:
  ssdlab sim control /tmp/control status
  ssdlab sim control /tmp/control watch --count 10
  ssdlab sim control /tmp/control cut --after-commands 1000
  ssdlab sim control /tmp/control cuts
  ssdlab sim control /tmp/control media-error 1048576 64KiB
  ssdlab sim control /tmp/control heal
  ssdlab sim control /tmp/control read-only on
  ssdlab sim control /tmp/control age 90
  ssdlab sim control /tmp/control wear 1000
  ssdlab sim control /tmp/control temperature 55
  ssdlab sim control /tmp/control cache 4
  ssdlab sim control /tmp/control idle 60
  ssdlab sim control /tmp/control mark filled
  ssdlab sim control /tmp/control waf --since filled
  ssdlab sim control /tmp/control reset
  ssdlab sim control /tmp/control snapshot full
  ssdlab sim control /tmp/control restore full
  ssdlab sim control /tmp/control forget full
  ssdlab sim control /tmp/control snapshots --format json";

/// Arguments of `sim control`.
#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub struct ControlArgs {
    /// Socket that `ssdlab sim expose --control` made
    #[arg(value_name = "SOCKET")]
    pub socket: PathBuf,
    #[command(subcommand)]
    pub command: ControlVerb,
    /// Output on stdout
    #[arg(long, value_enum, default_value_t, global = true, help_heading = heading::OUTPUT)]
    pub format: Format,
}

/// A command to an exposed drive.
#[derive(Debug, Subcommand)]
pub enum ControlVerb {
    /// State of the drive, and its work since the last `reset`
    Status,
    /// A line every second: requests, rates, write amplification
    Watch {
        /// Number of lines; default: until Ctrl-C
        #[arg(long, value_name = "N")]
        count: Option<u64>,
    },
    /// Cut the power and restore it: unflushed data may go, requests under way fail
    Cut {
        /// First let so many commands of the drive end
        #[arg(long, value_name = "N")]
        after_commands: Option<u64>,
    },
    /// Reports of the cuts by `cut --after-commands`, since the last such call
    Cuts,
    /// Make blocks unreadable until they are written
    MediaError {
        /// First byte
        offset: u64,
        /// Number of bytes
        bytes: Bytes,
    },
    /// Make all blocks readable
    Heal,
    /// Refuse writes, or take them again
    ReadOnly {
        /// `on` or `off`
        #[arg(value_parser = ["on", "off"])]
        state: String,
    },
    /// Let days pass without power
    Age {
        /// Number of days
        days: u32,
    },
    /// Wear every block by program and erase cycles
    Wear {
        /// Number of cycles
        cycles: u32,
    },
    /// Change the temperature of the surroundings
    Temperature {
        /// Degrees Celsius
        #[arg(allow_negative_numbers = true)]
        celsius: i32,
    },
    /// Limit the superblocks that the pSLC cache borrows
    Cache {
        /// Number of superblocks
        superblocks: u32,
    },
    /// Let time pass on the fast clock
    Idle {
        /// Seconds of the drive
        seconds: u64,
    },
    /// Name this moment
    Mark {
        /// Its name
        name: String,
    },
    /// Write amplification and work since a mark, or since the last `reset`
    Waf {
        /// Name of the mark
        #[arg(long, value_name = "MARK", help_heading = heading::RUNS)]
        since: Option<String>,
    },
    /// Let the counters begin again
    Reset,
    /// Keep the state of drive and data in memory
    Snapshot {
        /// Its name
        name: String,
    },
    /// Go back to a kept state
    Restore {
        /// Its name
        name: String,
    },
    /// Drop a kept state
    Forget {
        /// Its name
        name: String,
    },
    /// Names of the kept states
    Snapshots,
}

pub fn run(args: &ControlArgs) -> anyhow::Result<u8> {
    send(&args.socket, &command(&args.command), args.format)
}

/// Sends a control command and prints the answers.
pub(super) fn send(socket: &Path, command: &ControlCommand, format: Format) -> anyhow::Result<u8> {
    let fault = |source| TargetError::Device {
        context: format!("the control socket {}", socket.display()),
        source,
    };
    let mut stream = UnixStream::connect(socket).map_err(fault)?;
    let line = serde_json::to_string(command)?;
    stream.write_all(format!("{line}\n").as_bytes()).map_err(fault)?;
    stream.shutdown(std::net::Shutdown::Write).map_err(fault)?;
    let mut code = EXIT_DONE;
    let mut watch = Watch::default();
    for line in BufReader::new(stream).lines() {
        let answer = answer(socket, &line.map_err(fault)?)?;
        code = code.max(verdict(&answer));
        match (format, command) {
            (Format::Json, _) => data!("{}", Value::Object(answer)),
            (Format::Text, ControlCommand::Watch { .. }) => watch.print(&answer),
            (Format::Text, _) => print(&answer),
        }
    }
    Ok(code)
}

/// The command in the words of the socket.
fn command(verb: &ControlVerb) -> ControlCommand {
    match verb {
        ControlVerb::Status => ControlCommand::Status,
        ControlVerb::Watch { count } => ControlCommand::Watch { interval_ms: 1000, count: *count },
        ControlVerb::Cut { after_commands } => {
            ControlCommand::Cut { after_commands: *after_commands }
        }
        ControlVerb::Cuts => ControlCommand::Cuts,
        ControlVerb::MediaError { offset, bytes: Bytes(bytes) } => {
            ControlCommand::MediaError { offset: *offset, bytes: *bytes }
        }
        ControlVerb::Heal => ControlCommand::Heal,
        ControlVerb::ReadOnly { state } => ControlCommand::ReadOnly { on: state == "on" },
        ControlVerb::Age { days } => ControlCommand::Age { days: *days },
        ControlVerb::Wear { cycles } => ControlCommand::Wear { cycles: *cycles },
        ControlVerb::Temperature { celsius } => ControlCommand::Temperature { celsius: *celsius },
        ControlVerb::Cache { superblocks } => ControlCommand::Cache { superblocks: *superblocks },
        ControlVerb::Idle { seconds } => ControlCommand::Idle { seconds: *seconds },
        ControlVerb::Mark { name } => ControlCommand::Mark { name: name.clone() },
        ControlVerb::Waf { since } => ControlCommand::Waf { since: since.clone() },
        ControlVerb::Reset => ControlCommand::Reset,
        ControlVerb::Snapshot { name } => ControlCommand::Snapshot { name: name.clone() },
        ControlVerb::Restore { name } => ControlCommand::Restore { name: name.clone() },
        ControlVerb::Forget { name } => ControlCommand::Forget { name: name.clone() },
        ControlVerb::Snapshots => ControlCommand::Snapshots,
    }
}

/// The members of an answer.
fn answer(socket: &Path, line: &str) -> anyhow::Result<Map<String, Value>> {
    let odd = || TargetError::Usage(format!("{} is no control socket of ssdlab", socket.display()));
    let mut answer: Map<String, Value> = serde_json::from_str(line).map_err(|_| odd())?;
    let is_ok = answer.remove("ok").and_then(|ok| ok.as_bool()).ok_or_else(odd)?;
    if is_ok {
        return Ok(answer);
    }
    let reason = answer.get("error").and_then(Value::as_str).unwrap_or("an error without words");
    Err(TargetError::Unsupported(reason.to_owned()).into())
}

/// A broken promise is a verdict.
fn verdict(answer: &Map<String, Value>) -> u8 {
    let is_broken = |cut: &Value| cut["broken_pages"].as_u64().is_some_and(|pages| pages > 0);
    let cuts = answer.get("cuts").and_then(Value::as_array).into_iter().flatten();
    let alone = answer.get("broken_pages").and_then(Value::as_u64).is_some_and(|pages| pages > 0);
    if alone || cuts.into_iter().any(is_broken) { EXIT_VERDICT } else { EXIT_DONE }
}

/// Prints a member a line; the members of a member follow its name.
pub(super) fn print(answer: &Map<String, Value>) {
    for (name, value) in answer {
        match value {
            Value::Object(members) => {
                let known = members.iter().filter(|(_, value)| !value.is_null());
                let words: Vec<_> = known.map(|(name, value)| format!("{name} {value}")).collect();
                data!("{name}: {}", words.join(", "));
            }
            Value::String(text) => data!("{name}: {text}"),
            Value::Null => data!("{name}: unknown"),
            other => data!("{name}: {other}"),
        }
    }
}

/// A table with a line for each answer: the work since the answer before.
#[derive(Default)]
struct Watch {
    last: Option<Map<String, Value>>,
}

impl Watch {
    fn print(&mut self, now: &Map<String, Value>) {
        const COLUMNS: [&str; 8] =
            ["time", "reads", "writes", "trims", "read", "written", "WAF", "late p99"];
        let Some(last) = self.last.replace(now.clone()) else {
            return data!("{}", line(&COLUMNS.map(str::to_owned)));
        };
        let since = |path: [&str; 2]| number(now, &path).saturating_sub(number(&last, &path));
        let host_pages = since(["telemetry", "host_pages"]);
        let waf = since(["telemetry", "programmed_pages"]) as f64 / host_pages as f64;
        let late = now["lateness_ns"]["p99"].as_u64();
        data!(
            "{}",
            line(&[
                format!("{:.1} s", number(now, &["simulated_ns"]) as f64 / 1e9),
                since(["requests", "read"]).to_string(),
                since(["requests", "write"]).to_string(),
                since(["requests", "deallocate"]).to_string(),
                table::bytes(since(["bytes", "read"])),
                table::bytes(since(["bytes", "write"])),
                if host_pages > 0 { format!("{waf:.2}") } else { "-".to_owned() },
                late.map_or_else(|| "-".to_owned(), |ns| table::latency(ns as f64)),
            ])
        );
    }
}

fn line(cells: &[String]) -> String {
    cells.iter().map(|cell| format!("{cell:>12}")).collect()
}

fn number(answer: &Map<String, Value>, path: &[&str]) -> u64 {
    let value = path.iter().skip(1).fold(answer.get(path[0]), |value, name| value?.get(name));
    value.and_then(Value::as_u64).unwrap_or(0)
}
