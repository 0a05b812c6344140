//! Which session goes to which partition of a folder of tables.
//!
//! `<table>/source=<agent>/month=<month in which the session began>/<table>.parquet`: all rows of a session lie in the same partition
//! of every table, so that a partition changes only when one of its sessions does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::tz::TimeZone;
use recount_export::names::Taken;
use recount_export::{ExportTable, Format};
use recount_model::SessionFacts;

use super::Export;
use super::manifest::Manifest;
use super::plan::{Job, Output, claim, is_in_own, stem_of};
use super::stock::{Item, Stock};
use super::transcript::below;
use crate::Error;
use crate::cache::refresh::hash;
use crate::sql::sessions::cells;

/// What other programs take for "not known".
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns a job per partition, the largest first.
pub(super) fn partitions<'a>(
    stock: &Stock,
    items: &[Item<'a>],
    export: &Export,
    folder: &Path,
    manifest: &mut Manifest,
) -> Result<Vec<Job<'a>>, Error> {
    let mut partitions: BTreeMap<String, Vec<Item<'a>>> = BTreeMap::new();
    for item in items {
        partitions.entry(partition(item.facts)).or_default().push(*item);
    }
    let mut jobs = Vec::new();
    for (partition, mut items) in partitions {
        items.sort_by_key(|item| (item.facts.started, item.facts.id.clone()));
        items.dedup_by(|one, other| one.facts.id == other.facts.id);
        let said: Option<Vec<String>> = items.iter().map(|item| stock.stamp(item)).collect();
        let said = said.map(|stamps| format!("{:016x}", hash(&stamps)));
        // What a list says of a session changes without its files: its folder, its number in the agent's list.
        let listed = items.iter().map(|item| format!("{:?}", cells(item.facts)));
        let listed = format!("{:016x}", hash(&listed.collect::<Vec<_>>()));
        let mut outputs = Vec::new();
        let copied = stock.copied_stamp(&items);
        for &table in &export.tables {
            let stamp = match table {
                ExportTable::Sessions => Some(listed.clone()),
                // What is a copy changes with other sessions.
                ExportTable::Requests => said.clone().map(|said| format!("{said}{copied:016x}")),
                _ => said.clone(),
            };
            let key = format!("{}{partition}", prefix(table));
            let stem = stem(table, &partition, &key, folder, manifest)?;
            claim(manifest, &key, &stem, Format::Parquet.extension());
            outputs.push(Output { key, stamp, stem, table: Some(table) });
        }
        let bytes = items.iter().map(|item| item.facts.bytes()).sum();
        jobs.push(Job { outputs, items, bytes });
    }
    jobs.sort_by_key(|job| std::cmp::Reverse(job.bytes));
    Ok(jobs)
}

/// Returns the entries of partitions in which no session is any more.
pub(super) fn gone(manifest: &Manifest, export: &Export, jobs: &[Job<'_>]) -> Vec<String> {
    if export.format != Format::Parquet {
        return Vec::new();
    }
    let there: BTreeSet<&str> =
        jobs.iter().flat_map(|job| &job.outputs).map(|output| output.key.as_str()).collect();
    let is_such = |key: &&String| {
        !there.contains(key.as_str())
            && export.tables.iter().any(|&table| key.starts_with(&prefix(table)))
    };
    manifest.sessions.keys().filter(is_such).cloned().collect()
}

/// How the entries of a table begin in the manifest.
fn prefix(table: ExportTable) -> String {
    format!("{} {}/", Format::Parquet.extension(), table.name())
}

fn partition(facts: &SessionFacts) -> String {
    let began = facts.started.or(facts.updated).map(|time| time.to_zoned(TimeZone::UTC));
    let month = began.map(|time| format!("{:04}-{:02}", time.year(), time.month()));
    format!("source={}/month={}", facts.source, month.as_deref().unwrap_or(UNKNOWN))
}

/// Finds a name that is ours, or free.
fn stem(
    table: ExportTable,
    partition: &str,
    key: &str,
    folder: &Path,
    manifest: &Manifest,
) -> Result<String, Error> {
    let (name, extension) = (table.name(), Format::Parquet.extension());
    let at = format!("{name}/{partition}");
    // A link might lead elsewhere.
    if !is_in_own(folder, &format!("{at}/")) {
        return Err(Error::NotAFolder(below(folder, &at)));
    }
    let known = manifest.sessions.get(key).and_then(|entry| stem_of(entry, extension));
    Ok(known.filter(|stem| stem.starts_with(&format!("{at}/"))).unwrap_or_else(|| {
        let is_free = |name: &str| {
            below(folder, &format!("{at}/{name}.{extension}")).symlink_metadata().is_err()
        };
        format!("{at}/{}", Taken::default().find(name, is_free))
    }))
}
