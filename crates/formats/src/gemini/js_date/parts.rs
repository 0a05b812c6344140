//! Builds day, time and zone from tokens.

use super::scanner::{DIGITS, Scanner, Token, Word};
use super::{JsTime, in_range};

/// The outcome of the attempt to read the ISO format.
pub(super) enum Iso {
    Whole,
    Refused,
    /// It is something else, and this is the token to continue with.
    Other(Token),
}

/// Day, time and zone, as far as they were read.
#[derive(Debug, Default)]
pub(super) struct Parts {
    day: Vec<i64>,
    month: Option<i64>,
    is_iso: bool,
    time: Vec<i64>,
    half: Option<i64>,
    sign: Option<i64>,
    zone_hour: Option<i64>,
    zone_minute: Option<i64>,
}

impl Parts {
    pub(super) fn iso(&mut self, scanner: &mut Scanner<'_>) -> Iso {
        if let Some(sign) = scanner.next.sign() {
            let token = scanner.take();
            let Some(year) = scanner.next.number(6) else { return Iso::Other(token) };
            scanner.take();
            if sign < 0 && year == 0 {
                return Iso::Other(token);
            }
            self.day.push(sign * year);
        } else if let Some(year) = scanner.next.number(4) {
            scanner.take();
            self.day.push(year);
        } else {
            return Iso::Other(scanner.take());
        }
        if scanner.skip('-') {
            let Some(month) = scanner.next.number(2).filter(|month| is_month(*month)) else {
                return Iso::Other(scanner.take());
            };
            scanner.take();
            self.day.push(month);
            if scanner.skip('-') {
                let Some(day) = scanner.next.number(2).filter(|day| is_day(*day)) else {
                    return Iso::Other(scanner.take());
                };
                scanner.take();
                self.day.push(day);
            }
        }
        if matches!(scanner.next, Token::Word { kind: Word::Separator, .. }) {
            scanner.take();
            if self.iso_time(scanner).is_none() || scanner.next != Token::End {
                return Iso::Refused;
            }
        } else if scanner.next != Token::End {
            return Iso::Other(scanner.take());
        }
        if self.zone_hour.is_none() && self.time.is_empty() {
            self.set_zone(0);
        }
        self.is_iso = true;
        Iso::Whole
    }

