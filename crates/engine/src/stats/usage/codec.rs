//! The encoding of usage logs: a few bytes per message, decoded without an allocation for each.

use recount_formats::outline::CallEnd;
use recount_formats::source::Unrecorded;
use recount_model::{Fate, Tokens};

use super::{Called, Event, Head, Request, Said};

/// A message has its own time.
const TIMED: u8 = 1 << 2;
/// It has figures.
const ASKED: u8 = 1 << 3;
/// It called tools.
const CALLED: u8 = 1 << 4;
/// Something was billed but not recorded.
const UNRECORDED: u8 = 1 << 5;
/// It was undone.
const UNDONE: u8 = 1 << 6;
/// Its total is not the sum of the others.
const OTHER_TOTAL: u8 = 1 << 7;

/// Events that were encoded one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EncodedEvents {
    bytes: Vec<u8>,
    count: u64,
    /// The time of the last one that has one.
    last: i64,
}

impl EncodedEvents {
    pub(super) fn push(&mut self, time: Option<i64>, event: &Event) {
        write_event(&mut self.bytes, event, time.map(|time| time.wrapping_sub(self.last)));
        self.last = time.unwrap_or(self.last);
        self.count += 1;
    }

    /// Passes each event to `visit`, with its time. `None` if something is invalid.
    pub(super) fn each(&self, visit: impl FnMut(&Event, Option<i64>)) -> Option<()> {
        each(Reader(&self.bytes), self.count, visit)
    }
}

/// Encodes a usage log.
pub(super) fn encode(head: &Head, events: &EncodedEvents) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + events.bytes.len());
    out.extend_from_slice(&head.session.to_le_bytes());
    for count in [head.side_calls, head.unanswered, head.repeated] {
        number(&mut out, u64::from(count));
    }
    number(&mut out, head.copies.len() as u64);
    for (time, tokens) in &head.copies {
        number(&mut out, u64::from(time.is_some()));
        number(&mut out, zigzag(time.unwrap_or_default()));
        number(&mut out, *tokens);
    }
    for names in [&head.models, &head.tools] {
        number(&mut out, names.len() as u64);
        for name in names {
            number(&mut out, name.len() as u64);
            out.extend_from_slice(name.as_bytes());
        }
    }
    number(&mut out, events.count);
    out.extend_from_slice(&events.bytes);
    out
}

fn write_event(out: &mut Vec<u8>, event: &Event, step: Option<i64>) {
    let Event { id, said, fate, request, calls, unrecorded } = event;
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let other_total = request.is_some_and(|request| sum(&request.tokens) != request.tokens.total);
    out.push(
        *said as u8
            | flag(step.is_some(), TIMED)
            | flag(request.is_some(), ASKED)
            | flag(!calls.is_empty(), CALLED)
            | flag(*unrecorded != Unrecorded::default(), UNRECORDED)
            | flag(*fate != Fate::Kept, UNDONE)
            | flag(other_total, OTHER_TOTAL),
    );
    out.extend_from_slice(&id.to_le_bytes());
    if let Some(step) = step {
        number(out, zigzag(step));
    }
    if let Some(Request { model, tokens }) = request {
        let Tokens { input, output, cached, cache_write, cache_write_1h, thoughts, tool, total } =
            *tokens;
        // Few services write to a cache, so that is only encoded if one did.
        let has_writes = cache_write != 0 || cache_write_1h != 0;
        number(out, model.map_or(0, |model| u64::from(model) + 1) << 1 | u64::from(has_writes));
        for count in [input, output, cached, thoughts, tool] {
            number(out, count);
        }
        if has_writes {
            number(out, cache_write);
            number(out, cache_write_1h);
        }
        if other_total {
            number(out, total);
        }
    }
    if !calls.is_empty() {
        number(out, calls.len() as u64);
    }
    for call in calls {
        number(out, u64::from(call.tool) << 2 | call.end as u64);
    }
    if *unrecorded != Unrecorded::default() {
        number(out, u64::from(unrecorded.rounds));
        number(out, u64::from(unrecorded.side_calls));
        out.push(u8::from(unrecorded.first_figures) | u8::from(unrecorded.no_figures) << 1);
    }
    if *fate != Fate::Kept {
        out.push(*fate as u8);
    }
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

fn sum(tokens: &Tokens) -> u64 {
    let others = [tokens.output, tokens.thoughts, tokens.tool];
    others.into_iter().fold(tokens.input, u64::saturating_add)
}

/// A usage log that is being read.
#[derive(Debug)]
pub(crate) struct UsageLogReader<'a> {
    pub(crate) head: Head,
    count: u64,
    rest: Reader<'a>,
}

