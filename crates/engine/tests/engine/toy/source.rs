//! A source that exists only here, as different from Gemini CLI as possible: rows form a tree, one file has several
//! sessions and may be compressed, a message is recorded in several rows, a session may begin with another one's rows
//! without a copy of them, and nothing is hashed.
//!
//! ```text
//! {"toy":1}
//! {"s":"s1","cwd":"/home/dev/code/shop"}                               a session, perhaps "from":{"file","s","end"}
//! {"s":"s1","m":"m1","who":"me","say":"…","at":1788336000000}          a row of a message
//! {"s":"s1","m":"m2","up":"m1","who":"it","say":"…","use":{"in","out"},"tool":{"name","arg","out"}}
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use recount_formats::Source;
use recount_formats::bytes::{Buffer, Input};
use recount_formats::outline::{
    Base, CallEnd, Head, MessageEntry, Outline, PieceRange, ToolUse, Version, VisibleMessage,
};
use recount_formats::source::{
    Basis, DataFolders, FileAt, FilePlacement, Linked, Located, MessageRequest, ProjectFolder,
    Recognition, RootShape, Stamp, stable_hash,
};
use recount_model::{
    Fate, Grammar, Message, MessageId, MessageKind, Problem, RawJson, RecordLocation, RecordedPath,
    SessionId, SourceName, Span, Tokens, ToolCall, ToolStatus, What, timestamp,
};
use serde_json::Value;

/// The toy agent.
#[derive(Debug)]
pub(crate) struct Toy;

impl Source for Toy {
    fn name(&self) -> SourceName {
        SourceName::new("toy")
    }

    fn display_name(&self) -> &'static str {
        "Toy"
    }

    fn folders(&self) -> DataFolders {
        DataFolders {
            below_home: &[".toy"],
            home_variable: None,
            folder_variable: Some("TOY_HOME"),
            extra_variable: None,
            landmark: "log",
        }
    }

    fn locate(&self, root: &Path, _shape: RootShape) -> Located {
        let log = root.join("log");
        let mut located = Located::default();
        located.basis.directories.push(log.clone());
        for path in entries(&log).into_iter().filter(|path| path.is_dir()) {
            let files: Vec<Arc<FileAt>> =
                entries(&path).iter().filter_map(|path| file_at(path)).map(Arc::new).collect();
            located.basis.extend(Basis { directories: vec![path.clone()], files: Vec::new() });
            located.folders.push(ProjectFolder {
                name: path.file_name().unwrap().to_string_lossy().into_owned(),
                bytes: files.iter().map(|file| file.bytes).sum(),
                path,
                is_project: false,
                hash: None,
                markers: Vec::new(),
                files,
                linked: Linked::Nothing,
                notes: Vec::new(),
            });
        }
        located
    }

    fn sniff(&self, _path: &Path, head: &[u8]) -> Recognition {
        if head.starts_with(b"{\"toy\":1}") { Recognition::Certain } else { Recognition::No }
    }

    fn outline(&self, path: &Path, _buffer: &mut Buffer) -> Outline {
        let mut bytes = Vec::new();
        let read = Input::open(path).and_then(|mut input| input.read_to_end(&mut bytes));
        let mut outlines = outlines(&bytes, path).into_iter();
        let mut first = outlines.next().unwrap_or_else(|| Outline::empty(Grammar::Jsonl));
        first.others = outlines.collect();
        if read.is_err() {
            first.problems.note(problem(path, None, What::Unreadable));
        }
        first
    }

    fn message(&self, request: &MessageRequest<'_>) -> Result<Message, Problem> {
        let spans = request.pieces.iter().map(|piece| piece.span).collect();
        let place = RecordLocation {
            file: Arc::clone(request.file),
            line: request.span.line,
            offset: request.span.offset,
            bytes: request.span.bytes,
            pieces: spans,
        };
        let mut message: Option<Message> = None;
        let rows = request.pieces.iter().map(|piece| piece.bytes);
        for bytes in std::iter::once(request.bytes).chain(rows) {
            let row: Value = serde_json::from_slice(bytes)
                .map_err(|_| request.problem(What::BrokenLine, "left out"))?;
            let message =
                message.get_or_insert_with(|| Message::at(place.clone(), kind(&row), request.fate));
            add(message, &row);
        }
        message.ok_or_else(|| request.problem(What::BrokenLine, "left out"))
    }

    fn version(&self) -> u32 {
        1
    }

    /// A copy has the time of copying, so the id alone decides.
    fn request_key(&self, _outline: &Outline, entry: &MessageEntry) -> Option<u64> {
        entry.id.as_deref().map(|id| stable_hash(&("toy", id)))
    }
}

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<_> = listed.map(|entry| entry.path()).collect();
    all.sort();
    all
}

