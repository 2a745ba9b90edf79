//! `serve`, `site` and `push`: from a run to a browser, and the refusals on the way.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::lab::{Answer, Lab, PAGE};

const RUN: [&str; 3] = ["sim:sandisk-extreme-ii-480gb?scale=1/256", "--set", "duration=3s"];

fn lab() -> Lab {
    let lab = Lab::new();
    fs::write(lab.path("page.html"), PAGE).expect("room for a page");
    fs::write(lab.path("token"), "0123456789abcdef\n").expect("room for a token");
    fs::set_permissions(lab.path("token"), fs::Permissions::from_mode(0o600)).expect("a mode");
    lab
}

/// A server, ended by force unless the test ends it.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(lab: &Lab, library: &str) -> Self {
        let args = [
            "library",
            "serve",
            "--library",
            library,
            "--listen",
            "127.0.0.1:0",
            "--web",
            "page.html",
        ];
        let mut command = lab.command(&args);
        command.args(["--token-file", "token"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut url).expect("a line");
        Self { child, url: url.trim().to_owned() }
    }

    fn get(&self, path: &str) -> String {
        let address = self.url.strip_prefix("http://").expect("an address");
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Ctrl-C, and the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().expect("it runs");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_run_is_pushed_read_and_written_as_a_site() {
    let lab = lab();
    let run = lab.run(&RUN).remove(0);
    let name = run.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    assert!(!run.join(".live.tmp").exists(), "the notice goes with its writer");
    fs::create_dir(lab.path("shared")).expect("a library");
    let server = Server::start(&lab, "shared");
    let push =
        ["library", "push", &server.url, &name, "--token-file", "token", "--library", "runs"];
    let first = Answer::of(&mut lab.command(&push));
    first.must_exit_with(0);
    assert_eq!(first.stdout.trim(), name);
    let again = Answer::of(&mut lab.command(&push));
    again.must_exit_with(4);
    assert!(again.stderr.contains("409"), "{again:#?}");
    assert!(server.get("/library.json").contains(&name));
    assert!(server.get("/").contains("id=\"ssdlab-data\">library</script>"));
    assert_eq!(server.interrupt(), Some(0));
    for name in ["public", "again"] {
        let place = ["library", "site", name, "--library", "shared"];
        let form = ["--web", "page.html", "--format", "json"];
        for _ in 0..2 {
            let answer = Answer::of(lab.command(&place).args(form));
            answer.must_exit_with(0);
            assert_eq!(answer.document()["runs"], 1);
        }
    }
    for file in ["index.html", "library.json", &format!("runs/{name}.zz")] {
        let bytes = |site| fs::read(lab.path(site).join(file)).expect("a file of the site");
        assert_eq!(bytes("public"), bytes("again"), "{file}");
    }
}

#[test]
fn a_server_says_what_it_cannot_do() {
    let lab = lab();
    fs::create_dir(lab.path("shared")).expect("a library");
    fs::write(lab.path("shared/notes"), "").expect("room for a file");
    fs::write(lab.path("open"), "0123456789abcdef\n").expect("room for a token");
    fs::set_permissions(lab.path("open"), fs::Permissions::from_mode(0o644)).expect("a mode");
    let page = ["--web", "page.html", "--library", "shared"];
    for (args, words) in [
        (&["library", "serve", "--listen", "0.0.0.0:0"][..], "`--public` permits it"),
        (&["library", "serve", "--listen", "0.0.0.0:0", "--public"], "`--read-only` for nobody"),
        (&["library", "serve", "--token-file", "open"], "chmod 600"),
        (&["library", "serve", "--token-file", "none"], "cannot be read"),
        (&["library", "serve", "--library", "no-library"], "there is no library"),
        (&["library", "site", "page.html"], "it is no directory"),
    ] {
        let more = if args.contains(&"no-library") { &page[..2] } else { &page[..] };
        let answer = Answer::of(&mut lab.command(&[args, more].concat()));
        answer.must_exit_with(2);
        assert!(answer.stderr.contains(words), "{answer:#?}");
    }
    lab.run(&RUN);
    for (url, words) in
        [("http://lab.example", "not encrypted"), ("lab.example", "no address"), ("", "no address")]
    {
        let push = ["library", "push", url, "latest", "--token-file", "token", "--library", "runs"];
        let answer = Answer::of(&mut lab.command(&push));
        answer.must_exit_with(2);
        assert!(answer.stderr.contains(words), "{answer:#?}");
    }
}
