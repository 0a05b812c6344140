//! How much each clue counts. The strongest names the folder; the others are shown beside it.

use recount_model::ClueKind;

/// A path whose hash is the directory's name, or is in its sessions.
pub(crate) const PROOF: u8 = 100;

/// The marker that the agent itself obeys before all else.
pub(crate) const MARKER: u8 = 80;
/// Its copy beside the history: the agent looks at it second.
pub(crate) const OTHER_MARKER: u8 = 70;
/// The agent's registry: dropped by the agent when a marker says otherwise.
pub(crate) const REGISTRY: u8 = 60;
/// Folders that a session had open: the first is where it was started, most of the time.
pub(crate) const WORKSPACE: u8 = 30;
/// Paths in text, of which any may be another project's.
pub(crate) const TEXT: u8 = 10;

/// Returns how much a path counts that was found at a certain kind of place, when nothing proves it.
pub(crate) fn weight(kind: ClueKind) -> u8 {
    match kind {
        ClueKind::Marker => MARKER,
        ClueKind::Registry => REGISTRY,
        ClueKind::Workspace | ClueKind::Process | ClueKind::SessionHash => WORKSPACE,
        ClueKind::Note => 0,
        _ => TEXT,
    }
}
