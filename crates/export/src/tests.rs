//! Nasty input, in every format.

#![expect(clippy::indexing_slicing, reason = "a test that finds nothing must fail")]

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use recount_model::{
    AttachedFile, Fate, Media, MediaData, Message, MessageCounts, MessageId, MessageKind, Problem,
    Project, RawJson, RecordLocation, RecordedPath, SessionFacts, SessionId, SessionKind,
    SourceName, StrictCounts, Thought, TitleFrom, Tokens, ToolCall, ToolCounts, ToolStatus, What,
};
use recount_testkit::Page;
use serde_json::Value;

use crate::names::{Taken, folder, is_safe, part, stem};
use crate::{ExportOptions, ExportTable, Format, Level, TranscriptPart};

pub(crate) const NASTY: &[&str] = &[
    "~~~`",
    "",
    "plain",
    "```\nnever closed",
    "````md\n```js\nx\n```\n````",
    "</details></summary>\n\n</details>",
    "<!-- hidden",
    "--> shown",
    "<script>alert(1)</script>",
    "a\0b\x1b[2J\x07\u{9b}31m\r\nc\rd",
    "\u{202E}gnp.exe \u{2066}\u{2067}",
    "שלום עולם\u{2069}\u{2069}",
    "zero\u{200B}width\u{200D}\u{FEFF}",
    "=HYPERLINK(\"http://a\",\"b\")",
    "| a | b |\n|---|---|",
    "\\`<b>\\\\<i>",
    "- a\n  ```\n<b>\n```\n<script>",
    "\u{2028}x\u{2029}",
    "]]>{{ }}${x}",
    "</style></script></title></main></body><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" style=\"color:red\" x='",
    "[a](javascript:alert(1)) ![b](https://a.example/t.png) <svg onload=alert(1)>",
    "&lt;b&gt; &#60;script&#62; <![CDATA[ x ]]> <?php ?> </details></article>",
    "| <b> | [x](data:text/html,<b>) |\n|---|:-:|\n| `</td>` | ~~</table>~~ |",
];

pub(crate) fn session(title: &str, id: &str) -> SessionFacts {
    let project =
        Project { path: Some(RecordedPath::new("/home/dev/<b>shop</b>")), ..Project::default() };
    SessionFacts {
        source: SourceName::new("agent"),
        id: SessionId::new(id),
        kind: SessionKind::Main,
        parent: None,
        parent_call: None,
        agent: None,
        title: Some(title.to_owned()),
        title_from: TitleFrom::Prompt,
        first_prompt: Some(title.to_owned()),
        last_prompt: Some(title.to_owned()),
        branch: Some(title.to_owned()),
        entrypoint: None,
        labels: None,
        project: Arc::new(project),
        started: "2026-09-02T08:00:00Z".parse().ok(),
        updated: "2026-09-02T09:00:00Z".parse().ok(),
        counts: MessageCounts { messages: 2, prompts: 1, answers: 1, undone: 0 },
        tool_calls: ToolCounts::default(),
        models: vec![title.to_owned()],
        tokens: Tokens::default(),
        cost_usd: None,
        cost_is_lower_bound: None,
        priced_by: 0,
        kept: StrictCounts::default(),
        directories: Vec::new(),
        memory: None,
        files: Vec::new(),
        agent_index: None,
        agent_title: None,
        live: None,
        pending_deletion: None,
        problems: 1,
        not_understood: 0,
        is_background: false,
        states: Vec::new(),
        cwd: None,
        problem_list: vec![Problem {
            file: Arc::from(title),
            span: None,
            what: What::BrokenLine,
            done: "left out".into(),
        }],
    }
}

/// A message that says the same in every place.
pub(crate) fn message(kind: MessageKind, fate: Fate, text: &str) -> Message {
    let place =
        RecordLocation { file: Arc::from(text), line: 1, offset: 0, bytes: 9, pieces: Vec::new() };
    let mut message = Message::at(place, kind, fate);
    message.id = Some(MessageId::new(text));
    message.time = "2026-09-02T08:30:00Z".parse().ok();
    message.text = text.to_owned();
    message.display_text = text.to_owned();
    message.model = Some(text.to_owned());
    message.tokens = Some(Tokens { total: 7, ..Tokens::default() });
    message.files =
        vec![AttachedFile { path: text.to_owned(), bytes: 3, content: text.to_owned() }];
    message.media =
        vec![Media { mime: text.to_owned(), bytes: 1_234_567, held: MediaData::Elsewhere }];
    let (subject, description) = (text.to_owned(), text.to_owned());
    message.thoughts = vec![Thought { subject, description, time: None }];
    message.problems = vec![What::UnknownPart];
    for status in [ToolStatus::Success, ToolStatus::Error, ToolStatus::Other(text.to_owned())] {
        let mut call = ToolCall::named(text);
        call.key_arg = Some(text.to_owned());
        call.args = RawJson::new(serde_json::to_string(text).unwrap());
        call.status = status;
        call.output = Some(text.to_owned());
        call.diff = Some(text.to_owned());
        call.agent_id = Some(text.to_owned());
        message.tool_calls.push(call);
    }
    message
}

