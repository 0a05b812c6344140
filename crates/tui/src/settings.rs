//! What the user has set for the app.

use crate::keys::Keymap;
use crate::theme::Theme;

/// What the user has set for the app.
#[derive(Clone, Debug, Default)]
pub struct AppSettings {
    /// The keys in force.
    pub keymap: Keymap,
    /// The colors.
    pub theme: Theme,
    /// Whether only ASCII is drawn for marks and lines.
    pub ascii: bool,
    /// Whether nothing moves by itself.
    pub still: bool,
    /// Whether the terminal keeps the mouse.
    pub no_mouse: bool,
}
