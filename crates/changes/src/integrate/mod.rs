//! Adds recount to agents: as a tool server that they start, with a skill and commands.
//!
//! What belongs to an agent is in its folder of `formats`. Everything is written through the change pipeline, and noted in a ledger beside it, which
//! is part of the same change.

mod check;
mod ledger;
mod plan;
mod remove;
mod status;

use std::path::{Path, PathBuf};

use recount_formats::hook::Unfit;
use recount_formats::integration::{IntegrationPlaces, Part, SKILL_NAME, ToolServer, skill_part};
use recount_formats::{SOURCES, Source};
use recount_platform::find_program;

use self::ledger::Ledger;
use crate::{Changes, Error};

pub use status::{IntegrationProblem, IntegrationState, IntegrationStatus};

/// The skill alone, for agents without an integration of their own.
const SKILL: &str = "skill";
/// Variables of the environment that decide where recount's own data is.
const OWN_VARIABLES: [&str; 3] = ["RECOUNT_DATA_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"];
/// The release that writes.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// What recount is added to, and how.
#[derive(Clone, Debug, Default)]
pub struct IntegrateOptions {
    /// The name of an agent, `skill`, or `all`.
    pub target: String,
    /// The folder of a project, instead of all projects of the user.
    pub project: Option<PathBuf>,
    /// The program that agents start.
    pub command: String,
    /// Whether agents may call the tools without asking.
    pub is_allowed: bool,
    /// Whether files and entries of others are replaced.
    pub is_forced: bool,
}

/// Something that recount is added to.
#[derive(Clone, Copy, Debug)]
enum Target {
    Agent(&'static dyn Source),
    Skill,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Agent(source) => source.name().as_str(),
            Self::Skill => SKILL,
        }
    }
}

/// Returns what recount can be added to, as users name it.
pub fn integration_targets() -> Vec<&'static str> {
    agents().map(|source| source.name().as_str()).chain([SKILL, "all"]).collect()
}

fn agents() -> impl Iterator<Item = &'static dyn Source> {
    SOURCES.iter().copied().filter(|source| source.integration().is_some())
}

