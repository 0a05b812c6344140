//! Full-text search: updates and queries the index.

pub(crate) mod ask;
mod background;
pub(crate) mod find;
pub(crate) mod hits;
pub(crate) mod index;
pub(crate) mod quick;
pub(crate) mod scan;
pub(crate) mod typed;
pub(crate) mod wording;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{Zoned, tz::TimeZone};
use recount_catalog::Catalog;
use recount_formats::bytes::Buffer;
use recount_model::{Message, SessionFacts};
use recount_platform::local_zone;
use recount_search::{
    Drafts, Found, HitOrder, Index, QueryError, QueryPlan, SearchOptions, SearchQuery as Question,
    Searcher, SessionLeaf, Snippet,
};

use crate::cache::growth::Growth;
use crate::cache::remembered::Places;
use crate::cancel::stop_if_cancelled;
use crate::projects::matching::matching;
use crate::projects::resolve::Effort;
use crate::search::background::LARGE;
use crate::search::index::{Reader, session_key, stale};
use crate::search::quick::{AllListed, Answer, Sessions};
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};
use crate::{Engine, Error};

/// The maximum number of new messages that are searched directly, because writing them to the index would take longer.
const NEW_MESSAGES: usize = 64;
/// How long to wait for another process that writes the index of a small home, and between two looks.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
/// The maximum number of sessions with such messages.
const GROWN_SESSIONS: usize = 8;

/// A search request.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The query, as typed.
    pub query: String,
    /// The maximum number of hits, or sessions.
    pub limit: usize,
    /// The order.
    pub sort: HitOrder,
    /// Every hit, rather than the best of each session.
    pub all_hits: bool,
    /// The maximum width of a snippet.
    pub width: usize,
    /// Whether the files themselves are read, regardless of the index.
    pub without_index: bool,
    /// Whether the files themselves are read if building the index would take longer.
    pub at_once: bool,
}

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// Matching messages, as far as the index knows.
    pub total: usize,
    /// Their sessions.
    pub sessions: usize,
    /// Whether `total` is certain: no phrase or pattern had to be verified in the messages themselves.
    pub is_exact: bool,
    /// Whether the words were relaxed: hits may have some of them, or other forms.
    pub relaxed: bool,
    /// How they were relaxed.
    pub relaxation: Option<RelaxedSearch>,
    /// The best hits.
    pub hits: Vec<Match>,
    /// Why results may be missing.
    pub notes: Vec<SearchNote>,
    /// Whether the index is not built yet, so that the files themselves were read; or, as it is typed, only what is indexed.
    pub is_unindexed: bool,
    /// Hits that could not be read.
    pub(crate) lost: usize,
    /// Hits in deleted sessions that are not certain.
    pub(crate) unsure: usize,
}

/// A reason why results of a search may be missing.
#[derive(Clone, Debug)]
pub enum SearchNote {
    /// No index can be kept, because of this error: the files themselves were searched.
    NoIndex(Arc<Error>),
    /// Another run is indexing.
    IndexIsWritten,
    /// Number of hits that cannot be read, because files changed meanwhile.
    Unreadable(usize),
    /// Number of possible hits in sessions that are gone, whose text cannot be verified.
    Unverifiable(usize),
    /// More messages have these words than are verified.
    TooMany {
        /// Number of messages that were verified.
        checked: usize,
        /// Number of the others.
        left: usize,
    },
}

impl SearchNote {
    /// Returns the name of this reason in documents for programs. It never changes, unlike the words.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoIndex(_) => "no-index",
            Self::IndexIsWritten => "index-is-written",
            Self::Unreadable(_) => "unreadable",
            Self::Unverifiable(_) => "unverifiable",
            Self::TooMany { .. } => "too-many",
        }
    }
}

/// How a search was relaxed, because no message has all of the words or because they are a question in a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelaxedSearch {
    /// The words that were looked for, in any of their forms.
    pub words: Vec<String>,
    /// Words such as "how" and "the" that were not looked for.
    pub left_out: Vec<String>,
    /// Those of `words` that no message has in any form. Empty where files were read without an index.
    pub not_found: Vec<String>,
}

/// A hit.
#[derive(Clone, Debug)]
pub struct Match {
    /// Its session.
    pub session: Arc<SessionFacts>,
    /// Whether the session's files no longer exist: only the location of the message is known.
    pub is_gone: bool,
    /// The message.
    pub message: Message,
    /// Its score.
    pub score: f32,
    /// Its best line.
    pub snippet: Option<Snippet>,
}

/// An updated index, and the first result.
pub(crate) struct Ready<'a> {
    pub(crate) searcher: Searcher,
    pub(crate) plan: QueryPlan,
    /// The first result.
    pub(crate) first: Found,
    pub(crate) sessions: &'a dyn Sessions,
    /// Why results may be missing.
    pub(crate) notes: Vec<SearchNote>,
    pub(crate) progress: &'a dyn Progress,
    way: SearchPath,
}

