//! Prints the documents of `--json`; [`recount_documents`] writes them.

use std::io;

use recount_documents as documents;
use recount_engine::{KeptListing, Listing};
use serde::Serialize;

use crate::context::{Context, Out, Paged};

/// Prints what `write` writes.
pub(crate) fn print(
    context: &Context,
    write: impl FnOnce(&mut Out) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = context.out(Paged::No);
    write(&mut out)?;
    out.finish()
}

/// Prints a list of sessions.
pub(crate) fn sessions(context: &Context, listing: &Listing) -> io::Result<()> {
    print(context, |out| documents::sessions(out, listing))
}

/// Prints the rows of a list that did not change.
pub(crate) fn kept_rows(context: &Context, kept: &KeptListing<'_>) -> io::Result<()> {
    print(context, |out| documents::kept_rows(out, kept))
}

/// Prints a document with one list in it.
pub(crate) fn document<T: Serialize>(
    context: &Context,
    command: &str,
    key: &str,
    value: &T,
) -> io::Result<()> {
    print(context, |out| documents::document(out, command, key, value))
}

/// Prints a complete document.
pub(crate) fn whole<T: Serialize>(context: &Context, value: &T) -> io::Result<()> {
    print(context, |out| documents::whole(out, value))
}
