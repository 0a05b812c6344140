//! Lists sessions, newest first.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use recount_formats::outline::{AgentCall, Outline};
use recount_formats::source::{FileAt, ListedFile, SessionFile, SessionFiles};
use recount_formats::{Source, bytes::Buffer};
use recount_model::{
    FileRole, Problem, Project, SessionFacts, SessionId, SessionKind, SourceName, SourceState,
};

use crate::cache::growth::FullRead;
use crate::cache::refresh::{recall, recall_groups};
use crate::cancel::stop_if_cancelled;
use crate::projects::matching::matching;
use crate::projects::resolve::{Effort, ProjectHints, ResolvedProjects};
use crate::search::index::session_key;
use crate::sessions::content_filter::ContentFilter;
use crate::sessions::facts::{facts, own};
use crate::sessions::finish::finish;
use crate::sessions::scope::{ListScope, nearest};
use crate::snapshot::disk_scan::{DiskSnapshot, Group, Progress};
use crate::stats::pricing::Pricing;
use crate::stats::usage::{UsageKept, UsageLog};
use crate::{Engine, Error};

/// The options of a list.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one option")]
pub struct ListQuery {
    /// Only this project: a path, a slug, the start of a hash, a part of the name.
    pub project: Option<String>,
    /// If no project is given and this folder is in one, only that one.
    pub here: Option<PathBuf>,
    /// Only sessions that were still active at or after this time.
    pub since: Option<Timestamp>,
    /// Only sessions that had begun by this time.
    pub until: Option<Timestamp>,
    /// Only sessions in which a model whose name contains this answered.
    pub model: Option<String>,
    /// Only these kinds; all when empty.
    pub kinds: Vec<SessionKind>,
    /// Only sessions with problems.
    pub problems: bool,
    /// Only sessions that are in use now.
    pub live: bool,
    /// Whether to mark those that the agent's next start would delete.
    pub pending_deletion: bool,
    /// Only sessions that match this query.
    pub text: Option<String>,
    /// Whether to add the labels.
    pub labelled: bool,
    /// Only sessions with all of these tags.
    pub tags: Vec<String>,
    /// Only pinned sessions.
    pub pinned: bool,
    /// Only sessions with this content.
    pub content: ContentFilter,
    /// Whether to list what agents ran for themselves, too.
    pub background: bool,
    /// The order.
    pub sort: SortOrder,
    /// The maximum number of sessions.
    pub limit: Option<usize>,
}

impl ListQuery {
    /// Whether it asks for every session, in the usual order.
    pub(crate) fn is_everything(&self) -> bool {
        let Self { project, here, since, until, model, kinds, problems, live, .. } = self;
        let Self { text, tags, pinned, content, sort, limit, .. } = self;
        project.is_none()
            && here.is_none()
            && since.is_none()
            && until.is_none()
            && model.is_none()
            && kinds.is_empty()
            && !problems
            && !live
            && text.is_none()
            && tags.is_empty()
            && !pinned
            && content.is_nothing()
            && *sort == SortOrder::Updated
            && limit.is_none()
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortOrder {
    /// Most recently used first.
    #[default]
    Updated,
    /// Most recently started first.
    Started,
    /// Most tokens first.
    Tokens,
    /// Most messages first.
    Messages,
    /// Largest on disk first.
    Size,
    /// Most expensive first. The cost of a session is known if prices have been filled in.
    Cost,
}

/// A list.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The sessions.
    pub sessions: Vec<Arc<SessionFacts>>,
    /// Problems that belong to no session.
    pub problems: Vec<Problem>,
    /// The number of sessions without the query's filters.
    pub known: usize,
    /// The project that it is limited to.
    pub scope: Option<ListScope>,
}

/// A session and what is needed to finish its row. Clones share their data.
#[derive(Clone, Debug)]
pub(crate) struct Digest {
    pub(crate) facts: Arc<SessionFacts>,
    pub(crate) folder: usize,
    /// Its files without their messages, for the agent's own list.
    pub(crate) files: Arc<[ListedFile]>,
    /// Its calls that ran sub-agents.
    pub(crate) agent_calls: Arc<[AgentCall]>,
    /// Whether it was read now, rather than loaded from the cache.
    pub(crate) fresh: bool,
    pub(crate) used: Used,
}

/// The usage of a session.
#[derive(Clone, Debug)]
pub(crate) enum Used {
    /// Just recorded.
    Now {
        /// The time of its last entry.
        last: i64,
        /// The usage log.
        usage_log: Arc<[u8]>,
    },
    /// In the catalog with this group of files.
    With(u64),
    /// Just recorded, and in the catalog with a group of files.
    Both {
        /// The time of the last entry in the group.
        last: i64,
        /// The usage log.
        usage_log: Arc<[u8]>,
    },
}

/// What is needed of sessions after their rows are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The rows.
    Rows,
    /// The digests from which rows can be rebuilt.
    Digests,
}

