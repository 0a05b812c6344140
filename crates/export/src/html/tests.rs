//! Tests of pages with any content.

use proptest::prelude::*;
use recount_model::{
    Fate, Message, MessageKind, SessionFacts, Thought, Tokens, ToolCall, ToolStatus,
};
use recount_testkit::Page;

use super::site::{SiteEntry, SiteRow};
use crate::tests::{NASTY, all_options, message, session, written};
use crate::{ExportOptions, Format, Level, TranscriptPart};

fn page(options: &ExportOptions, facts: &SessionFacts, messages: &[Message]) -> String {
    let mut renderer = Format::Html.renderer(options).unwrap();
    let mut out = Vec::new();
    renderer.begin(facts, TranscriptPart::FIRST, &mut out).unwrap();
    for message in messages {
        renderer.message(message, &mut out).unwrap();
    }
    renderer.end(None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns a message with a text.
fn said(kind: MessageKind, text: &str, time: &str) -> Message {
    let mut message = message(kind, Fate::Kept, text);
    message.time = time.parse().ok();
    message.model = Some("model".into());
    message.files.clear();
    message.media.clear();
    message.thoughts.clear();
    message.tool_calls.clear();
    message.problems.clear();
    message.tokens = None;
    message
}

#[test]
fn no_text_becomes_markup() {
    for text in NASTY {
        for options in all_options() {
            let page = Page::read(&written(Format::Html, &options, text));
            let title = text.split_whitespace().next().unwrap_or_default();
            let visible = crate::text::visible(title, options.bidi);
            assert!(page.text.contains(&*visible), "{text:?} is not shown:\n{}", page.text);
        }
    }
}

#[test]
fn a_very_long_answer_is_not_parsed() {
    let text = "*a* ".repeat(recount_blocks::LONGEST / 4 + 1);
    let answer = said(MessageKind::Answer, &text, "2026-09-02T08:00:00Z");
    let page = page(&ExportOptions::default(), &session("t", "i"), &[answer]);
    assert!(page.contains("<div class=\"said\" dir=\"auto\">*a* "));
    assert!(!page.contains("<em>a</em>"));
}

#[test]
fn elements_are_marked_with_their_level() {
    let time = "2026-09-02T08:00:00Z";
    let classes = |message: Message| {
        let page = page(&ExportOptions::default(), &session("t", "i"), &[message]);
        let page = Page::read(&page);
        page.all("article").next().unwrap().get("class").unwrap().to_owned()
    };
    assert_eq!(classes(said(MessageKind::Prompt, "a", time)), "m prompt");
    assert_eq!(classes(said(MessageKind::Answer, "a", time)), "m answer");
    assert_eq!(classes(said(MessageKind::Notice, "a", time)), "m notice actions");
    assert_eq!(classes(said(MessageKind::Shell, "a", time)), "m shell full");
    assert_eq!(classes(said(MessageKind::Hook, "a", time)), "m hook trace");
    let mut acts = said(MessageKind::Answer, "", time);
    acts.tool_calls.push(ToolCall::named("Edit"));
    assert_eq!(classes(acts.clone()), "m answer actions");
    acts.thoughts = vec![Thought { subject: "s".into(), description: "d".into(), time: None }];
    acts.fate = Fate::Rewound;
    assert_eq!(classes(acts), "m answer actions thinks undone");
}

#[test]
fn the_level_and_thoughts_that_are_asked_for_are_shown_first() {
    for (level, id) in [
        (Level::Talk, "talk"),
        (Level::Actions, "actions"),
        (Level::Full, "full"),
        (Level::Trace, "trace"),
    ] {
        let options = ExportOptions { level, ..ExportOptions::default() };
        let page = Page::read(&page(&options, &session("t", "i"), &[]));
        let checked: Vec<_> = page
            .all("input")
            .filter(|input| input.get("checked").is_some() && input.get("name") != Some("theme"))
            .filter_map(|input| input.get("id"))
            .collect();
        let expected = if level == Level::Trace { vec![id, "thoughts"] } else { vec![id] };
        assert_eq!(checked, expected);
    }
}

#[test]
fn pauses_are_shown_and_prompts_are_listed() {
    let messages = [
        said(MessageKind::Prompt, "first\nline", "2026-09-02T08:00:00Z"),
        said(MessageKind::Answer, "**yes**", "2026-09-02T08:01:00Z"),
        said(MessageKind::Prompt, "second", "2026-09-02T10:30:00Z"),
    ];
    let page = page(&ExportOptions::default(), &session("t", "i"), &messages);
    assert!(page.contains("<p class=\"gap\"><span>2 h later</span></p>"), "{page}");
    assert_eq!(page.matches("class=\"gap\"").count(), 1);
    assert!(page.contains("<strong>yes</strong>"));
    let read = Page::read(&page);
    let targets: Vec<_> = read.all("a").filter_map(|a| a.get("href")).collect();
    let turns: Vec<_> = read.all("section").filter_map(|turn| turn.get("id")).collect();
    assert_eq!(turns, ["p1", "p2"]);
    assert_eq!(targets.iter().filter(|target| **target == "#p2").count(), 2, "{targets:?}");
    assert!(page.contains("<span class=\"words\"><bdi>first line</bdi></span>"), "{page}");
}

#[test]
fn usage_per_prompt_is_drawn() {
    let prompt = |tokens: u64| {
        let mut message = said(MessageKind::Prompt, "p", "2026-09-02T08:00:00Z");
        let (input, cached) = (tokens / 2, tokens / 4);
        message.tokens = Some(Tokens { input, cached, total: tokens, ..Tokens::default() });
        message
    };
    let facts = session("t", "i");
    let drawn = page(&ExportOptions::default(), &facts, &[prompt(400), prompt(4000)]);
    let read = Page::read(&drawn);
    let bars: Vec<_> = read.all("rect").map(|bar| (bar.get("class"), bar.get("height"))).collect();
    let expected = [("hit", "100"), ("cached", "2"), ("input", "3"), ("output", "5")];
    let expected: Vec<_> = expected.map(|(class, height)| (Some(class), Some(height))).into();
    assert_eq!(bars.get(..4), Some(&*expected));
    assert!(drawn.contains("most 4,000: Prompt 2"), "{drawn}");
    assert!(drawn.contains("<desc id=\"context-told\">"));
    for few in [vec![prompt(400)], vec![prompt(0), prompt(0)]] {
        assert_eq!(
            Page::read(&page(&ExportOptions::default(), &facts, &few)).all("svg").count(),
            0
        );
    }
    let many: Vec<_> = (0..1000).map(|_| prompt(u64::MAX / 4)).collect();
    let drawn = page(&ExportOptions::default(), &facts, &many);
    assert!(Page::read(&drawn).all("rect").count() <= 120 * 4);
    assert!(drawn.contains("Prompts 1 to 9"), "{drawn}");
}

#[test]
fn the_same_speaker_is_not_announced_again_at_the_lower_levels() {
    let time = "2026-09-02T08:00:00Z";
    let mut acts = said(MessageKind::Answer, "", time);
    acts.tool_calls.push(ToolCall::named("Edit"));
    let messages = [
        acts,
        said(MessageKind::Answer, "one", time),
        said(MessageKind::ToolResult, "between", time),
        said(MessageKind::Answer, "two", time),
        said(MessageKind::Notice, "hm", time),
        said(MessageKind::Answer, "three", time),
    ];
    let page = Page::read(&page(&ExportOptions::default(), &session("t", "i"), &messages));
    let heads: Vec<_> = page.all("header").filter_map(|head| head.get("class")).collect();
    let expected = ["top", "who", "who but-at-actions", "who", "who full", "who", "who actions"];
    assert_eq!(heads, expected);
}

#[test]
fn sub_agents_and_the_index_are_linked_where_they_are() {
    let mut call = ToolCall::named("agent");
    call.agent_id = Some("child".into());
    call.status = ToolStatus::Success;
    let mut answer = said(MessageKind::Answer, "a", "2026-09-02T08:00:00Z");
    answer.tool_calls.push(call);
    let mut options =
        ExportOptions { site: Some("../index.html".into()), ..ExportOptions::default() };
    let targets = |options: &ExportOptions| {
        let page = Page::read(&page(options, &session("t", "i"), std::slice::from_ref(&answer)));
        let all = page.all("a").filter_map(|a| a.get("href")).filter(|to| !to.starts_with('#'));
        all.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(targets(&options), ["../index.html"]);
    options.links.insert("child".into(), "../shop/child.html".into());
    assert_eq!(targets(&options), ["../index.html", "../shop/child.html"]);
}

fn index(rows: &[(SiteRow, &str)]) -> String {
    let entries: Vec<_> = rows.iter().map(|(row, file)| SiteEntry { row, file }).collect();
    let mut out = Vec::new();
    super::site::write(&entries, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn row(id: &str, parent: Option<&str>, updated: &str) -> SiteRow {
    let mut facts = session(id, id);
    facts.parent = parent.map(recount_model::SessionId::new);
    facts.updated = updated.parse().ok();
    SiteRow::new(&facts, "", &ExportOptions::default())
}

#[test]
fn the_index_puts_sub_agents_below_their_callers() {
    let rows = [
        (row("old", None, "2026-09-01T00:00:00Z"), "shop/old.html"),
        (row("child", Some("old"), "2026-09-03T00:00:00Z"), "shop/child.html"),
        (row("grandchild", Some("child"), "2026-09-04T00:00:00Z"), "shop/grandchild.html"),
        (row("new", None, "2026-09-02T00:00:00Z"), "shop/new.html"),
        (row("lost", Some("gone"), "2026-08-01T00:00:00Z"), "shop/lost.html"),
        (row("a", Some("b"), "2026-09-01T00:00:00Z"), "other/a.html"),
        (row("b", Some("a"), "2026-09-01T00:00:00Z"), "other/b.html"),
    ];
    let page = index(&rows);
    let read = Page::read(&page);
    let files: Vec<_> = read.all("a").filter_map(|a| a.get("href")).collect();
    let expected = [
        "#sessions",
        "shop/new.html",
        "shop/old.html",
        "shop/child.html",
        "shop/grandchild.html",
        "shop/lost.html",
    ];
    assert_eq!(files.get(..6), Some(&expected[..]), "{files:?}");
    assert_eq!(files.len(), 8, "a circle of parents loses nobody: {files:?}");
    let children = read.all("tr").filter(|row| row.get("class") == Some("child")).count();
    assert_eq!(children, 3, "{page}");
}

#[test]
fn the_index_is_only_text_and_has_no_more_than_a_page() {
    for text in NASTY {
        let facts = session(text, text);
        let all = SiteRow::new(&facts, text, &ExportOptions::default());
        let shared = SiteRow::new(
            &facts,
            text,
            &ExportOptions { minimal: true, ..ExportOptions::default() },
        );
        assert_eq!((shared.id.as_str(), shared.tokens), ("", 0));
        Page::read(&index(&[(all, "shop/a.html"), (shared, "shop/b.html")]));
    }
}

proptest! {
    #[test]
    fn any_answer_leaves_the_page_whole(text in "[`~<>/a!\\-\\\\ \n\\[\\]()|:\"'&*_#0-9.]{0,80}") {
        Page::read(&written(Format::Html, &ExportOptions::default(), &text));
    }
}
