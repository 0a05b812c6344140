//! Rules of the format, one by one, on rows that are as short as the agent's loader takes them.

use std::sync::Arc;

use proptest::prelude::*;
use recount_model::{Fate, MessageKind, What};

use super::log::Log;
use crate::bytes::PART;
use crate::outline::Outline;
use crate::source::{Reader as _, Source as _};

fn read(text: &str) -> Outline {
    read_as("0e790681-9c29-4bb7-9c9c-15e77218e922.jsonl", text.as_bytes())
}

fn read_as(file: &str, bytes: &[u8]) -> Outline {
    let mut log = Box::new(Log::new(Arc::from(file)));
    let used = log.feed(bytes);
    log.finish(bytes.get(used..).unwrap());
    log.into_outline()
}

/// A row of a user.
fn user(id: &str, parent: &str, text: &str) -> String {
    row("user", id, parent, &format!(r#""message":{{"role":"user","content":"{text}"}}"#))
}

/// A row of an answer with one text block.
fn answer(id: &str, parent: &str, message: &str, text: &str) -> String {
    let block = format!(r#"{{"type":"text","text":"{text}"}}"#);
    blocks(id, parent, message, &block)
}

fn blocks(id: &str, parent: &str, message: &str, block: &str) -> String {
    let body = format!(
        r#""message":{{"id":"{message}","model":"claude-opus-5-5","role":"assistant","content":[{block}],"stop_reason":"end_turn","usage":{{"input_tokens":4,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":20}}}}"#
    );
    row("assistant", id, parent, &body)
}

fn result(id: &str, parent: &str, call: &str, is_error: bool) -> String {
    row(
        "user",
        id,
        parent,
        &format!(
            r#""message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{call}","content":"out","is_error":{is_error}}}]}}"#
        ),
    )
}

fn row(kind: &str, id: &str, parent: &str, body: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}",{body},"uuid":"{id}","timestamp":"2026-11-15T18:00:00.000Z","cwd":"/home/dev/code/shop","sessionId":"s"}}"#
    ) + "\n"
}

/// Kind, fate and id of every message.
fn told(outline: &Outline) -> Vec<(MessageKind, Fate, &str)> {
    let entries = outline.entries.iter();
    entries.map(|entry| (entry.kind, entry.fate, entry.id.as_deref().unwrap())).collect()
}

fn strict(outline: &Outline) -> Vec<&str> {
    let shown = outline.strict.iter();
    shown.map(|shown| outline.entries[shown.entry as usize].id.as_deref().unwrap()).collect()
}

#[test]
fn rows_of_one_answer_are_one_message_with_its_results() {
    let call = |id| {
        format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls"}}}}"#)
    };
    // Calls are chained, each result hangs under its own call, and the next answer continues one of them.
    let text = [
        user("u1", "", "List the files"),
        blocks("a1", "u1", "m1", r#"{"type":"thinking","thinking":"hm","signature":"x"}"#),
        blocks("a2", "a1", "m1", &call("c1")),
        blocks("a3", "a2", "m1", &call("c2")),
        result("r1", "a2", "c1", true),
        result("r2", "a3", "c2", false),
        answer("a4", "r2", "m2", "Done."),
    ];
    let outline = read(&text.concat());
    assert_eq!(
        told(&outline),
        [
            (MessageKind::Prompt, Fate::Kept, "u1"),
            (MessageKind::Answer, Fate::Kept, "m1"),
            (MessageKind::Answer, Fate::Kept, "m2"),
        ]
    );
    let first = &outline.entries[1];
    assert_eq!((first.pieces.count, first.calls), (4, [2, 1, 0]));
    let tokens = first.tokens.unwrap();
    assert_eq!(
        (tokens.input, tokens.cached, tokens.cache_write, tokens.output),
        (1104, 1000, 100, 20)
    );
    assert_eq!(outline.problems.total, 0);
}

#[test]
fn the_largest_of_each_figure_counts() {
    let text = answer("a1", "", "m1", "a")
        + &answer("a2", "a1", "m1", "b").replace("\"output_tokens\":20", "\"output_tokens\":700");
    let outline = read(&text);
    assert_eq!(outline.entries[0].tokens.unwrap().output, 700);
}

#[test]
fn a_prompt_that_continues_an_older_row_leaves_the_others_behind() {
    let text = [
        user("u1", "", "One"),
        answer("a1", "u1", "m1", "1"),
        user("u2", "a1", "Two"),
        answer("a2", "u2", "m2", "2"),
        user("u3", "a1", "Three"),
        answer("a3", "u3", "m3", "3"),
    ];
    let outline = read(&text.concat());
    assert_eq!(strict(&outline), ["u1", "m1", "u3", "m3"]);
    let undone: Vec<_> =
        told(&outline).into_iter().filter(|(_, fate, _)| *fate != Fate::Kept).collect();
    assert_eq!(
        undone,
        [(MessageKind::Prompt, Fate::Rewound, "u2"), (MessageKind::Answer, Fate::Rewound, "m2")]
    );
    // The agent records where it was; it continues with the newest row below that.
    let back = text.concat()
        + "{\"type\":\"last-prompt\",\"lastPrompt\":\"Two\",\"leafUuid\":\"u2\",\"sessionId\":\"s\"}\n";
    assert_eq!(strict(&read(&back)), ["u1", "m1", "u2", "m2"]);
    let gone = text.concat() + "{\"type\":\"last-prompt\",\"leafUuid\":\"nowhere\"}\n";
    assert_eq!(strict(&read(&gone)), ["u1", "m1", "u3", "m3"]);
    let set = text.concat() + "{\"type\":\"last-prompt\",\"leafUuid\":\"a1\",\"explicit\":true}\n";
    assert_eq!(strict(&read(&set)), ["u1", "m1"]);
}

#[test]
fn a_compaction_is_crossed_and_what_it_kept_is_shown() {
    let boundary = |body: &str| {
        row(
            "system",
            "b1",
            "",
            &format!(
                r#""subtype":"compact_boundary","logicalParentUuid":"a2","content":"x"{body}"#
            ),
        )
    };
    let summary = user("u3", "b1", "This session is being continued")
        .replace("\"type\":\"user\"", "\"type\":\"user\",\"isCompactSummary\":true");
    let text = |boundary: String| {
        [
            user("u1", "", "One"),
            answer("a1", "u1", "m1", "1"),
            user("u2", "a1", "Two"),
            answer("a2", "u2", "m2", "2"),
            boundary,
            summary.clone(),
            user("u4", "u3", "Four"),
        ]
        .concat()
    };
    let outline = read(&text(boundary("")));
    assert_eq!(strict(&outline), ["u3", "u4"]);
    assert_eq!(outline.entries.iter().filter(|entry| entry.fate == Fate::Compressed).count(), 4);
    assert_eq!(outline.entries[4].kind, MessageKind::Summary);
    let kept = r#","compactMetadata":{"trigger":"auto","preservedMessages":{"anchorUuid":"u3","uuids":["a2"]}}"#;
    let outline = read(&text(boundary(kept)));
    assert_eq!(strict(&outline), ["u3", "m2", "u4"]);
    assert_eq!(outline.problems.total, 0);
    // If its parent is missing, it continues the row before it in the file.
    let lost = text(boundary(""))
        .replace("\"logicalParentUuid\":\"a2\"", "\"logicalParentUuid\":\"lost\"");
    let outline = read(&lost);
    assert_eq!(outline.entries.iter().filter(|entry| entry.fate == Fate::Compressed).count(), 4);
}

#[test]
fn a_broken_chain_goes_on_and_is_reported() {
    let text = [user("u1", "", "One"), answer("a1", "u1", "m1", "1"), user("u2", "lost", "Two")];
    let outline = read(&text.concat());
    assert_eq!(strict(&outline), ["u1", "m1", "u2"]);
    assert_eq!(outline.problems.kept[0].what, What::BrokenChain);
    // A row may come before the one that it continues.
    let text = [answer("a1", "u1", "m1", "1"), user("u1", "", "One")];
    let outline = read(&text.concat());
    assert_eq!((strict(&outline), outline.problems.total), (vec!["u1", "m1"], 0));
    assert_eq!(told(&outline)[0].2, "u1");
    // And two may continue each other.
    let text = [user("u1", "u2", "One"), user("u2", "u1", "Two")];
    assert_eq!(read(&text.concat()).entries.len(), 2);
}

#[test]
fn agents_inside_a_file_are_sessions_of_their_own() {
    let side = |row: String| row.replace("\"isSidechain\":false", "\"isSidechain\":true");
    let task = r#"{"type":"tool_use","id":"c1","name":"Task","input":{"prompt":"Count"}}"#;
    let text = [
        user("u1", "", "Have it counted"),
        blocks("a1", "u1", "m1", task),
        side(user("s1", "", "Count")),
        side(answer("s2", "s1", "m2", "Three")),
        result("r1", "a1", "c1", false),
        answer("a2", "r1", "m3", "Three."),
    ];
    let outline = read(&text.concat());
    assert_eq!(strict(&outline), ["u1", "m1", "m3"]);
    let agent = &outline.others[0];
    assert_eq!((outline.others.len(), strict(agent)), (1, vec!["s1", "m2"]));
    assert_eq!(agent.head.session_id.as_ref().unwrap().as_str(), "s1");
    assert_eq!(agent.head.parent, outline.head.session_id);
    assert_eq!(agent.first_prompt.as_deref(), Some("Count"));
    assert_eq!(outline.agent_calls[0].agent.as_deref(), Some("s1"));
    let alone = side(user("s1", "", "Warmup")) + &side(answer("s2", "s1", "m2", "Ready"));
    let agent = read_as("/x/agent-8e841387.jsonl", alone.as_bytes());
    assert_eq!(agent.head.session_id.as_ref().unwrap().as_str(), "8e841387");
    assert!(agent.head.subagent && agent.head.is_background && agent.others.is_empty());
    let resumed =
        side(answer("s2", "s1", "m2", "Ready")).replace(r#""sessionId":"s""#, r#""sessionId":"t""#);
    let agent = side(user("s1", "", "Warmup")) + &resumed;
    let agent = read_as("/x/agent-8e841387.jsonl", agent.as_bytes());
    assert_eq!(agent.head.parent.as_ref().unwrap().as_str(), "t", "what it was started for");
}

/// A record of the queue.
fn queued(operation: &str, text: &str) -> String {
    let content = if text.is_empty() { String::new() } else { format!(r#","content":"{text}""#) };
    format!(
        "{{\"type\":\"queue-operation\",\"operation\":\"{operation}\",\"timestamp\":\"2026-11-15T10:00:05.000Z\"{content}}}\n"
    )
}

#[test]
fn prompts_that_only_the_queue_has_are_prompts_once() {
    let command = |id: &str, parent: &str, text: &str| {
        let attachment = format!(r#""attachment":{{"type":"queued_command","prompt":"{text}"}}"#);
        row("attachment", id, parent, &attachment)
    };
    let text = [
        queued("enqueue", "One"),
        queued("dequeue", ""),
        user("u1", "", "One"),
        blocks("a1", "u1", "m1", r#"{"type":"tool_use","id":"c1","name":"Bash","input":{}}"#),
        queued("enqueue", "/clear"),
        queued("enqueue", "<task-notification>done"),
        queued("enqueue", "Two"),
        queued("enqueue", "Three"),
        queued("remove", ""),
        queued("remove", ""),
        queued("remove", ""),
        result("r1", "a1", "c1", false),
        // A release that writes a row for one.
        command("t1", "r1", "Three"),
        answer("a2", "t1", "m2", "Done."),
        // Typed once more, later.
        user("u2", "a2", "Two"),
        answer("a3", "u2", "m3", "Again."),
        queued("enqueue", "Four"),
        queued("popAll", ""),
        queued("remove", ""),
    ]
    .concat();
    let outline = read(&text);
    let ids: Vec<&str> = outline.entries.iter().map(|entry| entry.id.as_deref().unwrap()).collect();
    let queue = ids.iter().position(|id| id.starts_with("queued-")).unwrap();
    assert_eq!((ids.len(), queue), (7, 2), "{ids:?}");
    let entry = &outline.entries[queue];
    assert_eq!((entry.kind, entry.fate), (MessageKind::Prompt, Fate::Kept));
    assert_eq!(strict(&outline), ["u1", "m1", "t1", "m2", "u2", "m3"]);
    let span = outline.versions[entry.best as usize].span;
    let start = usize::try_from(span.offset).unwrap();
    let line = text.get(start..start + usize::try_from(span.bytes).unwrap()).unwrap();
    assert!(line.contains("Two"), "{line}");
}

#[test]
fn what_was_typed_is_told_from_what_the_agent_wrote() {
    let text = [
        user("u1", "", "<local-command-caveat>x")
            .replace("\"type\":\"user\"", "\"type\":\"user\",\"isMeta\":true"),
        user("u2", "u1", "<command-name>/clear</command-name>"),
        user("u3", "u2", "<bash-input>ls</bash-input>"),
        user("u4", "u3", "<div> is broken"),
        user("u5", "u4", "Fix it"),
        row(
            "attachment",
            "t1",
            "u5",
            r#""attachment":{"type":"queued_command","prompt":"And this"}"#,
        ),
        row("attachment", "t2", "t1", r#""attachment":{"type":"date","date":"2026-11-15"}"#),
        row("attachment", "t3", "t2", r#""attachment":{"type":"from_the_future"}"#),
        row(
            "user",
            "u6",
            "t3",
            r#""message":{"role":"user","content":[{"type":"image","source":{}}]}"#,
        ),
        "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"Fix it\"}\n"
            .to_owned(),
        "{\"type\":\"of-the-future\",\"x\":1}\n".to_owned(),
    ];
    let outline = read(&text.concat());
    let kinds: Vec<MessageKind> = outline.entries.iter().map(|entry| entry.kind).collect();
    let told: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    let wanted = "context notice shell prompt prompt prompt context context prompt";
    assert_eq!(told.join(" "), wanted);
    assert_eq!(outline.first_prompt.as_deref(), Some("Fix it"), "a tag is no title");
    assert_eq!(outline.last_prompt.as_deref(), Some("And this"));
    let unknown: Vec<What> = outline.problems.kept.iter().map(|problem| problem.what).collect();
    assert_eq!(unknown, [What::UnknownType, What::UnknownRecord]);
}

#[test]
fn a_row_that_says_who_wrote_it_is_believed() {
    let with = |row: String, more: &str| {
        row.replacen("{\"parentUuid\"", &format!("{{{more},\"parentUuid\""), 1)
    };
    let text = [
        with(user("u1", "", "Fix it"), r#""origin":{"kind":"human"},"promptSource":"typed""#),
        with(
            user("u2", "u1", "The build has ended"),
            r#""origin":{"kind":"channel","server":"x"}"#,
        ),
        with(user("u3", "u2", "Go on"), r#""promptSource":"system""#),
        with(user("u4", "u3", "And this"), r#""promptSource":"queued""#),
    ];
    let outline = read(&text.concat());
    let kinds: Vec<String> = outline.entries.iter().map(|entry| entry.kind.to_string()).collect();
    assert_eq!(kinds, ["prompt", "notice", "notice", "prompt"]);
    assert_eq!(outline.problems.kept, []);
}

#[test]
fn a_pointer_says_where_to_go_on_until_a_compaction() {
    let pointer = |row: &str, more: &str| {
        format!("{{\"type\":\"last-prompt\",\"leafUuid\":\"{row}\"{more},\"sessionId\":\"s\"}}\n")
    };
    let early = |row: String| row.replace("18:00:00", "17:00:00");
    let start = [
        user("u1", "", "One"),
        answer("a1", "u1", "m1", "1"),
        early(user("u2", "a1", "Two")),
        early(answer("a2", "u2", "m2", "2")),
        user("u3", "a1", "Three"),
    ]
    .concat();
    assert_eq!(strict(&read(&start)), ["u1", "m1", "u3"], "the newest");
    let chosen = start.clone() + &pointer("u2", "");
    assert_eq!(strict(&read(&chosen)), ["u1", "m1", "u2", "m2"], "the newest below the pointer");
    let missing = start.clone() + &pointer("none", "");
    assert_eq!(strict(&read(&missing)), ["u1", "m1", "u3"]);
    let boundary =
        row("system", "b1", "", r#""subtype":"compact_boundary","logicalParentUuid":"u3""#);
    let summary = user("s1", "b1", "So far")
        .replace("\"type\":\"user\"", "\"isCompactSummary\":true,\"type\":\"user\"");
    let compacted = chosen + &boundary + &summary + &user("u4", "s1", "Four");
    assert_eq!(strict(&read(&compacted)), ["s1", "u4"]);
    let nothing = "00000000-0000-0000-0000-000000000000";
    let again = start + &pointer(nothing, ",\"explicit\":true") + &user("u9", "", "Anew");
    assert_eq!(strict(&read(&again)), ["u9"]);
}

#[test]
fn rows_of_an_unknown_kind_keep_the_chain_together() {
    let text = row("from-the-future", "x1", "", r#""a":1"#) + &user("u1", "x1", "One");
    let outline = read(&text);
    assert_eq!(strict(&outline), ["x1", "u1"]);
    let problems: Vec<What> = outline.problems.kept.iter().map(|problem| problem.what).collect();
    assert_eq!(problems, [What::UnknownRecord], "and no broken chain");
}

#[test]
fn titles_come_in_the_agents_own_order() {
    let base = user("u1", "", "Say hello");
    let side = |kind: &str, key: &str, text: &str| {
        format!("{{\"type\":\"{kind}\",\"{key}\":\"{text}\"}}\n")
    };
    let ai = base + &side("ai-title", "aiTitle", "By the model");
    assert_eq!(read(&ai).head.summary.as_deref(), Some("By the model"));
    let custom = ai + &side("custom-title", "customTitle", "Mine");
    assert_eq!(read(&custom).head.name.as_deref(), Some("Mine"));
    let name = custom + &side("agent-name", "agentName", "Newest");
    assert_eq!(read(&name).head.name.as_deref(), Some("Newest"));
    let none =
        name + &side("agent-name", "agentName", "") + &side("custom-title", "customTitle", "");
    assert_eq!(read(&none).head.name, None);
}

#[test]
fn what_a_crash_leaves_is_read_as_far_as_it_goes() {
    let (one, two) = (user("u1", "", "One"), user("u2", "u1", "Two"));
    let glued = format!("{}{two}", one.trim_end());
    assert_eq!(read(&glued).entries.len(), 2);
    let torn = format!("{}{two}", one.split_at(60).0);
    let outline = read(&torn);
    assert_eq!((outline.entries.len(), outline.problems.kept[0].what), (1, What::BrokenLine));
    let padded = format!("{one}\0\0\0{two}");
    assert_eq!((read(&padded).entries.len(), read(&padded).problems.total), (2, 0));
    let tail = format!("{one}{}", two.split_at(60).0);
    assert_eq!(read(&tail).problems.kept[0].what, What::TornTail);
}

fn sample() -> String {
    let task = r#"{"type":"tool_use","id":"c1","name":"Task","input":{"prompt":"Count"}}"#;
    [
        "{\"type\":\"summary\",\"summary\":\"A title\",\"leafUuid\":\"a2\"}\n".to_owned(),
        user("u1", "", "One 商店"),
        blocks("a1", "u1", "m1", task),
        user("s1", "", "Count").replace("\"isSidechain\":false", "\"isSidechain\":true"),
        result("r1", "a1", "c1", false),
        answer("a2", "r1", "m2", "2"),
        user("u2", "a1", "Two"),
        row(
            "system",
            "b1",
            "",
            r#""subtype":"compact_boundary","logicalParentUuid":"u2","content":"x""#,
        ),
        user("u3", "b1", "Three"),
        "{\"type\":\"last-prompt\",\"leafUuid\":\"u3\"}\n".to_owned(),
        answer("a3", "u3", "m3", "3"),
    ]
    .concat()
}

/// All that an outline says.
fn all(outline: &Outline) -> String {
    format!("{outline:?}")
}

#[test]
fn two_cores_read_what_one_reads() {
    let filler = "x\\n".repeat(500);
    let mut text = String::new();
    let mut parent = String::new();
    for n in 0.. {
        let id = format!("u{n}");
        text += &match n % 6 {
            0 => user(&id, &parent, &filler),
            5 if n % 10 == 5 => "broken\n".to_owned(),
            // Larger than a part.
            4 if n % 50 == 4 => user(&id, &parent, &"y".repeat(3 * PART)),
            // Rows of one answer may be in two parts.
            _ => answer(&id, &parent, &format!("m{}", n / 3), &filler),
        };
        parent = id;
        if text.len() > 5_000_000 {
            break;
        }
    }
    // Too many lines to parse all of them ahead, and too many records in a line.
    text += &"{}\n\n".repeat(PART / 2);
    text += &"{}".repeat(PART);
    text += &user("last", &parent, "Last");
    let read = |is_core_idle: bool| {
        let mut log = Log::new(Arc::from("0e790681-9c29-4bb7-9c9c-15e77218e922.jsonl"));
        log.may_share(is_core_idle);
        let used = log.feed(text.as_bytes());
        log.finish(&text.as_bytes()[used..]);
        all(&log.outline())
    };
    assert!(read(true) == read(false));
}

proptest! {
    #[test]
    fn in_pieces_it_reads_as_at_once(cuts in prop::collection::vec(0..2000_usize, 0..6)) {
        let text = sample();
        let at_once = read(&text);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        let file: Arc<str> = Arc::from("0e790681-9c29-4bb7-9c9c-15e77218e922.jsonl");
        let mut log = Log::new(Arc::clone(&file));
        let mut start = 0;
        for cut in cuts {
            start += log.feed(&text.as_bytes()[start..cut.max(start)]);
            // As another process would continue.
            let saved = log.save().unwrap();
            prop_assert_eq!(saved.offset, start as u64);
            log = Log::resume(&saved.state, &file).unwrap();
        }
        log.finish(&text.as_bytes()[start..]);
        prop_assert_eq!(all(&log.outline()), all(&at_once));
    }

    #[test]
    fn damage_is_reported_and_never_fatal(at in 0..3000_usize, byte: u8, length in 0..200_usize) {
        let mut bytes = sample().into_bytes();
        let at = at.min(bytes.len() - 1);
        bytes[at] = byte;
        let end = (at + length).min(bytes.len());
        let mut cut = bytes.clone();
        cut.drain(at..end);
        crate::fuzz::transcript(&bytes);
        crate::fuzz::transcript(&cut);
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        crate::fuzz::transcript(&bytes);
    }
}

/// The id and the output tokens of every answer.
fn answers(outline: &Outline) -> Vec<(&str, u64)> {
    let answers = outline.entries.iter().filter(|entry| entry.kind == MessageKind::Answer);
    answers.map(|entry| (entry.id.as_deref().unwrap(), entry.tokens.unwrap().output)).collect()
}

fn with_request(row: &str, request: &str, output: u64) -> String {
    row.replace("\"uuid\"", &format!("\"requestId\":\"{request}\",\"uuid\""))
        .replace("\"output_tokens\":20", &format!("\"output_tokens\":{output}"))
}

#[test]
fn an_answer_is_identified_by_message_and_request() {
    let id = "msg_01XFDUDYJgAACzvnptvVoYEL";
    let rows = |id: &str| {
        [
            with_request(&answer("a1", "", id, "a"), "req_1", 1),
            with_request(&answer("a2", "a1", id, "b"), "req_1", 30),
            // A gateway that gives every answer the same id.
            with_request(&answer("a3", "a2", id, "c"), "req_2", 5),
            with_request(&answer("a4", "a3", id, "d"), "req_1", 31),
            with_request(&answer("a5", "a4", id, "e"), "req_2", 6),
            // Copies and some gateways have no request id.
            answer("a6", "a5", id, "f").replace("\"output_tokens\":20", "\"output_tokens\":40"),
        ]
    };
    let split = format!("{id}:req_2");
    assert_eq!(answers(&read(&rows(id).concat())), [(id, 40), (&*split, 6)]);
    // Short ids may be counted from one in every session.
    assert_eq!(answers(&read(&rows("m1").concat())), [("m1:req_1", 40), ("m1:req_2", 6)]);
    // A row without a request id may come first.
    let rows = [answer("a1", "", id, "a"), with_request(&answer("a2", "a1", id, "b"), "req_1", 30)];
    assert_eq!(answers(&read(&rows.concat())), [(id, 30)]);
}

#[test]
fn many_answers_with_one_id_stay_linear() {
    let mut text = String::new();
    for at in 0..3000 {
        let row = answer(&format!("a{at}"), "", "m1", "a");
        text += &with_request(&row, &format!("req_{at}"), 1);
    }
    let outline = read(&text);
    assert_eq!(answers(&outline).len(), 3000);
    let keys: std::collections::BTreeSet<_> =
        outline.entries.iter().map(|entry| super::Claude.request_key(&outline, entry)).collect();
    assert_eq!(keys.len(), 3000);
}

#[test]
fn a_rewind_to_before_the_first_prompt_leaves_only_what_was_said_since() {
    let nothing = "{\"type\":\"last-prompt\",\"leafUuid\":\"00000000-0000-0000-0000-000000000000\",\"explicit\":true}\n";
    let text = user("u1", "", "One") + &answer("a1", "u1", "m1", "1") + nothing;
    let outline = read(&text);
    assert_eq!(strict(&outline), [""; 0]);
    assert!(outline.entries.iter().all(|entry| entry.fate == Fate::Rewound));
    let outline = read(&(text + &user("u2", "", "Two") + &answer("a2", "u2", "m2", "2")));
    assert_eq!(strict(&outline), ["u2", "m2"]);
}

#[test]
fn a_row_of_a_new_type_is_shown_and_counted() {
    let new = row("telepathy", "n1", "u1", r#""content":"a thought""#);
    let text = user("u1", "", "One") + &new + &answer("a1", "n1", "m1", "1");
    let outline = read(&text);
    assert_eq!(strict(&outline), ["u1", "n1", "m1"]);
    assert_eq!(outline.entries[1].kind, MessageKind::Notice);
    assert_eq!(outline.problems.not_understood, 1);
}

#[test]
fn a_command_is_the_title_where_nothing_else_was_typed() {
    let command =
        user("u1", "", "<command-name>/cost</command-name>\\n<command-args></command-args>");
    assert_eq!(read(&command).first_prompt.as_deref(), Some("/cost"));
    let outline = read(&(command + &user("u2", "u1", "Two")));
    assert_eq!(outline.first_prompt.as_deref(), Some("Two"));
}

#[test]
fn an_unanswered_prompt_is_the_same_in_a_copy_under_new_ids() {
    let old = |text: String| text.replace(r#""sessionId""#, r#""version":"1.0.24","sessionId""#);
    let keys = |text: &[String]| -> Vec<u64> {
        let outline = read(&old(text.concat()));
        let key = |at| super::Claude.message_key(&outline, at);
        (0..outline.entries.len()).filter_map(key).collect()
    };
    let original = keys(&[
        user("u1", "", "One"),
        answer("a1", "u1", "m1", "1"),
        user("u2", "a1", "Stopped"),
        user("u3", "u2", "Stopped"),
    ]);
    let copy = keys(&[
        user("v1", "", "One"),
        answer("b1", "v1", "m1", "1"),
        user("v2", "b1", "Stopped"),
        user("v3", "v2", "Stopped"),
        user("v4", "v3", "Two"),
        answer("b4", "v4", "m4", "2"),
    ]);
    assert_eq!(copy.get(..4), original.get(..4));
    let all: std::collections::HashSet<&u64> = copy.iter().chain(&original).collect();
    assert_eq!(all.len(), 6, "the same words twice are two prompts");
    let newer =
        read(&user("u1", "", "One").replace(r#""sessionId""#, r#""version":"2.1.20","sessionId""#));
    let next =
        read(&user("u9", "", "One").replace(r#""sessionId""#, r#""version":"2.1.20","sessionId""#));
    let key = |outline: &Outline| super::Claude.message_key(outline, 0);
    assert_ne!(key(&newer), key(&next), "later releases keep ids");
}

#[test]
fn a_warm_up_that_goes_on_below_another_session_is_one() {
    let side = |row: String| row.replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let home = recount_testkit::Home::empty();
    let place = |session: &str, agent: &str| {
        format!(".claude/projects/-home-dev-code-shop/{session}/subagents/agent-{agent}.jsonl")
    };
    home.write(&place("s", "a1"), side(user("s1", "", "Warmup")));
    home.write(&place("t", "a1"), side(answer("s2", "s1", "m1", "Ready")));
    // The start of this one was lost.
    home.write(&place("t", "a2"), side(answer("s4", "s3", "m2", "Done")));
    let background = |session: &str, agent: &str| {
        let path = home.path().join(place(session, agent));
        super::Claude.outline(&path, &mut crate::bytes::Buffer::new()).head.is_background
    };
    assert_eq!([background("s", "a1"), background("t", "a1")], [true, true]);
    assert!(!background("t", "a2"));
}
