//! How a row of a list is written: by hand, because rows are printed by the thousand and their projects are few.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::SessionFacts;
use crate::moment::Moment;

/// No more fields than this are written.
const FIELDS: usize = 33;

impl Serialize for SessionFacts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize_with(&self.project, serializer)
    }
}

impl SessionFacts {
    /// Writes the row with this in place of its project: the same, written before.
    ///
    /// # Errors
    /// What the serializer returns.
    pub fn serialize_with<P: Serialize + ?Sized, S: Serializer>(
        &self,
        project: &P,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut row = serializer.serialize_struct("SessionFacts", FIELDS)?;
        row.serialize_field("source", &self.source)?;
        row.serialize_field("id", &self.id)?;
        row.serialize_field("kind", &self.kind)?;
        row.serialize_field("parent", &self.parent)?;
        if let Some(call) = &self.parent_call {
            row.serialize_field("parent_call", call)?;
        }
        row.serialize_field("title", &self.title)?;
        row.serialize_field("title_from", &self.title_from)?;
        if let Some(labels) = &self.labels {
            row.serialize_field("tags", &labels.tags)?;
            row.serialize_field("pinned", &labels.pinned)?;
        }
        row.serialize_field("project", project)?;
        row.serialize_field("started", &self.started.map(Moment))?;
        row.serialize_field("updated", &self.updated.map(Moment))?;
        row.serialize_field("messages", &self.counts.messages)?;
        row.serialize_field("prompts", &self.counts.prompts)?;
        row.serialize_field("answers", &self.counts.answers)?;
        row.serialize_field("undone", &self.counts.undone)?;
        row.serialize_field("tool_calls", &self.tool_calls)?;
        row.serialize_field("models", &self.models)?;
        row.serialize_field("tokens", &self.tokens)?;
        row.serialize_field("cost_usd", &self.cost_usd)?;
        row.serialize_field("cost_is_lower_bound", &self.cost_is_lower_bound)?;
        row.serialize_field("kept", &self.kept)?;
        row.serialize_field("directories", &self.directories)?;
        if let Some(memory) = &self.memory {
            row.serialize_field("memory", memory)?;
        }
        row.serialize_field("files", &self.files)?;
        row.serialize_field("agent_index", &self.agent_index)?;
        row.serialize_field("agent_title", &self.agent_title)?;
        row.serialize_field("live", &self.live)?;
        row.serialize_field("doomed", &self.doomed)?;
        row.serialize_field("problems", &self.problems)?;
        row.serialize_field("not_understood", &self.not_understood)?;
        row.end()
    }
}
