//! Why a controller did not do what it was told.

/// Words for a status as the kernel returns it: code in bits 7:0, its type in bits 10:8.
#[must_use]
pub fn words(status: u32) -> String {
    let words = match (status >> 8 & 0x07, status & 0xff) {
        (0, 0x01) => "the command is not supported",
        (0, 0x02) => "a field of the command is not supported",
        (0, 0x04) => "data transfer error",
        (0, 0x06) => "internal error",
        (0, 0x07) => "the command was aborted",
        (0, 0x0b) => "the namespace or its format is not valid",
        (0, 0x0c) => "the command came at the wrong time",
        (0, 0x1c) => "a sanitize failed before; another must succeed first",
        (0, 0x1d) => "a sanitize is going on",
        (0, 0x20) => "the namespace is write protected",
        (0, 0x82) => "the namespace is not ready",
        (0, 0x84) => "a format is going on",
        (1, 0x09) => "the controller does not have this log",
        (1, 0x0a) => "the format is not valid",
        (1, 0x0b) => "firmware activation needs a reset first",
        (2, _) => "media error",
        (3, _) => "path error",
        (7, _) => "a vendor's own reason",
        _ => "see the status codes of the NVM Express specification",
    };
    format!("status {status:#06x}: {words}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_without_its_flags() {
        // As seen from an emulated controller: do not retry, invalid field.
        assert_eq!(words(0x4002), "status 0x4002: a field of the command is not supported");
        assert!(words(0x4109).contains("does not have this log"));
        assert!(words(u32::MAX).contains("vendor"));
    }
}
