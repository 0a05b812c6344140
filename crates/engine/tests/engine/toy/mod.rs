//! Tests that a third kind of agent needs only its folder and a line in the list: every query is run on the toy source.

#![expect(clippy::disallowed_methods, reason = "test setup")]

mod source;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use recount_engine::export::{ExportOptions, Format, Images};
use recount_engine::stats::{By, StatsRequest as StatsAsked};
use recount_engine::{
    Engine, Export, HitOrder, ListQuery, SOURCES, SearchRequest, Selection, Setup, Sources,
    SqlValue, View,
};
use recount_formats::Source as _;
use recount_model::{
    Clock, Fate, FileRole, Message, ProjectState, SessionFacts, SessionKind, What,
};
use recount_platform::Env;
use recount_testkit::NOW;
use tempfile::TempDir;

use self::source::Toy;

/// The list of sources, with one more line.
const WITH_TOY: Sources = &[SOURCES[0], &Toy];

/// Where the kept branch begins in the first file: what comes before is the base of `gamma`.
const SECOND_TURN: &str = r#"{"s":"alpha-1111","m":"m4","up":"m2""#;

const FIRST: &str = r#"{"toy":1}
{"s":"alpha-1111","cwd":"~shop~"}
{"s":"alpha-1111","m":"m1","who":"me","say":"Count the teapots","at":1788336000000}
{"s":"alpha-1111","m":"m2","up":"m1","who":"it","say":"I shall look in the cupboard.","at":1788336001000,"use":{"in":100,"out":10}}
{"s":"beta-2222","parent":"alpha-1111","cwd":"~shop~"}
{"s":"beta-2222","m":"b1","who":"me","say":"Look in the cupboard","at":1788336001500}
{"s":"alpha-1111","m":"m2","who":"it","tool":{"name":"peek","arg":{"where":"cupboard"},"out":"three teapots and a zeppelin"}}
{"s":"alpha-1111","m":"m2","who":"it","say":"There are three porcelain ones."}
{"s":"beta-2222","m":"b2","up":"b1","who":"it","say":"Three.","at":1788336002000,"use":{"in":20,"out":2}}
{"s":"alpha-1111","m":"m3","up":"m2","who":"me","say":"Break them","at":1788336003000}
{"s":"alpha-1111","m":"m4","up":"m2","who":"me","say":"Polish them","at":1788336004000}
this row is broken
{"s":"alpha-1111","m":"m5","up":"m4","who":"it","say":"Done.","at":1788336005000,"use":{"in":150,"out":5}}
"#;

const SECOND: &str = r#"{"toy":1}
{"s":"gamma-3333","cwd":"~shop~","from":{"file":"first","s":"alpha-1111","end":~end~}}
{"s":"gamma-3333","m":"g1","up":"m2","who":"me","say":"Paint them quicksilver","at":1788336100000}
{"s":"gamma-3333","m":"g2","up":"g1","who":"it","say":"Painted.","at":1788336101000,"use":{"in":160,"out":6}}
"#;

/// A session that was created from another one: its first answer is a copy, with the time of copying.
const THIRD: &str = r#"{"toy":1}
{"s":"delta-4444","cwd":"~blog~"}
{"s":"delta-4444","m":"m2","who":"it","say":"I shall look in the cupboard.","at":1788336200000,"use":{"in":100,"out":10}}
{"s":"delta-4444","m":"d1","up":"m2","who":"me","say":"Write about teapots","at":1788336201000}
{"s":"delta-4444","m":"d2","up":"d1","who":"it","say":"Written.","at":1788336202000,"use":{"in":30,"out":3}}
"#;

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self { folder };
        fs::create_dir_all(bench.at("code/shop")).unwrap();
        let end = bench.filled(FIRST).find(SECOND_TURN).unwrap();
        let second = bench.filled(SECOND).replace("~end~", &end.to_string());
        bench.write("home/.toy/log/2026-09/first.toy", bench.filled(FIRST).as_bytes());
        let packed = zstd::encode_all(second.as_bytes(), 3).unwrap();
        bench.write("home/.toy/log/2026-10/second.toy.zst", &packed);
        bench.write("home/.toy/log/2026-10/third.toy", bench.filled(THIRD).as_bytes());
        bench
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn filled(&self, text: &str) -> String {
        let shop = self.at("code/shop").to_string_lossy().into_owned();
        let blog = self.at("code/blog").to_string_lossy().into_owned();
        text.replace("~shop~", &shop).replace("~blog~", &blog)
    }

    /// Writes a file with a modification time of an hour ago: recent files are not cached.
    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        File::options().append(true).open(&path).unwrap().set_modified(hour_ago).unwrap();
    }

    fn engine(&self) -> Engine {
        let data = self.at("data");
        let env = Env::for_tests([("RECOUNT_DATA_DIR", data.to_str().unwrap())], None);
        Engine::new(Setup {
            known_sources: WITH_TOY,
            homes: vec![self.at("home")],
            sources: Vec::new(),
            env,
            clock: Clock::fixed(NOW.parse().unwrap()),
        })
        .unwrap()
    }

    fn messages(&self, id: &str, view: View) -> Vec<Message> {
        let opened = self.engine().open(id, &()).unwrap();
        let messages = opened.messages(view).unwrap();
        messages.map(|message| message.unwrap()).collect()
    }
}

