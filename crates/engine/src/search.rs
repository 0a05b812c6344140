//! Full text over everything: the index brought up to date, asked, and what it points at read.

use std::path::Path;
use std::sync::Arc;

use jiff::{Timestamp, Zoned, tz::TimeZone};
use recount_formats::Source;
use recount_formats::bytes::{self};
use recount_formats::source::{MessageRequest, Others};
use recount_model::{Message, Place, SessionFacts, Span};
use recount_search::{
    Document, Found, Hit, Index, Mistake, Options, Plan, Query as Question, SessionLeaf, Snippet,
    Sort,
};

use crate::growth::Growth;
use crate::index::{by_key, file_key, session_key, update};
use crate::matching::matching;
use crate::passport::Effort;
use crate::quick::Sessions;
use crate::survey::Progress;
use crate::wording::Wording;
use crate::{Engine, Error};

/// How much of a record is read to show what was found in it.
const RECORD: u64 = 64 * 1024 * 1024;
/// How many hits that need a second look are looked at for one that is shown.
const CHECKED: usize = 20;

/// What is asked of a search.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The query, as typed.
    pub query: String,
    /// No more than this many hits, or sessions.
    pub limit: usize,
    /// The order.
    pub sort: Sort,
    /// Every hit, rather than the best of each session.
    pub all_hits: bool,
    /// How wide a snippet may be.
    pub width: usize,
    /// The files themselves are read, whatever is indexed.
    pub without_index: bool,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Messages that match, as far as the index can tell.
    pub total: usize,
    /// Sessions in which they are.
    pub sessions: usize,
    /// Whether `total` is certain: no phrase or pattern had to be looked for in the messages themselves.
    pub is_exact: bool,
    /// Whether nothing had all the words, so that these have some of them.
    pub relaxed: bool,
    /// The best ones.
    pub hits: Vec<Match>,
    /// Why newer messages may be missing.
    pub note: Option<String>,
}

/// One message that was found.
#[derive(Clone, Debug)]
pub struct Match {
    /// The session it stands in.
    pub session: Arc<SessionFacts>,
    /// The message.
    pub message: Message,
    /// How well it matches.
    pub score: f32,
    /// The best line of it.
    pub snippet: Option<Snippet>,
}

impl Engine {
    /// Searches everything that was ever said.
    ///
    /// # Errors
    /// If the query is not understood, or the index cannot be used.
    pub fn search(&self, asked: &Asked, progress: &dyn Progress) -> Result<Answer, Error> {
        let question =
            Question::parse(&asked.query).map_err(|mistake| bad(&asked.query, mistake))?;
        if asked.without_index || self.folders.data.is_none() {
            return self.scan(&question, asked, progress);
        }
        // Which sessions a project means takes a look at all of them.
        let mut names_sessions = false;
        question.plan(&self.zoned_now(), &mut |_| {
            names_sessions = true;
            Vec::new()
        });
        if !names_sessions && let Some(mut quick) = self.quick() {
            let index = self.open_index(&mut quick.catalog)?;
            let plan = question.plan(&self.zoned_now(), &mut |_| Vec::new());
            return self.ask(&index, &plan, &quick, asked);
        }
        let (listing, ground, digests) = self.everything(&Effort::List, progress);
        let Some(mut catalog) = self.catalog() else {
            return self.scan(&question, asked, progress);
        };
        let index = self.open_index(&mut catalog)?;
        let growth = Growth::new(self.catalog().ok_or(Error::NoDataFolder)?);
        let note = match update(
            &index,
            (&mut catalog, self.roots_key(), &growth),
            &ground,
            &digests,
            progress,
        ) {
            Ok(_) => None,
            // What was indexed before can be searched meanwhile.
            Err(Error::Index(recount_search::Error::Busy { .. })) => {
                Some("another run is indexing; its newest messages may be missing".to_owned())
            }
            Err(error) => return Err(error),
        };
        if note.is_none() {
            self.mark_indexed(&catalog, &ground);
        }
        index.reload()?;
        let mut failed = None;
        let plan = question.plan(&self.zoned_now(), &mut |leaf| {
            self.sessions_of(leaf, &listing.sessions).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Vec::new()
            })
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let answer = self.ask(&index, &plan, &by_key(&listing.sessions), asked)?;
        Ok(Answer { note, ..answer })
    }

    pub(crate) fn zoned_now(&self) -> Zoned {
        self.clock.now().to_zoned(TimeZone::system())
    }

