//! How a plan is made and called.

use std::sync::Arc;

use recount_changes::{Error as ChangeError, Plan, Proposal};

use crate::work::Work;

/// A plan, as it was made.
#[derive(Debug, Default)]
pub(crate) struct Planned {
    /// The plan, and what people should know.
    pub(crate) offer: Proposal,
    /// What is left out, and why.
    pub(crate) left_out: Vec<String>,
    /// What the plan is about, in one line.
    pub(crate) about: Option<String>,
    /// Whether an earlier change was interrupted, and is completed first.
    pub(crate) is_after_another: bool,
}

impl From<Proposal> for Planned {
    fn from(offer: Proposal) -> Self {
        Self { offer, ..Self::default() }
    }
}

type Make = Arc<dyn Fn(&Work) -> Result<Planned, ChangeError> + Send + Sync>;
type Done = Arc<dyn Fn(&Plan) -> String + Send + Sync>;

/// How a plan is made and called.
#[derive(Clone)]
pub(crate) struct Planning {
    /// What is planned: `delete 2 sessions`.
    pub(super) title: String,
    /// The word on the button.
    pub(super) verb: &'static str,
    pub(super) make: Make,
    pub(super) done: Done,
    /// How it is taken back.
    pub(super) back: &'static str,
    /// Whether the number of sessions must be typed.
    pub(super) must_type: bool,
    /// Whether it is another plan each time it is made, so that it is not made again.
    pub(super) is_new_each_time: bool,
    /// The command line that does the same.
    pub(super) command: String,
}

impl Planning {
    pub(crate) fn new(
        title: impl Into<String>,
        verb: &'static str,
        make: impl Fn(&Work) -> Result<Planned, ChangeError> + Send + Sync + 'static,
        done: impl Fn(&Plan) -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            title: title.into(),
            verb,
            make: Arc::new(make),
            done: Arc::new(done),
            back: "z takes it back",
            must_type: false,
            is_new_each_time: false,
            command: "recount --help".to_owned(),
        }
    }

    /// Sets how it is taken back.
    pub(crate) fn back(self, back: &'static str) -> Self {
        Self { back, ..self }
    }

    /// Asks for the number of sessions, however few there are.
    pub(crate) fn typed(self) -> Self {
        Self { must_type: true, ..self }
    }

    /// Notes that it is another plan each time it is made.
    pub(crate) fn new_each_time(self) -> Self {
        Self { is_new_each_time: true, ..self }
    }

    /// Sets the command line that does the same.
    pub(crate) fn command(self, command: String) -> Self {
        Self { command, ..self }
    }
}
