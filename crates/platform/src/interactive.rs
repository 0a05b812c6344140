//! Programs that are started for the user: this program again, the editor, the browser, the clipboard's own.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Env, find_program};

/// Programs that copy what they read, each with the variable that says that its display is there.
const CLIPBOARDS: &[(&str, &[&str], &str)] = &[
    ("pbcopy", &[], ""),
    ("clip.exe", &[], "WSL_DISTRO_NAME"),
    ("wl-copy", &[], "WAYLAND_DISPLAY"),
    ("xclip", &["-selection", "clipboard"], "DISPLAY"),
    ("xsel", &["--clipboard", "--input"], "DISPLAY"),
];

/// Runs this program again, with the terminal as its own, and waits for it to end.
///
/// # Errors
/// If it cannot be started.
pub fn run_self(args: &[OsString]) -> io::Result<()> {
    let own = std::env::current_exe()?;
    #[expect(clippy::disallowed_methods, reason = "this program itself")]
    let mut command = Command::new(own);
    command.args(args).status().map(drop)
}

/// Opens a file in the user's editor, with the terminal as its own, and waits for it to end.
///
/// # Errors
/// If it cannot be started.
pub fn edit(env: &Env, path: &Path) -> io::Result<()> {
    let editor = env.text("VISUAL").or_else(|| env.text("EDITOR")).unwrap_or("vi");
    let mut words = editor.split_whitespace();
    #[expect(clippy::disallowed_methods, reason = "the editor that the user has chosen")]
    let mut command = Command::new(words.next().unwrap_or("vi"));
    command.args(words).arg(path).status().map(drop)
}

/// Copies text with the system's own program. Returns whether there was one and it did.
pub fn copy(env: &Env, text: &str) -> bool {
    let has_display = |variable: &str| variable.is_empty() || env.is_set(variable);
    for (name, args, variable) in CLIPBOARDS {
        if !has_display(variable) {
            continue;
        }
        let Some(program) = find_program(env, name) else { continue };
        #[expect(clippy::disallowed_methods, reason = "the clipboard's own program")]
        let mut command = Command::new(program);
        command.args(*args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { continue };
        let written =
            child.stdin.take().is_some_and(|mut input| input.write_all(text.as_bytes()).is_ok());
        if child.wait().is_ok_and(|status| status.success()) && written {
            return true;
        }
    }
    false
}

/// Programs that open an address in the user's browser.
const BROWSERS: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["explorer"]
} else {
    &["xdg-open", "wslview", "sensible-browser"]
};

/// Opens an address in the user's browser. Returns whether a program for that could be started.
pub fn open_address(env: &Env, address: &str) -> bool {
    let own = env.text("BROWSER").filter(|own| !own.contains(char::is_whitespace));
    for name in own.iter().chain(BROWSERS) {
        let named = Path::new(name);
        let found =
            if named.is_absolute() { Some(named.to_owned()) } else { find_program(env, name) };
        let Some(program) = found else { continue };
        #[expect(clippy::disallowed_methods, reason = "the user's browser")]
        let mut command = Command::new(program);
        command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Ok(mut child) = command.spawn() {
            // It may run as long as the browser does.
            std::thread::spawn(move || child.wait());
            return true;
        }
    }
    false
}
