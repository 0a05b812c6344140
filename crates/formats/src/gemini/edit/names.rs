//! Alternative names for files of sessions.
//!
//! The agent lists any `session-*.json(l)`, but it deletes by the eight characters after the time. So two sessions must not
//! share them, and two files of one session should.

use recount_model::SessionId;

use crate::gemini::locate::short_id;
use crate::gemini::project;

/// The number of characters of an id in a name.
const SHORT: usize = 8;

/// Returns a name with other characters of the id in it, or with random ones if those are used up.
pub(crate) fn apart(name: &str, id: &SessionId, attempt: usize) -> String {
    let letters: Vec<char> = id.as_str().chars().filter(char::is_ascii_hexdigit).collect();
    let mut group: String = letters.iter().skip((attempt + 1) * SHORT).take(SHORT).collect();
    if group.len() < SHORT {
        let hash = project::hash(&format!("{id} {attempt}")).to_string();
        group = hash.chars().take(SHORT).collect();
    }
    let old = short_id(name);
    let stem = name.split_once(".json").map_or(name, |(stem, _)| stem);
    let before = stem.strip_suffix(old).filter(|_| !old.is_empty());
    match (before, name.get(stem.len()..)) {
        (Some(before), Some(ending)) => format!("{before}{group}{ending}"),
        _ => format!("session-{group}-{name}"),
    }
}

/// Returns a name with another time in it.
pub(crate) fn beside(name: &str, attempt: usize) -> String {
    let time = name.strip_prefix("session-").and_then(|rest| rest.get(..16));
    let minute = time.filter(|time| time.as_bytes().get(10) == Some(&b'T') && attempt < 60);
    let parts = minute.and_then(|time| Some((time.get(..14)?, name.get("session-".len() + 16..)?)));
    if let Some((hour, rest)) = parts {
        return format!("session-{hour}{attempt:02}{rest}");
    }
    let rest = name.strip_prefix("session-").unwrap_or(name);
    format!("session-{attempt}-{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_session_stay_together_and_apart_from_others() {
        let id = SessionId::new("3d2f9a10-5c1b-4d11-b127-fab536451cda");
        let log = "session-2026-09-02T08-00-3d2f9a10.jsonl";
        assert_eq!(apart(log, &id, 0), "session-2026-09-02T08-00-5c1b4d11.jsonl");
        assert_eq!(apart(log, &id, 1), "session-2026-09-02T08-00-b127fab5.jsonl");
        let document = "session-2026-09-02T08-00-3d2f9a10.json";
        assert_eq!(apart(document, &id, 0), "session-2026-09-02T08-00-5c1b4d11.json");
        let aside = "session-2026-09-02T08-00-3d2f9a10.jsonl.unreadable-17";
        assert_eq!(apart(aside, &id, 0), "session-2026-09-02T08-00-5c1b4d11.jsonl.unreadable-17");
        let short = "session-2026-09-02T08-00-17.jsonl.unreadable-17";
        assert_eq!(apart(short, &id, 0), "session-2026-09-02T08-00-5c1b4d11.jsonl.unreadable-17");
        let made_up = apart(log, &id, 7);
        assert_eq!(made_up.len(), log.len());
        assert_ne!(made_up, apart(log, &id, 8));
        let chosen =
            apart("session-2026-09-02T08-00-my-task-.jsonl", &SessionId::new("my-task-1"), 0);
        assert_eq!(short_id(&chosen).len(), SHORT);
        assert_ne!(short_id(&chosen), "my-task-");
    }

    #[test]
    fn a_file_beside_another_has_another_minute() {
        let log = "session-2026-09-02T08-00-3d2f9a10.jsonl";
        assert_eq!(beside(log, 1), "session-2026-09-02T08-01-3d2f9a10.jsonl");
        assert_eq!(beside(log, 99), "session-99-2026-09-02T08-00-3d2f9a10.jsonl");
        assert_eq!(
            beside("session-1788336011000-3d2f9a10.jsonl", 1),
            "session-1-1788336011000-3d2f9a10.jsonl"
        );
    }
}
