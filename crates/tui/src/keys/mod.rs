//! Every key, in one table: the help screen, the hints, the docs page and `[keys]` of the config are made from it.

mod chord;
mod keymap;
mod table;

pub use chord::Chord;
pub use keymap::{Clash, Keymap, Pressed};
pub use table::{Action, Binding, KEYS, Place, documentation, json};
