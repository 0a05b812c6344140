//! Plans the sessions: project, era, time and share of the size.

use super::pool::NOUNS;
use crate::{
    codex::StoragePlace,
    moment::Moment,
    options::{Era, TestbedAgent, TestbedOptions},
    project::{Migration, Project},
    random::Random,
};

pub(super) struct Plan {
    pub(super) projects: Vec<Project>,
    pub(super) sessions: Vec<Planned>,
}

pub(super) struct Planned {
    pub(super) project: usize,
    pub(super) era: Era,
    pub(super) at: Moment,
    /// Share of the whole size: a few sessions are long, most are not.
    pub(super) weight: u64,
    /// Whether a later release may resume the session.
    pub(super) may_resume: bool,
    /// Whether it is forked in the middle, which makes another session.
    pub(super) forks: bool,
    pub(super) shelf: StoragePlace,
}

/// 2025-09-01, when the first release with session files was a week away.
const FIRST: i64 = 1_756_684_800_000;
const DAY: i64 = 86_400_000;
const WEIGHTS: [u64; 12] = [1, 1, 1, 2, 2, 3, 4, 6, 8, 12, 20, 40];

const FILES: &[&str] = &[
    "README.md",
    "Cargo.toml",
    "docs/guide.md",
    "docs/design.md",
    "src/main.rs",
    "src/parser.rs",
    "src/session.rs",
    "src/store/index.rs",
    "src/store/cache.rs",
    "tests/session.rs",
];

impl Plan {
    pub(super) fn new(options: &TestbedOptions, mut random: Random) -> Self {
        let projects = projects(options.projects.max(1), &mut random);
        let eras = options.eras();
        let (mut sessions, mut left) = (Vec::with_capacity(options.sessions), options.sessions);
        while left > 0 {
            // The smaller of two random numbers: the first projects are the busy ones.
            let draw = [random.below(projects.len()), random.below(projects.len())];
            let project = draw[0].min(draw[1]);
            let era = random.pick(eras);
            let is_copied = projects[project].migration == Migration::Copied;
            let may_resume = match era {
                Era::Strings => eras.contains(&Era::Lines) && is_copied,
                Era::Parts => eras.contains(&Era::Lines),
                // There a resume is a fork.
                Era::ClaudeInline | Era::CodexBare => false,
                _ => true,
            };
            let mut planned = Planned {
                project,
                era,
                at: moment(era, &mut random),
                weight: random.pick(&WEIGHTS) * (random.below(100) as u64 + 50),
                may_resume,
                forks: false,
                shelf: StoragePlace::Active,
            };
            if era.agent() != TestbedAgent::Gemini {
                planned.choose(left, &mut random);
            }
            left -= 1 + usize::from(planned.forks);
            sessions.push(planned);
        }
        Self { projects, sessions }
    }
}

impl Planned {
    /// Decides about features that only some agents have.
    fn choose(&mut self, left: usize, random: &mut Random) {
        self.forks = left > 1 && self.era != Era::CodexDocument && random.percent(8);
        let has_shelves = matches!(self.era, Era::CodexTagged | Era::CodexPaginated);
        self.shelf = match random.below(100) {
            0..=7 if has_shelves => StoragePlace::Archived,
            8..=21 if has_shelves => StoragePlace::Compressed,
            _ => StoragePlace::Active,
        };
    }
}

/// Returns a time at which releases of the era were in use.
fn moment(era: Era, random: &mut Random) -> Moment {
    let (first, last) = match era {
        Era::Strings => (8, 168),
        Era::Parts => (170, 233),
        Era::Lines => (235, 267),
        Era::Checkpoints => (269, 430),
        Era::ClaudeInline => (-80, 20),
        Era::ClaudeFlat => (55, 110),
        Era::ClaudeFolder => (150, 430),
        Era::CodexDocument => (-130, -70),
        Era::CodexBare => (-60, 15),
        Era::CodexTagged => (20, 250),
        Era::CodexPaginated => (300, 430),
    };
    Moment(FIRST + random.between(first * DAY, last * DAY))
}

fn projects(count: usize, random: &mut Random) -> Vec<Project> {
    let mut projects: Vec<Project> = Vec::with_capacity(count);
    for index in 0..count {
        let folder = random.pick(&["code", "work", "src", "oss"]);
        let name = match index % 9 {
            5 => format!("{}工具", random.pick(&["天气", "订单", "会话", "图表"])),
            _ => format!("{}-{}", random.pick(NOUNS), random.pick(NOUNS)),
        };
        let migration = if index % 3 == 1 { Migration::Copied } else { Migration::LeftBehind };
        let mut path = format!("/home/dev/{folder}/{name}");
        if projects.iter().any(|other| other.path == path) {
            path.extend([format!("-{index}")]);
        }
        let mut project = Project::new(&path, FILES, migration);
        let base = project.slug.clone();
        let mut number = 0;
        while projects.iter().any(|other| other.slug == project.slug) {
            number += 1;
            project.slug = format!("{base}-{number}");
        }
        projects.push(project);
    }
    projects
}

/// Returns megabytes as bytes; invalid values are 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and a size that large fails on the disk, not here"
)]
pub(super) fn bytes(megabytes: f64) -> u64 {
    (megabytes * 1e6) as u64
}
