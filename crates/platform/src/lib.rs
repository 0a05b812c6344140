//! Everything that differs by system or comes from outside: environment, folders, processes, free
//! disk space, the clock, the pager.

mod env;
mod folders;
mod installations;
mod interactive;
mod jump;
mod listing;
mod memory;
mod mounts;
mod process_table;
mod processes;
mod program;
mod remote;
mod room;
mod shell;
mod terminal;
mod titles;
mod zone;

pub use env::{Env, VARIABLES, Variable};
pub use folders::{Folders, is_same_place, is_temporary};
pub use installations::Installations;
pub use interactive::{copy, edit, open_address, run_self};
pub use jump::{Jump, jump};
pub use listing::{FolderEntry, Lister};
pub use memory::{grow_memory_in_large_steps, return_freed_memory};
pub use mounts::{Below, Mounts};
pub use process_table::{ProcessQuery, ProcessTable};
pub use processes::{Processes, Running, System};
pub use program::{
    Pager, ancestors, clock, find_program, may_leave_process, random, run_in, start_detached,
    system_nanos,
};
pub use remote::is_remote;
pub use room::DiskSpace;
pub use shell::{CommandLine, literal, quote};
pub use terminal::terminal;
pub use titles::{ask_program, notify_program, pane_titles};
pub use zone::local_zone;
