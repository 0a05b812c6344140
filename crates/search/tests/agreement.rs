//! Properties of random messages: every word finds its message, and the index and the text agree.

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use jiff::Zoned;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use recount_model::{Fate, MessageKind};
use recount_search::{
    Document, HitOrder, Index, MessageTexts, QueryPlan, SearchOptions, SearchQuery, Searcher,
};
use tempfile::TempDir;

/// A message with owned text.
#[derive(Clone, Debug)]
struct Made {
    fields: [String; 8],
    paths: Vec<String>,
    tools: Vec<&'static str>,
    kind: MessageKind,
    time: Option<i64>,
}

impl Made {
    fn with<T>(&self, key: u64, then: impl FnOnce(&Document<'_>) -> T) -> T {
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        let [prompt, answer, thought, call, output, context, notice, title] = &self.fields;
        let text = MessageTexts {
            prompt,
            answer,
            thought,
            call,
            output,
            context,
            notice,
            paths: &paths,
            title,
        };
        then(&Document {
            session: key % 3,
            message: key,
            file: 0,
            offset: 0,
            bytes: 0,
            line: 0,
            time: self.time,
            kind: self.kind,
            fate: Fate::Kept,
            model: None,
            tools: &self.tools,
            is_error: key.is_multiple_of(2),
            text,
        })
    }
}

const WORDS: [&str; 26] = [
    "parse",
    "legacyRecord",
    "legacy_record",
    "parseLegacyRecord",
    "legacy",
    "record",
    "tax.js",
    "src/cart/tax.js",
    "sha256",
    "HTTPServer2",
    "http",
    "2",
    "École",
    "ecole",
    "会话",
    "会话恢复",
    "话恢",
    "会",
    "用Rust写",
    "カート",
    "2026-09-02T08:00",
    "09",
    "3f2a91c0-1234-4abc-9def-0123456789ab",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAA9zQ8",
    "the",
    "x",
];

fn text() -> impl Strategy<Value = String> {
    let glue = select(&[" ", " ", ", ", "-", "_", ".", "/", "\n", ""][..]);
    vec((select(&WORDS[..]), glue), 0..6)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, glue)| [word, glue]).collect())
}

fn made() -> impl Strategy<Value = Made> {
    let fields = [text(), text(), text(), text(), text(), text(), text(), text()];
    let kind = select(&[MessageKind::Prompt, MessageKind::Answer][..]);
    let time = proptest::option::of(0_i64..4_000_000_000);
    let tools = vec(select(&["read_file", "shell"][..]), 0..2);
    (fields, vec(text(), 0..3), tools, kind, time)
        .prop_map(|(fields, paths, tools, kind, time)| Made { fields, paths, tools, kind, time })
}

fn query() -> impl Strategy<Value = String> {
    let word = select(&WORDS[..]);
    let term = prop_oneof![
        4 => word.clone().prop_map(str::to_owned),
        2 => text().prop_map(|text| format!("\"the {}\"", text.replace('"', ""))),
        1 => text().prop_map(|text| format!("\"{} 会\"", text.replace('"', ""))),
        1 => word.clone().prop_map(|word| format!("{}*", word.chars().take(3).collect::<String>())),
        1 => word.clone().prop_map(|word| format!("{word}*")),
        1 => word.clone().prop_map(|word| format!("{word}~1")),
        1 => word.prop_map(|word| format!("{}~2", word.replace('e', "x"))),
        2 => select(&[
            "/legacy_?record/i", "/Record/", r"/\brecord\b/", "/the$/", "/02T08/", "/src.cart/", "/[hk]ttp/i", "/AAA/",
            "/s*r/", r"/\s+the/", "/会话/", "/T08:0/", "/parse\\w+/", "/ iVBOR/",
        ][..]).prop_map(str::to_owned),
        1 => select(&[
            "kind:prompt", "is:error", "after:1970-01-20", "before:1970-02", "file:tax", "tool:file", "project:x",
        ][..]).prop_map(str::to_owned),
    ];
    let scoped = (term, select(&["", "", "", "in:output ", "in:prompt,path ", "-in:call "][..]))
        .prop_map(|(term, scope)| {
            let is_text = !term.contains(':') || term.starts_with('"') || term.starts_with('/');
            if scope.is_empty() || !is_text { term } else { format!("({scope}{term})") }
        });
    scoped.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(|all| format!("({})", all.join(" "))),
            vec(inner.clone(), 2..4).prop_map(|any| format!("({})", any.join(" OR "))),
            inner.prop_map(|inner| format!("NOT {inner}")),
        ]
    })
}

