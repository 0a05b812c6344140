//! Tests of the engine on fixtures, on synthetic homes and on recorded homes.
//!
//! All of them are one program, since linking is most of the cost of another test program.
#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

mod catalog;
mod cites;
mod claude;
mod corpus;
mod fixtures;
mod native_format;
mod projects;
mod scan;
mod snapshot;
mod sql;
mod stats;
mod toy;

use std::alloc::System;
use std::path::Path;

use recount_engine::{Engine, Setup};
use recount_model::Clock;
use recount_platform::Env;
use recount_testkit::NOW;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts what is allocated.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Opens a home at [`NOW`]. Cached data is stored in `data`, if given.
fn engine(home: &Path, data: Option<&Path>) -> Engine {
    engine_at(home, data, NOW)
}

/// Opens a home at [`NOW`]. Cached data is stored in a folder in the home.
fn engine_with_data(home: &Path) -> Engine {
    engine(home, Some(&home.join("our data")))
}

/// Opens a home at another time.
fn engine_at(home: &Path, data: Option<&Path>, now: &str) -> Engine {
    let data = data.map(|data| ("RECOUNT_DATA_DIR", data.to_str().unwrap()));
    let env = Env::for_tests(data, None);
    let clock = Clock::fixed(now.parse().unwrap());
    Engine::new(Setup {
        known_sources: recount_engine::SOURCES,
        homes: vec![home.to_owned()],
        sources: Vec::new(),
        env,
        clock,
    })
    .unwrap()
}
