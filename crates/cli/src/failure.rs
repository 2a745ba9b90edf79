//! From an error to an exit code, a machine-readable reason and a message.

use ::target::TargetError;
use base::text::shortened_words;
use load::trace::TraceError;
use result::export::ExportError;
use result::import::ImportError;
use result::report::ReportError;
use result::store::StoreError;
use run::RunError;
use serde::Serialize;
use serve::{PushError, ServeError};
use session::exit::{self, EXIT_INTERNAL, EXIT_REFUSED};

use crate::args::Format;
use crate::ui::out::{self, data, talk};

pub use session::exit::{
    EXIT_DONE, EXIT_INTERRUPTED, EXIT_IO, EXIT_UNSUPPORTED, EXIT_USAGE, EXIT_VERDICT,
};

/// The error, as printed.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// Stable word for scripts.
    pub reason: String,
    /// Sentence for people, with the fix.
    pub message: String,
    /// Exit code of the program.
    pub exit_code: u8,
}

impl Failure {
    /// Finds the kind of an error by the first type in its chain that has one.
    pub fn from_error(error: &anyhow::Error) -> Self {
        let (reason, exit_code) = classify(error);
        Self { reason: reason.to_owned(), message: message(error.chain()), exit_code }
    }

    /// The same for an error of a target.
    pub fn from_io(error: &TargetError) -> Self {
        let (reason, exit_code) = exit::of_target(error);
        let message = message(anyhow::Chain::new(error));
        Self { reason: reason.to_owned(), message, exit_code }
    }

    /// A wrong call.
    pub fn usage(message: String) -> Self {
        Self { reason: "usage".to_owned(), message, exit_code: EXIT_USAGE }
    }

    /// Prints it: to stderr for people, and as the one document on stdout if JSON was requested.
    pub fn print(&self) {
        talk!("error: {}", self.message);
        self.print_document();
    }

    fn print_document(&self) {
        if out::is_document() {
            let run_dirs: [&str; 0] = [];
            data!("{}", serde_json::json!({ "error": self, "run_dirs": run_dirs }));
        }
    }
}

/// The error with its causes; a cause that the error repeats already is omitted.
fn message(chain: anyhow::Chain<'_>) -> String {
    chain
        .map(ToString::to_string)
        .reduce(|text, cause| if text.contains(&cause) { text } else { format!("{text}: {cause}") })
        .unwrap_or_default()
}

fn classify(error: &anyhow::Error) -> (&'static str, u8) {
    if let Some(error) = error.downcast_ref::<RunError>() {
        return exit::of_run(error);
    }
    if let Some(error) = error.downcast_ref::<TargetError>() {
        return exit::of_target(error);
    }
    if let Some(error) = error.downcast_ref::<StoreError>() {
        return exit::of_store(error);
    }
    if let Some(error) = error.downcast_ref::<ReportError>() {
        return classify_report(error);
    }
    if let Some(error) = error.downcast_ref::<ServeError>() {
        return match error {
            error if error.is_refused() => ("other-files", EXIT_REFUSED),
            error if error.is_usage() => ("usage", EXIT_USAGE),
            _ => ("serve", EXIT_IO),
        };
    }
    if let Some(error) = error.downcast_ref::<PushError>() {
        return if error.is_usage() { ("usage", EXIT_USAGE) } else { ("push", EXIT_IO) };
    }
    if let Some(error) = error.downcast_ref::<TraceError>() {
        return exit::of_trace(error);
    }
    if let Some(error) = error.downcast_ref::<ImportError>() {
        return classify_import(error);
    }
    if let Some(error) = error.downcast_ref::<ExportError>() {
        return if error.is_usage() { ("usage", EXIT_USAGE) } else { ("result", EXIT_IO) };
    }
    if error.downcast_ref::<std::io::Error>().is_some() {
        ("io", EXIT_IO)
    } else {
        ("internal", EXIT_INTERNAL)
    }
}

fn classify_import(error: &ImportError) -> (&'static str, u8) {
    match error {
        ImportError::Usage(_) | ImportError::TooLarge { .. } => ("usage", EXIT_USAGE),
        ImportError::Unreadable { .. } => ("io", EXIT_IO),
        ImportError::Store(error) => exit::of_store(error),
        _ => ("import", EXIT_IO),
    }
}

fn classify_report(error: &ReportError) -> (&'static str, u8) {
    match error {
        ReportError::Store(error) => exit::of_store(error),
        ReportError::PageNotBuilt => ("page-not-built", EXIT_UNSUPPORTED),
        ReportError::PageUnreadable { .. }
        | ReportError::PlaceholderMissing { .. }
        | ReportError::PolicyMissing => ("usage", EXIT_USAGE),
        _ => ("result", EXIT_IO),
    }
}

/// The exit code for data that did not get to stdout. A reader that left early, like `head`, has
/// all it wanted.
pub fn of_output() -> Option<u8> {
    let error = out::data_lost()?;
    talk!("error: the output is not complete: stdout: {error}");
    Some(EXIT_IO)
}

/// The exit code for an argument that is not text; run.json could not contain the command.
pub fn of_words() -> Option<u8> {
    let word = std::env::args_os().find(|word| word.to_str().is_none())?;
    let word = word.to_string_lossy();
    let message = format!(
        "the argument {word:?} is not UTF-8; use names that are, for instance through a link"
    );
    Failure::usage(message).print();
    Some(EXIT_USAGE)
}

/// Whether the arguments ask for JSON, read as text: for errors before the parse. `unsaid` is the format without
/// `--format`.
pub fn wants_json(unsaid: Format) -> bool {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let options: Vec<_> = words.take_while(|word| word != "--").collect();
    let asks = |format: &str| {
        options.windows(2).any(|pair| pair[0] == "--format" && pair[1] == format)
            || options.iter().any(|word| *word == format!("--format={format}"))
    };
    asks("json") || unsaid == Format::Json && !asks("text")
}

/// The paragraphs of clap: one sentence, a hint, and the usage.
fn usage_document(text: &str) -> serde_json::Value {
    let mut paragraphs =
        text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" "));
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    let mut document =
        serde_json::json!({ "reason": "usage", "message": message, "exit_code": EXIT_USAGE });
    for paragraph in paragraphs {
        for (member, prefix) in [("hint", "tip: "), ("usage", "Usage: ")] {
            if let Some(words) = paragraph.strip_prefix(prefix) {
                document[member] = words.into();
            }
        }
    }
    document
}

/// The exit for arguments that clap rejected; help and version are no errors.
pub fn usage_exit(error: &clap::Error) -> std::process::ExitCode {
    let is_error = error.use_stderr();
    let text = error.render().to_string();
    let brief = if is_error { shortened_words(&text) } else { text.clone() };
    if brief == text {
        let _ = error.print();
    } else {
        talk!("{}", brief.trim_end());
    }
    if is_error && out::is_document() {
        data!("{}", serde_json::json!({ "error": usage_document(&brief), "run_dirs": [] }));
    }
    std::process::ExitCode::from(if is_error { EXIT_USAGE } else { EXIT_DONE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_no_known_kind_is_internal() {
        let failure = Failure::from_error(&anyhow::anyhow!("no kind"));
        assert_eq!((failure.reason.as_str(), failure.exit_code), ("internal", EXIT_INTERNAL));
        let known =
            anyhow::Error::from(TargetError::Usage("wrong".to_owned())).context("around it");
        assert_eq!(Failure::from_error(&known).exit_code, EXIT_USAGE);
    }
}
