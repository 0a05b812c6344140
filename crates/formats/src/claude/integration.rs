//! A plugin in a marketplace that is a folder of recount's own, which settings name: `extraKnownMarketplaces` and `enabledPlugins`. Releases since
//! 2.1.325 load it from there; earlier ones only once they have recorded it in `plugins`, one start later. So it is recorded at once, in the form
//! that 2.1.112 to 2.1.325 write.

use std::path::{Path, PathBuf};

use crate::integration::{
    Edit, Integration, IntegrationPlaces, Part, RECALL, STORY, ToolServer, document, object,
    skill_part, string,
};
use crate::json::JsonTree;

const NAME: &str = "recount";
const MARKETPLACE: &str = "recount-local";
/// The plugin as settings name it.
const PLUGIN: &str = "recount@recount-local";
/// What the agent calls the tools of a plugin's server.
const TOOLS: &str = "mcp__plugin_recount_recount";
/// The tools that commands may call without a question.
const READING: [&str; 4] = ["search_sessions", "list_sessions", "read_session", "verify_quote"];

/// How recount is added to Claude Code.
#[derive(Debug)]
pub(super) struct Integrated;

impl Integration for Integrated {
    fn for_user(&self, places: &IntegrationPlaces<'_>, server: &ToolServer<'_>) -> Vec<Part> {
        let marketplace = places.data.join("marketplace");
        let plugin = marketplace.join("plugins").join(NAME);
        let mut parts = plugin_files(&marketplace, &plugin, server);
        let path = |path: &Path| string(&path.to_string_lossy());
        let source = object(&[("source", string("directory")), ("path", path(&marketplace))]);
        let mut edits = vec![
            Edit::member(
                &["extraKnownMarketplaces", MARKETPLACE],
                object(&[("source", source.clone())]),
            ),
            Edit::member(&["enabledPlugins", PLUGIN], JsonTree::Bool(true)),
        ];
        if server.is_allowed {
            edits.push(allow(TOOLS));
        }
        let shared = |path: &str, edits, is_optional| {
            let path = places.root.join(path);
            Part::Shared { path, edits, is_rewritten: true, is_optional }
        };
        parts.push(shared("settings.json", edits, false));
        let known = object(&[
            ("source", source),
            ("installLocation", path(&marketplace)),
            ("lastUpdated", string(server.now)),
        ]);
        let known = recorded(&[MARKETPLACE], known);
        parts.push(shared("plugins/known_marketplaces.json", vec![known], true));
        let installed = object(&[
            ("scope", string("user")),
            ("installPath", path(&plugin)),
            ("version", string(server.release)),
            ("installedAt", string(server.now)),
            ("lastUpdated", string(server.now)),
        ]);
        let installed = vec![
            Edit::Form { key: "version", value: JsonTree::Number("2".to_owned()) },
            recorded(&["plugins", PLUGIN], JsonTree::Array(vec![installed])),
        ];
        parts.push(shared("plugins/installed_plugins.json", installed, true));
        parts
    }

    fn for_project(&self, folder: &Path, server: &ToolServer<'_>) -> Vec<Part> {
        let mut parts = vec![
            Part::Shared {
                path: folder.join(".mcp.json"),
                edits: vec![Edit::member(&["mcpServers", NAME], server.json(&[]))],
                is_rewritten: false,
                is_optional: false,
            },
            skill_part(&folder.join(".claude").join("skills")),
        ];
        if server.is_allowed {
            let path = folder.join(".claude").join("settings.json");
            let edits = vec![allow("mcp__recount")];
            parts.push(Part::Shared { path, edits, is_rewritten: true, is_optional: false });
        }
        parts
    }

    fn skills_folder(&self, places: &IntegrationPlaces<'_>) -> PathBuf {
        places.root.join("skills")
    }

    fn instructions_file(&self) -> &'static str {
        "CLAUDE.md"
    }

    fn program(&self) -> &'static str {
        "claude"
    }
}

/// The rule that lets tools run without a question.
fn allow(tools: &str) -> Edit {
    let path = vec!["permissions".to_owned(), "allow".to_owned()];
    Edit::Element { path, value: string(tools) }
}

/// A record of the agent's own, whose times it may change.
fn recorded(path: &[&str], value: JsonTree) -> Edit {
    let path = path.iter().map(|key| (*key).to_owned()).collect();
    Edit::Member { path, value, any: &["installedAt", "lastUpdated"], keeps_parent: true }
}

fn plugin_files(marketplace: &Path, plugin: &Path, server: &ToolServer<'_>) -> Vec<Part> {
    let about = "Looks up earlier sessions of coding agents on this machine";
    let author = object(&[("name", string(NAME))]);
    let listed = object(&[
        ("name", string(NAME)),
        ("source", string("./plugins/recount")),
        ("description", string(about)),
    ]);
    let listing = object(&[
        ("name", string(MARKETPLACE)),
        ("owner", author.clone()),
        ("metadata", object(&[("description", string("recount as it is installed here"))])),
        ("plugins", JsonTree::Array(vec![listed])),
    ]);
    let manifest = object(&[
        ("name", string(NAME)),
        ("version", string(server.release)),
        ("description", string(about)),
        ("author", author),
        ("license", string("MIT OR Apache-2.0")),
    ]);
    let servers = object(&[("mcpServers", object(&[(NAME, server.json(&[]))]))]);
    let own = |path: PathBuf, text: String| Part::Own { path, text };
    let file = |name: &str, value: &JsonTree| own(plugin.join(name), document(value));
    vec![
        own(marketplace.join(".claude-plugin/marketplace.json"), document(&listing)),
        file(".claude-plugin/plugin.json", &manifest),
        file(".mcp.json", &servers),
        own(
            plugin.join("commands/recall.md"),
            command("Look something up in earlier sessions", "QUESTION", RECALL),
        ),
        own(
            plugin.join("commands/story.md"),
            command("Tell a session or project in short", "SESSION|PROJECT", STORY),
        ),
        skill_part(&plugin.join("skills")),
    ]
}

/// Returns the file of a command. The tools that it names run without a question; in a skill the same line would make the skill itself need one.
fn command(description: &str, hint: &str, prompt: &str) -> String {
    let tools: Vec<String> = READING.iter().map(|tool| format!("{TOOLS}__{tool}")).collect();
    let tools = tools.join(", ");
    format!(
        "---\ndescription: {description}\nargument-hint: {hint}\nallowed-tools: {tools}\n---\n\n{prompt}$ARGUMENTS\n"
    )
}
