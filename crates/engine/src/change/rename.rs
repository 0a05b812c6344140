//! A title where the agent itself shows it.

use std::path::Path;

use recount_formats::bytes::Buffer;
use recount_formats::edit::{Amendment, Title};
use recount_model::FileRole;
use recount_writer::RealDisk;
use recount_writer::change::{About, Plan};

use super::common::{patched, role, source, subject};
use crate::snapshot::survey::Progress;
use crate::{Engine, Error};

/// The longest title that an agent shows whole, in UTF-16 units.
const LONGEST: usize = 100;

impl Engine {
    /// Plans to give a session a title, or to take away the one it has.
    ///
    /// Every file gets it that some release of the agent lists: the newest show the one of a session that was used last, older
    /// ones each of them, and those before logs only the old documents. What none of them lists is left as it is.
    ///
    /// # Errors
    /// If the argument names no session or several; if it is no session that can have a title; if a file cannot be read.
    pub fn rename_plan(
        &self,
        wanted: &str,
        title: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Plan, Error> {
        let (facts, _) = self.chosen(wanted, "renamed", progress)?;
        let source = source(facts.source)?;
        let unable = || Error::Declined(format!("the titles of {} cannot be set", facts.source));
        let editor = source.editor().ok_or_else(unable)?;
        let title = title.map(|title| editor.title(title)).filter(|title| !title.is_empty());
        let said = Amendment {
            title: Some(title.as_deref().map_or(Title::None, Title::Is)),
            ..Amendment::default()
        };
        let mut plan = self.blank_plan("rename");
        plan.sessions.push(subject(&facts));
        let mut buffer = Buffer::new();
        let mut able = false;
        for file in &facts.files {
            let (path, id) = (Path::new(&file.path), facts.id.as_str());
            if matches!(file.role, FileRole::Stub | FileRole::Unreadable) {
                continue;
            }
            let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
            let patches = editor.amend(path, file.grammar, said, &mut buffer);
            let Some(patches) = patches.map_err(unreadable)? else { continue };
            able = true;
            let has = source.outline(path, &mut buffer).head.summary;
            if patches.is_empty() || has == title {
                continue;
            }
            let about = About { session: Some(id), what: role(file.role) };
            plan.replace(&RealDisk, path, patched(path, &patches), about)?;
        }
        if !able {
            let short = facts.id.short();
            let why = format!("the agent cannot load {short}, and so shows no title of it");
            return Err(Error::Declined(why));
        }
        match &title {
            Some(title) if title.encode_utf16().count() > LONGEST => {
                plan.notes.push(format!("the agent itself shows {LONGEST} characters of a title"));
            }
            None if !plan.is_empty() => {
                plan.notes.push("the agent may make a title of its own again".to_owned());
            }
            _ => {}
        }
        Ok(plan)
    }
}
