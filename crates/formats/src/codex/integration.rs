//! A server in `config.toml`, and the skill. The agent starts servers with few variables of the environment: those that recount needs are named in
//! `env_vars`. A plugin cannot do that. Tools that only read run without a question.

use std::path::{Path, PathBuf};

use crate::integration::{Edit, Integration, IntegrationPlaces, Part, ToolServer, skill_part};

/// How recount is added to Codex.
#[derive(Debug)]
pub(super) struct Integrated;

impl Integration for Integrated {
    fn for_user(&self, places: &IntegrationPlaces<'_>, server: &ToolServer<'_>) -> Vec<Part> {
        parts(places.root, server)
    }

    fn for_project(&self, folder: &Path, server: &ToolServer<'_>) -> Vec<Part> {
        parts(&folder.join(".codex"), server)
    }

    fn skills_folder(&self, places: &IntegrationPlaces<'_>) -> PathBuf {
        // Other agents read it too.
        places.home.join(".agents").join("skills")
    }

    fn instructions_file(&self) -> &'static str {
        "AGENTS.md"
    }

    fn program(&self) -> &'static str {
        "codex"
    }
}

fn parts(root: &Path, server: &ToolServer<'_>) -> Vec<Part> {
    let mut lines = vec![("command", string(server.command)), ("args", list(&server.args))];
    if !server.variables.is_empty() {
        lines.push(("env_vars", list(&server.variables)));
    }
    let edits = vec![Edit::table(&["mcp_servers", "recount"], lines)];
    vec![
        Part::Shared {
            path: root.join("config.toml"),
            edits,
            is_rewritten: true,
            is_optional: false,
        },
        skill_part(&root.join("skills")),
    ]
}

fn string(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn list(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| string(word)).collect();
    format!("[{}]", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integration::EditState;

    const CONFIG: &str = "# mine\nmodel = \"gpt-5\"   # fast\n\n[mcp_servers.other]\ncommand = \"x\"\n\n# the end\n[tui]\ntheme = \"dark\"\n";

    fn edit(command: &str) -> Edit {
        let server = ToolServer {
            command,
            args: vec!["mcp".to_owned()],
            release: "1.0.0",
            is_allowed: false,
            variables: vec!["CODEX_HOME".to_owned()],
            now: "",
        };
        let Some(Part::Shared { edits, .. }) = parts(Path::new("/h"), &server).into_iter().next()
        else {
            panic!("the settings come first");
        };
        edits.into_iter().next().unwrap()
    }

    #[test]
    fn a_table_is_added_changed_and_removed_and_all_else_stays() {
        let (one, two) = (edit("/opt/recount"), edit("C:\\recount \"x\""));
        for start in [CONFIG, "", "model = \"x\"", &CONFIG.replace('\n', "\r\n")] {
            let with = one.apply(Some(start.as_bytes())).unwrap();
            let text = String::from_utf8(with.clone()).unwrap();
            assert!(text.starts_with(start), "{text}");
            assert!(text.contains("env_vars = [\"CODEX_HOME\"]"), "{text}");
            assert_eq!(one.state(Some(&with)).unwrap(), EditState::Same);
            assert_eq!(two.state(Some(&with)).unwrap(), EditState::Other);
            assert_eq!(one.apply(Some(&with)).unwrap(), with);
            let other = two.apply(Some(&with)).unwrap();
            assert_eq!(two.state(Some(&other)).unwrap(), EditState::Same);
            let left = two.remove(&other).unwrap().unwrap();
            let left = String::from_utf8(left).unwrap();
            assert_eq!(left.trim_end(), start.trim_end(), "{other:?}");
            assert_eq!(one.remove(left.as_bytes()).unwrap(), None);
        }
    }

    #[test]
    fn a_table_in_the_middle_is_removed_with_those_below_it_and_comments_of_others_stay() {
        let text = "a = 1\n\n[mcp_servers.recount]\ncommand = \"r\"\n# about r\nargs = []\n\n[mcp_servers.recount.env]\nX = \"1\"\n\n# the next\n[b]\nc = 2\n";
        let left = edit("r").remove(text.as_bytes()).unwrap().unwrap();
        assert_eq!(String::from_utf8(left).unwrap(), "a = 1\n\n# the next\n[b]\nc = 2\n");
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        let edit = edit("r");
        for text in ["mcp_servers = { x = { command = \"y\" } }\n", "mcp_servers = 3\n", "a = [\n"]
        {
            assert!(edit.apply(Some(text.as_bytes())).is_err(), "{text}");
        }
        for text in [
            "mcp_servers = { recount = { command = \"y\" } }\n",
            "mcp_servers.recount.command = \"y\"\n",
            "x = \"\"\"\n[mcp_servers.recount]\n\"\"\"\n[mcp_servers.recount]\ncommand = \"y\"\n[z]\nq = '''\n[mcp_servers.recount]\n'''\n",
        ] {
            assert!(edit.remove(text.as_bytes()).is_err(), "{text}");
        }
    }
}
