//! A session to another project: all its files, and what belongs to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use recount_formats::edit::Place;
use recount_formats::source::{Belonging, Belongings};
use recount_formats::{Editor, Source};
use recount_model::{RecordedPath, SessionFacts};
use recount_writer::RealDisk;
use recount_writer::change::{About, Plan};

use super::carry::Carrier;
use super::common::{source, subject};
use super::delete::prompts_stay;
use crate::config::expand;
use crate::sessions::list::Listing;
use crate::snapshot::survey::{Folder, Ground, Progress};
use crate::{Engine, Error};

/// What of a session lies in one project directory.
struct Share<'a> {
    folder: &'a Folder,
    belongings: Belongings,
}

impl Engine {
    /// Plans to take a session to another project.
    ///
    /// # Errors
    /// If an argument names nothing, or several; if the project has no folder; if the agent's record of projects is damaged.
    pub fn move_plan(
        &self,
        wanted: &str,
        to: &str,
        progress: &dyn Progress,
    ) -> Result<Plan, Error> {
        let (facts, listing) = self.chosen(wanted, "moved", progress)?;
        let path = self.standing_folder(to)?;
        let (source, editor) = editor(&facts)?;
        let ground = Ground::look(&self.roots);
        let mut plan = self.blank_plan("move");
        plan.sessions.push(subject(&facts));
        let family = family(&facts, &listing);
        let shares = shares(source, &facts, &family, &ground);
        let roots: BTreeSet<usize> = shares.iter().map(|share| share.folder.root).collect();
        let place = |root: usize| Ok((root, self.place(editor, root, &path)?));
        let places: BTreeMap<usize, Place> =
            roots.into_iter().map(place).collect::<Result<_, Error>>()?;
        let hash = source.project_hash(path.as_str()).to_string();
        let mut carrier = Carrier::new(source, editor, &listing.sessions, &hash);
        for (root, place) in &places {
            let here = || shares.iter().filter(|share| share.folder.root == *root);
            let is_there = |share: &&Share<'_>| {
                [&place.folder, &place.old_folder].contains(&&share.folder.at.path)
            };
            if here().all(|share| is_there(&share)) {
                continue;
            }
            self.settle(&mut plan, &mut carrier, place)?;
            let is_named = here().any(|share| share.folder.at.hash.is_none());
            if !is_named {
                plan.notes.push(format!(
                    "only old releases have used {}, and they do not find it in its new place",
                    facts.id.short()
                ));
            }
            for share in here().filter(|share| !is_there(share)) {
                // A copy in the directory of old releases stays one.
                let is_copy = is_named && share.folder.at.hash.is_some();
                let to = if is_copy { &place.old_folder } else { &place.folder };
                carry(&mut plan, &mut carrier, share, &family, to)?;
            }
        }
        if plan.is_empty() {
            plan.notes.push(format!("{} is in {path} already", facts.id.short()));
            return Ok(plan);
        }
        let is_output = |share: &Share<'_>| share.belongings.files.iter().any(Belonging::is_output);
        if shares.iter().any(is_output) {
            plan.notes.push(
                "its text names kept outputs of tools by their old places; recount finds them in the new ones".to_owned(),
            );
        }
        plan.notes.extend(prompts_stay(&[&facts], &ground));
        Ok(plan)
    }

    /// Returns the folder that a person means, which must be there: the agent works in it.
    pub(crate) fn standing_folder(&self, wanted: &str) -> Result<RecordedPath, Error> {
        let path = expand(wanted, &self.folders);
        let folder = if path.is_absolute() { path } else { PathBuf::from(self.folder_of(wanted)?) };
        if !folder.is_absolute() {
            return Err(Error::Declined(format!(
                "nobody knows which folder '{wanted}' is: name it by its path"
            )));
        }
        // An agent is told its folder without links on the way.
        let there = folder.canonicalize().ok().filter(|there| there.is_dir());
        let shown = folder.display();
        let there = there.ok_or_else(|| {
            Error::Declined(format!("{shown} is not there: sessions go to folders that are"))
        })?;
        // On Windows the system then writes it in a form that no agent uses.
        let plain = |text: &str| RecordedPath::new(text.strip_prefix(r"\\?\").unwrap_or(text));
        let text = there.to_str().map(plain);
        text.ok_or_else(|| Error::Declined(format!("the name of {shown} is not text")))
    }

    /// Finds where the agent keeps a project below one of our roots.
    pub(crate) fn place(
        &self,
        editor: &dyn Editor,
        root: usize,
        path: &RecordedPath,
    ) -> Result<Place, Error> {
        let root = self.roots.get(root).ok_or_else(|| Error::NoProject(path.to_string()))?;
        editor.place(&root.path, root.shape, path).map_err(Error::Declined)
    }

    /// Plans that the agent looks in a place, and finds there what it would have found without it.
    pub(crate) fn settle(
        &self,
        plan: &mut Plan,
        carrier: &mut Carrier<'_>,
        place: &Place,
    ) -> Result<(), Error> {
        for entry in &place.writes {
            carrier.write(plan, entry)?;
        }
        plan.locks.extend(place.lock.clone());
        for file in &place.inherited {
            let below = file.strip_prefix(&place.old_folder).unwrap_or(file);
            carrier.copy(plan, file, &place.folder.join(below))?;
        }
        if !place.inherited.is_empty() {
            let old = self.folders.tilde(&place.old_folder.to_string_lossy());
            plan.notes.push(format!(
                "the project lies in {old}, where only old releases look: it is copied, as the agent does at its next start"
            ));
        }
        Ok(())
    }
}

/// Returns the agent of a session, and who knows how its files change.
pub(crate) fn editor(
    facts: &SessionFacts,
) -> Result<(&'static dyn Source, &'static dyn Editor), Error> {
    let source = source(facts.source)?;
    let unable = || Error::Declined(format!("sessions of {} cannot be changed", facts.source));
    Ok((source, source.editor().ok_or_else(unable)?))
}

/// A session and its sub-agents.
pub(crate) fn family<'a>(facts: &'a SessionFacts, listing: &'a Listing) -> Vec<&'a SessionFacts> {
    let is_agent = |other: &&SessionFacts| {
        other.source == facts.source && other.parent.as_ref() == Some(&facts.id)
    };
    let agents = listing.sessions.iter().map(|other| &**other).filter(is_agent);
    std::iter::once(facts).chain(agents).collect()
}

fn shares<'a>(
    source: &dyn Source,
    facts: &SessionFacts,
    family: &[&SessionFacts],
    ground: &'a Ground,
) -> Vec<Share<'a>> {
    let files = family.iter().flat_map(|facts| &facts.files);
    let own: Vec<PathBuf> = files.map(|file| PathBuf::from(&file.path)).collect();
    let mut shares = Vec::new();
    for folder in ground.folders.iter().filter(|folder| folder.source.name() == facts.source) {
        let belongings = source.belongings(&folder.at, &facts.id, &own);
        let is_here = own.iter().any(|file| file.starts_with(&folder.at.path));
        if is_here || !belongings.files.is_empty() {
            shares.push(Share { folder, belongings });
        }
    }
    shares
}

fn carry(
    plan: &mut Plan,
    carrier: &mut Carrier<'_>,
    share: &Share<'_>,
    family: &[&SessionFacts],
    to: &Path,
) -> Result<(), Error> {
    let from = share.folder.at.path.as_path();
    for (facts, file) in family.iter().flat_map(|facts| facts.files.iter().map(move |f| (facts, f)))
    {
        carrier.session(plan, facts, file, (from, to))?;
    }
    let id = family.first().map(|facts| facts.id.as_str());
    for file in &share.belongings.files {
        if file.what == "sub-agent" {
            carrier.must_be_known(&file.path)?;
        }
        carrier.file(plan, &file.path, (from, to), About { session: id, what: file.what })?;
    }
    for folder in &share.belongings.folders {
        plan.remove_folder(&RealDisk, folder)?;
    }
    Ok(())
}
