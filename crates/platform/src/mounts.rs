//! Where other file systems begin.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The places at which file systems are mounted.
#[derive(Clone, Debug, Default)]
pub struct Mounts {
    /// Known without a system call per folder, which would hang on a dead network disk.
    places: Option<HashMap<OsString, HashSet<String>>>,
}

impl Mounts {
    /// Reads the mounts of this system.
    pub fn of_system() -> Self {
        Self { places: mount_list().as_deref().map(parse) }
    }

    /// Returns a check for the folders in `folder`: whether another file system begins there.
    pub fn below<'a>(&'a self, folder: &'a Path) -> Below<'a> {
        match &self.places {
            Some(places) => Below::Known(places.get(folder.as_os_str())),
            None => Below::Ask { folder, device: device(folder) },
        }
    }
}

/// Checks for the folders in one folder whether another file system begins there.
#[derive(Clone, Copy, Debug)]
pub enum Below<'a> {
    /// The names at which one does.
    Known(Option<&'a HashSet<String>>),
    /// Checked by a system call per folder.
    Ask {
        /// The folder above.
        folder: &'a Path,
        /// Its device.
        device: Option<u64>,
    },
}

impl Below<'_> {
    /// Whether another file system begins at `name`.
    pub fn begins_at(self, name: &str) -> bool {
        match self {
            Self::Known(names) => names.is_some_and(|names| names.contains(name)),
            Self::Ask { folder, device: own } => device(&folder.join(name)) != own,
        }
    }
}

/// Returns the kernel's list of mounts, where there is one.
pub(crate) fn mount_list() -> Option<String> {
    if cfg!(target_os = "linux") { read("/proc/self/mountinfo") } else { None }
}

#[expect(clippy::disallowed_methods, reason = "a file of the kernel, which has no size to check")]
fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Reads the fifth field of each line; spaces and similar characters are written as `\040`.
fn parse(list: &str) -> HashMap<OsString, HashSet<String>> {
    let mut places: HashMap<OsString, HashSet<String>> = HashMap::new();
    for place in list.lines().filter_map(|line| line.split(' ').nth(4)) {
        let place = PathBuf::from(unescape(place));
        if let (Some(above), Some(name)) =
            (place.parent(), place.file_name().and_then(|n| n.to_str()))
        {
            places.entry(above.as_os_str().to_owned()).or_default().insert(name.to_owned());
        }
    }
    places
}

pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let code = escape.get(1..4).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let (letter, length) = code.map_or(('\\', 1), |code| (char::from(code), 4));
        out.push(letter);
        rest = escape.get(length..).unwrap_or_default();
    }
    out + rest
}

#[cfg(unix)]
fn device(path: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    path.symlink_metadata().ok().map(|metadata| metadata.dev())
}

#[cfg(not(unix))]
fn device(_path: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_from_the_kernels_list() {
        let list = "36 35 98:0 / / rw,noatime shared:1 - ext4 /dev/root rw\n\
            37 36 0:52 / /mnt/my\\040disk rw - nfs4 host:/x rw\nbroken\n";
        let mounts = Mounts { places: Some(parse(list)) };
        assert!(mounts.below(Path::new("/mnt")).begins_at("my disk"));
        assert!(!mounts.below(Path::new("/")).begins_at("home"));
        assert!(!mounts.below(Path::new("/mnt/my disk")).begins_at("x"));
        assert_eq!(unescape("a\\b\\04"), "a\\b\\04");
    }
}
