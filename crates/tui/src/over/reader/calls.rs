//! Tool calls as rows: those that say nothing by themselves are one block.

use recount_blocks::{CallBlock, Level};
use recount_display::canvas::Paint;
use recount_display::number::{bytes, plural};
use recount_display::sanitize::single_line;
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::transcript::call_mark;
use recount_display::width::{truncate_to, width};
use recount_display::{code, diff, plain};
use recount_model::{ToolCall, ToolStatus};

use super::layout::{Fold, Layout, cut, indented};
use crate::transcript::Look;

/// The number of lines of an output that is shown unasked.
const BRIEF: usize = 40;

impl Layout<'_> {
    /// Calls that say nothing by themselves are one block.
    pub(super) fn calls(&mut self, calls: &[ToolCall]) {
        let is_quiet = |call: &ToolCall| call.status == ToolStatus::Success && call.diff.is_none();
        let mut rest = calls;
        while let Some(first) = rest.first() {
            let many = if self.look.level == Level::Actions && is_quiet(first) {
                rest.iter().take_while(|call| is_quiet(call)).count()
            } else {
                1
            };
            let (group, more) = rest.split_at(many);
            if let [call] = group {
                self.call(call);
            } else {
                self.group(group);
            }
            rest = more;
        }
    }

    fn group(&mut self, calls: &[ToolCall]) {
        self.note(|| calls.iter().map(output).collect::<Vec<_>>().join("\n"));
        let fold = self.default(Fold::Shut);
        let size: usize = calls.iter().map(|call| output(call).len()).sum();
        let mark = if fold == Fold::Shut { "▸ " } else { "▾ " };
        let title = format!("{} calls: {}", calls.len(), names(calls));
        let title = truncate_to(&title, self.look.width.saturating_sub(12).max(8));
        let mut lines = vec![Line::new([
            StyledSpan::new(mark, Tone::Dim),
            StyledSpan::new(&title, Tone::Tool),
        ])];
        if fold != Fold::Shut {
            let room = self.room();
            let inner = Look { width: room, level: Level::Full, ..self.look };
            for call in calls {
                let block = CallBlock::new(call, Level::Full, self.look.project);
                let mut one = vec![inner.call_heading(&block)];
                one.extend(indented(Self::outcome(&block, Fold::Open, room.saturating_sub(2))));
                lines.extend(indented(one));
            }
        }
        if let Some(row) = self.add(fold, lines) {
            row.right = if size > 0 { bytes(size as u64) } else { String::new() };
            row.is_call = true;
        }
    }

    fn call(&mut self, call: &ToolCall) {
        self.note(|| call.diff.clone().unwrap_or_else(|| output(call).to_owned()));
        let level = self.look.level;
        let is_error = call.status == ToolStatus::Error;
        let otherwise = match level {
            Level::Talk | Level::Actions if call.diff.is_some() && !is_error => Fold::Brief,
            Level::Talk | Level::Actions => Fold::Shut,
            Level::Full | Level::Trace => Fold::Brief,
        };
        let fold = self.default(otherwise);
        let shown = if fold == Fold::Open { level.max(Level::Full) } else { level };
        let block = CallBlock::new(call, shown, self.look.project);
        let mut lines = vec![self.heading_of(&block, fold)];
        if fold != Fold::Shut {
            let room = self.room();
            if let Some(arguments) = &block.arguments {
                let (text, _) = cut(&arguments.text);
                lines.extend(indented(code::lines(text, &arguments.language, room, Paint::On)));
            }
            if let Some(diff) = &block.diff {
                // The heading has the name already.
                let patch =
                    if fold == Fold::Brief { without_names(diff.patch) } else { diff.patch };
                lines.extend(indented(diff::lines(cut(patch).0, room)));
            }
            lines.extend(indented(Self::outcome(&block, fold, room)));
        }
        let size = output(call).len();
        let is_change = call.diff.is_some();
        if let Some(row) = self.add(fold, lines) {
            let is_hidden = fold == Fold::Shut && size > 0 && !is_error;
            row.right = if is_hidden { bytes(size as u64) } else { String::new() };
            (row.is_call, row.is_error, row.is_change) = (true, is_error, is_change);
        }
    }

    fn heading_of(&self, call: &CallBlock<'_>, fold: Fold) -> Line {
        let mark = match call.status {
            ToolStatus::Success if fold == Fold::Shut => StyledSpan::new("▸ ", Tone::Dim),
            ToolStatus::Success => StyledSpan::new("▾ ", Tone::Dim),
            other => call_mark(other),
        };
        let mut spans = vec![mark, StyledSpan::new(call.name, Tone::Tool)];
        let ending = call.ending().map(|ending| match call.error.filter(|_| fold == Fold::Shut) {
            Some(error) => format!("  {ending}: {}", single_line(error)),
            None => format!("  {ending}"),
        });
        let room = self.look.width.saturating_sub(width(call.name) + 14);
        if let Some(key) = call.key_argument {
            let room = if ending.is_some() { room * 2 / 3 } else { room };
            let key = truncate_to(&single_line(key), room.max(8));
            spans.push(StyledSpan::new(&format!(" {key}"), Tone::Plain));
        }
        if let Some(agent) = call.agent {
            spans
                .push(StyledSpan::new(&format!("  (sub-agent {})", single_line(agent)), Tone::Dim));
        }
        if let Some(ending) = ending {
            let tone = if *call.status == ToolStatus::Error { Tone::Error } else { Tone::Warning };
            let taken = Line::new(spans.iter().cloned()).width();
            let room = self.look.width.saturating_sub(taken).max(8);
            spans.push(StyledSpan::new(&truncate_to(&ending, room), tone));
        }
        Line::new(spans)
    }

    /// Lays out what a call returned.
    fn outcome(call: &CallBlock<'_>, fold: Fold, room: usize) -> Vec<Line> {
        let tone = if *call.status == ToolStatus::Error { Tone::Error } else { Tone::Dim };
        let (text, rest) = cut(call.outcome().trim_end());
        let mut lines = plain::lines(text, tone, room);
        let mut note = |words: &str, tone| lines.push(Line::new([StyledSpan::new(words, tone)]));
        if rest > 0 {
            note(&format!("… {} more: P shows all", bytes(rest as u64)), Tone::Dim);
        }
        if call.is_cut {
            note("(the agent cut this output; the rest is gone)", Tone::Warning);
        }
        for media in call.media {
            note(&format!("[{}, {}]", media.mime, bytes(media.bytes)), Tone::Dim);
        }
        if fold == Fold::Brief && lines.len() > BRIEF + 1 {
            let more = lines.len() - BRIEF;
            lines.truncate(BRIEF);
            let words = format!("… {} more: tab shows them", plural(more as u64, "line"));
            lines.push(Line::new([StyledSpan::new(&words, Tone::Dim)]));
        }
        lines
    }
}

/// Returns a patch from its first change on.
fn without_names(patch: &str) -> &str {
    let is_name = |line: &&str| !line.starts_with("@@");
    let names: usize = patch.split_inclusive('\n').take_while(is_name).map(str::len).sum();
    patch.get(names..).filter(|rest| !rest.is_empty()).unwrap_or(patch)
}

fn output(call: &ToolCall) -> &str {
    call.output.as_deref().or(call.display.as_deref()).unwrap_or_default()
}

/// Names the tools of calls, in the order of first use.
fn names(calls: &[ToolCall]) -> String {
    let mut names: Vec<(&str, usize)> = Vec::new();
    for call in calls {
        let name = call.display_name.as_deref().filter(|name| !name.is_empty());
        let name = name.unwrap_or(&call.name);
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => *times += 1,
            None => names.push((name, 1)),
        }
    }
    let word = |(name, times): &(&str, usize)| match times {
        1 => single_line(name),
        times => format!("{} ×{times}", single_line(name)),
    };
    names.iter().map(word).collect::<Vec<_>>().join(", ")
}
