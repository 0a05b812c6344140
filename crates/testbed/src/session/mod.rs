//! Writes a scenario in the format of a given era.
//!
//! A [`Session`] takes one `Step` after the other, tracks the list of messages that the program's loader would show, and
//! fills its page. `steps` knows what each step does in each era, `reply` what a model request writes, `message` and `page`
//! how it looks in the file.

mod context;
mod finished;
mod message;
mod page;
mod reply;
mod steps;

use std::collections::HashSet;

pub(crate) use finished::{Finished, Made, Role};
use message::{Body, CONTEXT_ID, Message};
use page::{Head, Page};

use crate::{
    json::{Json, Text, record},
    moment::Moment,
    options::Era,
    project::Project,
    random::Random,
    report::ExpectedKind,
    scenario::{Level, Scenario},
};

/// Tokens of the system prompt and tool declarations, which are part of every request.
const BASE_TOKENS: u64 = 5200;

/// A session while it is being written.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    /// The current era; a resume may advance it.
    era: Era,
    first_era: Era,
    project: &'a Project,
    random: Random,
    now: Moment,
    began: Moment,
    id: Text,
    /// The main session's id, for a sub-agent.
    parent: Option<Text>,
    page: Page,
    /// What the loader would show.
    messages: Vec<Message>,
    /// Every message id in the file, shown or not.
    ids: HashSet<Text>,
    model: &'static str,
    /// The context tokens of the next request.
    context_tokens: u64,
    /// The number of model requests; part of the call ids of sub-agents.
    turns: usize,
    summary: Option<Text>,
    done: Vec<Made>,
    subagents: Vec<Finished>,
    typed: Vec<(Moment, Text)>,
    commands: Vec<Text>,
    saved: Vec<(Text, Json)>,
}

impl<'a> Session<'a> {
    /// Starts the program in `project` at `at`.
    pub(crate) fn start(era: Era, project: &'a Project, at: Moment, mut random: Random) -> Self {
        let id: Text = random.uuid().into();
        let mut head = Head::new(&id, project, at);
        if era == Era::Strings {
            head.kind = None;
        }
        let mut session = Self::open(era, project, at, (id, None, head), random);
        if era == Era::Checkpoints {
            session.put_context();
        }
        session
    }

    /// Starts a sub-agent of the session `parent`.
    fn start_agent(parent: &Self, agent: &Text, (at, random): (Moment, Random)) -> Self {
        let mut head = Head::new(agent, parent.project, at);
        head.kind = Some("subagent");
        head.directories = Some(parent.project.path.as_str().into());
        let ids = (agent.clone(), Some(parent.id.clone()), head);
        Self::open(parent.era, parent.project, at, ids, random)
    }

    fn open(
        era: Era,
        project: &'a Project,
        at: Moment,
        (id, parent, head): (Text, Option<Text>, Head),
        mut random: Random,
    ) -> Self {
        let page = if era.is_document() { Page::document(head) } else { Page::lines(&head) };
        let models: &[&'static str] = match era {
            Era::Strings => &["gemini-2.5-pro", "gemini-2.5-pro", "gemini-2.5-flash"],
            Era::Parts => &["gemini-3-pro-preview", "gemini-3-flash-preview", "gemini-2.5-pro"],
            Era::Lines => &["gemini-3-flash-preview", "gemini-3-pro-preview"],
            _ => &["gemini-3.5-flash", "gemini-3.5-flash", "gemini-3.1-pro-preview"],
        };
        let model = random.pick(models);
        Self {
            era,
            first_era: era,
            project,
            random,
            now: at,
            began: at,
            id,
            parent,
            page,
            messages: Vec::new(),
            ids: HashSet::new(),
            model,
            context_tokens: BASE_TOKENS,
            turns: 0,
            summary: None,
            done: Vec::new(),
            subagents: Vec::new(),
            typed: Vec::new(),
            commands: Vec::new(),
            saved: Vec::new(),
        }
    }

    /// Writes a whole scenario.
    pub(crate) fn play(&mut self, scenario: &Scenario) {
        for step in &scenario.steps {
            self.step(step);
        }
        self.summary.clone_from(&scenario.summary);
    }

    /// Sets the title that the program would give it later.
    pub(crate) fn title(&mut self, title: Option<Text>) {
        self.summary = title;
    }

    /// Returns the approximate size of all files of the session so far.
    pub(crate) fn size(&self) -> usize {
        let done: usize = self.done.iter().map(|made| made.bytes.len()).sum();
        let agents: usize =
            self.subagents.iter().flat_map(|agent| &agent.files).map(|made| made.bytes.len()).sum();
        self.page.size() + done + agents
    }

    fn kind(&self) -> ExpectedKind {
        if self.parent.is_some() { ExpectedKind::Subagent } else { ExpectedKind::Main }
    }

    /// Advances the clock by `low` to `high` milliseconds.
    fn wait(&mut self, low: i64, high: i64) {
        self.now = self.now.plus(self.random.between(low, high));
    }

    fn new_id(&mut self) -> Text {
        self.random.uuid().into()
    }

    /// Adds a message and touches the file.
    fn push(&mut self, message: Message) {
        self.ids.insert(message.id.clone());
        self.page.add(&message, self.era);
        self.page.touch(self.now);
        self.messages.push(message);
    }

    fn push_body(&mut self, body: Body) {
        let id = self.new_id();
        self.push(Message { id, time: self.now, body });
    }

    fn notice(&mut self, level: Level, text: &str) {
        self.push_body(Body::Notice(level, text.into()));
    }

    /// Writes a line that replaces the whole list of messages.
    fn checkpoint(&mut self, messages: Vec<Message>) {
        let list = Json::list(messages.iter().map(|message| message.json(self.era)));
        let change = record! { "messages": list, "lastUpdated": self.now.iso() };
        self.page.line(&record! { "$set": change });
        self.ids.extend(messages.iter().map(|message| message.id.clone()));
        self.messages = messages;
    }

    fn context(&self) -> Message {
        let text = context::describe(self.project, self.now);
        Message { id: CONTEXT_ID.into(), time: self.now, body: Body::Injected(text.into()) }
    }

    fn put_context(&mut self) {
        let context = self.context();
        self.checkpoint(vec![context]);
    }
}
