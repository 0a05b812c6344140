//! The outline of a transcript out of its rows: one session, and the sub-agents that ran inside it.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use recount_model::{Entrypoint, Problem, RecordedPath, SessionId, What};

use super::log::{is_agent_file, one_line};
use super::messages::{Builder, Tables};
use super::state::{ClaudeState, Facts, Session, TreeRow};
use super::tree::{Chain, Forest, parents, sidechains};
use crate::json::Scanner;
use crate::outline::{AgentCall, Head, Outline, Problems};

/// What an agent is asked at the start of a release that warms up its cache.
pub(super) const WARM_UP: &str = "Warmup";

/// Makes the outline of a file.
pub(crate) fn outline(facts: &Facts, file: &Arc<str>, problems: Problems) -> Outline {
    let is_agent = is_agent_file(file);
    let links = parents(facts);
    let groups = sidechains(facts, &links, is_agent);
    let mut forest = Forest::new(links, &groups);
    let mut tables = Tables::new(facts);
    let mut problems = problems;
    let main = Chain::of(facts, &mut forest, &groups.main, facts.leaf);
    note_repairs(&mut problems, &main, facts, file);
    let mut outline = Builder::new(facts, &forest, &mut tables).outline(&groups.main, &main);
    head(&mut outline, facts, file, is_agent);
    (outline.first_prompt, outline.last_prompt) = titles(&facts.session);
    outline.head.is_background = is_agent && facts.session.first.as_deref() == Some(WARM_UP);
    if let Some(last) = facts.session.last_id.as_deref().filter(|_| outline.head.is_background) {
        // It is begun before the agent has resumed a session, under an id that is not used.
        outline.head.parent = Some(SessionId::new(last));
    }
    let state = ClaudeState {
        leaf: main.leaf().and_then(|row| facts.ids.get(row as usize)).copied(),
        summaries: facts.session.summaries.clone(),
        version: facts.session.version.clone(),
        caller: None,
        unanswered: super::unanswered::keys(facts, &outline),
    };
    outline.state = state.encode();
    outline.agent_calls = agent_calls(facts, &groups.others);
    outline.problems = problems;
    let parent = outline.head.session_id.clone();
    for rows in &groups.others {
        let chain = Chain::of(facts, &mut forest, rows, None);
        let other = Builder::new(facts, &forest, &mut tables).outline(rows, &chain);
        outline.others.push(sidechain(facts, other, rows, parent.clone(), &outline.head));
    }
    outline
}

fn note_repairs(problems: &mut Problems, chain: &Chain, facts: &Facts, file: &Arc<str>) {
    for row in &chain.repaired {
        let span = facts.rows.get(*row as usize).map(|row| row.span);
        problems.note(Problem {
            file: Arc::clone(file),
            span,
            what: What::BrokenChain,
            done: "continued from the row before it".into(),
        });
    }
}

/// A sub-agent that ran inside the file of its parent.
fn sidechain(
    facts: &Facts,
    mut outline: Outline,
    rows: &[u32],
    parent: Option<SessionId>,
    of_parent: &Head,
) -> Outline {
    let first = rows.first().copied().unwrap_or_default();
    let asked = |row: &&u32| facts.asked.get(row).map(|(text, _)| text.clone());
    outline.first_prompt = rows.iter().find_map(|row| asked(&row));
    outline.last_prompt = rows.iter().rev().find_map(|row| asked(&row));
    outline.head = Head {
        session_id: Some(SessionId::new(&*row_id(facts, first))),
        subagent: true,
        parent,
        cwd: of_parent.cwd.clone(),
        branch: of_parent.branch.clone(),
        entrypoint: of_parent.entrypoint,
        ..times(rows.iter().filter_map(|row| facts.rows.get(*row as usize)))
    };
    outline
}

pub(super) fn row_id(facts: &Facts, row: u32) -> Box<str> {
    let Some(id) = facts.ids.get(row as usize) else { return Box::default() };
    facts.odd_ids.get(id).cloned().unwrap_or_else(|| id.text())
}

