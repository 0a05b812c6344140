//! What lies over a tab.

pub(crate) mod actions;
mod help;
mod info;
mod paging;
mod palette;
mod reader;

pub(crate) use help::Help;
pub(crate) use info::Info;
pub(crate) use paging::Paging;
pub(crate) use palette::Palette;
pub(crate) use reader::Reader;
