//! Command lines to copy into a shell. Paths, ids and names in them come from session files and are
//! untrusted: each is quoted as one word.

use std::fmt::{self, Write as _};
use std::path::Path;

/// A command line that is printed for people to run.
///
/// ```
/// use recount_platform::CommandLine;
/// let line = CommandLine::new("recount relocate").argument("/home/dev/x; touch y").placeholder("NEW");
/// # #[cfg(unix)]
/// assert_eq!(line.to_string(), "recount relocate '/home/dev/x; touch y' NEW");
/// ```
#[derive(Clone, Debug)]
pub struct CommandLine {
    command: &'static str,
    arguments: Vec<Argument>,
    options: Vec<String>,
    /// Whether an argument would be parsed as an option.
    is_ambiguous: bool,
}

#[derive(Clone, Debug)]
enum Argument {
    /// Untrusted: it is quoted.
    Given(String),
    /// For people to fill in.
    Placeholder(&'static str),
}

impl CommandLine {
    /// Starts a command line with a fixed command.
    pub fn new(command: &'static str) -> Self {
        Self { command, arguments: Vec::new(), options: Vec::new(), is_ambiguous: false }
    }

    /// Adds an argument, quoted.
    #[must_use]
    pub fn argument(mut self, word: &str) -> Self {
        self.is_ambiguous |= word.starts_with('-');
        self.arguments.push(Argument::Given(word.to_owned()));
        self
    }

    /// Adds an argument for people to fill in.
    #[must_use]
    pub fn placeholder(mut self, word: &'static str) -> Self {
        self.arguments.push(Argument::Placeholder(word));
        self
    }

    /// Adds a fixed option, unquoted.
    #[must_use]
    pub fn option(mut self, option: &'static str) -> Self {
        self.options.push(option.to_owned());
        self
    }

    /// Adds an option with a value, quoted.
    #[must_use]
    pub fn option_value(mut self, option: &'static str, value: &str) -> Self {
        let between = if value.starts_with('-') { '=' } else { ' ' };
        self.options.push(format!("{option}{between}{}", quote(value)));
        self
    }

    /// Returns the line with paths below the home as `~/…`. Shells expand `~` only outside of
    /// quotes, so it is left unquoted.
    pub fn below_home(&self, home: Option<&Path>) -> String {
        let home = home.and_then(Path::to_str).filter(|home| !home.is_empty() && !cfg!(windows));
        self.line(|word| {
            let below = home.and_then(|home| word.strip_prefix(home)?.strip_prefix('/'));
            below.map_or_else(|| quote(word), |below| format!("~/{}", quote_rest(below)))
        })
    }

    fn line(&self, quote: impl Fn(&str) -> String) -> String {
        let arguments = self.arguments.iter().map(|argument| match argument {
            Argument::Given(word) => quote(word),
            Argument::Placeholder(word) => (*word).to_owned(),
        });
        let options = self.options.iter().cloned();
        let words: Vec<String> = if self.is_ambiguous {
            options.chain(["--".to_owned()]).chain(arguments).collect()
        } else {
            arguments.chain(options).collect()
        };
        words.iter().fold(self.command.to_owned(), |line, word| format!("{line} {word}"))
    }
}

/// Quotes the rest of the same word.
fn quote_rest(rest: &str) -> String {
    if rest.is_empty() { String::new() } else { quote(rest) }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line(quote))
    }
}

/// Returns a word for the shells of this system: unchanged if it has no special characters, else
/// quoted.
pub fn quote(word: &str) -> String {
    if cfg!(windows) { quote_windows(word) } else { quote_posix(word) }
}

/// Returns a quoted word for the shell that agents run commands with: `sh`, or PowerShell on
/// Windows.
pub fn literal(word: &str) -> String {
    if cfg!(windows) { quote_powershell(word) } else { single_quoted(word) }
}

/// For sh, bash, zsh, dash and fish.
fn quote_posix(word: &str) -> String {
    // zsh replaces `=ls` by the path of ls.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if word.chars().any(is_invisible) || has_odd_blanks(word) {
        return escaped(word);
    }
    single_quoted(word)
}

/// Quotes and backslashes are placed outside of the quotes: fish reads backslashes inside.
fn single_quoted(word: &str) -> String {
    let mut text = String::from("'");
    for c in word.chars() {
        match c {
            '\'' | '\\' => text.extend(['\'', '\\', c, '\'']),
            c => text.push(c),
        }
    }
    text.push('\'');
    text
}

/// The terminal must not act on it, and a shell must still read it: `$'…'` of bash, zsh, ksh and
/// POSIX 2024. Other shells read a different word, but never more than one.
fn escaped(word: &str) -> String {
    let mut text = String::from("$'");
    let mut bytes = [0; 4];
    for c in word.chars() {
        match c {
            '\'' | '\\' => {
                let _written = write!(text, "\\x{:02x}", u32::from(c));
            }
            c if is_invisible(c) || c.is_whitespace() => {
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _written = write!(text, "\\x{byte:02x}");
                }
            }
            c => text.push(c),
        }
    }
    text.push('\'');
    text
}

/// Whether a character is invisible: controls, characters that change the direction of text, and
/// characters without width.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether spaces would not survive on a line of words with single spaces between them.
fn has_odd_blanks(word: &str) -> bool {
    word.split(' ').any(str::is_empty) || word.chars().any(|c| c.is_whitespace() && c != ' ')
}

