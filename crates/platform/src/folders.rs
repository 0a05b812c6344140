//! Where folders are on this system.

use std::path::{Path, PathBuf};

use crate::Env;

/// The folders that recount uses.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Our own data.
    pub data: Option<PathBuf>,
    /// Our own configuration.
    pub config: Option<PathBuf>,
    /// Where other programs keep the user's data, each in a folder of its own.
    pub programs: Option<PathBuf>,
}

/// Whether a path is in a folder that is emptied automatically: at the next start, or by age.
pub fn is_temporary(env: &Env, path: &Path) -> bool {
    let named =
        ["TMPDIR", "TEMP", "TMP", "XDG_RUNTIME_DIR"].into_iter().filter_map(|name| env.path(name));
    let usual =
        if cfg!(windows) { &[][..] } else { &["/tmp", "/var/tmp", "/dev/shm", "/run/user"] };
    let resolved = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let path = resolved(path.to_owned());
    let mut folders = named.chain(usual.iter().map(PathBuf::from)).map(resolved);
    // A root is not such a folder.
    folders.any(|folder| folder.parent().is_some() && path.starts_with(folder))
}

impl Folders {
    /// Finds them in the environment.
    pub fn find(env: &Env) -> Self {
        let home = env.path("HOME").or_else(|| env.path("USERPROFILE"));
        let below = |variable: &str, path: &str| {
            let base = env.path(variable).filter(|path| path.is_absolute());
            base.or_else(|| home.as_ref().map(|home| home.join(path)))
        };
        let (data, config) = if cfg!(target_os = "windows") {
            (below("LOCALAPPDATA", "AppData/Local"), below("LOCALAPPDATA", "AppData/Local"))
        } else if cfg!(target_os = "macos") {
            (
                below("XDG_DATA_HOME", "Library/Application Support"),
                below("XDG_CONFIG_HOME", ".config"),
            )
        } else {
            (below("XDG_DATA_HOME", ".local/share"), below("XDG_CONFIG_HOME", ".config"))
        };
        let ours = |base: PathBuf| base.join("recount");
        // Other programs do not look for the variable on macOS.
        let library = home.as_ref().map(|home| home.join("Library/Application Support"));
        let programs = if cfg!(target_os = "macos") { library } else { data.clone() };
        Self {
            programs,
            data: env.path("RECOUNT_DATA_DIR").or_else(|| data.map(ours)),
            config: config.map(|base| base.join("recount").join("config.toml")),
            home,
        }
    }

    /// Expands a leading `~` to the home.
    pub fn expand(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with(['/', '\\']) => {
                home.join(rest.trim_start_matches(['/', '\\']))
            }
            _ => PathBuf::from(path),
        }
    }

    /// Shortens a path below the home to `~/…`.
    pub fn tilde(&self, path: &str) -> String {
        let home = self.home.as_deref().and_then(Path::to_str).unwrap_or_default();
        match path.strip_prefix(home) {
            Some("") if !home.is_empty() => "~".to_owned(),
            Some(rest) if !home.is_empty() && rest.starts_with('/') => format!("~{rest}"),
            _ => path.to_owned(),
        }
    }
}

/// Whether two paths lead to the same file or folder.
pub fn is_same_place(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_data_is_where_the_environment_says() {
        let folders =
            |pairs: &[(&str, &str)]| Folders::find(&Env::for_tests(pairs.iter().copied(), None));
        let data = |pairs: &[(&str, &str)]| folders(pairs).data.unwrap();
        assert_eq!(data(&[("HOME", "/h"), ("RECOUNT_DATA_DIR", "/d")]), Path::new("/d"));
        if cfg!(target_os = "linux") {
            assert_eq!(data(&[("HOME", "/h")]), Path::new("/h/.local/share/recount"));
            assert_eq!(data(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), Path::new("/x/recount"));
            let programs = folders(&[("HOME", "/h"), ("RECOUNT_DATA_DIR", "/d")]).programs;
            assert_eq!(programs.unwrap(), Path::new("/h/.local/share"));
        }
    }

    #[test]
    fn the_home_may_be_written_short() {
        let folders = Folders { home: Some("/home/dev".into()), ..Folders::default() };
        assert_eq!(folders.expand("~/code"), PathBuf::from("/home/dev/code"));
        assert_eq!(folders.expand("~"), PathBuf::from("/home/dev"));
        assert_eq!(folders.expand("~other/x"), PathBuf::from("~other/x"));
        assert_eq!(folders.expand("/srv"), PathBuf::from("/srv"));
    }

    #[test]
    fn the_home_is_shortened_only_at_a_whole_component() {
        let folders = Folders { home: Some("/home/dev".into()), ..Folders::default() };
        assert_eq!(folders.tilde("/home/dev"), "~");
        assert_eq!(folders.tilde("/home/dev/code"), "~/code");
        assert_eq!(folders.tilde("/home/developer"), "/home/developer");
    }

    #[cfg(unix)]
    #[test]
    fn temporary_folders_are_those_of_the_system_and_of_the_environment() {
        let env = Env::for_tests([("TMPDIR", "/scratch/me"), ("TMP", "/")], None);
        for path in ["/tmp/recount", "/var/tmp/x/recount", "/scratch/me/recount", "/dev/shm/r"] {
            assert!(is_temporary(&env, Path::new(path)), "{path}");
        }
        for path in ["/usr/bin/recount", "/home/dev/tmp/recount", "/scratch/merry/recount"] {
            assert!(!is_temporary(&env, Path::new(path)), "{path}");
        }
    }
}
