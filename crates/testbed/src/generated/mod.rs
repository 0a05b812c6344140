//! Homes of any size: many random sessions.
//!
//! `plan` spreads the sessions over projects, eras and time; `generate` generates their content, with texts from a `pool`.
//! No floating point is used for decisions here, so that a seed gives the same result on every machine.

mod generate;
mod plan;
mod pool;

use std::path::Path;

use generate::Generator;
use plan::{Plan, Planned};
use pool::Pool;

use crate::{
    error::Error,
    home::Home,
    options::{Era, TestbedOptions},
    project::Migration,
    random::Random,
    report::ExpectedHome,
    scenario::Step,
    writing::Writing,
};

/// Above this size a session does nothing that repeats all its messages in the file.
const HEAVY: usize = 1_000_000;

pub(crate) fn fill(
    mut home: Home<'_>,
    options: &TestbedOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ExpectedHome, Error> {
    let mut random = Random::new(options.seed);
    let total = plan::bytes(options.megabytes);
    let pool = Pool::new(random.fork(), usize::try_from(total / 10).unwrap_or(usize::MAX));
    let plan = Plan::new(options, random.fork());
    let mut weight_left: u64 = plan.sessions.iter().map(|planned| planned.weight).sum();
    progress(0, total);
    for planned in &plan.sessions {
        // Later sessions compensate for the size of earlier ones.
        let left = u128::from(total.saturating_sub(home.bytes()));
        let share = left * u128::from(planned.weight) / u128::from(weight_left.max(1));
        weight_left -= planned.weight;
        let target = usize::try_from(share).unwrap_or(usize::MAX);
        let project = &plan.projects[planned.project];
        let is_copied = planned.era == Era::Strings && project.migration == Migration::Copied;
        let target = if is_copied { target / 2 } else { target };
        let mut session = Writing::start(planned.era, project, planned.at, random.fork());
        session.put(planned.shelf);
        let session = generate(session, planned, target, Generator::new(random.fork(), &pool));
        for session in session.finish() {
            home.keep(project, session)?;
            progress(home.bytes(), total);
        }
    }
    home.create_manifest(Path::new("manifest.json"))?;
    home.close()
}

/// Continues the session until it has about the requested size.
fn generate<'a>(
    mut session: Writing<'a>,
    planned: &Planned,
    target: usize,
    mut generator: Generator<'_>,
) -> Writing<'a> {
    let mut turns = if target == 0 { generator.few() } else { 1 };
    let mut forks = planned.forks;
    while turns > 0 || session.size() < target {
        turns = turns.saturating_sub(1);
        let left = target.saturating_sub(session.size());
        for step in generator.turn(planned.era, left) {
            session.step(&step);
        }
        if forks && session.size() >= target / 2 {
            session.step(&Step::Fork(90));
            // A fork has content of its own.
            (forks, turns) = (false, turns + 1);
            continue;
        }
        if let Some(event) = generator.event()
            && (session.size() < HEAVY || matches!(event, Step::Compress(_)))
            && (planned.may_resume || !matches!(event, Step::Resume(_)))
        {
            let undoes = matches!(event, Step::Rewind(_));
            session.step(&event);
            // After a rewind the conversation continues differently.
            turns += usize::from(undoes);
        }
    }
    session.title(generator.title());
    session
}
