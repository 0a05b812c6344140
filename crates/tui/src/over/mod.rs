//! What lies over a tab.

pub(crate) mod actions;
mod help;
mod info;
mod paging;
mod palette;
mod pick;
mod plan;
mod reader;
mod sheet;

pub(crate) use help::Help;
pub(crate) use info::Info;
pub(crate) use paging::Paging;
pub(crate) use palette::Palette;
pub(crate) use pick::{Choice, Pick};
pub(crate) use plan::{PlanScreen, Planned, Planning};
pub(crate) use reader::Reader;
pub(crate) use sheet::Sheet;
