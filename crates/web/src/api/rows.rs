//! Sessions in short, for lists of thousands.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use recount_display::project_names::ProjectNames;
use recount_engine::{Engine, ListQuery};
use recount_model::{Labels, Project, ProjectState, SessionFacts, SessionKey, SessionKind};
use serde::Serialize;

use super::filters;
use crate::failure::ApiError;
use crate::router::{Answer, Asked};

/// Rows are rebuilt after this time: what is deleted next depends on the day.
const GOOD: Duration = Duration::from_secs(60);

/// The list of everything, as it was sent last.
#[derive(Debug, Default)]
pub(crate) struct RowsCache(Mutex<Option<(u64, Instant, Bytes)>>);

impl RowsCache {
    fn get(&self, number: u64) -> Option<Bytes> {
        let cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cache.as_ref().filter(|(own, at, _)| *own == number && at.elapsed() < GOOD);
        known.map(|(_, _, text)| text.clone())
    }

    fn put(&self, number: u64, text: Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((number, Instant::now(), text));
    }
}

/// One session.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "marks of a row, each with its own name in JSON")]
pub(crate) struct ShortRow<'a> {
    key: String,
    project: Option<usize>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated: Option<i64>,
    messages: u64,
    prompts: u64,
    #[serde(skip_serializing_if = "is_zero")]
    undone: u64,
    #[serde(skip_serializing_if = "is_zero")]
    calls: u64,
    #[serde(skip_serializing_if = "is_zero")]
    failed: u64,
    #[serde(skip_serializing_if = "is_zero")]
    tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "is_false")]
    cost_min: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    models: &'a [String],
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    pinned: bool,
    #[serde(skip_serializing_if = "is_false")]
    doomed: bool,
    #[serde(skip_serializing_if = "is_zero")]
    problems: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "is_false")]
    headless: bool,
    #[serde(skip_serializing_if = "is_false")]
    empty: bool,
}

/// One project.
#[derive(Debug, Serialize)]
pub(crate) struct ShortProject {
    name: String,
    path: Option<String>,
    state: ProjectState,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Returns how a session is named in addresses and events.
pub(crate) fn key_text(key: &SessionKey) -> String {
    format!("{}/{}", key.source, key.id)
}

/// Rows with their projects.
#[derive(Debug, Default, Serialize)]
pub(crate) struct ShortRows<'a> {
    pub(crate) projects: Vec<ShortProject>,
    pub(crate) rows: Vec<ShortRow<'a>>,
}

/// What is known about sessions beside their rows.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// Labels by source and id.
    pub(crate) labels: BTreeMap<(String, String), Labels>,
    /// Sessions that their agent's next start deletes.
    pub(crate) at_risk: HashSet<SessionKey>,
}

impl<'a> ShortRows<'a> {
    /// Makes the rows of some sessions. Names of projects are unambiguous among `all`.
    pub(crate) fn new(
        sessions: &'a [Arc<SessionFacts>],
        names: &ProjectNames,
        beside: &'a Beside,
    ) -> Self {
        // Most sessions share their project; some projects are the same.
        let mut known: HashMap<*const Project, Option<usize>> = HashMap::new();
        let mut by_key: HashMap<String, usize> = HashMap::new();
        let mut projects = Vec::new();
        let mut rows = Vec::with_capacity(sessions.len());
        for facts in sessions {
            let project = known.entry(Arc::as_ptr(&facts.project)).or_insert_with(|| {
                let project = &facts.project;
                let is_known = project.path.is_some() || !project.name().is_empty();
                is_known.then(|| {
                    *by_key.entry(project.key()).or_insert_with(|| {
                        projects.push(ShortProject {
                            name: names.name(project).to_owned(),
                            path: project.path.as_ref().map(|path| path.as_str().to_owned()),
                            state: project.state,
                        });
                        projects.len() - 1
                    })
                })
            });
            rows.push(ShortRow::new(facts, *project, beside));
        }
        Self { projects, rows }
    }
}