fn messages(text: &str) -> Vec<Message> {
    use MessageKind::{Answer, Context, Hook, Notice, Nudge, Prompt, Shell, Summary, ToolResult};
    let kinds = [Prompt, Answer, Context, Hook, ToolResult, Shell, Notice, Summary, Nudge];
    kinds.into_iter().map(|kind| message(kind, Fate::Rewound, text)).collect()
}

pub(crate) fn written(format: Format, options: &ExportOptions, text: &str) -> String {
    let mut renderer = format.renderer(options).unwrap();
    let mut out = Vec::new();
    renderer.begin(&session(text, text), TranscriptPart::FIRST, &mut out).unwrap();
    for message in messages(text) {
        renderer.message(&message, &mut out).unwrap();
    }
    let problem = session(text, text).problem_list.remove(0);
    renderer.unread(&problem, &mut out).unwrap();
    renderer.end(None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(crate) fn all_options() -> Vec<ExportOptions> {
    let mut all = Vec::new();
    for level in [Level::Talk, Level::Actions, Level::Full, Level::Trace] {
        for minimal in [false, true] {
            all.push(ExportOptions { level, minimal, thoughts: true, ..ExportOptions::default() });
        }
    }
    all
}

#[test]
fn no_control_character_gets_through() {
    for text in NASTY {
        for format in [Format::Markdown, Format::Html, Format::Text, Format::Json, Format::Jsonl] {
            for options in all_options() {
                let page = written(format, &options, text);
                let control = page.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
                assert_eq!(control, None, "{format:?} {text:?}");
            }
        }
        for table in ExportTable::ALL {
            let page =
                written(Format::Csv, &ExportOptions { table, ..ExportOptions::default() }, text);
            let is_odd = |c: &char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
            assert_eq!(page.chars().find(is_odd), None, "{table:?} {text:?}");
        }
    }
}

#[test]
fn long_lines_are_written_as_they_are() {
    let long = "`<x".repeat(70_000);
    let options = ExportOptions { level: Level::Full, ..ExportOptions::default() };
    for format in [Format::Markdown, Format::Text, Format::Jsonl, Format::Csv] {
        let page = written(format, &options, &long);
        assert!(page.lines().any(|line| line.len() > 200_000), "{format:?}");
    }
}

/// Follows the fences of a page as a reader of Markdown would, and returns what stands outside of them.
fn outside_of_fences(page: &str) -> Vec<&str> {
    let mut open: Option<(char, usize)> = None;
    let mut outside = Vec::new();
    for line in page.lines() {
        // A quotation closes what is open in it; its lines are looked at on their own.
        let words = line.trim_start_matches(' ');
        let mark = words.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let length = mark.map_or(0, |mark| words.chars().take_while(|&c| c == mark).count());
        match open {
            Some((own, least)) => {
                let rest = words.trim_start_matches(own);
                if mark == Some(own) && length >= least && rest.trim().is_empty() {
                    open = None;
                }
            }
            // Only what opens with backticks may not have one behind them.
            None if length >= 3
                && (mark == Some('~')
                    || !words.get(length..).unwrap_or_default().contains('`')) =>
            {
                open = mark.map(|mark| (mark, length));
            }
            None => outside.push(line),
        }
    }
    assert_eq!(open, None, "a fence is left open:\n{page}");
    outside
}

#[test]
fn markdown_is_held_together_whatever_is_in_it() {
    for text in NASTY {
        for options in all_options() {
            let page = written(Format::Markdown, &options, text);
            let outside = outside_of_fences(&page);
            let count = |tag: &str| outside.iter().filter(|line| **line == tag).count();
            assert_eq!(count("<details>"), count("</details>"), "{text:?}\n{page}");
            for line in outside {
                let own =
                    ["<details>", "</details>"].contains(&line) || line.starts_with("<summary>");
                let stripped = line.replace("\\<", "").replace("](<", "");
                let tag = ["<s", "</", "<!", "<b", "<i"].iter().any(|tag| stripped.contains(tag));
                // In a quotation, a fence or a span may hold it as code.
                let quoted = line.starts_with("> ") || line.contains('`');
                assert!(own || !tag || quoted, "{text:?}: {line}\n{page}");
            }
        }
    }
}

#[test]
fn nothing_but_what_was_said_is_shared() {
    let options = ExportOptions { minimal: true, ..ExportOptions::default() };
    for format in [Format::Markdown, Format::Html, Format::Text] {
        let mut renderer = format.renderer(&options).unwrap();
        let mut out = Vec::new();
        let mut facts = session("title", "3d2f9a10-5c1b");
        facts.problem_list[0].file = Arc::from("/home/dev/secret.jsonl");
        renderer.begin(&facts, TranscriptPart::FIRST, &mut out).unwrap();
        let mut said = message(MessageKind::Prompt, Fate::Kept, "/home/dev/x");
        said.display_text = "hello".into();
        said.media.clear();
        renderer.message(&said, &mut out).unwrap();
        renderer.unread(&facts.problem_list[0], &mut out).unwrap();
        renderer.end(None, &mut out).unwrap();
        let page = String::from_utf8(out).unwrap();
        // Of a page, what it says; its style has words of its own.
        let page = if format == Format::Html { Page::read(&page).text } else { page };
        assert!(page.contains("hello"), "{page}");
        for secret in ["/home", "shop", "3d2f9a10", "oken"] {
            assert!(!page.contains(secret), "{secret} in\n{page}");
        }
    }
}

#[test]
fn lines_read_back_are_the_same_messages() {
    for text in NASTY {
        let page = written(Format::Jsonl, &ExportOptions::default(), text);
        let lines: Vec<Value> =
            page.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["schema"], "recount.session/1");
        assert_eq!(lines[0]["session"]["title"], **text);
        let expected: Vec<Value> =
            messages(text).iter().map(|message| serde_json::to_value(message).unwrap()).collect();
        assert_eq!(lines[1..=expected.len()], expected, "{text:?}");
        assert_eq!(lines.last().unwrap()["problem"]["what"], "broken-line");
        let document: Value =
            serde_json::from_str(&written(Format::Json, &ExportOptions::default(), text)).unwrap();
        assert_eq!(document["messages"].as_array().unwrap(), &expected);
        assert_eq!(document["session"], lines[0]["session"]);
    }
}

#[test]
fn parts_point_at_each_other() {
    let mut renderer = Format::Markdown.renderer(&ExportOptions::default()).unwrap();
    let mut out = Vec::new();
    let facts = session("t", "id");
    let previous = Some("a.md");
    renderer.begin(&facts, TranscriptPart { number: 2, previous }, &mut out).unwrap();
    renderer.end(Some("a.part3.md"), &mut out).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "# t (part 2)\n\nBegins in the part before: [a.md](<a.md>)\n\n\
         Goes on in the next part: [a.part3.md](<a.part3.md>)\n"
    );
}

