//! The number of locked packages: each is other people's code in our binary or on our machines.

use crate::Report;

/// Parquet without Arrow added 24, a third of them for targets we do not build. Watching directories added 11, six of them
/// for other systems. The cells of the terminal app added 41: a layout solver, colors and Windows among them.
/// The web app's router and the object stores of the lake, with TLS and a client, added 113; both stay in their crates.
const MAX_PACKAGES: usize = 460;

/// Fails if `Cargo.lock` exceeds its limit.
pub(crate) fn check(lock: &str) -> Report {
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    let shown = format!("Cargo.lock: {packages} packages, at most {MAX_PACKAGES}");
    if packages > MAX_PACKAGES { Report::failed(shown) } else { Report::noted(shown) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_package_too_many_fails() {
        let lock = |packages| "[[package]]\nname = \"a\"\n\n".repeat(packages);
        assert!(check(&lock(MAX_PACKAGES)).failures.is_empty());
        assert_eq!(check(&lock(MAX_PACKAGES + 1)).failures.len(), 1);
    }
}
