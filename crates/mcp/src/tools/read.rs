//! `read_session`

use std::sync::Arc;

use recount_display::number::plural;
use recount_display::when;
use recount_engine::{
    Cite, CitedMessage, Error, MessageCursor, Opened, Position, View, Visibility,
};
use recount_model::{Message, SessionFacts};

use super::story::{Story, story};
use super::turns::{TEXT, Teller};
use super::{Trouble, fate, project};
use crate::arguments::{Arguments, BadArgument};
use crate::memory::Moment;
use crate::text::{Quoted, fit, lines_tokens};

/// The tokens of a story, and the most.
pub(crate) const STORY: (usize, usize) = (2000, 8000);
/// The tokens of messages around a cite, and the most.
const AROUND: (usize, usize) = (800, 4000);
/// Tokens for what stands after the lines.
const END: usize = 30;
/// The shortest prefix of an id.
const SHORTEST: usize = 4;

pub(super) fn read(moment: &Moment<'_>, arguments: &Arguments) -> Result<Quoted, Trouble> {
    let wanted = arguments.needed("session")?;
    let view = arguments.choice("view", &["story", "full"])?;
    let around = arguments.number("around", 3, 0..=20)?;
    if let Some(cite) = cite(wanted) {
        let budget = arguments.number("max_tokens", AROUND.0, 200..=AROUND.1)?;
        return near(moment, &cite, around, budget);
    }
    let budget = arguments.number("max_tokens", STORY.0, 200..=STORY.1)?;
    let from = arguments.cursor()?;
    let facts = select(moment, wanted)?;
    let opened = Arc::new(moment.engine.open_key(&facts.key(), moment.progress)?);
    let many = MessageCursor::new(Arc::clone(&opened), View::Full).len();
    if from.is_some_and(|from| from > many) {
        let id = crate::text::line(facts.id.prefix(), 40);
        let many = plural(many as u64, "message");
        return Ok(Quoted::own(format!("session {id} has {many}: there are no more")));
    }
    if view == Some("full") {
        full(moment, &opened, from.unwrap_or(1).max(1), budget)
    } else {
        told(moment, &opened, from, budget)
    }
}

/// Returns the cite that an argument is; ids are none.
fn cite(wanted: &str) -> Option<Cite> {
    let is_agent =
        |name: &str| recount_engine::source_names().iter().any(|known| known.as_str() == name);
    let cite: Cite = wanted.parse().ok()?;
    (!is_agent(&cite.session)).then_some(cite)
}

/// Finds the session that an argument names. Files are not opened by name: a model may only read what agents recorded.
pub(crate) fn select(moment: &Moment<'_>, wanted: &str) -> Result<Arc<SessionFacts>, Trouble> {
    let all = moment.snapshot.sessions();
    match wanted {
        "self" => {
            let own = all.iter().filter(|facts| moment.is_own(facts));
            let own = own.max_by_key(|facts| (!facts.kind.is_subagent(), facts.updated));
            let unknown = || {
                BadArgument(
                    "your own session is not known; list_sessions shows the newest ones".to_owned(),
                )
            };
            return Ok(Arc::clone(own.ok_or_else(unknown)?));
        }
        "latest" => {
            let newest = moment.engine.newest(20, moment.progress)?;
            let is_shown = |facts: &&Arc<SessionFacts>| {
                !moment.is_own(facts) && Visibility::default().hides(facts).is_none()
            };
            return Ok(Arc::clone(newest.iter().find(is_shown).ok_or(Error::NoSessions)?));
        }
        _ => {}
    }
    let (agent, id) =
        wanted.split_once(':').map_or((None, wanted), |(agent, id)| (Some(agent), id));
    if id.chars().count() < SHORTEST {
        return Err(Error::TooShort(wanted.to_owned()).into());
    }
    let is_it = |facts: &&Arc<SessionFacts>| {
        agent.is_none_or(|agent| facts.source.as_str() == agent)
            && facts.id.as_str().starts_with(id)
    };
    let mut found: Vec<&Arc<SessionFacts>> = all.iter().filter(is_it).collect();
    let exact = found.iter().filter(|facts| facts.id.as_str() == id).count();
    if exact == 1 {
        found.retain(|facts| facts.id.as_str() == id);
    }
    if found.len() > 1 && found.iter().filter(|facts| !facts.kind.is_subagent()).count() == 1 {
        found.retain(|facts| !facts.kind.is_subagent());
    }
    match found.as_slice() {
        [] => Err(Error::NoSession(wanted.to_owned()).into()),
        [one] => Ok(Arc::clone(one)),
        several => {
            let candidates = several.iter().map(|facts| (***facts).clone()).collect();
            Err(Error::Ambiguous { wanted: wanted.to_owned(), candidates }.into())
        }
    }
}

/// Returns the line that says which session it is.
pub(crate) fn title(moment: &Moment<'_>, facts: &SessionFacts) -> Result<String, Error> {
    let began = facts.started.map_or_else(|| "no date".to_owned(), when::minute);
    Ok(format!(
        "\"{}\" · {} · {} · {began}",
        moment.line(facts.title.as_deref().unwrap_or("(no title)"), 80)?,
        project(moment, facts)?,
        facts.source,
    ))
}

