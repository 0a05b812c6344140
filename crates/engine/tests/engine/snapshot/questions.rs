//! Every question, as text, for comparison.

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use recount_engine::stats::{By, StatsRequest as StatsAsked};
use recount_engine::{Engine, HitOrder, ListQuery, SearchRequest};

/// How many questions there are.
pub(crate) const QUESTIONS: usize = 7;

/// Asks for every message with a word.
pub(crate) fn every_hit(word: &str) -> SearchRequest {
    SearchRequest {
        query: word.to_owned(),
        // More than there are: those of sessions that are gone must not take the place of others.
        limit: 100_000,
        sort: HitOrder::default(),
        all_hits: true,
        width: 60,
        without_index: false,
        at_once: false,
    }
}

/// Answers one of the questions.
pub(crate) fn answer(engine: &Engine, number: usize) -> String {
    match number % QUESTIONS {
        0 => {
            let query =
                ListQuery { labelled: true, pending_deletion: true, ..ListQuery::default() };
            let mut listing = engine.list(&query, &()).unwrap();
            engine.price(&mut listing.sessions, &());
            serde_json::to_string_pretty(&listing.sessions).unwrap()
        }
        1 => serde_json::to_string_pretty(&engine.projects(None, &()).unwrap().0).unwrap(),
        2 => {
            let (sessions, zone) = (ListQuery::default(), TimeZone::UTC);
            let asked = StatsAsked { sessions, zone, gap: SignedDuration::from_mins(30) };
            let report = engine.stats(&asked, By::Project, &()).unwrap();
            format!("{:?}", report.rows)
        }
        3 => {
            let asked = every_hit("prompt");
            let answer = engine.search(&asked, &()).unwrap();
            let hit = |hit: &recount_engine::Match| format!("{}/{:?}", hit.session.id, hit.message);
            // Sessions whose files are gone stay findable where they were indexed: a fresh engine never saw them.
            let gone = answer.hits.iter().filter(|hit| hit.is_gone).count();
            let mut hits: Vec<String> =
                answer.hits.iter().filter(|hit| !hit.is_gone).map(hit).collect();
            hits.sort();
            format!("{} {hits:#?}", answer.total - gone)
        }
        4 => {
            let table = engine.sql("select id, messages from sessions order by id", &()).unwrap();
            let mut rows = Vec::new();
            let mut row = |cells: &[recount_engine::SqlValue<'_>]| {
                rows.push(format!("{cells:?}"));
                Ok(())
            };
            table.each(&mut row).unwrap();
            rows.join("\n")
        }
        5 => {
            let guarded = engine.guard(None, None, &()).unwrap();
            format!("{:#?}", guarded.projects)
        }
        _ => {
            let lost = engine.lost(&ListQuery::default(), &()).unwrap();
            let latest = engine.open("latest", &()).unwrap();
            format!("{lost:?}\n{}", serde_json::to_string_pretty(&latest.facts).unwrap())
        }
    }
}
