//! How the agent's own files change when a thread gets a name or belongs to another folder.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use recount_model::{Grammar, RecordedPath, SessionId};

use crate::bytes::{Buffer, Input, read_small};
use crate::edit::{Amendment, Editor, Meeting, Patch, ProjectDirectory, RegistryEntry, Relocation};
use crate::json::{JsonScan, Members, Scanner};
use crate::source::{Artifacts, ProjectFolder, RootShape};

use super::names::{self, index_file};
use super::record::{Fields, string, word};
use super::tool::quoted;

/// Files of every release up to 0.166.
#[derive(Debug)]
pub(super) struct Edits;

impl Editor for Edits {
    fn title(&self, text: &str) -> String {
        let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        let shown: String = shown.collect();
        shown.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn name_beside(
        &self,
        root: &Path,
        id: &SessionId,
        title: Option<&str>,
        now: Timestamp,
    ) -> Option<io::Result<RegistryEntry>> {
        Some(named(root, id, title, now))
    }

    fn names_lock(&self, root: &Path) -> Option<PathBuf> {
        Some(root.join("session_index.jsonl.lock"))
    }

    /// Releases that keep this database list names from another one, and read those in the index only to find a thread by its name.
    fn names_note(&self, root: &Path) -> Option<&'static str> {
        root.join("thread_history_1.sqlite").exists().then_some(
            "the list in this release of Codex keeps the old name, because it shows names from its own database; `codex resume NAME` finds the new one",
        )
    }

    fn folder_at(&self, root: &Path, began: Option<Timestamp>) -> Option<PathBuf> {
        let began = began.unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system());
        Some(root.join("sessions").join(began.strftime("%Y/%m/%d").to_string()))
    }

    fn refoldered(
        &self,
        root: &Path,
        files: &[PathBuf],
        old: &str,
        new: &str,
    ) -> Result<Vec<(PathBuf, Vec<Patch>)>, String> {
        refoldered(root, files, old, new)
    }

    fn amend(
        &self,
        _file: &Path,
        _grammar: Grammar,
        _said: Amendment<'_>,
        _buffer: &mut Buffer,
    ) -> io::Result<Option<Vec<Patch>>> {
        // Names are beside the sessions, and no path is hashed.
        Ok(Some(Vec::new()))
    }

    fn place(
        &self,
        root: &Path,
        _shape: RootShape,
        _path: &RecordedPath,
    ) -> Result<ProjectDirectory, String> {
        Ok(ProjectDirectory { folder: root.join("sessions"), ..ProjectDirectory::default() })
    }

    fn relocation(
        &self,
        _root: &Path,
        _shape: RootShape,
        _old: &RecordedPath,
        _new: &RecordedPath,
    ) -> Result<Option<Relocation>, String> {
        Ok(None)
    }

    fn contents(&self, _folder: &Path) -> Artifacts {
        Artifacts::default()
    }

    fn meet(&self, _name: &Path, _here: &Path, _there: &Path) -> Meeting {
        Meeting::Apart
    }

    fn is_sessions_folder(&self, _folder: &Path) -> bool {
        false
    }

    fn group<'a>(&self, name: &'a str) -> &'a str {
        names::rollout(name).map_or(name, |name| name.thread)
    }

    fn names_apart(&self, name: &str, _id: &SessionId, _attempt: usize) -> String {
        name.to_owned()
    }

    fn names_beside(&self, name: &str, _attempt: usize) -> String {
        name.to_owned()
    }

    fn orphans(
        &self,
        _folder: &ProjectFolder,
        _is_there: &dyn Fn(&str) -> bool,
        _sessions: &[PathBuf],
    ) -> Artifacts {
        Artifacts::default()
    }
}

