//! `recount pull`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use recount_lake::{Lake, LakeAccess, PulledHome};

use crate::context::Context;
use crate::failure::Failure;
use crate::output::json;
use crate::output::number::{bytes, plural};
use crate::output::progress::Bar;

/// Copy raw sessions of a lake into homes on this machine
///
/// Writes what machines sent with `push --raw` as one home per machine, below DIR. Every file is verified. `recount --home DIR/ORIGIN` then reads a machine's
/// sessions, and `recount restore SESSION --from DIR/ORIGIN` brings one back onto this machine. A second run writes only what has changed.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount pull file://~/lake --to homes       # after `recount push file://~/lake --raw`")]
pub(crate) struct PullArgs {
    #[arg(
        value_name = "URL",
        help = "Lake: file:///DIR, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH"
    )]
    url: String,

    /// Folder for the homes; it is created if needed
    #[arg(long, value_name = "DIR")]
    to: PathBuf,

    /// Only machines whose origin begins so; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    origin: Vec<String>,
}

pub(crate) fn run(args: &PullArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let lake = Lake::open(&args.url, LakeAccess::Read, &engine)?;
    let to = context.absolute(&args.to);
    let bar = Bar::new(context, "pulling");
    let report = lake.pull(&engine, &args.origin, &to, &bar)?;
    bar.finish();
    if context.global.json {
        json::document(context, "pull", "homes", &report.homes)?;
        return Ok(ExitCode::SUCCESS);
    }
    for PulledHome { machine, path, written, bytes: size, unchanged, .. } in &report.homes {
        let name = machine.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        let files = plural(*written, "file");
        let path = context.folders.tilde(&path.to_string_lossy());
        let size = bytes(*size);
        context.warn(&format!("{path}{name}: {files} written ({size}), {unchanged} unchanged"));
    }
    Ok(ExitCode::SUCCESS)
}