impl<'a> UsageLogReader<'a> {
    /// Reads everything except the events. `None` if it is invalid.
    pub(crate) fn open(content: &'a [u8]) -> Option<Self> {
        let mut rest = Reader(content);
        let mut head = Head { session: rest.eight()?, ..Head::default() };
        head.side_calls = rest.small()?;
        head.unanswered = rest.small()?;
        head.repeated = rest.small()?;
        for _ in 0..rest.number()? {
            let (is_timed, time) = (rest.number()? == 1, rest.signed()?);
            head.copies.push((is_timed.then_some(time), rest.number()?));
        }
        head.models = rest.names()?;
        head.tools = rest.names()?;
        Some(Self { head, count: rest.number()?, rest })
    }

    /// Reads only the session key.
    pub(crate) fn session_of(content: &[u8]) -> Option<u64> {
        Reader(content).eight()
    }

    /// Passes each event to `visit`, with its time. `None` if something is invalid.
    pub(crate) fn each(&self, visit: impl FnMut(&Event, Option<i64>)) -> Option<()> {
        each(self.rest, self.count, visit)
    }
}

fn each(
    mut rest: Reader<'_>,
    count: u64,
    mut visit: impl FnMut(&Event, Option<i64>),
) -> Option<()> {
    let mut last = 0_i64;
    let mut event = Event::default();
    for _ in 0..count {
        let is_timed = rest.event(&mut event, &mut last)?;
        visit(&event, is_timed.then_some(last));
    }
    Some(())
}

