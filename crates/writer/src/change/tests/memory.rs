//! A disk in memory that can stop, fail, fill up, and lose what was not synced.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use recount_platform::DiskSpace;

use crate::change::{Disk, FileKind, FileMetadata, HeldFile, NewFile};

/// A fault and the operation at which it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The process dies: this operation and all that follow do not happen.
    Stop(usize),
    /// Like `Stop`, but half of the bytes that were being written are on disk.
    Torn(usize),
    /// This one operation fails.
    Once(usize),
    /// From here on, every operation that takes space fails.
    Full(usize),
    /// Another process opens a session at this operation, and appends a line a number of operations later.
    LateWrite(usize, usize),
    /// A new file silently has other content than was written.
    Rot(usize),
}

/// What a crash loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Nothing: only the process died.
    Nothing,
    /// A power cut: unsynced names in folders and bytes of files are lost.
    Unsynced,
    /// A power cut: names are as they were after some of the operations since the last sync.
    Some(usize),
}

/// The file to which the other process appends, and the line.
pub(super) const LATE_TO: &str = "/home/tmp/shop/chats/session-a.jsonl";
pub(super) const LATE: &[u8] = b"late\n";

#[derive(Debug, Default)]
pub(crate) struct MemoryDisk {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    names: Names,
    /// The entries of each folder, by its number, at its last sync.
    durable: BTreeMap<usize, Names>,
    /// Names after each operation since the last sync of any folder.
    steps: Vec<Names>,
    files: Vec<Bytes>,
    /// The number of folders that were ever created.
    folders: usize,
    count: usize,
    fault: Fault,
    dead: bool,
    free: u64,
    /// The file that the other process has open.
    opened: Option<usize>,
    /// Folders from before the last crash, which was long ago.
    old: BTreeSet<PathBuf>,
}

type Names = BTreeMap<PathBuf, Node>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    /// A folder created later under the same name has another number.
    Folder(Option<u32>, usize),
    File(usize),
}

#[derive(Clone, Debug, Default)]
struct Bytes {
    now: Vec<u8>,
    synced: Vec<u8>,
    modified: Option<i64>,
    mode: Option<u32>,
}

impl Default for Inner {
    fn default() -> Self {
        let root: Names = [(PathBuf::from("/"), Node::Folder(None, 0))].into();
        Self {
            durable: BTreeMap::new(),
            folders: 1,
            steps: vec![root.clone()],
            names: root,
            files: Vec::new(),
            count: 0,
            fault: Fault::None,
            dead: false,
            free: u64::MAX / 2,
            opened: None,
            old: BTreeSet::new(),
        }
    }
}

/// The contents of a folder, with everything that must be restored.
pub(crate) type Tree = BTreeMap<PathBuf, (Option<u32>, Option<(Vec<u8>, Option<i64>)>)>;

impl MemoryDisk {
    pub(crate) fn put(&self, path: &str, bytes: &[u8], modified: i64, mode: u32) {
        let mut inner = self.lock();
        let path = PathBuf::from(path);
        for folder in path.ancestors().skip(1) {
            inner.ensure(folder);
        }
        let number = inner.files.len();
        let (now, synced) = (bytes.to_vec(), bytes.to_vec());
        inner.files.push(Bytes { now, synced, modified: Some(modified), mode: Some(mode) });
        inner.names.insert(path, Node::File(number));
        inner.settle();
    }

    pub(crate) fn folder(&self, path: &str) {
        let mut inner = self.lock();
        for folder in Path::new(path).ancestors() {
            inner.ensure(folder);
        }
        inner.settle();
    }

    pub(crate) fn set_free(&self, free: u64) {
        self.lock().free = free;
    }

    /// Counts operations from here, and injects a fault.
    pub(crate) fn plant(&self, fault: Fault) {
        let mut inner = self.lock();
        (inner.fault, inner.count) = (fault, 0);
    }