/// Every session with its row.
#[derive(Debug)]
pub(crate) struct Concluded {
    pub(crate) listing: Listing,
    pub(crate) digests: Vec<Digest>,
    pub(crate) resolved: Arc<ResolvedProjects>,
}

/// What is needed next of sessions that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Rows,
    UsageLogs,
    Messages,
}

/// Every session, with what is needed to index it.
pub(crate) type Everything = (Listing, Arc<DiskSnapshot>, Vec<Digest>, Arc<ResolvedProjects>);

/// Every session, and those excluded by a filter.
type Filtered = (Listing, BTreeSet<Claim>, Arc<DiskSnapshot>, Arc<ResolvedProjects>);

/// The key of a session.
pub(crate) type Claim = (SourceName, SessionId);
/// Files with the numbers of their folders.
type Files = Vec<(usize, Arc<FileAt>)>;

impl Engine {
    /// Lists sessions.
    ///
    /// # Errors
    /// If the given project is unknown or ambiguous.
    pub fn list(&self, query: &ListQuery, progress: &dyn Progress) -> Result<Listing, Error> {
        self.aliases()?;
        let said = query.text.as_deref().map(|text| self.sessions_matching(text, progress));
        let said = said.transpose()?;
        let (mut listing, unmatched, disk, resolved) =
            self.list_with(&query.content, &Effort::List, progress)?;
        if query.pending_deletion {
            self.mark_pending_deletions(&mut listing.sessions, &disk, &resolved);
        }
        if query.labelled || query.pinned || !query.tags.is_empty() {
            self.label(&mut listing.sessions)?;
        }
        let (asked, scope) = self.asked(&mut listing.sessions, query, &unmatched, said.as_ref())?;
        listing.scope = scope;
        let mut asked = asked.into_iter();
        listing.sessions.retain(|session| {
            asked.next().unwrap_or_default() && (query.background || !session.is_background)
        });
        if query.sort == SortOrder::Cost {
            self.price(&mut listing.sessions, progress);
        }
        sort(&mut listing.sessions, query.sort);
        listing.sessions.truncate(query.limit.unwrap_or(usize::MAX));
        Ok(listing)
    }

    /// Returns for each session whether a query matches it, and the project that the query is limited to.
    pub(crate) fn asked(
        &self,
        sessions: &mut [Arc<SessionFacts>],
        query: &ListQuery,
        unmatched: &BTreeSet<Claim>,
        said: Option<&HashSet<u64>>,
    ) -> Result<(Vec<bool>, Option<ListScope>), Error> {
        if query.live {
            let live = self.live(sessions);
            for (at, session) in sessions.iter_mut().enumerate() {
                Arc::make_mut(session).live = Some(live.contains(&at));
            }
        }
        let here = query.here.as_deref().filter(|_| query.project.is_none());
        let nearest = here.and_then(|here| nearest(sessions, here, &self.homes()));
        let named = match &query.project {
            None => None,
            Some(wanted) => {
                let projects: Vec<&Project> =
                    sessions.iter().map(|session| &*session.project).collect();
                Some(matching(&projects, wanted, &self.folders)?)
            }
        };
        let scope = match (nearest, &named) {
            (Some(project), _) => Some(ListScope::new(project, sessions, true)),
            (None, Some(named)) => {
                let first = named.first().and_then(|at| sessions.get(*at));
                first.map(|session| ListScope::new(&session.project, sessions, false))
            }
            (None, None) => None,
        };
        let nearest = nearest.map(|project| project.key());
        let is_asked = |(at, session): (usize, &Arc<SessionFacts>)| {
            passes(session, query)
                && nearest.as_ref().is_none_or(|nearest| session.project.key() == *nearest)
                && named.as_ref().is_none_or(|named| named.contains(&at))
                && (unmatched.is_empty()
                    || !unmatched.contains(&(session.source, session.id.clone())))
                && said.is_none_or(|said| said.contains(&session_key(session)))
        };
        Ok((sessions.iter().enumerate().map(is_asked).collect(), scope))
    }

