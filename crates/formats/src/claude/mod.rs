//! Anthropic's Claude Code. FORMAT.md beside this file is the specification; this module only wires.

mod artifacts;
mod body;
mod build;
mod content;
mod edit;
mod grouping;
mod handover;
mod history;
mod hook;
mod integration;
mod kind;
mod known;
mod live;
mod locate;
mod log;
mod lookup;
mod messages;
mod meta;
mod native;
mod overflow;
mod packed;
mod project;
mod queue;
mod retention;
mod row;
mod state;
mod stream;
mod tool;
mod tree;
mod unanswered;
mod wording;
mod words;

#[cfg(test)]
mod tests;

use std::io::{Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{
    Grammar, Message, MessageKind, Problem, RecordedPath, SessionId, SourceName, SourceState,
    ToolCall, What,
};

use self::log::Log;
use self::state::ClaudeState;
use crate::bytes::{self, Buffer};
use crate::edit::Editor;
use crate::live::LiveSource;
use crate::native::NativeFormat;
use crate::outline::{MessageEntry, Outline};
use crate::retention::RetentionPolicy;
use crate::source::{
    Artifacts, DataFolders, Detail, EarlierListing, FilePlacement, FileTouch, Located,
    MessageRequest, Placement, ProjectFolder, ProjectLocation, ReadResult, Reader, Recognition,
    RecordedPrompt, RootShape, ScannedFile, SessionFiles, Source, Trace, Unrecorded, stable_hash,
};
use crate::stream::StreamFormat;

/// The name in flags, JSON and the catalog.
const NAME: SourceName = SourceName::new("claude");

/// Raised with every change to what is read out of a file, or to the form in which readers are kept.
const VERSION: u32 = 7;

/// The answer of a prompt is searched among this number of entries after it: the others are notes and attachments.
const NEAR: usize = 64;

/// Claude Code, every release up to 2.1.
#[derive(Debug)]
pub struct Claude;

impl Source for Claude {
    fn name(&self) -> SourceName {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Claude Code"
    }

    fn folders(&self) -> DataFolders {
        DataFolders {
            below_home: &[".claude", ".config/claude"],
            home_variable: None,
            folder_variable: Some("CLAUDE_CONFIG_DIR"),
            extra_variable: None,
            landmark: "projects",
        }
    }

    fn locate(&self, root: &Path, shape: RootShape) -> Located {
        locate::locate(root, shape, None)
    }

    fn relocate(&self, root: &Path, shape: RootShape, known: &EarlierListing<'_>) -> Located {
        locate::locate(root, shape, Some(known))
    }

    fn sniff(&self, _path: &Path, head: &[u8]) -> Recognition {
        recognize(head)
    }

    fn outline(&self, path: &Path, buffer: &mut Buffer) -> Outline {
        outline_and(path, buffer, |_| {})
    }

    fn outline_from(
        &self,
        path: &Path,
        buffer: &mut Buffer,
        state: &[u8],
        further: u64,
    ) -> Option<ReadResult> {
        let file = Arc::from(path.to_string_lossy());
        let mut input = bytes::open(path).ok()?;
        let log = Log::resume(state, &file)?;
        let end = input.seek(SeekFrom::End(0)).ok()?;
        let pays = end.saturating_sub(log.offset()) >= further;
        input.seek(SeekFrom::Start(log.offset())).ok()?;
        let mut saved = None;
        let look = |reader: &dyn Reader| saved = pays.then(|| reader.save()).flatten();
        let reader = buffer.pump_and(&mut input, |_| Box::new(log), look).ok()?;
        let mut outline = reader.into_outline();
        meta::add(&mut outline, path);
        Some(ReadResult { outline, saved })
    }

    fn outline_to_keep(&self, path: &Path, buffer: &mut Buffer) -> ReadResult {
        let mut saved = None;
        let outline = outline_and(path, buffer, |reader| saved = reader.save());
        ReadResult { outline, saved }
    }

    fn message(&self, request: &MessageRequest<'_>) -> Result<Message, Problem> {
        let read = body::message(request);
        let mut message = read.map_err(|_| {
            request.problem(What::BrokenLine, "left out: the file changed while it was read")
        })?;
        if request.detail == Detail::Whole {
            overflow::recover(&mut message, Path::new(&**request.file));
        }
        Ok(message)
    }

    fn may_be_cut(&self, record: &[u8]) -> bool {
        overflow::may_be_cut(record)
    }

    fn outputs(&self, folder: &ProjectFolder) -> Vec<PathBuf> {
        overflow::files(&folder.path)
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn group_sessions(&self, files: Vec<ScannedFile>) -> Vec<SessionFiles> {
        grouping::group_sessions(files)
    }

    /// Copies of a request keep its message id; many lose the request id, and have the time of their copying.
    fn request_key(&self, _outline: &Outline, entry: &MessageEntry) -> Option<u64> {
        entry.id.as_deref().map(|id| stable_hash(&(NAME.as_str(), id)))
    }

    /// Resumes up to 1.0 gave copied prompts new ids, and kept those of answers: a prompt is the one before its answer.
    fn message_key(&self, outline: &Outline, entry: usize) -> Option<u64> {
        let own = outline.entries.get(entry)?;
        if own.kind != MessageKind::Prompt {
            return self.request_key(outline, own);
        }
        if let Some(answer) = unanswered::answer_to(outline, entry) {
            return Some(stable_hash(&(NAME.as_str(), "before", answer)));
        }
        let number = u32::try_from(entry).ok()?;
        let keys = ClaudeState::decode(&outline.state).unanswered;
        match keys.into_iter().find(|(prompt, _)| *prompt == number) {
            Some((_, key)) => Some(stable_hash(&(NAME.as_str(), "unanswered", key))),
            None => self.request_key(outline, own),
        }
    }

    /// Some releases keep no other figures than those with which the answer began.
    fn unrecorded(&self, _outline: &Outline, entry: &MessageEntry) -> Unrecorded {
        let is_answer = entry.kind == MessageKind::Answer;
        Unrecorded { first_figures: is_answer && entry.rounds > 0, ..Unrecorded::default() }
    }

    fn titles_for_others(&self, state: &SourceState) -> Vec<(u64, String)> {
        let summaries = ClaudeState::decode(state).summaries.into_iter();
        summaries.map(|(leaf, title)| (stable_hash(&leaf), title)).collect()
    }

    /// Releases up to 2.0 wrote titles into whatever session was started next.
    fn may_have_title_elsewhere(&self, state: &SourceState) -> bool {
        let version = ClaudeState::decode(state).version;
        version
            .is_none_or(|version| ["0.", "1.", "2.0."].iter().any(|old| version.starts_with(old)))
    }

    fn end_key(&self, state: &SourceState) -> Option<u64> {
        ClaudeState::decode(state).leaf.map(|leaf| stable_hash(&leaf))
    }

    fn parent_call(&self, state: &SourceState) -> Option<String> {
        ClaudeState::decode(state).caller.map(Into::into)
    }

    fn touched(&self, call: &ToolCall) -> Vec<FileTouch> {
        tool::touched(call)
    }

    fn known_folders(&self, root: &Path) -> Vec<(RecordedPath, PathBuf)> {
        project::paths(root)
    }

    fn place_of(&self, root: &Path, shape: RootShape, file: &Path) -> Option<ProjectLocation> {
        locate::place_of(root, shape, file)
    }

    fn placement(&self, path: &Path) -> Placement {
        let placement =
            locate::parent_in_path(path).map_or(FilePlacement::Main, FilePlacement::SubagentOf);
        Placement { project_folder: locate::project_folder(path), placement }
    }

    fn may_hold(&self, group: &str, wanted: &str) -> bool {
        locate::may_hold(group, wanted)
    }

    fn traces(&self, folder: &ProjectFolder) -> Vec<Trace> {
        history::traces(folder)
    }

    fn recorded_prompts(&self, root: &Path) -> Vec<RecordedPrompt> {
        history::prompts(root)
    }

    fn artifacts(&self, folder: &ProjectFolder, id: &SessionId, files: &[PathBuf]) -> Artifacts {
        artifacts::artifacts(folder, id, files)
    }

    fn artifact_ids(&self, folder: &ProjectFolder) -> Option<Vec<String>> {
        Some(crate::names::names_in(&folder.path).collect())
    }

    fn native_format(&self) -> Option<&'static dyn NativeFormat> {
        Some(&native::Transcript)
    }

    fn editor(&self) -> Option<&'static dyn Editor> {
        Some(&edit::Edits)
    }

    fn retention_policy(&self) -> Option<&'static dyn RetentionPolicy> {
        Some(&retention::CleanUp)
    }

    fn lists_by_number(&self) -> bool {
        false
    }

    fn is_running(&self, args: &[String]) -> bool {
        is_running(args)
    }

    fn integration(&self) -> Option<&'static dyn crate::integration::Integration> {
        Some(&integration::Integrated)
    }

    fn hook(&self) -> Option<&'static dyn crate::hook::Hook> {
        Some(&hook::Hooks)
    }

    fn live(&self) -> Option<&'static dyn LiveSource> {
        Some(&live::ClaudeLive)
    }

    fn streams(&self) -> Option<&'static dyn StreamFormat> {
        Some(&stream::ClaudeStreams)
    }

    fn resume(&self, id: &SessionId) -> Option<(&'static str, Vec<String>)> {
        Some(("claude", vec!["--resume".to_owned(), id.to_string()]))
    }
}

