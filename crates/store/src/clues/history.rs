//! Folders that users typed into their shells.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use recount_formats::bytes::read_tail;
use recount_platform::{Env, Folders};

use super::lexical::normal;
use super::words::commands;

/// How much of the end of a history is read.
const TAIL: u64 = 1024 * 1024;

/// Commands that change to the folder they name.
const GOES_TO: &[&str] = &["cd", "chdir", "pushd", "z"];

/// Words that may precede a command.
const BEFORE: &[&str] = &["builtin", "command", "then", "do", "else", "and", "or", "{", "!"];

/// Longer paths are ignored.
const LONGEST: usize = 4096;

/// The format of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lines, optionally each preceded by a line with the time.
    Bash,
    /// Lines, optionally with the time before the command, in zsh's own encoding.
    Zsh,
    /// Records that look like YAML.
    Fish,
}

/// Lists the folders that the user's shell histories name, each with the history.
pub(crate) fn read(env: &Env, places: &Folders) -> Vec<(String, PathBuf)> {
    let home = places.home.clone().unwrap_or_default();
    let mut found = Vec::new();
    for (kind, file) in files(env, places) {
        let bytes = read_tail(&file, TAIL).unwrap_or_default();
        found.extend(folders(kind, &bytes, &home).into_iter().map(|path| (path, file.clone())));
    }
    found
}

