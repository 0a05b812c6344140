//! Codex by `OpenAI`. FORMAT.md beside this file is the specification; this module only wires.

mod agent_index;
mod body;
mod build;
mod database;
mod document;
mod edit;
mod excerpt;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz;
mod grouping;
mod handover;
mod history;
mod hook;
mod injected;
mod integration;
mod lines;
mod live;
mod locate;
mod meta;
mod names;
mod native;
mod outputs;
mod owner;
mod patch;
mod project;
mod reading;
mod record;
mod replay;
mod state;
mod stream;
mod tokens;
mod tool;
mod touched;
mod words;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use recount_model::{Message, MessageKind, Problem, RecordedPath, SessionId, SourceName, ToolCall};

use crate::bytes::Buffer;
use crate::edit::Editor;
use crate::live::LiveSource;
use crate::native::NativeFormat;
use crate::outline::{Base, MessageEntry, Outline};
use crate::source::{
    DataFolders, EarlierListing, FileTouch, Located, MessageRequest, ProjectLocation, ReadResult,
    Recognition, RecordedPrompt, RootShape, ScannedFile, SessionFile, SessionFiles, Source,
    Unrecorded, stable_hash,
};
use crate::stream::StreamFormat;

/// The name in flags, JSON and the catalog.
const NAME: SourceName = SourceName::new("codex");

/// Raised with every change to what is read out of a file, or to the form in which readers are kept.
const VERSION: u32 = 7;

/// Codex, every release up to 0.166.
#[derive(Debug)]
pub struct Codex;

impl Source for Codex {
    fn name(&self) -> SourceName {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Codex"
    }

    fn folders(&self) -> DataFolders {
        DataFolders {
            below_home: &[".codex"],
            home_variable: None,
            folder_variable: Some("CODEX_HOME"),
            extra_variable: None,
            landmark: "sessions",
        }
    }

    fn locate(&self, root: &Path, _shape: RootShape) -> Located {
        locate::locate(root, None)
    }

    fn relocate(&self, root: &Path, _shape: RootShape, known: &EarlierListing<'_>) -> Located {
        locate::locate(root, Some(known))
    }

    fn sniff(&self, path: &Path, head: &[u8]) -> Recognition {
        reading::recognize(path, head)
    }

    fn outline(&self, path: &Path, buffer: &mut Buffer) -> Outline {
        reading::outline(path, buffer)
    }

    fn outline_from(
        &self,
        path: &Path,
        buffer: &mut Buffer,
        state: &[u8],
        further: u64,
    ) -> Option<ReadResult> {
        reading::outline_from(path, buffer, state, further)
    }

    fn outline_to_keep(&self, path: &Path, buffer: &mut Buffer) -> ReadResult {
        reading::outline_to_keep(path, buffer, true)
    }

    fn message(&self, request: &MessageRequest<'_>) -> Result<Message, Problem> {
        body::message(request)
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn group_sessions(&self, files: Vec<ScannedFile>) -> Vec<SessionFiles> {
        grouping::group_sessions(files)
    }

    fn borrowed(
        &self,
        session_files: SessionFiles,
        base: &Base,
    ) -> Option<(Vec<SessionFile>, Option<Base>)> {
        grouping::borrowed(session_files, base)
    }

    /// Copies have the time of their copying, so the id alone decides; one that was made up holds in its thread.
    fn request_key(&self, outline: &Outline, entry: &MessageEntry) -> Option<u64> {
        let id = entry.id.as_deref()?;
        if id.starts_with(replay::MADE_UP) {
            let thread = outline.head.session_id.as_ref()?;
            return Some(stable_hash(&(NAME.as_str(), thread.as_str(), id)));
        }
        Some(stable_hash(&(NAME.as_str(), id)))
    }

    /// Releases before 0.32 record neither models nor figures, nor how they were started.
    fn unrecorded(&self, outline: &Outline, entry: &MessageEntry) -> Unrecorded {
        let is_bare = entry.model.is_none() && entry.tokens.is_none();
        let is_old = outline.head.entrypoint.is_none();
        let no_figures = entry.kind == MessageKind::Answer && is_bare && is_old;
        Unrecorded { no_figures, ..Unrecorded::default() }
    }

    fn touched(&self, call: &ToolCall) -> Vec<FileTouch> {
        touched::touched(call)
    }

    fn known_folders(&self, root: &Path) -> Vec<(RecordedPath, PathBuf)> {
        project::paths(root)
    }

    fn recorded_prompts(&self, root: &Path) -> Vec<RecordedPrompt> {
        history::prompts(root)
    }

    fn lists_by_number(&self) -> bool {
        false
    }

    fn is_running(&self, args: &[String]) -> bool {
        owner::is_running(args)
    }

    fn native_format(&self) -> Option<&'static dyn NativeFormat> {
        Some(&native::Rollout)
    }

    fn editor(&self) -> Option<&'static dyn Editor> {
        Some(&edit::Edits)
    }

    fn place_of(&self, root: &Path, _shape: RootShape, file: &Path) -> Option<ProjectLocation> {
        let below = file.strip_prefix(root).ok()?;
        let folder = file.parent()?.to_owned();
        names::of_path(file)?;
        let is_ours = below.starts_with("sessions") || below.starts_with("archived_sessions");
        let (below, marker) = (file.strip_prefix(&folder).ok()?.to_owned(), PathBuf::new());
        is_ours.then_some(ProjectLocation { folder, below, is_hashed: true, marker })
    }

    fn resume(&self, id: &SessionId) -> Option<(&'static str, Vec<String>)> {
        Some(("codex", vec!["resume".to_owned(), id.to_string()]))
    }

    fn integration(&self) -> Option<&'static dyn crate::integration::Integration> {
        Some(&integration::Integrated)
    }

    fn hook(&self) -> Option<&'static dyn crate::hook::Hook> {
        Some(&hook::Hooks)
    }

    fn live(&self) -> Option<&'static dyn LiveSource> {
        Some(&live::CodexLive)
    }

    fn streams(&self) -> Option<&'static dyn StreamFormat> {
        Some(&stream::CodexStreams)
    }
}