/// Quotes for cmd and PowerShell at once. A word that one of them would interpret despite the
/// quotes is replaced by a placeholder.
fn quote_windows(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || r"-_./\:+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let is_read = |c: char| {
        "\"%!$`^&|<>".contains(c) || matches!(c, '\u{2018}'..='\u{201f}') || is_invisible(c)
    };
    if word.is_empty() || word.ends_with('\\') || word.chars().any(is_read) {
        return "PATH".to_owned();
    }
    format!("\"{word}\"")
}

/// PowerShell treats typographic quotes as straight ones.
fn quote_powershell(word: &str) -> String {
    let mut text = String::from("'");
    for c in word.chars() {
        if matches!(c, '\'' | '\u{2018}'..='\u{201b}') {
            text.push(c);
        }
        text.push(c);
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_home_is_short_where_a_shell_puts_it_back() {
        let line = |path: &str| {
            let home = Some(Path::new("/home/dev"));
            CommandLine::new("ls").argument(path).below_home(home)
        };
        for (path, short) in [
            ("/home/dev/code", "ls ~/code"),
            ("/home/dev/my code", "ls ~/'my code'"),
            ("/home/dev/~/x", "ls ~/'~/x'"),
            ("/home/dev/", "ls ~/"),
            ("/home/dev", "ls /home/dev"),
            ("/home/developer", "ls /home/developer"),
            ("/srv/a /home/dev/x", "ls '/srv/a /home/dev/x'"),
        ] {
            assert_eq!(line(path), short);
        }
        assert_eq!(
            CommandLine::new("ls").argument("/home/dev/x").below_home(None),
            "ls /home/dev/x"
        );
    }

    const HOSTILE: &[&str] = &[
        "",
        "/home/dev/x; touch PWNED",
        "$(touch PWNED)",
        "`touch PWNED`",
        "it's; touch PWNED; '",
        r"\'; touch PWNED; '",
        r"\",
        r"a\\'b",
        "a\"; touch PWNED; \"",
        "a\ntouch PWNED\n",
        "a\r\ntouch PWNED",
        "a && touch PWNED",
        "a | touch PWNED",
        "a > PWNED",
        "-rf",
        "--yes",
        "~root",
        "=touch",
        "*",
        "!!",
        "#x",
        "a\u{202e}b",
        "\u{1b}]0;x\u{7}",
        "two  blanks",
        " lead",
        "会话",
        "{a,b}",
        "a\u{a0}b",
    ];

    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test asks the shells themselves")]
    fn every_shell_takes_a_hostile_word_for_one_word() {
        let folder = tempfile::tempdir().unwrap();
        for shell in ["bash", "zsh", "dash", "sh", "fish"] {
            for word in HOSTILE {
                let script = format!("printf '[%s]' {}", quote_posix(word));
                let run = std::process::Command::new(shell)
                    .args(["-c", &script])
                    .current_dir(folder.path())
                    .output();
                // A shell that is not installed is skipped.
                let Ok(run) = run else { break };
                let escapes = ["bash", "zsh"].contains(&shell);
                if escapes || !quote_posix(word).starts_with('$') {
                    let echoed = String::from_utf8_lossy(&run.stdout).into_owned();
                    assert_eq!(echoed, format!("[{word}]"), "{shell}: {script}");
                }
                assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{shell}: {script}");
            }
        }
    }

    #[test]
    fn nothing_invisible_is_printed() {
        for word in HOSTILE {
            for text in [quote_posix(word), quote_windows(word)] {
                assert!(!text.chars().any(is_invisible), "{text:?}");
            }
        }
    }

    #[test]
    fn plain_words_stay_plain() {
        assert_eq!(quote_posix("/home/dev/code/shop"), "/home/dev/code/shop");
        assert_eq!(quote_posix("--resume=3d2f"), "--resume=3d2f");
        assert_eq!(quote_posix("/home/dev/my shop"), "'/home/dev/my shop'");
        assert_eq!(quote_posix("/home/dev/it's"), r"'/home/dev/it'\''s'");
        assert_eq!(quote_posix("a\x1b[2J'b\n"), r"$'a\x1b[2J\x27b\x0a'");
        assert_eq!(quote_windows(r"C:\code\shop"), r"C:\code\shop");
        assert_eq!(quote_windows(r"C:\my shop"), "\"C:\\my shop\"");
    }

    #[test]
    fn on_windows_what_a_shell_reads_is_not_printed() {
        for word in ["a & calc", "%PATH%", "$(calc)", "a\" & calc", "a`b", "a\u{201d}; calc", ""] {
            assert_eq!(quote_windows(word), "PATH", "{word}");
        }
        assert_eq!(quote_powershell("it's"), "'it''s'");
        assert_eq!(quote_powershell("a\u{2019}; calc"), "'a\u{2019}\u{2019}; calc'");
    }

    #[cfg(unix)]
    #[test]
    fn an_argument_is_never_an_option() {
        let line = CommandLine::new("recount show").argument("-rf").option("--raw");
        assert_eq!(line.to_string(), "recount show --raw -- -rf");
        let line = CommandLine::new("recount show").argument("3d2f").option("--raw");
        assert_eq!(line.to_string(), "recount show 3d2f --raw");
        let line = CommandLine::new("recount move").argument("3d2f").option_value("--to", "-x y");
        assert_eq!(line.to_string(), "recount move 3d2f --to='-x y'");
    }
}
