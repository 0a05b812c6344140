//! Sessions in the native format: unchanged rows, one after the other.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_model::{SessionId, SessionKind, SourceName};

use super::build::named;
use super::row::{Row, string};
use crate::bytes::Buffer;
use crate::handover::HandoverFormat;
use crate::json::{Scanner, compact_bytes};
use crate::native::{Fields, HeadRequest, NativeFormat, NativeTexts, walk};

use super::words::Place;
use crate::recovery::Remark;
use crate::source::stable_hash;

/// A transcript.
#[derive(Debug)]
pub(crate) struct Transcript;

impl NativeFormat for Transcript {
    fn source(&self) -> SourceName {
        super::NAME
    }

    fn extension(&self) -> &'static str {
        "jsonl"
    }

    fn sessions_folder(&self, project: &Path) -> PathBuf {
        project.to_owned()
    }

    fn about(&self) -> &'static str {
        "Claude Code's own, for `claude --resume`"
    }

    fn stem(&self, id: &SessionId, kind: SessionKind, _began: Option<Timestamp>) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let id: String = id.as_str().chars().map(plain).take(64).collect();
        match kind {
            SessionKind::Main | SessionKind::Headless => id,
            SessionKind::Subagent => format!("agent-{id}"),
        }
    }

    fn made_up_id(&self, name: &str) -> SessionId {
        let (high, low) = (stable_hash(&(1, name)), stable_hash(&(2, name)));
        let digits = format!("{high:016x}{low:016x}");
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
        let [one, two, three, four, five] =
            [part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32)];
        SessionId::new(format!("{one}-{two}-4{three}-8{four}-{five}"))
    }

    /// Facts about the session as a whole are in separate rows: of these, the title.
    fn fields(&self, path: &Path, buffer: &mut Buffer) -> io::Result<Fields> {
        let outline = super::outline_and(path, buffer, |_| {});
        let mut fields = Fields::default();
        if let Some(name) = outline.head.name {
            fields.set("title", &quoted(&name));
        }
        Ok(fields)
    }

    fn united(&self, head: &HeadRequest<'_>) -> Fields {
        let mut united = Fields::default();
        for (_, fields) in head.files {
            for (key, value) in fields.iter() {
                united.set(key, value);
            }
        }
        if let Some(title) = head.overrides.title {
            united.set("title", &quoted(title));
        }
        united
    }

    fn head(&self, head: &HeadRequest<'_>) -> Vec<Vec<u8>> {
        let id = quoted(head.overrides.id.unwrap_or(head.id).as_str());
        let line = |kind: &str, key: &str, value: &[u8]| {
            let start = format!("{{\"type\":\"{kind}\",\"{key}\":");
            [start.as_bytes(), value, b",\"sessionId\":", &id, b"}"].concat()
        };
        let mut lines = Vec::new();
        if let Some(folder) = head.overrides.folder {
            lines.push(line("relocated", "relocatedCwd", &quoted(folder)));
        }
        if let Some(title) = self.united(head).get("title") {
            lines.push(line("custom-title", "customTitle", title));
            lines.push(line("agent-name", "agentName", title));
        }
        lines
    }

    /// Writes a row, under another id if one is given; what is no row of the tree is none.
    fn record(&self, record: &[u8], id: Option<&str>) -> Option<Vec<u8>> {
        let mut scanner = Scanner::new(record);
        let row = Row::read(&mut scanner).ok()?;
        scanner.end().ok()?;
        row.uuid?;
        let line = compact_bytes(record);
        Some(match id {
            Some(id) => named(&line, "uuid", &quoted(id)),
            None => line,
        })
    }

    fn behind(&self, line: Vec<u8>, before: Option<&[u8]>) -> Vec<u8> {
        let uuid = before.and_then(uuid_of);
        let parent = uuid.map_or_else(|| b"null".to_vec(), |uuid| quoted(&uuid));
        named(&line, "parentUuid", &parent)
    }

    fn saved(&self, _bytes: &[u8], _time: Option<Timestamp>) -> Option<Vec<Vec<u8>>> {
        None
    }

    fn remark(&self, remark: &Remark<'_>) -> Vec<u8> {
        let (id, text) = (remark.id, serde_json::to_string(remark.text).unwrap_or_default());
        let uuid = self.made_up_id(id);
        let time = remark.time.unwrap_or(Timestamp::UNIX_EPOCH);
        let time = time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        let meta = if remark.is_prompt { "" } else { "\"isMeta\":true," };
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",{meta}\"message\":{{\"role\":\"user\",\"content\":{text}}},\"uuid\":\"{uuid}\",\"timestamp\":\"{time}\"}}"
        )
        .into_bytes()
    }

    fn handover(&self) -> Option<&'static dyn HandoverFormat> {
        Some(&super::handover::Handover)
    }

    fn replace(&self, line: &[u8], texts: &mut dyn NativeTexts) -> Option<Vec<u8>> {
        walk::replace::<Place>(line, texts).ok()
    }
}

fn quoted(text: &str) -> Vec<u8> {
    serde_json::to_vec(text).unwrap_or_default()
}

fn uuid_of(line: &[u8]) -> Option<String> {
    let mut found = None;
    Scanner::new(line)
        .object(|scanner, key| {
            if key.is("uuid") {
                found = string(scanner)?.map(|text| text.decode().into_owned());
                return Ok(());
            }
            scanner.skip()
        })
        .ok()?;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_behind_each_other() {
        let first =
            Transcript.record(br#"{"parentUuid":"gone", "uuid":"a","type":"user"}"#, None).unwrap();
        let first = Transcript.behind(first, None);
        assert_eq!(first, br#"{"parentUuid":null,"uuid":"a","type":"user"}"#);
        let second = Transcript.record(br#"{"uuid":"b","type":"user"}"#, Some("c")).unwrap();
        let second = Transcript.behind(second, Some(&first));
        assert_eq!(second, br#"{"uuid":"c","type":"user","parentUuid":"a"}"#);
        assert_eq!(Transcript.record(br#"{"type":"mode"}"#, None), None);
    }
}
