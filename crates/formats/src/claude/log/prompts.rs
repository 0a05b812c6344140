//! What was typed: titles, and what copies of it are known by.

use super::super::row::Row;
use super::super::unanswered;
use super::super::wording::{Wording, may_be_title, shown, wording};
use super::{Log, is_agent_file, one_line};
use crate::source::stable_hash;

/// The number of bytes of a prompt that are kept for titles.
const PROMPT: usize = 1024;

impl Log {
    pub(super) fn prompt(&mut self, row: &Row<'_>, at: u32) {
        let content = &row.message.content;
        let text = content.typed.or(row.attachment.prompt).or(row.content);
        let Some(text) = text else { return };
        if self.facts.queue.is_open() {
            self.facts.queue.meet(text);
        }
        let start = text.decode_start(PROMPT);
        if unanswered::copies(self.facts.session.version.as_deref())
            && let Some(row) = self.facts.rows.get(at as usize)
        {
            self.facts.words.insert(row.span.offset, stable_hash(start.trim()));
        }
        let session = &mut self.facts.session;
        let is_plain = session.first.is_some() && !row.marks.is_sidechain;
        if is_plain && wording(&start) == Wording::Typed && !start.trim().is_empty() {
            // Only the last one is shown, on one line.
            session.last = Some(start.into_owned());
            return;
        }
        let line = one_line(&shown(&start));
        if line.is_empty() {
            return;
        }
        if row.marks.is_sidechain {
            let whole = stable_hash(text.decode().trim());
            self.facts.asked.insert(at, (line.clone(), whole));
        }
        if row.marks.is_sidechain && !is_agent_file(&self.file) {
            return;
        }
        let session = &mut self.facts.session;
        if wording(&start) == Wording::Command || !may_be_title(&start) {
            session.command.get_or_insert_with(|| line.clone());
        } else if session.first.is_none() {
            session.first = Some(line.clone());
        }
        session.last = Some(line);
    }

    /// A command that the agent ran itself is the title of a session in which nothing else was typed.
    pub(super) fn command(&mut self, row: &Row<'_>) {
        let session = &mut self.facts.session;
        if session.first.is_some() || session.command.is_some() {
            return;
        }
        let Some(text) = row.message.content.text.or(row.content) else { return };
        let start = text.decode_start(PROMPT);
        if wording(&start) == Wording::LocalCommand {
            session.command = Some(one_line(&shown(&start)));
        }
    }
}
