//! Sessions in short, for lists of thousands.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use recount_display::project_names::ProjectNames;
use recount_engine::{Error, Progress, ReadMarks, Snapshot};
use recount_model::{Labels, Project, ProjectState, SessionFacts, SessionKey, SessionKind};
use serde::Serialize;

use super::filters;
use crate::app::App;
use crate::failure::ApiError;
use crate::router::{Answer, Asked};

/// How many rows the page asks for first: `FIRST_ROWS` of `early.js`.
const FIRST: usize = 100;
/// About the size of a row.
const ROW: usize = 350;
/// Rows are rebuilt after this time: what is deleted next depends on the day.
const GOOD: Duration = Duration::from_secs(60);

/// The list of everything and the start of it, as they were sent last.
#[derive(Debug, Default)]
pub(crate) struct RowsCache(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// How often it was cleared.
    cleared: u64,
    rows: Vec<KnownRows>,
    /// The start of the list and all of it have the same sessions at risk.
    at_risk: Option<(u64, Instant, Arc<HashSet<SessionKey>>)>,
}

/// Maximum number of them.
const KNOWN: usize = 2;

#[derive(Debug)]
struct KnownRows {
    /// The number of the snapshot.
    number: u64,
    made: Instant,
    /// How many rows were asked for.
    first: usize,
    text: Bytes,
}

impl RowsCache {
    fn get(&self, number: u64, first: usize) -> Option<Bytes> {
        let known = &mut self.known().rows;
        known.retain(|one| one.number == number && one.made.elapsed() < GOOD);
        known.iter().find(|one| one.first == first).map(|one| one.text.clone())
    }

    pub(crate) fn clear(&self) {
        let mut known = self.known();
        *known = Known { cleared: known.cleared + 1, ..Known::default() };
    }

    fn cleared(&self) -> u64 {
        self.known().cleared
    }

    /// Keeps rows, unless labels or marks have changed since they were looked up.
    fn put(&self, cleared: u64, number: u64, first: usize, text: Bytes) {
        let mut known = self.known();
        if known.cleared != cleared {
            return;
        }
        let known = &mut known.rows;
        known.retain(|one| one.number == number && one.first != first);
        known.truncate(KNOWN - 1);
        known.push(KnownRows { number, made: Instant::now(), first, text });
    }

    /// Returns the sessions at risk of a snapshot, looked up by the first who needs them.
    fn at_risk(
        &self,
        number: u64,
        look: impl FnOnce() -> Result<HashSet<SessionKey>, Error>,
    ) -> Result<Arc<HashSet<SessionKey>>, Error> {
        let known = self.known().at_risk.clone();
        let known = known.filter(|(of, made, _)| *of == number && made.elapsed() < GOOD);
        if let Some((_, _, at_risk)) = known {
            return Ok(at_risk);
        }
        let made = Instant::now();
        let at_risk = Arc::new(look()?);
        self.known().at_risk = Some((number, made, Arc::clone(&at_risk)));
        Ok(at_risk)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// Messages that came since its end was shown.
    #[serde(skip_serializing_if = "is_zero")]
    new: u64,
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

/// Sessions with their projects.
#[derive(Debug)]
pub(crate) struct ShortRows<'a> {
    pub(crate) projects: Vec<ShortProject>,
    pub(crate) rows: RowSeries<'a>,
}

/// Sessions; each becomes a row when it is written.
#[derive(Debug)]
pub(crate) struct RowSeries<'a> {
    sessions: &'a [Arc<SessionFacts>],
    /// The number of each session's project.
    projects: Vec<Option<usize>>,
    beside: &'a Beside,
}

impl Serialize for RowSeries<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.sessions.iter().zip(&self.projects);
        serializer
            .collect_seq(rows.map(|(facts, project)| ShortRow::new(facts, *project, self.beside)))
    }
}

/// What is known about sessions beside their rows.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    /// Labels by source and id.
    pub(crate) labels: BTreeMap<(String, String), Labels>,
    /// Sessions that their agent's next start deletes.
    pub(crate) at_risk: Arc<HashSet<SessionKey>>,
    /// How far sessions were read.
    pub(crate) read: ReadMarks,
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
        let project = |facts: &Arc<SessionFacts>| {
            *known.entry(Arc::as_ptr(&facts.project)).or_insert_with(|| {
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
            })
        };
        let numbers = sessions.iter().map(project).collect();
        Self { projects, rows: RowSeries { sessions, projects: numbers, beside } }
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
            new: beside.read.new_messages(facts),
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
    /// Whether some are left out.
    is_part: bool,
    /// The number of all, if it is known.
    total: Option<usize>,
    projects: Vec<ShortProject>,
    rows: RowSeries<'a>,
}

