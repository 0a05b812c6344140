//! Problems of recount in the agents.

use super::{Finding, Remedy, Severity, Symptom, Topic};
use crate::{IntegrationState, IntegrationStatus};

impl Finding {
    /// Returns what is wrong with recount in an agent. That it was never added is not a problem.
    pub fn of_integration(status: &IntegrationStatus) -> Option<Self> {
        let agent = status.name;
        let (severity, what) = match status.state {
            IntegrationState::Older => {
                let release = status.release.clone().unwrap_or_default();
                (Severity::Note, Symptom::OlderIntegration { agent, release })
            }
            IntegrationState::Broken => {
                let why = status.problem.clone()?;
                (Severity::Error, Symptom::BrokenIntegration { agent, why })
            }
            IntegrationState::NoAgent | IntegrationState::NotThere | IntegrationState::Wired => {
                return None;
            }
        };
        Some(Self {
            topic: Topic::Integrations,
            severity,
            what,
            session: None,
            path: status.path.clone(),
            remedy: Some(Remedy::Integrate(status.agent)),
        })
    }
}