fn times<'a>(rows: impl Iterator<Item = &'a TreeRow> + Clone) -> Head {
    let times = rows.filter_map(|row| row.time);
    Head { start: times.clone().min(), updated: times.max(), ..Head::default() }
}

/// The session's own words: the title that the agent itself would take, and the last prompt.
fn titles(session: &Session) -> (Option<String>, Option<String>) {
    let first = session.first.clone().or_else(|| session.command.clone());
    (first, session.last.as_deref().map(one_line))
}

fn head(outline: &mut Outline, facts: &Facts, file: &str, is_agent: bool) {
    let session = &facts.session;
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    let id = if is_agent { stem.strip_prefix("agent-").unwrap_or(stem) } else { stem };
    let own = session.id.as_deref().filter(|id| is_agent && !id.is_empty());
    outline.head = Head {
        session_id: Some(SessionId::new(id)).filter(|_| !id.is_empty()),
        subagent: is_agent,
        parent: own.map(SessionId::new),
        name: session.agent_name.clone().or_else(|| session.custom_title.clone()),
        summary: session.ai_title.clone(),
        cwd: session.relocated.as_deref().or(session.cwd.as_deref()).map(RecordedPath::new),
        branch: session.branch.clone(),
        entrypoint: entrypoint(session),
        ..times(facts.rows.iter())
    };
}

/// Returns how a session was started. Before releases recorded it, only a terminal made copies of files, and a prompt on the command
/// line went through the queue.
fn entrypoint(session: &Session) -> Option<Entrypoint> {
    match session.entrypoint.as_deref() {
        Some("cli") => Some(Entrypoint::Terminal),
        Some("sdk-cli") => Some(Entrypoint::Headless),
        Some(word) if word.starts_with("sdk-") => Some(Entrypoint::Sdk),
        Some(word) if word.contains("vscode") || word.contains("jetbrains") || word == "ide" => {
            Some(Entrypoint::Ide)
        }
        None if session.has_file_history => Some(Entrypoint::Terminal),
        None if session.begins_queued => Some(Entrypoint::Headless),
        Some(_) | None => None,
    }
}

/// Links calls to the agents that they ran. In old files only the prompt of both links them.
fn agent_calls(facts: &Facts, sidechains: &[Vec<u32>]) -> Vec<AgentCall> {
    let mut asked: HashMap<u64, Vec<u32>, RandomState> = HashMap::default();
    for root in sidechains.iter().filter_map(|rows| rows.first()).rev() {
        if let Some((_, hash)) = facts.asked.get(root) {
            asked.entry(*hash).or_default().push(*root);
        }
    }
    let call = |link: &super::state::AgentLink| {
        let inside = || {
            let root = asked.get_mut(&link.prompt?)?.pop()?;
            Some(row_id(facts, root))
        };
        let agent = link.agent.clone().or_else(inside);
        AgentCall { call: link.call.clone(), agent, ended: link.ended }
    };
    facts.agents.iter().map(call).collect()
}

/// Returns an object with the value of a key replaced, or appended if there is none; every other byte stays.
pub(crate) fn named(line: &[u8], wanted: &str, value: &[u8]) -> Vec<u8> {
    let mut place = None;
    let read = Scanner::new(line).object(|scanner, key| {
        scanner.peek()?;
        let start = scanner.offset();
        scanner.skip()?;
        if key.is(wanted) {
            place = Some((start, scanner.offset()));
        }
        Ok(())
    });
    let part = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
    match (read, place) {
        (Ok(()), Some((start, end))) => [part(0, start), value, part(end, line.len())].concat(),
        (Ok(()), None) if line.len() > 2 => {
            let start = line.strip_suffix(b"}").unwrap_or(line);
            [start, b",\"", wanted.as_bytes(), b"\":", value, b"}"].concat()
        }
        _ => line.to_vec(),
    }
}
