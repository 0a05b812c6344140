//! Changes: a plan is shown, and what was shown is done. Nothing here is reachable without `--changes`.

use std::path::{Component, Path};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use recount_changes::{Changes, Compaction, Error as ChangeError, Fork, Plan, Proposal, Prune};
use recount_display::number::plural;
use recount_display::plan::{files, left_out, sessions};
use recount_display::words;
use recount_engine::{Cancel, Engine};
use recount_model::{Labels, SessionFacts};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::command;
use crate::assets::hex;
use crate::failure::ApiError;
use crate::router::{Answer, Asked};

/// Maximum number of plans that wait for confirmation.
const WAITING: usize = 16;
/// How long a plan waits.
const GOOD: Duration = Duration::from_secs(10 * 60);
/// For more sessions than these, their number has to be typed.
const TYPED: usize = 20;
/// The longest tag.
const TAG: usize = 100;

/// What is to be changed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ChangeRequest {
    pub(crate) change: String,
    /// Keys of sessions: `gemini/279d2ba9-…`.
    pub(crate) sessions: Vec<String>,
    /// The id of a deleted session.
    pub(crate) session: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) title: Option<String>,
    /// A message.
    pub(crate) at: Option<String>,
    pub(crate) receipt: Option<String>,
}

/// Plans that wait to be agreed to.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<Vec<Waiting>>);

#[derive(Debug)]
struct Waiting {
    digest: String,
    made: Instant,
    offer: Proposal,
    verb: &'static str,
    must_type: Option<usize>,
}

impl Plans {
    fn put(&self, waiting: Waiting) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.retain(|plan| plan.made.elapsed() < GOOD && plan.digest != waiting.digest);
        if plans.len() >= WAITING {
            plans.remove(0);
        }
        plans.push(waiting);
    }

    /// Returns the plan with this digest, once, if what had to be typed was typed.
    fn take(&self, digest: &str, typed: Option<usize>) -> Result<Waiting, ApiError> {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.retain(|plan| plan.made.elapsed() < GOOD);
        let at = plans.iter().position(|plan| plan.digest == digest);
        let at = at.ok_or_else(|| {
            ApiError::missing("there is no such plan any more").hint("plan it again")
        })?;
        let must_type = plans.get(at).and_then(|plan| plan.must_type);
        if must_type.is_some() && typed != must_type {
            return Err(ApiError::bad("the number of sessions has to be typed"));
        }
        Ok(plans.remove(at))
    }
}

/// A plan, and what it is called.
struct Planned {
    offer: Proposal,
    verb: &'static str,
    about: Option<String>,
    left_out: Vec<String>,
}

impl Planned {
    fn new(verb: &'static str, offer: Proposal) -> Self {
        Self { offer, verb, about: None, left_out: Vec::new() }
    }
}

/// Reads a body.
pub(crate) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::bad(format!("the body is not understood: {error}")))
}

