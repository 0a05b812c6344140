//! Pages, whatever is in them.
