//! Texts of how recount and an agent stand.

use std::borrow::Cow;

use recount_changes::{IntegrationProblem, IntegrationState};

/// Returns the state of recount in an agent, in a word.
pub fn integration_state(state: IntegrationState) -> &'static str {
    match state {
        IntegrationState::NoAgent => "no agent",
        IntegrationState::NotThere => "not added",
        IntegrationState::Wired => "wired",
        IntegrationState::Older => "older",
        IntegrationState::Broken => "broken",
    }
}

/// Says why recount does not work in an agent.
pub fn integration_problem(problem: &IntegrationProblem) -> Cow<'static, str> {
    match problem {
        IntegrationProblem::FileGone => "a file of the integration is gone".into(),
        IntegrationProblem::FileChanged => "a file of the integration was changed".into(),
        IntegrationProblem::EntryGone => "an entry of the integration is gone".into(),
        IntegrationProblem::EntryChanged => "an entry of the integration was changed".into(),
        IntegrationProblem::UnreadableSettings => "the agent's settings cannot be read".into(),
        IntegrationProblem::NotStarted(error) => {
            format!("the server cannot be started: {error}").into()
        }
        IntegrationProblem::NoAnswer => "the server does not answer".into(),
        IntegrationProblem::NoTools => "the server offers no tools".into(),
    }
}
