//! Fields of a structure that is built, little endian. The fields of one that is read are in [`base::bytes`].

/// Puts a field at its place, which must lie within the structure.
pub fn put<const BYTES: usize>(structure: &mut [u8], at: usize, field: [u8; BYTES]) {
    structure[at..at + BYTES].copy_from_slice(&field);
}

/// Puts ASCII at its place, cut to the field and padded to it.
pub fn put_text(structure: &mut [u8], field: std::ops::Range<usize>, text: &str, padding: u8) {
    let field = &mut structure[field];
    field.fill(padding);
    let bytes = text.len().min(field.len());
    field[..bytes].copy_from_slice(&text.as_bytes()[..bytes]);
}

/// A number whose bits at these places are set.
pub fn bits(flags: &[(u32, bool)]) -> u32 {
    flags.iter().map(|&(place, is_set)| u32::from(is_set) << place).sum()
}
