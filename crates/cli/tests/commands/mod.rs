mod completions;
mod errors;
mod list;
mod man;
mod projects;
mod show;
mod story;
mod testbed;
