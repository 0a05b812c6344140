//! Writes sessions to files in the current folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_changes::Error as ChangeError;
use recount_display::number::plural;
use recount_engine::export::{ExportOptions, Format, Images};
use recount_engine::{Engine, Error, Export, Selection};
use recount_model::SessionFacts;

use super::ChangeOutcome;
use crate::over::{Choice, Pick};
use crate::screen::Context;
use crate::work::{Slot, Work};

/// The formats, with what they are for.
const FORMATS: [(Format, &str, &str); 5] = [
    (Format::Markdown, "md", "to read and to paste"),
    (Format::Html, "html", "one page for a browser, with pictures"),
    (Format::Json, "json", "one document for programs"),
    (Format::Jsonl, "jsonl", "one record per line, for programs"),
    (Format::Text, "txt", "plain text"),
];
/// The maximum number of exports of one session in a folder.
const MOST: usize = 10_000;
/// The longest name of a file, without id and ending.
const NAME: usize = 48;

/// Asks for a format, then writes the sessions.
pub(crate) fn export(chosen: Vec<Arc<SessionFacts>>, cx: &mut Context<'_>) {
    let choices = FORMATS
        .iter()
        .map(|(_, name, detail)| Choice {
            value: (*name).to_owned(),
            name: (*name).to_owned(),
            detail: (*detail).to_owned(),
        })
        .collect();
    let title = format!("export {} as", plural(chosen.len() as u64, "session"));
    cx.push(Pick::one_of(&title, choices, move |name, cx| {
        let format = FORMATS.iter().find(|(_, one, _)| *one == name);
        let format = format.map_or(Format::Markdown, |(format, ..)| *format);
        cx.ask(Slot::Apply, move |work| {
            ChangeOutcome::new(write(work, &chosen, format).map_err(ChangeError::from), None)
        });
    }));
}

fn write(work: &Work, chosen: &[Arc<SessionFacts>], format: Format) -> Result<String, Error> {
    let engine = work.engine();
    let folder = engine.env().current_folder().cloned().unwrap_or_default();
    let images = match format {
        Format::Html => Images::Within,
        Format::Markdown | Format::Text => Images::Beside,
        _ => Images::Named,
    };
    let export = Export {
        format,
        options: ExportOptions::default(),
        split: None,
        tables: format.tables().to_vec(),
        images,
        redaction: None,
        own: None,
    };
    let mut names = Vec::new();
    for facts in chosen {
        let path = free_name(&folder, facts, format.extension())
            .ok_or_else(|| Error::Output(std::io::ErrorKind::AlreadyExists.into()))?;
        one(&engine, facts, &export, &path)?;
        names.push(path);
    }
    let shown = |path: &PathBuf| engine.folders().tilde(&path.to_string_lossy());
    Ok(match names.as_slice() {
        [one] => format!("exported to {}", shown(one)),
        many => {
            let all: Vec<String> = many.iter().map(shown).collect();
            format!("exported {}: {}", plural(many.len() as u64, "session"), all.join(", "))
        }
    })
}

fn one(engine: &Engine, facts: &SessionFacts, export: &Export, path: &Path) -> Result<(), Error> {
    let mut opened = engine.open(facts.id.as_str(), &())?;
    if matches!(export.format, Format::Json | Format::Jsonl) {
        engine.complete(&mut opened);
    }
    engine.export_file(&Selection::Opened(vec![opened]), export, path)?;
    Ok(())
}

/// Returns a path that does not exist: nothing is overwritten.
fn free_name(folder: &Path, facts: &SessionFacts, ending: &str) -> Option<PathBuf> {
    let title = facts.title.as_deref().unwrap_or("session");
    let letters = title.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' });
    let mut name = String::new();
    for letter in letters.flat_map(char::to_lowercase) {
        if name.len() >= NAME {
            break;
        }
        if letter != '-' || !(name.is_empty() || name.ends_with('-')) {
            name.push(letter);
        }
    }
    let name = format!("{}-{}", name.trim_end_matches('-'), facts.id.short());
    let with = |number: usize| match number {
        0 => folder.join(format!("{name}.{ending}")),
        number => folder.join(format!("{name}-{}.{ending}", number + 1)),
    };
    (0..MOST).map(with).find(|path| !path.exists())
}
