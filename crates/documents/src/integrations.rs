//! How recount and the agents stand.

use std::borrow::Cow;
use std::io::{self, Write};

use recount_changes::IntegrationStatus;
use recount_display::words;
use serde::Serialize;

/// How recount and an agent stand, with the words of what is wrong.
#[derive(Serialize)]
struct ShownStatus<'a> {
    #[serde(flatten)]
    status: &'a IntegrationStatus,
    problem: Option<String>,
}

impl<'a> ShownStatus<'a> {
    fn of(status: &'a IntegrationStatus) -> Self {
        let problem = status.problem.as_ref().map(words::integration_problem);
        Self { status, problem: problem.map(Cow::into_owned) }
    }
}

/// Writes how recount and each agent stand.
///
/// # Errors
/// If it cannot be written.
pub fn integrations(out: &mut impl Write, all: &[IntegrationStatus]) -> io::Result<()> {
    let all: Vec<ShownStatus<'_>> = all.iter().map(ShownStatus::of).collect();
    crate::document(out, "integrations", "integrations", &all)
}

#[cfg(test)]
mod tests {
    use recount_changes::{IntegrationProblem, IntegrationState};
    use recount_model::SourceName;

    use super::*;

    fn written(problem: Option<IntegrationProblem>) -> String {
        let status = IntegrationStatus {
            agent: SourceName::new("toy"),
            name: "Toy",
            state: IntegrationState::Broken,
            release: Some("0.1.0".to_owned()),
            command: None,
            tools: None,
            problem,
            path: None,
        };
        let mut text = Vec::new();
        integrations(&mut text, &[status]).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_problem_is_worded_and_comes_last() {
        let start = r#"{"schema":"recount.integrations/1","integrations":[{"agent":"toy","name":"Toy","state":"broken","release":"0.1.0","command":null,"tools":null,"problem":"#;
        assert_eq!(written(None), format!("{start}null}}]}}\n"));
        let problem = IntegrationProblem::NotStarted("no such file".to_owned());
        let text = r#""the server cannot be started: no such file""#;
        assert_eq!(written(Some(problem)), format!("{start}{text}}}]}}\n"));
    }
}
