//! Every environment variable that recount reads, as one list, and the only place that reads them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// An environment variable and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub purpose: &'static str,
}

/// Every variable that recount reads. Those that sources name for their own folders are read
/// through [`Env::path`] too.
pub const VARIABLES: &[Variable] = &[
    Variable { name: "HOME", purpose: "Home folder whose agents are read" },
    Variable { name: "USERPROFILE", purpose: "Home folder on Windows" },
    Variable { name: "PATH", purpose: "Where installed agents are looked up" },
    Variable { name: "APPDATA", purpose: "Where installed agents are looked up on Windows" },
    Variable { name: "RECOUNT_DATA_DIR", purpose: "Folder of recount's own data" },
    Variable { name: "XDG_DATA_HOME", purpose: "Base folder for data" },
    Variable { name: "XDG_CONFIG_HOME", purpose: "Base folder for configuration" },
    Variable { name: "LOCALAPPDATA", purpose: "Base folder for data on Windows" },
    Variable {
        name: "_ZO_DATA_DIR",
        purpose: "Folder of zoxide, which knows the folders you visited",
    },
    Variable { name: "TMPDIR", purpose: "Temporary folder; no hook calls a program there" },
    Variable { name: "TEMP", purpose: "Temporary folder on Windows" },
    Variable { name: "TMP", purpose: "Temporary folder on Windows" },
    Variable {
        name: "XDG_RUNTIME_DIR",
        purpose: "Files that last until logout; no hook calls a program there",
    },
    Variable { name: "HISTFILE", purpose: "Shell history, which names folders" },
    Variable { name: "RECOUNT_NOW", purpose: "Current time, for tests and reproducible output" },
    Variable {
        name: "RECOUNT_TERMINAL",
        purpose: "Name of the terminal whose last list @N refers to",
    },
    Variable {
        name: "RECOUNT_BACKGROUND",
        purpose: "`0`: build the index before the first search, not in the background",
    },
    Variable { name: "CI", purpose: "If set, the same as RECOUNT_BACKGROUND=0" },
    Variable {
        name: "RECOUNT_PAGER",
        purpose: "Pager; takes precedence over PAGER, empty for none",
    },
    Variable { name: "PAGER", purpose: "Pager" },
    Variable { name: "LESS", purpose: "Options of less; -R is added" },
    Variable { name: "LESSCHARSET", purpose: "Character set of less; UTF-8 if missing" },
    Variable { name: "VISUAL", purpose: "Editor of the terminal app" },
    Variable { name: "EDITOR", purpose: "Editor of the terminal app, if VISUAL is not set" },
    Variable { name: "DISPLAY", purpose: "If set, text is copied by xclip or xsel" },
    Variable { name: "WAYLAND_DISPLAY", purpose: "If set, text is copied by wl-copy" },
    Variable { name: "WSL_DISTRO_NAME", purpose: "If set, text is copied by clip.exe" },
    Variable { name: "SSH_CONNECTION", purpose: "If set, text is copied through the terminal" },
    Variable { name: "TMUX", purpose: "If set, panes can be jumped to" },
    Variable {
        name: "RECOUNT_LAKE_KEY",
        purpose: "Passphrase with which machines of a team hash names in a lake alike",
    },
    Variable {
        name: "AWS_*",
        purpose: "Credentials, region and endpoint of s3:// lakes, as other tools use them",
    },
    Variable { name: "GOOGLE_*", purpose: "Credentials of gs:// lakes" },
    Variable { name: "AZURE_*", purpose: "Account and credentials of az:// lakes" },
    Variable { name: "NO_COLOR", purpose: "No color if set and not empty" },
    Variable { name: "CLICOLOR_FORCE", purpose: "Color even if the output is not a terminal" },
    Variable { name: "TERM", purpose: "`dumb` means no color" },
    Variable {
        name: "RECOUNT_WIDTH",
        purpose: "Lay tables out for this width even if the output is not a terminal",
    },
    Variable { name: "COLUMNS", purpose: "Width of text when the output is not a terminal" },
    Variable { name: "TZ", purpose: "Time zone of displayed times" },
];

/// The environment, read once at startup.
#[derive(Clone, Debug, Default)]
pub struct Env {
    variables: BTreeMap<OsString, OsString>,
    current_folder: Option<PathBuf>,
}

impl Env {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub fn of_process() -> Self {
        Self {
            variables: std::env::vars_os().collect(),
            current_folder: std::env::current_dir().ok(),
        }
    }

    /// Creates an environment, for tests.
    pub fn for_tests<'a>(
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
        current_folder: Option<PathBuf>,
    ) -> Self {
        let variables =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { variables, current_folder }
    }

    /// Returns a variable as text, if it is set and not empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(&OsString::from(name))?.to_str().filter(|text| !text.is_empty())
    }

    /// Returns a variable as a path, if it is set and not empty.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(&OsString::from(name))?;
        (!value.is_empty()).then(|| PathBuf::from(value))
    }

    /// Whether a variable is set, even to nothing.
    pub fn is_set(&self, name: &str) -> bool {
        self.variables.contains_key(&OsString::from(name))
    }

    /// Returns the variables whose names begin so, as text.
    pub fn starting_with<'a>(&'a self, start: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let text = self
            .variables
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        text.filter(move |(name, value)| name.starts_with(start) && !value.is_empty())
    }

    /// Returns the folder in which the program was started.
    pub fn current_folder(&self) -> Option<&PathBuf> {
        self.current_folder.as_ref()
    }
}
