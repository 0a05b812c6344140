//! The command line that does the same, to copy. Every word of a session in it is quoted.

use std::sync::Arc;

use recount_model::SessionFacts;
use recount_platform::quote;
use serde_json::json;

use super::changes::{ChangeRequest, chosen, deleted_id, needed, only};
use crate::app::App;
use crate::failure::ApiError;
use crate::params::Params;
use crate::router::{Answer, Asked};

/// Answers with a command line.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let request = request(asked.params);
    let chosen = chosen(asked, &request.sessions)?;
    let command = line(asked.app, &request, &chosen)?;
    let mut text = Vec::new();
    let document = json!({"schema": "recount.command/1", "command": command});
    recount_documents::whole(&mut text, &document)?;
    Ok(Answer::Json(text))
}

fn request(params: &Params) -> ChangeRequest {
    let change = params.text("change").unwrap_or_default();
    let is_deleted = change == "restore";
    ChangeRequest {
        sessions: if is_deleted {
            Vec::new()
        } else {
            params.all("session").chain(params.all("sessions")).map(str::to_owned).collect()
        },
        session: params.text("session").filter(|_| is_deleted),
        from: params.text("from"),
        to: params.text("to"),
        title: params.text("title"),
        at: params.text("at"),
        receipt: params.text("receipt"),
        change,
    }
}

/// Returns the command line of a change, or of what the page cannot do itself.
pub(crate) fn line(
    app: &App,
    request: &ChangeRequest,
    chosen: &[Arc<SessionFacts>],
) -> Result<String, ApiError> {
    let recount = app.command();
    let id = |facts: &SessionFacts| quote(facts.id.as_str());
    let all = || chosen.iter().map(|facts| id(facts)).collect::<Vec<_>>().join(" ");
    let one = || only(chosen).map(id);
    let to = || needed(request.to.as_ref(), "to").map(quote);
    let title = request.title.as_deref().unwrap_or_default();
    let optional = |value: Option<&String>, flag: &str| {
        value.map(|value| format!(" {flag}{}", quote(value))).unwrap_or_default()
    };
    let words = match request.change.as_str() {
        "delete" => format!("delete {}", all()),
        "move" => {
            // The command takes one session at a time.
            let to = to()?;
            let lines = chosen.iter().map(|facts| format!("{recount} move {} {to}", id(facts)));
            return Ok(lines.collect::<Vec<_>>().join("\n"));
        }
        "rename" => format!("rename {} {}", one()?, quote(title)),
        "fork" => format!("fork {}{}", one()?, optional(request.at.as_ref(), "--at ")),
        "undo" => format!("undo{}", optional(request.receipt.as_ref(), "")),
        "restore" => format!("restore {}", quote(deleted_id(request)?)),
        "relocate" => {
            format!("relocate {} {}", quote(needed(request.from.as_ref(), "from")?), to()?)
        }
        "repair" => format!("repair {}", all()),
        "compact" => format!("compact {}", one()?),
        "fix" => "guard --fix".to_owned(),
        "prune" => "prune --orphaned".to_owned(),
        "resume" => format!("resume {}", one()?),
        "export" => format!("export {}", one()?),
        "show" => format!("show {}", one()?),
        "tag" => format!("tag {} {}", one()?, quote(title)),
        "pin" | "unpin" => format!("{} {}", request.change, all()),
        "guard" | "doctor" | "history" => request.change.clone(),
        other => return Err(ApiError::bad(format!("change={other}: unknown"))),
    };
    Ok(format!("{recount} {}", words.trim_end()))
}
