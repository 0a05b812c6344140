//! Commands in a settings file of JSON, by event: `{"hooks":{EVENT:[{"hooks":[{"type":"command","command":…}]}]}}`. Several agents
//! share this form.

use recount_model::HookMoment;

use crate::json::JsonTree;
use crate::json::comments::strip;
use crate::json::edit::{Unfit, check_accepted, keys, push, remove_elements, remove_inner};

/// What our command is called with.
const RUN: &str = " guard --hook run";

/// The commands of one agent.
#[derive(Debug)]
pub(crate) struct HookCommands {
    /// What we call ours, if the agent has names for them.
    pub(crate) name: Option<&'static str>,
    /// The agent's names for moments.
    pub(crate) events: &'static [(&'static str, HookMoment)],
    /// How long the agent waits, in its unit.
    pub(crate) timeout: &'static str,
}

impl HookCommands {
    pub(crate) fn install(&self, text: Option<&[u8]>, command: &str) -> Result<Vec<u8>, Unfit> {
        let mut text = text.unwrap_or(b"{}\n").to_vec();
        check_accepted(&text)?;
        for (event, _) in self.events {
            let path = ["hooks", *event];
            let wanted = self.group(command);
            if has(&text, event, |known| *known == wanted) {
                continue;
            }
            text = self.without(&text, event)?.unwrap_or(text);
            text = push(&text, &path, &wanted)?;
        }
        Ok(text)
    }

    pub(crate) fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit> {
        let mut left: Option<Vec<u8>> = None;
        // Whatever events earlier releases of ours used.
        for event in keys(text, &["hooks"])? {
            let now = left.as_deref().unwrap_or(text);
            left = self.without(now, &event)?.or(left);
        }
        Ok(left)
    }

    /// Reads the moment and the session from what the agent says.
    pub(crate) fn moment(&self, said: &JsonTree) -> Option<(HookMoment, String)> {
        let event = said.text("hook_event_name")?;
        let (_, moment) = self.events.iter().find(|(known, _)| *known == event)?;
        Some((*moment, said.text("session_id")?.to_owned()))
    }

    /// One entry below an event.
    fn group(&self, command: &str) -> JsonTree {
        let text = |text: &str| JsonTree::String(text.to_owned());
        let mut hook = Vec::new();
        hook.extend(self.name.map(|name| ("name".to_owned(), text(name))));
        hook.extend([
            ("type".to_owned(), text("command")),
            ("command".to_owned(), text(command)),
            ("timeout".to_owned(), JsonTree::Number(self.timeout.to_owned())),
        ]);
        JsonTree::Object(vec![("hooks".to_owned(), JsonTree::Array(vec![JsonTree::Object(hook)]))])
    }

    /// Takes what is ours out of an event, wherever it stands; `None` if nothing is.
    fn without(&self, text: &[u8], event: &str) -> Result<Option<Vec<u8>>, Unfit> {
        let path = ["hooks", event];
        let is_ours = |group: &JsonTree| {
            let Some(JsonTree::Array(hooks)) = group.get("hooks") else { return false };
            !hooks.is_empty() && hooks.iter().all(|hook| self.is_our_hook(hook))
        };
        let whole = match remove_elements(text, &path, is_ours) {
            // What is no list holds no hooks.
            Err(Unfit::Other { .. }) => return Ok(None),
            taken => taken?,
        };
        // Others may have put theirs beside ours.
        let is_our_hook = |hook: &JsonTree| self.is_our_hook(hook);
        let rest = whole.as_deref().unwrap_or(text);
        let inner = remove_inner(rest, &path, "hooks", is_our_hook)?;
        Ok(inner.or(whole))
    }

    /// Whether a hook is ours: by its name, or by what it runs.
    fn is_our_hook(&self, hook: &JsonTree) -> bool {
        let is_named = self.name.is_some() && hook.text("name") == self.name;
        is_named || hook.text("command").is_some_and(|command| command.contains(RUN))
    }
}

fn has(text: &[u8], event: &str, is_wanted: impl Fn(&JsonTree) -> bool) -> bool {
    let tree = JsonTree::parse(&strip(text)).ok();
    let hooks = tree.as_ref().and_then(|tree| tree.get("hooks")?.get(event));
    matches!(hooks, Some(JsonTree::Array(groups)) if groups.iter().any(is_wanted))
}
