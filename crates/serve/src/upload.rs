//! Uploads: a run directory arrives file by file beside the library's own, is read whole by the
//! same reader as any run, and only then gets its name.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::multipart::{Field, Multipart, MultipartError};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use result::bench::{Digest, scan_one};
use result::store::dir::Staging;
use result::store::{LATENCY_FILE, RUN_FILE, RunDir, SERIES_FILE};
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
/// Name of the directory of an upload until the run tells its own.
const UNNAMED: &str = "upload";
/// Time for the next bytes of an upload.
const PROGRESS: Duration = Duration::from_secs(30);

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
        let words = "this server takes no uploads; `ssdlab library serve --token-file FILE` does";
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
    let staging = Staging::new(server.bench.library());
    let staging = staging.map_err(|error| disk("create a directory", &error))?;
    let dir = staging.make(UNNAMED).map_err(|error| disk("create a directory", &error))?;
    receive_files(server, form, &dir).await?;
    let name = on_disk(server, move |bench| {
        let named = put_in_place(&staging, &dir);
        bench.look_again();
        Ok(named)
    });
    name.await?
}

fn disk(action: &str, error: &io::Error) -> Refusal {
    let status = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StatusCode::INSUFFICIENT_STORAGE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    Refusal(status, format!("the server cannot {action}: {error}"))
}

async fn receive_files(server: &Server, mut form: Multipart, dir: &Path) -> Result<(), Refusal> {
    while let Some(field) =
        in_time(form.next_field()).await?.map_err(|error| broken(server, &error))?
    {
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

/// The next part of an upload, if it does not take too long.
async fn in_time<T>(next: impl Future<Output = T>) -> Result<T, Refusal> {
    let stalled = |_| refused(StatusCode::REQUEST_TIMEOUT, "nothing came for too long");
    timeout(PROGRESS, next).await.map_err(stalled)
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
    while let Some(piece) = in_time(field.chunk()).await?.map_err(|error| broken(server, &error))? {
        file.write_all(&piece).await.map_err(|error| disk("write a file", &error))?;
    }
    file.sync_all().await.map_err(|error| disk("write a file", &error))
}

/// Reads the run whole and gives it its name, if no other run has it.
fn put_in_place(staging: &Staging, dir: &Path) -> Result<String, Refusal> {
    let invalid = |reason: String| Refusal(StatusCode::UNPROCESSABLE_ENTITY, reason);
    let found = scan_one(dir).ok_or_else(|| invalid("there is no run".to_owned()))?;
    // Its temporary name means nothing to the sender.
    let reason = |text: String| invalid(text.replace(&*dir.to_string_lossy(), "the run"));
    let run = RunDir::open(dir).map_err(|error| reason(error.to_string()))?;
    Digest::of(&found).map_err(reason)?;
    let name = run.run().run_id.clone();
    match staging.publish(UNNAMED, &name) {
        Ok(_) => Ok(name),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(Refusal(StatusCode::CONFLICT, format!("there is a run {name} already")))
        }
        Err(error) => Err(disk("put the run in its place", &error)),
    }
}