/// Reads the outline of a file, with access to the reader before it is finished.
fn outline_and(path: &Path, buffer: &mut Buffer, look: impl FnOnce(&dyn Reader)) -> Outline {
    let file: Arc<str> = Arc::from(path.to_string_lossy());
    let choose = |_: &[u8]| -> Box<dyn Reader> { Box::new(Log::new(Arc::clone(&file))) };
    let read = bytes::open(path).and_then(|mut input| buffer.pump_and(&mut input, choose, look));
    let mut outline = read.map_or_else(|_| unreadable(&file), Reader::into_outline);
    meta::add(&mut outline, path);
    outline
}

/// Returns a reader for the bytes of a transcript.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn reader(file: &Arc<str>) -> Box<dyn Reader> {
    Box::new(Log::new(Arc::clone(file)))
}

/// Whether a command line is the agent's own: the program itself, or Node with its script.
fn is_running(args: &[String]) -> bool {
    let name = |arg: &String| arg.rsplit(['/', '\\']).next().unwrap_or(arg).to_owned();
    let Some(program) = args.first().map(name) else { return false };
    let is_own = |name: &str| matches!(name, "claude" | "claude.exe");
    let is_node = matches!(program.as_str(), "node" | "node.exe" | "bun");
    let is_script = |arg: &String| {
        is_own(&name(arg))
            || arg.contains("@anthropic-ai/claude-code/") && name(arg).starts_with("cli.")
    };
    is_own(&program) || is_node && args.get(1).is_some_and(is_script)
}

fn unreadable(file: &Arc<str>) -> Outline {
    let mut outline = Outline::empty(Grammar::Jsonl);
    let done = "left out; check its permissions".into();
    outline.problems.note(Problem {
        file: Arc::clone(file),
        span: None,
        what: What::Unreadable,
        done,
    });
    outline
}

/// Recognizes a file by its first bytes: rows of the tree, or rows beside it that name a session.
fn recognize(head: &[u8]) -> Recognition {
    let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
    let is_row = has(b"\"uuid\":") && has(b"\"parentUuid\":") && has(b"\"sessionId\":");
    let is_summary = head.starts_with(b"{\"type\":\"summary\"") && has(b"\"leafUuid\":");
    if is_row || is_summary { Recognition::Certain } else { Recognition::No }
}
