//! A server of NBD or NVMe/TCP: takes connections, a thread for each, and bounds their number.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use thiserror::Error;

use crate::connection;
use crate::nbd::{Export, NbdError};
use crate::nvme::{QueueError, Subsystem, queue};
use crate::shared::{SharedDisk, locked};
use crate::socket::{Address, Listener, Stream};

/// Time between two looks at the stop button.
const LOOK: Duration = Duration::from_millis(50);

/// An error of a server before it serves.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The system or the rules refuse the address.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        address: Address,
        /// The reason.
        source: io::Error,
    },
}

/// The clients of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clients {
    /// Connections served.
    pub served: u64,
    /// Connections turned away because there were too many.
    pub turned_away: u64,
    /// Connections that ended with an error, other than those that the client just dropped.
    pub broken: u64,
    /// The error of the last of these, or `None` if there was none.
    pub last_error: Option<String>,
}

impl Clients {
    /// The clients of both servers.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            served: self.served + other.served,
            turned_away: self.turned_away + other.turned_away,
            broken: self.broken + other.broken,
            last_error: other.last_error.or(self.last_error),
        }
    }
}

/// The protocol of a server.
#[derive(Debug)]
pub enum Service {
    /// A disk.
    Nbd(Export),
    /// An NVMe drive.
    Nvme(Arc<Subsystem>),
}

/// An error of a connection.
#[derive(Debug, Error)]
enum ConnectionError {
    #[error(transparent)]
    Nbd(#[from] NbdError),
    #[error(transparent)]
    Nvme(#[from] QueueError),
}

/// A server at its address.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    service: Service,
    shared: Arc<SharedDisk>,
    connections_max: usize,
    open: Mutex<BTreeMap<u64, Stream>>,
    clients: Mutex<Clients>,
}

impl Server {
    /// Listens, and serves nobody yet.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn bind(
        address: &Address,
        is_for_others: bool,
        connections_max: usize,
        service: Service,
        shared: Arc<SharedDisk>,
    ) -> Result<Self, ServerError> {
        let listener = Listener::bind(address, is_for_others)
            .map_err(|source| ServerError::Bind { address: address.clone(), source })?;
        Ok(Self {
            listener,
            service,
            shared,
            connections_max,
            open: Mutex::default(),
            clients: Mutex::default(),
        })
    }

    pub fn address(&self) -> Address {
        self.listener.address()
    }

    /// Serves until `stop` is set, then ends all connections. Returns an account of the clients.
    pub fn run(self, stop: &AtomicBool) -> Clients {
        thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                match self.listener.accept(LOOK) {
                    Ok(Some(stream)) => self.welcome(scope, stream),
                    Ok(None) => {}
                    // Too many files are open, or a client left before it was accepted.
                    Err(_) => thread::sleep(LOOK),
                }
            }
            locked(&self.open).values().for_each(Stream::end);
        });
        self.clients.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn welcome<'scope>(&'scope self, scope: &'scope thread::Scope<'scope, '_>, stream: Stream) {
        let mut open = locked(&self.open);
        let mut clients = locked(&self.clients);
        let number = clients.served;
        let second = if open.len() < self.connections_max { stream.try_clone().ok() } else { None };
        let Some(second) = second else {
            clients.turned_away += 1;
            return;
        };
        clients.served += 1;
        open.insert(number, second);
        let client = thread::Builder::new().name(format!("client {number}"));
        if client.spawn_scoped(scope, move || self.serve(number, stream)).is_err() {
            open.remove(&number);
            (clients.served, clients.turned_away) = (number, clients.turned_away + 1);
        }
    }

    fn serve(&self, number: u64, mut stream: Stream) {
        let end = match &self.service {
            Service::Nbd(export) => {
                let is_read_only = self.shared.with(|disk| disk.faults.is_read_only);
                let export = Export { is_read_only, ..export.clone() };
                connection::serve(&mut stream, &export, &self.shared).map_err(Into::into)
            }
            Service::Nvme(subsystem) => queue::serve(&stream, subsystem).map_err(Into::into),
        };
        locked(&self.open).remove(&number);
        if let Err(error) = end
            && !is_gone(&error)
        {
            self.note(&error);
        }
    }

    fn note(&self, error: &ConnectionError) {
        let mut clients = locked(&self.clients);
        clients.broken += 1;
        clients.last_error = Some(error.to_string());
    }
}

/// Whether the client has just gone away, which is no fault.
fn is_gone(error: &ConnectionError) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let (ConnectionError::Nbd(NbdError::Io(error)) | ConnectionError::Nvme(QueueError::Io(error))) =
        error
    else {
        return false;
    };
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
