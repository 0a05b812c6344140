//! The tables of the team lake: those of the Parquet export, with what other machines need to count each request once.
//!
//! `<table>/source=<agent>/month=<month>/`: a row is in the month in which it counts for `stats`, so that all copies of a
//! message are in one partition, whatever machine they come from. Sessions are in the month in which they began.

mod build;
mod columns;
mod copies;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use recount_catalog::sql::{SqlValue, VIEWS};
use recount_export::ExportTable;
use recount_model::{SessionFacts, SessionId, SourceName};
use recount_redact::Tags;

use self::columns::{is_in_lake, lake_columns as columns_of};
use self::copies::{SharedMessages, local_key};
use super::redaction::Redaction;
use super::stock::Stock;
use super::{Export, Selection};
use crate::cache::refresh::hash;
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::sql::sessions::cells;
use crate::{Engine, Error, Listing};

pub use self::build::{BuiltTable, Carried, LakeBuild};
pub use self::columns::{Disclosure, LakeColumn, lake_columns};
pub use self::state::{LakeFolder, UnpackedFile, create_lake_folder, is_lake_origin, read_small};

/// What other programs read as "unknown".
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";
/// Raised with every change to the content of the tables.
const VERSION: u32 = 2;
/// The variable with a passphrase that several machines share, so that they hash names alike.
const PASSPHRASE: &str = "RECOUNT_LAKE_KEY";

/// How much text leaves the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LakeLevel {
    /// Figures only; names are hashed.
    #[default]
    None,
    /// Text without secrets and personal data.
    Redacted,
    /// Everything.
    Full,
}

impl LakeLevel {
    /// Returns its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Redacted => "redacted",
            Self::Full => "full",
        }
    }
}

/// What goes into the lake.
#[derive(Clone, Debug, Default)]
pub struct LakeOptions {
    /// How much text leaves the machine.
    pub level: LakeLevel,
    /// Only these projects; all if empty.
    pub projects: Vec<String>,
    /// Not these projects.
    pub excluded: Vec<String>,
    /// The name of this machine.
    pub label: Option<String>,
    /// Whether rows of deleted sessions stay.
    pub keep_deleted: bool,
}

/// The tables of one machine, not built yet.
#[derive(Debug)]
pub struct LakePlan {
    engine: Engine,
    options: LakeOptions,
    export: Export,
    tags: Tags,
    stock: Stock,
    sessions: Vec<LakeSession>,
    ids: BTreeSet<(SourceName, SessionId)>,
    /// Sessions of projects that are left out: they are on this machine, so nothing of them is kept as deleted.
    left_out: BTreeSet<(SourceName, SessionId)>,
    shared: OnceLock<SharedMessages>,
    stamp: Option<String>,
}

/// A session of the plan.
#[derive(Clone, Debug)]
struct LakeSession {
    facts: Arc<SessionFacts>,
    /// The session and the project that it counts for.
    main: SessionId,
    project: String,
    /// Changes when the session's messages do; `None` if that is unknown.
    said: Option<String>,
    /// Changes when its row does.
    listed: u64,
    /// The month in which it began; `None` without any time.
    began: Option<LakeMonth>,
}

/// A month of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LakeMonth(i32);

impl LakeMonth {
    fn of(time: Timestamp) -> Self {
        let time = time.to_zoned(TimeZone::UTC);
        Self(i32::from(time.year()) * 12 + i32::from(time.month()) - 1)
    }

    fn parse(text: &str) -> Option<Self> {
        let (year, month) = text.split_once('-')?;
        let (year, month): (i32, i32) = (year.parse().ok()?, month.parse().ok()?);
        (0..=9999).contains(&year).then_some(())?;
        (1..=12).contains(&month).then_some(Self(year * 12 + month - 1))
    }
}

impl std::fmt::Display for LakeMonth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}", self.0.div_euclid(12), self.0.rem_euclid(12) + 1)
    }
}

/// The tables of one agent and month.
#[derive(Debug)]
pub struct LakePartition {
    source: SourceName,
    month: Option<LakeMonth>,
    /// Sessions with messages in this month, by their numbers, and those that began in it.
    sessions: Vec<usize>,
    began: Vec<usize>,
    stamps: [Option<String>; 2],
    /// The size of the sessions' files.
    pub bytes: u64,
}

