//! `recount mcp`

use std::io;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_engine::{Engine, Setup, source_names};
use recount_mcp::{McpSetup, serve};
use recount_platform::{clock, return_freed_memory};

use crate::context::Context;
use crate::failure::Failure;

/// Let agents search and read earlier sessions (MCP server)
///
/// Speaks the Model Context Protocol on standard input and output, for agents to start. It only reads: agents can search, list and read sessions, check
/// quotes and count usage. Secrets are replaced by tags.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount mcp                        # what an agent's settings start
  recount mcp --redact off           # with secrets as they are
  echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' | recount mcp")]
pub(crate) struct McpArgs {
    /// Agent that starts it, whose running session is left out of answers
    #[arg(long, value_name = "AGENT", value_parser = agents())]
    agent: Option<String>,

    /// Whether secrets in answers are replaced by tags
    #[arg(long, value_name = "WHEN", default_value = "on")]
    redact: Switch,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn agents() -> clap::builder::PossibleValuesParser {
    source_names().iter().map(|name| name.as_str()).collect::<Vec<_>>().into()
}

pub(crate) fn run(args: &McpArgs, context: &Context) -> Result<ExitCode, Failure> {
    return_freed_memory();
    // It lives long: its clock runs. Demo data would be taken for the user's own.
    let engine = Engine::new(Setup { clock: clock(&context.env), ..context.setup() })?;
    let named = |agent: &String| source_names().into_iter().find(|name| name.as_str() == agent);
    let setup = McpSetup {
        agent: args.agent.as_ref().and_then(named),
        is_redacting: args.redact == Switch::On,
        again: Some(context.again([])),
        engine,
    };
    serve(setup, io::stdin().lock(), io::stdout())?;
    Ok(ExitCode::SUCCESS)
}
