//! Little-endian fields of a device's answer. A short answer reads as zeros, never as a panic.

/// `LEN` bytes at `at`, with zeros beyond the end of the answer.
pub fn array<const LEN: usize>(bytes: &[u8], at: usize) -> [u8; LEN] {
    let mut field = [0; LEN];
    let rest = bytes.get(at..).unwrap_or_default();
    let len = rest.len().min(LEN);
    field[..len].copy_from_slice(&rest[..len]);
    field
}

/// The byte at `at`.
pub fn u8_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The 16-bit word at `at`.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

/// The 32-bit word at `at`.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

/// The 64-bit word at `at`.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// The 128-bit word at `at`.
pub fn u128_at(bytes: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(array(bytes, at))
}

/// ASCII, padded by the vendor with spaces or zeros; anything else becomes a question mark.
pub fn text(bytes: &[u8]) -> String {
    let printable = |&byte: &u8| if (b' '..=b'~').contains(&byte) { byte as char } else { '?' };
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes[..end].iter().map(printable).collect::<String>().trim().to_owned()
}
