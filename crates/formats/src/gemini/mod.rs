//! Google's Gemini CLI. FORMAT.md beside this file is the specification; this module connects the parts.

mod artifacts;
mod billing;
mod body;
mod calls;
mod content;
mod document;
mod edit;
mod facts;
mod files;
mod full_output;
mod grammar;
mod grouping;
mod handover;
mod hook;
mod integration;
mod js_date;
mod kind;
mod lines;
mod list_title;
mod listing;
mod live;
mod locate;
mod logs;
mod metadata;
mod native;
mod orphan_scan;
mod orphans;
mod owner;
mod part;
mod place;
mod project;
mod record;
mod recovery;
mod relocate;
mod replay;
mod result_display;
mod retention;
mod rewrite;
mod saved;
mod state;
mod stream;
mod tool;
mod touched;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use recount_model::{
    Grammar, Message, Problem, ProjectHash, RecordedPath, SessionId, SourceName, SourceState,
    ToolCall, What,
};

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use edit::amended;
pub(crate) use grammar::{outline, reader};
pub(crate) use native::{Object, on_one_line};

use crate::bytes::{self, Buffer, LineCounter};
use crate::edit::Editor;
use crate::hook::Hook;
use crate::live::LiveSource;
use crate::native::NativeFormat;
use crate::orphan::Orphan;
use crate::outline::{MessageEntry, Outline};
use crate::recovery::RecoverySource;
use crate::retention::RetentionPolicy;
use crate::rewrite::Rewriter;
use crate::source::{
    AgentRow, Artifacts, DataFolders, Detail, EarlierListing, FileTouch, Foreign, Linked,
    ListedFile, Located, MessageRequest, Placement, ProjectFolder, ProjectLocation, ReadResult,
    Recognition, RootShape, ScannedFile, SessionFiles, Source, Trace, Unrecorded,
};
use crate::stream::StreamFormat;

/// The name in flags, JSON and the catalog.
const NAME: SourceName = SourceName::new("gemini");

/// Raised with every change to what is read from a file, or to the format of saved reader states.
const VERSION: u32 = 7;

/// Gemini CLI, every release up to 0.61.
#[derive(Debug)]
pub struct Gemini;

/// Whether a project directory is in the data folder. Others are not read.
fn is_ours(folder: &ProjectFolder) -> bool {
    folder.linked != Linked::Directory
}

impl Source for Gemini {
    fn name(&self) -> SourceName {
        NAME
    }