/// Writes the index of names with another name for a thread: appended as a line, as the agent does it, or without one.
fn named(
    root: &Path,
    id: &SessionId,
    title: Option<&str>,
    now: Timestamp,
) -> io::Result<RegistryEntry> {
    let path = index_file(root);
    let mut bytes = match read_small(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    if let Some(title) = title {
        if bytes.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        let (id, title, now) = (quoted(id.as_str()), quoted(title), quoted(&now.to_string()));
        let line = format!("{{\"id\":{id},\"thread_name\":{title},\"updated_at\":{now}}}\n");
        bytes.extend(line.into_bytes());
    } else {
        let is_its =
            |line: &[u8]| names::entry(line).is_some_and(|(known, _)| known == id.as_str());
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        bytes = lines.filter(|line| !is_its(line.trim_ascii_end())).flatten().copied().collect();
    }
    Ok(RegistryEntry { path, bytes, what: "names" })
}

/// Returns what changes when threads belong to another folder: where they record it, and where other threads point into files that
/// become longer or shorter.
fn refoldered(
    root: &Path,
    files: &[PathBuf],
    old: &str,
    new: &str,
) -> Result<Vec<(PathBuf, Vec<Patch>)>, String> {
    let mut changes: BTreeMap<PathBuf, Vec<Patch>> = BTreeMap::new();
    let mut by_rollout: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in files {
        let bytes = whole(path)?;
        let patches = patches(&bytes, old, new);
        let records = |patch: &Patch| patch.at < first_line(&bytes).len() as u64;
        if !patches.iter().any(records) {
            return Err(format!("{} does not record {old} as its folder", path.display()));
        }
        if let Some(name) = names::of_path(path) {
            by_rollout.insert(name.rollout.to_owned(), path.clone());
        }
        changes.insert(path.clone(), patches);
    }
    let located = super::locate::locate(root, None);
    for path in located.folders.iter().flat_map(|folder| &folder.files).map(|file| &file.path) {
        let Some((rollout, end, place)) = pointer(path) else { continue };
        let Some(patches) = by_rollout.get(&rollout).and_then(|base| changes.get(base)) else {
            continue;
        };
        let moved = shifted(patches, end);
        if moved == end {
            continue;
        }
        if is_compressed(path) {
            return Err(compressed(path));
        }
        let length = (place.end - place.start) as u64;
        let patch =
            Patch { at: place.start as u64, bytes: length, with: moved.to_string().into_bytes() };
        let own = changes.entry(path.clone()).or_default();
        own.push(patch);
        own.sort_by_key(|patch| patch.at);
    }
    Ok(changes.into_iter().collect())
}

fn is_compressed(path: &Path) -> bool {
    Input::open(path).is_ok_and(|input| input.is_compressed())
}

fn compressed(path: &Path) -> String {
    format!(
        "{} was compressed by the agent; resume the session once, which turns it back",
        path.display()
    )
}

fn whole(path: &Path) -> Result<Vec<u8>, String> {
    if is_compressed(path) {
        return Err(compressed(path));
    }
    let mut bytes = Vec::new();
    let read = Input::open(path).and_then(|mut input| input.read_to_end(&mut bytes));
    read.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    Ok(bytes)
}

fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Returns where an offset is when some bytes before it are replaced.
fn shifted(patches: &[Patch], end: u64) -> u64 {
    let before = patches.iter().filter(|patch| patch.at < end);
    before.fold(end, |end, patch| (end + patch.with.len() as u64).saturating_sub(patch.bytes))
}

/// Finds the records of a folder in a file: of the thread, of its turns and of its settings. Texts stay as they are.
fn patches(bytes: &[u8], old: &str, new: &str) -> Vec<Patch> {
    let mut patches = Vec::new();
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let is_one = [&b"session_meta"[..], b"turn_context", b"thread_settings_applied"]
            .iter()
            .any(|mark| memchr::memmem::find(line.get(..400).unwrap_or(line), mark).is_some());
        if is_one {
            let mut places = Vec::new();
            // A line that is not JSON has nothing to replace.
            let _walked = places_in(line, 0, old, &mut places);
            patches.extend(places.into_iter().map(|place| Patch {
                at: (at + place.start) as u64,
                bytes: (place.end - place.start) as u64,
                with: quoted(new).into_bytes(),
            }));
        }
        at += line.len();
    }
    patches
}

/// The members in which a folder is recorded, and those that hold such members.
const FOLDERS: [&str; 3] = ["cwd", "runtime_workspace_roots", "workspace_roots"];
const AROUND: [&str; 2] = ["payload", "thread_settings"];

fn places_in(bytes: &[u8], from: usize, old: &str, found: &mut Vec<Range<usize>>) -> JsonScan<()> {
    let members = Members::of(bytes, from)?;
    for (key, place) in members.iter() {
        let value = bytes.get(place.clone()).unwrap_or_default();
        if AROUND.contains(&key) && value.first() == Some(&b'{') {
            places_in(bytes, place.start, old, found)?;
        } else if FOLDERS.contains(&key) {
            let mut scanner = Scanner::new(value);
            let is_it = |raw: &[u8]| string(Some(raw)).as_deref() == Some(old);
            if value.first() == Some(&b'[') {
                scanner.array(|scanner| {
                    scanner.peek()?;
                    let start = scanner.offset();
                    let element = scanner.value()?;
                    if is_it(element) {
                        found.push(place.start + start..place.start + start + element.len());
                    }
                    Ok(())
                })?;
            } else if is_it(value) {
                found.push(place.clone());
            }
        }
    }
    Ok(())
}

/// How much of a file is read to find what it points to.
const HEAD: u64 = 1024 * 1024;