    /// Lists every session, with everything else that was found.
    pub(crate) fn scan_all(
        &self,
        effort: &Effort,
        progress: &dyn Progress,
    ) -> Result<(Listing, Arc<DiskSnapshot>, Arc<ResolvedProjects>), Error> {
        let (listing, _, disk, resolved) =
            self.list_with(&ContentFilter::default(), effort, progress)?;
        Ok((listing, disk, resolved))
    }

    /// Finds every session, with what is needed to index it.
    pub(crate) fn digests(
        &self,
        progress: &dyn Progress,
    ) -> Result<(Arc<DiskSnapshot>, Vec<Digest>), Error> {
        self.gather(Then::Messages, progress)
    }

    /// Lists every session, with what is needed to index it.
    pub(crate) fn everything(
        &self,
        effort: &Effort,
        progress: &dyn Progress,
    ) -> Result<Everything, Error> {
        let (disk, digests) = self.digests(progress)?;
        if let Some((listing, resolved)) = self.rows_of_snapshot(effort) {
            return Ok((listing, disk, digests, resolved));
        }
        let concluded = self.conclude(&disk, digests, (effort, After::Digests), progress)?;
        Ok((concluded.listing, disk, concluded.digests, concluded.resolved))
    }

    /// Builds rows from what was read and cached.
    pub(crate) fn conclude(
        &self,
        disk: &DiskSnapshot,
        mut digests: Vec<Digest>,
        (effort, after): (&Effort, After),
        progress: &dyn Progress,
    ) -> Result<Concluded, Error> {
        let hints = project_hints(&digests);
        let resolved = self.resolve_projects(disk, &hints, effort, progress);
        stop_if_cancelled(progress)?;
        finish(disk, &mut digests, &resolved);
        if after == After::Rows {
            let no_files: Arc<[ListedFile]> = Arc::default();
            for digest in &mut digests {
                digest.files = Arc::clone(&no_files);
            }
        }
        self.remember_list(disk, &digests, hints, &resolved);
        let mut sessions: Vec<_> = digests.iter().map(|digest| Arc::clone(&digest.facts)).collect();
        sort(&mut sessions, SortOrder::Updated);
        let (known, problems) = (sessions.len(), disk.problems.clone());
        let listing = Listing { sessions, problems, known, scope: None };
        Ok(Concluded { listing, digests, resolved: Arc::new(resolved) })
    }

    /// Lists every session, and returns those that do not match.
    fn list_with(
        &self,
        content: &ContentFilter,
        effort: &Effort,
        progress: &dyn Progress,
    ) -> Result<Filtered, Error> {
        if let Some((listing, resolved)) = self.rows_of_snapshot(effort) {
            let disk = self.look();
            let unmatched = self.without(content, &disk, progress)?;
            return Ok((listing, unmatched, disk, resolved));
        }
        // One listing of the disk shows whether the last list is still valid and, if not, what changed.
        let engine = self.pin();
        if let Some((mut listing, disk, resolved)) = engine.list_as_before(effort, progress) {
            sort(&mut listing.sessions, SortOrder::Updated);
            let unmatched = engine.without(content, &disk, progress)?;
            return Ok((listing, unmatched, disk, Arc::new(resolved)));
        }
        let (disk, digests) = engine.gather_rows(progress)?;
        let Concluded { listing, resolved, .. } =
            engine.conclude(&disk, digests, (effort, After::Rows), progress)?;
        let unmatched = engine.without(content, &disk, progress)?;
        Ok((listing, unmatched, disk, resolved))
    }

    /// Finds every session, with what is needed to list it.
    pub(crate) fn gather_rows(
        &self,
        progress: &dyn Progress,
    ) -> Result<(Arc<DiskSnapshot>, Vec<Digest>), Error> {
        self.gather(Then::Rows, progress)
    }

