//! The request given by the flags: format, destination, options.

use std::path::{Path, PathBuf};

use recount_engine::Export;
use recount_engine::export::{
    Bidi, ExportOptions, ExportTable, Format, Images, LinkPolicy, NativeFormat,
};

use super::args::{ExportArgs, FormatArg, ImagesArg, LinksArg, TableArg};
use crate::commands::show::ViewArg;
use crate::context::Context;
use crate::failure::{ERROR, Failure};

/// The destination.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Output,
    File(PathBuf),
    Folder(PathBuf),
}

/// Returns the requested format, or that of the file name; and its agent, if it is a native format.
pub(super) fn format(
    args: &ExportArgs,
    context: &Context,
) -> (Format, Option<&'static dyn NativeFormat>) {
    let from_name = args.output.as_deref().and_then(FormatArg::of);
    let to_output = args.output.as_deref().is_none_or(|path| path == Path::new("-"));
    let usual = if context.global.json && to_output { FormatArg::Json } else { FormatArg::Md };
    let format = match args.format.or(from_name).unwrap_or(usual) {
        FormatArg::Md => Format::Markdown,
        FormatArg::Html => Format::Html,
        FormatArg::Json => Format::Json,
        FormatArg::Jsonl => Format::Jsonl,
        FormatArg::Txt => Format::Text,
        FormatArg::Csv => Format::Csv,
        FormatArg::Parquet => Format::Parquet,
        FormatArg::Own(form) => return (Format::Jsonl, Some(form)),
    };
    (format, None)
}

pub(super) fn target(args: &ExportArgs, format: Format) -> Result<Target, Failure> {
    let one = args.sessions.len() == 1;
    let is_table = format == Format::Csv;
    let Some(path) = args.output.as_ref().filter(|path| path.as_path() != Path::new("-")) else {
        if format == Format::Parquet {
            return Err(needs_folder());
        }
        if one || is_table {
            return Ok(Target::Output);
        }
        return Err(Failure::new(ERROR, "several sessions need an output folder")
            .hint("give one with -o DIR; it is created if needed"));
    };
    let text = path.to_string_lossy();
    let named = path.is_dir() || text.ends_with('/') || text.ends_with(std::path::MAIN_SEPARATOR);
    if format == Format::Parquet {
        // `-o tables.parquet` would be a folder of that name, which nobody wants.
        let is_file = path.exists() && !path.is_dir();
        if is_file || !named && matches!(FormatArg::of(path), Some(FormatArg::Parquet)) {
            return Err(needs_folder());
        }
        return Ok(Target::Folder(path.clone()));
    }
    let is_file = if is_table { path.extension().is_some() } else { one };
    if !is_file || named {
        return Ok(Target::Folder(path.clone()));
    }
    if args.format.is_none()
        && FormatArg::of(path).is_none()
        && let Some(ending) = path.extension()
    {
        return Err(unknown_ending(path, &ending.to_string_lossy()));
    }
    Ok(Target::File(path.clone()))
}

/// Markdown in a file with another extension would be opened by the wrong program.
fn unknown_ending(path: &Path, ending: &str) -> Failure {
    let words = format!("cannot write '{}': .{ending} is not an export format", path.display());
    Failure::new(ERROR, words)
        .hint("use .md, .html, .json, .jsonl, .txt or .csv, or name a format with --format")
}

fn needs_folder() -> Failure {
    Failure::new(
        ERROR,
        "parquet needs an output folder: it writes several tables, partitioned by agent and month",
    )
    .hint("give one with -o DIR; it is created if needed")
    .hint("one table in one file is --format csv --table TABLE")
}

