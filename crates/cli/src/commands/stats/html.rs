//! A page with charts.

use std::path::Path;
use std::process::ExitCode;

use recount_engine::Engine;
use recount_engine::stats::Paged;

use super::end;
use crate::context::{Context, Paged as Pager};
use crate::failure::Failure;
use crate::output::number::bytes;

/// Writes the page where it is wanted.
pub(super) fn write(
    paged: &Paged,
    file: &Path,
    engine: &Engine,
    context: &Context,
) -> Result<ExitCode, Failure> {
    if file == Path::new("-") {
        let mut out = context.out(Pager::No);
        paged.write(&mut out)?;
        out.finish()?;
    } else {
        let size = engine.write_paged(paged, file)?;
        let place = context.folders.tilde(&file.to_string_lossy());
        context.warn(&format!("report written ({}): {place}", bytes(size)));
    }
    Ok(end(context, &paged.total, &paged.basis))
}
