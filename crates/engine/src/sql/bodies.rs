//! Reads messages from their locations, when a statement needs their text.

use std::path::Path;
use std::sync::Arc;

use recount_catalog::sql::{TextLocation, TextPart, TextSource};
use recount_formats::Source;
use recount_formats::source::{Detail, MessageRequest, OtherVersions, PieceBytes};
use recount_model::{Fate, Message, Span, Thought};

use crate::messages::window::Window;

/// Reads messages, one at a time: only the last one is in memory.
#[derive(Debug)]
pub(super) struct Bodies {
    sources: Vec<&'static dyn Source>,
    window: Option<(String, Window)>,
    last: Option<(TextLocation, Message)>,
}

impl Bodies {
    pub(super) fn new(sources: impl Iterator<Item = &'static dyn Source>) -> Self {
        Self { sources: sources.collect(), window: None, last: None }
    }

    fn read(&mut self, place: &TextLocation) -> Option<Message> {
        let is_it = |source: &&&dyn Source| source.name().as_str() == place.source;
        let source = *self.sources.iter().find(is_it)?;
        if self.window.as_ref().is_none_or(|(path, _)| *path != place.path) {
            let window = Window::open(Path::new(&place.path)).ok()?;
            self.window = Some((place.path.clone(), window));
        }
        let (_, window) = self.window.as_mut()?;
        let span = Span { line: 0, offset: place.offset, bytes: place.bytes };
        let pieces: Option<Vec<(Span, Vec<u8>)>> = { place.pieces.iter() }
            .map(|(offset, bytes)| {
                let span = Span { line: 0, offset: *offset, bytes: *bytes };
                Some((span, window.read(span).ok()?.to_vec()))
            })
            .collect();
        let pieces = pieces?;
        let pieces: Vec<PieceBytes<'_>> =
            pieces.iter().map(|(span, bytes)| PieceBytes { bytes, span: *span }).collect();
        let request = MessageRequest {
            bytes: window.read(span).ok()?,
            pieces: &pieces,
            file: &Arc::from(place.path.as_str()),
            span,
            fate: Fate::Kept,
            entry: None,
            model: None,
            others: &Versions(place),
            folder: place.folder.as_deref().map(Path::new),
            detail: Detail::Whole,
        };
        source.message(&request).ok()
    }
}

impl TextSource for Bodies {
    fn text(&mut self, place: &TextLocation, part: TextPart) -> Option<String> {
        if self.last.as_ref().is_none_or(|(known, _)| known != place) {
            self.last = None;
            let message = self.read(place)?;
            self.last = Some((place.clone(), message));
        }
        let (_, message) = self.last.as_ref()?;
        match part {
            TextPart::Text => Some(message.text.clone()),
            TextPart::DisplayText => Some(message.display_text.clone()),
            TextPart::Thoughts => thoughts(&message.thoughts),
            TextPart::Args(call) => Some(message.tool_calls.get(call)?.args.as_str().to_owned()),
            TextPart::Output(call) => message.tool_calls.get(call)?.output.clone(),
            TextPart::Diff(call) => message.tool_calls.get(call)?.diff.clone(),
        }
    }
}

/// Joins thoughts, one below the other.
pub(crate) fn thoughts(thoughts: &[Thought]) -> Option<String> {
    let one = |thought: &Thought| match (thought.subject.as_str(), thought.description.as_str()) {
        ("", description) => description.to_owned(),
        (subject, "") => subject.to_owned(),
        (subject, description) => format!("{subject}\n{description}"),
    };
    let all: Vec<String> = thoughts.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("\n\n"))
}

/// The other versions of a message, newest first.
#[derive(Debug)]
struct Versions<'a>(&'a TextLocation);

impl OtherVersions for Versions<'_> {
    fn each(&self, visit: &mut dyn FnMut(&[u8]) -> bool) {
        if self.0.versions.is_empty() {
            return;
        }
        let Ok(mut window) = Window::open(Path::new(&self.0.path)) else { return };
        for (offset, bytes) in self.0.versions.iter().copied() {
            match window.read(Span { line: 0, offset, bytes }) {
                Ok(bytes) if visit(bytes) => {}
                _ => break,
            }
        }
    }
}
