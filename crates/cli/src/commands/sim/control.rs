//! `ssdlab drive`: orders to an exposed drive over its control socket.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use ::target::IoError;
use base::Bytes;
use expose::control::Order;
use serde_json::{Map, Value};

use crate::args::Format;
use crate::args::expose::{DriveCommand, DriveOrder};
use crate::failure::{EXIT_DONE, EXIT_VERDICT};
use crate::ui::out::data;
use crate::ui::table;

pub fn run(args: &DriveOrder) -> anyhow::Result<u8> {
    send(&args.socket, &order(&args.order), args.format)
}

/// Sends an order and prints the answers.
pub(super) fn send(socket: &Path, order: &Order, format: Format) -> anyhow::Result<u8> {
    let fault = |source| IoError::Device {
        context: format!("the control socket {}", socket.display()),
        source,
    };
    let mut stream = UnixStream::connect(socket).map_err(fault)?;
    let line = serde_json::to_string(order)?;
    stream.write_all(format!("{line}\n").as_bytes()).map_err(fault)?;
    stream.shutdown(std::net::Shutdown::Write).map_err(fault)?;
    let mut code = EXIT_DONE;
    let mut watch = Watch::default();
    for line in BufReader::new(stream).lines() {
        let answer = answer(socket, &line.map_err(fault)?)?;
        code = code.max(verdict(&answer));
        match (format, order) {
            (Format::Json, _) => data!("{}", Value::Object(answer)),
            (Format::Text, Order::Watch { .. }) => watch.print(&answer),
            (Format::Text, _) => print(&answer),
        }
    }
    Ok(code)
}

/// The order in the words of the socket.
fn order(command: &DriveCommand) -> Order {
    match command {
        DriveCommand::Status => Order::Status,
        DriveCommand::Watch { count } => Order::Watch { interval_ms: 1000, count: *count },
        DriveCommand::Cut { after_commands } => Order::Cut { after_commands: *after_commands },
        DriveCommand::Cuts => Order::Cuts,
        DriveCommand::MediaError { offset, bytes: Bytes(bytes) } => {
            Order::MediaError { offset: *offset, bytes: *bytes }
        }
        DriveCommand::Heal => Order::Heal,
        DriveCommand::ReadOnly { state } => Order::ReadOnly { on: state == "on" },
        DriveCommand::Age { days } => Order::Age { days: *days },
        DriveCommand::Wear { cycles } => Order::Wear { cycles: *cycles },
        DriveCommand::Temperature { celsius } => Order::Temperature { celsius: *celsius },
        DriveCommand::Cache { superblocks } => Order::Cache { superblocks: *superblocks },
        DriveCommand::Idle { seconds } => Order::Idle { seconds: *seconds },
        DriveCommand::Mark { name } => Order::Mark { name: name.clone() },
        DriveCommand::Waf { since } => Order::Waf { since: since.clone() },
        DriveCommand::Reset => Order::Reset,
        DriveCommand::Snapshot { name } => Order::Snapshot { name: name.clone() },
        DriveCommand::Restore { name } => Order::Restore { name: name.clone() },
        DriveCommand::Forget { name } => Order::Forget { name: name.clone() },
        DriveCommand::Snapshots => Order::Snapshots,
    }
}

/// The members of an answer.
fn answer(socket: &Path, line: &str) -> anyhow::Result<Map<String, Value>> {
    let odd = || IoError::Usage(format!("{} is no control socket of ssdlab", socket.display()));
    let mut answer: Map<String, Value> = serde_json::from_str(line).map_err(|_| odd())?;
    let is_ok = answer.remove("ok").and_then(|ok| ok.as_bool()).ok_or_else(odd)?;
    if is_ok {
        return Ok(answer);
    }
    let reason = answer.get("error").and_then(Value::as_str).unwrap_or("an error without words");
    Err(IoError::Unsupported(reason.to_owned()).into())
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
