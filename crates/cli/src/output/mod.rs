//! What the command prints: JSON and progress here, text for terminals in [`recount_display`].

pub(crate) use recount_display::{
    bar, canvas, columns, explain, form, grid, number, project_names, sanitize, span, theme,
    transcript, width, wrap,
};

pub(crate) mod json;
pub(crate) mod progress;
