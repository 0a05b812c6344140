//! Removes secrets from sessions before they are exported.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Mutex;

use recount_model::{Message, MessageId, Project, RawJson, RecordedPath, SessionFacts};
use recount_redact::{RedactionReport, Redactor, Rules, SecretKind, Tags};

use crate::{Engine, Error};

/// The folder of the key of our tags, which is private.
const FOLDER: &str = "redact";
const KEY: &str = "key";

/// Removes secrets from exports, and records the findings.
#[derive(Debug)]
pub struct Redaction {
    redactor: Redactor,
    /// For names that programs use: only keys of a known shape are removed, because ids look random, too.
    names: Redactor,
    tags: Tags,
    report: Mutex<RedactionReport>,
    /// A fingerprint of the rules and the key.
    pub(super) fingerprint: u64,
}

/// The findings in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// The session and the message, or the part of it.
    pub place: String,
    /// The kind of the secret.
    pub kind: String,
    /// The number of findings.
    pub times: usize,
    /// The prefixes of such keys, if all of an issuer's have one.
    pub begins: Vec<&'static str>,
}

impl Engine {
    /// Prepares redaction by the default rules and those of the user.
    ///
    /// # Errors
    /// If a rule of the user is invalid, or the key of the tags cannot be stored.
    pub fn redaction(&self) -> Result<Redaction, Error> {
        let own = &self.config.redact;
        let homes = self.homes();
        let rules = Rules {
            homes: homes.iter().filter_map(|home| home.to_str()).map(str::to_owned).collect(),
            patterns: own.patterns.clone().into_iter().collect(),
            allow: own.allow.clone(),
            ..Rules::default()
        };
        let key = self.redaction_key()?;
        let fingerprint =
            crate::cache::refresh::hash(&(&rules.homes, &rules.patterns, &rules.allow, key));
        let mut shapes = rules.clone();
        shapes.kinds.retain(|kind| *kind <= SecretKind::Jwt);
        let redactor =
            |rules| Redactor::new(rules).map_err(|mistake| Error::Redaction(mistake.to_string()));
        let (redactor, names) = (redactor(rules)?, redactor(shapes)?);
        Ok(Redaction {
            redactor,
            names,
            tags: Tags::new(&key),
            report: Mutex::default(),
            fingerprint,
        })
    }

    /// The key is generated once and stored, so that the same secret has the same tag in every export.
    pub(super) fn redaction_key(&self) -> Result<[u8; 32], Error> {
        let mut key = recount_platform::random();
        let Some(data) = &self.folders.data else { return Ok(key) };
        let folder = data.join(FOLDER);
        recount_writer::create_private_folder(data)?;
        recount_writer::create_private_folder(&folder)?;
        recount_writer::update(&folder.join(KEY), |old| match old.map(<[u8; 32]>::try_from) {
            Some(Ok(kept)) => {
                key = kept;
                None
            }
            _ => Some(key.to_vec()),
        })?;
        Ok(key)
    }
}

impl Redaction {
    /// Returns the findings so far.
    pub fn found(&self) -> Vec<Redacted> {
        let Ok(report) = self.report.lock() else { return Vec::new() };
        let rows = report.rows().map(|(place, kind, count)| Redacted {
            place: place.to_owned(),
            kind: self.redactor.name(kind).to_owned(),
            times: count.times,
            begins: count.prefixes.iter().copied().collect(),
        });
        let mut rows: Vec<Redacted> = rows.collect();
        // Message 2 comes before message 10.
        rows.sort_by_cached_key(|row| natural(&row.place));
        rows
    }

