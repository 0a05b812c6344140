//! Reads requests, answers what needs no session at once, and hands the rest to workers.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use recount_engine::{Cancel, Progress};
use serde_json::{Value, json};

use crate::declarations::{INSTRUCTIONS, capabilities, server_info, tools};
use crate::lines::{self, InputLine};
use crate::memory::Memory;
use crate::rpc::{
    self, INVALID_PARAMS, INVALID_REQUEST, Incoming, NO_METHOD, PARSE_ERROR, Request, RpcError,
};
use crate::{McpSetup, resources, tools as calls};

/// Calls that are answered at the same time.
const WORKERS: usize = 2;
/// How long open calls are waited for after the client has closed its end.
const LEAVING: Duration = Duration::from_secs(10);
/// The index is closed if nobody asks for this long.
const IDLE: Duration = Duration::from_secs(10);
/// The shortest time between two progress notifications.
const PROGRESS: Duration = Duration::from_millis(250);

/// Answers requests until the input ends or the output is closed.
///
/// # Errors
/// If the input cannot be read.
pub fn serve(
    setup: McpSetup,
    mut input: impl BufRead,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let server = Server::new(setup, Box::new(output));
    while let Some(line) = lines::next(&mut input)? {
        match line {
            InputLine::TooLong => {
                server.shared.refuse(RpcError::new(INVALID_REQUEST, "the message is too long"));
            }
            InputLine::Whole(bytes) => server.take(&bytes),
        }
        if server.shared.out().is_closed {
            return Ok(());
        }
    }
    server.leave();
    Ok(())
}

/// What the threads share.
struct Shared {
    memory: Memory,
    out: Mutex<Out>,
    /// The calls that are not answered yet.
    open: Mutex<BTreeMap<String, Cancel>>,
}

/// The output. Each message is one line.
struct Out {
    to: Box<dyn Write + Send>,
    is_closed: bool,
}

struct Server {
    shared: Arc<Shared>,
    calls: Sender<(Request, Cancel)>,
}

impl Server {
    fn new(setup: McpSetup, to: Box<dyn Write + Send>) -> Self {
        let out = Mutex::new(Out { to, is_closed: false });
        let shared = Arc::new(Shared { memory: Memory::new(setup), out, open: Mutex::default() });
        let (calls, waiting) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..WORKERS {
            let (shared, waiting) = (Arc::clone(&shared), Arc::clone(&waiting));
            thread::spawn(move || work(&shared, &waiting));
        }
        Self { shared, calls }
    }

    /// Takes a line: one message, or an array of them, as one revision allows.
    fn take(&self, bytes: &[u8]) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Array(all)) if !all.is_empty() => {
                for one in all {
                    self.receive(one);
                }
            }
            Ok(one) => self.receive(one),
            Err(error) => {
                self.shared.refuse(RpcError::new(PARSE_ERROR, format!("not JSON: {error}")));
            }
        }
    }

    fn receive(&self, value: Value) {
        match rpc::read(value) {
            Ok(Incoming::Request(request)) => self.request(request),
            Ok(Incoming::Notification { method, params })
                if method == "notifications/cancelled" =>
            {
                if let Some(cancel) = params.get("requestId").and_then(|id| self.shared.close(id)) {
                    cancel.cancel();
                }
            }
            Ok(Incoming::Notification { .. } | Incoming::Response) => {}
            Err(error) => self.shared.refuse(error),
        }
    }

    fn request(&self, request: Request) {
        if let Some(client) = request.client() {
            self.shared.memory.introduce(client);
        }
        if let Err(error) = request.check_version() {
            return self.shared.send(&request.answer(Err(error)));
        }
        let result = match request.method.as_str() {
            "initialize" => Ok(initialized(&request)),
            "server/discover" => Ok(discovered()),
            "ping" | "logging/setLevel" => Ok(json!({})),
            "tools/list" => Ok(tools()),
            "resources/templates/list" => Ok(resources::templates()),
            "prompts/list" => Ok(json!({ "prompts": [] })),
            "tools/call" | "resources/list" | "resources/read" => return self.hand_over(request),
            other => {
                let other = crate::text::line(other, 60);
                Err(RpcError::new(NO_METHOD, format!("there is no method {other}")))
            }
        };
        self.shared.send(&request.answer(result));
        if matches!(request.method.as_str(), "initialize" | "server/discover") {
            let shared = Arc::clone(&self.shared);
            thread::spawn(move || shared.memory.prepare());
        }
    }

    /// Gives a request to the workers.
    fn hand_over(&self, request: Request) {
        let cancel = Cancel::default();
        self.shared.open().insert(request.id.to_string(), cancel.clone());
        // The workers live as long as this does.
        let _sent = self.calls.send((request, cancel));
    }

    /// Waits for open calls, but not for long.
    fn leave(self) {
        drop(self.calls);
        let began = Instant::now();
        while began.elapsed() < LEAVING
            && !self.shared.open().is_empty()
            && !self.shared.out().is_closed
        {
            thread::sleep(Duration::from_millis(5));
        }
        for cancel in self.shared.open().values() {
            cancel.cancel();
        }
    }
}