    fn iso_time(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        let mut two = |scanner: &mut Scanner<'_>, most: i64| {
            let value = scanner.next.number(2).filter(|value| *value <= most)?;
            scanner.take();
            self.time.push(value);
            Some(value)
        };
        let hour = two(scanner, 24)?;
        let most = if hour == 24 { 0 } else { 59 };
        if !scanner.skip(':') {
            return None;
        }
        two(scanner, most)?;
        if scanner.skip(':') {
            two(scanner, most)?;
            if scanner.skip('.') {
                let Token::Number { value, length } = scanner.take() else { return None };
                if hour == 24 && value > 0 {
                    return None;
                }
                self.time.push(thousandths(value, length));
            }
        }
        if scanner.next.is_zulu() {
            scanner.take();
            self.set_zone(0);
        } else if let Some(sign) = scanner.next.sign() {
            scanner.take();
            self.sign = Some(sign);
            let (hour, minute) = if let Some(both) = scanner.next.number(4) {
                scanner.take();
                (both / 100, both % 100)
            } else {
                let hour = scanner.next.number(2)?;
                scanner.take();
                if !scanner.skip(':') {
                    return None;
                }
                let minute = scanner.next.number(2)?;
                scanner.take();
                (hour, minute)
            };
            if hour > 23 || minute > 59 {
                return None;
            }
            (self.zone_hour, self.zone_minute) = (Some(hour), Some(minute));
        }
        Some(())
    }

    fn set_zone(&mut self, hours: i64) {
        self.sign = Some(if hours < 0 { -1 } else { 1 });
        (self.zone_hour, self.zone_minute) = (Some(hours.abs()), Some(0));
    }

    pub(super) fn legacy(&mut self, first: Token, scanner: &mut Scanner<'_>) -> Option<()> {
        let mut has_number = !self.day.is_empty();
        let mut token = first;
        while token != Token::End {
            match token {
                Token::Number { value, .. } => {
                    has_number = true;
                    self.number(value, scanner)?;
                }
                Token::Word { kind: Word::HalfOfDay, value, .. } if !self.time.is_empty() => {
                    self.half = Some(value);
                }
                Token::Word { kind: Word::Month, value, .. } => {
                    self.month = Some(value);
                    scanner.skip('-');
                }
                Token::Word { kind: Word::Zone, value, .. } if has_number => self.set_zone(value),
                // A word is accepted only before the first number, and not directly before it.
                Token::Word { .. } => {
                    if has_number || matches!(scanner.next, Token::Number { .. }) {
                        return None;
                    }
                }
                Token::Symbol('+' | '-') if self.is_utc() || !self.time.is_empty() => {
                    self.sign = token.sign();
                    has_number = true;
                    self.offset(scanner)?;
                }
                Token::Symbol('+' | '-' | ')') if has_number => return None,
                Token::Symbol(_) | Token::Blank | Token::Other | Token::End => {}
            }
            token = scanner.take();
        }
        Some(())
    }

    fn number(&mut self, value: i64, scanner: &mut Scanner<'_>) -> Option<()> {
        if scanner.skip(':') {
            if scanner.skip(':') {
                if !self.time.is_empty() {
                    return None;
                }
                self.time.extend([value, 0]);
            } else {
                self.add_time(value)?;
                scanner.skip('.');
            }
        } else if scanner.skip('.') && self.expects_time(value) {
            self.add_time(value)?;
            let Token::Number { value, length } = scanner.take() else { return None };
            self.finish_time(thousandths(value, length));
        } else if self.zone_hour.is_some() && self.zone_minute.is_none() && value <= 59 {
            self.zone_minute = Some(value);
        } else if self.expects_time(value) {
            self.finish_time(value);
            let is_end = matches!(scanner.next, Token::End | Token::Blank)
                || scanner.next.is_zulu()
                || scanner.next.sign().is_some();
            return is_end.then_some(());
        } else {
            if self.day.len() >= 3 {
                return None;
            }
            self.day.push(value);
            scanner.skip('-');
        }
        Some(())
    }

    fn offset(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        let (mut value, mut length) = (0, 0);
        if let Token::Number { value: own, length: digits } = scanner.next {
            scanner.take();
            (value, length) = (own, digits);
        }
        let (hour, minute) = match length {
            _ if scanner.next == Token::Symbol(':') => (value, None),
            1 | 2 => (value, Some(0)),
            3 | 4 => (value / 100, Some(value % 100)),
            _ => return None,
        };
        (self.zone_hour, self.zone_minute) = (Some(hour), minute);
        Some(())
    }

    fn is_utc(&self) -> bool {
        self.zone_hour == Some(0) && self.zone_minute == Some(0)
    }

    fn expects_time(&self, value: i64) -> bool {
        match self.time.len() {
            1 | 2 => value <= 59,
            3 => value <= 999,
            _ => false,
        }
    }

    fn add_time(&mut self, value: i64) -> Option<()> {
        (self.time.len() < 4).then(|| self.time.push(value))
    }

    fn finish_time(&mut self, value: i64) {
        self.time.push(value);
        self.time.resize(4, 0);
    }

    /// Builds the time; `None` if there is no such time.
    pub(super) fn time(mut self) -> Option<JsTime> {
        let (year, month, day) = self.date()?;
        self.time.resize(4, 0);
        let &[mut hour, minute, second, milli] = self.time.as_slice() else { return None };
        if let Some(half) = self.half {
            if hour > 12 {
                return None;
            }
            hour = hour % 12 + half;
        }
        let is_time = hour <= 23 && minute <= 59 && second <= 59 && milli <= 999;
        if !is_time && (hour, minute, second, milli) != (24, 0, 0, 0) {
            return None;
        }
        let time = ((hour * 60 + minute) * 60 + second) * 1000 + milli;
        let local = days(year, month, day).checked_mul(86_400_000)?.checked_add(time)?;
        Some(match self.sign {
            Some(sign) => {
                let minutes = self.zone_hour.unwrap_or(0) * 60 + self.zone_minute.unwrap_or(0);
                JsTime::At(in_range(local - sign * minutes * 60_000)?)
            }
            None => JsTime::Local(local),
        })
    }

    fn date(&mut self) -> Option<(i64, i64, i64)> {
        if self.day.is_empty() {
            return None;
        }
        self.day.resize(3, 1);
        let &[one, two, three] = self.day.as_slice() else { return None };
        let (mut year, month, day) = match self.month {
            None if self.is_iso || !is_day(one) => (one, two, three),
            None => (three, one, two),
            Some(month) if !is_day(one) => (one, month, two),
            Some(month) => (two, month, one),
        };
        if !self.is_iso {
            match year {
                0..=49 => year += 2000,
                50..=99 => year += 1900,
                _ => {}
            }
        }
        (is_month(month) && is_day(day)).then_some((year, month, day))
    }
}

fn is_month(value: i64) -> bool {
    (1..=12).contains(&value)
}

fn is_day(value: i64) -> bool {
    (1..=31).contains(&value)
}

/// Returns the first three digits of a fraction.
fn thousandths(value: i64, length: usize) -> i64 {
    match length {
        1 => value * 100,
        2 => value * 10,
        3 => value,
        more => value / 10_i64.pow(u32::try_from(more.min(DIGITS) - 3).unwrap_or(0)),
    }
}

/// Returns the days from 1970-01-01 to a date; a day that a month does not have continues in the next.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
