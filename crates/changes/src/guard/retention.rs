//! Plans to set in an agent's own settings how long it keeps sessions.

use std::path::{Path, PathBuf};

use recount_engine::{Agent, Progress};
use recount_formats::RetentionPolicy;
use recount_formats::bytes::read_small;
use recount_formats::retention::{RetentionSettings, Wanted};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, NewContent, Plan};

use crate::{Changes, Error, Notice, Proposal};

/// An agent's own settings file.
struct SettingsFile {
    retention_policy: &'static dyn RetentionPolicy,
    path: PathBuf,
    text: Option<Vec<u8>>,
    /// The data folder it was found by.
    root: usize,
}

impl Changes<'_> {
    /// Plans to set how long agents keep sessions.
    ///
    /// # Errors
    /// If there is no agent that deletes any, or its settings are not understood.
    pub fn retention_plan(
        self,
        wanted: Wanted,
        release: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let agents = self.engine.agents(release)?;
        let mut offer = Proposal::from(Plan::new("retention", Vec::new()));
        for file in self.settings_files()? {
            let new = file.retention_policy.with_retention(file.text.as_deref(), wanted);
            let new = new.map_err(|why| Error::Settings { path: file.path.clone(), why })?;
            put_settings(&mut offer.plan, &file.path, file.text.as_deref(), &new)?;
            offer.notices.extend(self.overridden(&file, &new, wanted, &agents, progress));
        }
        Ok(offer)
    }

    /// Finds the user-level settings files of the agents.
    fn settings_files(self) -> Result<Vec<SettingsFile>, Error> {
        let mut files: Vec<SettingsFile> = Vec::new();
        for (number, root) in self.engine.data_folders().iter().enumerate() {
            let policy = root.source.retention_policy().filter(|_| !root.is_ingested);
            let Some(retention_policy) = policy else { continue };
            let Some(path) = retention_policy.settings_file(&root.path, root.shape) else {
                continue;
            };
            if files.iter().any(|file| file.path == path) {
                continue;
            }
            let text = read(&path)?;
            files.push(SettingsFile { retention_policy, path, text, root: number });
        }
        if files.is_empty() { Err(Error::NoAgent) } else { Ok(files) }
    }

    /// Adds notices where other settings override the user's own.
    fn overridden(
        self,
        file: &SettingsFile,
        new: &[u8],
        wanted: Wanted,
        agents: &[Agent],
        progress: &dyn Progress,
    ) -> Vec<Notice> {
        let Some(root) = self.engine.data_folders().get(file.root) else { return Vec::new() };
        let Some(agent) = agents.iter().find(|agent| agent.source == root.source.name()) else {
            return Vec::new();
        };
        let settings = self.engine.settings_below(file.root, file.retention_policy);
        let settings = file.retention_policy.once_edited(settings, new);
        let holds = |folder: Option<&Path>| {
            file.retention_policy.retention(&settings, folder, &agent.release)
        };
        let mut notices = Vec::new();
        let own = holds(None);
        match (wanted, &own.off, own.max_count) {
            (Wanted::Days(_), Some(because), _) => {
                notices.push(Notice::NothingCleaned { because: because.clone() });
            }
            (Wanted::Days(_), None, Some(count)) => {
                notices.push(Notice::CountHolds(count));
            }
            // An agent that has no off switch keeps sessions for a very long time instead.
            (Wanted::Forever, None, _) if own.from.last() != Some(&file.path) => {
                notices.push(Notice::StillCleaned(last_word(&own, &file.path)));
            }
            _ => {}
        }
        let Ok(survey) = self.engine.scan_files(progress) else { return notices };
        let mut others = 0;
        for (number, folder) in survey.disk.folders.iter().enumerate() {
            let project = survey.projects.get(number).and_then(|project| project.path.as_ref());
            let Some(path) = project.filter(|_| folder.source.name() == agent.source) else {
                continue;
            };
            let here = holds(Some(Path::new(path.as_str())));
            if here.off == own.off && here.max_age == own.max_age && here.max_count == own.max_count
            {
                continue;
            }
            others += 1;
            if others <= 5 {
                let (project, file) = (path.to_string(), last_word(&here, &file.path));
                notices.push(Notice::OtherSettings { project, file });
            }
        }
        if others > 5 {
            notices.push(Notice::MoreProjects(others - 5));
        }
        notices
    }
}

/// Returns the settings file with the highest precedence.
fn last_word(retention: &RetentionSettings, own: &Path) -> PathBuf {
    retention.from.last().map_or(own, PathBuf::as_path).to_owned()
}

/// Adds a file of settings with another text to a plan, if it is another.
pub(super) fn put_settings(
    plan: &mut Plan,
    path: &Path,
    text: Option<&[u8]>,
    new: &[u8],
) -> Result<(), Error> {
    plan.roots.extend(path.parent().map(Path::to_owned));
    let about = ChangeDetails { session: None, what: "settings" };
    let content = NewContent::of_bytes(new);
    match text {
        Some(old) if old == new => Ok(()),
        Some(_) => Ok(plan.replace(&RealDisk, path, content, about)?),
        None => Ok(plan.create(&RealDisk, path, content, about, None)?),
    }
}

pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match read_small(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::unreadable(path, source)),
    }
}