impl LakePartition {
    /// Returns the folder of a table, below that of the lake.
    pub fn folder(&self, table: ExportTable) -> String {
        let month = self.month.map(|month| month.to_string());
        let month = month.as_deref().unwrap_or(UNKNOWN);
        format!("{}/source={}/month={month}", table.name(), self.source)
    }

    /// Returns what changes when a table does; `None` if that is unknown.
    pub fn stamp(&self, table: ExportTable) -> Option<&str> {
        let [listed, said] = &self.stamps;
        if table == ExportTable::Sessions { listed.as_deref() } else { said.as_deref() }
    }
}

impl Engine {
    /// Plans the tables of all sessions, without reading any message.
    ///
    /// # Errors
    /// If a project is unknown, or redaction cannot be prepared.
    pub fn lake_plan(
        &self,
        options: &LakeOptions,
        progress: &dyn Progress,
    ) -> Result<LakePlan, Error> {
        let engine = self.pin();
        let (listing, left_out) = engine.lake_listing(options, progress)?;
        let redaction = match options.level {
            LakeLevel::Redacted => Some(Arc::new(engine.redaction()?)),
            LakeLevel::None | LakeLevel::Full => None,
        };
        let tags = match self.env.text(PASSPHRASE) {
            Some(phrase) => Tags::of_passphrase(phrase),
            None => Tags::new(&engine.redaction_key()?),
        };
        let export = Export {
            format: super::Format::Parquet,
            options: super::ExportOptions::default(),
            split: None,
            tables: ExportTable::ALL.to_vec(),
            images: super::Images::Named,
            redaction,
            own: None,
        };
        let selection = Selection::Listed(listing);
        let stock = engine.stock(&selection, true);
        let stamps: Vec<_> = selection.items().iter().map(|item| stock.stamp(item)).collect();
        let Selection::Listed(Listing { sessions, .. }) = selection else {
            return Err(Error::NoSessions);
        };
        let mains = mains(&sessions);
        let mut plan = LakePlan {
            engine,
            options: options.clone(),
            export,
            tags,
            stock,
            sessions: Vec::with_capacity(sessions.len()),
            ids: sessions.iter().map(|facts| (facts.source, facts.id.clone())).collect(),
            left_out,
            shared: OnceLock::new(),
            stamp: None,
        };
        for (facts, said) in sessions.iter().zip(stamps) {
            let main = mains.get(&(facts.source, facts.parent.clone())).copied().unwrap_or(facts);
            let mut session = LakeSession {
                facts: Arc::clone(facts),
                main: main.id.clone(),
                project: plan.project(main),
                said,
                listed: 0,
                began: facts.started.or(facts.updated).map(LakeMonth::of),
            };
            // What is hidden or redacted follows from the row itself and from the form of the tables.
            let row = (&session.main, &session.project, facts.is_background);
            let cells = cells(facts);
            session.listed = listed_columns()
                .filter_map(|column| cells.get(column))
                .fold(hash(&row), |so_far, cell| hash(&(so_far, cell_key(cell))));
            plan.sessions.push(session);
        }
        plan.sessions.sort_by(|one, other| place(one).cmp(&place(other)));
        plan.sessions.dedup_by(|one, other| place(one) == place(other));
        plan.stamp = plan.whole_stamp();
        Ok(plan)
    }

