//! Keeps the tables of this machine in the lake up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use recount_engine::export::ExportTable;
use recount_engine::export::lake::{LakeFolder, LakeOptions, LakePartition, LakePlan};
use recount_engine::{Engine, Progress};
use recount_model::Problem;
use serde::Serialize;

use crate::manifest::Manifest;
use crate::ownership::{Ownership, nonce};
use crate::raw::{RawList, RawReport};
use crate::send::{Sender, Shared};
use crate::{Lake, LakeError};

/// How a push is done.
#[derive(Clone, Debug, Default)]
pub struct PushOptions {
    /// What goes into the tables.
    pub tables: LakeOptions,
    /// Whether raw copies are sent, too.
    pub raw: bool,
    /// Whether to build and compare, but send nothing.
    pub dry_run: bool,
    /// Whether to continue with a manifest that somebody else wrote.
    pub adopt: bool,
}

/// What a push did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PushReport {
    /// The lake.
    pub url: String,
    /// The id of this machine.
    pub origin: String,
    /// How much text the tables have.
    pub text: &'static str,
    /// Whether nothing was sent.
    pub dry_run: bool,
    /// The sessions of this machine in the lake.
    pub sessions: u64,
    /// Files that were sent, or would be.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// Files that are in the lake already.
    pub unchanged: u64,
    /// Files that were removed, or would be.
    pub removed: u64,
    /// What was built, by table.
    pub tables: Vec<TableReport>,
    /// The raw copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawReport>,
    /// Requests to the store: `get` (with lists), `put`, `delete`.
    pub requests: BTreeMap<&'static str, u64>,
    /// Problems while messages were read.
    #[serde(skip)]
    pub problems: Vec<Problem>,
}

/// What was built of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TableReport {
    /// Its name.
    pub name: &'static str,
    /// Rows that were built.
    pub rows: u64,
    /// The size of their files.
    pub bytes: u64,
    /// Files that were built.
    pub files: u64,
    /// A row: column and value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sample: Vec<(&'static str, String)>,
}

/// A partition with the tables that have to be built.
pub(crate) type Dirty = (LakePartition, Vec<ExportTable>);

impl Lake {
    /// Sends what is new or different since the last push.
    ///
    /// # Errors
    /// If another push is running, another machine writes as this one, or a request fails for good. What was sent until then
    /// need not be sent again.
    pub fn push(
        &self,
        engine: &Engine,
        options: &PushOptions,
        progress: &dyn Progress,
    ) -> Result<PushReport, LakeError> {
        let folder = engine.lake_folder(self.url()).map_err(|error| match error {
            recount_engine::Error::Write(recount_engine::WriteError::Busy { .. }) => {
                LakeError::Running
            }
            other => other.into(),
        })?;
        let plan = engine.lake_plan(&options.tables, progress)?;
        let raw = options.raw.then(|| RawList::find(engine, &plan, progress)).transpose()?;
        let open = Ownership::open(&self.bucket, &folder, options.adopt);
        let owner = self.runtime.block_on(open)?;
        let mut report = PushReport {
            url: self.url.clone(),
            origin: folder.origin().to_owned(),
            text: options.tables.level.name(),
            dry_run: options.dry_run,
            sessions: plan.sessions() as u64,
            ..PushReport::default()
        };
        let known = owner.manifest.as_ref().filter(|manifest| !manifest.pushing);
        let is_same = known.is_some_and(|known| {
            let is_raw_same =
                raw.as_ref().is_none_or(|raw| known.raw.as_deref() == Some(raw.stamp()));
            known.stamp.is_some() && known.stamp.as_deref() == plan.stamp() && is_raw_same
        });
        if is_same {
            report.unchanged = known.map_or(0, |known| known.files.len() as u64);
            report.requests = self.bucket.requests.taken();
            return Ok(report);
        }
        self.push_changes(
            engine,
            (&plan, raw.as_ref(), &folder),
            owner,
            options,
            (report, progress),
        )
    }

    fn push_changes(
        &self,
        engine: &Engine,
        (plan, raw, folder): (&LakePlan, Option<&RawList>, &LakeFolder),
        owner: Ownership<'_>,
        options: &PushOptions,
        (mut report, progress): (PushReport, &dyn Progress),
    ) -> Result<PushReport, LakeError> {
        let known = owner.known_files()?;
        let Changes { dirty, gone, unchanged } = changes(plan, &known, options, progress)?;
        report.unchanged = unchanged;
        let total = dirty.iter().map(|(partition, _)| partition.bytes).sum::<u64>();
        let raw_bytes = raw.map_or(0, RawList::bytes);
        let mut manifest = known.clone();
        manifest.nonce = nonce();
        options.tables.level.name().clone_into(&mut manifest.text);
        env!("CARGO_PKG_VERSION").clone_into(&mut manifest.recount);
        manifest.sessions = plan.sessions() as u64;
        manifest.pushed = engine.clock().now().to_string();
        let sender = Sender {
            lake: self,
            plan,
            options,
            folder,
            spool: folder.spool()?,
            old_text: known.text,
            total: total + raw_bytes,
            next: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            shared: Mutex::new(Shared { owner, manifest, claimed: false, report, error: None }),
        };
        sender.build_all(&dirty, progress)?;
        for table in &gone {
            sender.remove(table)?;
        }
        if let Some(raw) = raw {
            sender.raw(raw, progress)?;
        }
        sender.finish()
    }
}

/// What differs from the lake.
struct Changes {
    dirty: Vec<Dirty>,
    /// Folders of tables whose partition has no session any more.
    gone: Vec<String>,
    unchanged: u64,
}

fn changes(
    plan: &LakePlan,
    known: &Manifest,
    options: &PushOptions,
    progress: &dyn Progress,
) -> Result<Changes, LakeError> {
    let mut partitions = plan.partitions(progress)?;
    let there: BTreeSet<String> = partitions
        .iter()
        .flat_map(|partition| ExportTable::ALL.map(|table| partition.folder(table)))
        .collect();
    let mut gone: Vec<String> =
        known.files.keys().filter(|table| !there.contains(*table)).cloned().collect();
    if options.tables.keep_deleted {
        let abandoned = gone.iter().filter(|table| table.starts_with("sessions/"));
        let abandoned: Vec<LakePartition> =
            abandoned.filter_map(|table| plan.abandoned(table)).collect();
        gone.retain(|table| {
            !abandoned.iter().any(|one| ExportTable::ALL.iter().any(|t| one.folder(*t) == *table))
        });
        partitions.extend(abandoned);
    }
    let (mut dirty, mut unchanged) = (Vec::new(), 0);
    for partition in partitions {
        let is_stale = |table: &ExportTable| {
            let file = known.files.get(&partition.folder(*table));
            let stamp = partition.stamp(*table);
            stamp.is_none()
                || file.is_none_or(|file| file.sha256.is_empty() || file.stamp.as_deref() != stamp)
        };
        let tables: Vec<ExportTable> = ExportTable::ALL.into_iter().filter(is_stale).collect();
        unchanged += (ExportTable::ALL.len() - tables.len()) as u64;
        if !tables.is_empty() {
            dirty.push((partition, tables));
        }
    }
    Ok(Changes { dirty, gone, unchanged })
}

impl crate::bucket::RequestCounts {
    pub(crate) fn taken(&self) -> BTreeMap<&'static str, u64> {
        let count = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        BTreeMap::from([
            ("get", count(&self.get)),
            ("put", count(&self.put)),
            ("delete", count(&self.delete)),
        ])
    }
}