    pub(crate) fn operations(&self) -> usize {
        self.lock().count
    }

    /// Restarts after a crash.
    pub(crate) fn reboot(&self, loss: Loss) {
        let mut inner = self.lock();
        (inner.fault, inner.dead, inner.count) = (Fault::None, false, 0);
        match loss {
            Loss::Nothing => {
                inner.old = inner.names.keys().cloned().collect();
                return;
            }
            Loss::Unsynced => inner.names = inner.synced(),
            Loss::Some(choice) => {
                let at = choice % inner.steps.len();
                inner.names = inner.steps[at].clone();
            }
        }
        inner.files.iter_mut().for_each(|file| file.now = file.synced.clone());
        inner.old = inner.names.keys().cloned().collect();
        inner.settle();
    }

    pub(crate) fn tree(&self, below: &str) -> Tree {
        let inner = self.lock();
        let wanted = inner.names.iter().filter(|(path, _)| path.starts_with(below));
        let case = |node: &Node| match node {
            Node::Folder(mode, _) => (*mode, None),
            Node::File(number) => {
                let file = &inner.files[*number];
                (file.mode, Some((file.now.clone(), file.modified)))
            }
        };
        wanted.map(|(path, node)| (path.clone(), case(node))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }
}

impl Inner {
    /// Counts one operation, which may be the one that fails.
    fn step(&mut self, takes_room: bool) -> io::Result<()> {
        self.count += 1;
        if let Fault::LateWrite(at, then) = self.fault {
            self.come_late(at, then);
        }
        match self.fault {
            _ if self.dead => Err(dead()),
            Fault::Stop(n) | Fault::Torn(n) if n == self.count => {
                self.dead = true;
                Err(dead())
            }
            Fault::Once(n) if n == self.count => Err(io::Error::other("input/output error")),
            Fault::Full(n) if n <= self.count && takes_room => Err(ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }

    /// Appends to its session as an agent does.
    fn come_late(&mut self, at: usize, then: usize) {
        let path = Path::new(LATE_TO);
        if self.count == at {
            let number = self.number(path).unwrap_or_else(|_| {
                let number = self.files.len();
                self.files.push(Bytes::default());
                for folder in path.ancestors().skip(1) {
                    self.ensure(folder);
                }
                self.names.insert(path.to_owned(), Node::File(number));
                number
            });
            self.opened = Some(number);
        }
        if self.count == at + then
            && let Some(number) = self.opened.take()
        {
            let file = &mut self.files[number];
            file.now.extend_from_slice(LATE);
            file.modified = Some(9_999);
        }
    }

    fn node(&self, path: &Path) -> io::Result<Node> {
        self.names.get(path).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn number(&self, path: &Path) -> io::Result<usize> {
        match self.node(path)? {
            Node::File(number) => Ok(number),
            Node::Folder(..) => Err(ErrorKind::IsADirectory.into()),
        }
    }

    fn add(&mut self, path: &Path, node: Node) -> io::Result<()> {
        let above = path.parent().ok_or(ErrorKind::AlreadyExists)?;
        if !matches!(self.node(above)?, Node::Folder(..)) {
            return Err(ErrorKind::NotADirectory.into());
        }
        self.names.insert(path.to_owned(), node);
        self.steps.push(self.names.clone());
        Ok(())
    }

    fn ensure(&mut self, folder: &Path) {
        self.folders += 1;
        let node = Node::Folder(Some(0o755), self.folders);
        self.names.entry(folder.to_owned()).or_insert(node);
    }

    fn inside(&self, folder: &Path) -> Names {
        let inside = self.names.iter().filter(|(name, _)| name.parent() == Some(folder));
        inside.map(|(name, node)| (name.clone(), *node)).collect()
    }

    /// Returns what is left if only synced names survive.
    fn synced(&self) -> Names {
        let mut left: Names = [(PathBuf::from("/"), Node::Folder(None, 0))].into();
        let mut open = vec![0];
        while let Some(number) = open.pop() {
            for (name, node) in self.durable.get(&number).into_iter().flatten() {
                left.insert(name.clone(), *node);
                if let Node::Folder(_, number) = node {
                    open.push(*number);
                }
            }
        }
        left
    }

    fn settle(&mut self) {
        let numbered = |(path, node): (&PathBuf, &Node)| match node {
            Node::Folder(_, number) => Some((*number, self.inside(path))),
            Node::File(_) => None,
        };
        self.durable = self.names.iter().filter_map(numbered).collect();
        self.steps = vec![self.names.clone()];
    }
}

fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

impl Disk for MemoryDisk {
    fn metadata(&self, path: &Path) -> io::Result<Option<FileMetadata>> {
        let mut inner = self.lock();
        inner.step(false)?;
        Ok(inner.names.get(path).map(|node| match node {
            Node::Folder(mode, _) => {
                let modified = inner.old.contains(path).then_some(0);
                FileMetadata { kind: FileKind::Folder, bytes: 0, modified, mode: *mode }
            }
            Node::File(number) => {
                let file = &inner.files[*number];
                let bytes = file.now.len() as u64;
                FileMetadata {
                    kind: FileKind::File,
                    bytes,
                    modified: file.modified,
                    mode: file.mode,
                }
            }
        }))
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        let mut inner = self.lock();
        inner.step(false)?;
        let number = inner.number(path)?;
        Ok(Box::new(Cursor::new(inner.files[number].now.clone())))
    }

    fn hold(&self, path: &Path) -> io::Result<Box<dyn HeldFile + '_>> {
        let mut inner = self.lock();
        inner.step(false)?;
        let number = inner.number(path)?;
        Ok(Box::new(MemoryHeldFile { disk: self, number }))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut inner = self.lock();
        inner.step(false)?;
        inner.node(path)?;
        Ok(inner.names.keys().filter(|name| name.parent() == Some(path)).cloned().collect())
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.lock().node(path).map(|_| path.to_owned())
    }

    fn room(&self, path: &Path) -> Option<DiskSpace> {
        let inner = self.lock();
        inner.node(path).ok().map(|_| DiskSpace { device: 1, free: inner.free })
    }

    fn make_folder(&self, path: &Path, mode: Option<u32>) -> io::Result<()> {
        let mut inner = self.lock();
        inner.step(true)?;
        if inner.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        inner.folders += 1;
        let number = inner.folders;
        inner.add(path, Node::Folder(mode, number))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.lock();
        inner.step(false)?;
        inner.node(path)?;
        if inner.names.keys().any(|name| name.parent() == Some(path)) {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        inner.names.remove(path);
        inner.old.remove(path);
        let names = inner.names.clone();
        inner.steps.push(names);
        Ok(())
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile + '_>> {
        let mut inner = self.lock();
        inner.step(true)?;
        if inner.names.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let number = inner.files.len();
        inner.files.push(Bytes { mode: Some(0o600), ..Bytes::default() });
        inner.add(path, Node::File(number))?;
        Ok(Box::new(MemoryFile { disk: self, number, is_journal: false }))
    }

    fn continue_at(&self, path: &Path, at: u64) -> io::Result<Box<dyn NewFile + '_>> {
        let mut inner = self.lock();
        inner.step(true)?;
        let number = inner.number(path)?;
        inner.files[number].now.truncate(usize::try_from(at).unwrap());
        Ok(Box::new(MemoryFile { disk: self, number, is_journal: false }))
    }

    fn append_line(&self, path: &Path, line: &[u8]) -> io::Result<()> {
        let known = self.lock().names.get(path).copied();
        let number = match known {
            Some(Node::File(number)) => number,
            Some(Node::Folder(..)) => return Err(ErrorKind::IsADirectory.into()),
            None => {
                let mut inner = self.lock();
                inner.step(true)?;
                let number = inner.files.len();
                inner.files.push(Bytes::default());
                inner.add(path, Node::File(number))?;
                number
            }
        };
        let mut file = Box::new(MemoryFile { disk: self, number, is_journal: true });
        let torn = self.lock().files[number].now.last().is_some_and(|last| *last != b'\n');
        let text = [if torn { b"\n" as &[u8] } else { b"" }, line, b"\n"].concat();
        file.write_all(&text)?;
        let mut inner = self.lock();
        inner.step(true)?;
        inner.files[number].synced = inner.files[number].now.clone();
        Ok(())
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.lock();
        inner.step(true)?;
        let number = inner.number(path)?;
        inner.files[number].now.extend_from_slice(bytes);
        Ok(())
    }

    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.lock();
        inner.step(true)?;
        let number = inner.number(path)?;
        inner.files[number].now = bytes.to_owned();
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut inner = self.lock();
        inner.step(false)?;
        let number = inner.number(from)?;
        if let Some(Node::Folder(..)) = inner.names.get(to) {
            return Err(ErrorKind::IsADirectory.into());
        }
        inner.node(to.parent().unwrap())?;
        inner.names.remove(from);
        inner.add(to, Node::File(number))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.lock();
        inner.step(false)?;
        inner.number(path)?;
        inner.names.remove(path);
        let names = inner.names.clone();
        inner.steps.push(names);
        Ok(())
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let mut inner = self.lock();
        inner.step(false)?;
        let Node::Folder(_, number) = inner.node(path)? else {
            return Err(ErrorKind::NotADirectory.into());
        };
        let inside = inner.inside(path);
        inner.durable.insert(number, inside);
        let names = inner.names.clone();
        inner.steps = vec![names];
        Ok(())
    }

    fn touch_folder(&self, _path: &Path) -> io::Result<()> {
        self.lock().step(false)
    }

    fn lock_file(&self, path: &Path) -> io::Result<Option<Box<dyn Debug + '_>>> {
        let mut inner = self.lock();
        inner.step(false)?;
        Ok(inner.names.get(path).map(|_| Box::new(()) as Box<dyn Debug>))
    }
}

struct MemoryHeldFile<'a> {
    disk: &'a MemoryDisk,
    number: usize,
}

