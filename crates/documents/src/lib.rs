//! The documents of `--json`: one writer for each, used by every view that answers programs. The same data gives the same
//! bytes, whoever asks.

#![warn(clippy::indexing_slicing, clippy::string_slice)]
#![cfg_attr(test, expect(clippy::indexing_slicing, reason = "a test may fail by panic"))]

mod guard;
mod integrations;
mod list;
mod moment;
mod plan;
mod problems;
mod projects;
mod row;
mod search;
mod stats;
mod stream;
mod watch;

use std::io::{self, Write};

use recount_changes::KeptCopies;
use recount_engine::export::json::write_json;
use serde::Serialize;

pub use guard::guard;
pub use integrations::integrations;
pub use list::{kept_rows, sessions};
pub use plan::{plan, plan_and};
pub use problems::{FindingDocument, findings};
pub use projects::ProjectDocument;
pub use search::{hit_lines, hits};
pub use stats::{compared, stats, stats_report};
pub use stream::{TableDocument, TranscriptDocument};
pub use watch::{live_board, live_change, live_session, live_title};

/// Writes a document with one value in it: `{"schema":"recount.NAME/1","KEY":VALUE}`.
///
/// # Errors
/// If it cannot be written.
pub fn document<T: Serialize>(
    out: &mut impl Write,
    name: &str,
    key: &str,
    value: &T,
) -> io::Result<()> {
    write!(out, r#"{{"schema":"recount.{name}/1","{key}":"#)?;
    write_json(&mut *out, value)?;
    out.write_all(b"}\n")
}

/// Writes a complete document, which has its schema.
///
/// # Errors
/// If it cannot be written.
pub fn whole<T: Serialize>(out: &mut impl Write, value: &T) -> io::Result<()> {
    write_json(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Writes the trash: deleted sessions and undo data.
///
/// # Errors
/// If it cannot be written.
pub fn trash(out: &mut impl Write, kept: &KeptCopies) -> io::Result<()> {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        #[serde(flatten)]
        kept: &'a KeptCopies,
    }
    whole(out, &Document { schema: "recount.trash/1", kept })
}
