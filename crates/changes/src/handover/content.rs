//! The content of a new session, read from the old one whenever it is written.

use std::io::{self, Write};
use std::sync::Arc;

use jiff::Timestamp;
use recount_engine::{MessageCursor, Opened, View};
use recount_formats::HandoverFormat;
use recount_formats::handover::{HandoverMessage, HandoverRole, HandoverSession};
use recount_model::SessionId;
use recount_writer::change::Make;

use super::check::Expected;
use super::converter::{Converter, Scope};
use super::digest::{Outliner, tokens};
use super::loss::{Loss, LossKind, Losses};

/// The number of messages that are read at a time.
const PAGE: usize = 64;

/// The part of a conversation that is handed over.
#[derive(Clone, Debug)]
pub(super) struct Excerpt {
    pub(super) opened: Arc<Opened>,
    pub(super) from: &'static dyn HandoverFormat,
    pub(super) scope: Scope,
    /// How many turns at the start are left out.
    pub(super) skipped: usize,
}

impl Excerpt {
    /// Calls a function with each message, and the number of the old one.
    pub(super) fn each(
        &self,
        started: Timestamp,
        take: &mut dyn FnMut(HandoverMessage, u64) -> io::Result<()>,
    ) -> io::Result<Losses> {
        let mut converter = Converter::new(self.from, self.scope, started);
        let mut cursor = MessageCursor::new(Arc::clone(&self.opened), View::Full);
        let mut number = 0;
        let mut turns = 0;
        let mut result = Ok(());
        let mut pass = |message: HandoverMessage, number: u64| {
            turns += usize::from(message.role == HandoverRole::User || turns == 0);
            if turns > self.skipped && result.is_ok() {
                result = take(message, number);
            }
        };
        loop {
            let page = cursor.next_page(PAGE);
            if page.is_empty() {
                break;
            }
            for message in page {
                number += 1;
                match message {
                    Ok(message) => converter.message(message, number, &mut pass),
                    Err(_) => converter.losses.add(LossKind::Unread, 1, number),
                }
            }
        }
        converter.finish(&mut pass);
        result?;
        let mut losses = converter.losses;
        losses.add(LossKind::Summarized, self.skipped as u64, 1);
        Ok(losses)
    }

    /// Outlines all turns.
    pub(super) fn outline(&self) -> io::Result<Outliner> {
        let mut outliner = Outliner::default();
        let all = Self { skipped: 0, ..self.clone() };
        all.each(Timestamp::UNIX_EPOCH, &mut |message, _| {
            outliner.add(&message);
            Ok(())
        })?;
        Ok(outliner)
    }
}

/// A session that is written.
#[derive(Debug)]
pub(super) struct NewSession {
    pub(super) excerpt: Excerpt,
    pub(super) format: &'static dyn HandoverFormat,
    pub(super) id: SessionId,
    pub(super) folder: String,
    pub(super) project_hash: Option<String>,
    pub(super) title: Option<String>,
    pub(super) started: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) note: String,
}

/// What is known about a session before it is written.
#[derive(Debug)]
pub(super) struct Outlook {
    pub(super) losses: Vec<Loss>,
    pub(super) messages: u64,
    pub(super) tokens: usize,
    pub(super) expected: Expected,
}

impl NewSession {
    /// Replaces the first turns by a summary in the note.
    pub(super) fn summarize(&mut self, budget: usize) -> io::Result<()> {
        let outliner = self.excerpt.outline()?;
        self.excerpt.skipped = outliner.first_whole(budget);
        let digest = outliner.digest(self.excerpt.skipped, budget);
        if !digest.is_empty() {
            self.note.push_str("\n\n");
            self.note.push_str(digest.trim_end());
        }
        Ok(())
    }

    /// Reads all of it once: what is lost, how large it is, and what is expected of the file.
    pub(super) fn read(&self) -> io::Result<Outlook> {
        let mut unwritten = Losses::default();
        let (mut messages, mut size) = (0, tokens(&self.note));
        let mut expected = Expected::default();
        let losses = self.write(&mut |_| Ok(()), &mut |message, number, missing| {
            messages += 1;
            size += tokens(&message.text);
            let files = message.files.iter().map(|file| tokens(&file.content));
            size +=
                files.chain(message.calls.iter().map(|call| tokens(&call.output))).sum::<usize>();
            expected.add(message, number);
            unwritten.add(LossKind::Media, missing.media, number);
            for tool in missing.tools {
                unwritten.add(LossKind::Tool(tool), 1, number);
            }
        })?;
        let mut losses = losses.finish();
        losses.extend(unwritten.finish());
        Ok(Outlook { losses, messages, tokens: size, expected })
    }

    fn write(
        &self,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
        seen: &mut dyn FnMut(&HandoverMessage, u64, recount_formats::handover::Unwritten),
    ) -> io::Result<Losses> {
        let session = HandoverSession {
            id: &self.id,
            folder: &self.folder,
            project_hash: self.project_hash.as_deref(),
            title: self.title.as_deref(),
            started: self.started,
            updated: self.updated,
            note: &self.note,
        };
        let mut writer = self.format.writer(&session);
        let mut bytes = Vec::new();
        writer.begin(&mut bytes);
        out(&bytes)?;
        let losses = self.excerpt.each(self.started, &mut |message, number| {
            bytes.clear();
            let unwritten = writer.message(&message, &mut bytes);
            seen(&message, number, unwritten);
            out(&bytes)
        })?;
        bytes.clear();
        writer.end(&mut bytes);
        out(&bytes)?;
        Ok(losses)
    }
}

impl Make for NewSession {
    fn make(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write(&mut |bytes| out.write_all(bytes), &mut |_, _, _| {})?;
        Ok(())
    }
}
