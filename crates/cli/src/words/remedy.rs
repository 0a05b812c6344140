//! Command lines that mend what was found.

use recount_changes::Remedy;
use recount_engine::Agent;

/// Returns the command that mends something.
pub(crate) fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::Keep => "recount guard --keep".to_owned(),
        Remedy::Fix => "recount guard --fix".to_owned(),
        Remedy::Repair(session) => format!("recount repair {}", session.short()),
        Remedy::ShowRaw(session) => format!("recount show {} --raw", session.short()),
        Remedy::Compact(session) => format!("recount compact {}", session.short()),
        Remedy::PruneOrphaned => "recount prune --orphaned".to_owned(),
        Remedy::Relocate { old: Some(old), new: Some(new) } => relocate(old.as_str(), new),
        // Where it went is not known; this says which folders may be meant.
        Remedy::Relocate { old: Some(old), new: None } => {
            format!("recount projects {} --scan", quoted(old.as_str()))
        }
        Remedy::Relocate { old: None, .. } => "recount projects --scan".to_owned(),
        Remedy::History => "recount history".to_owned(),
        Remedy::RebuildIndex => "recount index rebuild".to_owned(),
        Remedy::MakeWritable(path) => format!("chmod u+w {}", path.display()),
        Remedy::MakePrivate(path) => format!("chmod go-rwx {}", path.display()),
    }
}

/// Returns the command that makes the sessions of one folder those of another.
pub(crate) fn relocate(old: &str, new: &str) -> String {
    format!("recount relocate {} {}", quoted(old), quoted(new))
}

/// Says how an agent is kept from deleting sessions by itself.
pub(crate) fn retention_off(agent: &Agent) -> String {
    format!("`recount guard --retention off` keeps all sessions: {}", agent.setting)
}

/// Writes a path so that a shell takes it as one word.
fn quoted(path: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+@%:,=".contains(letter);
    if !path.is_empty() && path.chars().all(plain) {
        return path.to_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use recount_model::RecordedPath;

    use super::*;

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
    fn every_remedy_is_a_command_that_is_understood() {
        use clap::CommandFactory as _;
        let id = recount_model::SessionId::new("3f2a91c0-1111-4222-8333-444455556666");
        let old = Some(RecordedPath::new("/code/shop"));
        for one in [
            Remedy::Keep,
            Remedy::Fix,
            Remedy::Repair(id.clone()),
            Remedy::ShowRaw(id.clone()),
            Remedy::Compact(id),
            Remedy::PruneOrphaned,
            Remedy::Relocate { old: old.clone(), new: Some("/code/store".into()) },
            Remedy::Relocate { old, new: None },
            Remedy::Relocate { old: None, new: None },
            Remedy::History,
            Remedy::RebuildIndex,
        ] {
            let line = remedy(&one);
            let parsed = crate::args::Cli::command().try_get_matches_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }

    #[test]
    fn a_path_is_one_word_to_the_shell() {
        assert_eq!(quoted("/home/dev/code/shop"), "/home/dev/code/shop");
        assert_eq!(quoted("/home/dev/my shop"), "'/home/dev/my shop'");
        assert_eq!(quoted("/home/dev/it's"), r"'/home/dev/it'\''s'");
        assert_eq!(quoted("/home/dev/$(x)"), "'/home/dev/$(x)'");
    }
}
