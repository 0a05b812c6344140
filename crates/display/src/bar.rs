//! Bars and sparklines out of block characters, one column each.

/// Eighths of a block, growing to the right.
const ACROSS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
/// Eighths of a block, growing upwards.
const UP: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws a bar of at most `columns` columns. Anything above zero is visible.
pub fn bar(part: u128, most: u128, columns: usize) -> String {
    let eighths = scaled(part, most, columns * 8);
    let (whole, rest) = (eighths / 8, eighths % 8);
    let mut text = "█".repeat(whole);
    text.extend(rest.checked_sub(1).and_then(|at| ACROSS.get(at)));
    text
}

/// Draws a line of small columns, with a space for zero.
pub fn sparkline(values: &[u128]) -> String {
    let most = values.iter().copied().max().unwrap_or(0);
    let one = |value: &u128| {
        scaled(*value, most, 8).checked_sub(1).and_then(|at| UP.get(at)).copied().unwrap_or(' ')
    };
    values.iter().map(one).collect()
}

/// Draws columns of the given height, the top line first.
pub fn columns(values: &[u128], lines: usize) -> Vec<String> {
    let most = values.iter().copied().max().unwrap_or(0);
    let heights: Vec<usize> = values.iter().map(|value| scaled(*value, most, lines * 8)).collect();
    let line = |at: usize| {
        let block = |height: &usize| match height.saturating_sub(at * 8).min(8) {
            0 => ' ',
            eighths => UP.get(eighths - 1).copied().unwrap_or('█'),
        };
        heights.iter().map(block).collect()
    };
    (0..lines).rev().map(line).collect()
}

/// Returns how many of `steps` a part takes; at least one if it is above zero.
fn scaled(part: u128, most: u128, steps: usize) -> usize {
    if part == 0 || most == 0 {
        return 0;
    }
    // Amounts of money are large numbers: shifted until they can be multiplied.
    let shift = 96_u32.saturating_sub(most.leading_zeros());
    let (part, most) = (part.min(most) >> shift, (most >> shift).max(1));
    let scaled = part * steps as u128 / most;
    usize::try_from(scaled).unwrap_or(steps).clamp(1, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_by_eighths() {
        assert_eq!(bar(0, 10, 4), "");
        assert_eq!(bar(1, 1000, 4), "▏");
        assert_eq!(bar(5, 10, 4), "██");
        assert_eq!(bar(9, 10, 4), "███▌");
        assert_eq!(bar(u128::MAX, u128::MAX, 4), "████");
        assert_eq!(bar(3, 0, 4), "");
    }

    #[test]
    fn lines_of_columns_have_one_character_each() {
        assert_eq!(sparkline(&[0, 1, 4, 8]), " ▁▄█");
        assert_eq!(sparkline(&[]), "");
        assert_eq!(columns(&[0, 8, 16], 2), ["  █", " ██"]);
    }
}