    /// Returns a text without secrets; findings are not recorded.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redactor.redact(text, &self.tags)
    }

    /// Returns a part of a text without secrets: one that is only partly in it is replaced as a whole.
    pub fn part(&self, text: &str, part: Range<usize>) -> String {
        let mut clean = String::with_capacity(part.len());
        let mut from = part.start;
        for finding in self.redactor.find(text) {
            if finding.range.end <= part.start || finding.range.start >= part.end {
                continue;
            }
            clean.push_str(text.get(from..finding.range.start.max(from)).unwrap_or_default());
            clean.push_str(&self.redactor.tag(&finding, text, &self.tags));
            from = finding.range.end;
        }
        clean.push_str(text.get(from..part.end.max(from)).unwrap_or_default());
        self.redactor.redact(&clean, &self.tags).into_owned()
    }

    /// Returns a text without secrets; findings are not recorded.
    pub(super) fn plain(&self, text: &str) -> String {
        self.redactor.redact(text, &self.tags).into_owned()
    }

    /// Returns a session's row without secrets.
    pub(super) fn facts(&self, facts: &SessionFacts) -> SessionFacts {
        let (clean, pass) = self.clean(facts);
        pass.note();
        clean
    }

    /// The same for file names, without recording findings that are recorded later.
    pub(super) fn unnoted(&self, facts: &SessionFacts) -> SessionFacts {
        self.clean(facts).0
    }

    fn clean(&self, facts: &SessionFacts) -> (SessionFacts, Pass<'_>) {
        let mut pass = self.pass(format!("{} (title and paths)", facts.id));
        let mut clean = facts.clone();
        pass.maybe(&mut clean.title);
        pass.maybe(&mut clean.agent_title);
        pass.maybe(&mut clean.first_prompt);
        pass.maybe(&mut clean.last_prompt);
        pass.maybe(&mut clean.branch);
        clean.directories.iter_mut().for_each(|directory| pass.text(directory));
        clean.files.iter_mut().for_each(|file| pass.text(&mut file.path));
        clean.models.iter_mut().for_each(|model| pass.name(model));
        if let Some(call) = &mut clean.parent_call {
            pass.name(call);
        }
        if let Some(agent) = &mut clean.agent {
            pass.maybe(&mut agent.kind);
            pass.maybe(&mut agent.name);
            pass.maybe(&mut agent.description);
        }
        if let Some(labels) = &mut clean.labels {
            labels.tags = labels.tags.iter().map(|tag| pass.clean(tag)).collect();
        }
        if let Some(memory) = &clean.memory {
            clean.memory = Some(pass.json(memory));
        }
        let mut project = Project::clone(&clean.project);
        project.path = project.path.map(|path| RecordedPath::new(pass.clean(path.as_str())));
        pass.maybe(&mut project.slug);
        pass.maybe(&mut project.alias);
        // The hash of a path can be guessed from likely paths.
        project.hash = None;
        for clue in &mut project.evidence {
            pass.text(&mut clue.detail);
            clue.names = clue.names.take().map(|path| RecordedPath::new(pass.clean(path.as_str())));
        }
        clean.project = project.into();
        (clean, pass)
    }

    /// Removes the secrets from a message.
    pub(super) fn message(&self, session: &SessionFacts, number: usize, message: &mut Message) {
        let mut pass = self.pass(format!("{} message {number}", session.id));
        let is_shown_whole = message.text == message.display_text;
        pass.text(&mut message.text);
        if is_shown_whole {
            message.display_text.clone_from(&message.text);
        } else {
            pass.text(&mut message.display_text);
        }
        for file in &mut message.files {
            pass.text(&mut file.path);
            pass.text(&mut file.content);
        }
        for thought in &mut message.thoughts {
            pass.text(&mut thought.subject);
            pass.text(&mut thought.description);
        }
        if let Some(id) = &mut message.id
            && let Some(clean) = pass.changed_name(id.as_str())
        {
            *id = MessageId::new(clean);
        }
        if let Some(model) = &mut message.model {
            pass.name(model);
        }
        message.media.iter_mut().for_each(|media| pass.name(&mut media.mime));
        for call in &mut message.tool_calls {
            pass.name(&mut call.name);
            call.media.iter_mut().for_each(|media| pass.name(&mut media.mime));
            let names = [&mut call.id, &mut call.display_name, &mut call.agent_id];
            for name in names.into_iter().flatten() {
                pass.name(name);
            }
            call.args = pass.json(&call.args);
            for text in [
                &mut call.description,
                &mut call.key_arg,
                &mut call.output,
                &mut call.display,
                &mut call.diff,
            ] {
                pass.maybe(text);
            }
        }
        message.place.file = pass.clean(&message.place.file).into();
        pass.note();
    }

    /// Starts with one message.
    pub(super) fn pass(&self, place: String) -> Pass<'_> {
        Pass { redaction: self, place, report: RedactionReport::new() }
    }
}

/// Returns a key that sorts numbers in a text by value: each is written with its length before it.
fn natural(text: &str) -> String {
    let mut key = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, digits) = rest.split_at(at);
        let end = digits.find(|character: char| !character.is_ascii_digit());
        let (number, behind) = digits.split_at(end.unwrap_or(digits.len()));
        let number = number.trim_start_matches('0');
        key.push_str(before);
        let _infallible = write!(key, "{:04}{number}", number.len());
        rest = behind;
    }
    key.push_str(rest);
    key
}

