//! Lists the files of the page, so that a file that is added is served without another step.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script writes to the folder that cargo names"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

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
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let below = file.strip_prefix(&assets).unwrap_or(file).to_string_lossy().replace('\\', "/");
        writeln!(table, "    ({below:?}, include_bytes!({:?})),", file.display().to_string())
            .map_err(std::io::Error::other)?;
    }
    table.push_str("];\n");
    std::fs::write(variable("OUT_DIR")?.join("assets.rs"), table)
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