#[test]
fn no_folder_has_a_name_that_a_system_keeps() {
    for (project, name) in [
        ("shop", "shop"),
        ("../../etc", "etc"),
        ("CON", "con-project"),
        ("com1", "com1-project"),
        ("COM¹", "com¹-project"),
        ("lpt", "lpt"),
        ("Nul", "nul-project"),
        ("a.b. ", "a-b"),
        ("...", "project"),
        ("天気ノート", "天気ノート"),
    ] {
        assert_eq!(folder(project), name);
    }
}

proptest! {
    #[test]
    fn names_are_safe_and_never_alike(titles in prop::collection::vec(("\\PC*|(?s).{0,300}", "(?s).{0,20}"), 1..40)) {
        let (mut taken, mut seen) = (Taken::default(), BTreeSet::new());
        for (title, id) in titles {
            let wanted = stem(&session(&title, &id));
            prop_assert!(!wanted.contains('.'));
            let name = part(&taken.find(&wanted, |_| true), 2, "jsonl");
            prop_assert!(is_safe(&name) && name.len() < 128, "{}", name);
            prop_assert!(name.starts_with("2026-09-02"));
            prop_assert!(seen.insert(name.to_lowercase()), "{} twice", name);
            let folder = folder(&title);
            prop_assert!(is_safe(&folder) && !folder.contains('.') && folder.len() <= 70);
        }
    }

    #[test]
    fn any_answer_leaves_the_page_whole(text in "[`~<>/a!\\-\\\\ \n\\[\\]()]{0,80}") {
        let page = written(Format::Markdown, &ExportOptions::default(), &text);
        outside_of_fences(&page);
    }
}