/// The redaction of one message.
pub(super) struct Pass<'a> {
    redaction: &'a Redaction,
    place: String,
    report: RedactionReport,
}

impl Pass<'_> {
    fn clean(&mut self, text: &str) -> String {
        let Redaction { redactor, tags, .. } = self.redaction;
        redactor.redact_noting(text, tags, &self.place, &mut self.report).into_owned()
    }

    fn text(&mut self, text: &mut String) {
        let Redaction { redactor, tags, .. } = self.redaction;
        let clean = redactor.redact_noting(text, tags, &self.place, &mut self.report);
        if let Cow::Owned(clean) = clean {
            *text = clean;
        }
    }

    /// Removes known keys from names that programs use.
    fn name(&mut self, name: &mut String) {
        if let Some(clean) = self.changed_name(name) {
            *name = clean;
        }
    }

    /// Returns a name without known keys, if it had any.
    pub(super) fn changed_name(&mut self, name: &str) -> Option<String> {
        let Redaction { names, tags, .. } = self.redaction;
        let clean = names.redact_noting(name, tags, &self.place, &mut self.report);
        if let Cow::Owned(clean) = clean { Some(clean) } else { None }
    }

    /// Returns texts without the secrets that are only visible when they are joined. A secret is replaced where it begins.
    pub(super) fn changed_pieces(&mut self, pieces: &[String]) -> Option<Vec<String>> {
        let Redaction { redactor, tags, .. } = self.redaction;
        let whole = pieces.concat();
        let found = redactor.find(&whole);
        if found.is_empty() {
            return None;
        }
        self.report.add(&self.place, &found);
        let mut found = found.iter().peekable();
        let mut start = 0;
        let mut clean = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let end = start + piece.len();
            let (mut new, mut from) = (String::new(), start);
            while let Some(finding) = found.peek().filter(|finding| finding.range.start < end) {
                if finding.range.start >= start {
                    new.push_str(whole.get(from..finding.range.start).unwrap_or_default());
                    new.push_str(&redactor.tag(finding, &whole, tags));
                }
                from = finding.range.end.min(end);
                if finding.range.end > end {
                    break;
                }
                found.next();
            }
            new.push_str(whole.get(from..end).unwrap_or_default());
            clean.push(new);
            start = end;
        }
        Some(clean)
    }

    fn maybe(&mut self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn json(&mut self, json: &RawJson) -> RawJson {
        RawJson::new(self.clean(json.as_str()))
    }

    /// Returns a text without secrets, if there were any.
    pub(super) fn changed(&mut self, text: &str) -> Option<String> {
        let Redaction { redactor, tags, .. } = self.redaction;
        let clean = redactor.redact_noting(text, tags, &self.place, &mut self.report);
        if let Cow::Owned(clean) = clean { Some(clean) } else { None }
    }

    /// Returns a value without secrets, if it has any that are only recognized by its key.
    pub(super) fn changed_value(&mut self, key: &str, value: &str) -> Option<String> {
        let Redaction { redactor, tags, .. } = self.redaction;
        let before = format!("\"{key}\": \"");
        let (pair, mut report) = (format!("{before}{value}\""), RedactionReport::new());
        let clean = redactor.redact_noting(&pair, tags, &self.place, &mut report);
        if matches!(clean, Cow::Borrowed(_)) {
            return None;
        }
        let inside = clean.strip_prefix(&before).and_then(|rest| rest.strip_suffix('"'));
        // If a key is a secret itself, keys are kept.
        if inside == Some(value) || clean.ends_with(&format!("\": \"{value}\"")) {
            return None;
        }
        self.report.merge(report);
        Some(inside.unwrap_or("[REDACTED]").to_owned())
    }

    pub(super) fn note(self) {
        if !self.report.is_empty()
            && let Ok(mut report) = self.redaction.report.lock()
        {
            report.merge(self.report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::natural;

    #[test]
    fn numbers_are_sorted_by_how_large_they_are() {
        let mut places =
            ["s message 10", "s message 2", "s message 1", "s (title and paths)", "r9 a", "r10 a"];
        places.sort_by_cached_key(|place| natural(place));
        assert_eq!(
            places,
            ["r9 a", "r10 a", "s (title and paths)", "s message 1", "s message 2", "s message 10"]
        );
    }
}
