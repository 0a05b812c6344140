//! Rules of the format, one by one, on records that are as short as they can be.

use std::fmt::Write as _;
use std::sync::Arc;

use recount_model::{Fate, MessageKind, What};

use super::{Codex, reading};
use crate::outline::Outline;
use crate::source::Source as _;

/// Ids of the same form as real ones; the first digits are their time.
const PARENT: &str = "01a1e000-0000-7000-8000-000000000001";
const CHILD: &str = "01a1e100-0000-7000-8000-000000000002";

fn read(text: &str) -> Outline {
    let mut reader = reading::reader(text.as_bytes(), &Arc::from("rollout.jsonl"));
    let used = reader.feed(text.as_bytes());
    reader.finish(text.as_bytes().get(used..).unwrap());
    reader.into_outline()
}

/// Tagged lines, a second apart.
fn lines(records: &[(&str, String)]) -> String {
    let mut all = String::new();
    for (at, (kind, payload)) in records.iter().enumerate() {
        writeln!(
            all,
            r#"{{"timestamp":"2026-11-15T18:{:02}:{:02}.000Z","type":"{kind}","payload":{payload}}}"#,
            at / 60,
            at % 60
        )
        .unwrap();
    }
    all
}

fn meta(id: &str, more: &str) -> (&'static str, String) {
    let fields = format!(
        r#"{{"id":"{id}","timestamp":"2026-11-15T18:00:00.000Z","cwd":"/home/dev/code/shop","originator":"codex_cli_rs","cli_version":"0.104.0"{more}}}"#
    );
    ("session_meta", fields)
}

fn user(words: &str) -> (&'static str, String) {
    let item = format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{words}"}}]}}"#
    );
    ("response_item", item)
}

