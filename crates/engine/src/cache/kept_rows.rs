//! The rows of the last finished list as the catalog keeps them: to print all of them, their texts need not be copied.

use std::sync::Arc;

use jiff::Timestamp;
use recount_catalog::Catalog;
use recount_model::{
    AgentNote, Entrypoint, FileRole, FileRow, MessageCounts, Problem, Project, SessionKind,
    SessionRow, StrictCounts, TitleFrom, Tokens, ToolCounts, timestamp,
};
use recount_prices::Prices;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::cache::remembered::Places;
use crate::projects::resolve::{Effort, ResolvedProjects};
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};
use crate::{Engine, Error};

/// The list of all sessions, newest first, if nothing has changed since it was made.
#[derive(Debug)]
pub struct KeptListing<'a> {
    /// The rows, each with its project.
    pub rows: Vec<(&'a SessionRow<'a>, Arc<Project>)>,
    /// All problems: first those that belong to no session.
    pub problems: Vec<Problem>,
    /// The number of those that belong to no session.
    pub other_problems: u64,
}

/// As [`Row`](super::remembered), in place.
#[derive(Deserialize)]
struct KeptRow<'a> {
    source: &'a str,
    #[serde(borrow)]
    core: KeptCore<'a>,
    folder: &'a str,
    parent_call: Option<&'a str>,
    agent_index: Option<u32>,
    #[serde(borrow)]
    agent_title: Option<Text<'a>>,
    #[serde(borrow)]
    files: Vec<FileRow<'a>>,
}

/// As [`Core`](super::cached::Core), in place.
#[derive(Deserialize)]
struct KeptCore<'a> {
    id: &'a str,
    kind: SessionKind,
    parent: Option<&'a str>,
    agent: Option<AgentNote>,
    #[serde(borrow)]
    title: Option<Text<'a>>,
    title_from: TitleFrom,
    #[serde(borrow)]
    first_prompt: Option<Text<'a>>,
    #[serde(borrow)]
    last_prompt: Option<Text<'a>>,
    branch: Option<&'a str>,
    entrypoint: Option<Entrypoint>,
    started: Option<i64>,
    updated: Option<i64>,
    counts: MessageCounts,
    tool_calls: ToolCounts,
    #[serde(borrow)]
    models: Vec<&'a str>,
    tokens: Tokens,
    cost_usd: Option<f64>,
    cost_is_lower_bound: Option<bool>,
    priced_by: u64,
    kept: StrictCounts,
    cwd: Option<&'a str>,
    #[serde(borrow)]
    directories: Vec<&'a str>,
    memory: Option<&'a str>,
    problems: u64,
    not_understood: u64,
    problem_list: Vec<Problem>,
    is_background: bool,
    #[serde(borrow)]
    states: Vec<&'a [u8]>,
}

/// The start of a [`KeptRow`], as far as its time.
#[derive(Deserialize)]
#[expect(dead_code, reason = "what comes before the time has to be passed over")]
struct RowStart<'a> {
    source: &'a [u8],
    #[serde(borrow)]
    core: CoreStart<'a>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "what comes before the time has to be passed over")]
struct CoreStart<'a> {
    id: &'a [u8],
    kind: SessionKind,
    parent: Option<&'a [u8]>,
    agent: Option<AgentNote>,
    title: Option<&'a [u8]>,
    title_from: TitleFrom,
    first_prompt: Option<&'a [u8]>,
    last_prompt: Option<&'a [u8]>,
    branch: Option<&'a [u8]>,
    entrypoint: Option<Entrypoint>,
    started: Option<i64>,
    updated: Option<i64>,
}

/// A text that is often long: checked with the widest vectors there are.
#[derive(Clone, Copy)]
struct Text<'a>(&'a str);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&'a [u8]>::deserialize(deserializer)?;
        recount_formats::bytes::text(bytes).map(Self).ok_or_else(|| D::Error::custom("not UTF-8"))
    }
}

/// A row, with what is not printed of it. Rows are large: they stay where they were decoded.
struct Decoded<'a> {
    row: SessionRow<'a>,
    folder: &'a str,
    cwd: Option<&'a str>,
    priced_by: u64,
    problems: Vec<Problem>,
    is_background: bool,
    states: Vec<&'a [u8]>,
}

