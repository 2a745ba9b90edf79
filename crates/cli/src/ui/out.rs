//! Where words go: data to stdout, talk to stderr. Neither ends the program, as the macros of the standard library do
//! where the reader has gone.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// Why stdout takes no more data, from the first time on.
static DATA_ENDED: OnceLock<io::Error> = OnceLock::new();

/// Writes a line of data to stdout.
macro_rules! data {
    ($($words:tt)*) => { $crate::ui::out::write_data(format_args!($($words)*)) };
}

/// Writes a line of talk to stderr.
macro_rules! talk {
    ($($words:tt)*) => { $crate::ui::out::write_talk(format_args!($($words)*)) };
}

pub(crate) use {data, talk};

/// See [`data!`]. After the first error nothing more is written; [`data_lost`] says at the end what it was.
pub fn write_data(line: Arguments) {
    if DATA_ENDED.get().is_some() {
        return;
    }
    let mut stdout = io::stdout().lock();
    if let Err(error) = writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        let _ = DATA_ENDED.set(error);
    }
}

/// See [`talk!`]. What nobody hears is not worth an end.
pub fn write_talk(line: Arguments) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// The error for which data is missing on stdout; none where its reader took what it wanted and left.
pub fn data_lost() -> Option<&'static io::Error> {
    DATA_ENDED.get().filter(|error| error.kind() != ErrorKind::BrokenPipe)
}