fn typed(words: &str) -> (&'static str, String) {
    ("event_msg", format!(r#"{{"type":"user_message","message":"{words}","images":[]}}"#))
}

fn answer(words: &str) -> (&'static str, String) {
    let item = format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{words}"}}]}}"#
    );
    ("response_item", item)
}

fn turn(number: u32, of: &str) -> (&'static str, String) {
    let id = format!("{}{number:012x}", of.get(..24).unwrap());
    ("event_msg", format!(r#"{{"type":"task_started","turn_id":"{id}"}}"#))
}

fn event(fields: &str) -> (&'static str, String) {
    ("event_msg", format!("{{{fields}}}"))
}

fn counted(total: u64, last: u64) -> (&'static str, String) {
    let figures = |input: u64| {
        format!(r#"{{"input_tokens":{input},"output_tokens":1,"total_tokens":{}}}"#, input + 1)
    };
    let (total, last) = (figures(total), figures(last));
    event(&format!(
        r#""type":"token_count","info":{{"total_token_usage":{total},"last_token_usage":{last}}}"#
    ))
}

fn told(outline: &Outline) -> Vec<(MessageKind, Fate)> {
    outline.entries.iter().map(|entry| (entry.kind, entry.fate)).collect()
}

fn tokens(outline: &Outline) -> u64 {
    outline.entries.iter().filter_map(|entry| entry.tokens).map(|tokens| tokens.total).sum()
}

fn prompts(outline: &Outline, fate: Fate) -> usize {
    told(outline).into_iter().filter(|one| *one == (MessageKind::Prompt, fate)).count()
}

#[test]
fn what_the_agent_tells_of_itself_is_no_prompt_even_as_an_event() {
    let outline = read(&lines(&[
        meta(PARENT, ""),
        typed("<user_instructions>\\n\\nBe brief.</user_instructions>"),
        user("<environment_context>\\n<cwd>/home/dev/code/shop</cwd></environment_context>"),
        typed("<environment_context>\\n<cwd>/home/dev/code/shop</cwd></environment_context>"),
        user("Fix it"),
        typed("Fix it"),
        answer("Done"),
    ]));
    let wanted = [MessageKind::Context, MessageKind::Prompt, MessageKind::Answer];
    assert_eq!(told(&outline), wanted.map(|kind| (kind, Fate::Kept)));
    assert_eq!(outline.first_prompt.as_deref(), Some("Fix it"));
    assert_eq!(outline.problems.total, 0);
}

#[test]
fn turns_that_are_rolled_back_are_the_last_ones_that_still_stand() {
    let mut records = vec![meta(PARENT, "")];
    for words in ["One", "Two", "Three"] {
        records.extend([user(words), typed(words), answer("ok")]);
    }
    records.push(event(r#""type":"thread_rolled_back","num_turns":1"#));
    records.extend([user("Four"), typed("Four"), answer("ok")]);
    records.push(event(r#""type":"thread_rolled_back","num_turns":2"#));
    let outline = read(&lines(&records));
    assert_eq!((prompts(&outline, Fate::Kept), prompts(&outline, Fate::Rewound)), (1, 3));
    assert_eq!(outline.strict.len(), 2);
    records.push(event(r#""type":"thread_rolled_back","num_turns":99"#));
    assert_eq!(read(&lines(&records)).strict.len(), 0, "no more than there are");
}

#[test]
fn a_copied_fork_counts_what_it_asked_itself() {
    let outline = read(&lines(&[
        meta(CHILD, &format!(r#","forked_from_id":"{PARENT}""#)),
        meta(PARENT, ""),
        event(&format!(
            r#""type":"thread_name_updated","thread_id":"{PARENT}","thread_name":"Parent""#
        )),
        turn(1, PARENT),
        user("One"),
        typed("One"),
        answer("1"),
        counted(100, 100),
        turn(2, CHILD),
        user("Two"),
        typed("Two"),
        answer("2"),
        counted(150, 50),
    ]));
    assert_eq!(outline.head.session_id.as_ref().unwrap().as_str(), CHILD);
    assert_eq!(outline.head.name, None, "the name of its parent");
    assert_eq!(prompts(&outline, Fate::Kept), 2);
    assert_eq!(tokens(&outline), 50);
    let times: Vec<Option<i64>> = outline.entries.iter().map(|entry| entry.time).collect();
    let began = super::meta::uuid_time(PARENT);
    let own = "2026-11-15T18:00:09Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let expected = [began, began, Some(own), Some(own + 2000)];
    assert_eq!(times, expected, "copies have the time of their turn, not that of the copy");
    assert!(outline.head.has_copies && outline.head.start > began);
}

#[test]
fn a_name_that_the_file_records_is_the_title() {
    let mut records = vec![meta(PARENT, ""), user("One"), typed("One")];
    for name in ["First", "Second"] {
        records.push(event(&format!(
            r#""type":"thread_name_updated","thread_id":"{PARENT}","thread_name":"{name}""#
        )));
    }
    assert_eq!(read(&lines(&records)).head.name.as_deref(), Some("Second"));
}

#[test]
fn a_sub_agent_that_begins_with_its_parents_records_was_told_them() {
    let more = format!(
        r#","parent_thread_id":"{PARENT}","thread_source":"subagent","agent_role":"explorer","agent_nickname":"Ada","history_mode":"paginated","subagent_history_start_ordinal":6"#
    );
    let records = [
        meta(CHILD, &more),
        user("One"),
        event(r#""type":"item_completed","item":{"type":"UserMessage","id":"x","content":[{"type":"text","text":"One"}]}"#),
        answer("1"),
        counted(100, 100),
        event(r#""type":"turn_aborted","reason":"interrupted""#),
        ("response_item", r#"{"type":"agent_message","author":"lead","recipient":"lead/a","content":[{"type":"input_text","text":"Count files"}]}"#.to_owned()),
        answer("42"),
        counted(130, 30),
    ];
    let numbered: String = lines(&records)
        .lines()
        .enumerate()
        .map(|(ordinal, line)| line.replacen('{', &format!("{{\"ordinal\":{ordinal},"), 1) + "\n")
        .collect();
    let outline = read(&numbered);
    let agent = outline.head.agent.clone().unwrap();
    assert_eq!((agent.kind.as_deref(), agent.name.as_deref()), (Some("explorer"), Some("Ada")));
    assert_eq!(outline.head.parent.as_ref().unwrap().as_str(), PARENT);
    assert_eq!((prompts(&outline, Fate::Kept), tokens(&outline)), (0, 30));
    let answers = outline.entries.iter().filter(|entry| entry.kind == MessageKind::Answer).count();
    assert_eq!(answers, 1);
    assert_eq!(outline.problems.kept, []);
}

#[test]
fn steps_of_a_script_are_calls_of_the_answer_that_wrote_it() {
    let step = |id: &str, code: u8| {
        event(&format!(
            r#""type":"item_completed","item":{{"type":"CommandExecution","id":"{id}","command":["ls"],"status":"completed","exit_code":{code}}}"#
        ))
    };
    let outline = read(&lines(&[
        meta(PARENT, ""),
        user("Go"),
        event(
            r#""type":"item_completed","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"Go"}]}"#,
        ),
        (
            "response_item",
            r#"{"type":"custom_tool_call","name":"exec","input":"await run('ls')","call_id":"c1"}"#
                .to_owned(),
        ),
        step("exec-1", 0),
        step("exec-2", 2),
        (
            "response_item",
            r#"{"type":"custom_tool_call_output","call_id":"c1","output":"ok"}"#.to_owned(),
        ),
        answer("Done"),
    ]));
    let calling = &outline.entries[1];
    assert_eq!((calling.kind, calling.calls), (MessageKind::Answer, [3, 1, 0]));
    assert_eq!(outline.entries.len(), 3);
}

#[test]
fn what_fails_is_a_notice_and_what_is_new_is_reported() {
    let outline = read(&lines(&[
        meta(PARENT, r#","source":{"subagent":"review"}"#),
        user("One"),
        typed("One"),
        event(r#""type":"entered_review_mode""#),
        event(r#""type":"turn_aborted","reason":"interrupted""#),
        event(r#""type":"task_complete","last_agent_message":null,"error":{"message":"429"}"#),
        event(r#""type":"brand_new""#),
        ("of_the_future", "{}".to_owned()),
    ]));
    let notices = outline.entries.iter().filter(|entry| entry.kind == MessageKind::Notice).count();
    assert_eq!(notices, 3);
    assert!(outline.head.subagent);
    let unknown: Vec<What> = outline.problems.kept.iter().map(|problem| problem.what).collect();
    assert_eq!(unknown, [What::UnknownType, What::UnknownRecord]);
    assert_eq!(outline.problems.not_understood, 2);
}

#[test]
fn pictures_and_editors_have_titles_of_their_own() {
    let image =
        event(r#""type":"user_message","message":"","images":["data:image/png;base64,AA"]"#);
    let outline = read(&lines(&[meta(PARENT, ""), image, answer("A cat")]));
    assert_eq!(
        (outline.first_prompt.as_deref(), prompts(&outline, Fate::Kept)),
        (Some("[Image]"), 1)
    );
    let words = "# Context from my IDE setup:\\n\\n## Open tabs:\\n- a.rs\\n\\n## My request for Codex:\\nFix a.rs";
    let outline = read(&lines(&[meta(PARENT, ""), user(words), typed(words), answer("ok")]));
    assert_eq!(outline.first_prompt.as_deref(), Some("Fix a.rs"));
}

#[test]
fn a_compaction_is_a_summary_and_undoes_nothing() {
    let outline = read(&lines(&[
        meta(PARENT, ""),
        user("One"),
        typed("One"),
        answer("1"),
        ("compacted", r#"{"message":"They counted.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"One"}]}]}"#.to_owned()),
        user("Two"),
        typed("Two"),
        answer("2"),
    ]));
    let kinds: Vec<MessageKind> = outline.entries.iter().map(|entry| entry.kind).collect();
    let told: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    assert_eq!(told.join(" "), "prompt answer summary prompt answer");
    assert!(outline.entries.iter().all(|entry| entry.fate == Fate::Kept));
}

#[test]
fn lines_without_tags_are_those_of_the_first_releases() {
    let text = [
        r#"{"id":"5973b6c0-94b8-487b-a530-2aeb6098ae0e","timestamp":"2025-08-01T00:00:00Z","instructions":null,"git":{"branch":"main"}}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<user_instructions>Be brief</user_instructions>"}]}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/home/dev/code/shop</cwd>"}]}"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it"}]}"#,
        r#"{"type":"local_shell_call","call_id":"c1","status":"completed","action":{"type":"exec","command":["ls"]}}"#,
        r#"{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a\",\"metadata\":{\"exit_code\":1,\"duration_seconds\":0.1}}"}"#,
        r#"{"record_type":"state"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}"#,
    ];
    let outline = read(&(text.join("\n") + "\n"));
    assert_eq!(outline.head.cwd.as_ref().unwrap().as_str(), "/home/dev/code/shop");
    assert_eq!(outline.head.branch.as_deref(), Some("main"));
    assert_eq!(
        (prompts(&outline, Fate::Kept), outline.first_prompt.as_deref()),
        (1, Some("Fix it"))
    );
    let calling = outline.entries.iter().find(|entry| entry.calls[0] > 0).unwrap();
    assert_eq!(calling.calls, [1, 1, 0]);
    assert_eq!(outline.problems.kept, []);
}

#[test]
fn an_item_of_a_new_type_is_shown_and_counted() {
    let new = ("response_item", r#"{"type":"telepathy","text":"a thought"}"#.to_owned());
    let outline = read(&lines(&[meta(PARENT, ""), user("One"), typed("One"), new, answer("1")]));
    let kinds: Vec<String> = outline.entries.iter().map(|entry| entry.kind.to_string()).collect();
    assert_eq!(kinds, ["prompt", "notice", "answer"]);
    assert_eq!(outline.problems.not_understood, 1);
}

/// Tagged lines with their times, in milliseconds.
fn timed(records: &[(i64, (&str, String))]) -> String {
    let start = "2026-11-15T18:00:00Z".parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let line = |(at, (kind, payload)): &(i64, (&str, String))| {
        let time = jiff::Timestamp::from_millisecond(start + at).unwrap();
        format!(r#"{{"timestamp":"{time:.3}","type":"{kind}","payload":{payload}}}"#) + "\n"
    };
    records.iter().map(line).collect()
}

/// A turn without an id: how long after the turn's start each record was written.
fn asked(at: i64, words: &str, said: &str, total: u64, steps: [i64; 3]) -> Vec<(i64, Tagged)> {
    let [context, answered, count] = steps;
    let model = ("turn_context", r#"{"model":"gpt-5","cwd":"/home/dev/code/shop"}"#.to_owned());
    vec![
        (at, user(words)),
        (at, typed(words)),
        (at + context, model),
        (at + answered, answer(said)),
        (at + count, counted(total, 100)),
    ]
}

type Tagged = (&'static str, String);

/// The same turn, copied: all at one moment.
fn copied(at: i64, words: &str, said: &str, total: u64) -> Vec<(i64, Tagged)> {
    asked(at, words, said, total, [0, 1, 1])
}

/// The keys of what was said, without those of other messages.
fn keys(outline: &Outline) -> Vec<u64> {
    let is_said = |kind: MessageKind| matches!(kind, MessageKind::Prompt | MessageKind::Answer);
    let entries = outline.entries.iter().filter(|entry| is_said(entry.kind));
    entries.filter_map(|entry| Codex.request_key(outline, entry)).collect()
}

const GRANDCHILD: &str = "01a1e200-0000-7000-8000-000000000003";
const SIBLING: &str = "01a1e300-0000-7000-8000-000000000004";

/// Four threads of a release without turn ids: one, a fork of it, a fork of that, and a second fork of the first that asks the same.
fn family() -> [Outline; 4] {
    let slow = [1, 900, 901];
    let head = |at: i64, ids: &[&str]| -> Vec<(i64, Tagged)> {
        ids.iter().map(|id| (at, meta(id, ""))).collect()
    };
    let parent = [
        head(0, &[PARENT]),
        asked(100, "One", "1", 100, slow),
        asked(5_000, "Two", "2", 200, slow),
        asked(60_000, "Parent goes on", "3", 300, slow),
    ];
    let child = [
        head(10_000, &[CHILD, PARENT]),
        copied(10_001, "One", "1", 100),
        copied(10_007, "Two", "2", 200),
        // Sent by a program, as soon as there was a fork.
        asked(10_009, "Again", "child", 300, [0, 45, 45]),
    ];
    let grandchild = [
        head(20_000, &[GRANDCHILD, CHILD, PARENT]),
        copied(20_001, "One", "1", 100),
        copied(20_002, "Two", "2", 200),
        copied(20_002, "Again", "child", 300),
        asked(24_000, "Last", "4", 400, slow),
    ];
    let sibling = [
        head(30_000, &[SIBLING, PARENT]),
        copied(30_001, "One", "1", 100),
        copied(30_001, "Two", "2", 200),
        asked(35_000, "Again", "sibling", 300, slow),
    ];
    let files = [parent.concat(), child.concat(), grandchild.concat(), sibling.concat()];
    files.map(|records| read(&timed(&records)))
}

#[test]
fn copies_without_turn_ids_are_the_same_messages_in_every_fork() {
    let family = family();
    let used: Vec<u64> = family.iter().map(tokens).collect();
    assert_eq!(used, [301, 100, 100, 100], "each thread has what it used itself");
    let prompts: Vec<usize> = family.iter().map(|one| prompts(one, Fate::Kept)).collect();
    assert_eq!(prompts, [3, 3, 4, 3], "each shows its whole history");
    let [parent, child, grandchild, sibling] = family.each_ref().map(keys);
    assert_eq!(parent.get(..4), child.get(..4));
    assert_eq!(child, grandchild.get(..6).unwrap_or_default());
    assert_eq!(parent.get(..4), sibling.get(..4));
    let all: std::collections::HashSet<u64> =
        [parent, child, grandchild, sibling].into_iter().flatten().collect();
    assert_eq!(all.len(), 2 * 6, "the same words with another answer are another prompt");
}

#[test]
fn a_slow_copy_of_turns_with_ids_is_still_a_copy() {
    let outline = read(&timed(&[
        (0, meta(CHILD, &format!(r#","forked_from_id":"{PARENT}""#))),
        (90, meta(PARENT, "")),
        (200, user("<environment_context>\\n</environment_context>")),
        (300, turn(1, PARENT)),
        (300, user("One")),
        (300, typed("One")),
        (400, answer("1")),
        (400, counted(100, 100)),
        (9_000, turn(2, CHILD)),
        (9_000, user("Two")),
        (9_000, typed("Two")),
        (9_500, answer("2")),
        (9_500, counted(150, 50)),
    ]));
    assert_eq!(tokens(&outline), 50);
}

#[test]
fn numbers_of_turns_are_no_ids() {
    let numbered = |id: &str| {
        let turn = event(r#""type":"task_started","turn_id":"1""#);
        read(&lines(&[meta(id, ""), turn, user("One"), typed("One"), answer("1")]))
    };
    let [one, other] = [PARENT, CHILD].map(|id| keys(&numbered(id)));
    assert!(one.len() == 2 && one.iter().all(|key| !other.contains(key)), "two conversations");
}

#[test]
fn an_unanswered_prompt_of_the_first_releases_is_the_same_in_a_copy() {
    let head = |id: &str| format!(r#"{{"id":"{id}","timestamp":"2025-08-01T00:00:00Z"}}"#);
    let item = |(_, item): Tagged| item;
    let said = item(answer("1")).replacen('{', r#"{"id":"msg_1","#, 1);
    let mut text = vec![head(PARENT), item(user("One")), said, item(user("Stopped"))];
    let original = read(&(text.join("\n") + "\n"));
    text[0] = head(CHILD);
    text.extend([item(user("Two")), item(answer("2")).replacen('{', r#"{"id":"msg_2","#, 1)]);
    let copy = read(&(text.join("\n") + "\n"));
    assert_eq!((prompts(&original, Fate::Kept), prompts(&copy, Fate::Kept)), (2, 3));
    assert_eq!(keys(&copy).get(..3).unwrap(), keys(&original));
}

#[test]
fn pictures_of_a_command_line_belong_to_its_words() {
    let picture = r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA"}]}"#;
    let bare = [
        format!(r#"{{"id":"{PARENT}","timestamp":"2025-08-01T00:00:00Z"}}"#),
        picture.to_owned(),
        answer("A dot").1,
        user("What is it?").1,
        answer("A dot.").1,
        user("Thanks").1,
    ];
    let outline = read(&(bare.join("\n") + "\n"));
    let kinds = [MessageKind::Prompt, MessageKind::Answer, MessageKind::Answer];
    let kinds: Vec<_> = kinds.into_iter().chain([MessageKind::Prompt]).collect();
    assert_eq!(outline.entries.iter().map(|entry| entry.kind).collect::<Vec<_>>(), kinds);
    assert_eq!(outline.first_prompt.as_deref(), Some("What is it?"));
    assert_eq!(outline.entries[0].pieces.count, 1, "the picture and the words");
    let sent = event(r#""type":"user_message","message":"","images":["data:image/png;base64,AA"]"#);
    let tagged = |wait: i64| {
        let records = [
            (0, meta(PARENT, "")),
            (1, ("response_item", picture.to_owned())),
            (1, sent.clone()),
            (900, answer("A dot")),
            (900 + wait, user("What is it?")),
            (900 + wait, typed("What is it?")),
            (2_000 + wait, answer("A dot.")),
        ];
        read(&timed(&records))
    };
    let at_once = tagged(3);
    assert_eq!(prompts(&at_once, Fate::Kept), 1);
    assert_eq!(at_once.first_prompt.as_deref(), Some("What is it?"));
    assert_eq!(at_once.last_prompt.as_deref(), Some("What is it?"));
    assert_eq!(prompts(&tagged(4_000), Fate::Kept), 2, "a human typed the second one");
}

#[test]
fn a_review_belongs_to_the_session_that_it_names() {
    let review = format!(r#","source":{{"subagent":"review"}},"session_id":"{PARENT}""#);
    let outline = read(&lines(&[meta(CHILD, &review), typed("Review it"), answer("Fine")]));
    assert!(outline.head.subagent);
    assert_eq!(outline.head.parent.as_ref().map(recount_model::SessionId::as_str), Some(PARENT));
    let own = format!(r#","session_id":"{CHILD}","source":"cli""#);
    let outline = read(&lines(&[meta(CHILD, &own), typed("Hello"), answer("Hi")]));
    assert!(!outline.head.subagent && outline.head.parent.is_none());
}

#[test]
fn a_review_that_was_killed_ends_with_the_next_prompt() {
    let before = [meta(PARENT, ""), user("One"), typed("One"), answer("A"), counted(100, 100)];
    let entered = || event(r#""type":"entered_review_mode""#);
    let after = [
        user("continue"),
        typed("continue"),
        answer("B"),
        counted(200, 200),
        user("continue"),
        typed("continue"),
        answer("C"),
        counted(400, 200),
        user("continue"),
        typed("continue"),
        answer("D"),
        counted(600, 200),
    ];
    let read_with = |review: Vec<(&'static str, String)>| {
        let records: Vec<_> = before.iter().cloned().chain(review).chain(after.clone()).collect();
        let outline = read(&lines(&records));
        (tokens(&outline), prompts(&outline, Fate::Kept))
    };
    let review = || vec![entered(), typed("Review it"), typed("Review it"), counted(50, 50)];
    // As if it had ended, whether the program was killed or interrupted.
    let mut ended = review();
    ended.push(event(r#""type":"exited_review_mode""#));
    let whole = read_with(ended);
    assert_eq!(whole, (702, 5));
    let mut aborted = review();
    aborted.push(event(r#""type":"turn_aborted","reason":"interrupted""#));
    assert_eq!(read_with(aborted), whole);
    assert_eq!(read_with(review()), whole);
}

#[test]
fn only_the_first_releases_lack_figures() {
    use crate::Source as _;
    let no_figures = |text: &str| {
        let outline = read(text);
        let is_answer = |entry: &&crate::outline::MessageEntry| entry.kind == MessageKind::Answer;
        outline
            .entries
            .iter()
            .filter(is_answer)
            .any(|entry| Codex.unrecorded(&outline, entry).no_figures)
    };
    let head = format!(
        r#"{{"id":"{PARENT}","timestamp":"2025-08-15T18:00:00.000Z","instructions":null}}"#
    );
    let asked =
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"One"}]}"#;
    let said =
        r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}"#;
    assert!(no_figures(&format!("{head}\n{asked}\n{said}\n")));
    // A session that was written by another program for this agent, which was never asked.
    assert!(!no_figures(&lines(&[
        meta(PARENT, r#","source":"cli""#),
        user("One"),
        typed("One"),
        answer("A")
    ])));
}