/// Bytes that are being read.
#[derive(Clone, Copy, Debug)]
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    #[inline]
    fn eight(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        // Most numbers are small.
        match self.byte()? {
            byte @ ..0x80 => Some(u64::from(byte)),
            byte => self.large(u64::from(byte & 0x7f)),
        }
    }

    fn large(&mut self, mut value: u64) -> Option<u64> {
        let mut shift = 7;
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
        }
    }

    #[inline]
    fn signed(&mut self) -> Option<i64> {
        let value = self.number()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    fn names(&mut self) -> Option<Vec<Box<str>>> {
        let count = self.number()?;
        let mut names = Vec::new();
        for _ in 0..count {
            let length = usize::try_from(self.number()?).ok()?;
            let (name, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            names.push(std::str::from_utf8(name).ok()?.into());
        }
        Some(names)
    }

    /// Decodes an event in place, and advances `last` to its time. Returns whether it has one.
    #[inline]
    fn event(&mut self, event: &mut Event, last: &mut i64) -> Option<bool> {
        let flags = self.byte()?;
        let has = |flag: u8| flags & flag != 0;
        event.said = match flags & 3 {
            0 => Said::Prompt,
            1 => Said::Answer,
            _ => Said::Other,
        };
        event.id = self.eight()?;
        if has(TIMED) {
            *last = last.wrapping_add(self.signed()?);
        }
        event.request = if has(ASKED) { Some(self.request(has(OTHER_TOTAL))?) } else { None };
        event.calls.clear();
        for _ in 0..if has(CALLED) { self.number()? } else { 0 } {
            let call = self.number()?;
            let end = match call & 3 {
                0 => CallEnd::Fine,
                1 => CallEnd::Failed,
                _ => CallEnd::Cancelled,
            };
            event.calls.push(Called { tool: u16::try_from(call >> 2).ok()?, end });
        }
        event.unrecorded = Unrecorded::default();
        if has(UNRECORDED) {
            event.unrecorded.rounds = self.small()?;
            event.unrecorded.side_calls = self.small()?;
            let flags = self.byte()?;
            event.unrecorded.first_figures = flags & 1 != 0;
            event.unrecorded.no_figures = flags & 2 != 0;
        }
        event.fate = match if has(UNDONE) { self.byte()? } else { 0 } {
            0 => Fate::Kept,
            1 => Fate::Rewound,
            2 => Fate::Cancelled,
            3 => Fate::Compressed,
            _ => Fate::Replaced,
        };
        Some(has(TIMED))
    }

    #[inline]
    fn request(&mut self, has_total: bool) -> Option<Request> {
        let head = self.number()?;
        let (model, has_writes) = (head >> 1, head & 1 == 1);
        let model = match model {
            0 => None,
            model => Some(u16::try_from(model - 1).ok()?),
        };
        let mut tokens = Tokens {
            input: self.number()?,
            output: self.number()?,
            cached: self.number()?,
            thoughts: self.number()?,
            tool: self.number()?,
            ..Tokens::default()
        };
        if has_writes {
            tokens.cache_write = self.number()?;
            tokens.cache_write_1h = self.number()?;
        }
        tokens.total = if has_total { self.number()? } else { sum(&tokens) };
        Some(Request { model, tokens })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<(Option<i64>, Event)> {
        let tokens = Tokens {
            input: u64::MAX,
            output: 1,
            cached: 2,
            thoughts: 3,
            tool: 4,
            total: 5,
            cache_write: 7,
            cache_write_1h: 6,
        };
        let plain = Event {
            id: u64::MAX,
            said: Said::Prompt,
            fate: Fate::Kept,
            request: None,
            calls: Vec::new(),
            unrecorded: Unrecorded::default(),
        };
        let mut all =
            vec![(Some(-5), plain.clone()), (None, plain.clone()), (Some(i64::MAX), plain)];
        for fate in [Fate::Kept, Fate::Rewound, Fate::Cancelled, Fate::Compressed, Fate::Replaced] {
            let ends = [CallEnd::Fine, CallEnd::Failed, CallEnd::Cancelled];
            all.push((
                Some(1_794_769_200_000),
                Event {
                    id: 7,
                    said: Said::Answer,
                    fate,
                    request: Some(Request { model: Some(u16::MAX), tokens }),
                    calls: ends.map(|end| Called { tool: u16::MAX, end }).to_vec(),
                    unrecorded: Unrecorded {
                        rounds: 9,
                        first_figures: true,
                        no_figures: false,
                        side_calls: u32::MAX,
                    },
                },
            ));
        }
        all
    }

    fn encoded() -> EncodedEvents {
        let mut encoded = EncodedEvents::default();
        for (time, event) in events() {
            encoded.push(time, &event);
        }
        encoded
    }

    fn head() -> Head {
        Head {
            session: 42,
            models: vec!["m".into(), "模型".into()],
            tools: vec!["t".into()],
            side_calls: 1,
            unanswered: 2,
            repeated: u32::MAX,
            copies: vec![(None, 3), (Some(-4), u64::MAX)],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let content = encode(&head(), &encoded());
        let page = UsageLogReader::open(&content).unwrap();
        assert_eq!(page.head, head());
        assert_eq!(UsageLogReader::session_of(&content), Some(42));
        let mut read = Vec::new();
        page.each(|event, time| read.push((time, event.clone()))).unwrap();
        assert_eq!(read, events());
    }

    #[test]
    fn truncated_input_is_refused_and_nothing_panics() {
        let content = encode(&head(), &encoded());
        for end in 0..content.len() {
            let cut = UsageLogReader::open(&content[..end]).and_then(|page| page.each(|_, _| {}));
            assert_eq!(cut, None, "{end}");
        }
        for byte in 0..content.len() {
            let mut bad = content.clone();
            bad[byte] ^= 0xff;
            let _any = UsageLogReader::open(&bad).and_then(|page| page.each(|_, _| {}));
        }
    }
}
