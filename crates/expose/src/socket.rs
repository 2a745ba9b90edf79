//! Sockets of both kinds, for a server.

use std::fmt::{self, Display};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, RenameFlags, renameat_with};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// The place of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket of this path.
    Unix(PathBuf),
    /// A host with a port, as in `localhost:10809`.
    Tcp(String),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("expected the path of a socket, or HOST:PORT".to_owned());
        }
        let port = text.rsplit_once(':').filter(|_| !text.contains('/')).map(|(_, port)| port);
        match port.map(str::parse::<u16>) {
            None => Ok(Self::Unix(text.into())),
            Some(Ok(_)) => Ok(Self::Tcp(text.to_owned())),
            Some(Err(_)) => Err("the port behind the colon is no number from 0 to 65535; \
                                 the path of a socket with a colon begins with ./"
                .to_owned()),
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => path.display().fmt(f),
            Self::Tcp(host) => host.fmt(f),
        }
    }
}

/// A socket that takes connections. The file of a Unix socket goes with it.
#[derive(Debug)]
pub enum Listener {
    /// At a path.
    Unix(UnixListener, SocketFile),
    /// At a port.
    Tcp(TcpListener),
}

/// The file of a Unix socket that this process created, removed on drop unless something else has
/// taken its path.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    thing: Option<Thing>,
}

