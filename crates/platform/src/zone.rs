//! The time zone of this machine.

#[cfg(unix)]
use std::io::Read as _;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;

/// The zone is read again after this time, as people travel.
const KNOWN: Duration = Duration::from_secs(300);

/// Files of zones have some kilobytes.
#[cfg(unix)]
const LARGEST: u64 = 1 << 20;

/// Returns the time zone of this machine.
///
/// It reads one file. `TimeZone::system` does the same, but lists all zones of the system first, which took a fifth of a
/// list.
pub fn local_zone() -> TimeZone {
    static LAST: RwLock<Option<(Instant, TimeZone)>> = RwLock::new(None);
    let last = LAST.read().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some((at, zone)) = last
        && at.elapsed() < KNOWN
    {
        return zone;
    }
    let zone = named_zone().unwrap_or_else(TimeZone::system);
    *LAST.write().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), zone.clone()));
    zone
}

/// Returns the zone that `TZ` or `/etc/localtime` names, in the usual form and place only.
#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "the zone is that of the process, as in jiff")]
fn named_zone() -> Option<TimeZone> {
    if std::env::var_os("TZDIR").is_some() {
        return None;
    }
    match std::env::var("TZ") {
        Ok(name) => zone_at(&name, &format!("/usr/share/zoneinfo/{name}")),
        Err(std::env::VarError::NotPresent) => {
            let link = std::fs::read_link("/etc/localtime").ok()?;
            let (_, name) = link.to_str()?.split_once("zoneinfo/")?;
            zone_at(name, "/etc/localtime")
        }
        Err(std::env::VarError::NotUnicode(_)) => None,
    }
}

#[cfg(not(unix))]
fn named_zone() -> Option<TimeZone> {
    None
}

/// Reads a zone, such as `Europe/Berlin`. Names without a slash may be rules, and not be meant as files.
#[cfg(unix)]
fn zone_at(name: &str, path: &str) -> Option<TimeZone> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(&byte))
    };
    if !name.contains('/') || !name.split('/').all(is_plain) {
        return None;
    }
    let mut data = Vec::new();
    std::fs::File::open(path).ok()?.take(LARGEST).read_to_end(&mut data).ok()?;
    TimeZone::tzif(name, &data).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_zone_read_from_its_file_is_the_one_of_the_database() {
        let mut compared = 0;
        for name in ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Etc/UTC"] {
            let Ok(expected) = TimeZone::get(name) else { continue };
            let Some(read) = zone_at(name, &format!("/usr/share/zoneinfo/{name}")) else {
                continue;
            };
            for second in (0..2_000_000_000).step_by(9_999_991) {
                let time = jiff::Timestamp::from_second(second).unwrap();
                assert_eq!(read.to_offset(time), expected.to_offset(time), "{name} {time}");
            }
            assert_eq!(read.iana_name(), expected.iana_name());
            compared += 1;
        }
        // A system without zones has none to compare.
        assert!(compared > 0 || TimeZone::get("Europe/Berlin").is_err());
    }

    #[test]
    fn only_names_of_zones_are_read() {
        for name in
            ["", "UTC", "EST5EDT", "../etc/passwd", "/etc/localtime", "A//B", "Europe/Ber lin"]
        {
            assert_eq!(zone_at(name, "/etc/localtime"), None, "{name}");
        }
    }

    #[test]
    fn the_zone_is_that_of_the_system() {
        let now: jiff::Timestamp = "2026-07-01T12:00:00Z".parse().unwrap();
        assert_eq!(local_zone().to_offset(now), TimeZone::system().to_offset(now));
    }
}
