//! `recount convert`

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_changes::Changes;
use recount_model::Grammar;

use crate::commands::change::{Consent, shrunk};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Convert a session between the JSON and JSONL formats
///
/// `jsonl` is the log of newer releases; `json` is the document of older ones, which contains only what the agent loads. Id, times, title,
/// folders and unknown fields are kept. The plan lists what the other format cannot store. The old file is kept as undo data, because the agent
/// deletes two files of one session together.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount convert 279d --format jsonl
  recount convert 279d --format json --dry-run   # what would be dropped")]
pub(crate) struct ConvertArgs {
    /// Session: an id or its first characters, a file, @N or `latest`
    #[arg(value_name = "SESSION")]
    session: String,

    /// Target format
    #[arg(short, long, alias = "to", value_name = "FORMAT", value_enum)]
    format: FormatArg,

    #[command(flatten)]
    consent: Consent,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArg {
    /// One record per line (0.39 and later)
    Jsonl,
    /// One indented document (0.4 to 0.38)
    Json,
}

pub(crate) fn run(args: &ConvertArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let (to, name) = match args.format {
        FormatArg::Jsonl => (Grammar::Jsonl, "jsonl"),
        FormatArg::Json => (Grammar::Json, "json"),
    };
    let bar = Bar::new(context, "reading");
    let offer = changes.convert_plan(&args.session, to, &bar)?;
    bar.finish();
    let done = format!("converted to {name}: {}", shrunk(&offer.plan));
    let nothing = format!("it is already in the {name} format");
    args.consent.carry_out_or_report(&offer, changes, context, &done, &nothing)
}
