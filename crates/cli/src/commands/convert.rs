//! `recount convert`

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_changes::Changes;
use recount_model::Grammar;

use crate::commands::change::{Consent, shrunk};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::progress::Bar;

/// Write a session in the other of its agent's two grammars
///
/// `jsonl` is the log of newer releases, `json` the document of older ones, which holds only what the agent loads. The id, times,
/// title and folders stay, and so do fields that nobody knows. The old file is kept as undo data: two files of one session
/// side by side are cleared away together. What the other grammar cannot say is told before anything happens.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount convert 3d2f --to jsonl\n  recount convert 3d2f --to json --dry-run   what would be left out"
)]
pub(crate) struct ConvertArgs {
    /// The session
    #[arg(value_name = "SESSION")]
    session: String,

    /// The grammar
    #[arg(long, value_enum)]
    to: To,

    #[command(flatten)]
    consent: Consent,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum To {
    /// One record per line, as 0.39 and later write
    Jsonl,
    /// One indented object, as 0.4 to 0.38 wrote
    Json,
}

pub(crate) fn run(args: &ConvertArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    let changes = Changes::new(&engine);
    args.consent.recover(changes, context)?;
    let (to, name) = match args.to {
        To::Jsonl => (Grammar::Jsonl, "jsonl"),
        To::Json => (Grammar::Json, "json"),
    };
    let bar = Bar::new(context, "reading");
    let offer = changes.convert_plan(&args.session, to, &bar)?;
    bar.finish();
    let done = format!("written as {name}: {}", shrunk(&offer.plan));
    let nothing = format!("it is written as {name} already");
    args.consent.carry_out_or_tell(&offer, changes, context, &done, &nothing)
}