    fn display_name(&self) -> &'static str {
        "Gemini CLI"
    }

    fn folders(&self) -> DataFolders {
        DataFolders {
            below_home: &[".gemini", ".cache/.gemini"],
            home_variable: Some("GEMINI_CLI_HOME"),
            folder_variable: None,
            extra_variable: Some("GEMINI_SESSIONS_DIR"),
            landmark: "tmp",
        }
    }

    fn relocate(&self, root: &Path, shape: RootShape, known: &EarlierListing<'_>) -> Located {
        locate::relocate(root, shape, known)
    }

    fn locate(&self, root: &Path, shape: RootShape) -> Located {
        locate::locate(root, shape)
    }

    fn outline(&self, path: &Path, buffer: &mut Buffer) -> Outline {
        let file = Arc::from(path.to_string_lossy());
        let read =
            bytes::open_bounded(path).and_then(|mut input| outline(&mut input, &file, buffer));
        let read = read.map(|mut outline| {
            count_lines(&mut outline, path);
            outline
        });
        read.unwrap_or_else(|_| {
            let mut outline = Outline::empty(Grammar::Json);
            let done = "left out; check its permissions";
            outline.problems.note(Problem {
                file,
                span: None,
                what: What::Unreadable,
                done: done.into(),
            });
            outline
        })
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
        grammar::outline_from(&mut input, &file, buffer, state, further)
    }

    fn outline_to_keep(&self, path: &Path, buffer: &mut Buffer) -> ReadResult {
        let file = Arc::from(path.to_string_lossy());
        let mut saved = None;
        let keep = |reader: &dyn crate::source::Reader| saved = reader.save();
        let read = bytes::open_bounded(path)
            .and_then(|mut input| grammar::outline_and(&mut input, &file, buffer, keep));
        match read {
            Ok(mut outline) => {
                count_lines(&mut outline, path);
                ReadResult { outline, saved }
            }
            Err(_) => ReadResult { outline: self.outline(path, buffer), saved: None },
        }
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn unrecorded(&self, outline: &Outline, entry: &MessageEntry) -> Unrecorded {
        billing::of_message(outline, entry)
    }

    fn side_calls(&self, session_files: &SessionFiles) -> u32 {
        billing::side_calls(session_files)
    }

    fn group_sessions(&self, files: Vec<ScannedFile>) -> Vec<SessionFiles> {
        grouping::group_sessions(files)
    }

    fn agent_list(&self, files: &[&ListedFile], release: Option<&str>) -> Vec<AgentRow> {
        listing::list(files, release)
    }

    fn light_state(&self, outline: &Outline) -> SourceState {
        listing::light_state(outline)
    }

    fn message(&self, request: &MessageRequest<'_>) -> Result<Message, Problem> {
        let &MessageRequest { bytes, file, span, fate, detail, .. } = request;
        let read = body::message(bytes, file, span, fate, detail);
        let mut message = read.map_err(|_| {
            request.problem(What::BrokenLine, "left out: the file changed while it was read")
        })?;
        if detail == Detail::Whole {
            full_output::recover(&mut message, request.others, request.folder);
        }
        Ok(message)
    }

    fn touched(&self, call: &ToolCall) -> Vec<FileTouch> {
        touched::touched(call)
    }

    fn foreign(&self, bytes: &[u8], file: &Arc<str>) -> Option<Foreign> {
        saved::read(bytes, file)
    }

    fn native_format(&self) -> Option<&'static dyn NativeFormat> {
        Some(&native::Log)
    }

    fn editor(&self) -> Option<&'static dyn Editor> {
        Some(&edit::Edits)
    }

    fn rewriter(&self) -> Option<&'static dyn Rewriter> {
        Some(&rewrite::Files)
    }

    fn retention_policy(&self) -> Option<&'static dyn RetentionPolicy> {
        Some(&retention::CleanUp)
    }

    fn project_hash(&self, path: &str) -> Option<ProjectHash> {
        Some(project::hash(path))
    }

    fn is_directory_of(&self, name: &str, path: &RecordedPath) -> bool {
        let slug = project::slug(path);
        let rest = name.strip_prefix(slug.as_str());
        let is_count = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(is_count))
    }

    fn texts(&self, folder: &ProjectFolder) -> Vec<PathBuf> {
        if is_ours(folder) { locate::texts(&folder.path) } else { Vec::new() }
    }

    fn outputs(&self, folder: &ProjectFolder) -> Vec<PathBuf> {
        if is_ours(folder) { locate::outputs(&folder.path) } else { Vec::new() }
    }

    fn may_be_cut(&self, record: &[u8]) -> bool {
        full_output::may_be_cut(record)
    }

    fn traces(&self, folder: &ProjectFolder) -> Vec<Trace> {
        if is_ours(folder) { logs::traces(&folder.path) } else { Vec::new() }
    }

    fn integration(&self) -> Option<&'static dyn crate::integration::Integration> {
        Some(&integration::Integrated)
    }

    fn hook(&self) -> Option<&'static dyn Hook> {
        Some(&hook::Hooks)
    }

    fn sniff(&self, _path: &Path, head: &[u8]) -> Recognition {
        grammar::recognize(head)
    }

    fn placement(&self, path: &Path) -> Placement {
        place::placement(path)
    }

    fn may_hold(&self, group: &str, wanted: &str) -> bool {
        place::may_hold(group, wanted)
    }

    fn place_of(&self, root: &Path, shape: RootShape, file: &Path) -> Option<ProjectLocation> {
        place::place_of(root, shape, file)
    }

    fn artifacts(&self, folder: &ProjectFolder, id: &SessionId, files: &[PathBuf]) -> Artifacts {
        if is_ours(folder) { artifacts::artifacts(folder, id, files) } else { Artifacts::default() }
    }

    fn artifact_ids(&self, folder: &ProjectFolder) -> Option<Vec<String>> {
        Some(artifacts::ids(&folder.path))
    }

    fn recovery_sources(
        &self,
        folder: Option<&ProjectFolder>,
        project: Option<&Path>,
        id: &SessionId,
        extra: &[PathBuf],
    ) -> Vec<RecoverySource> {
        recovery::recovery_sources(folder.filter(|folder| is_ours(folder)), project, id, extra)
    }

    fn orphans(
        &self,
        root: &Path,
        shape: RootShape,
        located: &Located,
        is_known: &dyn Fn(&str) -> bool,
        now: SystemTime,
    ) -> Vec<Orphan> {
        orphan_scan::all_orphans(root, shape, located, is_known, now)
    }

    fn is_running(&self, args: &[String]) -> bool {
        owner::is_running(args)
    }

    fn resume(&self, id: &SessionId) -> Option<(&'static str, Vec<String>)> {
        // As one word: an id chosen by the user may begin with a dash.
        Some(("gemini", vec![format!("--resume={id}")]))
    }

    fn live(&self) -> Option<&'static dyn LiveSource> {
        Some(&live::GeminiLive)
    }

    fn streams(&self) -> Option<&'static dyn StreamFormat> {
        Some(&stream::GeminiStreams)
    }
}

/// Problems in a document are rare; its lines are counted only for them.
fn count_lines(outline: &mut Outline, path: &Path) {
    let uncounted = outline.problems.kept.iter_mut().filter_map(|problem| problem.span.as_mut());
    let mut uncounted = uncounted.filter(|span| span.line == 0).peekable();
    if uncounted.peek().is_none() {
        return;
    }
    if let Ok(mut counter) = LineCounter::open(path) {
        for span in uncounted {
            span.line = counter.line(span.offset).unwrap_or(0);
        }
    }
}
