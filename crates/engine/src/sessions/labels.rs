//! Tags and pins of sessions. They are in a file of recount's own, so that no agent's file changes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use recount_model::{Labels, SessionFacts, SessionId, SourceName};
use recount_store::Labelled;
use serde::Serialize;

use crate::config::{utf8, written};
use crate::sessions::list::ListQuery;
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// The file.
const FILE: &str = "labels.toml";

/// A session with its labels.
#[derive(Clone, Debug, Serialize)]
pub struct LabelledSession {
    /// The agent.
    pub source: String,
    /// The session's id.
    pub id: String,
    /// Its labels.
    #[serde(flatten)]
    pub labels: Labels,
    /// Its title.
    pub title: Option<String>,
    /// The path of its project.
    pub project: Option<String>,
    /// Whether the session no longer exists.
    pub gone: bool,
}

impl Engine {
    /// Changes the labels of some sessions, and returns them with their new labels.
    ///
    /// # Errors
    /// If an argument matches none, or several; if the file is invalid or cannot be written.
    pub fn change_labels(
        &self,
        wanted: &[String],
        change: impl Fn(&mut Labels),
        progress: &dyn Progress,
    ) -> Result<Vec<LabelledSession>, Error> {
        let mut sessions = Vec::new();
        for wanted in wanted {
            let opened = self.open(wanted, progress)?;
            if opened.is_saved() {
                return Err(Error::SavedChat);
            }
            sessions.push(opened.facts);
        }
        let path = self.labels_file().ok_or(Error::NoDataFolder)?;
        if let Some(folder) = path.parent() {
            recount_writer::create_private_folder(folder)?;
        }
        let mut outcome = Ok(Labelled::default());
        recount_writer::update(&path, |old| {
            let text = utf8(&path, old.unwrap_or_default());
            outcome = text.and_then(|text| parse(&path, &text)).map(|mut labelled| {
                for facts in &sessions {
                    labelled.change(facts.source, &facts.id, &change);
                }
                labelled
            });
            outcome.as_ref().ok().map(|labelled| labelled.to_text().into_bytes())
        })?;
        let labelled = outcome?;
        let row = |facts: SessionFacts| {
            let labels = labelled.of(facts.source, &facts.id).unwrap_or_default();
            row(facts.source.as_str(), facts.id.as_str(), labels, Some(&facts))
        };
        Ok(sessions.into_iter().map(row).collect())
    }

    /// Lists all sessions with labels, including deleted ones.
    ///
    /// # Errors
    /// If the file is invalid.
    pub fn labelled(&self, progress: &dyn Progress) -> Result<Vec<LabelledSession>, Error> {
        let labelled = self.labels()?;
        let listing = self.list(&ListQuery::default(), progress)?;
        let known = |source: &str, id: &str| {
            let is_it =
                |facts: &&SessionFacts| facts.source.as_str() == source && facts.id.as_str() == id;
            listing.sessions.iter().map(|facts| &**facts).find(is_it)
        };
        let rows =
            labelled.iter().map(|(source, id, labels)| row(source, id, labels, known(source, id)));
        Ok(rows.collect())
    }

    /// Returns the labels of all sessions that have any, by source and id.
    ///
    /// # Errors
    /// If the file is invalid.
    pub fn labels_by_session(&self) -> Result<BTreeMap<(String, String), Labels>, Error> {
        let labelled = self.labels()?;
        let pair = |(source, id, labels): (&str, &str, Labels)| {
            ((source.to_owned(), id.to_owned()), labels)
        };
        Ok(labelled.iter().map(pair).collect())
    }

    /// Adds the labels to rows.
    pub(crate) fn label(&self, sessions: &mut [Arc<SessionFacts>]) -> Result<(), Error> {
        let labelled = self.labels()?;
        for facts in sessions {
            let labels = labelled.of(facts.source, &facts.id).unwrap_or_default();
            Arc::make_mut(facts).labels = Some(labels);
        }
        Ok(())
    }

    /// Adds the labels to the rows that have any. The others stay as they are, and share their memory with those they come from.
    ///
    /// # Errors
    /// If the file is invalid.
    pub fn label_marked(&self, sessions: &mut [Arc<SessionFacts>]) -> Result<(), Error> {
        let labelled = self.labels()?;
        if labelled.iter().next().is_none() {
            return Ok(());
        }
        for facts in sessions {
            if let Some(labels) = labelled.of(facts.source, &facts.id) {
                Arc::make_mut(facts).labels = Some(labels);
            }
        }
        Ok(())
    }

    /// Returns the labels of one session.
    pub(crate) fn labels_of(&self, source: SourceName, id: &SessionId) -> Labels {
        let labelled = self.labels().unwrap_or_default();
        labelled.of(source, id).unwrap_or_default()
    }

    pub(crate) fn labels(&self) -> Result<Labelled, Error> {
        let Some(path) = self.labels_file() else { return Ok(Labelled::default()) };
        let Some(text) = written(&path)? else { return Ok(Labelled::default()) };
        parse(&path, &text)
    }

    pub(crate) fn labels_file(&self) -> Option<PathBuf> {
        self.folders.data.as_ref().map(|data| data.join(FILE))
    }
}

fn parse(path: &std::path::Path, text: &str) -> Result<Labelled, Error> {
    Labelled::parse(text).map_err(|message| Error::Config { path: path.to_owned(), message })
}

fn row(source: &str, id: &str, labels: Labels, facts: Option<&SessionFacts>) -> LabelledSession {
    let project = facts.and_then(|facts| facts.project.path.as_ref());
    LabelledSession {
        source: source.to_owned(),
        id: id.to_owned(),
        labels,
        title: facts.and_then(|facts| facts.title.clone()),
        project: project.map(|path| path.as_str().to_owned()),
        gone: facts.is_none(),
    }
}
