//! The repository's own files, and the programs a task starts. All paths are relative to its root.
#![expect(
    clippy::disallowed_methods,
    reason = "chores read and write this repository, never a user's data"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use serde_json::Value;

use crate::TaskError;

/// A text file: its path with forward slashes, and its text.
#[derive(Debug)]
pub(crate) struct RustFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Reads a file as text.
pub(crate) fn read(path: &str) -> Result<String, TaskError> {
    fs::read_to_string(root().join(path))
        .map_err(|error| TaskError::new(format!("{path}: {error}")))
}

/// Reads a file as text; a missing one is empty.
pub(crate) fn read_or_empty(path: &str) -> Result<String, TaskError> {
    match fs::read_to_string(root().join(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(|error| TaskError::new(format!("{path}: {error}"))),
    }
}

/// Writes a file, and creates its folder if needed.
pub(crate) fn write(path: &str, text: &str) -> Result<(), TaskError> {
    let target = root().join(path);
    target
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&target, text))
        .map_err(|error| TaskError::new(format!("{path}: {error}")))
}

/// Finds every Rust file of the workspace and of `fuzz/`, sorted by path.
pub(crate) fn rust_files() -> Result<Vec<RustFile>, TaskError> {
    files(&["crates", "xtask", "fuzz"], "rs")
}

/// Finds every page of documentation, sorted by path: those at the root, and those of `docs/` and the crates.
pub(crate) fn docs() -> Result<Vec<RustFile>, TaskError> {
    let mut found = files(&["docs", "crates", "e2e", "bench"], "md")?;
    for path in ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"] {
        found.push(RustFile { path: path.to_owned(), text: read(path)? });
    }
    Ok(found)
}

/// Lists the pages whose examples are run: README and the guides in `docs/`.
pub(crate) fn guides() -> Result<Vec<String>, TaskError> {
    let is_guide = |path: &str| {
        !path.starts_with("docs/decisions/")
            && !["docs/cli.md", crate::examples::OUTPUTS].contains(&path)
    };
    let docs = files(&["docs"], "md")?.into_iter().map(|file| file.path);
    let docs = docs.filter(|path| is_guide(path));
    Ok(std::iter::once("README.md".to_owned()).chain(docs).collect())
}

/// Finds every file with an extension below some folders.
fn files(folders: &[&str], extension: &str) -> Result<Vec<RustFile>, TaskError> {
    let mut paths = Vec::new();
    for folder in folders {
        walk(&root().join(folder), extension, &mut paths)
            .map_err(|error| TaskError::new(format!("{folder}: {error}")))?;
    }
    paths.sort();
    paths.into_iter().map(|path| Ok(RustFile { text: read(&path)?, path })).collect()
}

fn walk(folder: &Path, wanted: &str, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" && entry.file_name() != "node_modules" {
                walk(&path, wanted, found)?;
            }
        } else if path.extension().is_some_and(|extension| extension == wanted) {
            let inside = path.strip_prefix(root()).unwrap_or(&path);
            found.push(inside.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}

/// Returns cargo's metadata: the workspace's packages and their dependencies.
pub(crate) fn metadata() -> Result<Value, TaskError> {
    let text = cargo(&["metadata", "--format-version", "1", "--no-deps"])?;
    serde_json::from_str(&text).map_err(|error| TaskError::new(format!("cargo metadata: {error}")))
}

/// Runs cargo and returns its output.
pub(crate) fn cargo(arguments: &[&str]) -> Result<String, TaskError> {
    output(Path::new(env!("CARGO")), arguments)
}

/// Runs a program at the root and returns its output.
pub(crate) fn output(program: &Path, arguments: &[&str]) -> Result<String, TaskError> {
    let shown = format!("{} {}", program.display(), arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| TaskError::new(format!("{shown}: {error}")))?;
    if !output.status.success() {
        return Err(TaskError::new(format!("{shown}: {}", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|error| TaskError::new(format!("{shown}: {error}")))
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}
