//! Short values read from the text of a record, and numbers in ids.

use crate::json::{JsonTree, Scanner};

use super::record::{string, word};

/// The number of bytes at the end of an answer that show whether it became a summary.
const ENDING: usize = 48;

/// Copies the raw end of an answer's text.
pub(super) fn end_of(content: Option<&[u8]>, end: &mut Vec<u8>) {
    let Some(content) = content else { return };
    let _walked = Scanner::new(content).array(|scanner| {
        if scanner.peek()? != b'{' {
            return scanner.skip();
        }
        scanner.object(|scanner, key| {
            if !key.is("text") {
                return scanner.skip();
            }
            if let Some(text) = word(scanner.value()?) {
                end.clear();
                end.extend(text.get(text.len().saturating_sub(ENDING)..).unwrap_or_default());
            }
            Ok(())
        })
    });
}

/// Finds the folder in the environment context of the model.
pub(super) fn folder_in(content: &[u8]) -> Option<Box<str>> {
    let (open, close) = (b"<cwd>", b"</cwd>");
    let at = memchr::memmem::find(content, open)? + open.len();
    let rest = content.get(at..)?;
    let inner = rest.get(..memchr::memmem::find(rest, close)?)?;
    // What is between the two marks may lie in several strings: the first one counts.
    let quoted = [b"\"", inner, b"\""].concat();
    Some(Scanner::new(&quoted).string().ok()?.decode().into())
}

/// Finds the sub-agent in what its call gave back.
pub(super) fn agent_in(output: Option<&[u8]>) -> Option<Box<str>> {
    let output = string(output)?;
    JsonTree::parse(output.as_bytes()).ok()?.text("agent_id").map(Into::into)
}

/// Appends a number in digits; `format!` takes several times as long, once per message.
pub(super) fn push_number(text: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut length = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        length += 1;
        if number == 0 {
            break;
        }
    }
    text.extend(digits.iter().skip(digits.len() - length).map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_everybody_writes_them() {
        for number in [0, 7, 10, 1234, u64::from(u32::MAX), u64::MAX] {
            let mut text = String::from("line-");
            push_number(&mut text, number);
            assert_eq!(text, format!("line-{number}"));
        }
    }

    #[test]
    fn the_end_of_the_last_text_is_taken() {
        let mut end = b"before".to_vec();
        end_of(None, &mut end);
        assert_eq!(end, b"before");
        let long = "x".repeat(100) + "the end";
        let content = format!(
            r#"["a",{{"type":"output_text","text":"first"}},{{"text":"{long}"}},{{"type":"image"}}]"#
        );
        end_of(Some(content.as_bytes()), &mut end);
        assert_eq!(end.len(), ENDING);
        assert!(end.ends_with(b"the end"));
    }
}