fn find<'a>(sessions: &'a [std::sync::Arc<SessionFacts>], id: &str) -> &'a SessionFacts {
    sessions.iter().find(|facts| facts.id.as_str().starts_with(id)).unwrap()
}

fn texts(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn lists_count_every_session_of_a_file_once_whether_it_was_read_before_or_not() {
    let bench = Bench::new();
    // Read, cached by the group, and cached as a finished list.
    for round in 0..3 {
        let listing = bench.engine().list(&ListQuery::default(), &()).unwrap();
        let sessions = &listing.sessions;
        assert_eq!(sessions.len(), 4, "{round}");
        let alpha = find(sessions, "alpha");
        assert_eq!(alpha.title.as_deref(), Some("Count the teapots"), "{round}");
        let counts = alpha.counts;
        assert_eq!((counts.messages, counts.prompts, counts.undone), (5, 3, 1), "{round}");
        assert_eq!((alpha.tokens.total, alpha.tool_calls.total), (265, 1), "{round}");
        assert_eq!((alpha.problems, alpha.problem_list[0].what), (1, What::BrokenLine), "{round}");
        let beta = find(sessions, "beta");
        assert_eq!((beta.kind, beta.parent.as_ref()), (SessionKind::Subagent, Some(&alpha.id)));
        assert_eq!((beta.counts.messages, beta.tokens.total), (2, 22), "{round}");
        // Its base is part of the conversation, but was used elsewhere.
        let gamma = find(sessions, "gamma");
        assert_eq!((gamma.counts.messages, gamma.tokens.total), (5, 166), "{round}");
        let roles: Vec<FileRole> = gamma.files.iter().map(|file| file.role).collect();
        assert_eq!(roles, [FileRole::Main, FileRole::Base], "{round}");
    }
}

#[test]
fn a_session_belongs_to_the_folder_it_records() {
    let bench = Bench::new();
    for round in 0..2 {
        let engine = bench.engine();
        let sessions = engine.list(&ListQuery::default(), &()).unwrap().sessions;
        let path = |id| find(&sessions, id).project.path.as_ref().unwrap().as_str().to_owned();
        assert_eq!(Path::new(&path("gamma")), bench.at("code/shop"), "{round}");
        assert_eq!(Path::new(&path("delta")), bench.at("code/blog"), "{round}");
        let (rows, _) = engine.projects(None, &()).unwrap();
        let told: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.sessions)).collect();
        assert_eq!(told, [("blog", 1), ("shop", 2)], "{round}");
        let states: Vec<ProjectState> = rows.iter().map(|row| row.state).collect();
        assert_eq!(states, [ProjectState::Missing, ProjectState::Present], "{round}");
        assert!(rows.iter().all(|row| row.evidence.iter().any(|clue| clue.proves)), "{round}");
        let parts: Vec<usize> = rows.iter().map(|row| row.parts.len()).collect();
        assert_eq!(parts, [1, 2], "{round}: sessions of one project are in folders of two months");
        let query = ListQuery { project: Some("shop".to_owned()), ..ListQuery::default() };
        assert_eq!(engine.list(&query, &()).unwrap().sessions.len(), 3, "{round}");
    }
}

#[test]
fn messages_are_assembled_from_their_pieces_and_from_their_base() {
    let bench = Bench::new();
    let full = bench.messages("alpha", View::Full);
    let answer = "I shall look in the cupboard.\n\nThere are three porcelain ones.";
    let all = ["Count the teapots", answer, "Break them", "Polish them", "Done."];
    assert_eq!(texts(&full), all);
    assert_eq!(full[1].tool_calls[0].output.as_deref(), Some("three teapots and a zeppelin"));
    assert_eq!(full[1].place.pieces.len(), 2);
    assert_eq!(full[2].fate, Fate::Rewound);
    let strict = bench.messages("alpha", View::Strict);
    assert_eq!(texts(&strict), ["Count the teapots", answer, "Polish them", "Done."]);
    let gamma = bench.messages("gamma", View::Strict);
    let said = ["Count the teapots", answer, "Paint them quicksilver", "Painted."];
    assert_eq!(texts(&gamma)[..2], said[..2]);
    assert_eq!(texts(&gamma)[texts(&gamma).len() - 2..], said[2..]);
    let beta = bench.messages("toy:beta", View::Full);
    assert_eq!(texts(&beta), ["Look in the cupboard", "Three."]);
    // A single file is recognized by its content, though it is compressed.
    let path = bench.at("home/.toy/log/2026-10/second.toy.zst");
    let opened = bench.engine().open(path.to_str().unwrap(), &()).unwrap();
    assert_eq!(opened.facts.id.as_str(), "gamma-3333");
}

