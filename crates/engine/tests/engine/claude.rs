//! Recorded homes of Claude Code through every question: what is listed, opened, searched, counted and asked in SQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use recount_engine::stats::{By, StatsRequest, UsageFigures};
use recount_engine::{ListQuery, View};
use recount_model::{
    Entrypoint, Fate, MessageKind, RecordedPath, SessionFacts, SessionKind, TitleFrom,
};
use recount_testkit::{Home, fixtures_of};

use crate::{engine, engine_with_data};

fn listed(home: &Home) -> BTreeMap<String, Arc<SessionFacts>> {
    let sessions = engine_with_data(home.path()).list(&ListQuery::default(), &()).unwrap().sessions;
    sessions.into_iter().map(|facts| (facts.id.short().to_owned(), facts)).collect()
}

fn figures(home: &Home) -> UsageFigures {
    let asked = StatsRequest {
        sessions: ListQuery::default(),
        zone: TimeZone::UTC,
        gap: SignedDuration::from_mins(30),
    };
    engine_with_data(home.path()).stats(&asked, By::Day, &()).unwrap().total
}

fn total(home: &Home) -> u64 {
    figures(home).tokens.total
}

#[test]
fn every_case_is_remembered_searched_and_asked_as_it_is_read() {
    for case in fixtures_of("claude") {
        let home = Home::with([case.name.as_str()]);
        crate::catalog::check(home.path(), &home.path().join("data"), &case.name);
        crate::scan::agree(
            home.path(),
            &home.path().join("data"),
            &["404", "cart", "hello"],
            &case.name,
        );
        let engine = engine_with_data(home.path());
        crate::sql::check_sums(&engine, &case.name);
        crate::sql::check_texts(&engine, &case.name);
        for facts in engine.list(&ListQuery::default(), &()).unwrap().sessions {
            let opened = engine.open(facts.id.as_str(), &()).unwrap();
            for view in [View::Strict, View::Full] {
                assert!(
                    opened.messages(view).unwrap().all(|message| message.is_ok()),
                    "{}",
                    case.name
                );
            }
            let path = facts.project.path.as_ref().map(RecordedPath::as_str);
            assert!(facts.is_empty() || path == Some("/home/dev/code/shop"), "{}", case.name);
        }
    }
}

#[test]
fn a_resume_that_copied_history_is_a_session_of_its_own_and_counts_once() {
    let home = Home::with(["claude/inline/resume"]);
    for _ in 0..2 {
        let sessions = listed(&home);
        let prompts: Vec<_> = sessions.values().map(|facts| facts.counts.prompts).collect();
        assert_eq!((sessions.len(), prompts), (3, vec![3, 2, 1]));
        let last = &sessions["8c8719cf"];
        assert_eq!(last.first_prompt.as_deref(), Some("What does HTTP status 404 mean?"));
        assert_eq!(last.last_prompt.as_deref(), Some("Say hello"));
        // What the service said when the title was asked for is no title.
        assert!(sessions.values().all(|facts| facts.title_from == TitleFrom::Prompt));
        // Three requests, of which one stands in three files and one in two.
        let each = [4 + 1342 + 12082 + 23, 4 + 1348 + 12139 + 25, 4 + 1353 + 12178 + 12];
        assert_eq!(total(&home), each.iter().sum::<u64>());
        assert_eq!(figures(&home).prompts, 3, "what was typed counts once, too");
    }
}

#[test]
fn a_summary_in_another_file_is_the_title_of_the_conversation_that_it_names() {
    let home = Home::with(["claude/inline/resume"]);
    let path = ".claude/projects/-home-dev-code-shop/8c8719cf-fac3-4367-a7bb-71778fcf17b8.jsonl";
    let text = String::from_utf8(home.read(path)).unwrap();
    home.write(path, text.replace("Invalid API key · Please run /login", "Codes of HTTP"));
    let sessions = listed(&home);
    assert_eq!(sessions["b0a04eff"].title.as_deref(), Some("Codes of HTTP"));
    assert_eq!(sessions["b0a04eff"].title_from, TitleFrom::Summary);
    assert_eq!(sessions["8c8719cf"].title_from, TitleFrom::Prompt);
}

#[test]
fn forks_stubs_and_warm_ups_are_told_apart() {
    let home = Home::with(["claude/flat/resume"]);
    let sessions = listed(&home);
    let said: Vec<_> = { sessions.values() }
        .filter(|facts| !facts.is_empty())
        .map(|facts| (facts.id.short(), facts.kind, facts.counts.prompts))
        .collect();
    assert_eq!(said, [("4aa43e46", SessionKind::Main, 3), ("7fcbb3bc", SessionKind::Main, 4)]);
    assert!(
        sessions.values().all(|facts| facts.kind == SessionKind::Main),
        "no agent that warms up"
    );
    assert_eq!(sessions["4aa43e46"].entrypoint, Some(Entrypoint::Headless));
    assert_eq!(sessions["4aa43e46"].branch.as_deref(), Some("main"));
    // The agents that warm up are counted, and what the fork copied counts once.
    let own: u64 = { sessions.values() }.map(|facts| facts.tokens.total).max().unwrap();
    assert!(total(&home) > own, "{}", total(&home));
}

#[test]
fn sub_agents_of_every_layout_are_linked_to_their_call() {
    for case in ["claude/inline/subagent", "claude/flat/subagent", "claude/folder/subagent"] {
        let home = Home::with([case]);
        let sessions = listed(&home);
        let agents: Vec<_> =
            sessions.values().filter(|facts| facts.kind == SessionKind::Subagent).collect();
        assert_eq!(agents.len(), 1, "{case}");
        assert!(agents[0].parent_call.as_deref().unwrap().starts_with("toolu_"), "{case}");
        let parent = agents[0].parent.as_ref().unwrap();
        assert!(sessions.values().any(|facts| facts.id == *parent), "{case}");
    }
}

#[test]
fn a_session_in_a_terminal_has_its_name_its_diff_and_its_fates() {
    let home = Home::with(["claude/folder/interactive"]);
    let sessions = listed(&home);
    let facts = sessions.values().next().unwrap();
    assert_eq!((facts.title.as_deref(), facts.title_from), (Some("HTTP codes"), TitleFrom::Name));
    assert_eq!(facts.entrypoint, Some(Entrypoint::Terminal));
    let opened = engine(home.path(), None).open(facts.id.as_str(), &()).unwrap();
    let full: Vec<_> = opened.messages(View::Full).unwrap().map(Result::unwrap).collect();
    let diff =
        full.iter().flat_map(|message| &message.tool_calls).find_map(|call| call.diff.as_ref());
    assert!(diff.unwrap().contains("+    return sum(i[\"price\"] * i[\"qty\"] for i in items)"));
    assert!(full.iter().any(|message| message.kind == MessageKind::Summary));
    assert!(full.iter().any(|message| message.fate == Fate::Compressed));
    let strict: Vec<_> = opened.messages(View::Strict).unwrap().map(Result::unwrap).collect();
    assert!(strict.iter().all(|message| message.fate == Fate::Kept));
    let answers = strict.iter().filter(|message| message.kind == MessageKind::Answer).count();
    assert!(answers < full.iter().filter(|message| message.kind == MessageKind::Answer).count());
}