impl<'a> ShortRow<'a> {
    fn new(facts: &'a SessionFacts, project: Option<usize>, beside: &'a Beside) -> Self {
        let key = facts.key();
        let labels = facts.labels.as_ref().or_else(|| {
            beside.labels.get(&(key.source.as_str().to_owned(), key.id.as_str().to_owned()))
        });
        let headless = facts.kind == SessionKind::Headless
            || facts.entrypoint == Some(recount_model::Entrypoint::Headless);
        Self {
            project,
            kind: facts.kind.as_str(),
            title: facts.title.as_deref(),
            started: facts.started.map(jiff::Timestamp::as_millisecond),
            updated: facts.updated.map(jiff::Timestamp::as_millisecond),
            messages: facts.counts.messages,
            prompts: facts.counts.prompts,
            undone: facts.counts.undone,
            calls: facts.tool_calls.total,
            failed: facts.tool_calls.failed,
            tokens: facts.tokens.total,
            cost: facts.cost_usd,
            cost_min: facts.cost_usd.is_some() && facts.cost_is_lower_bound == Some(true),
            models: &facts.models,
            bytes: facts.bytes(),
            branch: facts.branch.as_deref(),
            tags: labels.iter().flat_map(|labels| &labels.tags).map(String::as_str).collect(),
            pinned: labels.is_some_and(|labels| labels.pinned),
            doomed: facts.pending_deletion == Some(true) || beside.at_risk.contains(&key),
            problems: facts.problems,
            parent: facts.parent.as_ref().map(|parent| format!("{}/{parent}", facts.source)),
            headless,
            empty: facts.is_empty(),
            key: key_text(&key),
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    number: u64,
    is_remembered: bool,
    #[serde(flatten)]
    rows: ShortRows<'a>,
}

/// Answers `/api/rows`.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let app = asked.app;
    let is_everything = !ASKED.iter().any(|name| asked.params.get(name).is_some());
    if is_everything && !asked.params.flag("fresh") && app.known_snapshot().is_none() {
        // Before the disk is read: what was listed last.
        let sessions = app.engine.remembered_list(None);
        if !sessions.is_empty() {
            return Ok(Answer::Json(text(&sessions, 0, true)?));
        }
    }
    let snapshot = app.snapshot(asked.cancel)?;
    if let Some(known) = app.rows.get(snapshot.number()).filter(|_| is_everything) {
        return Ok(Answer::Shared(known));
    }
    let engine = app.engine.at(&snapshot);
    let query = filters::list_query(asked.params, engine.clock().now())?;
    let mut listing = engine.list(&query, asked.cancel)?;
    listing.sessions.truncate(asked.params.number("limit")?.unwrap_or(usize::MAX));
    engine.price(&mut listing.sessions, asked.cancel);
    let text = Bytes::from(text(&listing.sessions, snapshot.number(), false)?);
    if is_everything {
        app.rows.put(snapshot.number(), text.clone());
    }
    Ok(Answer::Shared(text))
}

/// The parameters that make a list other than that of everything.
const ASKED: &[&str] = &[
    "project", "since", "until", "model", "tool", "touched", "text", "kind", "problems", "live",
    "tag", "pinned", "sort", "limit",
];

fn text(
    sessions: &[Arc<SessionFacts>],
    number: u64,
    is_remembered: bool,
) -> Result<Vec<u8>, ApiError> {
    let names = ProjectNames::of(sessions.iter().map(|session| &*session.project));
    let beside = Beside::default();
    let rows = ShortRows::new(sessions, &names, &beside);
    let document = Document { schema: "recount.rows/1", number, is_remembered, rows };
    let mut text = Vec::new();
    recount_documents::whole(&mut text, &document)?;
    Ok(text)
}

/// Returns the sessions that their agent's next start deletes.
pub(crate) fn at_risk(engine: &Engine) -> HashSet<SessionKey> {
    let query = ListQuery { pending_deletion: true, ..ListQuery::default() };
    let sessions = engine.list(&query, &()).map(|listing| listing.sessions).unwrap_or_default();
    let at_risk = sessions.into_iter().filter(|session| session.pending_deletion == Some(true));
    at_risk.map(|session| session.key()).collect()
}