/// Answers `/api/rows`.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let app = asked.app;
    let is_everything = !ASKED.iter().any(|name| asked.params.get(name).is_some());
    if !is_everything {
        return filtered(asked);
    }
    let first = asked.params.number("first")?.unwrap_or(usize::MAX);
    let is_fresh = asked.params.flag("fresh");
    if !is_fresh && app.known_snapshot().is_none() {
        // Before the disk is read: what was listed last.
        let sessions = app.engine.remembered_list(Some(first));
        if !sessions.is_empty() {
            // How many more there are is not known.
            let is_part = first != usize::MAX;
            let rows = Listed { sessions: &sessions, first, remembered: Some(is_part), number: 0 };
            return Ok(Answer::Json(rows.text(&Beside::default())?));
        }
    }
    // Whoever asks for the start of a long list asks for all of it next: the first screen need not wait until every file was looked at.
    let is_start = |known: &Snapshot| !is_fresh && first < known.sessions().len();
    let snapshot = match app.known_snapshot().filter(is_start) {
        Some(known) => known,
        None => app.snapshot(asked.cancel)?,
    };
    Ok(Answer::Shared(written(app, &snapshot, first, asked.cancel)?))
}

/// Writes the start of the list as the page asks for it first, so that it is there when the page does.
pub(crate) fn prepare(app: &App, progress: &dyn Progress) -> Result<(), ApiError> {
    let snapshot = app.snapshot(progress)?;
    written(app, &snapshot, FIRST, progress).map(drop)
}

/// Returns the first rows of everything, written unless they are known.
fn written(
    app: &App,
    snapshot: &Snapshot,
    first: usize,
    progress: &dyn Progress,
) -> Result<Bytes, ApiError> {
    let number = snapshot.number();
    if let Some(known) = app.rows.get(number, first) {
        return Ok(known);
    }
    let cleared = app.rows.cleared();
    let engine = app.engine.at(snapshot);
    let beside = Beside {
        labels: engine.labels_by_session()?,
        at_risk: app.rows.at_risk(number, || engine.at_risk(progress))?,
        read: engine.read_marks(),
    };
    // Rows that are not changed share their memory with the snapshot.
    let listed = snapshot.sessions().iter().filter(|session| !session.is_background);
    let mut sessions: Vec<Arc<SessionFacts>> = listed.cloned().collect();
    let few = first.min(sessions.len());
    engine.price(sessions.get_mut(..few).unwrap_or_default(), progress);
    let rows = Listed { sessions: &sessions, first, remembered: None, number };
    let text = Bytes::from(rows.text(&beside)?);
    app.rows.put(cleared, number, first, text.clone());
    Ok(text)
}

/// Answers with the sessions that match.
fn filtered(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let snapshot = asked.app.snapshot(asked.cancel)?;
    let engine = asked.app.engine.at(&snapshot);
    let query = filters::list_query(asked.params, engine.clock().now())?;
    let mut sessions = engine.list(&query, asked.cancel)?.sessions;
    let first = asked.params.number("limit")?.unwrap_or(usize::MAX);
    let few = first.min(sessions.len());
    engine.price(sessions.get_mut(..few).unwrap_or_default(), asked.cancel);
    let number = snapshot.number();
    let rows = Listed { sessions: &sessions, first, remembered: None, number };
    Ok(Answer::Json(rows.text(&Beside::default())?))
}

/// The parameters that make a list other than that of everything.
const ASKED: &[&str] = &[
    "project", "since", "until", "model", "tool", "touched", "text", "kind", "problems", "live",
    "tag", "pinned", "sort", "limit",
];

/// A list, of which the first sessions are sent.
struct Listed<'a> {
    sessions: &'a [Arc<SessionFacts>],
    first: usize,
    /// Whether it is from before the disk was read and, if so, may be only the start of that.
    remembered: Option<bool>,
    /// The number of the snapshot.
    number: u64,
}

impl Listed<'_> {
    fn text(&self, beside: &Beside) -> Result<Vec<u8>, ApiError> {
        let names = ProjectNames::of(self.sessions.iter().map(|session| &*session.project));
        let first = self.sessions.get(..self.first).unwrap_or(self.sessions);
        let ShortRows { projects, rows } = ShortRows::new(first, &names, beside);
        let document = Document {
            schema: "recount.rows/1",
            number: self.number,
            is_remembered: self.remembered.is_some(),
            is_part: self.remembered.unwrap_or(first.len() < self.sessions.len()),
            total: (self.remembered != Some(true)).then_some(self.sessions.len()),
            projects,
            rows,
        };
        let mut text = Vec::with_capacity(first.len().saturating_mul(ROW));
        recount_documents::whole(&mut text, &document)?;
        text.shrink_to_fit();
        Ok(text)
    }
}
