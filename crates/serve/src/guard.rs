//! Headers of every answer, and requests that are not meant for this server.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
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

    fn lets_in(&self, headers: &HeaderMap) -> bool {
        !self.is_local || headers.get(header::HOST).is_some_and(is_this_machine)
    }
}

fn is_this_machine(host: &HeaderValue) -> bool {
    let host = host.to_str().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next(),
        None => host.split(':').next(),
    };
    matches!(name, Some("localhost" | "::1")) || name.is_some_and(is_loopback)
}

fn is_loopback(name: &str) -> bool {
    name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses requests for other servers, and adds the headers of safety to every answer.
pub(crate) async fn watch(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = if guard.lets_in(request.headers()) {
        next.run(request).await
    } else {
        let words = "this server answers to localhost and 127.0.0.1 only\n";
        (StatusCode::MISDIRECTED_REQUEST, words).into_response()
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
        let local = |host: &str| is_this_machine(&HeaderValue::from_str(host).unwrap());
        for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:80", "[::1]"] {
            assert!(local(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::2]:1",
        ] {
            assert!(!local(host), "{host}");
        }
    }
}
