//! `search_sessions`

use std::collections::HashMap;
use std::sync::Arc;

use recount_display::number::plural;
use recount_display::words;
use recount_engine::{
    Cite, Error, HitOrder, Match, MessageCursor, SearchRequest, SearchResults, View,
};
use recount_model::SessionKey;

use super::echo::is_echo;
use super::snippet::snippet;
use super::{Trouble, counted, day, fate, project};
use crate::arguments::Arguments;
use crate::memory::Moment;
use crate::text::Quoted;

/// The most tokens of an answer.
const CAP: usize = 1500;
/// The width of lines that are searched for.
const WIDTH: usize = 160;
/// The characters of the best hits' lines, and of the others'.
const BEST: (usize, usize) = (1, 130);
const OTHERS: usize = 72;
/// The characters of a title.
const TITLE: usize = 36;
/// Hits that are asked for beyond those wanted, since some may be left out.
const SPARE: usize = 8;
/// The most hits that are asked for.
const MOST: usize = 400;

/// What was found, without what is left out.
struct Found {
    results: SearchResults,
    hits: Vec<Match>,
    own: usize,
    echoes: usize,
    /// Whether the query was not understood, and read as plain words.
    is_plain: bool,
}

pub(super) fn search(moment: &Moment<'_>, arguments: &Arguments) -> Result<Quoted, Trouble> {
    let limit = arguments.number("limit", 5, 1..=20)?;
    let is_every = arguments.choice("mode", &["best", "every"])? == Some("every");
    let start = arguments.cursor()?.unwrap_or(0).min(MOST);
    let within = within(arguments)?;
    let query = arguments.needed("query")?;
    let found = find(moment, query, within.as_deref(), (start + limit, is_every))?;
    let shown: Vec<&Match> = found.hits.iter().skip(start).take(limit).collect();
    let mut answer = Quoted { before: vec![headline(&found, is_every)], ..Quoted::default() };
    notes(&mut answer, &found, moment);
    if shown.is_empty() {
        answer.after.push(if start > 0 {
            "there are no more".to_owned()
        } else {
            other_queries(query)
        });
        return Ok(answer);
    }
    let cursors = open_sessions(moment, &shown);
    let mut last = None;
    for (at, hit) in shown.iter().enumerate() {
        let cursor = cursors.get(&hit.session.key());
        let cite = cursor.and_then(|cursor| cursor.cite(&hit.message.place));
        let before = answer.lines.len();
        let width = if at < BEST.0 { BEST.1 } else { OTHERS };
        answer.lines.extend(row(moment, hit, start + at + 1, (cite.as_ref(), width))?);
        if answer.tokens() > CAP - 60 {
            answer.lines.truncate(before);
            break;
        }
        last = Some((start + at + 1, last.and_then(|(_, first)| first).or(cite)));
    }
    if let Some((end, first)) = last {
        if let Some(first) = first {
            answer.after.push(format!("next: read_session {{\"session\":\"{first}\"}}"));
        }
        if found.hits.len() > end {
            answer.after.push(format!("more: the same with \"cursor\":\"{end}\""));
        }
    }
    Ok(answer)
}

/// Returns the filters as part of a query.
fn within(arguments: &Arguments) -> Result<Option<String>, Trouble> {
    let mut filters = Vec::new();
    if let Some(project) = arguments.text("project")?.filter(|project| *project != "*") {
        filters.push(format!("project:\"{}\"", project.replace('"', "")));
    }
    if let Some(since) = arguments.time("since")? {
        filters.push(format!("after:{since}"));
    }
    Ok((!filters.is_empty()).then(|| filters.join(" ")))
}

/// Searches, and leaves out the session that asks and what recount said before.
fn find(
    moment: &Moment<'_>,
    query: &str,
    within: Option<&str>,
    (wanted, is_every): (usize, bool),
) -> Result<Found, Error> {
    let mut query = query.to_owned();
    let mut is_plain = false;
    let mut limit = wanted + SPARE;
    loop {
        let results = match ask(moment, &query, within, (limit, is_every)) {
            Err(Error::Query { .. }) if !is_plain => {
                (query, is_plain) = (plain(&query), true);
                continue;
            }
            results => results?,
        };
        let is_all = results.hits.len() < limit;
        let (mut own, mut echoes) = (0, 0);
        let mut hits = Vec::new();
        for hit in &results.hits {
            if moment.is_own(&hit.session) {
                own += 1;
            } else if is_echo(hit) {
                echoes += 1;
            } else {
                hits.push(hit.clone());
            }
        }
        if hits.len() > wanted || is_all || limit >= MOST {
            return Ok(Found { results, hits, own, echoes, is_plain });
        }
        limit = limit.saturating_mul(2).min(MOST);
    }
}

fn ask(
    moment: &Moment<'_>,
    query: &str,
    within: Option<&str>,
    (limit, is_every): (usize, bool),
) -> Result<SearchResults, Error> {
    let asked = SearchRequest {
        query: query.to_owned(),
        limit,
        sort: if is_every { HitOrder::Time } else { HitOrder::Relevance },
        all_hits: is_every,
        width: WIDTH,
        without_index: false,
        at_once: moment.memory.may_index(),
    };
    let results = moment.engine.search_typed(&asked, within, moment.progress)?;
    moment.memory.count_search();
    if !results.is_unindexed {
        return Ok(results);
    }
    // Only a part is indexed: the files themselves have everything.
    let query = within.map_or_else(|| query.to_owned(), |within| format!("({query}) {within}"));
    let asked = SearchRequest { query, without_index: true, ..asked };
    let mut results = moment.engine.search(&asked, moment.progress)?;
    results.is_unindexed = true;
    Ok(results)
}