impl Changes<'_> {
    /// Returns the files of an integration with their contents, and lines for the user's own instructions to each agent. Nothing is planned.
    ///
    /// # Errors
    /// If there is no home or no data folder.
    pub fn integration_files(
        self,
        options: &IntegrateOptions,
    ) -> Result<Vec<(PathBuf, String)>, Error> {
        let mut files = Vec::new();
        for target in self.targets(options) {
            for part in self.parts(target, options, &self.variables())? {
                files.push(match part {
                    Part::Own { path, text } => (path, text),
                    Part::Shared { path, edits, .. } => {
                        let mut text = None;
                        for edit in edits {
                            let new = edit.apply(text.as_deref());
                            text = Some(new.map_err(|why| unfit(&path, why))?);
                        }
                        let text = text.unwrap_or_default();
                        (path, String::from_utf8_lossy(&text).into_owned())
                    }
                });
            }
        }
        Ok(files)
    }

    /// Returns the files in which users give agents instructions, for those that are asked for.
    pub fn instructions_files(self, options: &IntegrateOptions) -> Vec<&'static str> {
        let name = |target: &Target| match target {
            Target::Agent(source) => Some(source.integration()?.instructions_file()),
            Target::Skill => None,
        };
        self.targets(options).iter().filter_map(name).collect()
    }

    /// Returns what is asked for. `all` are the agents that are there.
    fn targets(self, options: &IntegrateOptions) -> Vec<Target> {
        match options.target.as_str() {
            SKILL => vec![Target::Skill],
            "all" => agents().filter(|source| self.is_there(*source)).map(Target::Agent).collect(),
            name => agents().filter(|s| s.name().as_str() == name).map(Target::Agent).collect(),
        }
    }

    /// Whether an agent is installed or was used.
    fn is_there(self, source: &dyn Source) -> bool {
        let program = source.integration().map(recount_formats::integration::Integration::program);
        self.engine.agent_folder(source).is_some_and(|folder| folder.is_dir())
            || program.is_some_and(|program| find_program(self.engine.env(), program).is_some())
    }

    /// Returns the variables that recount needs to find the same data, as far as they are set now.
    fn variables(self) -> Vec<String> {
        let folders = SOURCES.iter().map(|source| source.folders());
        let theirs =
            folders.flat_map(|own| [own.home_variable, own.folder_variable, own.extra_variable]);
        let mut names: Vec<&str> = theirs.flatten().chain(OWN_VARIABLES).collect();
        names.retain(|name| self.engine.env().is_set(name));
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Returns the files of an integration.
    fn parts(
        self,
        target: Target,
        options: &IntegrateOptions,
        variables: &[String],
    ) -> Result<Vec<Part>, Error> {
        let now = self.engine.clock().now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let args = ["mcp", "--agent", target.name()].map(str::to_owned).to_vec();
        let server = ToolServer {
            command: &options.command,
            args,
            release: RELEASE,
            is_allowed: options.is_allowed,
            variables: variables.to_vec(),
            now: &now,
        };
        let source = match target {
            Target::Agent(source) => source,
            Target::Skill => return self.skill_parts(options),
        };
        let Some(integration) = source.integration() else { return Ok(Vec::new()) };
        if let Some(folder) = &options.project {
            return Ok(integration.for_project(folder, &server));
        }
        let (home, root) = self.home_and_root(source)?;
        let places = IntegrationPlaces { home: &home, root: &root, data: self.data()? };
        let mut parts = integration.for_user(&places, &server);
        // Not twice: the agent reads the user's own skills too.
        let shared = skill_part(&integration.skills_folder(&places));
        let has_skill = self.ledger(SKILL, None)?.is_some_and(|l| l.file(shared.path()).is_some());
        if has_skill {
            let is_skill =
                |part: &Part| part.path().parent().is_some_and(|p| p.ends_with(SKILL_NAME));
            parts.retain(|part| !is_skill(part));
        }
        Ok(parts)
    }

    /// Returns the files of the skill for agents that do not get it with an integration.
    fn skill_parts(self, options: &IntegrateOptions) -> Result<Vec<Part>, Error> {
        let mut parts: Vec<Part> = Vec::new();
        let mut brought = Vec::new();
        for source in agents() {
            let Some(integration) = source.integration() else { continue };
            let (home, root) = self.home_and_root(source)?;
            let home = options.project.clone().unwrap_or(home);
            let root = match &options.project {
                Some(folder) => {
                    source.folders().below_home.first().map_or(root, |b| folder.join(b))
                }
                None => root,
            };
            let places = IntegrationPlaces { home: &home, root: &root, data: self.data()? };
            let part = skill_part(&integration.skills_folder(&places));
            if self.ledger(source.name().as_str(), options.project.as_deref())?.is_some() {
                brought.push(part.path().to_owned());
            } else if parts.iter().all(|known| known.path() != part.path()) {
                parts.push(part);
            }
        }
        // Two skills of one name in an agent are one too many.
        parts.retain(|part| !brought.iter().any(|path| path == part.path()));
        Ok(parts)
    }

    fn home_and_root(self, source: &dyn Source) -> Result<(PathBuf, PathBuf), Error> {
        let none = || Error::from(recount_engine::Error::NoDataFolder);
        let home = self.engine.first_home().ok_or_else(none)?;
        let home = std::path::absolute(&home).unwrap_or(home);
        Ok((home, self.engine.agent_folder(source).ok_or_else(none)?))
    }

    /// Returns the files that a ledger is about, as its release of recount would be written by this one.
    fn parts_of(self, target: Target, ledger: &Ledger) -> Result<Vec<Part>, Error> {
        let options = IntegrateOptions {
            target: target.name().to_owned(),
            project: ledger.project.clone(),
            command: ledger.command.clone(),
            is_allowed: ledger.is_allowed,
            is_forced: false,
        };
        self.parts(target, &options, &ledger.variables)
    }
}

/// Returns the error for settings that cannot be changed.
fn unfit(path: &Path, why: Unfit) -> Error {
    let path = path.to_owned();
    match why {
        Unfit::Other { .. } => Error::OtherForm { path, why },
        Unfit::Malformed { .. } | Unfit::Refused { .. } => Error::Settings { path, why },
    }
}

/// Returns the nearest folder above a path that exists.
fn existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned)
}
