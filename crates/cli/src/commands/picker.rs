//! Chooses the session if none is given: the newest in scope, or one from a short list.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

use recount_engine::{Engine, Error};
use recount_model::SessionFacts;

use super::session_rows::table;
use crate::context::Context;
use crate::failure::{ERROR, Failure, INTERRUPTED};
use crate::output::progress::Bar;
use crate::output::project_names::ProjectNames;

/// The number of sessions in the list.
const OFFERED: usize = 9;

/// Returns the session for a command without one. On a terminal, the newest ones are listed and the user chooses one;
/// otherwise it is the newest.
pub(crate) fn choose(engine: &Engine, verb: &str, context: &Context) -> Result<String, Failure> {
    let bar = Bar::new(context, "reading sessions");
    let sessions = engine.newest(OFFERED, &bar)?;
    bar.finish();
    let stdin = io::stdin();
    let is_asked = context.on_terminal()
        && stdin.is_terminal()
        && io::stderr().is_terminal()
        && !context.global.json
        && sessions.len() > 1;
    let number = if is_asked { ask(&sessions, verb, context)? } else { 0 };
    let chosen = sessions.get(number).ok_or(Error::NoSessions)?;
    Ok(format!("{}:{}", chosen.source, chosen.id))
}

/// Asks for a row until a valid one is given; Enter alone means the first.
fn ask(sessions: &[Arc<SessionFacts>], verb: &str, context: &Context) -> Result<usize, Failure> {
    let names = ProjectNames::of(sessions.iter().map(|session| &*session.project));
    let mut stderr = io::stderr();
    stderr.write_all(table(sessions, &names, context).as_bytes())?;
    loop {
        write!(stderr, "{verb} which session? [1] ")?;
        stderr.flush()?;
        let mut answer = String::new();
        if io::stdin().lock().read_line(&mut answer)? == 0 {
            return Err(Failure::new(INTERRUPTED, ""));
        }
        let answer = answer.trim().trim_start_matches('@');
        match answer.parse::<usize>() {
            _ if answer.is_empty() => return Ok(0),
            _ if matches!(answer, "q" | "quit") => return Err(Failure::new(INTERRUPTED, "")),
            Ok(number) if (1..=sessions.len()).contains(&number) => return Ok(number - 1),
            Ok(_) | Err(_) if answer.len() > 64 => {
                return Err(Failure::new(ERROR, "no session was picked"));
            }
            Ok(_) | Err(_) => {
                writeln!(stderr, "type a number from 1 to {}, or q to leave", sessions.len())?;
            }
        }
    }
}
