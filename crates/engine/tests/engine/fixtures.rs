//! Tests of every fixture: one snapshot per folder. A new case is a new folder, no Rust.
#![expect(clippy::expect_used, reason = "a test that cannot go on must fail")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use recount_engine::{ListQuery, Opened, View};
use recount_model::{Fate, Message, MessageKind, Problem, Project, SessionFacts, Tokens, ToolCall};
use recount_testkit::{Home, fixtures};

use crate::engine_with_data;

#[test]
fn every_fixture_reads_as_its_snapshot_says() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut failed = Vec::new();
    for case in fixtures() {
        let name = snapshot_name(&case.name);
        let text = describe(&case.name);
        let compare = || settings.bind(|| insta::assert_snapshot!(name, text));
        if catch_unwind(AssertUnwindSafe(compare)).is_err() {
            failed.push(case.name);
        }
    }
    assert!(failed.is_empty(), "these differ from their snapshots: {failed:?}");
}

#[test]
fn every_snapshot_has_a_fixture() {
    let known: BTreeSet<String> =
        fixtures().iter().map(|case| format!("{}.snap", snapshot_name(&case.name))).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/snapshots");
    for entry in folder.read_dir().expect("the folder of snapshots") {
        let name = entry.expect("a snapshot").file_name().to_string_lossy().into_owned();
        let is_snapshot = Path::new(&name).extension().is_some_and(|ending| ending == "snap");
        assert!(!is_snapshot || known.contains(&name), "{name} has no fixture");
    }
}

fn snapshot_name(case: &str) -> String {
    case.replace('/', "__")
}

fn describe(case: &str) -> String {
    let home = Home::with([case]);
    let engine = engine_with_data(home.path());
    let all = ListQuery { labelled: true, ..ListQuery::default() };
    let listing = engine.list(&all, &()).expect("a list");
    let mut text = String::new();
    for facts in &listing.sessions {
        let mut opened = engine.open(facts.id.as_str(), &()).expect("a listed session opens");
        engine.complete(&mut opened);
        let same = as_json(&opened.facts) == as_json(facts);
        assert!(same, "{case}: {} is one thing in a list and another alone", facts.id);
        session(&mut text, &opened);
    }
    for problem in &listing.problems {
        let _ = writeln!(text, "problem   {}", shown(problem));
    }
    for lost in engine.lost(&ListQuery::default(), &()).unwrap_or_default() {
        let _ = writeln!(text, "lost {} in {}", lost.id, folder(&lost.project));
        for prompt in &lost.prompts {
            let _ = writeln!(text, "  {}", quote(prompt, 60));
        }
    }
    text
}

fn as_json(facts: &SessionFacts) -> serde_json::Value {
    serde_json::to_value(facts).expect("JSON")
}

fn session(text: &mut String, opened: &Opened) {
    head(text, &opened.facts);
    let full = read(opened, View::Full);
    for message in &full {
        line(text, message);
    }
    strict(text, &full, &read(opened, View::Strict));
    text.push('\n');
}

fn read(opened: &Opened, view: View) -> Vec<Message> {
    let messages = opened.messages(view).expect("a session file");
    messages.map(|message| message.expect("a message")).collect()
}

fn head(text: &mut String, facts: &SessionFacts) {
    let mut row = |name: &str, words: String| {
        let _ = writeln!(text, "{name:<9} {words}");
    };
    let of = facts.parent.as_ref().map(|parent| format!(" of {parent}")).unwrap_or_default();
    let call = facts.parent_call.as_ref().map(|call| format!(" by {call}")).unwrap_or_default();
    row("session", format!("{} {:?}{of}{call}", facts.id, facts.kind));
    let title = facts.title.as_deref().map_or_else(|| "none".into(), |title| quote(title, 100));
    row("title", format!("{title} from {:?}", facts.title_from));
    row("project", folder(&facts.project));
    if let (Some(index), Some(title)) = (facts.agent_index, &facts.agent_title) {
        row("agent", format!("#{index} {}", quote(title, 110)));
    }
    let (all, kept) = (&facts.counts, &facts.kept);
    row(
        "messages",
        format!(
            "{}: {} prompts, {} answers, {} undone; kept {}: {} prompts, {} answers",
            all.messages,
            all.prompts,
            all.answers,
            all.undone,
            kept.messages,
            kept.prompts,
            kept.answers
        ),
    );
    let calls = &facts.tool_calls;
    row(
        "calls",
        format!(
            "{}: {} failed, {} cancelled; kept {}",
            calls.total, calls.failed, calls.cancelled, kept.tool_calls
        ),
    );
    row("tokens", format!("{}; kept {}", tokens(&facts.tokens), kept.tokens.total));
    row("models", facts.models.join(", "));
    let moment = |time: Option<_>| time.map_or_else(|| "?".into(), |time| format!("{time:.3}"));
    row("time", format!("{} to {}", moment(facts.started), moment(facts.updated)));
    for directory in &facts.directories {
        row("folder", directory.clone());
    }
    for file in &facts.files {
        let words = format!("{:?} {:?} {}", file.role, file.grammar, below_tmp(&file.path));
        row("file", words);
    }
    for problem in &facts.problem_list {
        row("problem", shown(problem));
    }
}

