//! Starts a tool server as an agent would, and asks it for its tools.

use std::path::Path;
use std::time::Duration;

use recount_platform::ask_program;
use serde_json::{Value, json};

use super::IntegrationProblem;

/// An agent waits about as long.
const PATIENCE: Duration = Duration::from_secs(10);
/// The protocol that is asked for.
const PROTOCOL: &str = "2026-07-28";

/// Returns the number of tools.
pub(super) fn tools(command: &str, args: &[String]) -> Result<usize, IntegrationProblem> {
    let about = json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientInfo": {"name": "recount-doctor", "version": super::RELEASE},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = |id: u64, method: &str| {
        let params = json!({"_meta": about});
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let lines = [request(1, "server/discover"), request(2, "tools/list")];
    let answers = ask_program(Path::new(command), args, &lines, PATIENCE)
        .map_err(|error| IntegrationProblem::NotStarted(error.to_string()))?;
    let answers: Vec<Value> =
        answers.iter().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let answer = |id: u64| {
        let found = answers.iter().find(|answer| answer.get("id") == Some(&json!(id)));
        found.and_then(|answer| answer.get("result"))
    };
    if answer(1).is_none() {
        return Err(IntegrationProblem::NoAnswer);
    }
    match answer(2).and_then(|result| result.get("tools")).and_then(Value::as_array) {
        Some(tools) if !tools.is_empty() => Ok(tools.len()),
        _ => Err(IntegrationProblem::NoTools),
    }
}