#[test]
fn a_base_that_is_gone_is_a_problem_and_the_rest_is_shown() {
    let bench = Bench::new();
    bench.engine().list(&ListQuery::default(), &()).unwrap();
    fs::remove_file(bench.at("home/.toy/log/2026-09/first.toy")).unwrap();
    let sessions = bench.engine().list(&ListQuery::default(), &()).unwrap().sessions;
    let gamma = find(&sessions, "gamma");
    assert_eq!((gamma.counts.messages, gamma.problems), (2, 1));
    assert_eq!(gamma.problem_list[0].what, What::BaseMissing);
    let said = bench.messages("gamma", View::Full);
    assert_eq!(texts(&said), ["Paint them quicksilver", "Painted."]);
    // It is found again once it is back, although the file that begins with it has not changed.
    bench.write("home/.toy/log/2026-09/first.toy", bench.filled(FIRST).as_bytes());
    for _ in 0..2 {
        let sessions = bench.engine().list(&ListQuery::default(), &()).unwrap().sessions;
        let gamma = find(&sessions, "gamma");
        assert_eq!((gamma.counts.messages, gamma.problems), (5, 0));
    }
}

#[test]
fn every_piece_is_found_by_a_search_with_and_without_an_index() {
    let bench = Bench::new();
    for (query, session) in
        [("porcelain", "alpha"), ("zeppelin", "alpha"), ("quicksilver", "gamma")]
    {
        for without_index in [false, true, false] {
            let asked = SearchRequest {
                query: query.to_owned(),
                limit: 10,
                sort: HitOrder::default(),
                all_hits: true,
                width: 60,
                without_index,
                at_once: false,
            };
            let answer = bench.engine().search(&asked, &()).unwrap();
            let found: Vec<&str> =
                { answer.hits.iter() }.map(|hit| hit.session.id.as_str()).collect();
            assert_eq!(found.len(), 1, "{query} {without_index}: {found:?}");
            assert!(found[0].starts_with(session), "{query} {without_index}: {found:?}");
            assert!(answer.hits[0].snippet.is_some(), "{query} {without_index}");
        }
    }
}

#[test]
fn each_request_counts_once_by_the_sources_own_key() {
    let bench = Bench::new();
    for round in 0..2 {
        let asked = StatsAsked {
            sessions: ListQuery::default(),
            zone: TimeZone::UTC,
            gap: SignedDuration::from_mins(30),
        };
        let report = bench.engine().stats(&asked, By::Day, &()).unwrap();
        let tokens: u64 = report.rows.iter().map(|row| row.figures.tokens.total).sum();
        // 110 + 155 and 22 in the first file, 166 and 33 of their own in the others; the copy was already counted.
        assert_eq!(tokens, 265 + 22 + 166 + 33, "{round}");
    }
}

#[test]
fn it_is_exported_and_asked_in_sql() {
    let bench = Bench::new();
    let engine = bench.engine();
    for format in [Format::Markdown, Format::Html, Format::Json, Format::Text] {
        let opened = engine.open("gamma", &()).unwrap();
        let export = Export {
            format,
            options: ExportOptions::default(),
            split: None,
            tables: Vec::new(),
            images: Images::default(),
            redaction: None,
            own: None,
        };
        let mut out = Vec::new();
        engine.export_to(&Selection::Opened(vec![opened]), &export, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("porcelain") && text.contains("quicksilver"), "{format:?}: {text}");
    }
    let ask = |statement: &str| {
        let table = bench.engine();
        let table = table.sql(statement, &()).unwrap();
        let mut rows = Vec::new();
        let told = table.each(&mut |cells| {
            let text = |cell: &SqlValue<'_>| match cell {
                SqlValue::Integer(number) => number.to_string(),
                SqlValue::Text(text) => text.to_string(),
                other => format!("{other:?}"),
            };
            rows.push(cells.iter().map(text).collect::<Vec<_>>().join("|"));
            Ok(())
        });
        told.unwrap();
        rows
    };
    assert_eq!(ask("SELECT count(*), sum(tokens_total) FROM sessions"), ["4|596"]);
    assert_eq!(
        ask("SELECT text FROM messages WHERE id = 'm2' AND session LIKE 'alpha%'"),
        ["I shall look in the cupboard.\n\nThere are three porcelain ones."]
    );
    assert_eq!(ask("SELECT output FROM tool_calls"), ["three teapots and a zeppelin"]);
    let used = "SELECT sum(total) FROM requests WHERE session LIKE 'gamma%'";
    assert_eq!(ask(used), ["166"]);
}

#[test]
fn what_is_optional_has_a_default() {
    let path = Path::new("/home/dev/code/shop");
    assert_eq!(Toy.project_hash(path.to_str().unwrap()), None);
    assert!(Toy.native_format().is_none() && Toy.editor().is_none() && Toy.rewriter().is_none());
    assert!(Toy.retention_policy().is_none() && Toy.hook().is_none());
    assert!(!Toy.is_running(&["toy".to_owned()]));
}
