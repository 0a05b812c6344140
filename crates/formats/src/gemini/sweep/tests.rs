//! Made-up folders, every rule.