impl Decoded<'_> {
    /// Returns when it was last used, in milliseconds.
    fn updated(&self) -> Option<i64> {
        self.row.updated.map(Timestamp::as_millisecond)
    }

    /// Returns its files with their roles.
    fn roles(&self) -> impl Iterator<Item = (&str, FileRole)> {
        self.row.files.iter().map(|file| (file.path, file.role))
    }
}

/// The bytes of all rows, one after the other.
#[derive(Default)]
pub(crate) struct StoredRows {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Number of rows from which a second thread pays.
const MANY: usize = 256;
/// Number of bytes of rows from which the memory that the catalog takes beside them matters.
const LARGE: usize = 4 * 1024 * 1024;

impl StoredRows {
    /// Reads the rows of sessions that are not gone. `None` when one is damaged.
    pub(crate) fn read(catalog: &Catalog, roots: u64) -> Option<Self> {
        let mut stored = Self::default();
        let mut visit = |_: u64, gone: bool, content: &[u8]| {
            if !gone {
                stored.bytes.extend_from_slice(content);
                stored.ends.push(stored.bytes.len());
            }
        };
        catalog.each_listed(roots, &mut visit).ok()?;
        if stored.bytes.len() > LARGE {
            // Pages of the catalog that were read count as memory, and are not needed again.
            let _unmapped = catalog.unmap();
        }
        Some(stored)
    }

    /// Returns the bytes of each row.
    pub(crate) fn contents(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let places = starts.zip(self.ends.iter().copied());
        places.map(|(start, end)| self.bytes.get(start..end).unwrap_or_default()).collect()
    }

    /// Decodes the rows, in two parts. `None` when one is not understood.
    fn decode(&self) -> Option<[Vec<Decoded<'_>>; 2]> {
        let row = |content| postcard::from_bytes(content).ok().map(decoded);
        let [first, second] = map_rows(&self.contents(), &row);
        Some([
            first.into_iter().collect::<Option<_>>()?,
            second.into_iter().collect::<Option<_>>()?,
        ])
    }
}

/// Gives each row to `row`, half of them on another thread, and returns both halves: to join them, large results would be copied.
pub(crate) fn map_rows<'s, T: Send>(
    rows: &[&'s [u8]],
    row: &(dyn Fn(&'s [u8]) -> Option<T> + Sync),
) -> [Vec<Option<T>>; 2] {
    let all = |part: &[&'s [u8]]| part.iter().map(|content| row(content)).collect::<Vec<_>>();
    if rows.len() < MANY {
        return [all(rows), Vec::new()];
    }
    let (first, later) = rows.split_at(rows.len() / 2);
    std::thread::scope(|scope| {
        let second = scope.spawn(|| all(later));
        let first = all(first);
        // A half that failed is made again here, where the failure is seen.
        [first, second.join().unwrap_or_else(|_| all(later))]
    })
}

/// Returns the rows of the sessions that were used last, newest first. Rows that are not understood come last.
pub(crate) fn newest<'s>(rows: &[&'s [u8]], many: usize) -> Vec<&'s [u8]> {
    let used = |content: &&'s [u8]| {
        let row = postcard::take_from_bytes::<RowStart<'_>>(content);
        (std::cmp::Reverse(row.ok().and_then(|(row, _)| row.core.updated)), *content)
    };
    let mut rows: Vec<_> = rows.iter().map(used).collect();
    if many < rows.len() {
        rows.select_nth_unstable_by_key(many, |(used, _)| *used);
        rows.truncate(many);
    }
    rows.sort_unstable_by_key(|(used, _)| *used);
    rows.into_iter().map(|(_, content)| content).collect()
}

