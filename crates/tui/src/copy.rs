//! Copies text: by the system's own program, by the terminal (OSC 52), else into a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recount_engine::Engine;

use crate::effect::Notice;
use crate::terminal::Terminal;

/// Terminals refuse more than this.
const MOST: usize = 70_000;

/// Copies text, and returns what to say about it.
pub(crate) fn copy(text: &str, what: &str, engine: &Engine, terminal: &mut Terminal) -> Notice {
    let env = engine.env();
    if !env.is_set("SSH_CONNECTION") && recount_platform::copy(env, text) {
        return Notice::done(format!("{what} copied"));
    }
    if text.len() <= MOST {
        let sequence = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
        if terminal.send(sequence.as_bytes()).is_ok() {
            let tmux = if env.is_set("TMUX") { " (tmux needs set-clipboard on)" } else { "" };
            return Notice::done(format!("{what} sent to the terminal's clipboard{tmux}"));
        }
    }
    match engine.keep_text(text) {
        Ok(path) => {
            Notice::done(format!("{what} is too long to copy; it is in {}", path.display()))
        }
        Err(error) => Notice::error(format!("{what} cannot be copied: {}", error.full_message())),
    }
}
