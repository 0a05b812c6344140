//! `verify_quote`

use recount_display::when;
use recount_engine::{Cite, Verdict, Verification};

use super::snippet::speaker;
use super::{Trouble, day};
use crate::arguments::Arguments;
use crate::memory::Moment;
use crate::text::{Quoted, line};

/// The characters of a passage, and of a list of words.
const PASSAGE: usize = 240;
const WORDS: usize = 120;

pub(super) fn verify(moment: &Moment<'_>, arguments: &Arguments) -> Result<Quoted, Trouble> {
    let cite: Cite = arguments.needed("cite")?.parse()?;
    let quote = arguments.needed("quote")?;
    let redaction = moment.memory.redaction()?;
    let verified = moment.engine.verify(&cite, quote, redaction, moment.progress)?;
    let about = about(&verified);
    let at = verified.found.as_ref().map(|found| format!(" at {found}")).unwrap_or_default();
    let mut answer = Quoted::default();
    answer.before.push(match &verified.verdict {
        Verdict::Verified => format!("verified: the record has these words{at} ({about})"),
        Verdict::Near { .. } => format!("near: the record{at} has something else ({about})"),
        Verdict::NotThere => match &verified.found {
            Some(found) => format!("not there: this message does not have these words; another one has: {found} ({about})"),
            None => format!("not there: neither this message nor its session has these words ({about})"),
        },
        Verdict::Changed => format!("file changed since it was cited; the quote was found again{at} ({about})"),
        Verdict::Gone => "gone: the session was deleted, or changed so that it no longer has these words".to_owned(),
    });
    if let Verdict::Near { passage, only_quoted, only_recorded } = &verified.verdict {
        let who = match (&verified.field, &verified.session) {
            (Some(field), Some(session)) => speaker(*field, session.facts.source),
            _ => "record",
        };
        answer.lines.push(format!("{who}: {}", line(passage, PASSAGE)));
        if !only_quoted.is_empty() || !only_recorded.is_empty() {
            let quoted = line(&only_quoted.join(" "), WORDS);
            let recorded = line(&only_recorded.join(" "), WORDS);
            answer
                .lines
                .push(format!("only in your quote: {quoted} | only in the record: {recorded}"));
        }
    }
    Ok(answer)
}

/// Returns the speaker, the time, and the fate of the message.
fn about(verified: &Verification) -> String {
    let mut about = Vec::new();
    if let (Some(field), Some(session)) = (&verified.field, &verified.session) {
        about.push(speaker(*field, session.facts.source).to_owned());
    }
    if let Some(message) = &verified.message {
        let time = message.time.map(when::minute);
        let session = verified.session.as_ref().map(|session| day(&session.facts));
        about.extend(time.or(session));
        about.push(message.fate.to_string());
    }
    about.join(", ")
}
