//! The options of an export.

use std::collections::BTreeMap;

use crate::text::Bidi;
use crate::{Level, Renderer, html, json, markdown, plain, tables};

/// The formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Markdown, for people.
    Markdown,
    /// A self-contained page for browsers.
    Html,
    /// One JSON document, as `show --json` prints it.
    Json,
    /// The session on the first line, then one message per line.
    Jsonl,
    /// Plain text, never wrapped.
    Text,
    /// A table of sessions, requests or tool calls.
    Csv,
    /// Tables for other programs, in a folder.
    Parquet,
}

impl Format {
    /// Returns the file extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Text => "txt",
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }

    /// Whether a session may be written in parts.
    pub const fn has_parts(self) -> bool {
        matches!(self, Self::Markdown | Self::Text)
    }

    /// Whether it is meant for people, so that it can contain only prompts and answers.
    pub const fn is_for_people(self) -> bool {
        matches!(self, Self::Markdown | Self::Html | Self::Text)
    }

    /// Returns its tables; none if it contains conversations.
    pub const fn tables(self) -> &'static [ExportTable] {
        match self {
            Self::Csv => &[ExportTable::Sessions, ExportTable::Requests, ExportTable::ToolCalls],
            Self::Parquet => &ExportTable::ALL,
            _ => &[],
        }
    }

    /// Returns its renderer; `None` if it does not go into one file.
    pub fn renderer(self, options: &ExportOptions) -> Option<Box<dyn Renderer>> {
        Some(match self {
            Self::Markdown => Box::new(markdown::Markdown::new(options)),
            Self::Html => Box::new(html::Page::new(options)),
            Self::Json => Box::new(json::Document::default()),
            Self::Jsonl => Box::new(json::Lines),
            Self::Text => Box::new(plain::Plain::new(options)),
            Self::Csv => Box::new(tables::Rows::new(options.table)),
            Self::Parquet => return None,
        })
    }
}

/// The available tables. Not every format has them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportTable {
    /// One row per session.
    #[default]
    Sessions,
    /// One row per message.
    Messages,
    /// One row per request to a model with recorded usage.
    Requests,
    /// One row per call of a tool.
    ToolCalls,
    /// One row per file that a message attached or a call named.
    FilesTouched,
}

impl ExportTable {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Sessions, Self::Messages, Self::ToolCalls, Self::Requests, Self::FilesTouched];

    /// Returns its name, as in `recount sql`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Messages => "messages",
            Self::Requests => "requests",
            Self::ToolCalls => "tool_calls",
            Self::FilesTouched => "files_touched",
        }
    }
}

/// What happens to links and images in messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkPolicy {
    /// Web links are kept; images, and links that could run or open something, become text.
    #[default]
    Inert,
    /// They are kept unchanged.
    Kept,
}

/// The exported sessions, by id, relative to the folder of the one being written.
pub type Links = BTreeMap<String, String>;

/// How a session is written.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// The level of detail.
    pub level: Level,
    /// Whether to include the model's thoughts.
    pub thoughts: bool,
    /// Prompts and answers only, without paths, ids and tokens.
    pub minimal: bool,
    /// How to handle bidi controls.
    pub bidi: Bidi,
    /// What happens to links and images in messages, for Markdown.
    pub link_policy: LinkPolicy,
    /// Which table, for CSV.
    pub table: ExportTable,
    /// Whether to omit undone messages.
    pub strict: bool,
    /// The files of other sessions.
    pub links: Links,
    /// The index of all sessions, for HTML in a folder.
    pub site: Option<String>,
}

impl ExportOptions {
    /// Whether thoughts are written.
    pub(crate) fn thinks(&self) -> bool {
        !self.minimal && (self.thoughts || self.level >= Level::Trace)
    }

    /// Returns the level, which is `talk` for minimal exports.
    pub(crate) fn level(&self) -> Level {
        if self.minimal { Level::Talk } else { self.level }
    }

    /// Returns a key that is equal for equal exports of one session.
    pub fn key(&self) -> String {
        let Self { level, thoughts, minimal, strict, link_policy, .. } = self;
        let links = if *link_policy == LinkPolicy::Kept { " links=kept" } else { "" };
        format!("{level:?} thoughts={thoughts} minimal={minimal} strict={strict}{links}")
            .to_lowercase()
    }
}
