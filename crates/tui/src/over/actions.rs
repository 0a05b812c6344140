//! What can be done with sessions, from whichever screen they are chosen in.

mod export;
mod labels;
mod outcome;
pub(crate) mod plans;

use std::path::PathBuf;
use std::sync::Arc;

use recount_blocks::Level;
use recount_engine::View;
use recount_model::SessionFacts;
use recount_platform::quote;

use crate::effect::{Effect, Notice};
use crate::keys::Action;
use crate::over::{Info, Paging, Reader};
use crate::screen::Context;

pub(crate) use labels::keep;
pub(crate) use outcome::{ChangeOutcome, Failed};
pub(crate) use plans::undo;

/// Does what an action asks of the chosen sessions. Returns whether it is such an action.
pub(crate) fn on_sessions(
    action: Action,
    chosen: Vec<Arc<SessionFacts>>,
    cx: &mut Context<'_>,
) -> bool {
    let Some(first) = chosen.first() else { return false };
    match action {
        Action::Open => cx.push(Reader::new(first.key())),
        Action::Info => cx.push(Info::new(first.key())),
        Action::Pager => cx.push(Paging::new(first.key(), Level::Actions, View::Full)),
        Action::Editor => match first.files.first() {
            Some(file) => cx.then(Effect::Edit(PathBuf::from(&file.path))),
            None => cx.say(Notice::error("the file is not known")),
        },
        Action::Resume => cx.then(Effect::Resume(first.key())),
        Action::Delete => plans::delete(chosen, None, cx),
        Action::Move => plans::move_to(chosen, cx),
        Action::Rename => plans::rename(&chosen, cx),
        Action::Fork => plans::fork(&chosen, cx),
        Action::Tag => labels::tag(chosen, cx),
        Action::Pin => labels::pin(&chosen, cx),
        Action::Export => export::export(chosen, cx),
        Action::CopyId => copy(&chosen, "id", |one| Some(one.id.as_str().to_owned()), cx),
        Action::CopyPath => {
            copy(&chosen, "path", |one| one.files.first().map(|file| file.path.clone()), cx);
        }
        Action::CopyFolder => {
            copy(&chosen, "folder", |one| one.project.path.as_ref().map(ToString::to_string), cx);
        }
        Action::CopyResume => {
            let line =
                |one: &SessionFacts| Some(format!("recount resume {}", quote(one.id.as_str())));
            copy(&chosen, "resume command", line, cx);
        }
        _ => return false,
    }
    true
}

fn copy(
    chosen: &[Arc<SessionFacts>],
    what: &'static str,
    text: impl Fn(&SessionFacts) -> Option<String>,
    cx: &mut Context<'_>,
) {
    let texts: Vec<String> = chosen.iter().filter_map(|one| text(one)).collect();
    if texts.is_empty() {
        cx.say(Notice::error(format!("the {what} is not known")));
    } else {
        cx.then(Effect::Copy(texts.join("\n"), what));
    }
}
