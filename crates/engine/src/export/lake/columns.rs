//! The columns of the lake, and what of each leaves the machine at which level.

use recount_catalog::sql::{ColumnKind, SqlColumn, VIEWS};
use recount_export::ExportTable;
use recount_export::parquet::{ParquetColumn, ParquetKind};

use super::LakeLevel;

/// What of a column leaves the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disclosure {
    /// The value, at every level: figures, times, ids, names of models and tools.
    Always,
    /// A keyed hash at `none`, redacted text at `redacted`, the value at `full`.
    Hashed,
    /// Nothing at `none`, redacted text at `redacted`, the value at `full`.
    Text,
}

impl Disclosure {
    /// Returns what leaves at a level, in a word.
    pub fn at(self, level: LakeLevel) -> &'static str {
        match (self, level) {
            (Self::Always, _) | (_, LakeLevel::Full) => "value",
            (Self::Hashed, LakeLevel::None) => "hash",
            (Self::Text, LakeLevel::None) => "nothing",
            (_, LakeLevel::Redacted) => "redacted",
        }
    }
}

/// A column of the lake.
#[derive(Clone, Copy, Debug)]
pub struct LakeColumn {
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
    /// What of it leaves the machine.
    pub disclosure: Disclosure,
    kind: ParquetKind,
}

/// Columns of `recount sql` that are no facts of a session: the state of this machine, or the name of the folder.
const LEFT_OUT: &[&str] = &["source", "project_state", "agent_index", "live", "doomed"];
/// Names that others may know, so that they are hashed rather than dropped.
const HASHED: &[&str] = &[
    "agent_type",
    "branch",
    "project_path",
    "project_slug",
    "project_hash",
    "project_name",
    "project_alias",
    "path",
];
/// Texts that leave at every level: ids, words of recount's own, and names of models and tools. All other texts are dropped at `none`.
const OPEN: &[&str] = &[
    "id",
    "kind",
    "parent",
    "parent_call",
    "title_from",
    "entrypoint",
    "models",
    "session",
    "message",
    "fate",
    "model",
    "name",
    "status",
    "agent_id",
    "output_state",
    "tool",
    "how",
];

const fn own(name: &'static str, kind: ParquetKind, about: &'static str) -> LakeColumn {
    LakeColumn { name, about, disclosure: Disclosure::Always, kind }
}

const MAIN: LakeColumn =
    own("main", ParquetKind::Text, "the session that counts: of a sub-agent, the one that ran it");
const PROJECT: LakeColumn = LakeColumn {
    name: "project",
    about: "the project of that session; groups rows in every table",
    disclosure: Disclosure::Hashed,
    kind: ParquetKind::Text,
};
const KEY: LakeColumn =
    own("key", ParquetKind::Text, "equal for all copies of one message, on any machine");
const AT: LakeColumn =
    own("at", ParquetKind::Time, "the time it counts for: its own, else that of the one before");
const IS_COPY: LakeColumn =
    own("is_copy", ParquetKind::Flag, "whether another session of this machine has it first");
const SESSION_STARTED: LakeColumn =
    own("session_started", ParquetKind::Time, "the first moment of its session");

/// Returns the columns that only the lake has.
fn extra(table: ExportTable) -> Vec<LakeColumn> {
    match table {
        ExportTable::Sessions => vec![
            MAIN,
            PROJECT,
            own("background", ParquetKind::Flag, "whether the agent ran it for itself"),
            own("machine", ParquetKind::Text, "the name given with --label"),
            own("gone", ParquetKind::Flag, "whether it was deleted; only with --keep-deleted"),
        ],
        ExportTable::Messages => vec![
            KEY,
            AT,
            own(
                "counts_as",
                ParquetKind::Text,
                "prompt, answer or other; null if it is not counted",
            ),
            IS_COPY,
            MAIN,
            PROJECT,
            SESSION_STARTED,
        ],
        ExportTable::ToolCalls | ExportTable::FilesTouched => {
            vec![KEY, AT, IS_COPY, MAIN, PROJECT, SESSION_STARTED]
        }
        ExportTable::Requests => vec![KEY, AT, MAIN, PROJECT, SESSION_STARTED],
    }
}

/// Returns the columns of a table: those of the view of its name, then those of the lake.
pub fn lake_columns(table: ExportTable) -> Vec<LakeColumn> {
    let view = VIEWS.iter().find(|view| view.name == table.name());
    let columns = view.map(|view| view.columns).unwrap_or_default();
    let of_view = columns.iter().filter(|column| is_in_lake(column)).map(|column| LakeColumn {
        name: column.name,
        about: column.about,
        disclosure: disclosure(column.name, column.kind),
        kind: kind(column.kind),
    });
    of_view.chain(extra(table)).collect()
}

/// Whether a column of a view is in the lake.
pub(super) fn is_in_lake(column: &SqlColumn) -> bool {
    !LEFT_OUT.contains(&column.name)
}

fn disclosure(name: &str, kind: ColumnKind) -> Disclosure {
    let is_text = matches!(kind, ColumnKind::Text | ColumnKind::LongText);
    if HASHED.contains(&name) {
        Disclosure::Hashed
    } else if is_text && !OPEN.contains(&name) {
        Disclosure::Text
    } else {
        Disclosure::Always
    }
}

fn kind(kind: ColumnKind) -> ParquetKind {
    match kind {
        ColumnKind::Text => ParquetKind::Text,
        ColumnKind::LongText => ParquetKind::LongText,
        ColumnKind::Number => ParquetKind::Number,
        ColumnKind::Real => ParquetKind::Real,
        ColumnKind::Flag => ParquetKind::Flag,
        ColumnKind::Time => ParquetKind::Time,
    }
}

impl LakeColumn {
    pub(super) fn parquet(&self) -> ParquetColumn {
        ParquetColumn { name: self.name, kind: self.kind }
    }

    pub(super) fn kind(&self) -> ParquetKind {
        self.kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_names_a_column_and_no_text_leaves_by_default() {
        let all: Vec<LakeColumn> =
            ExportTable::ALL.iter().flat_map(|table| lake_columns(*table)).collect();
        for name in HASHED.iter().chain(OPEN) {
            assert!(all.iter().any(|column| column.name == *name), "{name}");
        }
        // Text of any length is never disclosed as it is.
        for column in all.iter().filter(|column| column.kind == ParquetKind::LongText) {
            assert_eq!(column.disclosure, Disclosure::Text, "{}", column.name);
        }
        let new = disclosure("new_column", ColumnKind::Text);
        assert_eq!(new, Disclosure::Text, "what is not listed is dropped");
        for hidden in ["title", "file", "key_arg", "display_name", "agent_description"] {
            let column = all.iter().find(|column| column.name == hidden).unwrap();
            assert_eq!(column.disclosure.at(LakeLevel::None), "nothing", "{hidden}");
        }
    }

    #[test]
    fn names_of_columns_are_unique_in_each_table() {
        for table in ExportTable::ALL {
            let mut names: Vec<_> = lake_columns(table).iter().map(|column| column.name).collect();
            let many = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), many, "{}", table.name());
        }
    }
}
