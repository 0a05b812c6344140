//! What other threads tell the one that watches.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::live::tail::Tails;
use crate::live::titles::TitleAnswer;
use crate::watch::signals::Signal;

/// Something that happened.
#[derive(Debug)]
pub(crate) enum News {
    Files(Signal),
    Titles(TitleAnswer),
}

/// What was told within a short time.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) paths: BTreeSet<PathBuf>,
    pub(crate) titles: Vec<TitleAnswer>,
}

impl Told {
    /// Adds something. If nobody knows where it happened, all files that are followed may have changed.
    pub(crate) fn add(&mut self, news: News, tails: &Tails) {
        match news {
            News::Files(Signal::At(changed)) => self.paths.extend(changed),
            News::Files(Signal::Somewhere) => self.paths.extend(tails.paths()),
            News::Files(Signal::Stop) => {}
            News::Titles(answer) => self.titles.push(answer),
        }
    }
}
