//! Images in messages, by the hash of their data.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recount_model::{Media, MediaData, Message};
use sha2::{Digest as _, Sha256};

use super::session;
use crate::assets::hex;
use crate::failure::ApiError;
use crate::router::{Answer, Asked};

/// The largest image, as text.
const LARGEST: usize = 32 * 1024 * 1024;
/// Number of characters that show what it is; a multiple of four.
const HEAD: usize = 64;

/// Returns the type of an image that a browser may draw, from its first bytes; never from what a session claims. SVG is none: it is
/// a document with scripts.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

fn data(media: &Media) -> Option<&str> {
    match &media.held {
        MediaData::Base64(text) if text.len() <= LARGEST => Some(text),
        _ => None,
    }
}

/// Returns what an image is asked for by; `None` if it is none that may be drawn.
pub(crate) fn image_hash(media: &Media) -> Option<String> {
    let text = data(media)?;
    let head = text.get(..HEAD.min(text.len() / 4 * 4))?;
    image_type(&STANDARD.decode(head).ok()?)?;
    Some(hex(&Sha256::digest(text.as_bytes()), 16))
}

/// Returns all binary parts of a message, each with the number of its call.
pub(crate) fn all_media(message: &Message) -> impl Iterator<Item = (Option<usize>, &Media)> {
    let own = message.media.iter().map(|media| (None, media));
    let calls = message.tool_calls.iter().enumerate();
    own.chain(calls.flat_map(|(at, call)| call.media.iter().map(move |media| (Some(at), media))))
}

/// Answers with an image of a message.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let wanted = asked.part(4);
    let missing = || ApiError::missing("there is no such image");
    let (_, _, text) = session::open_text(asked)?;
    let at = asked.params.number("at")?.ok_or_else(|| ApiError::bad("at: in which message?"))?;
    let message = text.read(at).and_then(Result::ok).ok_or_else(missing)?;
    let is_it = |media: &&Media| image_hash(media).is_some_and(|hash| hash == wanted);
    let found = all_media(&message).map(|(_, media)| media).find(is_it);
    let bytes =
        found.and_then(data).and_then(|text| STANDARD.decode(text).ok()).ok_or_else(missing)?;
    let kind = image_type(&bytes).ok_or_else(missing)?;
    Ok(Answer::Other(kind, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_images_have_a_hash_whatever_they_claim_to_be() {
        let media = |mime: &str, bytes: &[u8]| Media {
            mime: mime.to_owned(),
            bytes: bytes.len() as u64,
            held: MediaData::Base64(STANDARD.encode(bytes)),
        };
        let png = b"\x89PNG\r\n\x1a\n....";
        assert!(image_hash(&media("text/html", png)).is_some());
        for other in [&b"<svg onload=alert(1)>"[..], b"", b"GIF", b"RIFFxxxxWAVE", b"<html>"] {
            assert_eq!(image_hash(&media("image/png", other)), None);
        }
        assert_eq!(
            image_hash(&Media { held: MediaData::Elsewhere, ..media("image/png", png) }),
            None
        );
        let broken = MediaData::Base64("\u{e9}\u{e9}\u{e9}!!".to_owned());
        assert_eq!(image_hash(&Media { held: broken, ..media("image/png", png) }), None);
    }
}