/// Returns the words of a query, without anything that could be an operator.
fn plain(query: &str) -> String {
    let letters =
        |letter: char| if letter.is_alphanumeric() || letter == '_' { letter } else { ' ' };
    let words: String = query.chars().map(letters).collect();
    let is_word = |word: &&str| !matches!(*word, "AND" | "OR" | "NOT");
    let words: Vec<&str> = words.split_whitespace().filter(is_word).collect();
    if words.is_empty() { "recount".to_owned() } else { words.join(" ") }
}

fn headline(found: &Found, is_every: bool) -> String {
    let results = &found.results;
    let left_out = found.own + found.echoes;
    let total = results.total.saturating_sub(left_out).max(found.hits.len());
    if found.hits.is_empty() {
        return "nothing found in earlier sessions".to_owned();
    }
    let about = if results.is_exact { "" } else { "up to " };
    let sessions = results.sessions.saturating_sub(usize::from(found.own > 0)).max(1);
    let (sessions, messages) =
        (plural(sessions as u64, "session"), plural(total as u64, "message"));
    let order = if is_every { "newest first" } else { "best first" };
    format!("{about}{messages} in {sessions}, {order}")
}

/// Adds what was left out, and what the search could not do.
fn notes(answer: &mut Quoted, found: &Found, moment: &Moment<'_>) {
    let mut notes = Vec::new();
    notes.extend(counted(found.own, "hit", "in your own running session left out"));
    notes.extend(counted(found.echoes, "hit", "in recount's own earlier answers left out"));
    if found.results.relaxed {
        notes.push(relaxed(&found.results));
    }
    if found.is_plain {
        notes.push("the query was read as plain words".to_owned());
    }
    if found.results.is_unindexed {
        let runs = moment.memory.index();
        let index = if runs { "being built" } else { "missing: `recount index` builds it" };
        notes.push(format!(
            "the files were searched, newest first and not ranked; the index is {index}"
        ));
    }
    let words = |note| crate::text::line(&words::search_note(note), 120);
    notes.extend(found.results.notes.iter().map(words));
    if !notes.is_empty() {
        answer.before.push(notes.join("; "));
    }
}

/// Describes how the query was relaxed.
fn relaxed(results: &SearchResults) -> String {
    let some = "not all words are in each; those with most and rarest first";
    let words = results.relaxation.as_ref().map(|how| how.not_found.as_slice()).unwrap_or_default();
    match words {
        [] => some.to_owned(),
        missing => format!("{some}; in no message: {}", crate::text::line(&missing.join(", "), 60)),
    }
}

/// Returns the two lines of a hit.
fn row(
    moment: &Moment<'_>,
    hit: &Match,
    number: usize,
    (cite, width): (Option<&Cite>, usize),
) -> Result<Vec<String>, Error> {
    let facts = &hit.session;
    let title = moment.line(facts.title.as_deref().unwrap_or("(no title)"), TITLE)?;
    let cite = match cite {
        Some(cite) => format!("  {cite}"),
        None if hit.is_gone => format!("  {} [files gone]", facts.id.prefix()),
        None => format!("  {}", facts.id.prefix()),
    };
    let subagent = if facts.kind.is_subagent() { " sub-agent" } else { "" };
    let head = format!(
        "{number} {} · {}{subagent} · {} · \"{title}\"{}{cite}",
        project(moment, facts)?,
        facts.source,
        day(facts),
        fate(hit.message.fate),
    );
    Ok(vec![head, format!("  {}", snippet(moment, hit, width)?)])
}

/// Opens the sessions of hits, each once, to cite messages of them: on two threads, as each is read.
fn open_sessions(moment: &Moment<'_>, hits: &[&Match]) -> HashMap<SessionKey, MessageCursor> {
    let mut keys: Vec<SessionKey> = Vec::new();
    for hit in hits.iter().filter(|hit| !hit.is_gone) {
        let key = hit.session.key();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let open = |keys: &[SessionKey]| -> Vec<(SessionKey, MessageCursor)> {
        let open = |key: &SessionKey| {
            let opened = moment.engine.open_key(key, moment.progress).ok()?;
            Some((key.clone(), MessageCursor::new(Arc::new(opened), View::Full)))
        };
        keys.iter().filter_map(open).collect()
    };
    let (first, second) = keys.split_at(keys.len().div_ceil(2));
    std::thread::scope(|scope| {
        let second = (!second.is_empty()).then(|| scope.spawn(|| open(second)));
        let mut opened = open(first);
        opened.extend(second.and_then(|second| second.join().ok()).unwrap_or_default());
        opened.into_iter().collect()
    })
}

/// Suggests two other queries.
fn other_queries(query: &str) -> String {
    let mut words: Vec<&str> =
        query.split_whitespace().filter(|word| word.chars().count() > 3).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    let clean = |word: &&str| plain(word);
    let rarest: Vec<String> = words.iter().take(2).map(clean).collect();
    let other = match rarest.as_slice() {
        [] => "a name, path or error text from that work".to_owned(),
        [one] => format!("{one}*"),
        [one, other, ..] => format!("{one} OR {other}"),
    };
    format!("try: {other}; or list_sessions {{\"project\":\"*\",\"since\":\"30d\"}}")
}
