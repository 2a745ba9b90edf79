//! ssdlab's own columnar file ([`crate::trace::store`]).

use std::path::Path;

use base::file::open_regular;

use crate::trace::format::about::{About, Reader, Signs};
use crate::trace::input::Input;
use crate::trace::store::{MAGIC, TraceReader};
use crate::trace::{Source, TraceError};

pub(super) static FORMAT: About =
    About::new("trace", Signs::Magic(|head| head.starts_with(MAGIC)), Reader::Ordered(open));

fn open(Input { path, what, packed, .. }: Input) -> Result<Box<dyn Source>, TraceError> {
    if path == Path::new("-") || packed {
        return Err(TraceError::Usage(format!(
            "{what}: an ssdlab trace is read from a file that is not packed, since its index stands at its end; \
             write it into one first (gunzip)"
        )));
    }
    let file = open_regular(&path).map_err(TraceError::read(&what))?;
    Ok(Box::new(TraceReader::new(file, &what)?))
}
