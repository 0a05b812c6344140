//! Hits for programs: one document, or one per hit.

use std::io::{self, Write};

use jiff::Timestamp;
use recount_display::words;
use recount_engine::export::json::write_json;
use recount_engine::{Match, RelaxedSearch, SearchNote, SearchResults};
use recount_model::{Fate, Message, MessageKind, Project, RecordLocation, SourceName};
use serde::Serialize;

/// The schema of both forms.
const SCHEMA: &str = "recount.search/1";

/// A hit, for JSON.
#[derive(Serialize)]
struct ShownHit<'a> {
    session: Short<'a>,
    message_id: Option<&'a str>,
    kind: MessageKind,
    fate: Fate,
    time: Option<Timestamp>,
    score: f32,
    field: Option<&'static str>,
    snippet: Option<&'a str>,
    highlights: Vec<[usize; 2]>,
    #[serde(rename = "where")]
    place: &'a RecordLocation,
    #[serde(skip_serializing_if = "<[Message]>::is_empty")]
    context: &'a [Message],
}

/// A session, in short.
#[derive(Serialize)]
struct Short<'a> {
    source: SourceName,
    id: &'a str,
    title: Option<&'a str>,
    project: &'a Project,
    updated: Option<Timestamp>,
    gone: bool,
}

/// The whole document.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    total: usize,
    sessions: usize,
    is_exact: bool,
    relaxed: bool,
    /// How the words were relaxed.
    #[serde(skip_serializing_if = "Option::is_none")]
    relaxation: Option<ShownRelaxation<'a>>,
    /// Why results may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<ShownNote>,
    hits: Vec<ShownHit<'a>>,
}

/// How the words of a query were relaxed.
#[derive(Serialize)]
struct ShownRelaxation<'a> {
    words: &'a [String],
    left_out: &'a [String],
    not_found: &'a [String],
}

impl<'a> ShownRelaxation<'a> {
    fn of(relaxation: &'a RelaxedSearch) -> Self {
        let RelaxedSearch { words, left_out, not_found } = relaxation;
        Self { words, left_out, not_found }
    }
}

/// A reason why results may be missing: a fixed name for programs, and the words of the other views.
#[derive(Serialize)]
struct ShownNote {
    code: &'static str,
    text: String,
}

impl ShownNote {
    fn of(note: &SearchNote) -> Self {
        Self { code: note.code(), text: words::search_note(note) }
    }
}

/// A hit as a separate document.
#[derive(Serialize)]
struct Lone<'a> {
    schema: &'static str,
    #[serde(flatten)]
    hit: ShownHit<'a>,
}

impl<'a> ShownHit<'a> {
    fn of(hit: &'a Match, around: &'a [Message]) -> Self {
        let snippet = hit.snippet.as_ref();
        let highlights = snippet.into_iter().flat_map(|snippet| &snippet.highlights);
        Self {
            session: Short {
                source: hit.session.source,
                id: hit.session.id.as_str(),
                title: hit.session.title.as_deref(),
                project: &hit.session.project,
                updated: hit.session.updated,
                gone: hit.is_gone,
            },
            message_id: hit.message.id.as_ref().map(recount_model::MessageId::as_str),
            kind: hit.message.kind,
            fate: hit.message.fate,
            time: hit.message.time,
            score: hit.score,
            field: snippet.map(|snippet| snippet.field.name()),
            snippet: snippet.map(|snippet| snippet.text.as_str()),
            highlights: highlights.map(|range| [range.start, range.end]).collect(),
            place: &hit.message.place,
            context: around,
        }
    }
}

/// Returns each hit with its context.
fn shown<'a>(
    answer: &'a SearchResults,
    around: &'a [Vec<Message>],
) -> impl Iterator<Item = ShownHit<'a>> {
    let near = |at: usize| around.get(at).map(Vec::as_slice).unwrap_or_default();
    answer.hits.iter().enumerate().map(move |(at, hit)| ShownHit::of(hit, near(at)))
}

/// Writes one document; `around` has the context of each hit, if it was asked for.
pub fn hits(
    out: &mut impl Write,
    answer: &SearchResults,
    around: &[Vec<Message>],
) -> io::Result<()> {
    let document = Document {
        schema: SCHEMA,
        total: answer.total,
        sessions: answer.sessions,
        is_exact: answer.is_exact,
        relaxed: answer.relaxed,
        relaxation: answer.relaxation.as_ref().map(ShownRelaxation::of),
        notes: answer.notes.iter().map(ShownNote::of).collect(),
        hits: shown(answer, around).collect(),
    };
    crate::whole(out, &document)
}

/// Writes a document for each hit, one per line.
pub fn hit_lines(
    out: &mut impl Write,
    answer: &SearchResults,
    around: &[Vec<Message>],
) -> io::Result<()> {
    for hit in shown(answer, around) {
        write_json(&mut *out, &Lone { schema: SCHEMA, hit })?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use recount_engine::{Engine, Error, HitOrder, SOURCES, SearchRequest, Setup};
    use recount_model::Clock;
    use recount_platform::Env;
    use serde_json::{Value, json};

    use super::*;

    fn written(answer: &SearchResults) -> Value {
        let mut text = Vec::new();
        hits(&mut text, answer, &[]).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn each_note_has_a_code_and_words() {
        let mut answer = SearchResults::default();
        assert_eq!(written(&answer).get("notes"), None);
        answer.notes = vec![
            SearchNote::NoIndex(Arc::new(Error::NoDataFolder)),
            SearchNote::IndexIsWritten,
            SearchNote::Unreadable(1),
            SearchNote::Unverifiable(2),
            SearchNote::TooMany { checked: 3, left: 4 },
        ];
        let codes = ["no-index", "index-is-written", "unreadable", "unverifiable", "too-many"];
        let note = |(code, note)| json!({"code": code, "text": words::search_note(note)});
        let notes: Vec<_> = codes.into_iter().zip(&answer.notes).map(note).collect();
        assert_eq!(written(&answer)["notes"], Value::from(notes));
    }

    #[test]
    fn a_search_without_a_data_folder_has_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let now = "2026-11-16T00:00:00Z".parse().unwrap();
        recount_testbed::demo(&home, now).unwrap();
        let setup = Setup {
            known_sources: SOURCES,
            homes: vec![home],
            sources: Vec::new(),
            env: Env::for_tests([], None),
            clock: Clock::fixed(now),
        };
        let request = SearchRequest {
            query: "discount".to_owned(),
            limit: 1,
            sort: HitOrder::Relevance,
            all_hits: false,
            width: 60,
            without_index: false,
            at_once: false,
        };
        let answer = Engine::new(setup).unwrap().search(&request, &()).unwrap();
        let text = "no index can be kept, so the files themselves were searched: no data folder: HOME is not set";
        let document = written(&answer);
        assert_eq!(document["notes"], json!([{"code": "no-index", "text": text}]));
        assert_eq!(document["hits"].as_array().unwrap().len(), 1);
    }
}
