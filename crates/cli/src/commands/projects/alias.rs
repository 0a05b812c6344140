//! `recount projects alias`

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use recount_engine::{Aliases, Engine};
use serde::Serialize;

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::json;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;

/// The maximum size of an alias file.
const MOST: u64 = 16 * 1024 * 1024;

/// Name a project, or join several folders under one name
///
/// Worktrees, renamed folders and copies on other machines become one project in every list. Without arguments, lists all
/// names.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount projects alias shop /home/dev/code/shop /home/dev/code/shop-fix
  recount projects alias shop --remove /home/dev/code/shop-fix
  recount projects alias --export > names.toml
  recount projects alias --import names.toml")]
pub(crate) struct AliasArgs {
    /// Name
    name: Option<String>,

    /// Folders or projects
    #[arg(value_name = "PROJECT", requires = "name")]
    folders: Vec<String>,

    /// Remove the name from these folders, or from all
    #[arg(long, requires = "name")]
    remove: bool,

    /// Print all names as TOML
    #[arg(long, conflicts_with_all = ["name", "import", "remove"])]
    export: bool,

    /// Add the names from a TOML file (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "remove"])]
    import: Option<PathBuf>,
}

/// A name, for JSON.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    folders: Vec<&'a str>,
}

pub(super) fn run(args: &AliasArgs, context: &Context) -> Result<ExitCode, Failure> {
    let engine = context.plain_engine()?;
    if args.export {
        let mut out = context.out(Paged::No);
        out.write_all(engine.aliases()?.to_text().as_bytes())?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(file) = &args.import {
        let names = read(file)?;
        return show(&engine.change_aliases(|aliases| aliases.absorb(names))?, None, context);
    }
    let Some(name) = &args.name else { return show(&engine.aliases()?, None, context) };
    if args.remove {
        return remove(name, args, &engine, context);
    }
    if args.folders.is_empty() {
        return show(&engine.aliases()?, Some(name), context);
    }
    let folders = folders(args, &engine, context)?;
    show(&engine.change_aliases(|aliases| aliases.add(name, folders))?, Some(name), context)
}

fn remove(
    name: &str,
    args: &AliasArgs,
    engine: &Engine,
    context: &Context,
) -> Result<ExitCode, Failure> {
    let folders = folders(args, engine, context)?;
    let mut removed = false;
    engine.change_aliases(|aliases| {
        removed = if folders.is_empty() {
            aliases.remove(name)
        } else {
            folders.iter().filter(|folder| aliases.remove_from(name, folder)).count() > 0
        };
    })?;
    if removed {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Failure::new(NOTHING, format!("no project has the name '{name}'"))
        .hint("`recount projects alias` shows all names"))
}

/// Resolves the arguments to folders: a path as given, else the project it matches.
fn folders(args: &AliasArgs, engine: &Engine, context: &Context) -> Result<Vec<String>, Failure> {
    let folder = |wanted: &String| {
        let is_path = wanted.contains(['/', '\\']) || wanted.starts_with(['.', '~']);
        if is_path {
            return Ok(context.absolute(wanted.as_ref()).to_string_lossy().into_owned());
        }
        Ok(engine.folder_of(wanted)?)
    };
    args.folders.iter().map(folder).collect()
}

fn read(file: &PathBuf) -> Result<Aliases, Failure> {
    let mut text = String::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().take(MOST).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|input| input.take(MOST).read_to_string(&mut text))
    };
    let shown = file.display();
    read.map_err(|error| Failure::new(ERROR, format!("cannot read {shown}: {error}")))?;
    Aliases::parse(&text).map_err(|error| {
        Failure::new(ERROR, format!("{shown}: {error}"))
            .hint("`recount projects alias --export` shows the format")
    })
}

fn show(aliases: &Aliases, only: Option<&str>, context: &Context) -> Result<ExitCode, Failure> {
    let wanted = aliases.iter().filter(|(name, _)| only.is_none_or(|only| only == *name));
    let names: Vec<Named<'_>> = wanted
        .map(|(name, folders)| Named {
            name,
            folders: folders.iter().map(String::as_str).collect(),
        })
        .collect();
    if context.global.json {
        json::document(context, "aliases", "aliases", &names)?;
    } else {
        let mut lines = Vec::new();
        for named in &names {
            lines.push(Line::new([StyledSpan::new(named.name, Tone::Strong)]));
            let folder = |folder: &&str| {
                Line::new([StyledSpan::new(
                    &format!("  {}", context.folders.tilde(folder)),
                    Tone::Plain,
                )])
            };
            lines.extend(named.folders.iter().map(folder));
        }
        let mut out = context.out(Paged::Yes);
        out.write_all(context.page().print(lines).as_bytes())?;
        out.finish()?;
    }
    if names.is_empty() {
        context.warn(&match only {
            Some(name) => format!("no project has the name '{name}'"),
            None => "no project has a name".to_owned(),
        });
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}
