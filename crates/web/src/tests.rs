//! The server, asked over raw sockets: a client library would mend what is to be refused.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use recount_engine::{Engine, HitOrder, SOURCES, SearchRequest, Setup};
use recount_model::Clock;
use recount_platform::Env;
use serde_json::Value;
use tempfile::TempDir;

use crate::app::App;
use crate::router::{CHANGED, NOTED, READ, STREAMED};
use crate::{Mask, ServeOptions, Served, Server};

/// A server on the demo home.
struct Running {
    _folder: TempDir,
    app: Arc<App>,
    port: u16,
    token: String,
    thread: Option<JoinHandle<()>>,
}

/// What came back.
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut own = lines.filter(|(own, _)| own.eq_ignore_ascii_case(name));
        own.next().map(|(_, value)| value)
    }
}

impl Running {
    fn start(options: ServeOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let now = "2026-11-16T00:00:00Z".parse().unwrap();
        recount_testbed::demo(&home, now).unwrap();
        let data = folder.path().join("data").to_string_lossy().into_owned();
        let env = Env::for_tests([("RECOUNT_DATA_DIR", data.as_str()), ("CI", "1")], None);
        let engine = Engine::new(Setup {
            known_sources: SOURCES,
            homes: vec![home],
            sources: Vec::new(),
            env,
            clock: Clock::fixed(now),
        });
        let served = Served { engine: engine.unwrap(), arguments: Vec::new(), is_demo: false };
        let options = ServeOptions { port: Some(0), ..options };
        let bound = Server::bind(served, &options).unwrap();
        let (app, port) = (Arc::clone(bound.app()), bound.port());
        let token = bound.address().split_once("#k=").unwrap().1.to_owned();
        let thread = std::thread::spawn(move || bound.serve().unwrap());
        Self { _folder: folder, app, port, token, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// Sends a request with exactly these headers.
    fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let mut stream = self.connect();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            head = format!("{head}{header}\r\n");
        }
        if !body.is_empty() {
            head = format!("{head}Content-Length: {}\r\n", body.len());
        }
        // A server that is full closes the connection, maybe before it has read anything.
        let _sent = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        read(&mut stream)
    }

    /// Asks as the page does.
    fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[&self.host(), &self.bearer()], "")
    }

    fn post(&self, path: &str, body: &str) -> Reply {
        let headers = [self.host(), self.bearer(), "Content-Type: application/json".to_owned()];
        self.send("POST", path, &headers.each_ref().map(String::as_str), body)
    }

    fn first_key(&self) -> String {
        self.get("/api/rows").json()["rows"][0]["key"].as_str().unwrap().to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.app.stopping.send_replace(true);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Reads an answer to its end; chunks are put together.
fn read(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // An answer that was cut short is seen below.
    let _read = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let mut body = bytes.get(end + 4..).unwrap_or_default().to_vec();
    if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        let mut whole = Vec::new();
        let mut rest = body.as_slice();
        while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
            let size = std::str::from_utf8(&rest[..line]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            let Some(chunk) = rest.get(line + 2..line + 2 + size).filter(|_| size > 0) else {
                break;
            };
            whole.extend_from_slice(chunk);
            rest = &rest[line + 4 + size..];
        }
        body = whole;
    }
    Reply { status, head, body }
}

/// Returns every address of the API with the method it takes.
fn routes(key: &str) -> Vec<(&'static str, String)> {
    let fill = |path: &str| {
        let path = path.replace("{source}/{id}", key).replace("{hash}", "00");
        let question = match path.as_str() {
            "search" => "?q=discount",
            "command" => "?change=doctor",
            path if path.ends_with("find") => "?q=the",
            path if path.ends_with("record") => "?at=0",
            path if path.contains("image") => "?at=0",
            _ => "",
        };
        format!("/api/{path}{question}")
    };
    let reads = READ.iter().map(|(path, _)| ("GET", fill(path)));
    let streams = STREAMED.iter().map(|(path, _, _)| ("GET", fill(path)));
    let changes = CHANGED.iter().chain(NOTED).map(|(path, _)| ("POST", fill(path)));
    reads.chain(streams).chain(changes).chain([("GET", "/api/watch".to_owned())]).collect()
}

