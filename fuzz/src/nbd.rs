//! The bytes of a client of NBD: its options, and then its requests.

use std::io::{Cursor, Read, Result, Write};

use expose::connection::Input;
use expose::nbd::{Agreement, DATA_BYTES_MAX, Export, NbdCommand, negotiate};
use expose::request::Action;

/// A client that says these bytes and hears nothing.
struct Deaf<'a>(Cursor<&'a [u8]>);

impl Read for Deaf<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for Deaf<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Serves the client, and checks that every request for the disk lies within it. The first byte says whether the
/// client negotiates.
pub(crate) fn serve(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let export = Export {
        capacity_bytes: 1 << 30,
        preferred_bytes: 4096,
        description: "a disk".to_owned(),
        can_trim: first & 2 != 0,
        is_read_only: first & 4 != 0,
    };
    let mut client = Deaf(Cursor::new(data));
    let agreed = if first & 1 == 0 {
        Agreement { structured: true, allocation: true }
    } else {
        let Ok(Some(agreed)) = negotiate(&mut client, &export) else { return };
        agreed
    };
    let mut input = Input::default();
    while let Ok(Some(batch)) = input.batch(&mut client, &export, agreed) {
        batch.iter().for_each(|command| check(command, &export));
    }
}

fn check(command: &NbdCommand, export: &Export) {
    match command {
        NbdCommand::Disk(_, request) => {
            let end = request.offset.checked_add(request.bytes).expect("a sum of 64 bits");
            assert!(end <= export.capacity_bytes, "{request:?} leaves the disk");
            let is_write = request.action == Action::Write;
            assert_eq!(request.data.len() as u64, if is_write { request.bytes } else { 0 });
            let is_long = request.bytes > u64::from(DATA_BYTES_MAX);
            assert!(!(is_long && matches!(request.action, Action::Read | Action::Write)));
        }
        NbdCommand::Extents { range, .. } => {
            assert!(range.start < range.end && range.end <= export.capacity_bytes);
        }
        NbdCommand::Refused(..) | NbdCommand::Disconnect => {}
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let option = |number: u32, data: &[u8]| {
        let bytes = (data.len() as u32).to_be_bytes();
        [b"IHAVEOPT", &number.to_be_bytes()[..], &bytes, data].concat()
    };
    let request = |command: u16, bytes: u32, data: &[u8]| {
        let head = 0x2560_9513_u32.to_be_bytes();
        let kind = u32::from(command).to_be_bytes();
        let place = [[0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 16, 0]].concat();
        [&head[..], &kind, &place, &bytes.to_be_bytes(), data].concat()
    };
    let requests: Vec<u8> = [
        request(1, 5, b"hello"),
        request(0, 4096, b""),
        request(3, 0, b""),
        request(4, 8192, b""),
        request(6, 1 << 20, b""),
        request(7, 1 << 20, b""),
        request(2, 0, b""),
    ]
    .concat();
    let context = [&[0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 15], &b"base:allocation"[..]].concat();
    let options: Vec<u8> = [
        option(3, b""),
        option(8, b""),
        option(9, &context),
        option(10, &context),
        option(6, &[0, 0, 0, 0, 0, 2, 0, 1, 0, 2]),
        option(7, &[0; 6]),
    ]
    .concat();
    let old = [&[3, 0, 0, 0, 3][..], &option(1, b""), &requests].concat();
    vec![[&[2], &requests[..]].concat(), [&[3, 0, 0, 0, 3], &options[..], &requests].concat(), old]
}
