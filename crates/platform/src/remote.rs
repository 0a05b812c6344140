//! Network disks, on which the system does not report all changes.

use std::path::Path;

use crate::mounts::{mount_list, unescape};

/// File systems whose files may be changed by other machines.
const REMOTE: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "virtiofs",
    "vboxsf",
    "fuse.sshfs",
    "fuse.rclone",
    "fuse.glusterfs",
];

/// Whether a path is on a network disk, as far as the system reports it.
pub fn is_remote(path: &Path) -> bool {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    mount_list().is_some_and(|list| is_remote_in(&list, &path))
}

fn is_remote_in(list: &str, path: &Path) -> bool {
    let mount = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let place = unescape(before.split(' ').nth(4)?);
        let kind = after.split(' ').next()?.to_owned();
        path.starts_with(&place).then_some((place.len(), kind))
    };
    // Of several mounts at one place, the last one is visible.
    let nearest = list.lines().filter_map(mount).max_by_key(|(length, _)| *length);
    nearest.is_some_and(|(_, kind)| REMOTE.contains(&kind.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_decides() {
        let list = "36 35 98:0 / / rw shared:1 - ext4 /dev/root rw\n\
            37 36 0:52 / /mnt/my\\040disk rw - nfs4 host:/x rw\n\
            38 37 0:53 / /mnt/my\\040disk/local rw - ext4 /dev/sdb rw\nbroken\n";
        assert!(is_remote_in(list, Path::new("/mnt/my disk/home")));
        assert!(!is_remote_in(list, Path::new("/mnt/my disk/local/home")));
        assert!(!is_remote_in(list, Path::new("/home")));
    }
}
