//! Times as in session files.

use jiff::{Timestamp, tz::TimeZone};

/// A time in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(pub(crate) i64);

impl Moment {
    pub(crate) fn plus(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }

    /// Returns the nearest time that can be represented.
    pub(crate) fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(if self.0 < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        })
    }

    /// Returns `2026-11-15T18:11:58.285Z`.
    pub(crate) fn iso(self) -> String {
        format!("{:.3}", self.timestamp())
    }

    /// Returns `2026-11-15T18-11`, as in the name of a session file.
    pub(crate) fn minute(self) -> String {
        self.timestamp().to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H-%M").to_string()
    }

    /// Returns `2026-11-15T18-11-58`, as in the name of a rollout.
    pub(crate) fn second(self) -> String {
        self.timestamp().to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H-%M-%S").to_string()
    }

    /// Returns `Sunday, November 15, 2026`, as in the context message.
    pub(crate) fn long_date(self) -> String {
        self.timestamp().to_zoned(TimeZone::UTC).strftime("%A, %B %-d, %Y").to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_look_like_the_real_ones() {
        let moment = Moment(1_794_766_318_285);
        assert_eq!(moment.iso(), "2026-11-15T18:11:58.285Z");
        assert_eq!(Moment(1_794_766_318_000).iso(), "2026-11-15T18:11:58.000Z");
        assert_eq!(moment.minute(), "2026-11-15T18-11");
        assert_eq!(moment.second(), "2026-11-15T18-11-58");
        assert_eq!(moment.long_date(), "Sunday, November 15, 2026");
    }
}
