//! What `gemini --list-sessions` shows, by the rules of each release.

use std::collections::HashMap;

use recount_model::{Grammar, SessionId, SourceState};

use super::part::BINARY;
use super::state::{AgentListing, GeminiState};
use crate::outline::{FileSummary, Head, Outline};
use crate::source::{AgentRow, FilePlacement, ListedFile};

/// The rules of a range of releases.
#[derive(Clone, Copy, Debug)]
struct Rules {
    logs: bool,
    deduplicates: bool,
    needs: Needs,
    hides_subagents: bool,
    title: TitleRule,
}

/// What a session must have to be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    Conversation,
    Resumable,
}

/// Which user message is the title if there is no summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TitleRule {
    /// The first one, unchanged.
    Raw,
    /// The first one.
    First,
    /// The first one that is not a command.
    FirstWords,
    /// The same, with placeholders for parts that are not text, and any other if all are commands.
    FirstFlat {
        /// Whether binary data is shown with its size.
        sizes: bool,
    },
}

impl Rules {
    /// The rules since 0.47.
    const NEWEST: Self = Self {
        logs: true,
        deduplicates: true,
        needs: Needs::Resumable,
        hides_subagents: true,
        title: TitleRule::FirstWords,
    };

    fn of(release: &str) -> Self {
        let mut numbers = release.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
        let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if major > 0 || minor >= 47 {
            return Self::NEWEST;
        }
        Self {
            logs: minor >= 39,
            deduplicates: minor >= 19,
            needs: if minor >= 20 { Needs::Conversation } else { Needs::Nothing },
            hides_subagents: minor >= 31,
            title: match minor {
                ..20 => TitleRule::Raw,
                20..39 => TitleRule::FirstFlat { sizes: minor >= 34 },
                _ => TitleRule::First,
            },
        }
    }

    fn lists(self, file: &ListedFile) -> bool {
        let outline = &file.outline;
        let enough = match self.needs {
            Needs::Nothing => true,
            Needs::Conversation => outline.has_conversation,
            Needs::Resumable => outline.resumable,
        };
        file.at.placement == FilePlacement::Main
            && outline.loadable
            && outline.head.session_id.is_some()
            && (self.logs || outline.grammar == Grammar::Json)
            && enough
            && !(self.hides_subagents && outline.head.subagent)
    }

    fn title(self, file: &FileSummary) -> String {
        let state = GeminiState::decode(&file.state).unwrap_or_default();
        self.title_from(&file.head, state.listing)
    }

    fn title_from(self, head: &Head, mut listed: AgentListing) -> String {
        if let (TitleRule::FirstWords, Some(title)) = (self.title, listed.newest.take()) {
            return title;
        }
        if let Some(summary) = &head.summary {
            return shorten(&visible(summary));
        }
        let first = match self.title {
            TitleRule::Raw => {
                let text = listed.first_any.as_deref();
                return text
                    .map_or_else(|| "Empty conversation".to_owned(), |text| shorten(text.trim()));
            }
            TitleRule::First => listed.first_any,
            TitleRule::FirstWords => listed.first_user,
            TitleRule::FirstFlat { sizes } => {
                let flat = listed.first_flat.as_deref().map(|flat| binary(flat, sizes));
                flat.or(listed.first_any)
            }
        };
        first.map_or_else(|| "Empty conversation".to_owned(), |text| shorten(&plain(&text)))
    }
}

/// Lists the files of one chats folder like `release` (0.47 and later by default), oldest first.
pub(crate) fn list(files: &[&ListedFile], release: Option<&str>) -> Vec<AgentRow> {
    let rules = release.map_or(Rules::NEWEST, Rules::of);
    let mut sorted: Vec<&ListedFile> =
        files.iter().copied().filter(|file| rules.lists(file)).collect();
    sorted.sort_by_cached_key(|file| file.at.path.file_name().map(utf16));
    let mut rows: Vec<(&SessionId, &ListedFile)> = Vec::new();
    let mut known: HashMap<&SessionId, usize> = HashMap::new();
    for file in sorted {
        let Some(id) = &file.outline.head.session_id else { continue };
        let place =
            if rules.deduplicates { *known.entry(id).or_insert(rows.len()) } else { rows.len() };
        match rows.get_mut(place) {
            Some(row) if updated(file) > updated(row.1) => row.1 = file,
            Some(_) => {}
            None => rows.push((id, file)),
        }
    }
    rows.sort_by_key(|(_, file)| started(file));
    let row = |(id, file): (&SessionId, &ListedFile)| AgentRow {
        id: id.clone(),
        title: rules.title(&file.outline),
    };
    rows.into_iter().map(row).collect()
}

