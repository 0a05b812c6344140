//! Hooks: what is done when an agent calls recount, and how hooks are installed.

use std::time::Duration;

use recount_engine::retention::Scope;
use recount_formats::SOURCES;
use recount_formats::hook::{Hook, HookCall, Moment};
use recount_writer::change::Plan;

use super::fix::InUse;
use crate::{Changes, Error, Notice, Proposal};

/// The agent waits: other runs that copy sessions do the work as well.
const TIMEOUT: Duration = Duration::from_millis(500);

impl Changes<'_> {
    /// Plans to let agents call `command` when a session starts, is resumed, and ends.
    ///
    /// # Errors
    /// If no agent supports hooks, or its settings are invalid.
    pub fn hook_plan(self, command: &str) -> Result<Proposal, Error> {
        self.edit_hooks("hook", |hook, text| hook.install(text, command).map(Some))
    }

    /// Plans to remove the hooks.
    ///
    /// # Errors
    /// Like [`hook_plan`](Self::hook_plan).
    pub fn unhook_plan(self) -> Result<Proposal, Error> {
        self.edit_hooks("unhook", |hook, text| text.map_or(Ok(None), |text| hook.remove(text)))
    }

    fn edit_hooks(
        self,
        command: &str,
        edit: impl Fn(&dyn Hook, Option<&[u8]>) -> Result<Option<Vec<u8>>, recount_formats::hook::Unfit>,
    ) -> Result<Proposal, Error> {
        let mut offer = Proposal::from(Plan::new(command, Vec::new()));
        for file in self.settings_files()? {
            let hook =
                self.engine.data_folders().get(file.root).and_then(|root| root.source.hook());
            let Some(hook) = hook else { continue };
            let new = edit(hook, file.text.as_deref());
            let new = new.map_err(|why| Error::Settings { path: file.path.clone(), why })?;
            if let Some(new) = new {
                let off = hook.is_off(&new).map(|why| Notice::Agent(why.to_owned()));
                offer.notices.extend(off);
                Self::put_settings(&mut offer.plan, &file, &new)?;
            }
        }
        Ok(offer)
    }

    /// Handles a call by an agent: stubs of its project go to the trash, and copies are updated. The file it uses is never
    /// touched, and nothing is renamed.
    ///
    /// # Errors
    /// If something fails; the agent need not know.
    pub fn answer_hook(self, input: &[u8]) -> Result<(), Error> {
        let mut hooks = SOURCES.iter().filter_map(|source| source.hook());
        let called = hooks.find_map(|hook| Some((hook, hook.call(input)?)));
        let Some((hook, call)) = called else { return Ok(()) };
        let HookCall { moment, session, file, folder } = &call;
        // Until a session is back in its own file, it is in the stub.
        if *moment != Moment::Start && hook.may_trap(folder) {
            let in_use = InUse { session, file };
            let fix = self.fix_plan_beside(Scope::Folder(folder), None, Some(in_use), &())?;
            if !fix.offer.is_empty() {
                self.carry_out_beside(fix.offer.plan, Some(session), &())?;
            }
        }
        // While the user waits for an answer, nothing is copied.
        if *moment != Moment::Prompt {
            self.keep_within(Scope::Folder(folder), TIMEOUT, &())?;
        }
        Ok(())
    }
}
