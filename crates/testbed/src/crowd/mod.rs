//! Homes of any size: many sessions, made up as they go.

use crate::{error::Error, home::Home, options::Options, report::Report};

pub(crate) fn fill(
    home: Home<'_>,
    _options: &Options,
    _progress: &mut dyn FnMut(u64, u64),
) -> Result<Report, Error> {
    home.close()
}
