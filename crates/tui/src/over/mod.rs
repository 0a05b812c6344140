//! What lies over a tab.

pub(crate) mod actions;
mod help;
mod palette;

pub(crate) use help::Help;
pub(crate) use palette::Palette;
