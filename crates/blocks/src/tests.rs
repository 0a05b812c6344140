//! Guarantees that hold for every list of blocks, and its JSON.

use proptest::prelude::*;
use recount_model::{
    AttachedFile, Fate, Media, MediaData, Message, MessageKind, NoticeLevel, RecordLocation,
    Thought, ToolCall, ToolStatus, What,
};

use crate::{
    Block, BlockOptions, Body, CallBlock, DEEPEST, Inline, LONGEST, Level, Prose, blocks, markdown,
};

fn message(kind: MessageKind, text: &str) -> Message {
    let place = RecordLocation {
        file: "session.jsonl".into(),
        line: 1,
        offset: 0,
        bytes: 1,
        pieces: Vec::new(),
    };
    let mut message = Message::at(place, kind, Fate::Kept);
    message.text = text.to_owned();
    message.display_text = text.to_owned();
    message
}

fn rich() -> Message {
    let mut message = message(MessageKind::Answer, "Done: `a`.\n");
    message.text = "Done: `a`.\n\nSent only.".into();
    message.thoughts =
        vec![Thought { subject: "Plan".into(), description: "First\nsecond".into(), time: None }];
    let held = MediaData::Base64("iVBORw0KGgo=".into());
    message.media = vec![Media { mime: "image/png".into(), bytes: 8, held }];
    message.files =
        vec![AttachedFile { path: "src/a.rs".into(), bytes: 4, content: "fn a".into() }];
    let mut call = ToolCall::named("edit");
    call.display_name = Some("Edit".into());
    call.key_arg = Some("/home/me/shop/src/a.rs".into());
    call.status = ToolStatus::Error;
    call.output = Some("\nno such line\n  at 3\n".into());
    call.diff = Some("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n".into());
    message.tool_calls = vec![call];
    message.problems = vec![What::BrokenLine];
    message
}