pub(super) fn export(
    args: &ExportArgs,
    format: Format,
    own: Option<&'static dyn NativeFormat>,
    target: &Target,
    context: &Context,
) -> Result<Export, Failure> {
    let name = own.map_or_else(|| format.extension(), |own| own.source().as_str());
    let refuse = |flag: &str, formats: &str| Err(not_for(name, flag, formats));
    match format {
        _ if args.minimal && !format.is_for_people() => {
            return refuse("--minimal", "md, html and txt");
        }
        _ if args.split.is_some() && !format.has_parts() => return refuse("--split", "md and txt"),
        _ if args.table.is_some() && format.tables().is_empty() => {
            return refuse("--table", "csv and parquet");
        }
        _ => {}
    }
    if own.is_some() && args.view == Some(ViewArg::Full) {
        let words = format!("--view full is not for {name}: what was undone would be said again");
        return Err(Failure::new(ERROR, words).hint("leave out --view, or choose another --format"));
    }
    if args.split.is_some() && matches!(target, Target::Output) {
        return Err(
            Failure::new(ERROR, "--split needs an output file or folder").hint("give one with -o")
        );
    }
    let table = args.table.map(|table| match table {
        TableArg::Sessions => ExportTable::Sessions,
        TableArg::Requests => ExportTable::Requests,
        TableArg::ToolCalls => ExportTable::ToolCalls,
        TableArg::Messages => ExportTable::Messages,
        TableArg::FilesTouched => ExportTable::FilesTouched,
    });
    if let Some(table) =
        table.filter(|table| !format.tables().is_empty() && !format.tables().contains(table))
    {
        return refuse(&format!("--table {}", table.name()), "parquet");
    }
    let to_output = matches!(target, Target::Output);
    let images = images(args.images, format, own.is_some(), to_output)?;
    let is_seen = to_output && context.on_terminal();
    Ok(Export {
        format,
        options: ExportOptions {
            level: args.level.into(),
            thoughts: args.thoughts,
            minimal: args.minimal,
            bidi: if is_seen { Bidi::Shown } else { Bidi::Kept },
            link_policy: match args.links {
                LinksArg::Inert => LinkPolicy::Inert,
                LinksArg::Keep => LinkPolicy::Kept,
            },
            table: table.unwrap_or_default(),
            strict: args.view == Some(ViewArg::Strict),
            ..ExportOptions::default()
        },
        split: args.split.and_then(|split| usize::try_from(split).ok()),
        tables: table.map_or_else(|| format.tables().to_vec(), |table| vec![table]),
        images,
        redaction: None,
        own,
    })
}

/// Returns what happens to images: by default they are included as far as the format allows.
fn images(
    wanted: Option<ImagesArg>,
    format: Format,
    is_own: bool,
    to_output: bool,
) -> Result<Images, Failure> {
    let refuse = |flag: &str, formats: &str| Err(not_for(format.extension(), flag, formats));
    let usual = match format {
        // The agent's own records include their images.
        _ if is_own || !format.is_for_people() => ImagesArg::None,
        Format::Html => ImagesArg::Within,
        _ if to_output => ImagesArg::None,
        _ => ImagesArg::Beside,
    };
    if wanted.is_some() && (is_own || !format.is_for_people()) {
        return refuse("--images", "md, html and txt");
    }
    match wanted.unwrap_or(usual) {
        ImagesArg::None => Ok(Images::Named),
        ImagesArg::Within if format == Format::Text => refuse("--images within", "md and html"),
        ImagesArg::Within => Ok(Images::Within),
        ImagesArg::Beside if format == Format::Html => refuse("--images beside", "md and txt"),
        ImagesArg::Beside if to_output => {
            Err(Failure::new(ERROR, "separate image files need an output file")
                .hint("give one with -o, or use --images within"))
        }
        ImagesArg::Beside => Ok(Images::Beside),
    }
}

/// Returns the error for a flag that this format does not support.
fn not_for(form: &str, flag: &str, formats: &str) -> Failure {
    let words = format!("{flag} is for {formats}, not for {form}");
    Failure::new(ERROR, words).hint(format!("leave out {flag}, or choose another --format"))
}
