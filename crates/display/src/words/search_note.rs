//! The texts that say why results may be missing.

use recount_engine::SearchNote;

/// Says that the tables of SQL queries lack something.
pub const SQL_IS_BEHIND: &str =
    "another run is reading the sessions; what it has not read yet is missing";

/// Says why results of a search may be missing.
pub fn search_note(note: &SearchNote) -> String {
    match note {
        SearchNote::NoIndex(error) => format!(
            "no index can be kept, so the files themselves were searched: {}",
            error.full_message()
        ),
        SearchNote::IndexIsWritten => {
            "another run is indexing; its newest messages may be missing".to_owned()
        }
        SearchNote::Unreadable(hits) => {
            format!("{hits} of the hits cannot be read: files changed meanwhile")
        }
        SearchNote::Unverifiable(hits) => {
            format!("{hits} more may be in sessions that are gone: their text cannot be looked at")
        }
        SearchNote::TooMany { checked, left } => format!(
            "{checked} messages with these words were looked at, {left} were not: narrow it with project: or after:"
        ),
    }
}
