//! Why something goes, in words.

use std::path::Path;

use recount_engine::{DoomedSession, Kept, Lost};
use recount_model::{Doom, SessionKind, Why};

/// Says why a session goes.
pub(crate) fn why(session: &DoomedSession, kept: &Kept) -> String {
    if session.kind == SessionKind::Subagent {
        return "goes with its main session".to_owned();
    }
    if session.lost == Lost::Spare {
        let kinds = if session.files.iter().all(|doom| doom.why == Why::Stub) {
            "only the stub of a resume"
        } else {
            "only files that others repeat"
        };
        return kinds.to_owned();
    }
    // What happens to the conversation tells more than what happens to a stub.
    let telling = session.files.iter().find(|doom| doom.why != Why::Stub);
    telling.or_else(|| session.files.first()).map(|doom| one(doom, kept)).unwrap_or_default()
}

/// Says why one file goes.
pub(crate) fn one(doom: &Doom, kept: &Kept) -> String {
    let age = kept.max_age.as_deref().unwrap_or_default();
    let count = kept.max_count.unwrap_or_default();
    match doom.why {
        Why::Age => format!("not used for more than {age}"),
        Why::Count => format!("only the last {count} are kept"),
        Why::Unreadable => "the agent cannot read it".to_owned(),
        Why::NoTimes => "it does not say when it was written".to_owned(),
        Why::Stub => "the stub of a resume".to_owned(),
        Why::NothingSaid => "nothing in it to go on with".to_owned(),
        Why::Subagent => "a sub-agent's, among main sessions".to_owned(),
        Why::SameName => same_name(doom, age),
        Why::Beside => "belongs to a session that goes".to_owned(),
        Why::OutputAge => format!("output written more than {age} ago"),
        Why::OutputCount => format!("only the last {count} outputs are kept"),
        Why::EveryStart => "wiped at every start".to_owned(),
    }
}

fn same_name(doom: &Doom, age: &str) -> String {
    match doom.with_why {
        Some(Why::Stub) => "taken along by the stub of a resume".to_owned(),
        Some(Why::Age) => format!("taken along by a file past {age}"),
        Some(Why::Count) => "taken along by a file too many".to_owned(),
        Some(Why::Unreadable) => "taken along by an unreadable file".to_owned(),
        _ => {
            let with = doom.with.as_deref().map(Path::new).and_then(Path::file_name);
            let with = with.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            format!("taken along by {with}")
        }
    }
}

/// Says what an agent keeps.
pub(crate) fn kept(kept: &Kept, tilde: impl Fn(&str) -> String) -> String {
    if let Some(because) = &kept.off_because {
        return format!("no clean-up of sessions: {because}");
    }
    let age = kept.max_age.as_ref().map(|age| format!("for {age}"));
    let count = kept.max_count.map(|count| format!("the last {count}"));
    let limits: Vec<String> = count.into_iter().chain(age).collect();
    let from = match kept.from.last() {
        Some(path) => tilde(&path.to_string_lossy()),
        None => "by default".to_owned(),
    };
    format!("keeps sessions {} ({from})", limits.join(", "))
}

/// Whether a release has greater numbers than another.
pub(crate) fn is_newer(release: &str, known: &str) -> bool {
    let numbers = |text: &str| -> Vec<u32> {
        let text = text.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
        text.split('.').take(2).map(|part| part.parse().unwrap_or_default()).collect()
    };
    numbers(release) > numbers(known)
}