/// Returns the rollout that a file continues, from which offset, and the location of that number.
fn pointer(path: &Path) -> Option<(String, u64, Range<usize>)> {
    let mut head = Vec::new();
    Input::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let line = first_line(&head);
    memchr::memmem::find(line, b"\"history_base\"")?;
    let outer = Members::of(line, 0).ok()?;
    let payload = outer.value("payload")?.start;
    let base = Members::of(line, payload).ok()?.value("history_base")?.clone();
    let fields = Fields::read(line.get(base.clone())?).ok()?;
    let members = Members::of(line, base.start).ok()?;
    let place = members.value("end_byte_offset")?.clone();
    let end = std::str::from_utf8(line.get(place.clone())?).ok()?.parse().ok()?;
    let rollout = fields.thread_id.and_then(word)?;
    Some((String::from_utf8_lossy(rollout).into_owned(), end, place))
}

#[cfg(test)]
mod tests {
    use recount_testkit::Home;

    use super::*;

    const META: &str = r#"{"timestamp":"2026-11-15T18:00:00.000Z","type":"session_meta","payload":{"id":"a","cwd":"/home/dev/code/shop","runtime_workspace_roots":["/home/dev/code/shop","/x"],"base_instructions":{"cwd":"/home/dev/code/shop"}}}"#;
    const TURN: &str = r#"{"timestamp":"2026-11-15T18:00:00.000Z","type":"turn_context","payload":{"cwd":"/home/dev/code/shop","model":"m"}}"#;
    const SAID: &str = r#"{"timestamp":"2026-11-15T18:00:00.000Z","type":"response_item","payload":{"type":"message","cwd":"/home/dev/code/shop"}}"#;

    fn applied(bytes: &[u8], patches: &[Patch]) -> String {
        let mut out = Vec::new();
        let mut at = 0;
        for patch in patches {
            let place = usize::try_from(patch.at).unwrap();
            out.extend_from_slice(&bytes[at..place]);
            out.extend_from_slice(&patch.with);
            at = place + usize::try_from(patch.bytes).unwrap();
        }
        out.extend_from_slice(&bytes[at..]);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_records_of_the_folder_change() {
        let text = format!("{META}\n{TURN}\n{SAID}\n");
        let patches =
            patches(text.as_bytes(), "/home/dev/code/shop", "/home/dev/code/the \"shop\"");
        assert_eq!(patches.len(), 3);
        let new = applied(text.as_bytes(), &patches);
        assert_eq!(new.matches(r#""/home/dev/code/the \"shop\"""#).count(), 3);
        assert!(
            new.ends_with(&format!("{SAID}\n"))
                && new.contains(r#""base_instructions":{"cwd":"/home/dev/code/shop"}"#)
        );
    }

    #[test]
    fn threads_that_point_into_a_file_still_do() {
        let home = Home::with(["codex/paginated/fork"]);
        let root = home.path().join(".codex");
        let files: Vec<PathBuf> = super::super::locate::locate(&root, None)
            .folders
            .iter()
            .flat_map(|folder| &folder.files)
            .map(|file| file.path.clone())
            .collect();
        let (child, base): (Vec<_>, Vec<_>) =
            files.iter().partition(|path| pointer(path).is_some());
        let (_, end, _) = pointer(child[0]).unwrap();
        let changes = refoldered(
            &root,
            &[base[0].clone()],
            "/home/dev/code/shop",
            "/home/dev/code/a-longer-name",
        )
        .unwrap();
        assert_eq!(changes.len(), 2);
        let bytes = whole(base[0]).unwrap();
        let line_at = |text: &str, at: u64| {
            text.get(..usize::try_from(at).unwrap()).unwrap().matches('\n').count()
        };
        let old = String::from_utf8(bytes.clone()).unwrap();
        let of = |path: &Path| &changes.iter().find(|(known, _)| known == path).unwrap().1;
        let new = applied(&bytes, of(base[0]));
        let moved: u64 = String::from_utf8(of(child[0])[0].with.clone()).unwrap().parse().unwrap();
        assert_eq!(line_at(&new, moved), line_at(&old, end));
        assert!(moved > end);
    }

    #[test]
    fn a_name_is_a_line_and_taking_it_away_leaves_the_others() {
        let home = Home::empty();
        let root = home.path().join(".codex");
        let now: Timestamp = "2026-11-16T00:00:00Z".parse().unwrap();
        let name = |id: &str, title: Option<&str>| {
            let entry = named(&root, &SessionId::new(id), title, now).unwrap();
            String::from_utf8(entry.bytes).unwrap()
        };
        let first = name("a", Some("One \"two\""));
        assert_eq!(
            first,
            "{\"id\":\"a\",\"thread_name\":\"One \\\"two\\\"\",\"updated_at\":\"2026-11-16T00:00:00Z\"}\n"
        );
        home.write(".codex/session_index.jsonl", first.trim_end());
        let both = name("b", Some("Other"));
        home.write(".codex/session_index.jsonl", &both);
        assert_eq!(names::given(&root).len(), 2);
        assert_eq!(name("b", None), first);
    }
}
