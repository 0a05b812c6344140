//! Hints for sessions that cannot be resumed.

use recount_engine::Unresumable;
use recount_platform::CommandLine;

/// Returns the next step for a session, given by the start of its id.
pub fn resume_hint(short: &str, why: &Unresumable) -> Option<String> {
    let about = |command| CommandLine::new(command).argument(short);
    let move_it = || about("recount move").option("--to PROJECT");
    Some(match why {
        Unresumable::SavedChat => "`recount export FILE` writes it as a session".to_owned(),
        Unresumable::Subagent { parent } => {
            let resume = CommandLine::new("recount resume").argument(parent.prefix());
            format!("`{resume}` resumes its main session")
        }
        Unresumable::UnknownFolder => {
            let command = move_it();
            format!(
                "`recount projects --scan` may find it; `{command}` moves the session to another project"
            )
        }
        Unresumable::FolderGone(path) => {
            let relocate =
                CommandLine::new("recount relocate").argument(path.as_str()).placeholder("NEW");
            let command = move_it();
            format!(
                "`{relocate}` if it was moved; `{command}` moves the session to another project"
            )
        }
        Unresumable::OtherHome(_) => format!("`{}` moves it to one of your projects", move_it()),
        Unresumable::NothingSaid => format!("`{}` deletes it", about("recount delete")),
        Unresumable::Unlisted { damaged: true, .. } => {
            format!("`{}` may fix that", about("recount repair"))
        }
        Unresumable::Unlisted { damaged: false, folder } => {
            let command = about("recount move").option_value("--to", &folder.to_string_lossy());
            format!("`{command}` moves it to where current releases look")
        }
        Unresumable::InUse { .. } => {
            "end it first; two agents would overwrite each other's messages".to_owned()
        }
        Unresumable::NoProgram => return None,
    })
}

#[cfg(test)]
mod tests {
    use recount_model::RecordedPath;

    use super::*;

    #[test]
    fn session_text_is_one_word_to_the_shell() {
        let gone = Unresumable::FolderGone(RecordedPath::new("/home/dev/x; touch PWNED"));
        let hint = resume_hint("-rf", &gone).unwrap();
        assert!(hint.contains("`recount relocate '/home/dev/x; touch PWNED' NEW`"), "{hint}");
        assert!(hint.contains("`recount move --to PROJECT -- -rf`"), "{hint}");
        let folder = "/home/dev/$(id)".into();
        let hint = resume_hint("a;id", &Unresumable::Unlisted { damaged: false, folder }).unwrap();
        assert!(hint.contains("`recount move 'a;id' --to '/home/dev/$(id)'`"), "{hint}");
    }
}
