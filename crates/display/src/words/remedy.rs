//! Command lines that fix problems.

use std::path::Path;

use recount_changes::Remedy;
use recount_engine::Agent;
use recount_model::SessionId;
use recount_platform::CommandLine;

/// Returns the command that fixes a problem.
pub fn remedy(remedy: &Remedy) -> CommandLine {
    let about = |command, session: &SessionId| CommandLine::new(command).argument(session.prefix());
    let chmod = |command, path: &Path| CommandLine::new(command).argument(&path.to_string_lossy());
    match remedy {
        Remedy::Keep => CommandLine::new("recount guard --keep"),
        Remedy::Fix => CommandLine::new("recount guard --fix"),
        Remedy::Repair(session) => about("recount repair", session),
        Remedy::ShowRaw(session) => about("recount show", session).option("--raw"),
        Remedy::Compact(session) => about("recount compact", session),
        Remedy::PruneOrphaned => CommandLine::new("recount prune --orphaned"),
        Remedy::Relocate { old: Some(old), new: Some(new) } => relocation(old.as_str(), new),
        // The new location is not known; this lists the candidates.
        Remedy::Relocate { old: Some(old), new: None } => {
            CommandLine::new("recount projects").argument(old.as_str()).option("--scan")
        }
        Remedy::Relocate { old: None, .. } => CommandLine::new("recount projects --scan"),
        Remedy::History => CommandLine::new("recount history"),
        Remedy::Integrate(agent) => CommandLine::new("recount integrate").argument(agent.as_str()),
        Remedy::RebuildIndex => CommandLine::new("recount index rebuild"),
        Remedy::MakeWritable(path) => chmod("chmod u+w", path),
        Remedy::MakePrivate(path) => chmod("chmod go-rwx", path),
    }
}

/// Returns the command that assigns the sessions of one folder to another.
pub fn relocate(old: &str, new: &str) -> String {
    relocation(old, new).to_string()
}

fn relocation(old: &str, new: &str) -> CommandLine {
    CommandLine::new("recount relocate").argument(old).argument(new)
}

/// Returns how to keep an agent from deleting sessions by itself.
pub fn retention_off<'a>(agents: impl IntoIterator<Item = &'a Agent>) -> String {
    let settings: Vec<&str> = agents.into_iter().map(|agent| agent.setting).collect();
    format!("`recount guard --retention off` keeps all sessions: {}", settings.join("; "))
}

#[cfg(test)]
mod tests {
    use recount_model::RecordedPath;

    use super::*;

    fn remedy(one: &Remedy) -> String {
        super::remedy(one).to_string()
    }

    #[test]
    fn a_folder_that_has_moved_is_relocated_by_both_its_paths() {
        assert_eq!(
            relocate("/code/shop", "/code/store"),
            "recount relocate /code/shop /code/store"
        );
        let (old, new) = (Some(RecordedPath::new("/code/my shop")), Some("/code/store".to_owned()));
        let command = remedy(&Remedy::Relocate { old: old.clone(), new });
        assert_eq!(command, "recount relocate '/code/my shop' /code/store");
        let command = remedy(&Remedy::Relocate { old, new: None });
        assert_eq!(command, "recount projects '/code/my shop' --scan");
    }

    #[test]
    fn session_text_is_one_word_to_the_shell() {
        let hostile = "/home/dev/x; touch PWNED";
        let command =
            remedy(&Remedy::Relocate { old: Some(RecordedPath::new(hostile)), new: None });
        assert_eq!(command, format!("recount projects '{hostile}' --scan"));
        assert_eq!(
            remedy(&Remedy::Repair(SessionId::new("a;id #12345"))),
            "recount repair 'a;id #12'"
        );
        assert_eq!(remedy(&Remedy::ShowRaw(SessionId::new("-rf"))), "recount show --raw -- -rf");
        let command = remedy(&Remedy::MakePrivate("/home/dev/$(id)".into()));
        assert_eq!(command, "chmod go-rwx '/home/dev/$(id)'");
    }
}
