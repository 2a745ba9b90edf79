//! Readers, uploads and followers of a running server.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{Running, TOKEN, UPLOAD_BYTES_MAX, add_run, agent, begun, names, run_named};
use flate2::read::ZlibDecoder;
use result::report::RunView;
use result::schema::RunStatus;
use result::store::{LiveLog, LiveSecond};
use serve::{PushError, Token, push};

fn library_of(runs: &[&str]) -> tempfile::TempDir {
    let library = tempfile::tempdir().unwrap();
    for run in runs {
        add_run(library.path(), run);
    }
    library
}

fn token() -> Token {
    Token::parse(TOKEN).unwrap()
}

/// The status that the server gives to these bytes of a request.
fn raw_status(server: &Running, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // The server may answer, and close, before it has all of it.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

fn upload_head(server: &Running, length: usize, token: &str) -> String {
    format!(
        "POST /runs HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: multipart/form-data; boundary=B\r\nContent-Length: {length}\r\n\r\n",
        server.address
    )
}

fn part(name: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
    [head.as_bytes(), content, b"\r\n"].concat()
}

fn upload(server: &Running, parts: &[(&str, &[u8])]) -> String {
    let parts: Vec<u8> = parts.iter().flat_map(|(name, content)| part(name, content)).collect();
    let body = [&parts[..], b"--B--\r\n"].concat();
    raw_status(server, &[upload_head(server, body.len(), TOKEN).as_bytes(), &body].concat())
}

fn files_of(dir: &Path) -> [Vec<u8>; 3] {
    ["run.json", "series.parquet", "latency.parquet"].map(|file| fs::read(dir.join(file)).unwrap())
}

fn upload_files(server: &Running, [run, series, latency]: &[Vec<u8>; 3]) -> String {
    upload(server, &[("run.json", run), ("series.parquet", series), ("latency.parquet", latency)])
}

#[test]
fn the_page_and_its_resources_have_the_headers_of_safety() {
    let library = library_of(&["run-1"]);
    let server = Running::start(library.path(), None);
    for path in ["/", "/library.json", "/runs/run-1.zz", "/nothing"] {
        let response = agent().get(format!("{}{path}", server.url)).call().unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.contains("connect-src 'self'; frame-ancestors 'none'"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff");
    }
    let rows = server.library();
    assert_eq!((&rows["title"], &rows["is_live"]), (&"Bench".into(), &true.into()));
    let (_, packed) = server.get("/runs/run-1.zz");
    let view: RunView = serde_json::from_reader(ZlibDecoder::new(&packed[..])).unwrap();
    assert_eq!((view.run_id.as_str(), view.series.iops.len()), ("run-1", 20));
    assert!(server.end().is_ok());
}

#[test]
fn an_unchanged_resource_is_not_sent_again() {
    let library = library_of(&["run-1"]);
    let server = Running::start(library.path(), None);
    for path in ["/library.json", "/runs/run-1.zz"] {
        let url = format!("{}{path}", server.url);
        let first = agent().get(&url).call().unwrap();
        let again = agent().get(&url).header("If-None-Match", &first.headers()["etag"]).call();
        assert_eq!(again.unwrap().status(), 304, "{path}");
    }
}

#[test]
fn no_path_leads_out_of_the_library() {
    let library = library_of(&["run-1"]);
    fs::write(library.path().join("secret"), "secret").unwrap();
    let server = Running::start(library.path(), None);
    for path in [
        "/runs/secret",
        "/runs/..%2Fsecret.zz",
        "/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd.zz",
        "/runs/../secret",
        "/runs/run-1%00.zz",
        "/live/..%2F..",
        "/live/.",
        "/live/none",
        "/index.sqlite",
        "//etc/passwd",
    ] {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let status = raw_status(&server, request.as_bytes());
        let is_refused = ["404", "400"].iter().any(|code| status.contains(code));
        // A stream of events begins with 200 and tells the fault in its only event.
        assert!(is_refused || (path == "/live/none" && status.contains("200")), "{path}: {status}");
    }
}

/// The code of the answer to a request with this first line and these lines of a head.
fn code(server: &Running, line: &str, head: &[&[u8]]) -> String {
    let mut request = format!("{line}\r\n").into_bytes();
    for line in head {
        request.extend([line, &b"\r\n"[..]].concat());
    }
    request.extend(b"Connection: close\r\n\r\n");
    let status = raw_status(server, &request);
    status.split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn a_name_of_another_site_gets_no_answer() {
    let library = library_of(&["run-1"]);
    let server = Running::start(library.path(), None);
    let get = "GET / HTTP/1.1";
    for host in [
        "localhost:1",
        "localhost",
        "LOCALHOST:8080",
        "localhost.",
        "127.0.0.1",
        "127.8.8.8:9",
        "[::1]:80",
    ] {
        assert_eq!(code(&server, get, &[format!("Host: {host}").as_bytes()]), "200", "{host}");
    }
    for host in [
        "evil.example",
        "",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "local_host",
        "xn--lcalhost-q4a",
        "evil.localhost",
        "[::2]",
        "[::ffff:127.0.0.1]",
        "127.0.0.1.evil.example:80",
    ] {
        assert_eq!(code(&server, get, &[format!("Host: {host}").as_bytes()]), "421", "{host}");
    }
    for host in [
        &b"Host: localhost:0"[..],
        b"Host: localhost:99999",
        b"Host: a@localhost",
        b"Host: [::1",
        b"Host: localhost, evil.example",
        b"Host: localhost/",
        b"Host: l\xc3\xb6calhost",
        b"Host: \xff",
    ] {
        let shown = String::from_utf8_lossy(host).into_owned();
        assert_eq!(code(&server, get, &[host]), "400", "{shown}");
    }
    // None, and two, also two that are equal.
    assert_eq!(code(&server, get, &[]), "400");
    for second in ["evil.example", "localhost"] {
        let second = format!("host: {second}");
        assert_eq!(code(&server, get, &[b"Host: localhost", second.as_bytes()]), "400", "{second}");
    }
    assert_eq!(code(&server, "GET / HTTP/1.0", &[]), "400");
    assert!(server.end().is_ok());
}

/// The address of a proxy's request counts before `Host`, so both must be of this machine.
#[test]
fn an_absolute_address_leads_to_this_machine_only() {
    let library = library_of(&["run-1"]);
    let server = Running::start(library.path(), None);
    for (address, host, want) in [
        ("http://localhost/library.json", "localhost", "200"),
        ("http://127.0.0.1:80/", "localhost", "200"),
        ("http://evil.example/library.json", "localhost", "421"),
        ("http://localhost/library.json", "evil.example", "421"),
        ("http://localhost@evil.example/", "localhost", "400"),
        ("http://localhost:0/", "localhost", "400"),
    ] {
        let line = format!("GET {address} HTTP/1.1");
        let host = format!("Host: {host}");
        assert_eq!(code(&server, &line, &[host.as_bytes()]), want, "{line} {host}");
    }
    for line in
        ["CONNECT evil.example:80 HTTP/1.1", "OPTIONS * HTTP/1.1", "GET //evil.example/ HTTP/1.1"]
    {
        let code = code(&server, line, &[b"Host: localhost"]);
        assert!(code.starts_with('4'), "{line}: {code}");
    }
}

/// A reader gets its answer though more silent connections than the server takes came before it. The
/// bound is far above the patience of the server with each.
#[test]
fn silent_connections_give_way_to_readers() {
    let library = library_of(&["run-1"]);
    let server = Running::start(library.path(), None);
    let silent: Vec<_> =
        (0..600).map(|_| TcpStream::connect(server.address).expect("room in the queue")).collect();
    for mut half in silent.iter().step_by(3) {
        half.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").expect("a half of a head");
    }
    let begin = Instant::now();
    let status = loop {
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        let status = raw_status(&server, request);
        if status.contains("200") || begin.elapsed() > Duration::from_secs(120) {
            break status;
        }
    };
    assert!(status.contains("200"), "{status}");
    // And none of them stays open.
    for mut stream in silent {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let end = stream.read_to_end(&mut Vec::new());
        let kind = end.as_ref().err().map(std::io::Error::kind);
        let is_open =
            matches!(kind, Some(std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut));
        assert!(!is_open, "{end:?}");
    }
    assert!(server.end().is_ok());
}

#[test]
fn a_pushed_run_is_there_once() {
    let (here, there) = (library_of(&["run-1"]), library_of(&[]));
    let server = Running::start(there.path(), Some(TOKEN));
    let run = here.path().join("run-1");
    assert_eq!(push(&server.url, &token(), &run).unwrap(), "run-1");
    assert_eq!(files_of(&run), files_of(&there.path().join("run-1")));
    assert_eq!(server.library()["runs"][0]["name"], "run-1");
    let error = push(&server.url, &token(), &run).unwrap_err();
    assert!(matches!(error, PushError::Refused { status: 409, .. }), "{error}");
    assert_eq!(names(there.path()), ["run-1"]);
}

#[test]
fn strangers_and_closed_servers_take_nothing() {
    let (here, there) = (library_of(&["run-1"]), library_of(&[]));
    let run = here.path().join("run-1");
    let closed = Running::start(there.path(), None);
    let error = push(&closed.url, &token(), &run).unwrap_err();
    assert!(matches!(error, PushError::Refused { status: 403, .. }), "{error}");
    let server = Running::start(there.path(), Some(TOKEN));
    let wrong = Token::parse("0123456789abcdefXYz").unwrap();
    let error = push(&server.url, &wrong, &run).unwrap_err();
    assert!(matches!(error, PushError::Refused { status: 401, .. }), "{error}");
    // Without the secret, no byte of the body is waited for.
    let head = upload_head(&server, 1 << 20, "wrong");
    assert!(raw_status(&server, head.as_bytes()).contains("401"));
    assert!(names(there.path()).is_empty());
}

#[test]
fn broken_and_hostile_uploads_leave_nothing_behind() {
    let (here, there) = (library_of(&["run-1"]), library_of(&[]));
    let server = Running::start(there.path(), Some(TOKEN));
    let files = files_of(&here.path().join("run-1"));
    let [run, series, latency] = &files;
    let mut flipped = files.clone();
    flipped[1][40] ^= 1;
    let named = |name: &str| {
        let mut json: serde_json::Value = serde_json::from_slice(run).unwrap();
        json.as_object_mut().unwrap().remove("checksums");
        json["run_id"] = name.into();
        [json.to_string().into_bytes(), series.clone(), latency.clone()]
    };
    for (status, code) in [
        (upload_files(&server, &flipped), "422"),
        (upload_files(&server, &named("../escaped")), "422"),
        (upload_files(&server, &named("/tmp/escaped")), "422"),
        (upload_files(&server, &named("")), "422"),
        (upload_files(&server, &named("index.sqlite-journal")), "422"),
        (upload_files(&server, &named("index.sqlite-wal")), "422"),
        (upload_files(&server, &named("latest")), "422"),
        (upload_files(&server, &named("facts")), "422"),
        (upload_files(&server, &named("-rf")), "422"),
        (upload_files(&server, &named("..")), "422"),
        (upload_files(&server, &named("a\u{1b}[2Jb")), "422"),
        (upload_files(&server, &named(&"x".repeat(300))), "422"),
        (upload_files(&server, &[b"{".to_vec(), series.clone(), latency.clone()]), "422"),
        (upload(&server, &[("run.json", run), ("series.parquet", series)]), "400"),
        (upload(&server, &[("run.json", run), ("run.json", run)]), "400"),
        (upload(&server, &[("../run.json", run)]), "400"),
        (upload(&server, &[("a.txt", b"hello")]), "400"),
    ] {
        assert!(status.contains(code), "{status}, expected {code}");
    }
    cut_off(&server, &upload_head(&server, 500, TOKEN));
    cut_off(
        &server,
        &(upload_head(&server, 5000, TOKEN)
            + "--B\r\nContent-Disposition: form-data; name=\"run.json\"\r\n\r\nabc"),
    );
    wait_until_empty(there.path());
    assert!(upload_files(&server, &files).contains("201"));
}

/// Sends a part of a request, and goes.
fn cut_off(server: &Running, request: &str) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
}

/// Waits until the server has noticed that nothing more comes.
fn wait_until_empty(library: &Path) {
    let begin = Instant::now();
    while !names(library).is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", names(library));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_huge_upload_is_refused_before_it_fills_the_disk() {
    let there = library_of(&[]);
    let server = Running::start(there.path(), Some(TOKEN));
    let head = upload_head(&server, usize::MAX / 4, TOKEN);
    assert!(raw_status(&server, head.as_bytes()).contains("413"));
    // One that does not say its length is cut.
    let piece = "x".repeat(1 << 16);
    let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
    let field = "--B\r\nContent-Disposition: form-data; name=\"run.json\"\r\n\r\n";
    let length = format!("Content-Length: {}", 0);
    let head = upload_head(&server, 0, TOKEN).replace(&length, "Transfer-Encoding: chunked");
    let begin = format!("{head}{:x}\r\n{field}\r\n", field.len());
    let body = chunk.repeat(UPLOAD_BYTES_MAX / piece.len() + 1);
    let status = raw_status(&server, (begin + &body + "0\r\n\r\n").as_bytes());
    assert!(status.contains("413"), "{status}");
    wait_until_empty(there.path());
}

#[test]
fn fifty_readers_and_an_upload_at_once() {
    let runs: Vec<String> = (0..20).map(|run| format!("run-{run:02}")).collect();
    let there = library_of(&runs.iter().map(String::as_str).collect::<Vec<_>>());
    let here = library_of(&["new"]);
    let server = Running::start(there.path(), Some(TOKEN));
    std::thread::scope(|scope| {
        for reader in 0..50 {
            let (server, runs) = (&server, &runs);
            scope.spawn(move || {
                for turn in 0..4 {
                    assert!(server.library()["runs"].as_array().unwrap().len() >= runs.len());
                    let run = &runs[(reader + turn) % runs.len()];
                    assert_eq!(server.get(&format!("/runs/{run}.zz")).0, 200);
                }
            });
        }
        scope.spawn(|| push(&server.url, &token(), &here.path().join("new")).unwrap());
    });
    assert_eq!(server.library()["runs"].as_array().unwrap().len(), 21);
}

/// The next event of a stream: its name and its data.
fn next_event(lines: &mut impl Iterator<Item = String>) -> (String, serde_json::Value) {
    let mut name = String::new();
    for line in lines {
        if let Some(event) = line.strip_prefix("event: ") {
            event.clone_into(&mut name);
        }
        if let Some(data) = line.strip_prefix("data: ") {
            return (name, serde_json::from_str(data).unwrap());
        }
    }
    panic!("the stream ended");
}

#[test]
fn a_run_in_progress_is_followed_to_its_end() {
    let library = library_of(&[]);
    let mut run = run_named("live");
    let mut writer = begun(library.path(), &mut run, 5);
    let server = Running::start(library.path(), None);
    assert_eq!(server.library()["runs"][0]["status"], "running");
    let response = agent().get(format!("{}/live/live", server.url)).call().unwrap();
    let reader = BufReader::new(response.into_body().into_reader());
    let mut lines = reader.lines().map_while(Result::ok);
    let (name, state) = next_event(&mut lines);
    assert_eq!((name.as_str(), &state["status"]), ("state", &"running".into()));
    assert_eq!(state["planned"][0]["name"], format!("next of {}", run.test));
    assert_eq!(state["planned"][0]["duration_ns"], 9_000_000_000_u64);
    let (name, rows) = next_event(&mut lines);
    assert_eq!((name.as_str(), rows["iops"].as_array().unwrap().len()), ("phase", 5));
    let mut log = LiveLog::create(writer.path()).unwrap();
    let second =
        LiveSecond { phase: "next".to_owned(), second: 0, iops: 12.5, latency_ns_p99: Some(7) };
    log.add(&second).unwrap();
    let (name, seconds) = next_event(&mut lines);
    assert_eq!((name.as_str(), &seconds[0]["iops"]), ("seconds", &12.5.into()));
    run.status = RunStatus::Complete;
    writer.finish(&run).unwrap();
    assert_eq!(next_event(&mut lines).1["status"], "complete");
    assert_eq!(next_event(&mut lines).0, "end");
    assert!(lines.next().is_none_or(|line| line.is_empty()));
    assert!(server.end().is_ok());
}
