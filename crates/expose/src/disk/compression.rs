//! An estimate of the compressibility of data, for drives that compress.
//!
//! Phenomenon: a drive with a compressing controller writes less for data that repeats itself. Source and
//! simplification: no controller's algorithm is published; the share that deflate at its fastest level leaves stands
//! for it, of the first bytes of a request. Test: below.

use std::io::Write;

use base::Data;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::request::{Action, Request};

/// Bytes of a request that are tried.
const SAMPLE_BYTES: usize = 64 << 10;

/// The data of a request; zeroes and everything that is no write repeat themselves.
pub(super) fn data_of(request: &Request) -> Data {
    if !matches!(request.action, Action::Write | Action::Copy) {
        return Data::Repeating;
    }
    let sample = &request.data[..request.data.len().min(SAMPLE_BYTES)];
    if sample.windows(2).all(|pair| pair[0] == pair[1]) {
        return Data::Repeating;
    }
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(sample.len()), Compression::fast());
    let encoded = encoder.write_all(sample).and_then(|()| encoder.finish());
    let left = encoded.map_or(sample.len(), |encoded| encoded.len());
    match (left * 100).div_ceil(sample.len().max(1)) {
        100.. => Data::Incompressible,
        percent => Data::Compressible { physical_percent: percent.max(1) as u8 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(data: &[u8]) -> Data {
        let bytes = data.len() as u64;
        let data = data.to_vec();
        data_of(&Request { data, ..Request::new(Action::Write, 0, bytes) })
    }

    #[test]
    fn text_shrinks_and_noise_does_not() {
        let mut rng = base::Rng::new(7);
        let noise: Vec<u8> = (0..4096).map(|_| rng.next_u64() as u8).collect();
        assert_eq!(of(&noise), Data::Incompressible);
        assert_eq!(of(&[0; 4096]), Data::Repeating);
        let text = "the quick brown fox jumps over the lazy dog; ".repeat(90);
        let Data::Compressible { physical_percent } = of(text.as_bytes()) else { panic!("text") };
        assert!(physical_percent < 20, "{physical_percent}%");
        let half = [&noise[..2048], &[1; 2048]].concat();
        let Data::Compressible { physical_percent } = of(&half) else { panic!("half") };
        assert!((45..60).contains(&physical_percent), "{physical_percent}%");
    }
}
