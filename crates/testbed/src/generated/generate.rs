//! Generates prompts, tool calls, answers, and occasional events.

use super::pool::{NOUNS, Pool, han, identifier, words};
use crate::{
    call::{Action, Call, Hit, Outcome, agent, fetch, glob, list, server, todos, web_search},
    json::Text,
    options::Era,
    random::Random,
    scenario::{Level, Prompt, Reply, Scenario, Step},
};

pub(super) struct Generator<'a> {
    random: Random,
    pool: &'a Pool,
}

/// The largest tool output; the program truncates longer ones.
const LONGEST: usize = 24_000;

impl<'a> Generator<'a> {
    pub(super) fn new(random: Random, pool: &'a Pool) -> Self {
        Self { random, pool }
    }

    /// Returns the number of turns of a session without a target size.
    pub(super) fn few(&mut self) -> usize {
        1 + self.random.below(5)
    }

    /// Returns a prompt and everything that follows from it, in at most about `room` bytes.
    pub(super) fn turn(&mut self, era: Era, room: usize) -> Vec<Step> {
        let most = (room / 8).clamp(300, LONGEST);
        let mut steps = vec![Step::Ask(self.prompt(most))];
        for _ in 0..self.random.below(5) {
            let reply = self.work(era, most);
            let stopped = reply.calls.iter().any(|call| matches!(call.outcome, Outcome::Cancelled));
            steps.push(Step::Reply(reply));
            if stopped {
                return steps;
            }
        }
        let text = self.answer();
        let thoughts = self.thoughts();
        steps.push(Step::Reply(Reply { thoughts, text, ..Reply::default() }));
        steps
    }

    /// Returns a rare event.
    pub(super) fn event(&mut self) -> Option<Step> {
        let subject = words(&mut self.random, 5);
        Some(match self.random.below(200) {
            0..=5 => Step::Rewind(1 + self.random.below(2)),
            6..=9 => Step::Stop(format!("Explain {subject}").into()),
            10..=11 => Step::Refused(format!("Rewrite {subject}").into()),
            12..=14 => Step::Compress(self.snapshot()),
            15..=17 => Step::Resume(self.random.between(2, 3_000)),
            18..=19 => Step::Save(self.random.pick(NOUNS).into()),
            20..=23 => {
                let output = self.pool.lines(&mut self.random, 300);
                Step::Shell { command: "git status --short".into(), output }
            }
            24..=25 => Step::Notice(Level::Warning, subject.into()),
            _ => return None,
        })
    }

    /// Returns a title, for four sessions in ten.
    pub(super) fn title(&mut self) -> Option<Text> {
        let has_title = self.random.percent(40);
        let title = format!("{} the {}", self.verb(), words(&mut self.random, 4));
        has_title.then(|| title.into())
    }

