//! Failures: messages and exit codes are decided only here.

use std::io;
use std::process::ExitCode;

use recount_changes::{Changes, Error as ChangeError, WriteError};
use recount_engine::Error;
use recount_engine::disk::SHORTEST;
use recount_model::id_prefix;
use recount_platform::CommandLine;

use crate::context::Context;
use crate::output::sanitize::sanitize;
use crate::output::theme::Tone;
use crate::words;

/// Nothing was found.
pub(crate) const NOTHING: u8 = 1;
/// A problem was found.
pub(crate) const FOUND: u8 = 1;
/// Something would be deleted.
pub(crate) const DOOMED: u8 = 1;
/// An error, or bad usage.
pub(crate) const ERROR: u8 = 2;
/// Refused for safety.
pub(crate) const REFUSED: u8 = 3;
/// The user has quit.
pub(crate) const INTERRUPTED: u8 = 130;

/// The next step for those who want to change what they saw of the demo data.
const ONLY_DEMO: &str = "there are no sessions yet: other commands show demo data, which cannot be changed; \
                         `recount testbed --demo DIR` creates a copy for `--home DIR`";

/// A command that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
    /// Lines that show the position.
    spot: Vec<String>,
    hints: Vec<String>,
    /// The session that was looked up.
    lookup: Option<String>,
}

impl Failure {
    /// Returns a failure with a message.
    pub(crate) fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), spot: Vec::new(), hints: Vec::new(), lookup: None }
    }

    /// Adds the next step.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the next step, if there is one.
    fn with(self, hint: Option<String>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Prints the failure and returns its exit code. A closed pipe is a quiet success.
    pub(crate) fn report(self, context: &Context) -> ExitCode {
        if !self.message.is_empty() {
            context.say_with("error:", Tone::Error, &self.message);
            for line in self.spot {
                Context::say(&format!("  {}", sanitize(&line)));
            }
            let hints = match &self.lookup {
                Some(_) if context.has_only_demo_data() => vec![ONLY_DEMO.to_owned()],
                Some(wanted) => in_trash(wanted, context).map_or(self.hints, |hint| vec![hint]),
                None => self.hints,
            };
            for hint in hints {
                context.say_with("hint:", Tone::Name, &hint);
            }
        }
        ExitCode::from(self.code)
    }
}

