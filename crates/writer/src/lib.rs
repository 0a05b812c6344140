//! The only crate that changes bytes on disk.
//!
//! Everything the project writes goes through [`disk`], the one file that the linter exempts from the write ban of
//! `clippy.toml`. To change a file, call one of its functions; it returns success or an [`Error`] that names the operation
//! and the path:
//!
//! | function | use it for | after a crash |
//! |---|---|---|
//! | [`write_atomically`] | data somebody would miss | the old bytes or the new ones, never a mixture |
//! | [`write_with`] | exports of any size, which can be repeated | as above; short only after a power cut |
//! | [`Draft`] | several such files at once | as `write_with`, each on its own |
//! | [`create_new`] | files that can be created again | the file may be missing, empty or short |
//! | [`update`] | our own files that several runs change | as `write_atomically` |
//! | [`lock`] | our own files that several runs create | the lock is free |
//! | [`remove`] | our own files that can be created again | the file exists or not |
//! | [`remove_empty_folder`] | folders of exports | the folder exists or not |
//! | [`create_private_folder`] | our own data folder | as `create_folders` |
//! | [`create_folders`] | parent folders of the above | any leading part of the path may exist |
//!
//! Users' data is only changed through [`change`]: planned, approved, journalled, undoable. Packed copies of it are kept in
//! the [`vault`].

#![warn(clippy::indexing_slicing, clippy::string_slice, clippy::wildcard_enum_match_arm)]

pub mod change;
pub mod disk;
mod error;
pub mod vault;

pub use disk::{
    Draft, Lock, RealDisk, close, create_folders, create_new, create_private_file,
    create_private_folder, lock, make_private, remove, remove_empty_folder, update,
    write_atomically, write_private, write_with,
};
pub use error::Error;
