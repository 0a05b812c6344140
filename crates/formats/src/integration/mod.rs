//! How recount is added to an agent: as a tool server that the agent starts, with a skill and commands that use it.
//!
//! An agent's folder says which files these are. They are written and removed by a plan like every other change.

mod edit;
mod table;
mod texts;

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use crate::json::JsonTree;

pub use edit::{Edit, EditState};
pub use texts::{HISTORY_SKILL, SKILL_NAME, pasted};

pub(crate) use texts::{CONTEXT, RECALL, STORY};

/// An agent that recount can be added to.
pub trait Integration: Debug + Sync {
    /// Returns what is written for all projects of a user.
    fn for_user(&self, places: &IntegrationPlaces<'_>, server: &ToolServer<'_>) -> Vec<Part>;

    /// Returns what is written in the folder of one project.
    fn for_project(&self, folder: &Path, server: &ToolServer<'_>) -> Vec<Part>;

    /// Returns the folder from which the agent reads the user's skills, preferably one that others read too.
    fn skills_folder(&self, places: &IntegrationPlaces<'_>) -> PathBuf;

    /// Returns the name of the file in which users give the agent instructions. It is never changed.
    fn instructions_file(&self) -> &'static str;

    /// Returns the name of the program.
    fn program(&self) -> &'static str;
}

/// Where files of an integration may be.
#[derive(Clone, Copy, Debug)]
pub struct IntegrationPlaces<'a> {
    /// The user's home.
    pub home: &'a Path,
    /// The agent's data folder; it need not exist.
    pub root: &'a Path,
    /// recount's own data folder.
    pub data: &'a Path,
}

/// The server that the agent starts.
#[derive(Clone, Debug)]
pub struct ToolServer<'a> {
    /// The program.
    pub command: &'a str,
    /// Its arguments.
    pub args: Vec<String>,
    /// recount's release.
    pub release: &'a str,
    /// Whether the agent may call the tools without asking.
    pub is_allowed: bool,
    /// Names of environment variables that the server needs, for agents that pass only some.
    pub variables: Vec<String>,
    /// The current time, as agents write it.
    pub now: &'a str,
}

impl ToolServer<'_> {
    /// Returns the command and its arguments as most agents write them in JSON, with further members.
    pub(crate) fn json(&self, more: &[(&str, JsonTree)]) -> JsonTree {
        let text = |text: &str| JsonTree::String(text.to_owned());
        let args = self.args.iter().map(|arg| text(arg)).collect();
        let mut members = vec![
            ("command".to_owned(), text(self.command)),
            ("args".to_owned(), JsonTree::Array(args)),
        ];
        members.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        JsonTree::Object(members)
    }
}

/// One file of an integration.
#[derive(Clone, Debug)]
pub enum Part {
    /// A file that is recount's own.
    Own {
        /// Its path.
        path: PathBuf,
        /// Its content.
        text: String,
    },
    /// A file of the agent or the user, in which something is set.
    Shared {
        /// Its path.
        path: PathBuf,
        /// What is set, in order.
        edits: Vec<Edit>,
        /// Whether the agent writes it while it runs, with what it read before.
        is_rewritten: bool,
        /// Whether the agent works without it: it is left alone if it has another form.
        is_optional: bool,
    },
}

impl Part {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Own { path, .. } | Self::Shared { path, .. } => path,
        }
    }
}

/// Builds an object of JSON.
pub(crate) fn object(members: &[(&str, JsonTree)]) -> JsonTree {
    let member = |(key, value): &(&str, JsonTree)| ((*key).to_owned(), value.clone());
    JsonTree::Object(members.iter().map(member).collect())
}

/// Builds a string of JSON.
pub(crate) fn string(text: &str) -> JsonTree {
    JsonTree::String(text.to_owned())
}

/// Returns the text of a new file with this value.
pub(crate) fn document(value: &JsonTree) -> String {
    let members = value.as_object().unwrap_or_default();
    let mut text = b"{}\n".to_vec();
    for (key, value) in members {
        text = crate::json::edit::set(&text, &[key], value).unwrap_or(text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the file of the skill in a folder of skills.
pub fn skill_part(skills: &Path) -> Part {
    let path = skills.join(SKILL_NAME).join("SKILL.md");
    Part::Own { path, text: HISTORY_SKILL.to_owned() }
}
