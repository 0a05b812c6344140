//! The columns of a table, out of the statement that created it.

/// What begins a line that is no column.
const CONSTRAINTS: [&str; 5] = ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"];

/// Lists the names of the columns, in the order in which rows have them.
pub(super) fn columns(statement: &str) -> Vec<String> {
    let Some((_, body)) = statement.split_once('(') else { return Vec::new() };
    parts(body).iter().filter_map(|part| name(part)).collect()
}

/// Splits what is between the outer parentheses at its commas.
fn parts(body: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    let mut signs = body.chars().peekable();
    while let Some(sign) = signs.next() {
        let end = match sign {
            '\'' | '"' | '`' => Some(sign),
            '[' => Some(']'),
            _ => None,
        };
        let part = parts.last_mut();
        match sign {
            '-' if signs.peek() == Some(&'-') => {
                signs.by_ref().find(|sign| *sign == '\n');
                continue;
            }
            '/' if signs.peek() == Some(&'*') => {
                signs.next();
                let mut last = ' ';
                signs
                    .by_ref()
                    .find(|sign| std::mem::replace(&mut last, *sign) == '*' && *sign == '/');
                continue;
            }
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        let Some(part) = part else { break };
        part.push(sign);
        if let Some(end) = end {
            for sign in signs.by_ref() {
                part.push(sign);
                if sign == end {
                    break;
                }
            }
        }
    }
    parts
}

fn name(part: &str) -> Option<String> {
    let part = part.trim();
    let quoted = |open: char, close: char| {
        let inner = part.strip_prefix(open)?.split(close).next()?;
        Some(inner.to_owned())
    };
    let plain = || part.split(|sign: char| sign.is_whitespace() || sign == '(').next();
    let is_constraint = plain()
        .is_some_and(|word| CONSTRAINTS.iter().any(|known| word.eq_ignore_ascii_case(known)));
    let name = quoted('"', '"').or_else(|| quoted('`', '`')).or_else(|| quoted('[', ']'));
    let name = name.or_else(|| plain().filter(|_| !is_constraint).map(str::to_owned));
    name.filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn columns_are_named_in_their_order() {
        let made = "CREATE TABLE threads (\n id TEXT PRIMARY KEY, -- the thread, its id\n \"first name\" TEXT DEFAULT 'a, b)', n INTEGER CHECK (n > 0, 1),\n\
                    `x` REAL /* old, */, [y z], PRIMARY KEY (id, n), FOREIGN KEY(n) REFERENCES t(n)) STRICT";
        assert_eq!(columns(made), ["id", "first name", "n", "x", "y z"]);
        for odd in ["", "CREATE TABLE t", "(", "CREATE TABLE t(a, 'b", "((((", ")"] {
            let _named = columns(odd);
        }
    }
}
