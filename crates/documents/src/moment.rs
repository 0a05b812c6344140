//! Formats times like `jiff`, without a general formatter if possible.

use jiff::Timestamp;

/// Where a time is written to.
pub(crate) const BLANK: [u8; 24] = *b"0000-00-00T00:00:00.000Z";

/// Writes the digits and returns the length of the text. `None` for rare years and fractions.
pub(crate) fn write(time: Timestamp, text: &mut [u8; 24]) -> Option<usize> {
    let nanos = time.subsec_nanosecond();
    if nanos % 1_000_000 != 0 || nanos < 0 || time.as_second() < 0 {
        return None;
    }
    let (days, seconds) = (time.as_second() / 86_400, time.as_second() % 86_400);
    let (year, month, day) = civil(days);
    if year > 9999 {
        return None;
    }
    let mut put = |at: usize, digits: usize, mut number: i64| {
        for place in (at..at + digits).rev() {
            if let (Some(slot), Ok(digit)) = (text.get_mut(place), u8::try_from(number % 10)) {
                *slot = b'0' + digit;
            }
            number /= 10;
        }
    };
    put(0, 4, year);
    put(5, 2, month);
    put(8, 2, day);
    put(11, 2, seconds / 3600);
    put(14, 2, seconds / 60 % 60);
    put(17, 2, seconds % 60);
    put(20, 3, i64::from(nanos / 1_000_000));
    // Trailing zeros are not written, nor a point without digits after it.
    let mut end = 23;
    while end > 20 && text.get(end - 1) == Some(&b'0') {
        end -= 1;
    }
    let end = if end == 20 { 19 } else { end };
    *text.get_mut(end)? = b'Z';
    Some(end + 1)
}

/// Returns the date of a day since 1970, counted in eras of 400 years from March.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_library_writes_them() {
        let mut seed = 1_u64;
        let mut times: Vec<i64> = vec![0, 1, 999, 1000, 951_782_400_000, 253_402_207_200_000];
        for _ in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            times.push(i64::try_from(seed >> 22).unwrap() % 4_102_444_800_000);
        }
        for millis in times.into_iter().chain([-1, -86_400_000]) {
            for millis in [millis, millis / 10 * 10, millis / 100 * 100, millis / 1000 * 1000] {
                let time = Timestamp::from_millisecond(millis).unwrap();
                let mut text = BLANK;
                if let Some(length) = write(time, &mut text) {
                    assert_eq!(std::str::from_utf8(&text[..length]).unwrap(), time.to_string());
                }
            }
        }
        assert!(write(Timestamp::from_nanosecond(1).unwrap(), &mut [0; 24]).is_none());
    }
}
