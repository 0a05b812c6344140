//! The small demo home with one of everything.

use std::path::Path;

use crate::{
    codex::StoragePlace,
    error::Error,
    home::Home,
    json::{Json, record},
    moment::Moment,
    options::Era,
    project::{Migration, Project},
    random::Random,
    report::ExpectedHome,
    scenario::Scenario,
    scripted::{import, others, parser, release, shop, weather},
    writing::Writing,
};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// When a session began, relative to now; the era that wrote it; its scenario.
type DatedScenario = (i64, Era, fn() -> Scenario);

/// Like [`DatedScenario`], with the place where the session is now.
type StoredScenario = (i64, Era, StoragePlace, fn() -> Scenario);

pub(crate) fn fill(mut home: Home<'_>, now: Moment) -> Result<ExpectedHome, Error> {
    let mut random = Random::new(0x000d_0e00);
    let mut paths = Vec::new();
    for (project, sessions) in plan() {
        for (ago, era, scenario) in sessions {
            // Start times vary, as people's do.
            let later = if ago > DAY { random.between(0, 5 * HOUR) } else { 0 };
            let at = now.plus(later - ago);
            let mut session = Writing::start(era, &project, at, random.fork());
            session.play(&scenario());
            session.finish().into_iter().try_for_each(|session| home.keep(&project, session))?;
        }
        paths.push(project.path);
    }
    others(&mut home, now)?;
    settle(&mut home, &paths)?;
    home.close()
}

fn plan() -> Vec<(Project, Vec<DatedScenario>)> {
    vec![
        (
            Project::new("/home/dev/code/shop", shop::FILES, Migration::Copied),
            vec![
                (301 * DAY, Era::Strings, shop::tax_question),
                (288 * DAY, Era::Strings, shop::receipts),
                (233 * DAY, Era::Parts, shop::pagination),
                (4 * DAY + 2 * HOUR, Era::Checkpoints, shop::discount),
                (5 * HOUR, Era::Checkpoints, shop::where_is_tax),
            ],
        ),
        (
            Project::new("/home/dev/code/tinyparse", parser::FILES, Migration::LeftBehind),
            vec![
                (221 * DAY, Era::Parts, parser::escapes),
                (190 * DAY, Era::Lines, parser::deep_nesting),
                (2 * DAY + 7 * HOUR, Era::Checkpoints, parser::surrogates),
            ],
        ),
        (
            Project::new("/home/dev/code/release-tools", release::FILES, Migration::LeftBehind),
            vec![
                (180 * DAY, Era::Lines, release::changelog),
                (30 * HOUR, Era::Checkpoints, release::tagging),
                (40 * 60_000, Era::Checkpoints, release::quota),
            ],
        ),
        (
            Project::new("/home/dev/code/天気ノート", weather::FILES, Migration::LeftBehind),
            vec![
                (215 * DAY, Era::Parts, weather::forecast),
                (3 * DAY, Era::Checkpoints, weather::chart),
            ],
        ),
        (
            Project::new("/home/dev/code/order-import", import::FILES, Migration::LeftBehind),
            vec![
                (310 * DAY, Era::Strings, import::duplicates),
                (176 * DAY, Era::Lines, import::dates),
            ],
        ),
    ]
}

/// Adds sessions of other agents in the same projects. They use their own random numbers, so that nothing changes for those
/// above.
fn others(home: &mut Home<'_>, now: Moment) -> Result<(), Error> {
    use StoragePlace::{Active, Archived, Compressed};
    let mut random = Random::new(0x000d_0e01);
    let shop: Vec<StoredScenario> = vec![
        (262 * DAY, Era::ClaudeInline, Active, others::rounding),
        (3 * DAY + 5 * HOUR, Era::ClaudeFolder, Active, others::refunds),
        (27 * HOUR, Era::CodexPaginated, Active, others::stock),
        (2 * DAY + 20 * HOUR, Era::ClaudeFolder, Active, others::receipt_layout),
    ];
    let parser: Vec<StoredScenario> = vec![
        (250 * DAY, Era::CodexBare, Active, others::release_notes),
        (120 * DAY, Era::ClaudeFlat, Active, others::numbers),
        (60 * DAY, Era::CodexTagged, Active, others::errors),
    ];
    let release: Vec<StoredScenario> =
        vec![(90 * DAY, Era::CodexTagged, Archived, others::signing)];
    let import: Vec<StoredScenario> = vec![
        (320 * DAY, Era::CodexDocument, Active, others::first_try),
        (40 * DAY, Era::CodexPaginated, Compressed, others::columns),
    ];
    for (index, sessions) in [(0, shop), (1, parser), (2, release), (4, import)] {
        let Some((project, _)) = plan().into_iter().nth(index) else { continue };
        for (ago, era, shelf, scenario) in sessions {
            let mut session = Writing::start(era, &project, now.plus(-ago), random.fork());
            session.put(shelf);
            session.play(&scenario());
            session.finish().into_iter().try_for_each(|session| home.keep(&project, session))?;
        }
    }
    Ok(())
}

/// Writes the settings beside the data: retention off, so that nothing of this home is deleted, and the trusted folders.
fn settle(home: &mut Home<'_>, paths: &[String]) -> Result<(), Error> {
    let settings = record! {
        "security": record! { "auth": record! { "selectedType": "gemini-api-key" } },
        "general": record! { "sessionRetention": record! { "enabled": false } },
    };
    home.create(Path::new(".gemini/settings.json"), settings.to_pretty().as_bytes(), None)?;
    let settings = record! { "cleanupPeriodDays": 99_999_u64 };
    home.create(Path::new(".claude/settings.json"), settings.to_pretty().as_bytes(), None)?;
    let trusted = paths.iter().map(|path| (path.clone().into(), Json::from("TRUST_FOLDER")));
    let trusted = Json::Record(trusted.collect()).to_pretty();
    home.create(Path::new(".gemini/trustedFolders.json"), trusted.as_bytes(), None)
}
