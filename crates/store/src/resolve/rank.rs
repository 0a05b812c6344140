//! The weight of each clue. The strongest one names the folder; the others are shown with it.

use recount_model::ClueKind;

/// A path whose hash is the directory's name, or is in its sessions.
pub(crate) const PROOF: u8 = 100;

/// The marker, which the agent itself checks first.
pub(crate) const MARKER: u8 = 80;
/// Its copy beside the history, which the agent checks second.
pub(crate) const OTHER_MARKER: u8 = 70;
/// The agent's registry: the agent ignores it if a marker differs.
pub(crate) const REGISTRY: u8 = 60;
/// Folders that a session had open: usually the first is where it was started.
pub(crate) const WORKSPACE: u8 = 30;
/// Paths in text, any of which may belong to another project.
pub(crate) const TEXT: u8 = 10;

/// Returns the weight of a path from a certain kind of place, if nothing proves it.
pub(crate) fn weight(kind: ClueKind) -> u8 {
    match kind {
        ClueKind::Marker => MARKER,
        ClueKind::Registry => REGISTRY,
        ClueKind::Workspace | ClueKind::Process | ClueKind::SessionHash => WORKSPACE,
        ClueKind::Note => 0,
        _ => TEXT,
    }
}
