//! A page with charts.

use std::path::Path;
use std::process::ExitCode;

use recount_engine::Engine;
use recount_engine::stats::StatsRequest;

use super::{Bound, end};
use crate::context::{Context, Paged};
use crate::failure::Failure;
use crate::output::number::bytes;
use crate::output::progress::Bar;
use crate::words;

/// Writes the page to its destination.
pub(super) fn write(
    file: &Path,
    asked: &StatsRequest,
    engine: &Engine,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let bar = Bar::new(context, "reading sessions");
    let page = if file == Path::new("-") {
        let page = engine.paged(asked, words::missing, &bar)?;
        bar.finish();
        let mut out = context.out(Paged::No);
        page.write(&mut out)?;
        out.finish()?;
        page
    } else {
        let (page, size) = engine.paged_file(asked, file, words::missing, &bar)?;
        bar.finish();
        let place = context.folders.tilde(&file.to_string_lossy());
        context.warn(&format!("report written ({}): {place}", bytes(size)));
        page
    };
    // The page has a section about it.
    Ok(end(context, &page.total, &page.basis, Bound::Explained))
}
