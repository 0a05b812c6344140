//! The terminal app: every session of every agent, found, read and changed by keyboard.
//!
//! ```text
//! input ──► Event ──► App::update ──► Effect ──► run.rs: asks the engine, draws, gives the terminal away
//!                        ▲                            │
//!                        └────────── Answer ◄── work/ (one thread per slot, the newest question wins)
//! ```
//!
//! `App` is state and pure update: it reads no clock, file or environment, and tests drive it without a terminal.
//! Each screen is one `Screen`: the seven tabs in `screens/`, what lies over them in `over/`. Keys come
//! from one table, [`keys::KEYS`]. All text goes through [`StyledSpan`](recount_display::span::StyledSpan), so no session can send an escape.

mod app;
mod copy;
mod draw;
mod effect;
mod field;
mod frame;
pub mod keys;
mod list;
mod over;
mod rows;
mod run;
mod screen;
mod screens;
mod settings;
mod shared;
mod table;
mod terminal;
mod theme;
mod transcript;
mod work;

pub use run::{Ended, Error, Launch, run};
pub use screens::Tab;
pub use settings::AppSettings;
pub use theme::Theme;

#[cfg(test)]
mod tests;