#[test]
fn every_route_is_closed_to_everybody_else() {
    let server = Running::start(ServeOptions { changes: true, ..ServeOptions::default() });
    let key = server.first_key();
    let (host, bearer) = (server.host(), server.bearer());
    let port = server.port;
    let pages = ["/", "/sessions", "/s/gemini/x", "/assets/index.html", "/nothing"];
    let pages = pages.map(|page| ("GET", page.to_owned()));
    let hosts = [
        String::new(),
        "Host: evil.example".to_owned(),
        format!("Host: evil.example:{port}"),
        "Host: 127.0.0.1".to_owned(),
        format!("Host: 127.0.0.1:{}", port ^ 1),
        format!("Host: 127.0.0.1:{port}.evil.example"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example"),
        format!("Host: localhost.evil:{port}"),
    ];
    let origins = [
        "Origin: http://evil.example".to_owned(),
        "Origin: null".to_owned(),
        format!("Origin: https://127.0.0.1:{port}"),
        format!("Origin: http://127.0.0.1:{}", port ^ 1),
        "Sec-Fetch-Site: cross-site".to_owned(),
        "Sec-Fetch-Site: same-site".to_owned(),
    ];
    for (method, path) in routes(&key).into_iter().chain(pages) {
        for other in &hosts {
            let headers: Vec<&str> =
                [other.as_str(), &bearer].into_iter().filter(|header| !header.is_empty()).collect();
            let reply = server.send(method, &path, &headers, "");
            // A request without a host, or with two, may be refused by the parser already.
            assert!(
                [400, 403].contains(&reply.status),
                "{method} {path} {other}: {}",
                reply.status
            );
            assert!(!String::from_utf8_lossy(&reply.body).contains("recount.list"), "{path}");
        }
        for other in &origins {
            let reply = server.send(method, &path, &[&host, &bearer, other], "");
            assert_eq!(reply.status, 403, "{method} {path} {other}");
        }
        if path.starts_with("/api") {
            assert_eq!(server.send(method, &path, &[&host], "").status, 401, "{method} {path}");
            let basic = server.token.clone();
            let cookie = format!("Cookie: k={basic}");
            assert_eq!(server.send(method, &path, &[&host, &cookie], "").status, 401, "{path}");
            let query = format!("{path}{}k={basic}", if path.contains('?') { '&' } else { '?' });
            assert_eq!(server.send(method, &query, &[&host], "").status, 401, "{path}");
        }
    }
}

#[test]
fn every_route_answers_the_page() {
    let server = Running::start(ServeOptions { changes: true, ..ServeOptions::default() });
    let key = server.first_key();
    let (host, bearer) = (server.host(), server.bearer());
    let own = [
        format!("Origin: http://127.0.0.1:{}", server.port),
        "Sec-Fetch-Site: same-origin".to_owned(),
    ];
    for (method, path) in routes(&key) {
        if path == "/api/watch" {
            continue;
        }
        let reply = server.send(method, &path, &[&host, &bearer, &own[0], &own[1]], "");
        let expected: &[u16] = match method {
            "POST" => &[415],
            _ if path.contains("/image/") => &[404],
            _ => &[200],
        };
        let said = String::from_utf8_lossy(&reply.body).chars().take(300).collect::<String>();
        assert!(expected.contains(&reply.status), "{method} {path}: {} {said}", reply.status);
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert!(reply.header("access-control-allow-origin").is_none(), "{path}");
        assert!(reply.header("set-cookie").is_none(), "{path}");
        let policy = reply.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("trusted-types"),
            "{path}"
        );
        for other in ["PUT", "DELETE", "OPTIONS", if method == "GET" { "POST" } else { "GET" }] {
            let reply = server.send(other, &path, &[&host, &bearer], "");
            assert_eq!(reply.status, 405, "{other} {path}");
        }
    }
    for path in ["/api", "/api/", "/api/nothing", "/nothing", "/assets/../Cargo.toml", "/assets/x"]
    {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    for page in ["/", "/sessions?project=shop", "/s/gemini/279d2ba9#m-1", "/stats"] {
        let reply = server.send("GET", page, &[&host], "");
        assert_eq!(reply.status, 200, "{page}: no token is needed for what has no data");
        assert!(reply.head.contains("text/html"), "{page}");
    }
    assert_eq!(server.send("POST", "/", &[&host], "").status, 405);
}

#[test]
fn nothing_is_changed_without_leave() {
    let server = Running::start(ServeOptions::default());
    for (path, _) in CHANGED {
        assert_eq!(server.post(&format!("/api/{path}"), "{}").status, 403, "{path}");
    }
}

#[test]
fn what_was_read_is_noted_without_leave() {
    let server = Running::start(ServeOptions::default());
    let key = server.first_key();
    let row = || {
        let rows = server.get("/api/rows?fresh=1").json();
        let rows = rows["rows"].as_array().unwrap();
        rows.iter().find(|row| row["key"] == key.as_str()).unwrap().clone()
    };
    let messages = row()["messages"].as_u64().unwrap();
    let page = || server.get(&format!("/api/session/{key}/messages")).json();
    let total = page()["total"].as_u64().unwrap();
    assert!(row()["new"].is_null() && page()["new_from"].is_null(), "it was never read");
    assert_eq!(page()["counted"], messages);
    let note = |many: u64| {
        server.post("/api/read", &format!(r#"{{"session":"{key}","messages":{many}}}"#)).status
    };
    assert_eq!(note(messages - 2), 200);
    assert_eq!((&row()["new"], &page()["new_from"]), (&Value::from(2), &Value::from(total - 2)));
    let strict = server.get(&format!("/api/session/{key}/messages?view=strict")).json();
    assert!(strict["new_from"].is_null(), "numbers of the strict view are others");
    assert_eq!(note(messages), 200);
    assert!(row()["new"].is_null() && page()["new_from"].is_null());
    for wrong in [
        r#"{"session":"/etc/passwd","messages":1}"#,
        r#"{"session":"gemini/../../x","messages":1}"#,
        r#"{"session":"gemini/x"}"#,
        "[",
    ] {
        assert!([400, 404].contains(&server.post("/api/read", wrong).status), "{wrong}");
    }
}

#[test]
fn what_was_shown_is_done_once_and_can_be_undone() {
    let server = Running::start(ServeOptions { changes: true, ..ServeOptions::default() });
    let key = server.first_key();
    let many = || server.get("/api/rows?fresh=1").json()["rows"].as_array().unwrap().len();
    let before = many();
    let reply = server.post("/api/plan", &format!(r#"{{"change":"delete","sessions":["{key}"]}}"#));
    let plan = reply.json();
    assert_eq!((reply.status, &plan["schema"]), (200, &Value::from("recount.plan/1")), "{plan}");
    assert!(plan["command"].as_str().unwrap().starts_with("recount delete "), "{plan}");
    assert!(!plan["plan"]["files"].as_array().unwrap().is_empty(), "{plan}");
    assert_eq!(many(), before, "a plan changes nothing");
    let digest = plan["digest"].as_str().unwrap();
    assert_eq!(server.post("/api/apply", r#"{"digest":"00"}"#).status, 404);
    let made = server.post("/api/apply", &format!(r#"{{"digest":"{digest}"}}"#));
    assert_eq!(made.status, 200, "{}", made.json());
    assert!(many() < before);
    assert_eq!(server.post("/api/apply", &format!(r#"{{"digest":"{digest}"}}"#)).status, 404);
    let receipt = made.json()["receipt"].as_str().unwrap().to_owned();
    let undo =
        server.post("/api/plan", &format!(r#"{{"change":"undo","receipt":"{receipt}"}}"#)).json();
    let digest = undo["digest"].as_str().unwrap();
    assert_eq!(server.post("/api/apply", &format!(r#"{{"digest":"{digest}"}}"#)).status, 200);
    assert_eq!(many(), before);
    for wrong in [
        r#"{"change":"delete","sessions":["/etc/passwd"]}"#,
        r#"{"change":"delete","sessions":["gemini/../../x"]}"#,
        r#"{"change":"restore","session":"/etc/passwd"}"#,
        r#"{"change":"delete"}"#,
        r#"{"change":"nothing"}"#,
        r#"{"what":1}"#,
        "[",
    ] {
        assert!([400, 404].contains(&server.post("/api/plan", wrong).status), "{wrong}");
    }
    let large = format!(r#"{{"change":"delete","title":"{}"}}"#, "x".repeat(70_000));
    assert_eq!(server.post("/api/plan", &large).status, 413);
}

#[test]
fn pages_of_a_session_join_in_both_directions() {
    let server = Running::start(ServeOptions::default());
    let rows = server.get("/api/rows").json();
    for row in rows["rows"].as_array().unwrap() {
        let base = format!("/api/session/{}", row["key"].as_str().unwrap());
        let outline = server.get(&format!("{base}/outline")).json();
        let total = outline["total"].as_u64().unwrap();
        assert_eq!(outline["kind"].as_str().unwrap().chars().count() as u64, total);
        if total == 0 {
            continue;
        }
        assert!(total >= row["messages"].as_u64().unwrap(), "{base}");
        for level in ["talk", "trace"] {
            let whole = server.get(&format!("{base}/messages?level={level}&count=400")).json();
            assert_eq!((&whole["from"], &whole["to"]), (&Value::from(0), &Value::from(total)));
            let at = |page: &Value| -> Vec<u64> {
                let messages = page["messages"].as_array().unwrap().iter();
                messages.map(|message| message["at"].as_u64().unwrap()).collect()
            };
            let (mut forward, mut from) = (Vec::new(), 0);
            while from < total {
                let page = server
                    .get(&format!("{base}/messages?level={level}&from={from}&count=3"))
                    .json();
                forward.extend(at(&page));
                assert!(page["to"].as_u64().unwrap() > from, "{page}");
                from = page["to"].as_u64().unwrap();
            }
            assert_eq!(forward, at(&whole), "{base}");
            let (mut backward, mut to) = (Vec::new(), total);
            while to > 0 {
                let page = server
                    .get(&format!("{base}/messages?level={level}&before={to}&count=2"))
                    .json();
                backward.splice(0..0, at(&page));
                assert!(page["from"].as_u64().unwrap() < to, "{page}");
                to = page["from"].as_u64().unwrap();
            }
            assert_eq!(backward, at(&whole), "{base}");
        }
        let end =
            server.get(&format!("{base}/messages?at=end&level=trace&before=2&after=5")).json();
        assert_eq!(end["to"].as_u64().unwrap(), total);
        let last = end["messages"].as_array().unwrap().last().unwrap().clone();
        if let Some(id) = last["id"].as_str() {
            let found = server.get(&format!("{base}/messages?at=id:{id}&level=talk")).json();
            assert_eq!(
                found["messages"].as_array().unwrap().iter().filter(|m| m["id"] == *id).count(),
                1
            );
        }
        let missing = server.get(&format!("{base}/messages?at=id:zzzzzz")).json();
        assert_eq!(missing["at"], Value::Null);
    }
}

#[test]
fn the_first_rows_are_the_start_of_all() {
    let server = Running::start(ServeOptions::default());
    let all = server.get("/api/rows?fresh=1").json();
    let rows = all["rows"].as_array().unwrap();
    assert_eq!((&all["is_part"], &all["total"]), (&Value::from(false), &Value::from(rows.len())));
    for _ in 0..2 {
        let few = server.get("/api/rows?fresh=1&first=2").json();
        assert_eq!((&few["is_part"], &few["total"]), (&Value::from(true), &all["total"]));
        assert_eq!(few["rows"].as_array().unwrap().len(), 2);
        for (row, whole) in few["rows"].as_array().unwrap().iter().zip(rows) {
            let project = |list: &Value, row: &Value| {
                row["project"]
                    .as_u64()
                    .map(|at| list["projects"][usize::try_from(at).unwrap()].clone())
            };
            assert_eq!(project(&few, row), project(&all, whole));
            assert_eq!((&row["key"], &row["cost"]), (&whole["key"], &whole["cost"]));
        }
        assert_eq!(server.get("/api/rows?fresh=1").json(), all);
    }
}

#[test]
fn each_label_is_in_the_next_rows() {
    let server = Running::start(ServeOptions { changes: true, ..ServeOptions::default() });
    let rows = || server.get("/api/rows?fresh=1").json()["rows"].as_array().unwrap().clone();
    let keys: Vec<String> =
        rows().iter().take(2).map(|row| row["key"].as_str().unwrap().to_owned()).collect();
    for (number, key) in keys.iter().enumerate() {
        let asked = format!(r#"{{"sessions":["{key}"],"pinned":true}}"#);
        assert_eq!(server.post("/api/labels", &asked).status, 200);
        let pinned = rows().iter().filter(|row| row["pinned"] == true).count();
        assert_eq!(pinned, number + 1);
    }
}

#[test]
fn find_looks_at_the_whole_session() {
    let server = Running::start(ServeOptions::default());
    let hit = server.get("/api/search?q=discount&no-index=1").json()["hits"][0].clone();
    let (source, id) =
        (hit["session"]["source"].as_str().unwrap(), hit["session"]["id"].as_str().unwrap());
    let base = format!("/api/session/{source}/{}", &id[..8]);
    let found = server.get(&format!("{base}/find?q=DISCOUNT&level=trace")).json();
    let matches = found["matches"].as_array().unwrap();
    assert!(!matches.is_empty() && found["next"].is_null(), "{found}");
    let at = server.get(&format!("{base}/messages?at=byte:{}", hit["where"]["offset"])).json();
    assert!(matches.contains(&at["at"]), "{at}");
    let fields = server.get("/api/session/gemini/279d2ba9/find?q=in:prompt%20discount").json();
    assert!(!fields["matches"].as_array().unwrap().is_empty(), "{fields}");
    let record = server.get(&format!("{base}/record?at={}", matches[0])).json();
    assert!(record["text"].as_str().unwrap().to_lowercase().contains("discount"), "{record}");
    assert_eq!(server.get("/api/session/gemini/zzzz").status, 404);
    assert_eq!(server.get("/api/session/nobody/279d2ba9").status, 404);
    assert_eq!(server.get("/api/session/gemini/..%2F..%2Fetc").status, 404);
    let prompts = server.get(&format!("{base}/index?what=prompts")).json();
    assert!(!prompts["entries"].as_array().unwrap().is_empty());
}

#[test]
fn a_search_with_an_open_index_finds_what_the_command_does() {
    let server = Running::start(ServeOptions::default());
    let command = |query: &str| {
        let request = SearchRequest {
            query: query.to_owned(),
            limit: 20,
            sort: HitOrder::Relevance,
            all_hits: false,
            width: 200,
            without_index: false,
            at_once: false,
        };
        let answer = server.app.engine.afresh().search(&request, &()).unwrap();
        let mut text = Vec::new();
        recount_documents::hits(&mut text, &answer, &[]).unwrap();
        String::from_utf8(text).unwrap()
    };
    let typed = |query: &str| {
        let query = query.replace(' ', "%20");
        String::from_utf8(server.get(&format!("/api/search?q={query}")).body).unwrap()
    };
    for query in
        ["discount", "tax rate", "in:answer the", "project:shop tax", "is:undone", "zanzibar"]
    {
        assert_eq!(typed(query), command(query), "{query}");
        assert_eq!(typed(query), command(query), "{query}, again");
    }
    let file = server.app.snapshot(&()).unwrap().sessions().iter().find_map(|row| {
        let path = &row.files.first()?.path;
        let is_log = Path::new(path).extension().is_some_and(|extension| extension == "jsonl");
        (row.source.as_str() == "gemini" && is_log).then(|| path.clone())
    });
    append(
        &file.unwrap(),
        "{\"id\":\"zz-1\",\"timestamp\":\"2026-11-15T23:29:00.000Z\",\"type\":\"user\",\"content\":[{\"text\":\"Ship it to Zanzibar\"}]}\n",
    );
    server.app.expire();
    let found = typed("zanzibar");
    assert!(found.contains("Ship it to Zanzibar"), "{found}");
    assert_eq!(found, command("zanzibar"));
    // When it is closed meanwhile, it is opened again.
    server.app.engine.close_searcher();
    assert_eq!(typed("discount"), command("discount"));
    assert_eq!(server.get("/api/search?q=a%20)").status, 400);
}

#[test]
fn a_ticket_is_exchanged_for_the_token_once() {
    let server = Running::start(ServeOptions::default());
    let ticket = format!("Authorization: Ticket {}", server.app.safety.issue_ticket().unwrap());
    let exchange = || server.send("GET", "/api/token", &[&server.host(), &ticket], "");
    let answer = exchange();
    assert_eq!(answer.json()["token"], server.token);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(exchange().status, 401);
    assert_eq!(server.get("/api/token").status, 401);
}

#[test]
fn masks_hide_on_the_server() {
    let mask = Mask { paths: true, titles: true };
    let server = Running::start(ServeOptions { mask, ..ServeOptions::default() });
    for path in [
        "/api/rows",
        "/api/list",
        "/api/projects",
        "/api/search?q=discount&no-index=1",
        "/api/stats?by=session",
        "/api/guard",
        "/api/stats?project=/home/dev/gone/shop",
        "/api/list?project=/home/dev/gone/shop",
    ] {
        let text = String::from_utf8(server.get(path).body).unwrap();
        assert!(
            !text.contains("/home/dev") && !text.contains("quantity discount to"),
            "{path}: {text}"
        );
    }
}

/// Reads from a stream until a text has come.
fn wait_for(stream: &mut TcpStream, wanted: &str) -> String {
    let (mut text, mut piece) = (String::new(), [0; 4096]);
    let begun = Instant::now();
    while !text.contains(wanted) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no {wanted} in {text}");
        let many = stream.read(&mut piece).unwrap();
        assert!(many > 0, "the stream ended: {text}");
        text.push_str(&String::from_utf8_lossy(&piece[..many]));
    }
    text
}

fn listen(server: &Running, question: &str) -> TcpStream {
    let mut stream = server.connect();
    let head = format!(
        "GET /api/watch{question} HTTP/1.1\r\n{}\r\n{}\r\n\r\n",
        server.host(),
        server.bearer()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Returns the path of a file of a session of Gemini CLI.
fn gemini_file(server: &Running) -> String {
    let rows = server.get("/api/rows?fresh=1").json();
    let keys = rows["rows"].as_array().unwrap().iter().filter_map(|row| row["key"].as_str());
    let key = keys.into_iter().find(|key| key.starts_with("gemini/")).unwrap();
    let session = server.get(&format!("/api/session/{key}")).json();
    session["session"]["files"][0]["path"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_appended_is_told_and_missed_events_are_caught_up() {
    let server = Running::start(ServeOptions::default());
    let file = gemini_file(&server);
    let mut stream = listen(&server, "");
    let hello = wait_for(&mut stream, "event: hello");
    let id: u64 = hello.split("id: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    // The watcher has to be there first.
    while !server.app.is_watched.load(std::sync::atomic::Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let line = r#"{"id":"new-1","timestamp":"2026-11-16T00:00:01.000Z","type":"user","content":"A new prompt"}"#;
    append(&file, &format!("{line}\n"));
    let text = wait_for(&mut stream, "event: rows");
    assert!(text.contains("event: tail"), "{text}");
    let mut late = listen(&server, &format!("?after={id}"));
    wait_for(&mut late, "event: rows");
    let mut lost = listen(&server, "?after=5");
    wait_for(&mut lost, "event: reset");
}

#[test]
fn what_changed_before_the_watcher_began_is_told() {
    let server = Running::start(ServeOptions::default());
    let file = gemini_file(&server);
    let before = server.app.known_snapshot().unwrap().number();
    append(&file, "{}\n");
    // The watcher looks at the disk again, as the rows are no longer fresh.
    std::thread::sleep(2 * crate::app::FRESH);
    let mut stream = listen(&server, "");
    let hello = wait_for(&mut stream, "\n\n");
    // Unless something else has looked before it: then the first event has the number of newer rows.
    if hello.contains(&format!("\"number\":{before}")) && !hello.contains("event: r") {
        wait_for(&mut stream, "event: r");
    }
}

fn append(file: &str, text: &str) {
    #[expect(clippy::disallowed_methods, reason = "a test plays the agent")]
    let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Returns the memory of this process that is in use, in bytes.
fn memory() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "the system tells by a file")]
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = status.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}

#[test]
fn two_hundred_connections_and_slow_readers_hold_nothing() {
    let server = Running::start(ServeOptions::default());
    server.get("/api/list");
    let before = memory();
    // Half of a request, nothing at all, and large answers that nobody reads.
    let mut held = Vec::new();
    for number in 0..200 {
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)) else {
            continue;
        };
        let sent = match number % 4 {
            0 => stream.write_all(b"GET /api/list HTTP/1.1\r\nHost: 127"),
            1 => Ok(()),
            2 => stream.write_all(
                format!(
                    "GET /api/list HTTP/1.1\r\n{}\r\n{}\r\n\r\n",
                    server.host(),
                    server.bearer()
                )
                .as_bytes(),
            ),
            _ => stream.write_all(
                format!(
                    "GET /api/watch HTTP/1.1\r\n{}\r\n{}\r\n\r\n",
                    server.host(),
                    server.bearer()
                )
                .as_bytes(),
            ),
        };
        // Those that are too many are closed at once.
        drop(sent);
        held.push(stream);
    }
    std::thread::sleep(Duration::from_millis(500));
    // 80 MB for each reader, if they were kept for those who do not read.
    for number in 0..20_000 {
        server.app.hub.tell("rows", None, &Value::from(format!("{number} {}", "x".repeat(4000))));
    }
    let grown = memory().saturating_sub(before);
    assert!(grown < 128 << 20, "{} MB more", grown >> 20);
    drop(held);
    let begun = Instant::now();
    while server.get("/api/hello").status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the server does not recover");
        std::thread::sleep(Duration::from_millis(50));
    }
}
