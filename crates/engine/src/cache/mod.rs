//! What was read before, kept in the catalog: only what changed is read again.

pub(crate) mod cached;
pub(crate) mod growth;
pub(crate) mod kept_rows;
pub(crate) mod notes;
pub(crate) mod refresh;
pub(crate) mod remembered;