/// What is asked of an index.
#[derive(Clone, Copy)]
pub(crate) struct IndexRequest<'a> {
    pub(crate) query: &'a str,
    /// Returns the options of the first query.
    pub(crate) first: &'a (dyn Fn(&QueryPlan) -> SearchOptions + Sync),
    /// Whether nobody waits for an index that has to be built.
    pub(crate) at_once: bool,
    pub(crate) progress: &'a dyn Progress,
}

/// How an answer is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchPath {
    /// The fast path if possible.
    Any,
    /// Every session is listed.
    Long,
}

impl Engine {
    /// Searches everything ever recorded.
    ///
    /// # Errors
    /// If the query is invalid, or the index cannot be used.
    pub fn search(
        &self,
        asked: &SearchRequest,
        progress: &dyn Progress,
    ) -> Result<SearchResults, Error> {
        if asked.without_index {
            return self.scan(asked, progress);
        }
        // One listing of the disk is enough, whichever way the answer comes.
        let engine = self.pin();
        match engine.search_when_free(asked, progress) {
            Ok(None) => {
                let answer = engine.scan(asked, progress)?;
                Ok(SearchResults { is_unindexed: true, ..answer })
            }
            // Another process builds the index of a small home and takes long.
            Err(error) if error.is_busy() => engine.scan(asked, progress),
            Err(error) if error.is_homeless() => {
                let mut answer = self.scan(asked, progress)?;
                answer.notes.push(SearchNote::NoIndex(Arc::new(error)));
                Ok(answer)
            }
            answered => answered.map(Option::unwrap_or_default),
        }
    }

