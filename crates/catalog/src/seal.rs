//! What is kept, sealed: a byte that changed on disk is noticed before anybody believes it.

/// Bytes of the checksum.
const LENGTH: usize = 4;

/// Puts the checksum behind the content.
pub(crate) fn sealed(content: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(content.len() + LENGTH);
    sealed.extend_from_slice(content);
    sealed.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    sealed
}

/// Returns the content; nothing when it is not what was sealed.
pub(crate) fn unsealed(sealed: &[u8]) -> Option<&[u8]> {
    let (content, sum) = sealed.split_last_chunk::<LENGTH>()?;
    (crc32fast::hash(content).to_le_bytes() == *sum).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_is_noticed() {
        let whole = sealed(b"what was said");
        assert_eq!(unsealed(&whole), Some(b"what was said".as_slice()));
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 1;
            assert_eq!(unsealed(&broken), None, "{at}");
        }
        assert_eq!(unsealed(b"abc"), None);
        assert_eq!(unsealed(&sealed(b"")), Some(b"".as_slice()));
    }
}