    fn verb(&mut self) -> &'static str {
        self.random.pick(&["Fix", "Explain", "Rewrite", "Test", "Measure", "Document", "Rename"])
    }

    fn prompt(&mut self, most: usize) -> Prompt {
        let (name, path) = (identifier(&mut self.random), self.path());
        let text = match self.random.below(14) {
            0..=2 => format!("{} `{name}` in {path}.", self.verb()),
            3..=5 => format!("Why does {name} {}?", words(&mut self.random, 6)),
            6..=7 => format!("Please {}.", words(&mut self.random, 12)),
            8 => "Go on.".to_owned(),
            9 => format!("请{}，{}", han(&mut self.random, 4), han(&mut self.random, 3)),
            10 => format!("{path} の {name} を直してください。"),
            11 => format!("{name} is slow 🐢, make it fast 🚀"),
            _ => {
                let text: Text = format!("{} @{path}", self.verb()).into();
                let file = self.pool.lines(&mut self.random, most.min(4_000));
                return Prompt { text: text.clone(), typed: Some(text), files: vec![(path, file)] };
            }
        };
        Prompt { text: text.into(), typed: None, files: Vec::new() }
    }

    fn path(&mut self) -> Text {
        let folder = self.random.pick(&["src", "src/store", "tests", "docs", "crates/core/src"]);
        let (name, end) = (self.random.pick(NOUNS), self.random.pick(&["rs", "ts", "py", "md"]));
        format!("{folder}/{name}.{end}").into()
    }

    fn thoughts(&mut self) -> Vec<(Text, Text)> {
        (0..self.random.below(3))
            .map(|_| {
                let subject =
                    format!("{}ing it", self.random.pick(&["Read", "Check", "Weigh", "Plann"]));
                (subject.into(), format!("I {}.", words(&mut self.random, 22)).into())
            })
            .collect()
    }

    /// Returns a reply that runs tools.
    fn work(&mut self, era: Era, most: usize) -> Reply {
        let text = if self.random.percent(40) {
            format!("I {}.", words(&mut self.random, 8)).into()
        } else {
            "".into()
        };
        let calls = (0..=self.random.below(3)).map(|_| self.call(era, most)).collect();
        Reply { thoughts: self.thoughts(), text, calls, model: None }
    }

    fn call(&mut self, era: Era, most: usize) -> Call {
        let mut call = self.action(era, most);
        match self.random.below(40) {
            0 => call = call.cancelled(),
            1..=2 => call = call.fails(&format!("Error: {}", words(&mut self.random, 9))),
            _ => {}
        }
        call
    }

    fn action(&mut self, era: Era, most: usize) -> Call {
        let size = 120 + self.random.below(most);
        let text = self.pool.lines(&mut self.random, size);
        let path = self.path();
        match self.random.below(50) {
            0..=14 => Action::Read { path, text }.into(),
            15..=28 => {
                let command = format!("cargo test {}", identifier(&mut self.random)).into();
                let code = u8::from(self.random.percent(15));
                let size = size.min(2_000);
                let output = self.pool.lines(&mut self.random, size);
                Action::Run { command, about: "Run some tests".into(), output, code }.into()
            }
            29..=33 => {
                let before = self.pool.lines(&mut self.random, size.min(6_000));
                let old: Text = before.lines().next().unwrap_or_default().into();
                let new = format!("{old} // {}", words(&mut self.random, 4)).into();
                let why = words(&mut self.random, 8).into();
                Action::Edit { path, before, old, new, why }.into()
            }
            34..=37 => {
                Action::Write { path, text: self.pool.lines(&mut self.random, size.min(6_000)) }
                    .into()
            }
            38..=41 => {
                let hits = text.lines().take(12).zip(3..).map(|(line, number)| Hit {
                    path: path.clone(),
                    line: number * 7,
                    text: line.into(),
                });
                Action::Search {
                    pattern: identifier(&mut self.random).into(),
                    hits: hits.collect(),
                }
                .into()
            }
            other => self.seldom(other, era, size),
        }
    }

    fn seldom(&mut self, kind: usize, era: Era, size: usize) -> Call {
        let answer = self.pool.lines(&mut self.random, size.min(3_000));
        let query = words(&mut self.random, 5);
        match kind {
            42 => list("src", &["store/", "main.rs", "parser.rs", "session.rs"]),
            43 => glob("**/*.rs", &["src/main.rs", "src/parser.rs", "src/store/index.rs"]),
            44 => todos(&[
                ("Read it", "completed"),
                ("Change it", "in_progress"),
                ("Test it", "pending"),
            ]),
            45 => web_search(&query, &answer),
            46 => fetch(
                &format!("Summarise https://example.com/{}", self.random.pick(NOUNS)),
                &answer,
            ),
            47 => server("orders", "run_query", &query, &answer),
            48 => Action::Remember(query.into()).into(),
            _ if matches!(era, Era::Strings | Era::CodexDocument | Era::CodexBare)
                || self.random.percent(70) =>
            {
                Action::Remember(query.into()).into()
            }
            _ => {
                let inner = Scenario::new()
                    .act("", [Action::Read { path: self.path(), text: answer }.into()]);
                agent("generalist", &format!("Find out about {query}."), &query, inner)
            }
        }
    }

    fn answer(&mut self) -> Text {
        let (name, path) = (identifier(&mut self.random), self.path());
        let first = words(&mut self.random, 16);
        let code = self.pool.lines(&mut self.random, 240);
        match self.random.below(5) {
            0 => format!("`{name}` in **{path}**: {first}."),
            1 => format!("Done: {first}.\n\n```rust\n{code}```\n\nThat is all."),
            2 => {
                let (a, b) = (self.random.below(900), self.random.below(900));
                format!("{first}:\n\n| what | before | after |\n|---|---:|---:|\n| `{name}` | {a} | {b} |")
            }
            3 => format!("{}。\n\n- {}\n- {}", han(&mut self.random, 8), han(&mut self.random, 5), name),
            _ => format!("{first}.\n\n1. {}\n2. {}", words(&mut self.random, 9), words(&mut self.random, 7)),
        }
        .into()
    }

    fn snapshot(&mut self) -> Text {
        format!(
            "<state_snapshot>\n<overall_goal>{}</overall_goal>\n<key_knowledge>{}</key_knowledge>\n\
             </state_snapshot>",
            words(&mut self.random, 9),
            words(&mut self.random, 40)
        )
        .into()
    }
}
