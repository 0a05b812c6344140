//! The outcome of a change.

use std::sync::Arc;

use recount_changes::Error as ChangeError;
use recount_display::words;

use crate::effect::{Effect, Notice};
use crate::rows::Rows;
use crate::screen::Context;

/// Why something was not done, and the next step.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) what: String,
    pub(crate) hint: Option<String>,
}

impl Failed {
    pub(crate) fn new(error: &ChangeError) -> Self {
        let hint = words::change_hint(error).map(str::to_owned);
        Self { what: error.full_message(), hint }
    }
}

/// The outcome of a change: what is said, and the rows if they are others.
#[derive(Debug)]
pub(crate) struct ChangeOutcome {
    said: Result<String, Failed>,
    rows: Option<Arc<Rows>>,
}

impl ChangeOutcome {
    pub(crate) fn new(said: Result<String, ChangeError>, rows: Option<Arc<Rows>>) -> Self {
        Self { said: said.map_err(|error| Failed::new(&error)), rows }
    }

    /// Returns why it was not done, if it was not.
    pub(crate) fn failed(self) -> Result<Self, Failed> {
        match self.said {
            Err(failed) => Err(failed),
            said => Ok(Self { said, ..self }),
        }
    }

    /// Says it at the foot, and shows the rows.
    pub(crate) fn tell(self, cx: &mut Context<'_>) {
        if let Some(rows) = self.rows {
            cx.then(Effect::Rows(rows));
        }
        cx.say(match self.said {
            Ok(text) => Notice::done(text),
            Err(Failed { what, hint: Some(hint) }) => Notice::error(format!("{what} · {hint}")),
            Err(Failed { what, hint: None }) => Notice::error(what),
        });
    }
}