fn json(blocks: &[Block<'_>]) -> String {
    serde_json::to_string_pretty(blocks).unwrap()
}

#[test]
fn a_message_is_read_in_one_order() {
    let message = rich();
    let options = BlockOptions {
        level: Level::Trace,
        thoughts: true,
        body: Body::Both,
        project: "/home/me/shop",
        ..BlockOptions::default()
    };
    insta::assert_snapshot!(json(&blocks(&message, &options)));
}

#[test]
fn lower_levels_leave_parts_out() {
    let message = rich();
    let talk = BlockOptions { level: Level::Talk, ..BlockOptions::default() };
    let kinds = |blocks: &[Block<'_>]| {
        let value = serde_json::to_value(blocks).unwrap();
        let all = value.as_array().unwrap().iter();
        all.map(|block| block["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&blocks(&message, &talk)), ["markdown", "media", "file", "damage"]);
    let call = |level| CallBlock::new(message.tool_calls.first().unwrap(), level, "");
    let actions = call(Level::Actions);
    assert_eq!((actions.outcome(), actions.ending()), ("no such line", Some("failed")));
    assert!(actions.output.is_none() && actions.arguments.is_none());
    assert_eq!(call(Level::Full).outcome(), "\nno such line\n  at 3\n");
    assert_eq!(call(Level::Trace).arguments.map(|code| code.text), Some("null".into()));
}

#[test]
fn each_kind_of_message_has_its_kind_of_text() {
    let kind = |kind: MessageKind, options: &BlockOptions<'_>| {
        let mut message = message(kind, "a");
        message.level = Some(NoticeLevel::Warning);
        serde_json::to_string(&blocks(&message, options)).unwrap()
    };
    let plain = BlockOptions::default();
    let text = |name: &str| format!("[{{\"type\":\"{name}\",\"text\":\"a\"}}]");
    assert_eq!(kind(MessageKind::Prompt, &plain), text("text"));
    assert_eq!(kind(MessageKind::Shell, &plain), text("verbatim"));
    assert_eq!(kind(MessageKind::Summary, &plain), text("text"));
    let options = BlockOptions { markdown_summaries: true, ..plain };
    assert_eq!(kind(MessageKind::Summary, &options), kind(MessageKind::Answer, &plain));
    let notice = "[{\"type\":\"notice\",\"level\":\"warning\",\"text\":\"a\"}]";
    assert_eq!(kind(MessageKind::Notice, &plain), notice);
    assert_eq!(blocks(&message(MessageKind::Prompt, " \n"), &plain), []);
}

#[test]
fn markdown_becomes_a_tree() {
    let text = "\
# A *title*

One
two\\
three<br>four [link](https://example.org \"t\") ![image](a.png) ~~old~~ **new** <b>

3. first
   - [x] done

     loose
   - open
4. second

> quoted

|a|b|
|-|-:|
|1|`2`|

```rust,ignore
fn a() {} // b
```

<div>
raw
</div>

---
";
    insta::assert_snapshot!(serde_json::to_string_pretty(&markdown(text)).unwrap());
}

#[test]
fn text_that_is_too_long_is_not_parsed() {
    let long = message(MessageKind::Answer, &"*a* ".repeat(LONGEST / 4 + 1));
    assert!(matches!(blocks(&long, &BlockOptions::default())[..], [Block::Text { .. }]));
}

fn depth(blocks: &[Prose<'_>]) -> usize {
    let inner = |block: &Prose<'_>| match block {
        Prose::Quote { blocks } => 1 + depth(blocks),
        Prose::List { items, .. } => {
            1 + items.iter().map(|item| depth(&item.blocks)).max().unwrap_or(0)
        }
        Prose::Paragraph { content, .. } | Prose::Heading { content, .. } => inline_depth(content),
        _ => 0,
    };
    blocks.iter().map(inner).max().unwrap_or(0)
}

fn inline_depth(content: &[Inline<'_>]) -> usize {
    let inner = |inline: &Inline<'_>| match inline {
        Inline::Emphasis { content }
        | Inline::Strong { content }
        | Inline::Strike { content }
        | Inline::Link { content, .. }
        | Inline::Image { content, .. } => 1 + inline_depth(content),
        _ => 0,
    };
    content.iter().map(inner).max().unwrap_or(0)
}

#[test]
fn nesting_has_an_end_and_loses_no_text() {
    let lists: Vec<String> = (0..500).map(|at| format!("{}- x\n", "  ".repeat(at))).collect();
    let lists = lists.concat();
    for text in [
        format!("{} deep", ">".repeat(10_000)),
        format!("{}deep", "1. > ".repeat(2_000)),
        format!("{}deep{}", "*a **b ".repeat(2_000), "** *".repeat(2_000)),
        format!("{}deep{}", "![".repeat(2_000), "](x)".repeat(2_000)),
        format!("{lists}\ndeep"),
    ] {
        let blocks = markdown(&text);
        assert!(depth(&blocks) <= 2 * DEEPEST, "{}", depth(&blocks));
        assert!(serde_json::to_string(&blocks).unwrap().contains("deep"));
    }
    assert_eq!(serde_json::to_string(&markdown(&lists)).unwrap().matches("\"x\"").count(), 500);
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "[`~<>/a!\\-\\\\ \n\t\\[\\]()|:\"'&*_#0-9.x+@]{0,120}") {
        serde_json::to_string(&markdown(&text)).unwrap();
    }

    #[test]
    fn no_line_of_code_or_of_a_diff_is_lost(text in "(?s)[-+@ a\"'/*#\n\\\\0-9,]{0,120}") {
        let code = crate::CodeBlock::new("rust", &text);
        let lines: Vec<String> =
            code.lines().iter().map(|line| line.iter().map(|token| token.text).collect()).collect();
        prop_assert_eq!(lines, text.lines().collect::<Vec<_>>());
        let diff = crate::DiffBlock { language: None, patch: &text };
        let lines: Vec<_> = diff.lines().map(|line| line.text).collect();
        prop_assert_eq!(lines, text.lines().collect::<Vec<_>>());
    }
}
