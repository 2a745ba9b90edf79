//! Uploads: a run directory arrives file by file beside the library's own, is read whole by the
//! same reader as any run, and only then gets its name.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use result::bench::{Digest, is_plain_name, scan_one};
use result::store::{LATENCY_FILE, RUN_FILE, RunDir, SERIES_FILE};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tempfile::TempDir;
use tokio::fs as async_fs;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::resources::{Refusal, on_disk};
use crate::state::Server;

/// Largest upload by default: the files of a run of a day have a tenth of it.
pub const UPLOAD_BYTES_MAX: usize = 256 << 20;
/// Time for the whole of an upload.
const PATIENCE: Duration = Duration::from_mins(10);
/// Time that an upload waits for others to end.
const TURN: Duration = Duration::from_secs(20);
/// The files of a run; the name of a part chooses one of these, and so cannot be a path.
pub(crate) const FILES: [&str; 3] = [RUN_FILE, SERIES_FILE, LATENCY_FILE];
/// Beginning of the names of unfinished uploads, which no reader of a library looks at.
const PREFIX: &str = ".ssdlab-upload-";
/// Age from which an unfinished upload belongs to no living server.
const STALE: Duration = Duration::from_hours(1);

/// `POST /runs`: the files of one run as parts of a form.
pub(crate) async fn receive(State(server): State<Arc<Server>>, request: Request) -> Response {
    // The secret comes first: strangers have no byte of theirs read.
    let admitted = match authorised(&server, request.headers())
        .and_then(|()| sized(&server, request.headers()))
    {
        Ok(()) => timeout(PATIENCE, admit(&server, request)).await,
        Err(refusal) => return with_challenge(refusal),
    };
    match admitted {
        Ok(Ok(name)) => {
            let kind = [(header::CONTENT_TYPE, "application/json")];
            let body = serde_json::json!({ "run": name }).to_string();
            (StatusCode::CREATED, kind, body).into_response()
        }
        Ok(Err(refusal)) => refusal.into_response(),
        Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "the upload took too long").into_response(),
    }
}

fn with_challenge(refusal: Refusal) -> Response {
    let is_stranger = refusal.0 == StatusCode::UNAUTHORIZED;
    let mut response = refusal.into_response();
    if is_stranger {
        let challenge = axum::http::HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn refused(status: StatusCode, words: &str) -> Refusal {
    Refusal(status, words.to_owned())
}

fn authorised(server: &Server, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(token) = &server.token else {
        let words = "this server takes no uploads; `ssdlab serve --token-file FILE` does";
        return Err(refused(StatusCode::FORBIDDEN, words));
    };
    let given = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
    match given.and_then(|value| value.strip_prefix(b"Bearer ")) {
        Some(given) if token.is(given) => Ok(()),
        Some(_) => Err(refused(StatusCode::UNAUTHORIZED, "the token is not that of this server")),
        None => Err(refused(StatusCode::UNAUTHORIZED, "an upload needs a bearer token")),
    }
}

/// Refuses an upload that says itself that it is too large.
fn sized(server: &Server, headers: &HeaderMap) -> Result<(), Refusal> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let is_larger = |length: &str| {
        length.parse().is_ok_and(|length: u64| length > server.upload_bytes_max as u64)
    };
    if length.is_some_and(is_larger) { Err(too_large(server)) } else { Ok(()) }
}

fn too_large(server: &Server) -> Refusal {
    let most = base::Bytes(server.upload_bytes_max as u64);
    Refusal(StatusCode::PAYLOAD_TOO_LARGE, format!("a run may have {most} at most"))
}

/// Takes a run in, and returns its name.
async fn admit(server: &Arc<Server>, request: Request) -> Result<String, Refusal> {
    let busy = || refused(StatusCode::SERVICE_UNAVAILABLE, "other uploads are in progress");
    let turn = timeout(TURN, server.uploads.acquire()).await;
    let _turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
    let wrong = |error: axum::extract::multipart::MultipartRejection| {
        Refusal(StatusCode::BAD_REQUEST, format!("expected a form with files: {error}"))
    };
    let form = Multipart::from_request(request, server).await.map_err(wrong)?;
    let staged = staged(server.bench.library())?;
    receive_files(server, form, staged.path()).await?;
    let name = on_disk(server, move |bench| {
        let named = put_in_place(&staged, bench.library());
        bench.look_again();
        Ok(named)
    });
    name.await?
}

/// A directory for the files, on the file system of the library.
fn staged(library: &Path) -> Result<TempDir, Refusal> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).permissions(Permissions::from_mode(0o755));
    builder.tempdir_in(library).map_err(|error| disk("create a directory", &error))
}

