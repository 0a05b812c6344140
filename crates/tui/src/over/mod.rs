//! What lies over a tab.

pub(crate) mod actions;
mod help;
mod palette;
mod pick;
mod plan;
mod sheet;

pub(crate) use help::Help;
pub(crate) use palette::Palette;
pub(crate) use pick::{Choice, Pick};
pub(crate) use plan::{PlanScreen, Planned, Planning};
pub(crate) use sheet::Sheet;
