//! How many packages are locked: each is somebody's code in our binary or on our desks.

use crate::Report;

/// Parquet without Arrow brought 24, a third of them for targets that are not ours. Watching directories brought 11, six of them for
/// other systems.
const MOST: usize = 295;

/// Fails when `Cargo.lock` has outgrown its limit.
pub(crate) fn check(lock: &str) -> Report {
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    let shown = format!("Cargo.lock: {packages} packages, at most {MOST}");
    if packages > MOST { Report::failed(shown) } else { Report::noted(shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_package_too_many_fails() {
        let lock = |packages| "[[package]]\nname = \"a\"\n\n".repeat(packages);
        assert!(check(&lock(MOST)).failures.is_empty());
        assert_eq!(check(&lock(MOST + 1)).failures.len(), 1);
    }
}
