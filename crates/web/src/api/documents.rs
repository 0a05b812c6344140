//! The documents of `--json`, the same bytes.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use jiff::ToSpan as _;
use recount_changes::Changes;
use recount_display::when;
use recount_documents as written;
use recount_engine::stats::By;
use recount_engine::{
    Engine, Error, HitOrder, MessageCursor, SearchRequest, SearchResults, source_names,
};
use recount_model::{Clock, Message};
use recount_platform::local_zone;
use serde_json::json;

use super::streamed::PieceWriter;
use super::{filters, session};
use crate::failure::ApiError;
use crate::mask::HIDDEN;
use crate::router::{Answer, Asked};

/// Writes a large document.
pub(crate) type Write = fn(&Asked<'_>, &mut PieceWriter) -> Result<(), ApiError>;

/// The width of a snippet.
const SNIPPET: usize = 200;
/// The largest number of hits, and of messages around each.
const HITS: usize = 1000;
const AROUND: usize = 10;
/// Number of messages that are read at once.
const PAGE: usize = 16;

type Answered = Result<Answer, ApiError>;

/// Writes a document to memory.
fn document(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Answered {
    let mut text = Vec::new();
    write(&mut text)?;
    Ok(Answer::Json(text))
}

/// What this server is.
pub(crate) fn hello(asked: &Asked<'_>) -> Answered {
    let app = asked.app;
    let zone = local_zone();
    let known = app.known_snapshot().map(|snapshot| snapshot.sessions().len());
    let value = json!({
        "schema": "recount.hello/1",
        "version": env!("CARGO_PKG_VERSION"),
        "changes": app.changes,
        "mask": app.mask.names(),
        "sources": source_names(),
        "home": app.engine.first_home().map(|home| app.engine.folders().tilde(&home.to_string_lossy())),
        "is_demo": app.is_demo,
        "zone": zone.iana_name(),
        "now": Clock::system().now().as_millisecond(),
        "sessions": known,
    });
    document(|out| written::whole(out, &value))
}

/// The token, for a ticket.
pub(crate) fn token(asked: &Asked<'_>) -> Answered {
    let value = json!({"schema": "recount.token/1", "token": asked.app.safety.token()});
    document(|out| written::whole(out, &value))
}

/// `recount list --all --json`
pub(crate) fn list(asked: &Asked<'_>, out: &mut PieceWriter) -> Result<(), ApiError> {
    let engine = asked.app.engine(asked.cancel)?;
    let query = filters::list_query(asked.params, engine.clock().now())?;
    let mut listing = engine.list(&query, asked.cancel)?;
    listing.sessions.truncate(asked.params.number("limit")?.unwrap_or(usize::MAX));
    engine.price(&mut listing.sessions, asked.cancel);
    if asked.app.mask.is_nothing() {
        return Ok(written::sessions(out, &listing)?);
    }
    let mut text = Vec::new();
    written::sessions(&mut text, &listing)?;
    Ok(out.write_all(&asked.app.mask.document(text))?)
}

/// `recount list --lost --json`
pub(crate) fn lost(asked: &Asked<'_>) -> Answered {
    let engine = asked.app.engine(asked.cancel)?;
    let mut query = filters::list_query(asked.params, engine.clock().now())?;
    query.limit = asked.params.number("limit")?;
    query.pending_deletion = true;
    let mut lost = engine.lost(&query, asked.cancel)?;
    // Sessions that recount deleted are not lost.
    let trashed: BTreeSet<String> =
        Changes::new(&engine).trash()?.into_iter().map(|one| one.session.id).collect();
    lost.retain(|session| !trashed.contains(session.id.as_str()));
    document(|out| written::document(out, "lost", "sessions", &lost))
}

/// `recount show ID --json`
pub(crate) fn show(asked: &Asked<'_>, out: &mut PieceWriter) -> Result<(), ApiError> {
    session::refuse_if_masked(asked)?;
    let view = session::view(asked.params)?;
    let engine = asked.app.engine(asked.cancel)?;
    let key = session::key(asked, &engine)?;
    let mut opened = engine.open_key(&key, asked.cancel)?;
    engine.complete(&mut opened);
    let mut cursor = MessageCursor::new(Arc::new(opened.clone()), view);
    let mut document = written::TranscriptDocument::begin(out, &opened.facts)?;
    loop {
        let page = cursor.next_page(PAGE);
        if page.is_empty() {
            break;
        }
        for message in page {
            match message {
                Ok(message) => {
                    document.message(&message)?;
                    message.located_problems().for_each(|problem| document.problem(problem));
                }
                Err(problem) => document.problem(problem),
            }
        }
    }
    document.end()?;
    Ok(())
}

/// `recount search QUERY --json`
pub(crate) fn search(asked: &Asked<'_>) -> Answered {
    let params = asked.params;
    let query =
        params.text("q").ok_or_else(|| ApiError::bad("no query was given").hint("q=WORDS"))?;
    let sort =
        params.choice("sort", &[("relevance", HitOrder::Relevance), ("time", HitOrder::Time)])?;
    let request = SearchRequest {
        query,
        limit: params.number("limit")?.unwrap_or(20).clamp(1, HITS),
        sort: sort.unwrap_or(HitOrder::Relevance),
        all_hits: params.flag("all-hits"),
        width: SNIPPET,
        without_index: params.flag("no-index"),
        at_once: recount_platform::may_leave_process(asked.app.engine.env()),
    };
    let engine = asked.app.engine(asked.cancel)?;
    let answer = found(&engine, &request, asked)?;
    if answer.is_unindexed {
        asked.app.start_indexing();
    }
    let many = params.number("context")?.unwrap_or(0).min(AROUND);
    let around: Vec<Vec<Message>> = if many == 0 {
        Vec::new()
    } else {
        let near = |hit: &recount_engine::Match| {
            if hit.is_gone { Ok(Vec::new()) } else { engine.around(hit, many) }
        };
        answer.hits.iter().map(near).collect::<Result<_, _>>()?
    };
    document(|out| written::hits(out, &answer, &around))
}

/// Searches with the index that stays open between questions. What that cannot answer in full is searched as the command does.
fn found(
    engine: &Engine,
    request: &SearchRequest,
    asked: &Asked<'_>,
) -> Result<SearchResults, ApiError> {
    if !request.without_index {
        let typed = engine.search_typed(request, None, asked.cancel);
        if let Ok(answer) = typed
            && !answer.is_unindexed
        {
            return Ok(answer);
        }
        if asked.cancelled() {
            return Err(Error::Cancelled.into());
        }
    }
    Ok(engine.search(request, asked.cancel)?)
}

/// `recount projects --json`
pub(crate) fn projects(asked: &Asked<'_>) -> Answered {
    let engine = asked.app.engine(asked.cancel)?;
    let (mut rows, _) = engine.projects(None, asked.cancel)?;
    if let Some(wanted) = asked.params.get("project") {
        Engine::keep_matching(&mut rows, wanted, engine.folders())?;
    }
    if asked.params.flag("unresolved") {
        rows.retain(|row| row.path.is_none());
    }
    let rows: Vec<_> = rows.iter().map(written::ProjectDocument::new).collect();
    document(|out| written::document(out, "projects", "projects", &rows))
}

const SIDES: &[(&str, By)] = &[
    ("day", By::Day),
    ("week", By::Week),
    ("month", By::Month),
    ("hour", By::Hour),
    ("project", By::Project),
    ("model", By::Model),
    ("session", By::Session),
    ("source", By::Source),
    ("tool", By::Tool),
    ("subagent", By::Agent),
];

/// `recount stats --all --json`
pub(crate) fn stats(asked: &Asked<'_>) -> Answered {
    let engine = asked.app.engine(asked.cancel)?;
    let request = filters::stats_request(asked.params, engine.clock().now())?;
    match asked.params.choice("by", SIDES)? {
        None => {
            let overview = engine.overview(&request, asked.cancel)?;
            document(|out| written::stats(out, &overview))
        }
        Some(by) => {
            let mut report = engine.stats(&request, by, asked.cancel)?;
            if by == By::Session && asked.app.mask.titles {
                // The name of a session is its title.
                report.rows.iter_mut().for_each(|row| row.name = Some(HIDDEN.to_owned()));
            }
            document(|out| written::stats_report(out, &report, None))
        }
    }
}

/// `recount guard --json`
pub(crate) fn guard(asked: &Asked<'_>) -> Answered {
    let engine = asked.app.engine(asked.cancel)?;
    let (project, release) = (asked.params.get("project"), asked.params.get("release"));
    let forecast = engine.guard(project, release, asked.cancel)?;
    document(|out| written::guard(out, &forecast))
}

/// `recount doctor --json`
pub(crate) fn doctor(asked: &Asked<'_>) -> Answered {
    let engine = asked.app.engine(asked.cancel)?;
    let found = Changes::new(&engine).doctor(asked.params.get("project"), asked.cancel)?;
    let findings = written::findings(found, engine.folders().home.as_deref());
    document(|out| written::document(out, "doctor", "findings", &findings))
}

/// `recount history --json`
pub(crate) fn history(asked: &Asked<'_>) -> Answered {
    let made = Changes::new(&asked.app.engine).history()?;
    document(|out| written::document(out, "history", "changes", &made))
}

/// `recount trash --json`
pub(crate) fn trash(asked: &Asked<'_>) -> Answered {
    let kept = Changes::new(&asked.app.engine).kept_copies()?;
    document(|out| written::trash(out, &kept))
}

/// `recount vault --json`
pub(crate) fn vault(asked: &Asked<'_>) -> Answered {
    let (held, _) = Changes::new(&asked.app.engine).vault()?;
    document(|out| written::document(out, "vault", "sessions", &held))
}

/// `recount watch --once --json`: from the watcher if it runs, else by a look of its own.
pub(crate) fn live(asked: &Asked<'_>) -> Answered {
    if let Some(board) = asked.app.hub.board() {
        return document(|out| written::whole(out, &*board));
    }
    let mut watch = asked.app.engine.watch_live();
    let mut facts = asked.app.engine.live_facts();
    let (mut rows, _) = watch.next(Duration::from_millis(1200))?;
    for _ in 0..3 {
        if rows.is_empty() {
            break;
        }
        facts.update(&rows, true);
        rows = watch.next(Duration::from_millis(450))?.0;
    }
    facts.wait(Duration::from_millis(1500));
    facts.update(&rows, true);
    let board = written::live_board(&rows, &facts, Clock::system().now().as_millisecond());
    document(|out| written::whole(out, &board))
}

/// `recount watch --replay DAY --speed max --json`
pub(crate) fn replay(asked: &Asked<'_>, out: &mut PieceWriter) -> Result<(), ApiError> {
    let engine = asked.app.engine(asked.cancel)?;
    let (now, zone) = (engine.clock().now(), local_zone());
    let day = asked.params.get("day").unwrap_or("today");
    let wrong = |why: String| ApiError::bad(format!("day={day}: not a day")).hint(why);
    let is_day = matches!(day, "today" | "yesterday") || day.parse::<jiff::civil::Date>().is_ok();
    if !is_day {
        return Err(wrong("today, yesterday, 2026-11-15".to_owned()));
    }
    let start = when::parse_in(day, now, &zone).map_err(wrong)?;
    let next = start.to_zoned(zone.clone()).date().saturating_add(1.day());
    let end = next.at(0, 0, 0, 0).to_zoned(zone).map_err(|error| wrong(error.to_string()))?;
    let (start, end) = (start.as_millisecond(), end.timestamp().min(now).as_millisecond());
    let mut replay = engine.replay_between(start, end.max(start), asked.cancel)?;
    let mut facts = asked.app.engine.live_facts();
    for (source, id, title) in replay.titles() {
        facts.set_title(source, id, title);
    }
    while let Some(step) = replay.step() {
        for event in &step.events {
            let mut change = written::live_change(event, &step.rows, &facts, Some(step.t));
            asked.app.mask.value(&mut change);
            written::whole(out, &change)?;
        }
    }
    Ok(())
}