impl Shared {
    fn out(&self) -> std::sync::MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Cancel>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes an open call.
    fn close(&self, id: &Value) -> Option<Cancel> {
        self.open().remove(&id.to_string())
    }

    /// Writes a message. If the client no longer reads, there is nobody to tell.
    fn send(&self, message: &Value) {
        let mut line = message.to_string();
        line.push('\n');
        let mut out = self.out();
        let is_written = out.to.write_all(line.as_bytes()).and_then(|()| out.to.flush());
        out.is_closed |= is_written.is_err();
    }

    /// Refuses something that has no id.
    fn refuse(&self, error: RpcError) {
        self.send(&rpc::refusal(&Value::Null, error));
    }
}

/// Answers calls, one after the other.
fn work(shared: &Shared, waiting: &Mutex<Receiver<(Request, Cancel)>>) {
    loop {
        let next = next_call(shared, &waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let Some((request, cancel)) = next else { return };
        if cancel.is_cancelled() {
            continue;
        }
        let token = request.meta("progressToken").cloned();
        let progress =
            CallProgress { shared, token, cancel, sent: Mutex::new((Instant::now(), 0)) };
        let result = answer(shared, &request, &progress);
        // Nobody waits for a cancelled call; otherwise the answer comes before the call is closed, so that leaving waits for it.
        if !progress.is_cancelled() {
            shared.send(&request.answer(result));
        }
        shared.close(&request.id);
    }
}

/// Waits for the next call. After a while, what only searches need is closed.
fn next_call(shared: &Shared, waiting: &Receiver<(Request, Cancel)>) -> Option<(Request, Cancel)> {
    match waiting.recv_timeout(IDLE) {
        Ok(call) => Some(call),
        Err(RecvTimeoutError::Timeout) => {
            shared.memory.rest();
            waiting.recv().ok()
        }
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

fn answer(shared: &Shared, request: &Request, progress: &dyn Progress) -> Result<Value, RpcError> {
    let text = |name: &str| request.params.get(name).and_then(Value::as_str);
    match request.method.as_str() {
        "tools/call" => {
            let name = text("name")
                .ok_or_else(|| RpcError::new(INVALID_PARAMS, "the name of the tool is missing"))?;
            let arguments = request.params.get("arguments").cloned().unwrap_or(Value::Null);
            calls::call(&shared.memory, name, arguments, sessions(request), progress)
        }
        "resources/list" => resources::list(&shared.memory, sessions(request), progress),
        _ => {
            let uri =
                text("uri").ok_or_else(|| RpcError::new(INVALID_PARAMS, "the uri is missing"))?;
            resources::read(&shared.memory, uri, request.is_modern(), sessions(request), progress)
        }
    }
}

/// Returns the ids of sessions that a request names as its own.
fn sessions(request: &Request) -> Vec<String> {
    let named = ["threadId", "sessionId", "thread_id", "session_id"];
    let named = named.iter().filter_map(|name| request.meta(name)?.as_str());
    named.map(str::to_owned).collect()
}

fn initialized(request: &Request) -> Value {
    json!({
        "protocolVersion": request.negotiated(),
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

fn discovered() -> Value {
    json!({
        "supportedVersions": rpc::versions(),
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
        "_meta": { "io.modelcontextprotocol/serverInfo": server_info() },
    })
}

/// Sends progress notifications if the client asked for them, and ends a call that was cancelled.
struct CallProgress<'a> {
    shared: &'a Shared,
    token: Option<Value>,
    cancel: Cancel,
    /// When the last notification was sent, and its value.
    sent: Mutex<(Instant, u64)>,
}

impl std::fmt::Debug for CallProgress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallProgress").field("token", &self.token).finish_non_exhaustive()
    }
}

impl Progress for CallProgress<'_> {
    fn advance(&self, done: u64, total: u64) {
        let Some(token) = &self.token else { return };
        let mut last = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        // It must grow with each message.
        if last.0.elapsed() < PROGRESS || done <= last.1 {
            return;
        }
        *last = (Instant::now(), done);
        let params = json!({ "progressToken": token, "progress": done, "total": total, "message": "reading sessions" });
        self.shared.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }),
        );
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled() || self.shared.out().is_closed
    }
}