    /// Searches the index. Waits a moment if it is being written: in a small home, that is sooner done than a search of the
    /// files, which does not know titles that other files record.
    fn search_when_free(
        &self,
        asked: &SearchRequest,
        progress: &dyn Progress,
    ) -> Result<Option<SearchResults>, Error> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.search_index(asked, progress) {
                Err(error) if error.is_busy() && Instant::now() < deadline => {
                    stop_if_cancelled(progress)?;
                    std::thread::sleep(PAUSE);
                }
                answered => return answered,
            }
        }
    }

    fn search_index(
        &self,
        asked: &SearchRequest,
        progress: &dyn Progress,
    ) -> Result<Option<SearchResults>, Error> {
        let first = |plan: &QueryPlan| self.first_options(asked, plan);
        let (query, at_once) = (asked.query.as_str(), asked.at_once);
        let request = IndexRequest { query, first: &first, at_once, progress };
        let ask = |ready: &Ready<'_>| Ok((self.ask(ready, asked)?, ready.way));
        let answer = match self.with_index(&request, SearchPath::Any, ask)? {
            // The cached data is incomplete: the slow path reads everything.
            Some((answer, SearchPath::Any)) if answer.lost > 0 => {
                self.with_index(&request, SearchPath::Long, ask)?
            }
            answer => answer,
        };
        Ok(answer.map(|(answer, _)| answer))
    }

    /// Passes an updated index to a function. A damaged one is rebuilt, once. `None` if updating it would take longer than
    /// searching the files, and an answer is wanted at once.
    pub(crate) fn with_index<T: Answer>(
        &self,
        request: &IndexRequest<'_>,
        way: SearchPath,
        ask: impl Fn(&Ready<'_>) -> Result<T, Error> + Sync,
    ) -> Result<Option<T>, Error> {
        match self.located(self.prepared(request, way, &ask)) {
            Err(Error::Index(error)) if error.is_damage() => {
                self.start_over(&mut self.needed_catalog()?)?;
            }
            Err(Error::Catalog(error)) if error.is_damage() => self.remove_catalog()?,
            answered => return answered,
        }
        let request = IndexRequest { at_once: false, ..*request };
        self.located(self.prepared(&request, SearchPath::Long, &ask))
    }

    /// Updates the index, by the fast path if possible, queries it for the first hits, and passes it on.
    fn prepared<T: Answer>(
        &self,
        request: &IndexRequest<'_>,
        way: SearchPath,
        ask: &(impl Fn(&Ready<'_>) -> Result<T, Error> + Sync),
    ) -> Result<Option<T>, Error> {
        let IndexRequest { query, first, at_once, progress } = *request;
        let question = Question::parse(query).map_err(|mistake| bad(query, mistake))?;
        // One listing of the disk shows whether anything has changed and, if so, what.
        let engine = self.pin();
        // Resolving the sessions of a project needs all of them.
        if way == SearchPath::Any && !question.names_sessions() {
            let plan = question.plan(&self.now_for(&question), &mut |_| Vec::new());
            let search = |index: &Index, sessions: &dyn Sessions| {
                let searcher = index.searcher();
                let first = searcher.search(&plan, &first(&plan))?;
                let notes = Vec::new();
                let ready = Ready { searcher, plan, first, sessions, notes, progress, way };
                let answer = ask(&ready);
                engine.set_aside(ready.searcher);
                answer
            };
            if let Some(answer) = engine.quick(search) {
                return answer.map(Some);
            }
        }
        // An index that the fast path can use is complete, which is known sooner than whether it is not.
        if at_once && engine.is_index_behind() {
            return Ok(None);
        }
        let (listing, disk, digests, resolved) = engine.everything(&Effort::List, progress)?;
        let mut catalog = self.needed_catalog()?;
        let index = self.open_index(&mut catalog)?;
        let (searcher, notes) = self.searcher(&index, &mut catalog, &disk, &digests, progress)?;
        let mut failed = None;
        let plan = question.plan(&self.now_for(&question), &mut |leaf| {
            self.sessions_of(leaf, &listing.sessions).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Vec::new()
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let sessions = AllListed {
            engine: self,
            catalog: &catalog,
            listed: by_key(listing.sessions),
            places: Places::new(&disk, &resolved),
        };
        let first = searcher.search(&plan, &first(&plan))?;
        let (sessions, way) = (&sessions, SearchPath::Long);
        ask(&Ready { searcher, plan, first, sessions, notes, progress, way }).map(Some)
    }

    /// Returns a searcher for everything, including new messages.
    fn searcher(
        &self,
        index: &Index,
        catalog: &mut Catalog,
        disk: &DiskSnapshot,
        digests: &[Digest],
        progress: &dyn Progress,
    ) -> Result<(Searcher, Vec<SearchNote>), Error> {
        if let Some(searcher) = self.with_new_messages(index, catalog, disk, digests)? {
            return Ok((searcher, Vec::new()));
        }
        let notes = match self.update_index(index, catalog, disk, digests, progress) {
            Ok(_) => Vec::new(),
            // What was indexed before can be searched meanwhile. In a small home, callers search the files instead, or say
            // that messages are missing.
            Err(error) if error.is_busy() && disk.bytes() > LARGE => {
                vec![SearchNote::IndexIsWritten]
            }
            Err(error) => return Err(error),
        };
        index.reload()?;
        Ok((index.searcher(), notes))
    }

    /// Searches the index together with a few messages that were appended since.
    fn with_new_messages(
        &self,
        index: &Index,
        catalog: &Catalog,
        disk: &DiskSnapshot,
        digests: &[Digest],
    ) -> Result<Option<Searcher>, Error> {
        let known = catalog.indexed(self.roots_key())?;
        let stale = stale(digests, &known, disk);
        if stale.is_empty() || stale.len() > GROWN_SESSIONS {
            return Ok(None);
        }
        let Some(own) = self.catalog() else { return Ok(None) };
        let growth = Growth::new(own, &self.outlines);
        let reader = Reader { disk, reading: &growth, known: &known };
        let mut drafts = Drafts::default();
        let mut hidden = Vec::new();
        for stale in &stale {
            if !known.contains_key(&stale.key) {
                // Once it is in the index it stays findable, whatever happens to its files.
                return Ok(None);
            }
            let read = reader.read(stale, &mut Buffer::new());
            if !read.is_grown {
                return Ok(None);
            }
            let mut added = Ok(());
            let is_whole = read.each(stale, &mut |document| {
                hidden.push(document.message);
                added = drafts.add(document);
                added.is_ok() && hidden.len() <= NEW_MESSAGES
            });
            added?;
            if !is_whole || hidden.len() > NEW_MESSAGES {
                return Ok(None);
            }
        }
        Ok(Some(index.searcher().with_overlay(drafts.finish()?, &hidden)?))
    }

    /// Returns the time for the dates of a query. Finding the time zone takes longer than many a search, so it is only done for
    /// a query with dates.
    pub(crate) fn now_for(&self, question: &Question) -> Zoned {
        let zone = if question.names_times() { local_zone() } else { TimeZone::UTC };
        self.clock.now().to_zoned(zone)
    }

    /// Resolves the sessions of a project, an agent or "live".
    pub(crate) fn sessions_of(
        &self,
        leaf: &SessionLeaf,
        sessions: &[Arc<SessionFacts>],
    ) -> Result<Vec<u64>, Error> {
        let keys = |wanted: &dyn Fn(usize, &SessionFacts) -> bool| {
            let numbered = sessions.iter().enumerate();
            let wanted = numbered.filter(|(at, facts)| wanted(*at, facts));
            wanted.map(|(_, facts)| session_key(facts)).collect()
        };
        Ok(match leaf {
            SessionLeaf::Project(name) => {
                let projects: Vec<_> = sessions.iter().map(|facts| &*facts.project).collect();
                let found = matching(&projects, name, &self.folders)?;
                keys(&|at, _| found.contains(&at))
            }
            SessionLeaf::Source(name) => keys(&|_, facts| facts.source.as_str() == name),
            _ => {
                let live = self.live(sessions);
                keys(&|at, _| live.contains(&at))
            }
        })
    }
}

fn by_key(sessions: Vec<Arc<SessionFacts>>) -> HashMap<u64, Arc<SessionFacts>> {
    let keyed = |facts: Arc<SessionFacts>| (session_key(&facts), facts);
    sessions.into_iter().map(keyed).collect()
}

pub(crate) fn bad(query: &str, mistake: QueryError) -> Error {
    Error::Query { pointed: mistake.pointed(query), what: mistake.what, example: mistake.example }
}