    /// Asks the index, and reads what it points at.
    fn ask(
        &self,
        index: &Index,
        plan: &Plan,
        sessions: &dyn Sessions,
        asked: &Asked,
    ) -> Result<Answer, Error> {
        let searcher = index.searcher();
        let ask = |offset: usize| {
            let options = Options {
                limit: asked.limit,
                offset,
                now: self.clock.now().as_millisecond(),
                sort: asked.sort,
                one_per_session: !asked.all_hits,
            };
            searcher.search(plan, &options)
        };
        let mut found = ask(0)?;
        let mut answer = Answer {
            total: found.total,
            sessions: found.sessions,
            is_exact: found.is_exact,
            relaxed: found.relaxed,
            hits: Vec::new(),
            note: None,
        };
        let relaxed = found.relaxed.then(|| plan.relaxed()).flatten();
        let shown = relaxed.as_ref().unwrap_or(plan);
        for round in 1..=CHECKED {
            answer.hits.extend(self.read_all(&found, shown, sessions, asked.width));
            if answer.hits.len() >= asked.limit || found.hits.len() < asked.limit {
                break;
            }
            found = ask(round * asked.limit)?;
        }
        answer.hits.truncate(asked.limit);
        Ok(answer)
    }

    /// Answers what the index cannot: which sessions a project, an agent or "live" means.
    pub(crate) fn sessions_of(
        &self,
        leaf: &SessionLeaf,
        sessions: &[SessionFacts],
    ) -> Result<Vec<u64>, Error> {
        let keys = |wanted: &dyn Fn(usize, &SessionFacts) -> bool| {
            let numbered = sessions.iter().enumerate();
            let wanted = numbered.filter(|(at, facts)| wanted(*at, facts));
            wanted.map(|(_, facts)| session_key(facts.source, &facts.id)).collect()
        };
        Ok(match leaf {
            SessionLeaf::Project(name) => {
                let projects: Vec<_> = sessions.iter().map(|facts| &*facts.project).collect();
                let found = matching(&projects, name, &self.folders)?;
                keys(&|at, _| found.contains(&at))
            }
            SessionLeaf::Source(name) => keys(&|_, facts| facts.source.as_str() == name),
            _ => keys(&|_, facts| facts.live == Some(true)),
        })
    }

    /// Reads the messages that hits point at; those that do not hold on a second look are left out.
    fn read_all(
        &self,
        found: &Found,
        plan: &Plan,
        sessions: &dyn Sessions,
        width: usize,
    ) -> Vec<Match> {
        let read = |hit: &Hit| {
            let facts = sessions.session(hit.session)?;
            let message = self.read_hit(hit, &facts)?;
            let wording = Wording::of(message.clone());
            let paths = wording.paths();
            let title = facts.title.as_deref().unwrap_or_default();
            let texts = wording.texts(&paths, title);
            if hit.must_check && !plan.holds(&document(hit, &wording, &message, &paths, title)) {
                return None;
            }
            let snippet = plan.snippet(&texts, width);
            Some(Match { session: facts, message, score: hit.score, snippet })
        };
        found.hits.iter().filter_map(read).collect()
    }

    fn read_hit(&self, hit: &Hit, facts: &SessionFacts) -> Option<Message> {
        let path = facts
            .files
            .iter()
            .map(|file| file.path.as_str())
            .find(|path| file_key(path) == hit.file)?;
        let record = bytes::read_span(Path::new(path), hit.offset, hit.bytes.min(RECORD)).ok()?;
        let source: &'static dyn Source = self
            .roots
            .iter()
            .map(|root| root.source)
            .find(|source| source.name() == facts.source)?;
        let line = u32::try_from(hit.line).unwrap_or(u32::MAX);
        let request = MessageRequest {
            bytes: &record,
            file: &Arc::from(path),
            span: Span { line, offset: hit.offset, bytes: hit.bytes },
            fate: hit.fate,
            others: &Nothing,
            folder: None,
        };
        let mut message = source.message(&request).ok()?;
        message.place = Place { file: Arc::from(path), line, offset: hit.offset, bytes: hit.bytes };
        Some(message)
    }
}

/// No other versions: what is shown of a hit stands in the version that was indexed.
#[derive(Debug)]
struct Nothing;

impl Others for Nothing {
    fn each(&self, _visit: &mut dyn FnMut(&[u8]) -> bool) {}
}

fn document<'a>(
    hit: &Hit,
    wording: &'a Wording,
    message: &'a Message,
    paths: &'a [&'a str],
    title: &'a str,
) -> Document<'a> {
    Document {
        session: hit.session,
        message: hit.message,
        file: hit.file,
        offset: hit.offset,
        bytes: hit.bytes,
        line: hit.line,
        time: message.time.map(Timestamp::as_millisecond),
        kind: hit.kind,
        fate: hit.fate,
        model: message.model.as_deref(),
        // Tools are checked by their names in the call.
        tools: &[],
        is_error: wording.is_error,
        text: wording.texts(paths, title),
    }
}

fn bad(query: &str, mistake: Mistake) -> Error {
    Error::Query { pointed: mistake.pointed(query), what: mistake.what, example: mistake.example }
}
