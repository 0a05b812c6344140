//! The tools: each takes arguments and a moment, and returns an answer within its budget.

mod echo;
mod list;
pub(crate) mod read;
mod search;
mod snippet;
mod story;
mod turns;
mod usage;
mod verify;

use recount_display::number::plural;
use recount_engine::{Error, Progress};
use recount_model::{Fate, SessionFacts};
use serde_json::{Value, json};

use crate::arguments::{Arguments, BadArgument};
use crate::declarations::{Declaration, TOOLS};
use crate::memory::{Memory, Moment};
use crate::rpc::{INVALID_PARAMS, RpcError};
use crate::text::{Quoted, line};

/// Why a tool has no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// An argument is wrong.
    Argument(BadArgument),
    /// The engine failed.
    Engine(Error),
}

impl From<BadArgument> for Trouble {
    fn from(bad: BadArgument) -> Self {
        Self::Argument(bad)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// Calls a tool. Mistakes of the model are answers, marked as errors, so that it can try again.
pub(crate) fn call(
    memory: &Memory,
    name: &str,
    arguments: Value,
    named: Vec<String>,
    progress: &dyn Progress,
) -> Result<Value, RpcError> {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        let name = line(name, 60);
        return Err(RpcError::new(INVALID_PARAMS, format!("there is no tool {name}")));
    };
    let (answer, is_error) = match run(memory, tool, arguments, named, progress) {
        Ok(answer) => (answer, false),
        Err(trouble) => (explained(memory, trouble, tool), true),
    };
    let content = json!([{ "type": "text", "text": answer.text() }]);
    Ok(if is_error {
        json!({ "content": content, "isError": true })
    } else {
        json!({ "content": content })
    })
}

fn run(
    memory: &Memory,
    tool: &Declaration,
    arguments: Value,
    named: Vec<String>,
    progress: &dyn Progress,
) -> Result<Quoted, Trouble> {
    let arguments = Arguments::new(arguments, memory.now())?;
    let moment = memory.moment(named, progress)?;
    let mut answer = match tool.name {
        "search_sessions" => search::search(&moment, &arguments),
        "list_sessions" => list::list(&moment, &arguments),
        "read_session" => read::read(&moment, &arguments),
        "verify_quote" => verify::verify(&moment, &arguments),
        _ => usage::usage(&moment, &arguments),
    }?;
    if let Some(unknown) = arguments.unknown(&tool.names()) {
        answer.before.push(unknown);
    }
    Ok(answer)
}

/// Explains an error, with a call that works. Names in it come from disk.
fn explained(memory: &Memory, trouble: Trouble, tool: &Declaration) -> Quoted {
    let safe = |text: &str| {
        let redacted =
            memory.redaction().ok().flatten().map(|redaction| redaction.text(text).into_owned());
        line(&redacted.unwrap_or_else(|| text.to_owned()), 160)
    };
    let mut answer = Quoted::default();
    let example = format!("for example: {}", tool.example);
    match trouble {
        Trouble::Argument(BadArgument(what)) => {
            answer.before.push(safe(&what));
            answer.after.push(example);
        }
        Trouble::Engine(Error::AmbiguousProject { candidates, .. }) => {
            answer.before.push(format!(
                "that name matches {} projects; ask the user, or give one of these:",
                candidates.len()
            ));
            answer.lines.extend(endings(&candidates).into_iter().take(10).map(safe));
        }
        Trouble::Engine(Error::SimilarProjects { similar, .. }) => {
            answer
                .before
                .push("no project has that name; did the user mean one of these?".to_owned());
            answer.lines.extend(similar.iter().take(10).map(|name| safe(name)));
        }
        Trouble::Engine(Error::Ambiguous { candidates, .. }) => {
            answer.before.push(format!(
                "that id matches {} sessions; give more characters of it:",
                candidates.len()
            ));
            let row = |facts: &SessionFacts| {
                format!(
                    "{}  {}",
                    safe(facts.id.as_str()),
                    safe(facts.title.as_deref().unwrap_or_default())
                )
            };
            answer.lines.extend(candidates.iter().take(10).map(row));
        }
        Trouble::Engine(error @ Error::NoProject(_)) => {
            answer.before.push(safe(&error.to_string()));
            answer.after.push(
                "projects are listed by: usage {\"by\":\"project\",\"since\":\"365d\"}".to_owned(),
            );
        }
        Trouble::Engine(error @ (Error::NoSession(_) | Error::TooShort(_) | Error::NoSessions)) => {
            answer.before.push(safe(&error.to_string()));
            answer.after.push("ids are listed by: list_sessions {\"project\":\"*\"}".to_owned());
        }
        Trouble::Engine(Error::Query { what, example, .. }) => {
            answer.before.push(format!(
                "the query is not understood: {}; a query that is: {example}",
                safe(&what)
            ));
        }
        Trouble::Engine(error) => {
            answer.before.push(safe(&error.full_message()));
            answer.after.push(example);
        }
    }
    answer
}

/// Returns the shortest end of each path that no other one has: a whole path may have a user's name, which is replaced.
fn endings(paths: &[String]) -> Vec<&str> {
    paths.iter().map(|path| ending(path, paths)).collect()
}

fn ending<'p>(path: &'p str, all: &[String]) -> &'p str {
    let is_only = |end: &&str| {
        let has = |other: &&String| {
            let before = other.strip_suffix(*end);
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        all.iter().filter(has).count() == 1
    };
    let starts = path.rmatch_indices('/').map(|(at, _)| at + 1);
    let mut ends = starts.filter_map(|at| path.get(at..)).filter(|end| !end.is_empty());
    ends.find(is_only).unwrap_or(path)
}

/// Returns the date of a session's last message.
fn day(facts: &SessionFacts) -> String {
    facts.updated.map_or_else(
        || "no date".to_owned(),
        |time| recount_display::when::minute(time).chars().take(10).collect(),
    )
}

/// Returns a mark for a message that was undone.
fn fate(fate: Fate) -> String {
    if fate == Fate::Kept { String::new() } else { format!(" [{fate}]") }
}

/// Returns the name of a session's project, cleaned.
fn project(moment: &Moment<'_>, facts: &SessionFacts) -> Result<String, Error> {
    let name = facts.project.name();
    moment.line(if name.is_empty() { "no project" } else { name }, 30)
}

/// Returns counted words, if there are any.
fn counted(number: usize, word: &str, why: &str) -> Option<String> {
    (number > 0).then(|| format!("{} {why}", plural(number as u64, word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_named_by_the_shortest_end_of_their_path() {
        let paths = ["/home/ada/code/shop", "/home/ada/old/shop", "~/src/feed", "archive", "/"];
        let paths = paths.map(str::to_owned);
        assert_eq!(endings(&paths), ["code/shop", "old/shop", "feed", "archive", "/"]);
    }
}
