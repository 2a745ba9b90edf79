//! The server: addresses of the resources, start and end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use result::store::dir::sweep;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::bench::LibraryBench;
use crate::guard::{self, Guard};
use crate::index::IndexChanges;
use crate::state::{Config, Server};
use crate::{ServeError, connections, live, resources, upload};

/// Least time until a request to stop is seen.
const STOP_EVERY: Duration = Duration::from_millis(50);
/// Time for answers in progress after a request to stop.
const FAREWELL: Duration = Duration::from_secs(3);

/// Serves a library until `stop` is set. `ready` gets the address and the work on the index.
///
/// # Errors
/// If the library cannot be read, or the address cannot be used.
pub fn serve(
    config: Config,
    stop: &Arc<AtomicBool>,
    ready: impl FnOnce(SocketAddr, IndexChanges),
) -> Result<(), ServeError> {
    let (bench, refreshed) = LibraryBench::open(&config.library, &config.title)?;
    sweep(&config.library);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(ServeError::Server)?.block_on(async {
        let unusable = |source| ServeError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let guard = Guard::new(&config.page.policy, address)
            .ok_or_else(|| ServeError::Server(std::io::ErrorKind::InvalidData.into()))?;
        let server = Arc::new(Server::new(config, bench, stop));
        ready(address, refreshed);
        let (tell, stopped) = watch::channel(false);
        tokio::select! {
            () = connections::serve(listener, router(server, guard), stopped) => {}
            () = farewell(stop, &tell) => {}
        }
        Ok(())
    })
}

fn router(server: Arc<Server>, guard: Guard) -> Router {
    Router::new()
        .route("/", get(resources::page))
        .route("/index.html", get(resources::page))
        .route("/library.json", get(resources::library))
        .route("/runs/{file}", get(resources::run))
        .route("/live/{name}", get(live::follow))
        .route("/runs", post(upload::receive))
        .layer(DefaultBodyLimit::max(server.upload_bytes_max))
        .layer(from_fn_with_state(Arc::new(guard), guard::watch))
        .with_state(server)
}

/// Waits until the user asks for the end, tells it, and leaves time for answers in progress.
async fn farewell(stop: &AtomicBool, tell: &watch::Sender<bool>) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_EVERY).await;
    }
    tell.send_replace(true);
    tokio::time::sleep(FAREWELL).await;
}
