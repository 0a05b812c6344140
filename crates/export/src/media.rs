//! Images and other binary parts, identified by their first bytes, not by their declared type.

use base64::alphabet::STANDARD;
use base64::engine::general_purpose::GeneralPurpose;
use base64::engine::{DecodePaddingMode, Engine as _, GeneralPurposeConfig};
use recount_model::{Media, MediaData};

/// As lenient about padding as the programs that wrote it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The base64 characters needed to identify an image type: twelve bytes.
const IMAGE_PREFIX: usize = 16;

/// An image type: file extension, MIME type, and a check of the first bytes.
type Image = (&'static str, &'static str, fn(&[u8]) -> bool);

/// Images that every browser supports, by their first bytes. SVG is not included: it may contain scripts.
const IMAGES: &[Image] = &[
    ("png", "image/png", |bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n")),
    ("jpg", "image/jpeg", |bytes| bytes.starts_with(b"\xff\xd8\xff")),
    ("gif", "image/gif", |bytes| bytes.starts_with(b"GIF8")),
    ("webp", "image/webp", |bytes| bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")),
    ("avif", "image/avif", |bytes| bytes.get(4..12) == Some(b"ftypavif")),
    ("bmp", "image/bmp", |bytes| bytes.starts_with(b"BM")),
];

/// Other files, by their declared type. None of them runs when it is opened.
const OTHERS: &[(&str, &str)] = &[
    ("application/pdf", "pdf"),
    ("audio/flac", "flac"),
    ("audio/mpeg", "mp3"),
    ("audio/mp3", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/wav", "wav"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
];

/// Returns the bytes and the file extension; `None` if the data is broken.
pub fn file(base64: &str, mime: &str) -> Option<(Vec<u8>, &'static str)> {
    let bytes = BASE64.decode(base64).ok().filter(|bytes| !bytes.is_empty())?;
    let ending = image(&bytes).map(|(ending, _)| ending).or_else(|| {
        let (_, ending) = OTHERS.iter().find(|(known, _)| mime.eq_ignore_ascii_case(known))?;
        Some(*ending)
    });
    Some((bytes, ending.unwrap_or("bin")))
}

/// Returns the data URL of an image.
pub(crate) fn address(media: &Media) -> Option<String> {
    let MediaData::Base64(data) = &media.held else { return None };
    let start = BASE64.decode(data.get(..IMAGE_PREFIX)?).ok()?;
    let (_, mime) = image(&start)?;
    // Only characters of the alphabet, so that nothing in it can end the URL.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    data.bytes().all(plain).then(|| format!("data:{mime};base64,{data}"))
}

/// Whether a file of this name is an image.
pub(crate) fn is_image(name: &str) -> bool {
    let ending = name.rsplit('.').next();
    IMAGES.iter().any(|(known, ..)| ending == Some(known))
}

fn image(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let (ending, mime, _) = IMAGES.iter().find(|(_, _, begins)| begins(bytes))?;
    Some((ending, mime))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z4AXHsmcAwDIsQf5tasbDAAAAABJRU5ErkJggg==";

    fn media(mime: &str, data: &str) -> Media {
        Media { mime: mime.into(), bytes: 1, held: MediaData::Base64(data.into()) }
    }

    #[test]
    fn the_type_is_detected_from_the_bytes() {
        let ending = |data: &str, mime| file(data, mime).map(|(_, ending)| ending);
        assert_eq!(ending(PNG, "text/html"), Some("png"));
        assert_eq!(ending(PNG.trim_end_matches('='), ""), Some("png"));
        assert_eq!(ending("JVBERi0xLjcK", "application/pdf"), Some("pdf"));
        assert_eq!(ending("PHN2Zz48L3N2Zz4=", "image/svg+xml"), Some("bin"));
        assert_eq!(ending("PHN2Zz48L3N2Zz4=", "image/png"), Some("bin"));
        assert_eq!(ending("not base64!", "image/png"), None);
        assert_eq!(ending("", "image/png"), None);
    }

    #[test]
    fn only_images_have_an_address() {
        let address = |mime, data: &str| address(&media(mime, data));
        assert_eq!(address("image/x", PNG), Some(format!("data:image/png;base64,{PNG}")));
        assert_eq!(address("image/svg+xml", "PHN2Zz48c2NyaXB0Pjwvc2NyaXB0Pjwvc3ZnPg=="), None);
        assert_eq!(address("image/png", &format!("{PNG}\"><script>")), None);
        assert_eq!(address("image/png", "iVBO"), None);
    }
}
