//! Inputs from inputs: the changes that find most faults in parsers.

use base::Rng;

/// Longest input.
const BYTES_MAX: usize = 1 << 17;

/// Numbers at which sizes and offsets go wrong.
const NUMBERS: [&str; 8] = [
    "0",
    "1",
    "-1",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999",
];

/// Changes an input in one to eight places; `other` is material to splice in.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    for _ in 0..=rng.below(8) {
        change(input, other, rng);
    }
    input.truncate(BYTES_MAX);
}

fn place(length: usize, rng: &mut Rng) -> usize {
    rng.below(length as u64 + 1) as usize
}

/// A range of at most 64 bytes or, now and then, of any length.
fn range(length: usize, rng: &mut Rng) -> std::ops::Range<usize> {
    let from = place(length, rng);
    let longest = if rng.chance(1, 8) { length } else { 64 };
    let to = (from + place(longest, rng)).min(length);
    from..to
}

fn change(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    match rng.below(9) {
        0 => {
            // A byte that is there, or none in an empty input.
            let at = place(input.len(), rng);
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
        }
        1 => {
            let at = place(input.len(), rng);
            if let Some(byte) = input.get_mut(at) {
                *byte = rng.next_u64() as u8;
            }
        }
        2 => {
            let value = [0, 1, u64::MAX, u64::from(u32::MAX), 1 << 63, rng.next_u64()];
            let bytes = value[rng.below(6) as usize].to_le_bytes();
            let width = [1, 2, 4, 8][rng.below(4) as usize];
            let at = place(input.len(), rng);
            input.iter_mut().skip(at).zip(&bytes[..width]).for_each(|(to, from)| *to = *from);
        }
        3 => drop(input.drain(range(input.len(), rng))),
        4 => {
            let copy = input[range(input.len(), rng)].to_vec();
            let at = place(input.len(), rng);
            input.splice(at..at, copy);
        }
        5 => {
            let copy = other[range(other.len(), rng)].to_vec();
            let at = place(input.len(), rng);
            input.splice(at..at, copy);
        }
        6 => input.truncate(place(input.len(), rng)),
        7 => number(input, rng),
        _ => {
            let at = place(input.len(), rng);
            let bytes: Vec<u8> = (0..=rng.below(16)).map(|_| rng.next_u64() as u8).collect();
            input.splice(at..at, bytes);
        }
    }
}

/// Puts another number in the place of one written in digits.
fn number(input: &mut Vec<u8>, rng: &mut Rng) {
    let start = place(input.len(), rng);
    let Some(from) = input[start..].iter().position(u8::is_ascii_digit) else { return };
    let from = start + from;
    let length = input[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = NUMBERS[rng.below(NUMBERS.len() as u64) as usize];
    input.splice(from..from + length, number.bytes());
}