fn file_at(path: &Path) -> Option<FileAt> {
    let metadata = path.metadata().ok().filter(fs::Metadata::is_file)?;
    let name = path.file_name()?.to_str()?;
    let stamp = Stamp::of(&metadata);
    Some(FileAt {
        path: path.to_owned(),
        bytes: metadata.len(),
        is_link: path.is_symlink(),
        modified: i64::try_from(stamp.nanos / 1_000_000).ok(),
        stamp,
        placement: FilePlacement::Main,
        group: name.split('.').next()?.to_owned(),
    })
}

fn problem(path: &Path, span: Option<Span>, what: What) -> Problem {
    Problem { file: Arc::from(path.to_string_lossy()), span, what, done: "left out".into() }
}

/// The rows of one session.
#[derive(Default)]
struct Rows {
    head: Head,
    recorded: Vec<(Value, Span)>,
    broken: Vec<Problem>,
}

fn outlines(bytes: &[u8], path: &Path) -> Vec<Outline> {
    let mut order: Vec<String> = Vec::new();
    let mut sessions: HashMap<String, Rows> = HashMap::new();
    let (mut offset, mut last) = (0, None::<String>);
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let line_number = u32::try_from(number + 1).unwrap();
        let span = Span { line: line_number, offset, bytes: text.len() as u64 };
        offset += line.len() as u64;
        let row: Option<Value> = serde_json::from_slice(text).ok();
        let id = row.as_ref().and_then(|row| row["s"].as_str().map(str::to_owned));
        // A broken row belongs to the session of the row before it.
        let Some(id) = id.or_else(|| row.is_none().then(|| last.clone()).flatten()) else {
            continue;
        };
        last = Some(id.clone());
        let session = sessions.entry(id.clone()).or_insert_with(|| {
            order.push(id.clone());
            Rows::default()
        });
        match row {
            None => session.broken.push(problem(path, Some(span), What::BrokenLine)),
            Some(row) if row["m"].is_string() => session.recorded.push((row, span)),
            Some(row) => session.head = head(&row, &id),
        }
    }
    let outline = |id: String| sessions.remove(&id).map(outline);
    order.into_iter().filter_map(outline).collect()
}

fn head(row: &Value, id: &str) -> Head {
    let from = &row["from"];
    Head {
        session_id: Some(SessionId::new(id)),
        parent: row["parent"].as_str().map(SessionId::new),
        subagent: row["parent"].is_string(),
        cwd: row["cwd"].as_str().map(RecordedPath::new),
        base: from["end"].as_u64().map(|end| {
            Box::new(Base {
                session: SessionId::new(from["s"].as_str().unwrap()),
                group: from["file"].as_str().unwrap().into(),
                file: None,
                end,
                end_record: None,
            })
        }),
        ..Head::default()
    }
}

