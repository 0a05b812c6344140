//! Tests that a session is found in a survey by the same rules by which it is opened.

use recount_changes::{Changes, Fork};
use recount_engine::disk::{Named, Survey};
use recount_engine::{Engine, Error};

use crate::{engine, homes};

/// One in this number of homes is checked, because each argument is read from disk for comparison.
const STEP: usize = 5;

/// The number of sessions per home.
const SESSIONS: usize = 2;

/// Returns what an argument matches: an id, or an error.
fn opened(engine: &Engine, wanted: &str) -> Result<String, String> {
    match engine.open(wanted, &()) {
        Ok(opened) if opened.is_saved() => Ok(format!("saved {}", opened.facts.id)),
        Ok(opened) => Ok(opened.facts.id.to_string()),
        Err(error) => Err(reason(&error)),
    }
}

fn found(engine: &Engine, survey: &Survey, wanted: &str) -> Result<String, String> {
    match engine.find_in(survey, wanted) {
        Ok(Named::Session(facts)) => Ok(facts.id.to_string()),
        Ok(Named::Saved(id)) => Ok(format!("saved {id}")),
        Err(error) => Err(reason(&error)),
    }
}

/// Returns the error, with the candidates in display order.
fn reason(error: &Error) -> String {
    let Error::Ambiguous { candidates, .. } = error else { return error.to_string() };
    let ids: Vec<&str> = candidates.iter().map(|facts| facts.id.as_str()).collect();
    format!("{error}: {}", ids.join(", "))
}

#[test]
fn an_argument_names_the_same_session_in_a_survey_as_on_disk() {
    let mut asked = 0;
    for (name, home) in homes().step_by(STEP) {
        let engine = engine(home.path());
        let survey = engine.scan_files(&()).unwrap();
        let mut arguments = ["latest", "@1", "abc", "zzzz"].map(str::to_owned).to_vec();
        for facts in survey.listing.sessions.iter().take(SESSIONS) {
            let id = facts.id.as_str();
            let start = |length: usize| id.chars().take(length).collect::<String>();
            arguments.extend([start(3), start(4), start(8), id.to_owned()]);
            arguments.extend(facts.files.first().map(|file| file.path.clone()));
        }
        arguments.sort();
        arguments.dedup();
        for argument in &arguments {
            let (one, other) = (opened(&engine, argument), found(&engine, &survey, argument));
            // A file on its own may give another result than among others.
            if argument.contains('/') && one != other {
                assert!(other.is_err(), "{name}: {argument}: {one:?} {other:?}");
                continue;
            }
            assert_eq!(one, other, "{name}: {argument}");
            asked += 1;
        }
    }
    assert!(asked > 100, "{asked}");
}

#[test]
fn changes_may_be_planned_on_any_thread() {
    fn sent<T: Send + Sync>(_: &T) {}
    let (_, home) = homes().next().unwrap();
    let engine = engine(home.path());
    let changes = Changes::new(&engine);
    sent(&changes);
    let plan = std::thread::scope(|scope| {
        scope.spawn(|| changes.fork_plan("latest", Fork::default(), &()).is_ok()).join()
    });
    assert!(plan.is_ok());
}
