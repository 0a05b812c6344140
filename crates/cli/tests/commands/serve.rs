//! `recount serve`: the same documents as `--json`, and a clean end.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a server that cannot be asked must fail the test"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use recount_testkit::Home;

use crate::home;

/// A server, ended when dropped.
struct Served {
    child: Child,
    port: u16,
    token: String,
}

impl Served {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let words = ["serve", "--port", "0"].iter().chain(arguments);
        let mut child = home.command(words).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().split_once("/#k=").unwrap();
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Self { child, port, token: token.to_owned() }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let head = format!(
            "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.port, self.token
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 OK"), "{path}: {answer}");
        body.to_owned()
    }

    /// Sends a signal and returns the exit code.
    fn end(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// A home with sessions of several agents.
fn full() -> Home {
    let home = home([]);
    home.run(["testbed", "--demo", "made"]);
    home
}

#[test]
fn documents_are_the_bytes_of_json() {
    let home = full();
    let served = Served::start(&home, &["--home", "made"]);
    let id = "279d2ba9-0068-4d11-b127-fab536451cda";
    let show = format!("/api/show/gemini/{id}");
    let pairs: &[(&str, &[&str])] = &[
        ("/api/list", &["list", "--all"]),
        ("/api/list?project=shop&since=2026-01-01", &["list", "shop", "--since", "2026-01-01"]),
        ("/api/list?sort=cost&limit=3", &["list", "--all", "--sort", "cost", "--limit", "3"]),
        (
            "/api/list?kind=main,subagent&text=discount",
            &["list", "--all", "--kind", "main,subagent", "--text", "discount"],
        ),
        ("/api/lost", &["list", "--lost"]),
        (&show, &["show", id]),
        ("/api/show/gemini/279d2ba9?view=strict", &["show", id, "--view", "strict"]),
        ("/api/search?q=discount&limit=5", &["search", "discount", "-n", "5"]),
        (
            "/api/search?q=discount&context=1&sort=time&all-hits=1",
            &["search", "discount", "-C", "1", "--sort", "time", "--all-hits"],
        ),
        ("/api/projects", &["projects"]),
        ("/api/projects?project=shop", &["projects", "shop"]),
        ("/api/stats", &["stats", "--all"]),
        ("/api/stats?by=day", &["stats", "--all", "--by", "day"]),
        (
            "/api/stats?by=tool&since=2026-01-01&until=2026-11-01",
            &["stats", "--all", "--by", "tool", "--since", "2026-01-01", "--until", "2026-11-01"],
        ),
        ("/api/stats?by=session&project=shop", &["stats", "shop", "--by", "session"]),
        ("/api/guard", &["guard"]),
        ("/api/guard?project=shop&release=0.60.0", &["guard", "shop", "--release", "0.60.0"]),
        ("/api/doctor", &["doctor"]),
        ("/api/history", &["history"]),
        ("/api/trash", &["trash"]),
        ("/api/vault", &["vault"]),
        ("/api/replay?day=2026-11-13", &["watch", "--replay", "2026-11-13", "--speed", "max"]),
    ];
    for (path, words) in pairs {
        let printed = home.run(words.iter().chain(&["--home", "made", "--json"]));
        assert!(printed.stdout.starts_with('{') || path.contains("replay"), "{words:?}: {printed}");
        let sent = served.get(path);
        assert!(sent == printed.stdout, "{path} is not {words:?}:\n{sent}\n{}", printed.stdout);
    }
    assert_eq!(served.end(), Some(0), "a signal ends it cleanly");
}

#[test]
fn somebody_without_sessions_sees_demo_data() {
    let home = home([]);
    let served = Served::start(&home, &[]);
    assert!(served.get("/api/hello").contains("\"is_demo\":true"));
    assert!(served.get("/api/rows").contains("\"key\":\"gemini/"));
}

#[test]
fn a_port_in_use_is_an_error_with_a_way_out() {
    let home = full();
    let served = Served::start(&home, &["--home", "made"]);
    let port = served.port.to_string();
    let output = home.run(["serve", "--port", &port, "--home", "made"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("hint:") && output.stderr.contains("--port"), "{output}");
}