/// Device and inode.
type Thing = (u64, u64);

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.thing.is_some() && socket_at(&self.path) == self.thing {
            // Nothing is lost by a file that stays: the next server replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The socket at a path, which is not followed if it is a link; `None` if there is none.
fn socket_at(path: &Path) -> Option<Thing> {
    let found = fs::symlink_metadata(path).ok()?;
    found.file_type().is_socket().then(|| (found.dev(), found.ino()))
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(listener, _) => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Listener {
    /// Listens at an address; other machines reach it only with `is_for_others`, and other users never reach a Unix
    /// socket.
    ///
    /// # Errors
    /// [`ErrorKind::AddrInUse`] if there is a server, or any other thing at the path of a Unix socket;
    /// [`ErrorKind::PermissionDenied`] for an address that other
    /// machines would reach, and those of the system.
    pub fn bind(address: &Address, is_for_others: bool) -> io::Result<Self> {
        let listener = match address {
            Address::Unix(path) => {
                let listener = bind_path(path)?;
                let thing = socket_at(path);
                Self::Unix(listener, SocketFile { path: path.clone(), thing })
            }
            Address::Tcp(host) => Self::Tcp(bind_host(host, is_for_others)?),
        };
        match &listener {
            Self::Unix(listener, _) => listener.set_nonblocking(true)?,
            Self::Tcp(listener) => listener.set_nonblocking(true)?,
        }
        Ok(listener)
    }

    /// The address, with the port that the system has chosen for port 0.
    pub fn address(&self) -> Address {
        match self {
            Self::Unix(_, file) => Address::Unix(file.path.clone()),
            Self::Tcp(listener) => {
                let address = listener.local_addr();
                Address::Tcp(address.map_or_else(|_| String::new(), |found| found.to_string()))
            }
        }
    }

    /// The next connection, or `None` if none comes within this time.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn accept(&self, within: Duration) -> io::Result<Option<Stream>> {
        if !is_ready(self, within)? {
            return Ok(None);
        }
        let stream = match self {
            Self::Unix(listener, _) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
            Self::Tcp(listener) => listener.accept().map(|(stream, _)| Stream::Tcp(stream)),
        };
        match stream {
            Ok(stream) => stream.prepare().map(Some),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether there is something to read or to accept, after waiting so long for it.
fn is_ready(file: &impl AsFd, within: Duration) -> io::Result<bool> {
    let time = Timespec::try_from(within).ok();
    match poll(&mut [PollFd::new(file, PollFlags::IN)], time.as_ref()) {
        Ok(0) | Err(Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(errno) => Err(errno.into()),
    }
}

/// A Unix socket for this user alone, in the place of one that a killed server has left.
fn bind_path(path: &Path) -> io::Result<UnixListener> {
    if let Some(dead) = socket_at(path).filter(|_| is_dead(path)) {
        remove_dead(path, dead)?;
    }
    // Set before the file exists: a change of its mode afterwards would come too late.
    let before = rustix::process::umask(Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(before);
    listener
}

/// Whether no socket of any type is bound to the file at a path. The kernel finds the socket of an
/// inode first, and only then compares the types: a datagram socket that connects is refused if
/// there is none, and gets another error if there is one of another type, listening or not.
fn is_dead(path: &Path) -> bool {
    let connected = UnixDatagram::unbound().and_then(|socket| socket.connect(path));
    connected.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// Removes a socket file that nobody is bound to. It gets another name first, so that a file that
/// takes its place meanwhile is not removed in its stead.
fn remove_dead(path: &Path, dead: Thing) -> io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.old", std::process::id()));
    let aside = PathBuf::from(aside);
    rename(path, &aside)?;
    if socket_at(&aside) == Some(dead) && is_dead(&aside) {
        return fs::remove_file(&aside);
    }
    rename(&aside, path)?;
    Err(ErrorKind::AddrInUse.into())
}

/// Gives a file another name that nothing has yet.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from)
}

fn bind_host(host: &str, is_for_others: bool) -> io::Result<TcpListener> {
    let addresses: Vec<SocketAddr> = host.to_socket_addrs()?.collect();
    if !is_for_others && addresses.iter().any(|address| !address.ip().is_loopback()) {
        let message = "other machines would reach this address, and there is no password here";
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    TcpListener::bind(&addresses[..])
}

/// A connection.
#[derive(Debug)]
pub enum Stream {
    /// Over a Unix socket.
    Unix(UnixStream),
    /// Over TCP.
    Tcp(TcpStream),
}

macro_rules! of_either {
    ($stream:expr, $inner:ident => $what:expr) => {
        match $stream {
            Stream::Unix($inner) => $what,
            Stream::Tcp($inner) => $what,
        }
    };
}

impl Stream {
    fn prepare(self) -> io::Result<Self> {
        of_either!(&self, stream => stream.set_nonblocking(false)?);
        if let Self::Tcp(stream) = &self {
            stream.set_nodelay(true)?;
        }
        Ok(self)
    }

    /// A second handle on the connection.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
        })
    }

    /// Address and port of this side, or `None` over a Unix socket.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(stream) => stream.local_addr().ok(),
        }
    }

    /// Limits the time that a read or a write may take; `None` for no limit.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn set_patience(&self, time: Option<Duration>) -> io::Result<()> {
        of_either!(self, stream => {
            stream.set_read_timeout(time)?;
            stream.set_write_timeout(time)
        })
    }

    /// Whether a read would not wait, after waiting so long for it.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn is_readable(&self, within: Duration) -> io::Result<bool> {
        of_either!(self, stream => is_ready(stream, within))
    }

    /// Sends as many of these bytes as the system takes at once; 0 if it takes none now.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match of_either!(self, stream => send(stream, bytes, flags)) {
            Ok(sent_bytes) => Ok(sent_bytes),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads what is there; 0 at the end of the stream.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if nothing is there, and errors of the system.
    pub fn receive_now(&self, bytes: &mut [u8]) -> io::Result<usize> {
        let received = of_either!(self, stream => recv(stream, bytes, RecvFlags::DONTWAIT));
        Ok(received?.0)
    }

    /// Ends the connection for both sides.
    pub fn end(&self) {
        // Whoever has gone already needs no word.
        let _ = of_either!(self, stream => stream.shutdown(Shutdown::Both));
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        of_either!(self, stream => stream.read(bytes))
    }
}

