//! The used part of the LBA space, and the resulting spare area.

use base::{Bytes, Ratio};
use result::schema::Span;
use target::Identity;

use crate::error::RunError;

/// The requested span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanRequest {
    /// The whole LBA space.
    Default,
    /// Leaves this share of the raw NAND (of the advertised capacity if the raw one is unknown) to
    /// the drive.
    Spare(Ratio),
    /// This many bytes from LBA 0.
    Bytes(Bytes),
}

/// Spans end on this boundary, so that both the fill and the load use whole blocks.
const ALIGNMENT: Bytes = Bytes(128 << 10);

impl SpanRequest {
    /// The span on a target.
    ///
    /// # Errors
    /// [`RunError::Usage`] if the span is larger than the target or empty.
    pub fn resolve(self, target: &Identity) -> Result<Span, RunError> {
        let capacity = target.capacity_bytes;
        match self {
            Self::Default => Ok(span(capacity, "default".to_owned(), "none")),
            Self::Bytes(bytes) => {
                if bytes.0 > capacity {
                    return Err(RunError::Usage(format!(
                        "--span {} is larger than {}, which has {} ({capacity} bytes); ask for less",
                        name_of(bytes),
                        target.name,
                        Bytes(capacity).rounded()
                    )));
                }
                aligned(bytes, name_of(bytes), "bytes")
            }
            Self::Spare(share) => spare(share, target),
        }
    }
}

/// A span of a number of bytes, in the names of runs: `64GiB`, or `146.8GB` if no unit divides it.
fn name_of(bytes: Bytes) -> String {
    const CHARS_MAX: usize = "1023GiB".len();
    let exact = bytes.to_string();
    if exact.len() <= CHARS_MAX { exact } else { bytes.rounded().replace(' ', "") }
}

fn span(span_bytes: u64, variant: String, base: &str) -> Span {
    Span { span_bytes, variant, base: base.to_owned() }
}

fn aligned(bytes: Bytes, variant: String, base: &str) -> Result<Span, RunError> {
    let span_bytes = bytes.align_down(ALIGNMENT).0;
    if span_bytes == 0 {
        return Err(RunError::Usage(format!(
            "the span {variant} holds no whole block of {ALIGNMENT}; ask for more"
        )));
    }
    Ok(span(span_bytes, variant, base))
}

fn spare(share: Ratio, target: &Identity) -> Result<Span, RunError> {
    let (base_bytes, base) = match target.raw_bytes {
        Some(raw) => (raw, "raw"),
        None => (target.capacity_bytes, "advertised"),
    };
    let left = share.complement().of(base_bytes);
    if left > target.capacity_bytes {
        let built_in = 100.0 * (1.0 - target.capacity_bytes as f64 / base_bytes as f64);
        return Err(RunError::Usage(format!(
            "--spare {share} is less than the {built_in:.1}% of its {base} capacity that {} keeps \
             anyway; ask for more, or leave --spare out",
            target.name
        )));
    }
    aligned(Bytes(left), share.to_string(), base).map_err(|_| {
        RunError::Usage(format!(
            "--spare {share} leaves no whole block of {ALIGNMENT} of {} to use; ask for less, such as 25%",
            target.name
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::TargetKind;

    fn target(capacity_bytes: u64, raw_bytes: Option<u64>) -> Identity {
        Identity {
            kind: TargetKind::Simulated,
            name: "drive".to_owned(),
            spec: String::new(),
            serial: None,
            firmware: None,
            capacity_bytes,
            raw_bytes,
            log_bytes: None,
            engine: String::new(),
            facts: base::Facts::default(),
            details: std::collections::BTreeMap::new(),
        }
    }

    fn resolve(spare: &str, target: &Identity) -> Result<Span, RunError> {
        SpanRequest::Spare(spare.parse().unwrap()).resolve(target)
    }

    #[test]
    fn a_quarter_of_256_gib_raw_leaves_192() {
        let drive = target(256_060_514_304, Some(256 << 30));
        let span = resolve("25%", &drive).unwrap();
        assert_eq!((span.span_bytes, span.base.as_str()), (192 << 30, "raw"));
        assert_eq!(span.variant, "25%");
    }

    #[test]
    fn unknown_raw_capacity_falls_back_to_the_advertised() {
        let span = resolve("25%", &target(100 << 30, None)).unwrap();
        assert_eq!((span.span_bytes, span.base.as_str()), (75 << 30, "advertised"));
    }

    #[test]
    fn a_span_of_bytes_is_named_so_that_people_can_read_it() {
        let variant = |bytes| {
            let drive = target(480 << 30, None);
            SpanRequest::Bytes(Bytes(bytes)).resolve(&drive).unwrap().variant
        };
        assert_eq!(variant(64 << 30), "64GiB");
        assert_eq!(variant(146_800_640 << 10), "140GiB");
        assert_eq!(variant(143_359_872 << 10), "146.8GB");
    }

    #[test]
    fn impossible_spans_say_what_would_be_possible() {
        let drive = target(480 << 30, Some(512 << 30));
        let error = resolve("5%", &drive).unwrap_err().to_string();
        assert!(error.contains("--spare 5%") && error.contains("6.2%"), "{error}");
        let error = resolve("100%", &drive).unwrap_err().to_string();
        assert!(error.contains("--spare 100% leaves no whole block"), "{error}");
        let error = SpanRequest::Bytes(Bytes(1 << 50)).resolve(&drive).unwrap_err().to_string();
        assert!(
            error.contains("--span 1024TiB is larger than drive, which has 515.4 GB"),
            "{error}"
        );
    }
}
