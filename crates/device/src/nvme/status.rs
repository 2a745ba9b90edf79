//! Reasons for the failure of a command, as a controller reports them.

use rustix::io::Errno;

/// Words for a status as the kernel returns it: code in bits 7:0, its type in bits 10:8.
pub fn words(status: u32) -> String {
    let words = match type_and_code(status) {
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
        (0, 0x80) => "the LBA is out of range",
        (0, 0x81) => "the capacity is exceeded",
        (0, 0x82) => "the namespace is not ready",
        (0, 0x83) => "reservation conflict",
        (0, 0x84) => "a format is going on",
        (1, 0x09) => "the controller does not have this log",
        (1, 0x0a) => "the format is not valid",
        (1, 0x0b) => "firmware activation needs a reset first",
        (1, 0x82) => "attempted write to a read-only range",
        (2, 0x80) => "write fault",
        (2, 0x81) => "unrecovered read error",
        (2, 0x82..=0x84) => "the protection information of a block does not match",
        (2, 0x86) => "access denied",
        (2, 0x87) => "deallocated or unwritten block",
        (2, _) => "media error",
        (3, _) => "path error",
        (7, _) => "a vendor's own reason",
        _ => "see the status codes of the NVM Express specification",
    };
    format!("status {status:#06x}: {words}")
}

/// The errno that an I/O with this status ends with on the block device, by the kernel's mapping
/// (`nvme_error_status` in drivers/nvme/host/core.c, then `blk_errors` in block/blk-core.c).
pub fn errno(status: u32) -> Errno {
    match type_and_code(status) {
        (0, 0x81) => Errno::NOSPC,
        (0, 0x80 | 0x82 | 0x21) => Errno::REMOTEIO,
        (0, 0x01 | 0x02 | 0x0b) | (1, 0x80) => Errno::OPNOTSUPP,
        (1, 0x82) | (2, 0x80 | 0x81 | 0x86 | 0x87) => Errno::NODATA,
        (1, 0x81) | (2, 0x82..=0x84) => Errno::ILSEQ,
        (0, 0x83) => Errno::BADE,
        (3, 0x70) => Errno::NOLINK,
        _ => Errno::IO,
    }
}

/// Without the flags: do not retry, more, retry delay.
const fn type_and_code(status: u32) -> (u32, u32) {
    (status >> 8 & 0x07, status & 0xff)
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

    #[test]
    fn a_command_fails_as_it_does_on_the_block_device() {
        for (status, expected) in [
            // As seen from an emulated controller: LBA out of range, write fault, read error.
            (0x4080, Errno::REMOTEIO),
            (0x0280, Errno::NODATA),
            (0x0281, Errno::NODATA),
            (0x4002, Errno::OPNOTSUPP),
            (0x0081, Errno::NOSPC),
            (0x0006, Errno::IO),
        ] {
            assert_eq!(errno(status), expected, "{status:#06x}");
        }
    }
}