    /// Lists the sessions of the chosen projects, and the ids of the others.
    fn lake_listing(
        &self,
        options: &LakeOptions,
        progress: &dyn Progress,
    ) -> Result<(Listing, BTreeSet<(SourceName, SessionId)>), Error> {
        let query = ListQuery { background: true, ..ListQuery::default() };
        let mut listing = self.list(&query, progress)?;
        self.price(&mut listing.sessions, progress);
        let mut is_chosen = vec![options.projects.is_empty(); listing.sessions.len()];
        let wanted = options.projects.iter().map(|project| (project, true));
        let unwanted = options.excluded.iter().map(|project| (project, false));
        for (project, value) in wanted.chain(unwanted) {
            let query = ListQuery { project: Some(project.clone()), ..query.clone() };
            let (asked, _) = self.asked(&mut listing.sessions, &query, &BTreeSet::new(), None)?;
            for (chosen, asked) in is_chosen.iter_mut().zip(asked) {
                *chosen = if asked { value } else { *chosen };
            }
        }
        let mut is_chosen = is_chosen.into_iter();
        let mut left_out = BTreeSet::new();
        listing.sessions.retain(|facts| {
            let is_chosen = is_chosen.next().unwrap_or_default();
            if !is_chosen {
                left_out.insert((facts.source, facts.id.clone()));
            }
            is_chosen
        });
        Ok((listing, left_out))
    }
}

/// Returns sessions of people by source and id, as callers of sub-agents.
fn mains(
    sessions: &[Arc<SessionFacts>],
) -> BTreeMap<(SourceName, Option<SessionId>), &Arc<SessionFacts>> {
    let own = sessions.iter().filter(|facts| facts.parent.is_none());
    own.map(|facts| ((facts.source, Some(facts.id.clone())), facts)).collect()
}

/// Returns the order of sessions in tables.
fn place(session: &LakeSession) -> (SourceName, Option<Timestamp>, &SessionId, Option<&str>) {
    let facts = &session.facts;
    // A sub-agent's id may be that of its caller; its file distinguishes it.
    let file = facts.files.first().filter(|_| facts.parent.is_some());
    (facts.source, facts.started, &facts.id, file.map(|file| file.path.as_str()))
}

/// Returns the numbers of the columns of `sessions` that are in the lake.
fn listed_columns() -> impl Iterator<Item = usize> {
    let view = VIEWS.iter().find(|view| view.name == ExportTable::Sessions.name());
    let columns = view.map(|view| view.columns).unwrap_or_default();
    columns.iter().enumerate().filter(|(_, column)| is_in_lake(column)).map(|(number, _)| number)
}

fn cell_key(cell: &SqlValue<'_>) -> u64 {
    match cell {
        SqlValue::Null => 0,
        SqlValue::Integer(number) => hash(&(1, number)),
        SqlValue::Real(number) => hash(&(2, number.to_bits())),
        SqlValue::Text(text) => hash(&(3, text)),
        SqlValue::Bytes(bytes) => hash(&(4, bytes)),
    }
}

impl LakePlan {
    /// Returns what changes when any table does; `None` if that is unknown.
    pub fn stamp(&self) -> Option<&str> {
        self.stamp.as_deref()
    }

    /// Returns the number of sessions.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Returns the options, and everything else on which all files depend.
    fn form(&self) -> u64 {
        let columns = ExportTable::ALL.iter().flat_map(|table| columns_of(*table));
        let columns: Vec<_> = columns.map(|column| (column.name, column.kind())).collect();
        let redaction = self.export.redaction.as_ref().map(|redaction| redaction.fingerprint);
        let key = self.tags.hash("form");
        let LakeOptions { level, label, keep_deleted, .. } = &self.options;
        hash(&(VERSION, columns, level, redaction, key, label, keep_deleted))
    }

    fn whole_stamp(&self) -> Option<String> {
        let said: Option<Vec<&String>> =
            self.sessions.iter().map(|session| session.said.as_ref()).collect();
        let listed: Vec<u64> = self.sessions.iter().map(|session| session.listed).collect();
        Some(format!("{:016x}", hash(&(self.form(), said?, listed))))
    }

    fn redaction(&self) -> Option<&Redaction> {
        self.export.redaction.as_deref()
    }

    /// Returns the name of a project as it leaves the machine.
    fn project(&self, main: &SessionFacts) -> String {
        let (project, key) = (&main.project, main.project.key());
        let is_named = key.is_empty() || project.alias.is_some() || project.path.is_some();
        match self.options.level {
            // The name of its directory may be the hash of a path, which can be guessed from likely paths.
            LakeLevel::Redacted if !is_named => self.hashed(&key),
            LakeLevel::None | LakeLevel::Redacted | LakeLevel::Full => self.hidden(&key),
        }
    }

