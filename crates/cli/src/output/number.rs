//! Numbers as people like to read them.

/// A count in at most four characters or so: `999`, `1.2k`, `34k`, `5.6M`.
pub(crate) fn count(number: u64) -> String {
    scaled(number, 1000, &["", "k", "M", "G", "T", "P", "E"])
}

/// A size: `999 B`, `1.2 KB`, `34 MB`.
pub(crate) fn bytes(number: u64) -> String {
    scaled(number, 1000, &[" B", " KB", " MB", " GB", " TB", " PB", " EB"])
}

/// A count and what is counted: `1 prompt`, `2 prompts`.
pub(crate) fn plural(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{} {word}s", count(number)) }
}

fn scaled(number: u64, step: u64, units: &[&str]) -> String {
    let (mut whole, mut tenths, mut unit) = (number, 0, 0);
    while whole >= step && unit + 1 < units.len() {
        // Rounded down, so that a sum never looks larger than it is.
        tenths = whole % step * 10 / step;
        whole /= step;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit > 0 && whole < 10 {
        format!("{whole}.{tenths}{name}")
    } else {
        format!("{whole}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, expected) in [
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (1299, "1.2k"),
            (34_567, "34k"),
            (5_678_901, "5.6M"),
        ] {
            assert_eq!(count(number), expected);
        }
        assert_eq!(bytes(1_031_930_414), "1.0 GB");
        assert_eq!(count(u64::MAX), "18E");
    }
}
