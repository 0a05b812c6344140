//! What to do when a session cannot be resumed.

use recount_engine::Unresumable;

/// Returns the next step for a session, given by the start of its id.
pub(crate) fn resume_hint(short: &str, why: &Unresumable) -> Option<String> {
    let move_it =
        || format!("`recount move {short} --to PROJECT` moves the session to another project");
    Some(match why {
        Unresumable::SavedChat => "`recount export FILE` writes it as a session".to_owned(),
        Unresumable::Subagent { parent } => {
            format!("`recount resume {}` resumes its main session", parent.short())
        }
        Unresumable::UnknownFolder => {
            format!("`recount projects --scan` may find it; {}", move_it())
        }
        Unresumable::FolderGone(path) => {
            format!("`recount relocate {path} NEW` if it was moved; {}", move_it())
        }
        Unresumable::OtherHome(_) => {
            format!("`recount move {short} --to PROJECT` moves it to one of your projects")
        }
        Unresumable::NothingSaid => format!("`recount delete {short}` deletes it"),
        Unresumable::Unlisted { damaged: true, .. } => {
            format!("`recount repair {short}` may fix that")
        }
        Unresumable::Unlisted { damaged: false, folder } => format!(
            "`recount move {short} --to {}` moves it to where current releases look",
            folder.display()
        ),
        Unresumable::InUse { .. } => {
            "end it first; two agents would overwrite each other's messages".to_owned()
        }
        Unresumable::NoProgram => return None,
    })
}