    fn hashed(&self, name: &str) -> String {
        format!("{:016x}", self.tags.hash(name))
    }

    /// Returns a name as it leaves the machine.
    fn hidden(&self, name: &str) -> String {
        match (self.options.level, self.redaction()) {
            (LakeLevel::None, _) if name.is_empty() => String::new(),
            (LakeLevel::None, _) => self.hashed(name),
            (_, Some(redaction)) => redaction.plain(name),
            (_, None) => name.to_owned(),
        }
    }

    /// Divides the sessions among partitions, largest first.
    ///
    /// # Errors
    /// If the usage of sessions cannot be read.
    pub fn partitions(&self, progress: &dyn Progress) -> Result<Vec<LakePartition>, Error> {
        let shared = self.shared(progress)?;
        let mut partitions: BTreeMap<(SourceName, Option<LakeMonth>), LakePartition> =
            BTreeMap::new();
        for (number, session) in self.sessions.iter().enumerate() {
            let source = session.facts.source;
            let mut add = |month: Option<LakeMonth>, is_first: bool| {
                let partition = partitions.entry((source, month)).or_insert_with(|| {
                    let (sessions, began) = (Vec::new(), Vec::new());
                    LakePartition { source, month, sessions, began, stamps: [None, None], bytes: 0 }
                });
                partition.sessions.push(number);
                partition.bytes += session.facts.bytes();
                if is_first {
                    partition.began.push(number);
                }
            };
            add(session.began, true);
            let months = shared.months(local_key(&session.facts));
            for month in months.into_iter().flatten().filter(|month| Some(**month) != session.began)
            {
                add(Some(*month), false);
            }
        }
        let form = self.form();
        let mut partitions: Vec<LakePartition> = partitions.into_values().collect();
        for partition in &mut partitions {
            let of = |numbers: &[usize]| -> Vec<&LakeSession> {
                numbers.iter().filter_map(|number| self.sessions.get(*number)).collect()
            };
            let listed: Vec<u64> = of(&partition.began).iter().map(|one| one.listed).collect();
            let said = of(&partition.sessions).into_iter().map(|session| {
                let copies = shared.stamp(local_key(&session.facts));
                let said = session.said.as_ref()?;
                Some((said, copies, &session.main, &session.project, session.facts.priced_by))
            });
            let said: Option<Vec<_>> = said.collect();
            let said = said.map(|said| format!("{:016x}", hash(&(form, said))));
            partition.stamps = [Some(format!("{:016x}", hash(&(form, listed)))), said];
        }
        partitions.sort_by_key(|partition| std::cmp::Reverse(partition.bytes));
        Ok(partitions)
    }

    fn shared(&self, progress: &dyn Progress) -> Result<&SharedMessages, Error> {
        if let Some(shared) = self.shared.get() {
            return Ok(shared);
        }
        let shared = self.engine.shared_messages(progress)?;
        Ok(self.shared.get_or_init(|| shared))
    }

    /// Returns the partition of a folder of which no session is left, for rows that stay.
    pub fn abandoned(&self, folder: &str) -> Option<LakePartition> {
        let mut parts = folder.split('/').skip(1);
        let source = parts.next()?.strip_prefix("source=")?;
        let month = parts.next()?.strip_prefix("month=")?;
        let sources = self.engine.sources().iter();
        let source = sources.map(|source| source.name()).find(|name| name.as_str() == source)?;
        let month = match month {
            UNKNOWN => None,
            month => Some(LakeMonth::parse(month)?),
        };
        // Another level or set of columns changes rows that stay, too.
        let stamp = || Some(format!("gone{:016x}", self.form()));
        let (sessions, began, stamps) = (Vec::new(), Vec::new(), [stamp(), stamp()]);
        Some(LakePartition { source, month, sessions, began, stamps, bytes: 0 })
    }

    /// Returns the sessions, with their agents.
    pub fn session_ids(&self) -> &BTreeSet<(SourceName, SessionId)> {
        &self.ids
    }

    /// Returns the sessions of projects that are left out.
    pub fn left_out_ids(&self) -> &BTreeSet<(SourceName, SessionId)> {
        &self.left_out
    }
}