/// Returns the possible locations of histories.
pub(crate) fn files(env: &Env, places: &Folders) -> Vec<(Kind, PathBuf)> {
    let mut files = Vec::new();
    if let Some(home) = &places.home {
        files.push((Kind::Bash, home.join(".bash_history")));
        files.push((Kind::Zsh, home.join(".zsh_history")));
        // The default of zsh's setup.
        files.push((Kind::Zsh, home.join(".histfile")));
    }
    let data = env.path("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let data = data.or_else(|| Some(places.home.as_ref()?.join(".local/share")));
    files.extend(data.map(|data| (Kind::Fish, data.join("fish/fish_history"))));
    let configured = env.path("HISTFILE").filter(|path| path.is_absolute());
    if let Some(configured) =
        configured.filter(|configured| files.iter().all(|(_, file)| file != configured))
    {
        files.push((kind_of(&configured), configured));
    }
    files
}

/// Guesses the format of a history in another location. Only zsh's format includes plain lines.
fn kind_of(file: &Path) -> Kind {
    let name = file.to_string_lossy();
    if name.contains("bash") {
        Kind::Bash
    } else if name.ends_with("fish_history") {
        Kind::Fish
    } else {
        Kind::Zsh
    }
}

/// Reads the folders that a history names: absolute paths, and those below the home. Sorted, without duplicates.
pub(crate) fn folders(kind: Kind, bytes: &[u8], home: &Path) -> Vec<String> {
    let text = match kind {
        Kind::Bash | Kind::Fish => String::from_utf8_lossy(bytes).into_owned(),
        Kind::Zsh => String::from_utf8_lossy(&unmetafied(bytes)).into_owned(),
    };
    let mut found = BTreeSet::new();
    for line in text.lines() {
        match kind {
            Kind::Bash => found.extend(targets(line, home)),
            Kind::Zsh => found.extend(targets(without_time(line), home)),
            Kind::Fish => found.extend(in_fish_line(line, home)),
        }
    }
    found.into_iter().collect()
}

/// zsh writes some bytes as 0x83 and the byte with one bit flipped.
fn unmetafied(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter();
    while let Some(&byte) = bytes.next() {
        plain.push(if byte == 0x83 { bytes.next().map_or(byte, |next| next ^ 0x20) } else { byte });
    }
    plain
}

/// Removes `: 1700000000:0;` from the start of a line.
fn without_time(line: &str) -> &str {
    let command = line.strip_prefix(": ").and_then(|rest| rest.split_once(';'));
    let is_time = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    command.filter(|(time, _)| is_time(time)).map_or(line, |(_, command)| command)
}

/// Reads `- cmd: …`, or `- …` from the list of paths that a command named.
fn in_fish_line(line: &str, home: &Path) -> Vec<String> {
    let unescape = |text: &str| {
        let plain = text.replace("\\\\", "\0").replace("\\n", "\n");
        plain.replace('\0', "\\")
    };
    if let Some(command) = line.strip_prefix("- cmd: ") {
        return targets(&unescape(command), home);
    }
    let path = line.strip_prefix("    - ").and_then(|path| target(&unescape(path), home));
    path.into_iter().collect()
}

/// Returns the folders that a command line changes to.
fn targets(line: &str, home: &Path) -> Vec<String> {
    let goes_to = |words: Vec<String>| {
        let is_assignment =
            |word: &str| word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let mut words = words.into_iter();
        let command =
            words.find(|word| !BEFORE.contains(&word.as_str()) && !is_assignment(word))?;
        let argument = words.find(|word| !word.starts_with('-'))?;
        GOES_TO.contains(&command.as_str()).then(|| target(&argument, home))?
    };
    commands(line).into_iter().filter_map(goes_to).collect()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the folder that a word refers to, if that is known.
fn target(word: &str, home: &Path) -> Option<String> {
    let below_home = ["~", "$HOME", "${HOME}"].iter().find_map(|name| word.strip_prefix(name));
    let path = match below_home {
        Some("") => home.to_owned(),
        // `~somebody` and `$HOMEWORK` refer to other folders.
        Some(rest) => home.join(rest.strip_prefix('/')?.trim_start_matches('/')),
        None => PathBuf::from(word),
    };
    let path = normal(&path);
    let text = path.to_str().filter(|_| path.is_absolute())?;
    let is_plain =
        |c: char| !matches!(c, '$' | '`' | '*' | char::REPLACEMENT_CHARACTER) && !c.is_control();
    (text.len() <= LONGEST && text.chars().all(is_plain)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use recount_testkit::Home;

    use super::*;

    fn found(kind: Kind, text: &str) -> Vec<String> {
        folders(kind, text.as_bytes(), Path::new("/home/dev"))
    }

    #[test]
    fn bash_writes_plain_lines() {
        let text = "ls\n#1700000000\ncd /home/dev/code/shop\ncd ~/docs/\npushd \"/srv/my code\"\n\
                    cd /srv/with\\ blank && make\nz /srv/z\ncd relative\ncd ..\ncd -\ncd\n# cd /no\n\
                    echo cd /no\ncd $PROJECT/x\ncd \"$HOME/quoted\"\ncd ${HOME}\ncd ~root/x\n\
                    A=1 builtin cd -P -- /srv/a/../b\nmake -C /no; cd /home/dev/code/shop\ncd /srv/*\n";
        assert_eq!(
            found(Kind::Bash, text),
            [
                "/home/dev",
                "/home/dev/code/shop",
                "/home/dev/docs",
                "/home/dev/quoted",
                "/srv/b",
                "/srv/my code",
                "/srv/with blank",
                "/srv/z",
            ]
        );
    }

    #[test]
    fn zsh_writes_the_time_before_the_command_and_flips_a_bit_of_some_bytes() {
        let text = ": 1700000000:0;cd /home/dev/code/shop\ncd ~/plain\n: 1700000001:12;ls; cd /srv/x\n\
                    : not a time;cd /srv/y\n";
        assert_eq!(
            found(Kind::Zsh, text),
            ["/home/dev/code/shop", "/home/dev/plain", "/srv/x", "/srv/y"]
        );
        // 商 is E5 95 86, and zsh writes 95 as 83 B5, 86 as 83 A6.
        let bytes = b": 1700000000:0;cd /srv/\xe5\x83\xb5\x83\xa6\n";
        assert_eq!(folders(Kind::Zsh, bytes, Path::new("/home/dev")), ["/srv/商"]);
    }

    #[test]
    fn fish_writes_records_with_the_paths_that_a_command_named() {
        let text = "- cmd: cd /home/dev/code/shop\n  when: 1700000000\n- cmd: vim a b\n  when: 1700000001\n\
                    \x20 paths:\n    - a\n    - /srv/named\n    - ~/b\n- cmd: cd /srv/with\\\\ blank\\nls\n";
        assert_eq!(
            found(Kind::Fish, text),
            ["/home/dev/b", "/home/dev/code/shop", "/srv/named", "/srv/with blank"]
        );
    }

    #[test]
    fn without_a_home_only_whole_paths_are_known() {
        assert_eq!(folders(Kind::Bash, b"cd ~/x\ncd /srv/y\ncd ~", Path::new("")), ["/srv/y"]);
    }

    #[test]
    fn histories_are_found_where_the_shells_and_the_environment_put_them() {
        let home = Home::empty();
        let configured = home.at("elsewhere/my_bash");
        let pairs = [("HOME", home.path().to_str().unwrap()), ("HISTFILE", configured.as_str())];
        let env = Env::for_tests(pairs, None);
        let places = Folders::find(&env);
        assert_eq!(files(&env, &places).last().unwrap(), &(Kind::Bash, PathBuf::from(&configured)));
        assert_eq!(files(&env, &places).len(), 5);
        assert!(read(&env, &places).is_empty());
        home.write(".bash_history", "cd /srv/bash\n");
        home.write(".zsh_history/in-place-of-a-file", "");
        home.write(".local/share/fish/fish_history", "- cmd: cd /srv/fish\n");
        home.write(
            "elsewhere/my_bash",
            format!("cd /srv/old\n{}cd /srv/new\n", "ls\n".repeat(400_000)),
        );
        let read = read(&env, &places);
        let paths: Vec<_> = read.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["/srv/bash", "/srv/fish", "/srv/new"], "only the end is read");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for kind in [Kind::Bash, Kind::Zsh, Kind::Fish] {
                let _found = folders(kind, &bytes, Path::new("/home/dev"));
            }
        }

        #[test]
        fn any_line_is_read(line in "(- cmd: |: 1:0;|cd |z |~|/|a|'|\"|\\\\|\\$HOME|;|#|=| |\n|é){0,24}") {
            for kind in [Kind::Bash, Kind::Zsh, Kind::Fish] {
                for path in found(kind, &line) {
                    prop_assert!(path.starts_with('/') && (path == "/" || !path.ends_with('/')));
                }
            }
        }
    }
}