/// Without the state: it depends on whether the folder exists on this machine.
fn folder(project: &Project) -> String {
    let path = project.path.as_ref().map_or("?", |path| path.as_str());
    let slug = project.slug.as_deref().unwrap_or("?");
    let hash = project.hash.as_ref().map_or("?", |hash| &hash.as_str()[..8]);
    let clue = |clue: &recount_model::Clue| {
        let proves = if clue.proves { "proves" } else { "suggests" };
        format!("{} {proves}", clue.clue)
    };
    let clues: Vec<String> = project.evidence.iter().map(clue).collect();
    format!("{path} slug {slug} hash {hash}: {}", clues.join(", "))
}

fn line(text: &mut String, message: &Message) {
    let id = message.id.as_ref().map_or("-", |id| short(id.as_str()));
    let time = message.time.map_or_else(|| "-".into(), |time| time.strftime("%T").to_string());
    let level = message.level.map(|level| format!(" {level:?}")).unwrap_or_default();
    let _ = write!(
        text,
        "{:<9} {}{level} {id} {time} {}",
        message.fate.to_string(),
        message.kind,
        quote(&message.display_text, 60)
    );
    if message.text != message.display_text {
        let _ = write!(text, " sent {} bytes", message.text.len());
    }
    for file in &message.files {
        let _ = write!(text, " +file {} ({} bytes)", quote(&file.path, 40), file.bytes);
    }
    for media in &message.media {
        let _ = write!(text, " +media {} ({} bytes)", media.mime, media.bytes);
    }
    if !message.thoughts.is_empty() {
        let _ = write!(text, " thoughts {}", message.thoughts.len());
    }
    if let Some(used) = &message.tokens {
        let _ = write!(text, " tokens {}", used.total);
    }
    if let Some(model) = &message.model {
        let _ = write!(text, " {model}");
    }
    let _ = writeln!(text, " line {}", message.place.line);
    for call in &message.tool_calls {
        tool_call(text, call);
    }
}

fn tool_call(text: &mut String, call: &ToolCall) {
    let key = call.key_arg.as_deref().map_or_else(|| "-".into(), |key| quote(key, 50));
    let output = call.output.as_deref().map_or_else(|| "none".into(), |output| quote(output, 40));
    let _ = write!(
        text,
        "  {} {key} {} {:?} {output}",
        call.name,
        call.status.as_str(),
        call.output_state
    );
    if call.diff.is_some() {
        text.push_str(" diff");
    }
    if let Some(agent) = &call.agent_id {
        let _ = write!(text, " agent {}", short(agent));
    }
    text.push('\n');
}

/// Writes the strict view, if it is not just the kept messages of the full view. `~` marks different text.
fn strict(text: &mut String, full: &[Message], strict: &[Message]) {
    let kept: Vec<&Message> = full.iter().filter(|message| message.fate == Fate::Kept).collect();
    let words = |message: &Message| {
        let id = message.id.as_ref().map_or("-", |id| short(id.as_str()));
        let twin = full.iter().find(|other| other.id == message.id);
        let mark = if twin.is_some_and(|twin| says(twin) == says(message)) { "" } else { "~" };
        format!("{mark}{id}")
    };
    let shown: Vec<String> = strict.iter().map(words).collect();
    if shown != kept.iter().map(|message| words(message)).collect::<Vec<_>>() {
        let _ = writeln!(text, "strict    {}", shown.join(" "));
    }
}

fn says(message: &Message) -> (MessageKind, &str, usize, usize, Option<u64>) {
    (
        message.kind,
        &message.display_text,
        message.thoughts.len(),
        message.tool_calls.len(),
        message.tokens.map(|tokens| tokens.total),
    )
}

fn shown(problem: &Problem) -> String {
    let line = problem.span.map(|span| format!(" line {}", span.line)).unwrap_or_default();
    format!("{:?}{line} in {}; {}", problem.what, below_tmp(&problem.file), problem.done)
}

fn tokens(tokens: &Tokens) -> String {
    let Tokens { input, output, cached, thoughts, tool, total, .. } = tokens;
    format!(
        "{input} in, {output} out, {cached} cached, {thoughts} thoughts, {tool} tool, {total} total"
    )
}

/// Returns enough of an id to recognize it; rebuilt tool results have their call's id and a suffix.
fn short(id: &str) -> &str {
    if id.ends_with("_response") { id } else { id.get(..8).unwrap_or(id) }
}

fn quote(text: &str, longest: usize) -> String {
    let mut start: String = text.chars().take(longest).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    format!("\"{}\"", start.escape_debug())
}

/// Returns paths relative to the project's directory, with hashes shortened.
fn below_tmp(path: &str) -> String {
    let path = path.split_once(".gemini/").map_or(path, |(_, below)| below);
    let path = path.strip_prefix("tmp/").unwrap_or(path);
    let is_hash =
        |part: &str| part.len() == 64 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let cut = |part| if is_hash(part) { &part[..8] } else { part };
    path.split('/').map(cut).collect::<Vec<&str>>().join("/")
}
