//! A session of any agent while it is being written.

use crate::{
    claude::Transcript,
    codex::{Rollout, StoragePlace},
    json::Text,
    moment::Moment,
    options::{Era, TestbedAgent},
    project::Project,
    random::Random,
    scenario::{Scenario, Step},
    session::{Finished, Session},
};

#[derive(Debug)]
pub(crate) enum Writing<'a> {
    Gemini(Box<Session<'a>>),
    Claude(Box<Transcript<'a>>),
    Codex(Box<Rollout<'a>>),
}

impl<'a> Writing<'a> {
    /// Starts the program of the era in `project` at `at`.
    pub(crate) fn start(era: Era, project: &'a Project, at: Moment, random: Random) -> Self {
        match era.agent() {
            TestbedAgent::Gemini => {
                Self::Gemini(Box::new(Session::start(era, project, at, random)))
            }
            TestbedAgent::Claude => {
                Self::Claude(Box::new(Transcript::start(era, project, at, random)))
            }
            TestbedAgent::Codex => Self::Codex(Box::new(Rollout::start(era, project, at, random))),
        }
    }

    /// Writes a whole scenario.
    pub(crate) fn play(&mut self, scenario: &Scenario) {
        scenario.steps.iter().for_each(|step| self.step(step));
        self.title(scenario.summary.clone());
    }

    /// Performs one step.
    pub(crate) fn step(&mut self, step: &Step) {
        match self {
            Self::Gemini(session) => session.step(step),
            Self::Claude(transcript) => transcript.step(step),
            Self::Codex(rollout) => rollout.step(step),
        }
    }

    /// Gives the session its title.
    pub(crate) fn title(&mut self, title: Option<Text>) {
        match self {
            Self::Gemini(session) => session.title(title),
            Self::Claude(transcript) => transcript.title(title),
            Self::Codex(rollout) => rollout.title(title),
        }
    }

    /// Sets where the session is stored when it is finished, for agents that have more than one place.
    pub(crate) fn put(&mut self, place: StoragePlace) {
        if let Self::Codex(rollout) = self {
            rollout.put(place);
        }
    }

    /// Returns the approximate size of all files of the session so far.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Gemini(session) => session.size(),
            Self::Claude(transcript) => transcript.size(),
            Self::Codex(rollout) => rollout.size(),
        }
    }

    /// Ends the program; returns the session, after those that it was forked from.
    pub(crate) fn finish(self) -> Vec<Finished> {
        match self {
            Self::Gemini(session) => vec![session.finish()],
            Self::Claude(transcript) => transcript.finish(),
            Self::Codex(rollout) => rollout.finish(),
        }
    }
}