/// Answers with a plan.
pub(crate) fn plan(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, ApiError> {
    let request: ChangeRequest = parse(body)?;
    if asked.app.is_demo {
        return Err(ApiError::new(StatusCode::CONFLICT, "demo data cannot be changed"));
    }
    let chosen = chosen(asked, &request.sessions)?;
    let command = command::line(asked.app, &request, &chosen)?;
    let engine = asked.app.engine.afresh();
    let planned = make(&request, &chosen, &engine, asked.cancel)?;
    let offer = planned.offer.completed()?;
    let mut document = Vec::new();
    recount_documents::plan(&mut document, &offer, engine.folders(), None)?;
    let digest = hex(&Sha256::digest(&document), 32);
    let many = offer.plan.sessions.len();
    let must_type = (many > TYPED).then_some(many);
    let answer = json!({
        "schema": "recount.plan/1",
        "digest": digest,
        "title": title(planned.verb, &offer.plan),
        "verb": planned.verb,
        "about": planned.about,
        "left_out": planned.left_out,
        "must_type": must_type,
        "command": command,
        "plan": serde_json::from_slice::<Value>(&document)?,
    });
    asked.app.plans.put(Waiting {
        digest,
        made: Instant::now(),
        offer,
        verb: planned.verb,
        must_type,
    });
    json_answer(&answer)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Agreed {
    digest: String,
    #[serde(default)]
    typed: Option<usize>,
}

/// Does what a plan says, if it is the one that was shown.
pub(crate) fn apply(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, ApiError> {
    let agreed: Agreed = parse(body)?;
    let waiting = asked.app.plans.take(&agreed.digest, agreed.typed)?;
    let Waiting { offer, verb, .. } = waiting;
    if offer.is_empty() {
        return Err(ApiError::bad("nothing would change"));
    }
    let engine = asked.app.engine.afresh();
    // Whoever asked may go away: what was begun is finished.
    let made = Changes::new(&engine).carry_out(offer.plan.clone(), &())?;
    let mut document = Vec::new();
    recount_documents::plan(&mut document, &offer, engine.folders(), Some(&made.receipt))?;
    asked.app.expire();
    asked.app.hub.tell("changed", None, &json!({"what": "history"}));
    let undo = format!("{} undo {}", asked.app.command(), recount_platform::quote(&made.receipt));
    json_answer(&json!({
        "schema": "recount.receipt/1",
        "receipt": made.receipt,
        "done": done(verb, &offer.plan),
        "undo": undo,
        "plan": serde_json::from_slice::<Value>(&document)?,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelRequest {
    sessions: Vec<String>,
    #[serde(default)]
    add: Vec<String>,
    #[serde(default)]
    remove: Vec<String>,
    #[serde(default)]
    pinned: Option<bool>,
}

/// Changes tags and pins, which are recount's own.
pub(crate) fn labels(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, ApiError> {
    let request: LabelRequest = parse(body)?;
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == ',';
    let tag = |tag: &String| {
        let tag = tag.trim().trim_start_matches(['+', '#']);
        if tag.is_empty() || tag.len() > TAG || tag.contains(is_odd) {
            return Err(ApiError::bad(format!("'{tag}' is not a tag")).hint("a tag is one word"));
        }
        Ok(tag.to_owned())
    };
    let add: Vec<String> = request.add.iter().map(tag).collect::<Result<_, _>>()?;
    let remove: Vec<String> = request.remove.iter().map(tag).collect::<Result<_, _>>()?;
    let chosen = chosen(asked, &request.sessions)?;
    let names: Vec<String> =
        chosen.iter().map(|facts| format!("{}:{}", facts.source, facts.id)).collect();
    let change = |labels: &mut Labels| {
        labels.tags.extend(add.iter().cloned());
        labels.tags.retain(|tag| !remove.contains(tag));
        labels.pinned = request.pinned.unwrap_or(labels.pinned);
    };
    let changed = asked.app.engine.afresh().change_labels(&names, change, asked.cancel)?;
    asked.app.expire();
    asked.app.hub.tell("changed", None, &json!({"what": "labels"}));
    let mut text = Vec::new();
    recount_documents::document(&mut text, "tag", "sessions", &changed)?;
    Ok(Answer::Json(text))
}

/// Answers with a document.
pub(crate) fn json_answer(value: &Value) -> Result<Answer, ApiError> {
    let mut text = Vec::new();
    recount_documents::whole(&mut text, value)?;
    Ok(Answer::Json(text))
}

/// Returns the sessions with these keys. Whatever else is named, a path above all, is refused.
pub(crate) fn chosen(
    asked: &Asked<'_>,
    keys: &[String],
) -> Result<Vec<Arc<SessionFacts>>, ApiError> {
    let snapshot = asked.app.snapshot(asked.cancel)?;
    let find = |key: &String| {
        let (source, id) = key.split_once('/').unwrap_or_default();
        let is_it =
            |row: &&Arc<SessionFacts>| row.source.as_str() == source && row.id.as_str() == id;
        let found = snapshot.sessions().iter().find(is_it).cloned();
        found.ok_or_else(|| ApiError::missing(format!("no session '{key}'")))
    };
    keys.iter().map(find).collect()
}

/// Returns the one session that a change is for.
pub(crate) fn only(chosen: &[Arc<SessionFacts>]) -> Result<&SessionFacts, ApiError> {
    match chosen {
        [one] => Ok(one),
        _ => Err(ApiError::bad("this change is for one session")),
    }
}

/// Returns a member that a change needs.
pub(crate) fn needed<'a>(value: Option<&'a String>, name: &str) -> Result<&'a str, ApiError> {
    value.map(String::as_str).ok_or_else(|| ApiError::bad(format!("{name} is missing")))
}

/// Returns the id of a deleted session.
pub(crate) fn deleted_id(request: &ChangeRequest) -> Result<&str, ApiError> {
    let id = needed(request.session.as_ref(), "session")?;
    if id.contains(['/', '\\']) {
        return Err(ApiError::bad("session: an id, not a path"));
    }
    Ok(id)
}

fn make(
    request: &ChangeRequest,
    chosen: &[Arc<SessionFacts>],
    engine: &Engine,
    cancel: &Cancel,
) -> Result<Planned, ApiError> {
    let changes = Changes::new(engine);
    let free = || -> Result<(Vec<String>, Vec<String>), ChangeError> {
        let (ids, used) = changes.not_running(chosen)?;
        Ok((ids, used.iter().map(|owner| left_out(owner, chosen)).collect()))
    };
    if chosen.is_empty() && matches!(request.change.as_str(), "delete" | "move" | "repair") {
        return Err(ApiError::bad("sessions are missing"));
    }
    Ok(match request.change.as_str() {
        "delete" => {
            let (ids, left_out) = free()?;
            Planned { left_out, ..Planned::new("delete", changes.delete_plan(&ids, cancel)?) }
        }
        "move" => {
            let to = absolute(engine, needed(request.to.as_ref(), "to")?)?;
            let (ids, left_out) = free()?;
            Planned { left_out, ..Planned::new("move", changes.move_all_plan(&ids, &to, cancel)?) }
        }
        "rename" => {
            let facts = only(chosen)?;
            let title = request.title.as_deref().unwrap_or_default();
            free()?;
            let offer = changes.rename_plan(facts.id.as_str(), Some(title), cancel)?;
            let old = facts.title.as_deref().unwrap_or("(no title)");
            let new = if title.is_empty() { "(its first prompt)" } else { title };
            Planned { about: Some(format!("{old} → {new}")), ..Planned::new("rename", offer) }
        }
        "fork" => {
            let fork = Fork { at: request.at.as_deref(), to: None, title: None };
            Planned::new("fork", changes.fork_plan(only(chosen)?.id.as_str(), fork, cancel)?)
        }
        "undo" => {
            let offer = changes.undo_plan(request.receipt.as_deref())?;
            let undone = offer.plan.undoes.as_ref().map(|undoes| undoes.receipt.clone());
            let history = changes.history()?;
            let change = history.iter().find(|change| Some(&change.receipt) == undone.as_ref());
            let about = change.map(|change| words::described(change, engine.clock().now()));
            Planned { about, ..Planned::new("undo", offer) }
        }
        "restore" => {
            Planned::new("restore", changes.restore_plan(Some(deleted_id(request)?), None, cancel)?)
        }
        "relocate" => {
            let new = absolute(engine, needed(request.to.as_ref(), "to")?)?;
            let old = needed(request.from.as_ref(), "from")?;
            Planned::new("relocate", changes.relocate_plan(old, Some(&new), cancel)?)
        }
        "repair" => {
            let ids: Vec<String> = chosen.iter().map(|facts| facts.id.to_string()).collect();
            Planned::new("repair", changes.repair_plan(&ids, cancel)?)
        }
        "compact" => {
            let sessions = vec![only(chosen)?.id.to_string()];
            let wanted = Compaction { sessions, min_saving: 0, strict_only: false };
            Planned::new("compact", changes.compact_plan(&wanted, cancel)?)
        }
        "fix" => Planned::new("fix", changes.fix_plan(None, None, cancel)?.offer),
        "prune" => {
            let rules = Prune { orphaned: true, ..Prune::default() };
            Planned::new("prune", changes.prune_plan(&rules, cancel)?)
        }
        other => return Err(ApiError::bad(format!("change={other}: unknown"))),
    })
}

/// Returns a folder as an absolute path; names of projects stay as they are.
fn absolute(engine: &Engine, wanted: &str) -> Result<String, ApiError> {
    let path = engine.folders().expand(wanted);
    let is_odd = path.components().any(|part| part == Component::ParentDir);
    if is_odd || wanted.is_empty() || (path.is_relative() && Path::new(wanted).starts_with(".")) {
        return Err(ApiError::bad("to: an absolute folder, or the name of a project"));
    }
    Ok(path.to_string_lossy().into_owned())
}

fn title(verb: &str, plan: &Plan) -> String {
    match plan.sessions.len() {
        0 => verb.to_owned(),
        many => format!("{verb} {}", plural(many as u64, "session")),
    }
}

fn done(verb: &str, plan: &Plan) -> String {
    let word = match verb {
        "delete" => "deleted",
        "move" => "moved",
        "rename" => "renamed",
        "fork" => "forked",
        "undo" => "undone",
        "restore" => "restored",
        "relocate" => "relocated",
        "repair" => "repaired",
        "compact" => "compacted",
        "fix" => "fixed",
        _ => "pruned",
    };
    format!("{word} {}: {}", sessions(plan), files(plan))
}
