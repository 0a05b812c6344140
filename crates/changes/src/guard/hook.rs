//! Hooks: what is done when an agent calls recount, and how hooks are installed.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

use recount_engine::live::hook_log;
use recount_engine::retention::Scope;
use recount_formats::hook::{Hook, HookCall, HookMoment, Unfit};
use recount_formats::stream::is_session_id;
use recount_formats::{SOURCES, Source};
use recount_model::LiveHook;
use recount_writer::change::Plan;
use recount_writer::disk::append_private;
use recount_writer::{create_private_folder, write_private};

use super::fix::InUse;
use super::retention::put_settings;
use crate::{Changes, Error, Notice, Proposal};

/// The agent waits: other runs that copy sessions do the work as well.
const PATIENCE: Duration = Duration::from_millis(500);
/// A log of hooks that is larger is cut to its end when the next session starts.
const LONGEST: u64 = 1 << 20;
/// How much of its end is kept.
const KEPT: u64 = 64 << 10;

impl Changes<'_> {
    /// Plans to let agents call a command when a session starts, when somebody is asked or waited for, and when it ends. `command`
    /// makes it for an agent.
    ///
    /// # Errors
    /// If there is no agent that does so, or its settings are not understood.
    pub fn hook_plan(self, command: &dyn Fn(&str) -> String) -> Result<Proposal, Error> {
        self.edit_hooks("hook", |source, hook, text| {
            hook.install(text, &command(source.name().as_str())).map(Some)
        })
    }

    /// Plans to let agents call us no more.
    ///
    /// # Errors
    /// As [`hook_plan`](Self::hook_plan).
    pub fn unhook_plan(self) -> Result<Proposal, Error> {
        self.edit_hooks("unhook", |_, hook, text| text.map_or(Ok(None), |text| hook.remove(text)))
    }

    fn edit_hooks(
        self,
        command: &str,
        edit: impl Fn(&dyn Source, &dyn Hook, Option<&[u8]>) -> Result<Option<Vec<u8>>, Unfit>,
    ) -> Result<Proposal, Error> {
        let mut offer = Proposal::from(Plan::new(command, Vec::new()));
        let mut known = Vec::new();
        for root in self.engine.data_folders().iter().filter(|root| !root.is_ingested) {
            let Some(hook) = root.source.hook() else { continue };
            let Some(path) = hook.file(&root.path, root.shape) else { continue };
            if known.contains(&path) {
                continue;
            }
            let text = super::retention::read(&path)?;
            let new = edit(root.source, hook, text.as_deref())
                .map_err(|why| Error::Settings { path: path.clone(), why })?;
            if let Some(new) = new {
                let off = hook.is_off(&new).map(|why| Notice::Agent(why.to_owned()));
                offer.notices.extend(off);
                put_settings(&mut offer.plan, &path, text.as_deref(), &new)?;
            }
            known.push(path);
        }
        if known.is_empty() { Err(Error::NoAgent) } else { Ok(offer) }
    }

    /// Does what an agent calls us for: stubs of its project go to the trash, and copies are brought up to date. The file it
    /// works in is never touched, and nothing is renamed.
    ///
    /// # Errors
    /// If something fails; the agent need not know.
    pub fn answer_hook(self, said: &[u8]) -> Result<(), Error> {
        let Some((hook, call)) = guarded(said) else { return Ok(()) };
        let HookCall { moment, session, file, folder } = &call;
        match moment {
            // Before a session is back in its own file, it is in the stub.
            HookMoment::Start => {}
            HookMoment::Prompt | HookMoment::End => {
                if hook.may_trap(folder) {
                    let in_use = InUse { session, file };
                    let fix =
                        self.fix_plan_beside(Scope::Folder(folder), None, Some(in_use), &())?;
                    if !fix.offer.is_empty() {
                        self.carry_out_beside(fix.offer.plan, Some(session), &())?;
                    }
                }
            }
            HookMoment::Permission | HookMoment::TurnEnd => return Ok(()),
        }
        // While the user waits for an answer, nothing is copied.
        if *moment != HookMoment::Prompt {
            self.keep_within(Scope::Folder(folder), PATIENCE, &())?;
        }
        Ok(())
    }
}

/// Finds whose call it is that is worth more than a note.
fn guarded(said: &[u8]) -> Option<(&'static dyn Hook, HookCall)> {
    let mut hooks = SOURCES.iter().filter_map(|source| source.hook());
    hooks.find_map(|hook| Some((hook, hook.call(said)?)))
}