fn outline(Rows { head, recorded, broken }: Rows) -> Outline {
    let mut outline = Outline { head, loadable: true, ..Outline::empty(Grammar::Jsonl) };
    for problem in broken {
        outline.problems.note(problem);
    }
    let mut messages: BTreeMap<usize, Vec<(Value, u32)>> = BTreeMap::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut up: HashMap<usize, String> = HashMap::new();
    for (row, span) in recorded {
        let version = u32::try_from(outline.versions.len()).unwrap();
        outline.versions.push(Version { span, before: None, rank: 1 });
        let id = row["m"].as_str().unwrap().to_owned();
        let next = numbers.len();
        let number = *numbers.entry(id).or_insert(next);
        if let Some(parent) = row["up"].as_str() {
            up.insert(number, parent.to_owned());
        }
        messages.entry(number).or_default().push((row, version));
    }
    // The newest row is the leaf; rows that are not between it and the root were undone.
    let mut path = Vec::new();
    let leaf = messages.iter().max_by_key(|(_, rows)| rows.last().map(|(_, version)| *version));
    let mut next = leaf.map(|(number, _)| *number);
    while let Some(number) = next.filter(|number| !path.contains(number)) {
        path.push(number);
        next = up.get(&number).and_then(|parent| numbers.get(parent)).copied();
    }
    path.reverse();
    let kept: HashSet<usize> = path.iter().copied().collect();
    for (number, rows) in &messages {
        let fate = if kept.contains(number) { Fate::Kept } else { Fate::Rewound };
        let entry = entry(&mut outline, rows, fate);
        if entry.kind == MessageKind::Prompt && outline.first_prompt.is_none() {
            outline.first_prompt = rows[0].0["say"].as_str().map(str::to_owned);
        }
        outline.entries.push(entry);
    }
    let shown = |number: &usize| {
        let entry = u32::try_from(*number).unwrap();
        VisibleMessage { entry, version: outline.entries[*number].best }
    };
    outline.strict = path.iter().map(shown).collect();
    outline.has_conversation = !outline.entries.is_empty();
    outline.resumable = outline.has_conversation;
    outline
}

fn entry(outline: &mut Outline, rows: &[(Value, u32)], fate: Fate) -> MessageEntry {
    let start = u32::try_from(outline.pieces.len()).unwrap();
    outline.pieces.extend(rows.iter().skip(1).map(|(_, version)| *version));
    let pieces = PieceRange { start, count: u32::try_from(rows.len() - 1).unwrap() };
    let first = &rows[0].0;
    let calls = u32::try_from(rows.iter().filter(|(row, _)| row["tool"].is_object()).count());
    let tools: Vec<ToolUse> = { rows.iter() }
        .filter_map(|(row, _)| row["tool"]["name"].as_str())
        .map(|name| {
            outline.tools.push(name.into());
            let tool = u16::try_from(outline.tools.len() - 1).unwrap();
            ToolUse { tool, end: CallEnd::Fine }
        })
        .collect();
    if outline.models.is_empty() {
        outline.models.push("toy-1".into());
    }
    MessageEntry {
        id: first["m"].as_str().map(Into::into),
        kind: kind(first),
        fate,
        time: first["at"].as_i64(),
        best: rows[0].1,
        last: rows.last().unwrap().1,
        pieces,
        tokens: tokens(rows.iter().map(|(row, _)| row)),
        model: (kind(first) == MessageKind::Answer).then_some(0),
        calls: [calls.unwrap(), 0, 0],
        rounds: 0,
        tools: tools.into(),
    }
}

fn tokens<'a>(mut rows: impl Iterator<Item = &'a Value>) -> Option<Tokens> {
    let used = rows.find(|row| row["use"].is_object())?;
    let (input, output) = (used["use"]["in"].as_u64()?, used["use"]["out"].as_u64()?);
    Some(Tokens { input, output, total: input + output, ..Tokens::default() })
}

fn kind(row: &Value) -> MessageKind {
    if row["who"] == "me" { MessageKind::Prompt } else { MessageKind::Answer }
}

fn add(message: &mut Message, row: &Value) {
    message.id = row["m"].as_str().map(MessageId::new);
    message.time = message.time.or_else(|| row["at"].as_i64().and_then(timestamp));
    message.tokens = message.tokens.or_else(|| tokens(std::iter::once(row)));
    if message.kind == MessageKind::Answer {
        message.model = Some("toy-1".to_owned());
    }
    if let Some(text) = row["say"].as_str() {
        let gap = if message.text.is_empty() { "" } else { "\n\n" };
        message.text = format!("{}{gap}{text}", message.text);
        message.display_text = message.text.clone();
    }
    let tool = &row["tool"];
    if let Some(name) = tool["name"].as_str() {
        message.tool_calls.push(ToolCall {
            args: RawJson::new(tool["arg"].to_string()),
            output: tool["out"].as_str().map(str::to_owned),
            status: ToolStatus::Success,
            ..ToolCall::named(name)
        });
    }
}
