//! Sessions: listing, opening and selecting them, and their facts.

pub(crate) mod agent_row;
pub(crate) mod caller;
pub(crate) mod content_filter;
pub(crate) mod contents;
pub(crate) mod conversation;
pub(crate) mod facts;
pub(crate) mod finish;
pub(crate) mod labels;
pub(crate) mod last_list;
pub(crate) mod list;
pub(crate) mod live;
pub(crate) mod lost;
pub(crate) mod open;
pub(crate) mod owners;
pub(crate) mod read_marks;
pub(crate) mod resume;
pub(crate) mod scope;
pub(crate) mod select;
pub(crate) mod union;
pub(crate) mod visibility;