/// Appends what an agent says to the log that live views read: one line without any text of the session. Nobody is waited for.
///
/// Without the agent's name it is the one that says where the session is. `parents` are the processes above the hook.
///
/// # Errors
/// If the log cannot be written.
pub fn note_hook(
    data: &Path,
    agent: Option<&str>,
    said: &[u8],
    at: i64,
    parents: Vec<u32>,
) -> Result<(), Error> {
    let is_asked = |source: &&&'static dyn Source| match (agent, source.hook()) {
        (Some(agent), Some(_)) => source.name().as_str() == agent,
        (None, Some(hook)) => hook.call(said).is_some(),
        (_, None) => false,
    };
    let source = SOURCES.iter().find(is_asked);
    let moment = source.and_then(|source| Some((source, source.hook()?.moment(said)?)));
    let Some((source, (moment, session))) = moment else { return Ok(()) };
    if !is_session_id(&session) {
        return Ok(());
    }
    let path = hook_log(data);
    if let Some(folder) = path.parent() {
        create_private_folder(folder)?;
    }
    let source = source.name().as_str().to_owned();
    let line = LiveHook { at, source, moment, session, parents };
    let mut line = serde_json::to_vec(&line).unwrap_or_default();
    line.push(b'\n');
    let mut log = append_private(&path)?;
    // In one piece: others append at the same time.
    let written = log.write_all(&line);
    written.map_err(|source| recount_writer::Error::WriteFile { path: path.clone(), source })?;
    if moment == HookMoment::Start && log.metadata().is_ok_and(|about| about.len() > LONGEST) {
        shorten(&path)?;
    }
    Ok(())
}

/// Keeps the end of the log. A line that another hook writes at this very moment may be lost, and with it a state for a moment.
fn shorten(path: &Path) -> Result<(), Error> {
    let failed = |source| recount_writer::Error::WriteFile { path: path.to_owned(), source };
    let mut end = Vec::new();
    let mut log = std::fs::File::open(path).map_err(failed)?;
    let length = log.metadata().map_err(failed)?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(KEPT))).map_err(failed)?;
    log.take(2 * KEPT).read_to_end(&mut end).map_err(failed)?;
    let line = end.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    Ok(write_private(path, end.get(line..).unwrap_or_default())?)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a log that is read back")]

    use super::*;

    const PROMPT: &[u8] = br#"{"session_id":"3d2f","transcript_path":"/h/.gemini/tmp/shop/chats/session-x-3d2f.jsonl","cwd":"/c","hook_event_name":"BeforeAgent","prompt":"secret words"}"#;

    #[test]
    fn a_call_is_one_line_without_the_text_of_the_session() {
        let data = tempfile::tempdir().unwrap();
        note_hook(data.path(), Some("gemini"), PROMPT, 5, vec![9, 8]).unwrap();
        note_hook(data.path(), None, PROMPT, 6, Vec::new()).unwrap();
        // Not of this agent, no moment of interest, an id that is none.
        note_hook(data.path(), Some("codex"), PROMPT, 7, Vec::new()).unwrap();
        note_hook(data.path(), Some("gemini"), b"{}", 7, Vec::new()).unwrap();
        note_hook(
            data.path(),
            Some("claude"),
            br#"{"session_id":"../x","hook_event_name":"Stop"}"#,
            7,
            Vec::new(),
        )
        .unwrap();
        let log = std::fs::read_to_string(hook_log(data.path())).unwrap();
        let lines: Vec<LiveHook> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            lines.iter().map(|one| (one.at, one.moment)).collect::<Vec<_>>(),
            [(5, HookMoment::Prompt), (6, HookMoment::Prompt)]
        );
        assert_eq!((lines[0].session.as_str(), lines[0].parents.as_slice()), ("3d2f", &[9, 8][..]));
        assert!(!log.contains("secret"));
    }

    #[test]
    fn the_log_does_not_grow_for_ever() {
        let data = tempfile::tempdir().unwrap();
        let path = hook_log(data.path());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "{\"an\":\"old line\"}\n".repeat(100_000)).unwrap();
        note_hook(data.path(), Some("gemini"), PROMPT, 5, Vec::new()).unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() > LONGEST, "not while somebody waits");
        let start = br#"{"session_id":"3d2f","hook_event_name":"SessionStart"}"#;
        note_hook(data.path(), Some("gemini"), start, 6, Vec::new()).unwrap();
        let log = std::fs::read_to_string(&path).unwrap();
        assert!(log.len() as u64 <= KEPT && log.starts_with('{'), "{}", log.len());
        assert!(log.lines().last().unwrap().contains("\"start\""));
    }
}
