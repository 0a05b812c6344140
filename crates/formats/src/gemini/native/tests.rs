use recount_model::FileRole;
use serde_json::{Value, json};

use super::*;
use crate::native::HeaderOverrides;
use crate::source::Source as _;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn fields(file: &str) -> Fields {
    let mut input = io::Cursor::new(file.as_bytes());
    grammar::fields(&mut input, &Arc::from("x"), &mut Buffer::new()).unwrap()
}

fn head(files: &[(FileRole, Fields)]) -> Vec<Value> {
    head_with(files, HeaderOverrides::default())
}

fn head_with(files: &[(FileRole, Fields)], overrides: HeaderOverrides<'_>) -> Vec<Value> {
    let id = SessionId::new("from-the-name");
    let started = Some("2026-11-15T08:00:00.5Z".parse().unwrap());
    let request =
        HeadRequest { files, id: &id, project_hash: None, started, updated: None, overrides };
    let lines = Log.head(&request);
    assert!(lines[0].len() < 4096, "the agent reads so much of it");
    lines.iter().map(|line| serde_json::from_slice(line).unwrap()).collect()
}

#[test]
fn a_record_on_one_line_is_copied_byte_for_byte() {
    let record =
        r#"{"id":"1", "x":1.50,"type":"user","content":"a\u0041 b","new":{"deep":[1,2 ]}}"#;
    assert_eq!(text(&Log.record(record.as_bytes(), None).unwrap()), record);
    let bad = b"{\"id\":\"1\",\"content\":\"\xff\"}";
    assert_eq!(Log.record(bad, None).unwrap(), bad);
}

#[test]
fn a_record_of_a_document_comes_on_one_line() {
    let record = "{\n  \"id\": \"1\",\n  \"content\": \"a\\n  b\"\n}";
    assert_eq!(
        text(&Log.record(record.as_bytes(), None).unwrap()),
        r#"{"id":"1","content":"a\n  b"}"#
    );
}