fn disk(action: &str, error: &io::Error) -> Refusal {
    let status = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StatusCode::INSUFFICIENT_STORAGE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Refusal(status, format!("the server cannot {action}: {error}"))
}

async fn receive_files(server: &Server, mut form: Multipart, dir: &Path) -> Result<(), Refusal> {
    while let Some(field) = form.next_field().await.map_err(|error| broken(server, &error))? {
        let name = field.name().unwrap_or_default();
        let Some(file) = FILES.into_iter().find(|file| *file == name) else {
            let name = base::text::shortened(name);
            let words = format!("a run has no file `{name}`; expected {}", FILES.join(", "));
            return Err(Refusal(StatusCode::BAD_REQUEST, words));
        };
        receive_file(server, field, &dir.join(file)).await?;
    }
    match FILES.iter().find(|file| !dir.join(file).exists()) {
        Some(missing) => {
            Err(Refusal(StatusCode::BAD_REQUEST, format!("the upload has no {missing}")))
        }
        None => Ok(()),
    }
}

/// A connection that ended early, or a body that is too large or no form.
fn broken(server: &Server, error: &MultipartError) -> Refusal {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return too_large(server);
    }
    Refusal(StatusCode::BAD_REQUEST, format!("the upload is broken: {}", error.body_text()))
}

async fn receive_file(server: &Server, mut field: Field<'_>, path: &Path) -> Result<(), Refusal> {
    let mut file = async_fs::File::create_new(path).await.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => refused(StatusCode::BAD_REQUEST, "a file is there twice"),
        _ => disk("create a file", &error),
    })?;
    while let Some(piece) = field.chunk().await.map_err(|error| broken(server, &error))? {
        file.write_all(&piece).await.map_err(|error| disk("write a file", &error))?;
    }
    file.sync_all().await.map_err(|error| disk("write a file", &error))
}

/// Reads the run whole and gives it its name, if no other run has it.
fn put_in_place(staged: &TempDir, library: &Path) -> Result<String, Refusal> {
    let invalid = |reason: String| Refusal(StatusCode::UNPROCESSABLE_ENTITY, reason);
    let found = scan_one(staged.path()).ok_or_else(|| invalid("there is no run".to_owned()))?;
    // Its temporary name means nothing to the sender.
    let reason = |text: String| invalid(text.replace(&found.name, "the run"));
    let unreadable = |error: result::store::StoreError| {
        reason(error.to_string().replace(&*staged.path().to_string_lossy(), "the run"))
    };
    let dir = RunDir::open(staged.path()).map_err(unreadable)?;
    Digest::of(&found).map_err(reason)?;
    let name = dir.run().run_id.clone();
    if !is_plain_name(&name) {
        let shown = base::text::shortened(&name);
        return Err(invalid(format!("`{shown}` cannot be the name of a run")));
    }
    match rename_new(staged.path(), &library.join(&name)) {
        Ok(()) => Ok(name),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(Refusal(StatusCode::CONFLICT, format!("there is a run {name} already")))
        }
        Err(error) => Err(disk("put the run in its place", &error)),
    }
}

/// Renames a directory, unless the name is taken; durable.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            // A file system without this flag; an upload of the same run at the same moment loses
            // to a directory that is not empty.
            if to.exists() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            fs::rename(from, to)?;
        }
        renamed => renamed?,
    }
    [Some(to), to.parent()].into_iter().flatten().try_for_each(|dir| File::open(dir)?.sync_all())
}

/// Removes uploads that a killed server left behind.
pub(crate) fn sweep(library: &Path) {
    let is_stale = |entry: &fs::DirEntry| {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
        entry.file_name().to_string_lossy().starts_with(PREFIX)
            && age.is_some_and(|age| age > STALE)
    };
    let entries = fs::read_dir(library).into_iter().flatten().flatten();
    for entry in entries.filter(is_stale) {
        let _ = fs::remove_dir_all(entry.path());
    }
}
