//! Which session a person means: a full id, the start of one, a path, a row of the last list, the latest.

use std::path::{Path, PathBuf};

use recount_formats::Source;
use recount_formats::bytes::Buffer;
use recount_formats::source::Family;
use recount_model::{SessionId, SessionKind};

use crate::cache::growth::Anew;
use crate::projects::passport::Sightings;
use crate::sessions::facts::{facts, main};
use crate::sessions::list::Query;
use crate::sessions::open::Opened;
use crate::snapshot::survey::{Ground, Group, Progress, survey};
use crate::stats::ledger::Ledger;
use crate::{Engine, Error};

/// The shortest start of an id that is looked for.
pub const SHORTEST: usize = 4;

impl Engine {
    /// Opens the session that `wanted` names.
    ///
    /// # Errors
    /// If there is none, or several, or the file it names is not a session.
    pub fn open(&self, wanted: &str, progress: &dyn Progress) -> Result<Opened, Error> {
        if wanted == "latest" {
            let listing = self.list(&Query::default(), progress)?;
            let said =
                listing.sessions.iter().find(|s| s.kind == SessionKind::Main && !s.is_empty());
            let latest = said.or(listing.sessions.first()).ok_or(Error::NoSessions)?;
            return self.open_id(latest.id.as_str(), progress);
        }
        if let Some(row) = wanted.strip_prefix('@').filter(|row| !row.is_empty()) {
            let id = self.row(row).ok_or_else(|| Error::NoRow(row.to_owned()))?;
            return self.open_id(id.as_str(), progress);
        }
        let path = Path::new(wanted);
        if wanted.contains(['/', '\\']) || path.is_file() {
            return self.open_file(path);
        }
        self.open_id(wanted, progress)
    }

    fn open_id(&self, wanted: &str, progress: &dyn Progress) -> Result<Opened, Error> {
        let ground = self.look();
        // Most ids show in the names of their files: look at those first.
        let near = |group: &str| may_hold(group, wanted) || is_free(group);
        let mut found = Self::families(&ground, wanted, progress, near);
        if found.is_empty() {
            found = Self::families(&ground, wanted, progress, |_| true);
        }
        let mut found = join(&ground, found);
        if found.len() > 1 {
            let exact = |(_, family): &(_, Family)| family.id.as_str() == wanted;
            if found.iter().filter(|item| exact(item)).count() == 1 {
                found.retain(exact);
            }
        }
        if found.len() > 1 {
            prefer_parent(&mut found);
        }
        if found.len() > 1 {
            let candidates = found.iter().map(|(source, family)| facts(*source, family)).collect();
            return Err(Error::Ambiguous { wanted: wanted.to_owned(), candidates });
        }
        let Some((source, family)) = found.pop() else {
            let short = wanted.chars().count() < SHORTEST;
            let wanted = wanted.to_owned();
            return Err(if short { Error::TooShort(wanted) } else { Error::NoSession(wanted) });
        };
        let folder = main(&family).map(|member| member.file.folder);
        let folder_path: Option<PathBuf> =
            folder.and_then(|at| ground.folders.get(at)).map(|folder| folder.at.path.clone());
        let mut row = facts(source, &family);
        self.pricing().put(&Ledger::of(source, &family, &row), &mut row);
        if let Some(number) = folder {
            let hash =
                main(&family).and_then(|member| member.file.outline.head.project_hash.as_deref());
            let mut sightings = Sightings::default();
            sightings.add(number, hash, &row.directories);
            row.project = self.passport(&ground, number, &sightings);
        }
        Ok(Opened::new(source, row, family, folder_path))
    }

    pub(crate) fn families(
        ground: &Ground,
        wanted: &str,
        progress: &dyn Progress,
        groups: impl Fn(&str) -> bool,
    ) -> Vec<Found> {
        let long_enough = wanted.chars().count() >= SHORTEST;
        let is_wanted = |id: &SessionId| {
            id.as_str() == wanted || (long_enough && id.as_str().starts_with(wanted))
        };
        let keep = |source, family: Family| is_wanted(&family.id).then_some((source, family));
        let found = survey(ground, ground.groups(groups), &Anew, progress, keep);
        found.into_iter().filter_map(|(_, family)| family).collect()
    }
}

/// Puts together what one session's files under different names gave.
fn join(ground: &Ground, found: Vec<Found>) -> Vec<Found> {
    let mut joined: Vec<Found> = Vec::new();
    let mut buffer = Buffer::new();
    for (source, family) in found {
        let same = |(_, known): &Found| known.id == family.id && known.parent == family.parent;
        let Some(at) = joined.iter().position(same) else {
            joined.push((source, family));
            continue;
        };
        let (_, known) = joined.swap_remove(at);
        let id = known.id.clone();
        let members = known.members.into_iter().chain(family.members);
        let files = members.map(|member| (member.file.folder, member.file.at)).collect();
        let families = Group { source, files }.families(ground, &Anew, &mut buffer);
        joined.extend(families.into_iter().filter(|new| new.id == id).map(|new| (source, new)));
    }
    joined
}

/// A session and whose it is.
type Found = (&'static dyn Source, Family);

/// Whether a name does not show the start of an id: such a file may belong to any session.
fn is_free(group: &str) -> bool {
    let is_id = group.len() == 8 && group.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_id && !group.contains('/')
}

/// Sub-agents that were recorded under their parent's id begin like it: then the parent is meant.
fn prefer_parent(found: &mut Vec<Found>) {
    let mut mains = found.iter().filter(|(_, family)| family.parent.is_none());
    let (Some(main), None) = (mains.next().map(|(_, family)| family.id.clone()), mains.next())
    else {
        return;
    };
    if found.iter().all(|(_, family)| family.id == main || family.parent.as_ref() == Some(&main)) {
        found.retain(|(_, family)| family.id == main);
    }
}

/// Whether files of a group may hold a session whose id begins with `wanted`: a group is the start of an id, or
/// for sub-agents the parent's id and the file's name.
pub(crate) fn may_hold(group: &str, wanted: &str) -> bool {
    let name = group.rsplit('/').next().unwrap_or(group);
    let name = name.split_once(".json").map_or(name, |(stem, _)| stem);
    !name.is_empty() && (name.starts_with(wanted) || wanted.starts_with(name))
}
