//! Filters that need a look into the messages.

use recount_formats::Source;
use recount_formats::source::SessionFiles;
use recount_model::{Message, ToolCall};

use crate::messages::{Messages, View};

/// What a session must hold. Each may be in another message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentFilter {
    /// A call of this tool, by either of its names.
    pub tool: Option<String>,
    /// A call or an attached file that names this path, or the end of it.
    pub touched: Option<String>,
}

impl ContentFilter {
    /// Whether anything is asked.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a session holds it all.
    pub(crate) fn is_met_by(
        &self,
        source: &'static dyn Source,
        session_files: &SessionFiles,
    ) -> bool {
        let mut missing = self.clone();
        let messages = Messages::new(source, session_files, None, View::Full);
        for message in messages.flatten() {
            missing.look(&message);
            if missing.is_nothing() {
                return true;
            }
        }
        missing.is_nothing()
    }

    /// Crosses out what `message` holds.
    fn look(&mut self, message: &Message) {
        let calls = || message.tool_calls.iter();
        if self.tool.as_deref().is_some_and(|tool| calls().any(|call| is_called(call, tool))) {
            self.tool = None;
        }
        let touched = |path: &str| {
            calls().any(|call| names(call, path))
                || message.files.iter().any(|file| file.path.ends_with(path))
        };
        if self.touched.as_deref().is_some_and(touched) {
            self.touched = None;
        }
    }
}

fn is_called(call: &ToolCall, tool: &str) -> bool {
    let shown = call.display_name.as_deref().unwrap_or_default();
    call.name.eq_ignore_ascii_case(tool) || shown.eq_ignore_ascii_case(tool)
}

fn names(call: &ToolCall, path: &str) -> bool {
    call.key_arg.as_deref().is_some_and(|key| key.ends_with(path))
        || call.args.as_str().contains(path)
}