/// Returns what the newest releases' list and a cleanup need: instead of texts, the title as it is printed.
pub(crate) fn light_state(outline: &Outline) -> SourceState {
    let GeminiState { listing, retention } = GeminiState::of(outline);
    let newest = Some(Rules::NEWEST.title_from(&outline.head, listing));
    GeminiState { listing: AgentListing { newest, ..AgentListing::default() }, retention }.encode()
}

/// Names are compared by UTF-16 code units, as JavaScript does.
fn utf16(name: &std::ffi::OsStr) -> Vec<u16> {
    name.to_string_lossy().encode_utf16().collect()
}

/// What the loader uses for a missing time in a log: later than all others.
const NOW: Option<i64> = Some(i64::MAX);

fn updated(file: &ListedFile) -> Option<i64> {
    let head = &file.outline.head;
    match file.outline.grammar {
        Grammar::Jsonl => head.updated.or(NOW),
        Grammar::Json => head.updated.or(head.start).or(file.at.modified),
    }
}

fn started(file: &ListedFile) -> Option<i64> {
    let head = &file.outline.head;
    match file.outline.grammar {
        Grammar::Jsonl => head.start.or(NOW),
        Grammar::Json => head.start.or(head.updated).or(file.at.modified),
    }
}

/// Writes placeholders of binary data like a release: `<image/png>`, or `[Image: image/png, 0.1 KB]`.
fn binary(flat: &str, sizes: bool) -> String {
    let mut out = String::new();
    let mut pieces = flat.split(BINARY);
    while let Some(text) = pieces.next() {
        out.push_str(text);
        let (Some(mime), Some(size)) = (pieces.next(), pieces.next()) else { break };
        let category = match mime.split('/').next() {
            Some("audio") => "Audio",
            Some("video") => "Video",
            Some("image") => "Image",
            _ => "Media",
        };
        if sizes {
            out.push_str(&["[", category, ": ", mime, ", ", size, "]"].concat());
        } else {
            out.push_str(&["<", mime, ">"].concat());
        }
    }
    out
}

/// Removes only terminal and bidi control characters from a summary.
pub(crate) fn visible(text: &str) -> String {
    let bidi = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let kept: String =
        text.chars().filter(|&c| !bidi(c) && (!c.is_control() || c.is_whitespace())).collect();
    one_line(&kept)
}

/// Removes everything except printable ASCII from a prompt.
fn plain(text: &str) -> String {
    let mut ascii = String::new();
    let mut space = false;
    for c in text.chars() {
        if is_space(c) {
            space = !ascii.is_empty() || space;
            continue;
        }
        if std::mem::take(&mut space) {
            ascii.push(' ');
        }
        if (' '..='~').contains(&c) {
            ascii.push(c);
            if ascii.len() > LONGEST {
                // It is truncated anyway.
                break;
            }
        }
    }
    ascii.trim().to_owned()
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for c in text.chars() {
        if is_space(c) {
            space = true;
        } else {
            if space {
                out.push(' ');
            }
            space = false;
            out.push(c);
        }
    }
    if space {
        out.push(' ');
    }
    out.trim().to_owned()
}

/// The longest title, in UTF-16 units.
const LONGEST: usize = 100;

/// Truncates a longer title and adds three dots.
fn shorten(text: &str) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}...", String::from_utf16_lossy(units.get(..97).unwrap_or(&units)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_lose_what_is_not_ascii_and_summaries_do_not() {
        assert_eq!(plain("Prüfe\n\n  den 会话 Code\t!"), "Prfe den  Code !");
        assert_eq!(plain("会话"), "");
        assert_eq!(visible("Prüfe 会话\u{202e}"), "Prüfe 会话");
    }

    #[test]
    fn titles_follow_the_rules_of_the_release() {
        let mut outline = Outline::empty(Grammar::Json);
        let listing = AgentListing {
            first_any: Some("/help 会话\nnow".into()),
            first_user: Some("Fix 会话\nnow".into()),
            first_flat: Some("Fix\u{1}image/png\u{1}0.1 KB\u{1}".into()),
            newest: None,
        };
        outline.state = GeminiState { listing, ..GeminiState::default() }.encode();
        for (release, title) in [
            ("0.16.0", "/help 会话\nnow"),
            ("0.24.5", "Fix<image/png>"),
            ("0.38.2", "Fix[Image: image/png, 0.1 KB]"),
            ("0.43.0", "/help  now"),
            ("0.60.0", "Fix  now"),
        ] {
            let file = outline.summary(outline.state.clone());
            assert_eq!(Rules::of(release).title(&file), title, "{release}");
        }
        outline.head.summary = Some("Prüfung".into());
        let file = outline.summary(outline.state.clone());
        assert_eq!(Rules::of("0.60.0").title(&file), "Prüfung");
    }

    #[test]
    fn long_titles_are_cut_by_utf16_units() {
        assert_eq!(shorten(&"x".repeat(100)), "x".repeat(100));
        assert_eq!(shorten(&"x".repeat(101)), format!("{}...", "x".repeat(97)));
    }
}