impl Engine {
    /// Lists all sessions, if nothing has changed since the last list: gives the rows to `print`, and returns its result. `None` when
    /// something has changed or the query asks for less than all; then [`Engine::list`] has the answer, which is the same.
    ///
    /// # Errors
    /// As [`Engine::list`].
    pub fn list_kept<R>(
        &self,
        query: &ListQuery,
        progress: &dyn Progress,
        print: impl FnOnce(&KeptListing<'_>) -> R,
    ) -> Result<Option<R>, Error> {
        if !query.is_everything() || self.is_at_snapshot() {
            return Ok(None);
        }
        self.aliases()?;
        let engine = self.pin();
        let roots = engine.roots_key();
        let Some((unchanged, Some(stored))) =
            engine.unchanged(|catalog| StoredRows::read(catalog, roots))
        else {
            return Ok(None);
        };
        let (rows, resolved) = std::thread::scope(|scope| {
            let rows = scope.spawn(|| stored.decode());
            let resolved = unchanged.resolve_projects(&engine, &Effort::List, progress);
            (rows.join().unwrap_or_default(), resolved)
        });
        let Some(mut rows) = rows.filter(|_| unchanged.has_projects(&resolved)) else {
            return Ok(None);
        };
        let mut rows: Vec<&mut Decoded<'_>> = rows.iter_mut().flatten().collect();
        // Rows with other prices are priced again, which needs all of their requests.
        let prices = Prices::fingerprint(&engine.config.prices);
        if rows.is_empty() || rows.iter().any(|one| one.priced_by != prices) {
            return Ok(None);
        }
        if query.pending_deletion {
            let pending = engine.pending(&rows, &unchanged.disk, &resolved);
            rows.iter_mut().zip(pending).for_each(|(one, is)| one.row.pending_deletion = is);
        }
        if !query.background {
            rows.retain(|one| !one.is_background);
        }
        // As `list` sorts them.
        rows.sort_by_cached_key(|one| {
            (std::cmp::Reverse(one.updated().unwrap_or(i64::MIN)), one.row.id)
        });
        let labels = if query.labelled { Some(engine.labels()?) } else { None };
        let mut problems = unchanged.disk.problems.clone();
        let other_problems = problems.len() as u64;
        for one in &mut rows {
            problems.append(&mut one.problems);
            one.row.labels = labels.as_ref().map(|all| all.labels_of(one.row.source, one.row.id));
        }
        let places = Places::new(&unchanged.disk, &resolved);
        let place = |one: &Decoded<'_>| places.project(one.folder, one.cwd);
        let rows = rows.iter().map(|one| (&one.row, place(one))).collect();
        Ok(Some(print(&KeptListing { rows, problems, other_problems })))
    }

    /// Returns for each row whether the agent's next start would delete the session.
    fn pending(
        &self,
        rows: &[&mut Decoded<'_>],
        disk: &DiskSnapshot,
        resolved: &ResolvedProjects,
    ) -> Vec<Option<bool>> {
        let states = rows.iter().flat_map(|one| {
            one.row.files.iter().map(|file| file.path).zip(one.states.iter().copied())
        });
        let sessions = rows.iter().map(|one| (one.row.source, one.roles()));
        self.pending_deletions(states, sessions, disk, resolved)
    }
}

fn decoded(kept: KeptRow<'_>) -> Decoded<'_> {
    let core = kept.core;
    let row = SessionRow {
        source: kept.source,
        id: core.id,
        kind: core.kind,
        parent: core.parent,
        parent_call: kept.parent_call,
        agent: core.agent,
        title: core.title.map(|text| text.0),
        title_from: core.title_from,
        first_prompt: core.first_prompt.map(|text| text.0),
        last_prompt: core.last_prompt.map(|text| text.0),
        branch: core.branch,
        entrypoint: core.entrypoint,
        labels: None,
        started: core.started.and_then(timestamp),
        updated: core.updated.and_then(timestamp),
        counts: core.counts,
        tool_calls: core.tool_calls,
        models: core.models,
        tokens: core.tokens,
        cost_usd: core.cost_usd,
        cost_is_lower_bound: core.cost_is_lower_bound,
        kept: core.kept,
        directories: core.directories,
        memory: core.memory,
        files: kept.files,
        agent_index: kept.agent_index,
        agent_title: kept.agent_title.map(|text| text.0),
        live: None,
        pending_deletion: None,
        problems: core.problems,
        not_understood: core.not_understood,
    };
    Decoded {
        row,
        folder: kept.folder,
        cwd: core.cwd,
        priced_by: core.priced_by,
        problems: core.problem_list,
        is_background: core.is_background,
        states: core.states,
    }
}
