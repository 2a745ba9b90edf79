//! Connections: no more than the descriptors of the process permit, and none that waits for ever.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};

/// Most connections at a time. Others wait in the queue of the system until one ends.
const CONNECTIONS_MAX: usize = 512;
/// Time for the head of a request, also for the first byte of the next one on a connection.
const HEAD: Duration = Duration::from_secs(5);
/// Time in which a reader of an answer takes some of it.
const PROGRESS: Duration = Duration::from_secs(30);
/// Time until the next attempt if the system gives no connection, as for lack of descriptors.
const AGAIN: Duration = Duration::from_millis(100);

/// Serves connections until `stopped` says so, and then until the last answer has ended.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    let free = Arc::new(Semaphore::new(connections_max()));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let permit = Arc::clone(&free).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            next = next => next,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let (router, stopped) = (router.clone(), stopped.clone());
                connections.spawn(async move {
                    let _permit = permit;
                    answer(stream, router, stopped).await;
                });
            }
            Err(_) => sleep(AGAIN).await,
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Half of the descriptors, so that files and the index have the rest.
fn connections_max() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(descriptors / 2).unwrap_or(CONNECTIONS_MAX).clamp(4, CONNECTIONS_MAX)
}

/// Answers the requests of a connection, one after the other.
async fn answer(stream: TcpStream, router: Router, mut stopped: watch::Receiver<bool>) {
    let stream = TokioIo::new(Stream { tcp: stream, stall: None });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let mut connection = pin!(builder.serve_connection(stream, TowerToHyperService::new(router)));
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// A connection whose reader must take something of an answer in time.
struct Stream {
    tcp: TcpStream,
    /// The end of the patience with the reader, or `None` while it takes what comes.
    stall: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    fn progress<T>(
        &mut self,
        context: &mut Context<'_>,
        done: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.stall = None;
            return done;
        }
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(PROGRESS)));
        ready!(stall.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write(context, bytes);
        self.progress(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write_vectored(context, bytes);
        self.progress(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
