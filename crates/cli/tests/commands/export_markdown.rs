//! Tests of exported Markdown with a Markdown parser: no message affects anything outside of it.

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use std::sync::Arc;

use proptest::prelude::*;
use pulldown_cmark::{Event, Options as Dialect, Parser, Tag};
use recount_engine::export::{ExportOptions, Format, Level};
use recount_model::{
    AttachedFile, Fate, Message, MessageKind, RecordLocation, ToolCall, ToolStatus,
};

fn message(kind: MessageKind, text: &str) -> Message {
    let place =
        RecordLocation { file: Arc::from("f"), line: 1, offset: 0, bytes: 9, pieces: Vec::new() };
    let mut message = Message::at(place, kind, Fate::Kept);
    text.clone_into(&mut message.text);
    text.clone_into(&mut message.display_text);
    message
}

/// Returns a page with `text` in every place, and then the prompt `the end?`.
fn page(kind: MessageKind, text: &str) -> String {
    let options = ExportOptions { level: Level::Full, thoughts: true, ..ExportOptions::default() };
    let mut renderer = Format::Markdown.renderer(&options).unwrap();
    let mut out = Vec::new();
    let mut said = message(kind, text);
    said.model = Some("model".into());
    let mut call = ToolCall::named(text);
    call.key_arg = Some(text.to_owned());
    call.status = ToolStatus::Other(text.to_owned());
    call.output = Some(text.to_owned());
    call.diff = Some(text.to_owned());
    said.tool_calls = vec![call];
    let (path, content) = (text.to_owned(), text.to_owned());
    said.files = vec![AttachedFile { path, bytes: 1, content }];
    renderer.message(&said, &mut out).unwrap();
    renderer.message(&message(MessageKind::Prompt, "the end?"), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn check(kind: MessageKind, text: &str) {
    let page = page(kind, text);
    let dialect =
        Dialect::ENABLE_TABLES | Dialect::ENABLE_STRIKETHROUGH | Dialect::ENABLE_TASKLISTS;
    let events: Vec<Event<'_>> = Parser::new_ext(&page, dialect).collect();
    let mut depth = 0;
    for event in &events {
        let (Event::Html(tag) | Event::InlineHtml(tag)) = event else { continue };
        let tag = tag.trim_end();
        match tag {
            "<details>" => depth += 1,
            "</details>" => depth -= 1,
            _ => assert!(
                tag.starts_with("<summary>") && tag.matches('<').count() == 2,
                "{tag}\n{page}"
            ),
        }
        assert!((0..=1).contains(&depth), "{page}");
    }
    assert_eq!(depth, 0, "{page}");
    let is_heading = |event: &Event<'_>| matches!(event, Event::Start(Tag::Heading { .. }));
    let last = events.iter().rposition(is_heading).unwrap();
    let end: Vec<&Event<'_>> = events[last..].iter().collect();
    assert!(matches!(end[1], Event::Text(who) if &**who == "You"), "{page}");
    assert!(matches!(end[3], Event::Start(Tag::BlockQuote(_))), "{page}");
    assert!(matches!(end[5], Event::Text(said) if &**said == "the end?"), "{page}");
}

const PIECES: &[&str] = &[
    "`",
    "``",
    "```",
    "````",
    "~~~",
    "<b>",
    "</details>",
    "<details>",
    "<!--",
    "-->",
    "<script>",
    "<?",
    "<![CDATA[",
    "<a href=\"",
    "\">",
    "](",
    "[",
    ")",
    "\"",
    "'",
    "\\",
    "\n",
    "\n\n",
    "\n",
    " ",
    "  ",
    "    ",
    "\t",
    "- ",
    "1. ",
    "> ",
    "# ",
    "|",
    "word",
    "a",
    "*",
    "_",
    "&lt;",
    "---",
    "===",
    "\r",
    "\u{0}",
    "http://x.y",
    "<http://x.y>",
    "[a]: b",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn whatever_was_said_stays_in_its_place(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..30),
        kind in prop::sample::select(&[MessageKind::Answer, MessageKind::Prompt, MessageKind::Shell][..]),
    ) {
        check(kind, &pieces.concat());
    }
}
