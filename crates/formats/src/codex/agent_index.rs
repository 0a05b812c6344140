//! Finds the calls that started agents, in time that does not grow with their number.

use std::collections::{HashMap, HashSet};

use crate::outline::AgentCall;
use crate::source::stable_hash;

/// What is known of a list of calls that started agents.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentIndex {
    /// The last call with an id, by the hash of the id.
    by_call: HashMap<u64, usize>,
    /// The hashes of the agents.
    agents: HashSet<u64>,
    /// All calls before this one have an agent.
    without: usize,
}

impl AgentIndex {
    pub(super) fn new(calls: &[AgentCall]) -> Self {
        let mut index = Self::default();
        for (at, call) in calls.iter().enumerate() {
            index.add_call(&call.call, at);
            index.add_agent(call.agent.as_deref());
        }
        index
    }

    /// Notes the place of a call.
    pub(super) fn add_call(&mut self, call: &str, at: usize) {
        self.by_call.insert(stable_hash(call), at);
    }

    /// Notes the agent of a call.
    pub(super) fn add_agent(&mut self, agent: Option<&str>) {
        self.agents.extend(agent.map(stable_hash));
    }

    /// Returns the place of the last call with this id.
    pub(super) fn call(&self, id: &str) -> Option<usize> {
        self.by_call.get(&stable_hash(id)).copied()
    }

    /// Whether a call has this agent.
    pub(super) fn has_agent(&self, agent: &str) -> bool {
        self.agents.contains(&stable_hash(agent))
    }

    /// Returns the place of the first call without an agent.
    pub(super) fn first_without(&mut self, calls: &[AgentCall]) -> Option<usize> {
        let rest = calls.get(self.without..).unwrap_or_default();
        self.without += rest.iter().take_while(|call| call.agent.is_some()).count();
        (self.without < calls.len()).then_some(self.without)
    }
}
