//! Headers of every answer, and requests that are not meant for this server.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Rules for requests and answers.
#[derive(Debug)]
pub(crate) struct Guard {
    policy: HeaderValue,
    /// Whether only names of this machine may stand in `Host`: a hostile page elsewhere could have
    /// its own name lead to this address, and read the library through its visitor.
    is_local: bool,
}

impl Guard {
    /// The rules for a server at this address, whose page has this content security policy; or
    /// `None` if the policy cannot stand in a header.
    pub(crate) fn new(policy: &str, address: SocketAddr) -> Option<Self> {
        let policy = format!("{policy}; frame-ancestors 'none'").parse().ok()?;
        Some(Self { policy, is_local: address.ip().is_loopback() })
    }

    /// The refusal of a request that is not meant for this server, or `None` if it is. The name in an
    /// absolute address counts as well as that in `Host`, and there is one `Host`.
    fn refusal(&self, request: &Request) -> Option<(StatusCode, &'static str)> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Some((StatusCode::BAD_REQUEST, "a request has one Host\n"));
        };
        let in_address = request.uri().authority().map(|authority| authority.as_str().as_bytes());
        let mut names = [Some(host.as_bytes()), in_address].into_iter().flatten();
        let Some(names) = names.try_fold(Vec::new(), |mut names, text| {
            names.push(name(text)?);
            Some(names)
        }) else {
            return Some((StatusCode::BAD_REQUEST, "this Host is no name or address\n"));
        };
        let words = "this server answers to localhost and 127.0.0.1 only\n";
        let is_meant = !self.is_local || names.into_iter().all(is_this_machine);
        (!is_meant).then_some((StatusCode::MISDIRECTED_REQUEST, words))
    }
}

/// The name or address in a `Host`, without its port; empty if it names nothing. `None` if it is
/// malformed.
fn name(host: &[u8]) -> Option<&str> {
    let host = std::str::from_utf8(host).ok()?;
    let end = match host.strip_prefix('[') {
        Some(v6) => v6.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end);
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| {
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && (digits.is_empty() || digits.parse::<u16>().is_ok_and(|port| port > 0))
        });
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~' | b'%');
    let is_name = match name.strip_prefix('[').and_then(|v6| v6.strip_suffix(']')) {
        Some(v6) => v6.parse::<Ipv6Addr>().is_ok(),
        None => name.bytes().all(is_plain),
    };
    (is_port && is_name).then_some(name)
}

/// Whether a name cannot be one that somebody else lets lead here.
fn is_this_machine(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || name == "[::1]"
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses requests for other servers, and adds the headers of safety to every answer.
pub(crate) async fn watch(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.refusal(&request) {
        None => next.run(request).await,
        Some(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, guard.policy.clone());
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

const FIXED: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_local() {
        let local = |host: &str| name(host.as_bytes()).map(is_this_machine);
        for host in [
            "localhost",
            "localhost:8080",
            "LocalHost",
            "localhost.",
            "localhost.:80",
            "localhost:",
            "127.0.0.1:1",
            "127.0.0.1",
            "127.9.8.7",
            "[::1]:80",
            "[::1]",
        ] {
            assert_eq!(local(host), Some(true), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.localhost",
            "notlocalhost",
            "local_host",
            "xn--lcalhost-q4a",
            "localhost..",
            "localhost%2eevil.example",
            "0.0.0.0",
            "0",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "0177.0.0.1",
            "127.0.0.01",
            "[::2]:1",
            "[::]",
            "[::ffff:127.0.0.1]",
            "192.168.0.1",
        ] {
            assert_eq!(local(host), Some(false), "{host}");
        }
        for host in [
            "localhost:0",
            "localhost:65536",
            "localhost:8o",
            "localhost:80:80",
            "localhost:-1",
            "localhost:+80",
            "localhost@evil.example",
            "evil@localhost",
            "localhost/",
            "localhost ",
            "localhost,evil.example",
            "[::1",
            "::1",
            "[::1]x",
            "[::1%lo]",
            "[127.0.0.1]",
            "[]",
            "[localhost]",
            "lo\tcalhost",
            "löcalhost",
            "http://localhost",
        ] {
            assert_eq!(local(host), None, "{host}");
        }
    }
}