    /// The same for who counts usage next: the usage logs of what was read now are still there.
    pub(crate) fn gather_usage(
        &self,
        progress: &dyn Progress,
    ) -> Result<(Arc<DiskSnapshot>, Vec<Digest>), Error> {
        self.gather(Then::UsageLogs, progress)
    }

    /// Reads every session, regardless of the cache.
    pub(crate) fn read_all_groups(
        &self,
        disk: &DiskSnapshot,
        progress: &dyn Progress,
    ) -> Result<Vec<Digest>, Error> {
        let pricing = self.pricing();
        let digest = |source, session_files: SessionFiles| {
            digest(source, session_files, pricing, drop_outline)
        };
        let digests = recall(self, disk, None, UsageKept::InCatalog, progress, digest)?;
        Ok(join_orphans(disk, digests, digest))
    }

    /// Reads the files of some groups.
    pub(crate) fn read_groups(
        &self,
        disk: &DiskSnapshot,
        groups: &BTreeSet<String>,
        progress: &dyn Progress,
    ) -> Result<Vec<Digest>, Error> {
        if groups.is_empty() {
            return Ok(Vec::new());
        }
        let pricing = self.pricing();
        let digest = |source, session_files: SessionFiles| {
            let lay_by = |at: &FileAt, outline| self.outlines.lay_by_followed(at, outline);
            digest(source, session_files, pricing, lay_by)
        };
        let groups = disk.groups(|_, group| groups.contains(group));
        let digests = recall_groups(self, disk, &groups, progress, digest)?;
        Ok(join_orphans(disk, digests, digest))
    }

    fn gather(
        &self,
        then: Then,
        progress: &dyn Progress,
    ) -> Result<(Arc<DiskSnapshot>, Vec<Digest>), Error> {
        if let Some(digests) = self.digests_of_snapshot(progress)? {
            return Ok((self.look(), digests));
        }
        let pricing = self.pricing();
        let digest = |source, session_files: SessionFiles| {
            let lay_by = |at: &FileAt, outline| {
                if then == Then::Messages {
                    self.outlines.lay_by(at, outline);
                } else {
                    outline.recycle();
                }
            };
            digest(source, session_files, pricing, lay_by)
        };
        let (disk, memory) = std::thread::scope(|scope| {
            let memory = scope.spawn(|| self.memory());
            (self.look(), memory.join().unwrap_or_default())
        });
        let kept = match then {
            Then::UsageLogs => UsageKept::HereToo,
            Then::Rows | Then::Messages => UsageKept::InCatalog,
        };
        let digests = recall(self, &disk, memory, kept, progress, digest)?;
        let digests = join_orphans(&disk, digests, digest);
        Ok((disk, digests))
    }
}

/// Collects what sessions show about their project directories.
pub(crate) fn project_hints(digests: &[Digest]) -> ProjectHints {
    let mut hints = ProjectHints::default();
    for digest in digests {
        for file in digest.files.iter() {
            hints.add(file.folder, file.outline.head.project_hash.as_deref(), &[]);
        }
        hints.add(digest.folder, None, &digest.facts.directories);
        hints.paths.extend(digest.facts.cwd.clone());
    }
    hints
}

fn drop_outline(_at: &FileAt, outline: Outline) {
    outline.recycle();
}

fn digest(
    source: &'static dyn Source,
    session_files: SessionFiles,
    pricing: &Pricing,
    lay_by: impl Fn(&FileAt, Outline),
) -> Digest {
    let mut facts = facts(source, &session_files);
    let usage_log = UsageLog::of(source, &session_files, &facts);
    pricing.put(&usage_log, &mut facts);
    let used = Used::Now { last: usage_log.last(), usage_log: usage_log.encode().into() };
    let main = crate::sessions::facts::main(&session_files).or_else(|| session_files.files.first());
    let folder = main.map_or(0, |session_file| session_file.file.folder);
    let calls = own(&session_files).flat_map(|session_file| &session_file.file.outline.agent_calls);
    let agent_calls = calls.cloned().collect();
    let without_messages = |(session_file, state): (SessionFile, &SourceState)| {
        let listed = session_file.file.listed(state.clone());
        // For a file with several sessions this is only one of them.
        if !listed.is_shared {
            lay_by(&listed.at, session_file.file.outline);
        }
        listed
    };
    let own =
        session_files.files.into_iter().filter(|session_file| session_file.role != FileRole::Base);
    let files = own.zip(&facts.states).map(without_messages).collect();
    let facts = Arc::new(facts);
    Digest { facts, folder, files, agent_calls, fresh: true, used }
}

