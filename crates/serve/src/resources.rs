//! The page and its static resources.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use result::bench::PACKED_SUFFIX;
use tokio::task::spawn_blocking;

use crate::ServeError;
use crate::bench::LibraryBench;
use crate::state::Server;

/// The answer to a request that failed: a status and a sentence.
pub(crate) struct Refusal(pub(crate) StatusCode, pub(crate) String);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(status, message) = self;
        let kind = [(header::CONTENT_TYPE, "application/json")];
        (status, kind, serde_json::json!({ "error": message }).to_string()).into_response()
    }
}

impl From<ServeError> for Refusal {
    fn from(error: ServeError) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }
}

impl Refusal {
    pub(crate) fn no_run() -> Self {
        Self(StatusCode::NOT_FOUND, "there is no such run".to_owned())
    }
}

/// `/`: the app.
pub(crate) async fn page(State(server): State<Arc<Server>>) -> Html<String> {
    Html(server.page.clone())
}

/// `/library.json`: a row for each run.
pub(crate) async fn library(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let document = on_disk(&server, LibraryBench::document).await?;
    // Another server at this address counts from the beginning as well.
    let mark = format!("{}-{}", server.started, document.mark);
    if is_known(&headers, &mark) {
        return Ok(unchanged(&mark));
    }
    Ok(resource("application/json", &mark, document.content.clone()))
}

/// `/runs/<name>.zz`: one run, packed.
pub(crate) async fn run(
    State(server): State<Arc<Server>>,
    Path(file): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let name = file.strip_suffix(PACKED_SUFFIX).ok_or_else(Refusal::no_run)?.to_owned();
    let packed = on_disk(&server, move |bench| bench.packed(&name)).await?;
    let packed = packed.ok_or_else(Refusal::no_run)?;
    let mark: String = packed.stamp.chars().filter(char::is_ascii_digit).collect();
    if is_known(&headers, &mark) {
        return Ok(unchanged(&mark));
    }
    Ok(resource("application/zlib", &mark, packed.content))
}

/// Work on the library, on a thread that may wait for the disk.
pub(crate) async fn on_disk<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce(&LibraryBench) -> Result<T, ServeError> + Send + 'static,
) -> Result<T, Refusal> {
    let server = Arc::clone(server);
    match spawn_blocking(move || work(&server.bench)).await {
        Ok(done) => Ok(done?),
        Err(_) => {
            let words = "the server failed at this request".to_owned();
            Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, words))
        }
    }
}

fn quoted(mark: &str) -> String {
    format!("\"{mark}\"")
}

/// Whether the browser has this state of a resource.
fn is_known(headers: &HeaderMap, mark: &str) -> bool {
    headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| known.as_bytes() == quoted(mark).as_bytes())
}

fn unchanged(mark: &str) -> Response {
    (StatusCode::NOT_MODIFIED, [(header::ETAG, quoted(mark))]).into_response()
}

fn resource(kind: &'static str, mark: &str, content: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, [(header::ETAG, quoted(mark))], content).into_response()
}
