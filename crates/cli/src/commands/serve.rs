//! `recount serve`

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use recount_engine::{Engine, Setup};
use recount_platform::{clock, open_address, return_freed_memory};
use recount_web::{Mask, ServeError, ServeOptions, Served, Server};

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};

/// Show sessions in a web browser, on this machine only
///
/// Prints the address of a page with sessions, search, transcripts, the live board, projects, statistics and problems. It listens on this
/// machine only and answers nobody without the token in the address, which is new at each start. It reads, unless --changes is given.
/// Ctrl-C ends it.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount serve                      # prints the address to open
  recount serve --open               # and opens it in the browser
  recount serve --changes            # delete, move, rename, restore and undo from the page
  recount serve --mask paths,titles  # for a screen that others see")]
pub(crate) struct ServeArgs {
    /// Port to listen on; 0 for any free one [default: 7326 to 7335, the first free one]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,

    /// Open the page in the browser
    #[arg(long)]
    open: bool,

    /// Allow changes from the page: each shows its plan first and can be undone
    #[arg(long)]
    changes: bool,

    /// What to hide
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    mask: Vec<Hidden>,
}

/// What is hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Hidden {
    /// Folders: only the last name of a path is shown
    Paths,
    /// Titles, and the first and last prompt of a session
    Titles,
}

pub(crate) fn run(args: &ServeArgs, context: &Context) -> Result<ExitCode, Failure> {
    return_freed_memory();
    let options = ServeOptions {
        port: args.port,
        changes: args.changes,
        mask: Mask {
            paths: args.mask.contains(&Hidden::Paths),
            titles: args.mask.contains(&Hidden::Titles),
        },
    };
    let server = Server::bind(served(context)?, &options).map_err(|error| failure(&error))?;
    let address = server.address();
    let mut out = context.out(Paged::No);
    std::io::Write::write_fmt(&mut out, format_args!("{address}\n"))?;
    out.finish()?;
    if args.open && !open_address(&context.env, &server.ticket_address()) {
        context.warn("no browser could be opened; open the address yourself");
    }
    server.run().map_err(|error| failure(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn served(context: &Context) -> Result<Served, Failure> {
    // The command runs for hours: its time goes on.
    let setup = Setup { clock: clock(&context.env), ..context.setup() };
    let demo = context.demo_home()?;
    let is_demo = demo.is_some();
    let homes = demo.map_or_else(|| setup.homes.clone(), |demo| vec![demo]);
    let engine = Engine::new(Setup { homes, ..setup })?;
    Ok(Served { engine, arguments: context.again([]), is_demo })
}

fn failure(error: &ServeError) -> Failure {
    let failure = Failure::new(ERROR, error.to_string());
    match error {
        ServeError::Port { .. } => {
            failure.hint("another program uses it; give another --port, or 0 for any free one")
        }
        ServeError::NoToken | ServeError::System(_) => failure,
    }
}
