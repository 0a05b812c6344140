//! Openings, cancellation, and lines that are no messages.

use recount_testkit::Home;
use serde_json::{Value, json};

use crate::Client;

/// What clients send first, as recorded.
const GEMINI: &str = r#"{"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"gemini-cli-mcp-client","version":"0.60.0"}},"jsonrpc":"2.0","id":0}"#;
const CLAUDE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2.1.325"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}"#;
const CODEX: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"codex-mcp-client","title":"Codex","version":"0.166.0"}}}"#;

#[test]
fn every_client_is_greeted_in_its_own_era() {
    let home = Home::with(["gemini/lines/plain"]);
    for opening in [GEMINI, CODEX] {
        let mut client = Client::new(&home);
        let answer = client.say(opening);
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], "2025-06-18");
        assert_eq!(result["capabilities"], json!({ "tools": {}, "resources": {} }));
        assert!(result["instructions"].as_str().unwrap().contains("search_sessions"));
        assert!(result["resultType"].is_null());
        client.write(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        let tools = client.ask("tools/list", &json!({}));
        let names: Vec<&str> = tools["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["search_sessions", "list_sessions", "read_session", "verify_quote", "usage"]
        );
        assert_eq!(client.end(), Vec::<Value>::new());
    }
    let mut client = Client::new(&home);
    let result = client.say(CLAUDE)["result"].clone();
    assert_eq!(result["supportedVersions"][0], "2026-07-28");
    assert_eq!(
        (result["resultType"].as_str(), result["cacheScope"].as_str()),
        (Some("complete"), Some("private"))
    );
    assert!(result["instructions"].as_str().unwrap().contains("search_sessions"));
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    let listed = client.ask("tools/list", &meta);
    assert_eq!(listed["result"]["resultType"], "complete");
    assert!(listed["result"]["ttlMs"].is_u64());
}

#[test]
fn versions_are_negotiated_or_refused() {
    let home = Home::empty();
    let mut client = Client::new(&home);
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let answer = client.ask("initialize", &json!({ "protocolVersion": asked }));
        assert_eq!(answer["result"]["protocolVersion"], given);
    }
    let asked = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } });
    for method in ["server/discover", "tools/list"] {
        let answer = client.ask(method, &asked);
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        assert_eq!(answer["error"]["data"]["requested"], "2099-01-01");
    }
}

#[test]
fn what_is_no_message_is_refused_and_the_next_is_answered() {
    let home = Home::empty();
    let mut client = Client::new(&home);
    let code = |answer: &Value| answer["error"]["code"].as_i64();
    assert_eq!(code(&client.say("not json")), Some(-32700));
    assert_eq!(code(&client.say("\u{0}\u{1b}[2J{")), Some(-32700));
    assert_eq!(code(&client.say(&"[".repeat(100_000))), Some(-32700));
    assert_eq!(code(&client.say("5")), Some(-32600));
    assert_eq!(code(&client.say("[]")), Some(-32600));
    assert_eq!(code(&client.say(r#"{"id":1}"#)), Some(-32600));
    assert_eq!(code(&client.say(r#"{"id":{},"method":"ping"}"#)), Some(-32600));
    assert_eq!(code(&client.say(&"x".repeat(10_000_000))), Some(-32600));
    assert_eq!(code(&client.say(r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#)), Some(-32601));
    assert_eq!(
        code(
            &client.say(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"rm"}}"#)
        ),
        Some(-32602)
    );
    assert_eq!(
        code(&client.say(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call"}"#)),
        Some(-32602)
    );
    // Blank lines, answers and unknown notifications are nothing to answer.
    client.write(
        b"\n  \n{\"id\":3,\"result\":{}}\n{\"method\":\"notifications/roots/list_changed\"}\n",
    );
    let answer = client.say(r#"{"jsonrpc":"2.0","id":"text","method":"ping"}"#);
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "text", "result": {} }));
    let both = client.say(
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
    );
    assert_eq!((both["id"].as_u64(), client.line()["id"].as_u64()), (Some(1), Some(2)));
}

#[test]
fn a_cancelled_call_has_no_answer_and_open_calls_are_answered_at_the_end() {
    let home = Home::with(["gemini/lines/plain"]);
    let mut client = Client::new(&home);
    let call = |id: u64| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"list_sessions","arguments":{{"project":"*"}}}}}}"#
        )
    };
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"enough"}}"#;
    // The workers are busy with the first two, so the third is cancelled before it begins.
    client.write(format!("{}\n{}\n{}\n{cancel}\n", call(1), call(2), call(3)).as_bytes());
    let mut ids: Vec<u64> =
        client.end().iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn resources_are_listed_and_read() {
    let home = Home::with(["gemini/lines/plain"]);
    let mut client = Client::new(&home);
    let listed = client.ask("resources/list", &json!({}));
    let all = listed["result"]["resources"].as_array().unwrap().clone();
    assert_eq!(all[0]["uri"], "recount://guide");
    let uri = all[1]["uri"].as_str().unwrap();
    assert!(uri.starts_with("recount://session/"), "{uri}");
    let read = client.ask("resources/read", &json!({ "uri": uri }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("you: ") && text.contains("<<recount "), "{text}");
    for uri in
        ["recount://session/nobody", "recount://session/../../etc/passwd", "file:///etc/passwd"]
    {
        let refused = client.ask("resources/read", &json!({ "uri": uri }));
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
    }
    assert!(client.ask("resources/templates/list", &json!({}))["result"]["resourceTemplates"][0]["uriTemplate"].is_string());
}
