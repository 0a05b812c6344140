//! Billed but unrecorded usage, as far as files show it. FORMAT.md has the releases.

use recount_model::{Grammar, MessageKind};

use crate::outline::{MessageEntry, Outline};
use crate::source::{SessionFiles, Unrecorded};

/// Tools that send requests to a model themselves; those requests are in no file.
const ASKING_TOOLS: &[&str] = &["google_web_search", "web_fetch"];

/// When 0.54.4 was published, the first stable release that stores the last figures of a reply rather than the first:
/// 2026-08-11, in milliseconds.
const LAST_FIGURES: i64 = 1_786_406_400_000;

/// When 0.39.0 was published, the first release that writes logs: 2026-04-23, in milliseconds. Older messages in a log were
/// copied from a document.
const LOGS: i64 = 1_776_902_400_000;

/// Returns what of one message is unrecorded.
pub(super) fn of_message(outline: &Outline, entry: &MessageEntry) -> Unrecorded {
    let asks = |tool: &u16| {
        let name = outline.tools.get(usize::from(*tool));
        name.is_some_and(|name| ASKING_TOOLS.contains(&&**name))
    };
    let asking = entry.tools.iter().filter(|used| asks(&used.tool)).count();
    let compressing = usize::from(entry.kind == MessageKind::Summary);
    let replied = entry.kind == MessageKind::Answer && entry.model.is_some();
    // Documents were written up to 0.38, whatever their times are.
    let is_before =
        |day: i64| outline.grammar == Grammar::Json || entry.time.is_some_and(|time| time < day);
    Unrecorded {
        // Up to 0.31 replies without text were merged into the record before them.
        rounds: if is_before(LOGS) { entry.rounds.saturating_sub(1) } else { 0 },
        first_figures: entry.tokens.is_some() && is_before(LAST_FIGURES),
        no_figures: replied && entry.tokens.is_none(),
        side_calls: u32::try_from(asking + compressing).unwrap_or(u32::MAX),
    }
}

/// Returns the number of unrecorded requests for a session as a whole: titles, and compressions without other records.
pub(super) fn side_calls(session_files: &SessionFiles) -> u32 {
    let mut titles =
        session_files.files.iter().map(|session_file| &session_file.file.outline.head.summary);
    // A sub-agent's summary is its answer.
    let has_title = !session_files.kind.is_subagent() && titles.any(Option::is_some);
    let compressed =
        session_files.files.iter().filter(|session_file| session_file.compressed).count();
    u32::try_from(usize::from(has_title) + compressed).unwrap_or(u32::MAX)
}
