//! The next step after a change that failed.

use std::io;

use recount_changes::{Error as ChangeError, Refusal, WriteError};

/// Returns a hint for a change that failed.
pub fn change_hint(error: &ChangeError) -> Option<&'static str> {
    Some(match error {
        ChangeError::NotLoadable { .. } => "`recount repair SESSION` makes it loadable if possible",
        ChangeError::NotTheSame { .. } => "nothing was changed",
        ChangeError::NotHandedOver { .. } => {
            "`recount handover SESSION --print` prints a document for the other agent instead"
        }
        ChangeError::NoTurn { .. } => "`recount trim SESSION` lists the turns",
        ChangeError::NothingLeft => "`recount delete SESSION` moves all of it to the trash",
        ChangeError::Settings { .. } => {
            "nothing was changed; fix the file first, because the agent does not start with it; or set the value by hand"
        }
        ChangeError::OtherForm { .. } => {
            "nothing was changed; `recount integrate AGENT --print` shows what to add by hand"
        }
        ChangeError::NoAgentHere => "name one, such as in `recount integrate --help`",
        ChangeError::OtherFile { .. } | ChangeError::OtherEntry { .. } => {
            "nothing was changed; --force replaces it, and `recount undo` brings it back"
        }
        ChangeError::NoAgent => "give the home with the agent's folder with --home",
        ChangeError::NoMessage(_) => {
            "give the number of a prompt, or the id of a message as `recount show --json` prints it"
        }
        ChangeError::NotInTrash(_) => "`recount trash` lists deleted sessions",
        ChangeError::NotKept(_) => {
            "`recount trash` and `recount vault` list what can be restored; --from DIR restores from a backup"
        }
        ChangeError::Write(error) => write_hint(error)?,
        _ => return None,
    })
}

/// Returns a hint for a write that failed or was refused.
pub fn write_hint(error: &WriteError) -> Option<&'static str> {
    match error {
        WriteError::Refused(refusal) => refusal_hint(refusal),
        WriteError::NoReceipt(_) | WriteError::ManyReceipts(_) => {
            Some("`recount history` lists all changes with their receipts")
        }
        WriteError::NothingToUndo => None,
        WriteError::Busy { .. } => Some("wait for the other run to end, then try again"),
        error => next_step(error),
    }
}

/// Returns a hint for a write that failed.
fn next_step(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    match cause(error).map(io::Error::kind) {
        Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            Some("make room on the disk, then run it again: what was written whole stays")
        }
        Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) => Some(
            "choose a place that you may write to; for recount's own data, set RECOUNT_DATA_DIR",
        ),
        Some(io::ErrorKind::NotFound) => Some("make the folder first"),
        Some(io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists) => {
            Some("a file is in place of a folder: choose another path")
        }
        Some(io::ErrorKind::IsADirectory) => {
            Some("a folder of that name exists: choose another name")
        }
        _ => None,
    }
}

/// Returns the I/O error, at any depth.
fn cause<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a io::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(cause) = error.downcast_ref::<io::Error>() {
            return Some(cause);
        }
        next = error.source();
    }
    None
}

/// Returns a hint for a refused change.
fn refusal_hint(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::Live { .. } => Some("end the agent there first, then try again"),
        Refusal::Changed { .. } => Some("look again: run it once more, with what is there now"),
        Refusal::Occupied { .. } => Some("move the existing file away, then try again"),
        Refusal::NotAFile { .. } => Some("files are never changed through links; check it by hand"),
        Refusal::NoRoom { .. } => Some("make room on the disk, or `recount trash empty`"),
        Refusal::NoLocks { .. } => Some("set RECOUNT_DATA_DIR to a folder on a local disk"),
        Refusal::NotUndoable { .. } => Some("`recount history` shows what has become of it"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_hint_follows_what_the_system_said() {
        let failed = |kind: io::ErrorKind| WriteError::WriteFile {
            path: PathBuf::from("/data/x"),
            source: kind.into(),
        };
        let unfinished =
            |kind| WriteError::Unfinished { id: "1".into(), source: Box::new(failed(kind)) };
        for (kind, part) in [
            (io::ErrorKind::StorageFull, "make room"),
            (io::ErrorKind::PermissionDenied, "may write"),
            (io::ErrorKind::ReadOnlyFilesystem, "may write"),
        ] {
            for error in [failed(kind), unfinished(kind)] {
                let hint = write_hint(&error);
                assert!(hint.is_some_and(|hint| hint.contains(part)), "{kind:?}: {hint:?}");
            }
        }
        let path = PathBuf::from("/data/x");
        assert!(
            write_hint(&WriteError::Busy { path: path.clone() })
                .is_some_and(|hint| hint.contains("other run"))
        );
        assert_eq!(write_hint(&WriteError::NotAsWritten { path }), None);
    }
}
