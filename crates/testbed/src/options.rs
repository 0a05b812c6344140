//! The options of a synthetic home.

use std::{fmt, str::FromStr};

/// How a release wrote its sessions. The set is closed: these are the formats that have existed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// 0.4 to 0.27: one pretty-printed JSON document, content as strings, in a folder named by the
    /// hash of the project's path.
    Strings,
    /// 0.29 to 0.38: one pretty-printed JSON document, content as lists of parts, in a folder with a
    /// readable name, a marker and a registry entry.
    Parts,
    /// 0.39 to 0.43: one record a line; every change appends the whole message again.
    Lines,
    /// 0.44 and later: lines, and checkpoints that replace the whole list of messages; tool results
    /// also as messages of their own.
    Checkpoints,
    /// Claude Code 1.0: rows that name the row they continue, sub-agents among them; a resume copies everything into a new file.
    ClaudeInline,
    /// Claude Code 2.0: sub-agents in files beside the session's; compaction.
    ClaudeFlat,
    /// Claude Code 2.1: sub-agents in a folder named after the session.
    ClaudeFolder,
    /// Codex in TypeScript: one JSON document, without tokens and folder.
    CodexDocument,
    /// Codex to 0.31: items without times and tokens, one a line.
    CodexBare,
    /// Codex since 0.32: items and events with types and times; forks copy the file they continue.
    CodexTagged,
    /// Codex since 0.145: numbered lines; forks and reverts point into another file.
    CodexPaginated,
}

/// An agent whose sessions can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TestbedAgent {
    /// Gemini CLI.
    Gemini,
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
}

impl TestbedAgent {
    /// Returns the name of the source, as in `--source`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

impl Era {
    /// Every era, oldest first for each agent.
    pub const ALL: [Self; 11] = [
        Self::Strings,
        Self::Parts,
        Self::Lines,
        Self::Checkpoints,
        Self::ClaudeInline,
        Self::ClaudeFlat,
        Self::ClaudeFolder,
        Self::CodexDocument,
        Self::CodexBare,
        Self::CodexTagged,
        Self::CodexPaginated,
    ];

    /// Returns the agent whose releases wrote this format.
    pub fn agent(self) -> TestbedAgent {
        match self {
            Self::Strings | Self::Parts | Self::Lines | Self::Checkpoints => TestbedAgent::Gemini,
            Self::ClaudeInline | Self::ClaudeFlat | Self::ClaudeFolder => TestbedAgent::Claude,
            Self::CodexDocument | Self::CodexBare | Self::CodexTagged | Self::CodexPaginated => {
                TestbedAgent::Codex
            }
        }
    }

    /// Returns the eras of an agent, oldest first.
    pub fn of(agent: TestbedAgent) -> Vec<Self> {
        Self::ALL.into_iter().filter(|era| era.agent() == agent).collect()
    }

    /// Returns the name of the era in flags and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strings => "strings",
            Self::Parts => "parts",
            Self::Lines => "lines",
            Self::Checkpoints => "checkpoints",
            Self::ClaudeInline => "claude-inline",
            Self::ClaudeFlat => "claude-flat",
            Self::ClaudeFolder => "claude-folder",
            Self::CodexDocument => "codex-json",
            Self::CodexBare => "codex-bare",
            Self::CodexTagged => "codex-tagged",
            Self::CodexPaginated => "codex-paginated",
        }
    }

    /// Whether its session files are single JSON documents.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Self::Strings | Self::Parts)
    }
}

impl fmt::Display for Era {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Era {
    type Err = UnknownEra;

    fn from_str(name: &str) -> Result<Self, UnknownEra> {
        Self::ALL
            .into_iter()
            .find(|era| era.name() == name)
            .ok_or_else(|| UnknownEra { name: name.to_owned() })
    }
}

/// A name that is not an era.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown era '{name}'; known are {}", Era::ALL.map(Era::name).join(", "))]
pub struct UnknownEra {
    name: String,
}

/// The size and kind of a synthetic home.
#[derive(Debug, Clone, PartialEq)]
pub struct TestbedOptions {
    /// The same seed and options give the same bytes.
    pub seed: u64,
    /// The number of projects; at least one is created.
    pub projects: usize,
    /// The number of sessions, not counting those of sub-agents.
    pub sessions: usize,
    /// The approximate size of all session files, in 10⁶ bytes; 0 gives sessions of a few prompts each.
    pub megabytes: f64,
    /// The eras of the sessions; empty means all of them.
    pub eras: Vec<Era>,
}

impl Default for TestbedOptions {
    fn default() -> Self {
        Self { seed: 1, projects: 12, sessions: 200, megabytes: 40.0, eras: Vec::new() }
    }
}

impl TestbedOptions {
    pub(crate) fn eras(&self) -> &[Era] {
        if self.eras.is_empty() { &Era::ALL } else { &self.eras }
    }
}
