//! `ssdlab push`: runs to a server.

use result::store::resolve_run;
use serve::{Token, push};

use crate::args::Format;
use crate::args::bench::PushArgs;
use crate::failure::EXIT_DONE;
use crate::ui::out::{data, is_document, talk};

pub fn run(args: &PushArgs) -> anyhow::Result<u8> {
    let token = Token::read(&args.token_file)?;
    let paths = args.runs.iter().map(|run| resolve_run(&args.place.library, run));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let mut pushed = Vec::new();
    for path in &paths {
        let name = push(&args.url, &token, path)?;
        if is_document() {
            talk!("{name}");
        } else {
            data!("{name}");
        }
        pushed.push(name);
    }
    if args.place.format == Format::Json {
        data!("{}", serde_json::json!({ "pushed": pushed }));
    }
    Ok(EXIT_DONE)
}