impl HeldFile for MemoryHeldFile<'_> {
    fn metadata(&self) -> io::Result<FileMetadata> {
        let mut inner = self.disk.lock();
        inner.step(false)?;
        let file = &inner.files[self.number];
        let bytes = file.now.len() as u64;
        Ok(FileMetadata { kind: FileKind::File, bytes, modified: file.modified, mode: file.mode })
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut inner = self.disk.lock();
        inner.step(false)?;
        Ok(inner.files[self.number].now.clone())
    }
}

struct MemoryFile<'a> {
    disk: &'a MemoryDisk,
    number: usize,
    is_journal: bool,
}

impl Write for MemoryFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut inner = self.disk.lock();
        let torn = inner.fault == Fault::Torn(inner.count + 1) && !inner.dead;
        let stepped = inner.step(true);
        if torn {
            let half = &bytes[..bytes.len() / 2];
            inner.files[self.number].now.extend_from_slice(half);
        }
        stepped?;
        let rots = inner.fault == Fault::Rot(inner.count) && !self.is_journal;
        let turned = |byte: &u8| if rots { byte ^ 1 } else { *byte };
        inner.files[self.number].now.extend(bytes.iter().map(turned));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for MemoryFile<'_> {
    fn finish(self: Box<Self>, modified: Option<i64>, mode: Option<u32>) -> io::Result<()> {
        let mut inner = self.disk.lock();
        inner.step(true)?;
        let file = &mut inner.files[self.number];
        (file.modified, file.synced) = (modified, file.now.clone());
        if mode.is_some() {
            file.mode = mode;
        }
        Ok(())
    }
}