fn plan(query: &str) -> Option<QueryPlan> {
    Some(SearchQuery::parse(query).ok()?.plan(&Zoned::default(), &mut |_| vec![1]))
}

fn indexed(folder: &TempDir, messages: &[Made]) -> Searcher {
    let index = Index::open(folder.path()).unwrap();
    let mut writer = index.writer(0, 1, "one").unwrap();
    for (key, message) in (0..).zip(messages) {
        message.with(key, |document| writer.add(document)).unwrap();
    }
    writer.commit().unwrap();
    index.searcher()
}

/// Returns what the index finds: per key whether it is certain; not relaxed.
fn found(searcher: &Searcher, plan: &QueryPlan) -> Vec<(u64, bool)> {
    let options = SearchOptions {
        limit: 1000,
        relaxed_limit: 1000,
        offset: 0,
        now: 0,
        sort: HitOrder::Relevance,
        one_per_session: false,
        may_relax: false,
    };
    let found = searcher.search(plan, &options).unwrap();
    found.hits.iter().map(|hit| (hit.message, !hit.must_check)).collect()
}

/// A question with forms of the words that messages have.
fn question() -> impl Strategy<Value = String> {
    let words = &[
        "parsing",
        "records",
        "the",
        "how",
        "did",
        "legacies",
        "taxes",
        "servers",
        "会话恢复了吗",
        "parseLegacyRecord",
        "legacy-records",
        "x",
        "kind:prompt",
        "in:output",
        "-http",
        "ecoles",
        "rec*",
    ][..];
    vec(select(words), 1..6).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn index_and_text_agree(messages in vec(made(), 1..8), queries in vec(query(), 24)) {
        let folder = TempDir::new().unwrap();
        let searcher = indexed(&folder, &messages);
        for query in &queries {
            let Some(plan) = plan(query) else { continue };
            let hits = found(&searcher, &plan);
            for (key, message) in (0..).zip(&messages) {
                let holds = message.with(key, |document| plan.holds(document));
                let hit = hits.iter().find(|(found, _)| *found == key);
                prop_assert!(!holds || hit.is_some(), "{query} misses {message:?}");
                if let Some((_, true)) = hit {
                    prop_assert!(holds, "{query} is sure of {message:?}");
                }
            }
        }
    }

    #[test]
    fn index_and_text_agree_on_questions(messages in vec(made(), 1..8), queries in vec(question(), 24)) {
        let folder = TempDir::new().unwrap();
        let searcher = indexed(&folder, &messages);
        for query in &queries {
            let Some(relaxed) = plan(query).and_then(|plan| plan.relaxed()) else { continue };
            let hits = found(&searcher, &relaxed);
            for (key, message) in (0..).zip(&messages) {
                let holds = message.with(key, |document| relaxed.holds(document));
                let hit = hits.iter().find(|(found, _)| *found == key);
                prop_assert!(!holds || hit.is_some(), "{query} misses {message:?}");
                if let Some((_, true)) = hit {
                    prop_assert!(holds, "{query} is sure of {message:?}");
                }
            }
        }
    }

    #[test]
    fn every_word_finds_its_message(texts in vec("[a-zA-Z0-9_./ -]{0,40}|[会话恢复新 カート]{0,20}|\\PC{0,30}", 1..5)) {
        let folder = TempDir::new().unwrap();
        let messages: Vec<Made> = texts.iter().map(|text| Made {
            fields: [(); 8].map(|()| text.clone()),
            paths: vec![],
            tools: vec![],
            kind: MessageKind::Prompt,
            time: None,
        }).collect();
        let searcher = indexed(&folder, &messages);
        for (key, text) in (0..).zip(&texts) {
            for word in text.split_whitespace() {
                let quoted = format!("\"{}\"", word.replace(['"', '“', '”'], " "));
                for query in [word, &quoted] {
                    let Ok(parsed) = SearchQuery::parse(query) else { continue };
                    if query.contains(':') || query.starts_with('-') { continue; }
                    let plan = parsed.plan(&Zoned::default(), &mut |_| vec![]);
                    let hits = found(&searcher, &plan);
                    prop_assert!(hits.iter().any(|(found, _)| *found == key), "{query} in {text}");
                }
            }
        }
    }
}