impl Read for &Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        of_either!(self, stream => { let mut stream = stream; stream.read(bytes) })
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        of_either!(self, stream => { let mut stream = stream; stream.write(bytes) })
    }

    fn flush(&mut self) -> io::Result<()> {
        of_either!(self, stream => { let mut stream = stream; stream.flush() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_address_is_a_path_or_a_host_with_a_port() {
        let parse = |text: &str| text.parse::<Address>();
        assert_eq!(parse("localhost:10809"), Ok(Address::Tcp("localhost:10809".into())));
        assert_eq!(parse("disk.sock"), Ok(Address::Unix("disk.sock".into())));
        assert_eq!(parse("./a:1"), Ok(Address::Unix("./a:1".into())));
        assert!(parse("disk:sock").is_err() && parse("").is_err() && parse("h:65536").is_err());
    }

    #[test]
    fn a_unix_socket_is_for_one_user_and_replaces_a_dead_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("s");
        let address = Address::Unix(path.clone());
        drop(UnixListener::bind(&path).expect("a socket that nobody serves"));
        let listener = Listener::bind(&address, false).expect("a free place");
        let mode = fs::metadata(&path).expect("the socket").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let slip = Listener::bind(&address, false).expect_err("it is in use");
        assert_eq!(slip.kind(), ErrorKind::AddrInUse);
        drop(listener);
        assert!(!path.exists());
        fs::write(&path, b"no socket").expect("a file");
        assert!(Listener::bind(&address, false).is_err() && path.exists());
    }

    /// Binds where there is a living socket or a file of somebody, which must stay what it is.
    fn keeps(path: &Path) {
        let before = fs::symlink_metadata(path).expect("a thing");
        let slip = Listener::bind(&Address::Unix(path.to_owned()), false);
        assert_eq!(slip.expect_err("it is somebody's").kind(), ErrorKind::AddrInUse);
        let after = fs::symlink_metadata(path).expect("the thing");
        assert_eq!((before.dev(), before.ino()), (after.dev(), after.ino()));
    }

    #[test]
    fn a_living_socket_of_any_type_stays() {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, socket};
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("s");
        for kind in [SocketType::STREAM, SocketType::DGRAM, SocketType::SEQPACKET] {
            let address = SocketAddrUnix::new(&path).expect("a short path");
            let other = socket(AddressFamily::UNIX, kind, None).expect("a socket");
            bind(&other, &address).expect("a free path");
            keeps(&path);
            drop(other);
            drop(Listener::bind(&Address::Unix(path.clone()), false).expect("it is dead"));
            assert!(!path.exists(), "{kind:?}");
        }
        let names = dir.path().read_dir().expect("entries").count();
        assert_eq!(names, 0, "nothing is left aside");
    }

    #[test]
    fn a_link_to_a_dead_socket_is_not_followed() {
        let dir = tempfile::tempdir().expect("a directory");
        let [dead, link] = ["dead", "link"].map(|name| dir.path().join(name));
        drop(UnixListener::bind(&dead).expect("a socket that nobody serves"));
        std::os::unix::fs::symlink(&dead, &link).expect("a link");
        keeps(&link);
        assert!(socket_at(&dead).is_some());
    }

    #[test]
    fn a_file_that_took_the_path_of_the_socket_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("s");
        let listener = Listener::bind(&Address::Unix(path.clone()), false).expect("a free place");
        fs::remove_file(&path).expect("the socket");
        fs::write(&path, "a thesis").expect("a file");
        drop(listener);
        assert_eq!(fs::read_to_string(&path).expect("the file"), "a thesis");
        fs::remove_file(&path).expect("the file");
        let first = Listener::bind(&Address::Unix(path.clone()), false).expect("a free place");
        fs::remove_file(&path).expect("the socket");
        let second = Listener::bind(&Address::Unix(path.clone()), false).expect("a free place");
        drop(first);
        assert!(path.exists(), "it is the socket of the second");
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn other_machines_are_let_in_only_on_request() {
        let anywhere = Address::Tcp("0.0.0.0:0".into());
        let slip = Listener::bind(&anywhere, false).expect_err("it is open to others");
        assert_eq!(slip.kind(), ErrorKind::PermissionDenied);
        assert!(Listener::bind(&anywhere, true).is_ok());
        let here = Listener::bind(&Address::Tcp("127.0.0.1:0".into()), false).expect("a port");
        assert_ne!(here.address().to_string(), "127.0.0.1:0");
    }
}
