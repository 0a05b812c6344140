//! Builds one row of a list from the files of a session.

use std::collections::HashSet;
use std::sync::Arc;

use recount_formats::source::{SessionFile, SessionFiles};
use recount_formats::{Source, outline::MessageEntry};
use recount_model::{
    Fate, FileFacts, FileRole, MessageCounts, MessageKind, SessionFacts, StrictCounts, TitleFrom,
    Tokens, ToolCounts, timestamp,
};

use crate::sessions::union::rows;

/// Counts a session. The project is set later.
pub(crate) fn facts(source: &dyn Source, session_files: &SessionFiles) -> SessionFacts {
    let mut facts = blank(source, session_files);
    let (mut models, mut last_model) = (HashSet::new(), None);
    for row in rows(session_files) {
        let Some(outline) = session_files
            .files
            .get(row.session_file)
            .map(|session_file| &session_file.file.outline)
        else {
            continue;
        };
        let Some(entry) = outline.entries.get(row.entry) else { continue };
        let is_own =
            session_files.files.get(row.session_file).is_some_and(|m| m.role != FileRole::Base);
        count(&mut facts, entry, row.fate);
        if !is_own {
            continue;
        }
        used(&mut facts, entry, row.fate);
        // Mostly the same model as before answers.
        let model = entry.model.map(|model| (row.session_file, model));
        if model.is_none() || std::mem::replace(&mut last_model, model) == model {
            continue;
        }
        if let Some(model) = entry.model.and_then(|model| outline.models.get(usize::from(model)))
            && models.insert(model)
        {
            // Most sessions have one, and there may be many sessions.
            facts.models.reserve_exact(1);
            facts.models.push(model.to_string());
        }
    }
    times(&mut facts, session_files);
    title(&mut facts, session_files);
    prompts(&mut facts, session_files);
    facts
}

fn blank(source: &dyn Source, session_files: &SessionFiles) -> SessionFacts {
    let main = main(session_files);
    let mut problem_list = Vec::new();
    let (mut problems, mut not_understood) = (0, 0);
    for session_file in own(session_files) {
        let noted = &session_file.file.outline.problems;
        problems += noted.total;
        not_understood += noted.not_understood;
        problem_list.extend(noted.kept.iter().cloned());
    }
    // As many as there are: room for more would be kept for every session.
    let count = session_files.files.len();
    let (mut files, mut states) = (Vec::with_capacity(count), Vec::with_capacity(count));
    files.extend(own(session_files).chain(bases(session_files)).map(file));
    states.extend(own(session_files).map(|own| source.light_state(&own.file.outline)));
    SessionFacts {
        source: source.name(),
        id: session_files.id.clone(),
        kind: session_files.kind,
        parent: session_files.parent.clone(),
        parent_call: None,
        agent: main.and_then(|main| main.file.outline.head.agent.as_deref().cloned()),
        title: None,
        title_from: TitleFrom::None,
        first_prompt: None,
        last_prompt: None,
        branch: main.and_then(|main| main.file.outline.head.branch.as_deref().map(str::to_owned)),
        entrypoint: main.and_then(|main| main.file.outline.head.entrypoint),
        labels: None,
        project: Arc::default(),
        cwd: main.and_then(|main| main.file.outline.head.cwd.clone()),
        started: None,
        updated: None,
        counts: MessageCounts::default(),
        tool_calls: ToolCounts::default(),
        models: Vec::new(),
        tokens: Tokens::default(),
        cost_usd: None,
        cost_is_lower_bound: None,
        priced_by: 0,
        kept: StrictCounts::default(),
        directories: main
            .map(|main| main.file.outline.head.directories.clone())
            .unwrap_or_default(),
        memory: main.and_then(|main| main.file.outline.head.memory.clone()),
        files,
        agent_index: None,
        agent_title: None,
        live: None,
        pending_deletion: None,
        problems,
        not_understood,
        problem_list,
        is_background: main.is_some_and(|main| main.file.outline.head.is_background),
        states,
    }
}

/// Returns the session's own files.
pub(crate) fn own(session_files: &SessionFiles) -> impl Iterator<Item = &SessionFile> {
    session_files.files.iter().filter(|session_file| session_file.role != FileRole::Base)
}

/// Returns the files of other sessions whose start it begins with.
fn bases(session_files: &SessionFiles) -> impl Iterator<Item = &SessionFile> {
    session_files.files.iter().filter(|session_file| session_file.role == FileRole::Base)
}

