//! Lists the files of the page, so that a file that is added is served without another step. Style sheets become one: nothing is
//! painted before the last of them is there.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script writes to the folder that cargo names"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The style sheets, in the order in which their rules apply, and the file that has them all.
const STYLES: &[&str] = &["css/base.css", "css/views.css", "css/transcript.css"];
const STYLE: &str = "css/page.css";

fn main() -> std::io::Result<()> {
    let variable = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).ok_or_else(|| std::io::Error::other("no cargo"))
    };
    let assets = variable("CARGO_MANIFEST_DIR")?.join("assets");
    println!("cargo::rerun-if-changed={}", assets.display());
    let mut files = Vec::new();
    list(&assets, &mut files)?;
    files.sort();
    let mut table = String::from("const FILES: &[(&str, &[u8])] = &[\n");
    let mut styles = 0;
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let below = file.strip_prefix(&assets).unwrap_or(file).to_string_lossy().replace('\\', "/");
        if file.extension().is_some_and(|extension| extension == "css") {
            styles += 1;
        } else {
            add(&mut table, &below, file)?;
        }
    }
    if styles != STYLES.len() {
        return Err(std::io::Error::other("a style sheet is not in STYLES of build.rs"));
    }
    let out = variable("OUT_DIR")?;
    let style = out.join("page.css");
    let texts = STYLES.iter().map(|name| std::fs::read_to_string(assets.join(name)));
    std::fs::write(&style, texts.collect::<Result<Vec<_>, _>>()?.join("\n"))?;
    add(&mut table, STYLE, &style)?;
    table.push_str("];\n");
    std::fs::write(out.join("assets.rs"), table)
}

/// Adds a file to the table.
fn add(table: &mut String, below: &str, file: &Path) -> std::io::Result<()> {
    writeln!(table, "    ({below:?}, include_bytes!({:?})),", file.display().to_string())
        .map_err(std::io::Error::other)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            list(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}
