//! An extension in `extensions/recount`, which the agent loads without an installation: verified with 0.20 to 0.61. Its manifest must not
//! allow anything; rules that let tools run without a question are read from `policies` only.

use std::path::{Path, PathBuf};

use crate::integration::{
    CONTEXT, Edit, Integration, IntegrationPlaces, Part, RECALL, STORY, ToolServer, document,
    object, skill_part, string,
};
use crate::json::JsonTree;

const NAME: &str = "recount";

/// The tools run without a question if they only read. `toolName` is required.
const POLICY: &str = "\
# Written by `recount integrate --allow`: tools of recount that only read run without a question.
[[rule]]
mcpName = \"recount\"
toolName = \"*\"
toolAnnotations = { readOnlyHint = true }
decision = \"allow\"
priority = 100
";

/// How recount is added to Gemini CLI.
#[derive(Debug)]
pub(super) struct Integrated;

impl Integration for Integrated {
    fn for_user(&self, places: &IntegrationPlaces<'_>, server: &ToolServer<'_>) -> Vec<Part> {
        let folder = places.root.join("extensions").join(NAME);
        let own = |name: &str, text: String| Part::Own { path: folder.join(name), text };
        // Milliseconds.
        let timeout = ("timeout", JsonTree::Number("60000".to_owned()));
        let manifest = object(&[
            ("name", string(NAME)),
            ("version", string(server.release)),
            ("description", string("Looks up earlier sessions of coding agents on this machine")),
            ("contextFileName", string("RECOUNT.md")),
            ("mcpServers", object(&[(NAME, server.json(&[timeout]))])),
        ]);
        let mut parts = vec![
            own("gemini-extension.json", document(&manifest)),
            own("RECOUNT.md", CONTEXT.to_owned()),
            own(
                "commands/recount/recall.toml",
                command("Look something up in earlier sessions", RECALL),
            ),
            own(
                "commands/recount/story.toml",
                command("Tell a session or project in short", STORY),
            ),
            skill_part(&folder.join("skills")),
        ];
        if server.is_allowed {
            let path = places.root.join("policies").join("recount.toml");
            parts.push(Part::Own { path, text: POLICY.to_owned() });
        }
        parts
    }

    fn for_project(&self, folder: &Path, server: &ToolServer<'_>) -> Vec<Part> {
        let root = folder.join(".gemini");
        let trust = [("trust", JsonTree::Bool(true))];
        let server = server.json(if server.is_allowed { &trust } else { &[] });
        vec![
            Part::Shared {
                path: root.join("settings.json"),
                edits: vec![Edit::member(&["mcpServers", NAME], server)],
                is_rewritten: true,
                is_optional: false,
            },
            skill_part(&root.join("skills")),
        ]
    }

    fn skills_folder(&self, places: &IntegrationPlaces<'_>) -> PathBuf {
        // Other agents read it too.
        places.home.join(".agents").join("skills")
    }

    fn instructions_file(&self) -> &'static str {
        "GEMINI.md"
    }

    fn program(&self) -> &'static str {
        "gemini"
    }
}

/// Returns the file of a command that asks something of the agent; what the user types after it follows.
fn command(description: &str, prompt: &str) -> String {
    format!("description = \"{description}\"\nprompt = '''\n{prompt}{{{{args}}}}\n'''\n")
}
