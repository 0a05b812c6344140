//! What one model request writes to the file: an answer, its tool calls, the sub-agents they ran.

use super::{
    Session,
    message::{Answer, Body, Layout, Message, Tokens},
};
use crate::{
    call::{Action, Call, Outcome},
    json::{Json, Text, record},
    moment::Moment,
    options::Era,
    scenario::{Level, Reply, Scenario},
    tool::{self, FinishedCall, Setting},
};

impl Session<'_> {
    pub(super) fn reply(&mut self, reply: &Reply) {
        if let Some(model) = reply.model {
            self.model = model;
        }
        self.wait(900, 4_000);
        let mut thoughts = Vec::new();
        for (subject, description) in &reply.thoughts {
            self.wait(400, 2_500);
            thoughts.push((subject.clone(), description.clone(), self.now));
        }
        self.wait(300, 5_000);
        let answer = Answer {
            text: reply.text.clone(),
            tokens: Some(self.usage(reply)),
            model: Some(self.model),
            thoughts,
            ..Answer::default()
        };
        let piles_up = self.era == Era::Strings && reply.text.is_empty() && !reply.calls.is_empty();
        if piles_up {
            self.add_to_last_answer(answer, &reply.calls);
        } else {
            self.answer(answer, &reply.calls);
        }
        self.turns += 1;
        let stopped = reply.calls.iter().any(|call| matches!(call.outcome, Outcome::Cancelled));
        if stopped {
            self.notice(Level::Info, "Request cancelled.");
        }
        if self.era == Era::Checkpoints {
            self.hand_back();
        }
    }

    /// Writes the answer at once, and again with its calls when they are done.
    fn answer(&mut self, answer: Answer, calls: &[Call]) {
        self.push_body(Body::Answer(answer));
        if !calls.is_empty() {
            self.add_calls(calls);
        }
    }

    /// Up to 0.31 a reply without text has no record of its own: its calls are added to the answer before it, or to a new
    /// record if a prompt comes before.
    fn add_to_last_answer(&mut self, mut answer: Answer, calls: &[Call]) {
        let follows_answer =
            self.messages.last().is_some_and(|last| matches!(last.body, Body::Answer(_)));
        if !follows_answer {
            answer.layout = Layout::CallsFirst;
            self.push_body(Body::Answer(answer));
        }
        self.add_calls(calls);
    }

    /// Runs the calls and writes the last answer again, with them.
    fn add_calls(&mut self, calls: &[Call]) {
        let finished = self.run(calls);
        let Some(mut message) = self.messages.pop() else { return };
        if let Body::Answer(answer) = &mut message.body {
            answer.calls.extend(finished);
        }
        self.page.amend(&message, self.era);
        self.messages.push(message);
    }

    fn run(&mut self, calls: &[Call]) -> Vec<FinishedCall> {
        let asked = self.now;
        calls
            .iter()
            .enumerate()
            .map(|(index, call)| {
                self.wait(20, 1_800);
                let name = tool::name(&call.action, self.era);
                let id = self.call_id(&name, asked, index);
                let agent = self.delegate(&call.action);
                let group = self.random.below(28_000) as u64 + 2_000;
                let setting = Setting { era: self.era, project: self.project, group };
                let finished = tool::finish_call(call, setting, (id, agent), self.now);
                self.context_tokens += weight(&finished.response) / 4;
                finished
            })
            .collect()
    }

    fn call_id(&mut self, name: &str, at: Moment, index: usize) -> Text {
        let time = at.0;
        match (&self.parent, self.era) {
            (Some(_), _) => format!("{}#{}-{index}", self.id, self.turns),
            (None, Era::Strings) => format!("{name}-{time}-{}", self.random.hex13()),
            (None, Era::Parts) => format!("{name}_{time}_{index}"),
            (None, _) => format!("{name}__{name}_{time}_{index}"),
        }
        .into()
    }

    /// Runs a sub-agent, if the call is one; returns the id that the call names.
    fn delegate(&mut self, action: &Action) -> Option<Text> {
        let Action::Agent { name, prompt, result, scenario } = action else { return None };
        // Before 0.37 a sub-agent has no file of its own.
        if self.era == Era::Strings {
            return None;
        }
        let id: Text = if self.era == Era::Checkpoints {
            self.random.uuid().into()
        } else {
            self.random.base36().into()
        };
        let random = self.random.fork();
        let mut agent = Session::start_agent(self, &id, (self.now, random));
        let task = Scenario::new().ask(&brief(name, prompt));
        agent.play(&task);
        agent.play(scenario);
        agent.complete(result);
        self.now = agent.now.plus(40);
        self.subagents.push(agent.finish());
        // The call names its agent since 0.39.
        (self.era != Era::Parts).then_some(id)
    }

    /// Writes the sub-agent's last call, with its result as the title.
    fn complete(&mut self, result: &Text) {
        let report = record! { "response": result };
        self.wait(900, 3_000);
        let reply = Reply::default();
        let answer = Answer {
            tokens: Some(self.usage(&reply)),
            model: Some(self.model),
            ..Answer::default()
        };
        self.push_body(Body::Answer(answer));
        let id = self.call_id("complete_task", self.now, 0);
        let finished = FinishedCall::last(id, record! { "result": report.clone() }, self.now);
        if let Some(mut message) = self.messages.pop() {
            if let Body::Answer(answer) = &mut message.body {
                answer.calls.push(finished);
            }
            self.page.amend(&message, self.era);
            self.messages.push(message);
        }
        self.turns += 1;
        self.summary = Some(report.to_pretty().into());
    }

    /// Since 0.44 the results of the tools are also a message of their own.
    fn hand_back(&mut self) {
        let answer = self.messages.iter().rev().find_map(|message| match &message.body {
            Body::Answer(answer) => Some(answer),
            _ => None,
        });
        let parts: Vec<Json> = answer
            .map(|answer| answer.calls.iter().map(FinishedCall::response_part).collect())
            .unwrap_or_default();
        if !parts.is_empty() {
            self.wait(1, 12);
            let id = self.new_id();
            self.push(Message { id, time: self.now, body: Body::Results(parts) });
        }
    }

    /// Returns the usage that the service would count for this request.
    fn usage(&mut self, reply: &Reply) -> Tokens {
        let thoughts = reply.thoughts.iter().map(|(a, b)| (a.len() + b.len()) as u64).sum::<u64>();
        let input = self.context_tokens;
        let cached = if self.turns == 0 { 0 } else { input / 10 * 7 };
        let output = 8 + reply.text.len() as u64 / 4 + 28 * reply.calls.len() as u64;
        self.context_tokens += output;
        Tokens { input, output, cached, thoughts: thoughts / 3 }
    }
}

/// Returns the task of a sub-agent.
fn brief(agent: &str, prompt: &str) -> String {
    if agent == "codebase_investigator" {
        format!(
            "Your task is to do a deep investigation of the codebase to find all relevant files, code \
             locations, architectural mental map and insights to solve  for the following user \
             objective:\n<objective>\n{prompt}\n</objective>"
        )
    } else {
        prompt.to_owned()
    }
}

/// Returns the length of all text in a value.
fn weight(value: &Json) -> u64 {
    match value {
        Json::Text(text) => text.len() as u64,
        Json::List(items) => items.iter().map(weight).sum(),
        Json::Record(entries) => entries.iter().map(|(_, value)| weight(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 1,
    }
}
