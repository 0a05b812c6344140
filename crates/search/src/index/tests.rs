//! An index from the outside: what is added is found, whatever happens in between.

use recount_model::{Fate, MessageKind};
use tempfile::TempDir;

use super::*;
use crate::{Document, Query, Texts};

pub(crate) fn message<'a>(key: u64, session: u64, text: Texts<'a>) -> Document<'a> {
    Document {
        session,
        message: key,
        file: 3,
        offset: key * 100,
        bytes: 99,
        line: key + 1,
        time: Some(1_000_000 * i64::try_from(key).unwrap()),
        kind: MessageKind::Prompt,
        fate: Fate::Kept,
        model: None,
        tools: &[],
        is_error: false,
        text,
    }
}

fn prompt(text: &str) -> Texts<'_> {
    Texts { prompt: text, ..Texts::default() }
}

#[test]
fn what_is_added_is_found() {
    let folder = TempDir::new().unwrap();
    let index = Index::open(folder.path()).unwrap();
    let mut writer = index.writer(0, 1).unwrap();
    writer.add(&message(1, 1, prompt("parseLegacyRecord fails"))).unwrap();
    writer.commit().unwrap();
}
