//! The server as clients meet it: recorded openings of both eras, every tool, and input that no client should send.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panic")]

mod answers;
mod protocol;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::{JoinHandle, spawn};

use recount_engine::{Engine, SOURCES, Setup};
use recount_mcp::{McpSetup, serve};
use recount_model::Clock;
use recount_platform::Env;
use recount_testkit::{Home, NOW};
use serde_json::{Value, json};

/// A server on the home of a test, and a client that talks to it.
struct Client {
    to: UnixStream,
    from: BufReader<UnixStream>,
    server: JoinHandle<std::io::Result<()>>,
    number: u64,
}

impl Client {
    fn new(home: &Home) -> Self {
        Self::in_folder(home, None, &[])
    }

    fn in_folder(home: &Home, folder: Option<&Path>, variables: &[(&str, &str)]) -> Self {
        let data = home.at("our data");
        let mut all =
            vec![("RECOUNT_DATA_DIR", data.as_str()), ("RECOUNT_BACKGROUND", "0"), ("TZ", "UTC")];
        all.extend_from_slice(variables);
        let engine = Engine::new(Setup {
            known_sources: SOURCES,
            homes: vec![home.path().to_owned()],
            sources: Vec::new(),
            env: Env::for_tests(all, folder.map(Path::to_owned)),
            clock: Clock::fixed(NOW.parse().unwrap()),
        });
        let setup =
            McpSetup { engine: engine.unwrap(), agent: None, is_redacting: true, again: None };
        let (to, input) = UnixStream::pair().unwrap();
        let (from, output) = UnixStream::pair().unwrap();
        let server = spawn(move || serve(setup, BufReader::new(input), output));
        Self { to, from: BufReader::new(from), server, number: 0 }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.to.write_all(bytes).unwrap();
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a message as it is, and returns the next line.
    fn say(&mut self, message: &str) -> Value {
        self.write(format!("{message}\n").as_bytes());
        self.line()
    }

    /// Asks something, and returns the result or the error.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let number = self.number;
        let answer = self.say(
            &json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params })
                .to_string(),
        );
        assert_eq!(answer["id"], number, "{answer}");
        answer
    }

    /// Calls a tool, and returns the text.
    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        assert!(result["structuredContent"].is_null(), "{answer}");
        result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Closes the input, and waits until the server has ended.
    fn end(self) -> Vec<Value> {
        self.to.shutdown(std::net::Shutdown::Write).unwrap();
        let rest =
            self.from.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        self.server.join().unwrap().unwrap();
        rest
    }
}
