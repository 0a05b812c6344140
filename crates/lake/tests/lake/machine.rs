//! A machine with a home and a data folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use object_store::ObjectStore;
use recount_engine::export::lake::{LakeLevel, LakeOptions};
use recount_engine::{Engine, SOURCES, Setup};
use recount_lake::{Lake, LakeError, PushOptions, PushReport};
use recount_model::Clock;
use recount_platform::Env;
use tempfile::TempDir;

pub(crate) const URL: &str = "s3://team/lake";

pub(crate) struct Machine {
    pub(crate) folder: TempDir,
    pub(crate) now: String,
}

impl Machine {
    /// A machine with two sessions in each of two months.
    pub(crate) fn new() -> Self {
        let machine = Self::empty();
        for (month, number) in [("05", 1), ("05", 2), ("06", 3), ("06", 4)] {
            machine.session(month, number, 2);
        }
        machine
    }

    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home/.gemini/tmp/shop/chats")).unwrap();
        fs::write(folder.path().join("home/.gemini/tmp/shop/.project_root"), "/code/shop").unwrap();
        Self { folder, now: "2026-07-01T12:00:00Z".to_owned() }
    }

    /// The same machine once more, with the same data folder.
    pub(crate) fn clone_of(other: &Self) -> Self {
        let machine = Self::empty();
        copy(&other.folder.path().join("home"), &machine.folder.path().join("home"));
        copy(&other.folder.path().join("data"), &machine.folder.path().join("data"));
        machine
    }

    pub(crate) fn chat(&self, month: &str, number: u32) -> PathBuf {
        let name = format!("session-2026-{month}-{:02}T10-00-{number:08}.jsonl", 10 + number);
        self.folder.path().join("home/.gemini/tmp/shop/chats").join(name)
    }

    /// Writes a session with a number of turns, long ago.
    pub(crate) fn session(&self, month: &str, number: u32, turns: u32) {
        let day = 10 + number;
        let time = |minute: u32| format!("2026-{month}-{day:02}T10:{minute:02}:00.000Z");
        let id = format!("{number:08}-0000-4000-8000-000000000000");
        let mut lines = vec![format!(
            r#"{{"sessionId":"{id}","projectHash":"p","startTime":"{0}","lastUpdated":"{0}","kind":"main"}}"#,
            time(0)
        )];
        for turn in 0..turns {
            let (asked, said) = (time(2 * turn + 1), time(2 * turn + 2));
            lines.push(format!(
                r#"{{"id":"u{number}-{turn}","timestamp":"{asked}","type":"user","content":[{{"text":"Secret plan {number} {turn}"}}]}}"#
            ));
            lines.push(format!(
                r#"{{"id":"g{number}-{turn}","timestamp":"{said}","type":"gemini","content":"Fine.","tokens":{{"input":100,"output":10,"cached":0,"thoughts":0,"tool":0,"total":110}},"model":"gemini-3-pro-preview"}}"#
            ));
        }
        let path = self.chat(month, number);
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let then = SystemTime::now() - Duration::from_secs(1000 - u64::from(turns));
        fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    }

    pub(crate) fn delete(&self, month: &str, number: u32) {
        fs::remove_file(self.chat(month, number)).unwrap();
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn engine(&self) -> Engine {
        let home = self.folder.path().join("home");
        let data = self.data();
        // Machines of a team hash names alike, so that their files can be compared.
        let variables = [
            ("HOME", home.to_str().unwrap()),
            ("RECOUNT_DATA_DIR", data.to_str().unwrap()),
            ("RECOUNT_LAKE_KEY", "one for all"),
        ];
        Engine::new(Setup {
            homes: vec![home.clone()],
            known_sources: SOURCES,
            sources: Vec::new(),
            env: Env::for_tests(variables, None),
            clock: Clock::fixed(self.now.parse().unwrap()),
        })
        .unwrap()
    }

    pub(crate) fn push(&self, store: &Arc<impl ObjectStore>) -> Result<PushReport, LakeError> {
        self.push_with(store, &PushOptions::default())
    }

    pub(crate) fn push_with(
        &self,
        store: &Arc<impl ObjectStore>,
        options: &PushOptions,
    ) -> Result<PushReport, LakeError> {
        let store: Arc<dyn ObjectStore> = store.clone();
        Lake::over(URL, store).unwrap().push(&self.engine(), options, &())
    }
}

pub(crate) fn full() -> PushOptions {
    let tables = LakeOptions { level: LakeLevel::Full, ..LakeOptions::default() };
    PushOptions { tables, ..PushOptions::default() }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
            let time = entry.metadata().unwrap().modified().unwrap();
            fs::File::options().write(true).open(&to).unwrap().set_modified(time).unwrap();
        }
    }
}