/// Returns the next step for a session that was deleted and can be restored.
fn in_trash(wanted: &str, context: &Context) -> Option<String> {
    if wanted.len() < SHORTEST {
        return None;
    }
    let engine = context.plain_engine().ok()?;
    let trash = Changes::new(&engine).trash().ok()?;
    let found = trash.iter().find(|item| item.session.id.starts_with(wanted))?;
    let restore = CommandLine::new("recount restore").argument(id_prefix(&found.session.id));
    Some(format!("it is in the trash: `{restore}` restores it"))
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(0, "");
        }
        Self::new(ERROR, format!("cannot write the output: {error}"))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if let Error::Output(error) = error {
            return error.into();
        }
        let failure = Self::new(code(&error), error.full_message());
        match &error {
            Error::NoSession(wanted) | Error::NoRow(wanted) | Error::TooShort(wanted) => {
                Self { lookup: Some(wanted.clone()), ..failure }.hint("`recount list --all` shows every session with its id")
            }
            Error::Ambiguous { candidates, .. } => {
                let show = |facts: &recount_model::SessionFacts| {
                    format!("{}  {}", facts.id, facts.title.as_deref().unwrap_or("(no title)"))
                };
                let failure = candidates.iter().take(10).map(show).fold(failure, Self::hint);
                failure.hint("give more characters of the id")
            }
            Error::NoSessions => {
                failure.hint("`recount testbed --demo DIR` creates a demo home")
            }
            Error::NotASession(_) => {
                failure.hint("session files, saved chats and exports of an agent can be shown")
            }
            Error::NotARelease(_) => failure.hint("give it as the agent's --version prints it, for example 0.60.0"),
            Error::NoProject(_) => failure.hint("`recount projects` shows every project"),
            Error::SimilarProjects { similar, .. } => {
                failure.hint(format!("did you mean {}?", similar.join(", ")))
            }
            Error::AmbiguousProject { candidates, .. } => {
                let failure = candidates.iter().take(10).cloned().fold(failure, Self::hint);
                failure.hint(
                    "give the full path, or assign a name: `recount projects alias NAME PATH`",
                )
            }
            Error::Home(_) => failure.hint("give a folder that contains the agents' folders"),
            Error::Query { example, pointed, .. } => {
                let spot = pointed.lines().map(str::to_owned).collect();
                Self { spot, ..failure }.hint(format!("for example: {example}"))
            }
            Error::Sql { pointed, hints, .. } => {
                let spot = pointed.iter().flat_map(|spot| spot.lines()).map(str::to_owned);
                let failure = Self { spot: spot.collect(), ..failure };
                let failure = hints.iter().cloned().fold(failure, Self::hint);
                match pointed {
                    Some(_) => {
                        failure.hint("`recount sql --schema` shows every view and its columns")
                    }
                    None => failure,
                }
            }
            Error::SqlRefused(_) => {
                failure.hint("only SELECT is allowed; `recount sql --schema` lists the views")
            }
            Error::OtherForm { .. } => failure.hint("choose a --format that is not an agent's native one"),
            Error::NotAFolder(_) => failure.hint("give a folder with -o; it is created if needed"),
            Error::AgentsFolder(_) => failure.hint("choose another folder"),
            Error::Redaction(_) => failure.hint("fix [redact] in config.toml"),
            Error::Config { .. } => failure.hint("fix or remove the file"),
            Error::NotAReport(_) => failure.hint("make one with `ccusage AGENT daily --json > FILE`"),
            Error::Unreadable { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => failure.hint("check the file's permissions"),
                _ => failure,
            },
            Error::NoDataFolder => failure.hint(
                "the index needs a writable folder: set RECOUNT_DATA_DIR",
            ),
            error if error.is_busy() => failure.hint("wait for it to end, then try again"),
            Error::Index(_) | Error::Catalog(_) | Error::DataFolder { .. } => failure.hint(
                "check that the disk has free space and the folder is writable; the existing index is not lost",
            ),
            Error::NotResumable { id, why } => failure.with(words::resume_hint(id, why)),
            Error::Write(error) => failure.with(words::write_hint(error).map(str::to_owned)),
            _ => failure,
        }
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        if let ChangeError::Engine(error) = error {
            return error.into();
        }
        let failure = Self::new(change_code(&error), error.full_message());
        failure.with(words::change_hint(&error).map(str::to_owned))
    }
}

fn code(error: &Error) -> u8 {
    match error {
        Error::NoSession(_)
        | Error::NoSessions
        | Error::NoRow(_)
        | Error::NoProject(_)
        | Error::SimilarProjects { .. } => NOTHING,
        Error::SqlRefused(_)
        | Error::AgentsFolder(_)
        | Error::NotResumable { .. }
        | Error::SavedChat => REFUSED,
        Error::Write(error) => write_code(error),
        _ => ERROR,
    }
}

fn change_code(error: &ChangeError) -> u8 {
    match error {
        ChangeError::NoMessage(_)
        | ChangeError::NotInTrash(_)
        | ChangeError::NoTurn { .. }
        | ChangeError::NotKept(_)
        | ChangeError::EmptyTrash => NOTHING,
        ChangeError::Settings { .. }
        | ChangeError::OtherForm { .. }
        | ChangeError::OtherFile { .. }
        | ChangeError::OtherEntry { .. }
        | ChangeError::Declined(_)
        | ChangeError::NotLoadable { .. }
        | ChangeError::NotTheSame { .. }
        | ChangeError::NothingLeft => REFUSED,
        ChangeError::Write(error) => write_code(error),
        _ => ERROR,
    }
}

fn write_code(error: &WriteError) -> u8 {
    match error {
        WriteError::NoReceipt(_) | WriteError::NothingToUndo => NOTHING,
        WriteError::Refused(_) => REFUSED,
        _ => ERROR,
    }
}