fn file(session_file: &SessionFile) -> FileFacts {
    FileFacts {
        path: session_file.file.at.path.to_string_lossy().into_owned(),
        role: session_file.role,
        bytes: session_file.file.at.bytes,
        grammar: session_file.file.outline.grammar,
    }
}

fn count(facts: &mut SessionFacts, entry: &MessageEntry, fate: Fate) {
    let (is_prompt, is_answer) = match entry.kind {
        MessageKind::Prompt => (1, 0),
        MessageKind::Answer => (0, 1),
        _ => (0, 0),
    };
    facts.counts.messages += 1;
    facts.counts.prompts += is_prompt;
    facts.counts.answers += is_answer;
    if fate == Fate::Kept {
        facts.kept.messages += 1;
        facts.kept.prompts += is_prompt;
        facts.kept.answers += is_answer;
    } else {
        facts.counts.undone += 1;
    }
}

/// Adds what a message used. What a session shares with its base was used there.
fn used(facts: &mut SessionFacts, entry: &MessageEntry, fate: Fate) {
    let [calls, failed, cancelled] = entry.calls.map(u64::from);
    let tokens = entry.tokens.unwrap_or_default();
    facts.tool_calls.total += calls;
    facts.tool_calls.failed += failed;
    facts.tool_calls.cancelled += cancelled;
    facts.tokens += tokens;
    if fate == Fate::Kept {
        facts.kept.tool_calls += calls;
        facts.kept.tokens += tokens;
    }
}

fn times(facts: &mut SessionFacts, session_files: &SessionFiles) {
    let (mut first, mut last) = (None::<i64>, None::<i64>);
    // A stub's times are those of a resume without messages.
    let told =
        |session_file: &&SessionFile| !matches!(session_file.role, FileRole::Stub | FileRole::Base);
    for session_file in session_files.files.iter().filter(told) {
        let outline = &session_file.file.outline;
        let said = outline.entries.iter().filter_map(|entry| entry.time);
        // A session begins with its own messages, not with those that it copied.
        let own = outline.entries.iter().filter(|entry| !outline.is_copy(entry));
        for time in own.filter_map(|entry| entry.time).chain(outline.head.start) {
            first = Some(first.map_or(time, |first| first.min(time)));
        }
        for time in said.chain(outline.head.updated) {
            last = Some(last.map_or(time, |last| last.max(time)));
        }
    }
    // Like the agent's own list, if the file records no time.
    let modified = || {
        session_files.files.iter().filter_map(|session_file| session_file.file.at.modified).max()
    };
    (first, last) = (first.or_else(modified), last.or_else(modified));
    facts.started = first.and_then(timestamp);
    facts.updated = last.and_then(timestamp);
}

fn title(facts: &mut SessionFacts, session_files: &SessionFiles) {
    let summaries = main(session_files).into_iter().chain(&session_files.files);
    let mut summaries =
        summaries.map(|session_file| session_file.file.outline.head.summary.as_deref());
    let summary = summaries.find_map(|summary| summary);
    // A sub-agent's summary is its whole answer, often as JSON; its prompt is more informative.
    let summary = summary.filter(|_| !session_files.kind.is_subagent());
    let prompt = session_files.files.iter().find_map(|m| m.file.outline.first_prompt.as_deref());
    let name = main(session_files).and_then(|main| main.file.outline.head.name.as_deref());
    (facts.title, facts.title_from) = match (name, summary, prompt) {
        (Some(name), _, _) => (Some(one_line(name)), TitleFrom::Name),
        (None, Some(summary), _) => (Some(one_line(summary)), TitleFrom::Summary),
        (None, None, Some(prompt)) => (Some(prompt.to_owned()), TitleFrom::Prompt),
        (None, None, None) => (None, TitleFrom::None),
    };
}

/// The maximum number of characters of a prompt.
const PROMPT: usize = 200;

fn prompts(facts: &mut SessionFacts, session_files: &SessionFiles) {
    let told = |text: &String| {
        let line = one_line(text);
        let end = line.char_indices().nth(PROMPT).map_or(line.len(), |(at, _)| at);
        line.get(..end).unwrap_or(&line).to_owned()
    };
    let mut files = session_files.files.iter().map(|session_file| &session_file.file.outline);
    let last = files.clone().rev().find_map(|outline| outline.last_prompt.as_ref());
    facts.first_prompt = files.find_map(|outline| outline.first_prompt.as_ref()).map(told);
    facts.last_prompt = last.map(told).or_else(|| facts.first_prompt.clone());
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the file that the agent itself would load.
pub(crate) fn main(session_files: &SessionFiles) -> Option<&SessionFile> {
    session_files.files.iter().find(|session_file| session_file.role == FileRole::Main)
}