/// Files are grouped by the id in their names. If names are wrong, one session is in several groups: those files are read
/// again, together.
fn join_orphans(
    disk: &DiskSnapshot,
    digests: Vec<Digest>,
    digest: impl Fn(&'static dyn Source, SessionFiles) -> Digest,
) -> Vec<Digest> {
    let mut counts: HashMap<(SourceName, &SessionId), usize> = HashMap::new();
    for facts in digests.iter().map(|digest| &digest.facts) {
        *counts.entry((facts.source, &facts.id)).or_default() += 1;
    }
    counts.retain(|_, count| *count > 1);
    let twice: BTreeSet<Claim> =
        counts.keys().map(|(source, id)| (*source, (*id).clone())).collect();
    let orphan = |digest: &Digest| {
        let claim = || (digest.facts.source, digest.facts.id.clone());
        !twice.is_empty() && !digest.facts.kind.is_subagent() && twice.contains(&claim())
    };
    let (orphans, mut digests): (Vec<Digest>, Vec<Digest>) = digests.into_iter().partition(orphan);
    let mut together: BTreeMap<Claim, (Files, bool)> = BTreeMap::new();
    for digest in orphans {
        let claim = (digest.facts.source, digest.facts.id.clone());
        let (files, fresh) = together.entry(claim).or_default();
        files.extend(digest.files.iter().map(|file| (file.folder, file.at.clone())));
        *fresh |= digest.fresh;
    }
    let mut buffer = Buffer::new();
    for ((_, id), (files, fresh)) in together {
        let source =
            files.first().and_then(|(folder, _)| disk.folders.get(*folder)).map(|f| f.source);
        let Some(source) = source else { continue };
        let grouped = Group { source, files }.group_sessions(disk, &FullRead, &mut buffer);
        // Other sessions in the same file were already read.
        let is_asked =
            |one: &SessionFiles| one.id == id || !one.files.iter().any(|file| file.file.is_shared);
        let read = grouped
            .into_iter()
            .filter(is_asked)
            .map(|session_files| Digest { fresh, ..digest(source, session_files) });
        digests.extend(read);
    }
    digests
}

fn passes(session: &SessionFacts, query: &ListQuery) -> bool {
    let model = |wanted: &str| session.models.iter().any(|model| model.contains(wanted));
    let labels = || session.labels.as_ref();
    query.since.is_none_or(|since| session.updated.is_some_and(|updated| updated >= since))
        && query.until.is_none_or(|until| session.started.is_some_and(|started| started <= until))
        && query.model.as_deref().is_none_or(model)
        && (query.kinds.is_empty() || query.kinds.contains(&session.kind))
        && (!query.problems || session.problems > 0)
        && (!query.live || session.live == Some(true))
        && query.tags.iter().all(|tag| labels().is_some_and(|labels| labels.tags.contains(tag)))
        && (!query.pinned || labels().is_some_and(|labels| labels.pinned))
}

/// Returns an amount of dollars as a comparable number; unknown ones come last.
#[expect(clippy::cast_possible_truncation, reason = "no session costs a trillion dollars")]
fn millionths(dollars: Option<f64>) -> i64 {
    dollars.map_or(i64::MIN, |dollars| (dollars * 1e6) as i64)
}

pub(crate) fn sort(sessions: &mut [Arc<SessionFacts>], order: SortOrder) {
    let number = |session: &SessionFacts| match order {
        SortOrder::Updated => session.updated.map_or(i64::MIN, Timestamp::as_millisecond),
        SortOrder::Started => session.started.map_or(i64::MIN, Timestamp::as_millisecond),
        SortOrder::Tokens => i64::try_from(session.tokens.total).unwrap_or(i64::MAX),
        SortOrder::Messages => i64::try_from(session.counts.messages).unwrap_or(i64::MAX),
        SortOrder::Size => i64::try_from(session.bytes()).unwrap_or(i64::MAX),
        SortOrder::Cost => millionths(session.cost_usd),
    };
    // The id decides between equal ones, so that two runs print the same.
    sessions.sort_by(|one, next| number(next).cmp(&number(one)).then_with(|| one.id.cmp(&next.id)));
}