fn told(
    moment: &Moment<'_>,
    opened: &Arc<Opened>,
    from: Option<usize>,
    budget: usize,
) -> Result<Quoted, Trouble> {
    let facts = &opened.facts;
    let id = crate::text::line(facts.id.prefix(), 40);
    let mut answer = Quoted::own(format!(
        "session {id}: {} messages; #N is message N: read_session or verify_quote with \"{id}:N\"",
        facts.counts.messages
    ));
    answer.lines.push(title(moment, facts)?);
    let room = budget.saturating_sub(answer.tokens() + END);
    let Story { lines, more } = story(moment, opened, from, room)?;
    answer.lines.extend(lines);
    if let Some(more) = more {
        answer
            .after
            .push(format!("left out: the same with \"cursor\":\"{more}\" goes on at #{more}"));
    }
    Ok(answer)
}

/// Returns the story of a session.
pub(crate) fn resource(
    moment: &Moment<'_>,
    facts: &SessionFacts,
    budget: usize,
) -> Result<Quoted, Trouble> {
    let opened = Arc::new(moment.engine.open_key(&facts.key(), moment.progress)?);
    told(moment, &opened, None, budget)
}

fn head(number: usize, message: &Message, cite: Option<&Cite>) -> String {
    let when = message.time.map(when::minute).unwrap_or_default();
    let cite = cite.map(|cite| format!("  {cite}")).unwrap_or_default();
    format!("#{number} {when}{}{cite}", fate(message.fate))
}

fn full(
    moment: &Moment<'_>,
    opened: &Arc<Opened>,
    from: usize,
    budget: usize,
) -> Result<Quoted, Trouble> {
    let facts = &opened.facts;
    let teller = Teller::new(moment, facts);
    let mut cursor = MessageCursor::new(Arc::clone(opened), View::Full);
    let many = cursor.len();
    cursor.seek(&Position::Index(from - 1));
    let mut answer = Quoted::own(format!(
        "session {}: {many} messages",
        crate::text::line(facts.id.prefix(), 40)
    ));
    answer.lines.push(title(moment, facts)?);
    let mut room = budget.saturating_sub(answer.tokens() + END);
    let mut number = from;
    while let Some(message) = cursor.next_page(1).into_iter().next() {
        if let Ok(message) = message {
            let head = head(number, &message, cursor.cite(&message.place).as_ref());
            let lines = teller.full(&message, &head, TEXT)?;
            let cost: usize = lines_tokens(&lines);
            if cost > room && number > from {
                break;
            }
            room = room.saturating_sub(cost);
            answer.lines.extend(lines);
        }
        number += 1;
    }
    fit_or_say(&mut answer.lines, budget.saturating_sub(END + 40));
    if number <= many {
        answer.after.push(format!(
            "left out: {} later messages; the same with \"cursor\":\"{number}\"",
            many + 1 - number
        ));
    }
    Ok(answer)
}

/// Returns a cited message with its neighbours, as many as fit.
fn near(moment: &Moment<'_>, cite: &Cite, around: usize, budget: usize) -> Result<Quoted, Trouble> {
    let Some(CitedMessage { opened, number, is_unchanged, .. }) =
        moment.engine.cited(cite, moment.progress)?
    else {
        return Err(BadArgument(format!(
            "session {} has no message {}",
            cite.session, cite.message
        ))
        .into());
    };
    let facts = &opened.facts;
    let teller = Teller::new(moment, facts);
    let mut cursor = MessageCursor::new(Arc::clone(&opened), View::Full);
    let mut answer = Quoted::own(format!(
        "session {}, around message {number} of {}",
        crate::text::line(facts.id.prefix(), 40),
        cursor.len()
    ));
    if !is_unchanged {
        answer.before.push(
            "the file changed since it was cited: this message may be another one".to_owned(),
        );
    }
    answer.lines.push(title(moment, facts)?);
    let mut room = budget.saturating_sub(answer.tokens() + END);
    // The cited one first, then its neighbours, the nearest first.
    let order = std::iter::once(number).chain((1..=around).flat_map(|far| {
        [number.checked_sub(far).filter(|at| *at > 0), Some(number + far)].into_iter().flatten()
    }));
    let mut parts: Vec<(usize, Vec<String>)> = Vec::new();
    let mut left_out = 0usize;
    let many = cursor.len();
    for at in order.filter(|at| *at <= many) {
        cursor.seek(&Position::Index(at - 1));
        let Some(message) = cursor.next_page(1).into_iter().flatten().next() else { continue };
        let head = head(at, &message, cursor.cite(&message.place).as_ref());
        let most = if at == number { TEXT.max(room * 2) } else { TEXT.min(room * 2) };
        let mut lines = teller.full(&message, &head, most)?;
        if at == number {
            fit_or_say(&mut lines, room);
        }
        let cost: usize = lines_tokens(&lines);
        if cost > room && at != number {
            left_out += 1;
            continue;
        }
        room = room.saturating_sub(cost);
        parts.push((at, lines));
    }
    parts.sort_by_key(|(at, _)| *at);
    answer.lines.extend(parts.into_iter().flat_map(|(_, lines)| lines));
    if left_out > 0 {
        answer.after.push(format!(
            "{left_out} of the messages around it did not fit: a larger max_tokens shows them"
        ));
    }
    Ok(answer)
}

/// Drops lines that do not fit, and says so.
fn fit_or_say(lines: &mut Vec<String>, budget: usize) {
    if lines_tokens(lines) <= budget {
        return;
    }
    let left = fit(lines, budget.saturating_sub(15));
    lines.push(format!("… [{left} more lines: a larger max_tokens shows them]"));
}