#[test]
fn a_record_gets_the_id_that_it_lacks() {
    let write =
        |record: &str, id| Log.record(record.as_bytes(), id).map(|line| text(&line).to_owned());
    assert_eq!(write(r#"{"type":"user"}"#, Some("m-2")).unwrap(), r#"{"id":"m-2","type":"user"}"#);
    assert_eq!(write(r#"{"a":1,"id":"x"}"#, Some("x-2")).unwrap(), r#"{"id":"x-2","a":1}"#);
    assert_eq!(write(r#"{"type":"user"}"#, None), None);
    let refused = r#"{"id":"1","type":"gemini","content":{"functionCall":null}}"#;
    for other in ["null", "[]", "7", r#""id""#, r#"{"id":7}"#, refused] {
        assert_eq!(write(other, None), None, "{other}");
    }
}

#[test]
fn no_message_becomes_a_rewind() {
    let line = Log.record(br#"{"$rewindTo":"1","id":"2","content":"x"}"#, None).unwrap();
    assert_eq!(text(&line), r#"{"id":"2","content":"x"}"#);
}

#[test]
fn the_last_word_on_each_field_counts_and_unknown_ones_are_kept() {
    let log = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","era":{"of": 1}}
{"id":"1","type":"user","content":"hi","sessionId":"no"}
{"$set":{"messages":[],"summary":"A title","hasResumableContent":true}}
{"$set":{"lastUpdated":"2026-01-02T00:00:00.000Z","summary":"Another"}}
"#;
    let expected = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z",
        "lastUpdated": "2026-01-02T00:00:00.000Z", "era": {"of": 1}, "summary": "Another"});
    assert_eq!(head(&[(FileRole::Main, fields(log))]), [expected]);
}

#[test]
fn a_document_says_the_same_as_a_log() {
    let document = "{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"h\",\n  \"startTime\": \"2026-01-01T00:00:00.000Z\",\n  \
        \"messages\": [],\n  \"directories\": [\n    \"/a\"\n  ],\n  \"messageCount\": 3,\n  \"lastUpdated\": \"x\"\n}";
    let expected = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z",
        "lastUpdated": "x", "directories": ["/a"]});
    assert_eq!(head(&[(FileRole::Main, fields(document))]), [expected]);
}

#[test]
fn repeated_messages_count() {
    let log = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","summary":"Old","era":1}"#;
    let (id, time) = (SessionId::new("t"), Some("2026-11-16T08:00:00Z".parse().unwrap()));
    let overrides = HeaderOverrides {
        folder: None,
        id: Some(&id),
        project_hash: Some("g"),
        cwd: None,
        title: Some("A \"new\" one"),
        started: None,
        updated: time,
    };
    let expected = json!({"sessionId": "t", "projectHash": "g", "startTime": "2026-01-01T00:00:00.000Z",
        "lastUpdated": "2026-11-16T08:00:00.000Z", "summary": "A \"new\" one", "era": 1});
    assert_eq!(head_with(&[(FileRole::Main, fields(&format!("{log}\n")))], overrides), [expected]);
}

#[test]
fn missing_values_are_generated() {
    let expected = json!({"sessionId": "from-the-name", "projectHash": "unknown",
        "startTime": "2026-11-15T08:00:00.500Z"});
    assert_eq!(head(&[]), [expected]);
}

#[test]
fn stretches_begin_with_the_first_and_lend_a_title() {
    let one = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z","summary":"First"}"#;
    let two = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-02T00:00:00.000Z","summary":null}"#;
    let [head] = <[Value; 1]>::try_from(head(&[
        (FileRole::Part, fields(&format!("{one}\n"))),
        (FileRole::Main, fields(&format!("{two}\n"))),
    ]))
    .unwrap();
    assert_eq!(
        (&head["startTime"], &head["summary"]),
        (&json!("2026-01-01T00:00:00.000Z"), &json!("First"))
    );
}

#[test]
fn a_long_head_goes_on_in_an_update() {
    let long = "x".repeat(5000);
    let only = format!(r#"{{"sessionId":"s","projectHash":"h","summary":"{long}","kind":"main"}}"#);
    let lines = head(&[(FileRole::Main, fields(&format!("{only}\n")))]);
    assert_eq!(lines[0]["kind"], "main");
    assert_eq!(lines[1], json!({"$set": {"summary": long}}));
}

#[test]
fn a_head_stays_a_head_whatever_its_fields_are_called() {
    let log = r#"{"sessionId":"s","projectHash":"h"}
{"$set":{"id":"x","$rewindTo":"y","$set":{},"mood":"good"}}
"#;
    let expected = [
        json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-11-15T08:00:00.500Z", "mood": "good"}),
        json!({"$set": {"id": "x", "$rewindTo": "y", "$set": {}}}),
    ];
    assert_eq!(head(&[(FileRole::Main, fields(log))]), expected);
}

#[test]
fn names_are_those_that_the_agent_gives() {
    let id = SessionId::new("my task/1-and-more");
    let began = Some("2026-11-15T08:05:59Z".parse().unwrap());
    assert_eq!(Log.stem(&id, SessionKind::Main, began), "session-2026-11-15T08-05-my_task_");
    assert_eq!(Log.stem(&id, SessionKind::Subagent, began), "agent-my_task_1-and-more");
    let made_up = Log.made_up_id("/a/checkpoint-x.json");
    assert_eq!(made_up, Log.made_up_id("/a/checkpoint-x.json"));
    assert_eq!(made_up.as_str().split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
}

fn saved(chat: &Value) -> Vec<Value> {
    let records =
        Log.saved(chat.to_string().as_bytes(), Some("2026-01-01T00:00:00Z".parse().unwrap()));
    records.unwrap().iter().map(|record| serde_json::from_slice(record).unwrap()).collect()
}

#[test]
fn a_saved_chat_becomes_records_without_its_set_up() {
    let records = saved(&json!({"history": [
        {"role": "user", "parts": [{"text": "<session_context>\nhere\n</session_context>"}, {"text": "hi"}]},
        {"role": "model", "parts": [{"text": "ho"}]}]}));
    assert_eq!(records[0]["content"], json!([{"text": "hi"}]));
    assert_eq!(
        records[1],
        json!({"id": "turn-2", "timestamp": "2026-01-01T00:00:00.000Z", "type": "gemini", "content": [{"text": "ho"}]})
    );
    let old = saved(&json!([
        {"role": "user", "parts": [{"text": "This is the Gemini CLI. We are setting up the context for our chat."}]},
        {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
        {"role": "user", "parts": [{"text": "hi"}]}]));
    assert_eq!(old.len(), 1);
    assert_eq!(old[0]["content"], json!([{"text": "hi"}]));
}

#[test]
fn calls_get_the_ids_of_their_responses() {
    let records = saved(&json!([
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"text": "a"}, {"functionCall": {"name": "ls", "args": {"n": 1}}},
            {"functionCall": {"name": "cat", "args": {}}}, {"functionCall": {"name": "ls", "args": {"n": 2}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "l1", "name": "ls", "response": {}}},
            {"functionResponse": {"id": "c1", "name": "cat", "response": {}}},
            {"functionResponse": {"id": "l2", "name": "ls", "response": {}}}]}]));
    let calls: Vec<(&Value, &Value)> = records[1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .skip(1)
        .map(|part| (&part["functionCall"]["id"], &part["functionCall"]["args"]["n"]))
        .collect();
    assert_eq!(
        calls,
        [(&json!("l1"), &json!(1)), (&json!("c1"), &Value::Null), (&json!("l2"), &json!(2))]
    );
}

/// Converts every text to upper case, and records its key.
#[derive(Default)]
struct Shout {
    keys: Vec<String>,
    media: usize,
}

impl NativeTexts for Shout {
    fn text(&mut self, key: Option<&str>, text: &str) -> Option<String> {
        self.keys.extend(key.map(str::to_owned));
        Some(text.to_uppercase())
    }

    fn key(&mut self, key: &str) -> Option<String> {
        key.strip_prefix("secret ").map(|_| "[KEY]".into())
    }

    fn name(&mut self, name: &str) -> Option<String> {
        name.strip_prefix("secret ").map(|_| "[NAME]".into())
    }

    /// Marks the pieces that contain `secret` when they are joined.
    fn pieces(&mut self, pieces: &[String]) -> Option<Vec<String>> {
        pieces
            .concat()
            .contains("secret")
            .then(|| pieces.iter().map(|one| format!("<{one}>")).collect())
    }

    fn path_hash(&mut self) -> Option<String> {
        Some("none".into())
    }

    fn media(&mut self) {
        self.media += 1;
    }
}

#[test]
fn texts_are_replaced_and_nothing_else() {
    let line = json!({"id": "a", "type": "gemini", "model": "m", "timestamp": "t", "content": [
        {"text": "said", "thoughtSignature": "sig"}, "bare", {"inlineData": {"mimeType": "image/png", "data": "abcd"}},
        {"functionCall": {"id": "c", "name": "ls", "args": {"id": "free", "list": ["x", {"y": "z"}]}}}],
        "thoughts": [{"subject": "s", "description": "d", "timestamp": "t"}], "tokens": {"input": 1},
        "toolCalls": [{"id": "c", "name": "ls", "status": "success", "args": {"password": "p"}, "result":
            [{"functionResponse": {"id": "c", "name": "ls", "response": {"output": "o"}}}], "resultDisplay": "r"}],
        "news": {"a": ["b"]}})
    .to_string();
    let mut shout = Shout::default();
    let new: Value =
        serde_json::from_slice(&Log.replace(line.as_bytes(), &mut shout).unwrap()).unwrap();
    let expected = json!({"id": "a", "type": "gemini", "model": "m", "timestamp": "t", "content": [
        {"text": "SAID", "thoughtSignature": "sig"}, "BARE", {"inlineData": {"mimeType": "image/png", "data": "abcd"}},
        {"functionCall": {"id": "c", "name": "ls", "args": {"id": "FREE", "list": ["X", {"y": "Z"}]}}}],
        "thoughts": [{"subject": "S", "description": "D", "timestamp": "t"}], "tokens": {"input": 1},
        "toolCalls": [{"id": "c", "name": "ls", "status": "success", "args": {"password": "P"}, "result":
            [{"functionResponse": {"id": "c", "name": "ls", "response": {"output": "O"}}}], "resultDisplay": "R"}],
        "news": {"a": ["B"]}});
    assert_eq!(new, expected);
    assert_eq!(shout.media, 1);
    assert!(shout.keys.contains(&"password".to_owned()), "{:?}", shout.keys);
}

#[test]
fn keys_names_and_split_texts_are_scanned() {
    let line = json!({"id": "secret id", "model": "secret model", "content": [{"text": "sec"}, {"text": "ret"}],
        "toolCalls": [{"id": "1", "name": "secret tool", "args": {"secret key": {"secret inner": 1}, "plain": 2},
            "resultDisplay": [[{"text": "a", "bold": true}, {"text": "sec"}], [{"text": "b"}]]},
            {"resultDisplay": [[{"text": "se"}, {"text": "cret"}], [{"text": "b"}]]}]})
    .to_string();
    let new = Log.replace(line.as_bytes(), &mut Shout::default()).unwrap();
    let new: Value = serde_json::from_slice(&new).unwrap();
    let expected = json!({"id": "[NAME]", "model": "[NAME]", "content": [{"text": "<sec>"}, {"text": "<ret>"}],
        "toolCalls": [{"id": "1", "name": "[NAME]", "args": {"[KEY]": {"[KEY]": 1}, "plain": 2},
            "resultDisplay": [[{"text": "A", "bold": true}, {"text": "SEC"}], [{"text": "B"}]]},
            {"resultDisplay": [[{"text": "<se>"}, {"text": "<cret>"}], [{"text": "<b>"}]]}]});
    assert_eq!(new, expected);
    let nested = format!(
        "{{\"id\":\"1\",\"a\":{}1{}}}",
        "[[{\"text\":".repeat(20_000),
        "}]]".repeat(20_000)
    );
    assert_eq!(Log.replace(nested.as_bytes(), &mut Shout::default()).unwrap().len(), nested.len());
}

#[test]
fn the_rest_of_a_line_is_copied_as_it_is() {
    let line = br#"{"sessionId":"s","projectHash":"h", "summary" : "x","n":1.50}"#;
    let new = Log.replace(line, &mut Shout::default()).unwrap();
    assert_eq!(text(&new), r#"{"sessionId":"s","projectHash":"none", "summary" : "X","n":1.50}"#);
    let deep =
        format!("{{\"id\":\"1\",\"a\":{}\"x\"{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(Log.replace(deep.as_bytes(), &mut Shout::default()).unwrap().len(), deep.len());
}

#[test]
fn the_source_has_this_form() {
    assert_eq!(
        crate::gemini::Gemini.native_format().unwrap().source(),
        crate::gemini::Gemini.name()
    );
}
