//! The few requests to block devices and files that have no safe wrapper elsewhere.

#![expect(unsafe_code, reason = "ioctl is untyped; each request is given its type here")]

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;
use rustix::ioctl::{Getter, Ioctl, IoctlOutput, Opcode, Setter, ioctl, opcode};

use crate::nvme::command::AdminCommand;
use crate::nvme::io_command::IoCommand;

/// `BLKDISCARD`, `_IO(0x12, 119)`.
const BLKDISCARD: Opcode = opcode::none(0x12, 119);
/// `BLKGETSIZE64`, `_IOR(0x12, 114, size_t)`.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);

/// `BLKREPORTZONE`, `_IOWR(0x12, 130, struct blk_zone_report)`, of which the size is that of its head.
const BLKREPORTZONE: Opcode = opcode::read_write::<[u64; 2]>(0x12, 130);
/// `BLKRESETZONE`, `_IOW(0x12, 131, struct blk_zone_range)`.
const BLKRESETZONE: Opcode = opcode::write::<[u64; 2]>(0x12, 131);
/// `BLKFINISHZONE`, `_IOW(0x12, 136, struct blk_zone_range)`.
const BLKFINISHZONE: Opcode = opcode::write::<[u64; 2]>(0x12, 136);

/// `LOOP_GET_STATUS64`, from before requests had a scheme.
const LOOP_GET_STATUS64: Opcode = 0x4c05;

/// `NVME_IOCTL_ID`, `_IO('N', 0x40)`.
const NVME_IOCTL_ID: Opcode = opcode::none(b'N', 0x40);
/// `NVME_IOCTL_ADMIN_CMD`, `_IOWR('N', 0x41, struct nvme_passthru_cmd)`.
const NVME_IOCTL_ADMIN_CMD: Opcode = opcode::read_write::<NvmePassthrough>(b'N', 0x41);
/// `NVME_IOCTL_IO_CMD`, `_IOWR('N', 0x43, struct nvme_passthru_cmd)`.
const NVME_IOCTL_IO_CMD: Opcode = opcode::read_write::<NvmePassthrough>(b'N', 0x43);
/// `SG_IO`, from before requests had a scheme.
const SG_IO: Opcode = 0x2285;

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Debug, Default)]
struct NvmePassthrough {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace_id: u32,
    dwords_2_3: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    dwords_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// `struct loop_info64` of linux/loop.h, as far as it is read here.
#[repr(C)]
#[derive(Debug)]
struct LoopInfo {
    on: u64,
    inode: u64,
    device_number: u64,
    rest: [u64; 26],
}

/// `struct sg_io_hdr` of scsi/sg.h.
#[repr(C)]
#[derive(Debug)]
struct SgIo {
    interface: c_int,
    direction: c_int,
    command_bytes: u8,
    sense_bytes_max: u8,
    vector_count: u16,
    data_bytes: u32,
    data: *mut c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: c_int,
    user: *mut c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_bytes: u8,
    host_status: u16,
    driver_status: u16,
    residual: c_int,
    duration_ms: u32,
    info: u32,
}

/// `struct blk_zone` of linux/blkzoned.h, in sectors of 512 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Zone {
    pub(crate) start: u64,
    pub(crate) sectors: u64,
    write_pointer: u64,
    pub(crate) kind: u8,
    pub(crate) state: u8,
    flags: [u8; 6],
    pub(crate) capacity_sectors: u64,
    reserved: [u64; 3],
}

/// Zones in one report.
const REPORTED_ZONES: usize = 256;

/// `struct blk_zone_report` of linux/blkzoned.h with room for some zones.
#[repr(C)]
#[derive(Debug)]
struct ZoneReport {
    start: u64,
    zones: u32,
    flags: u32,
    list: [Zone; REPORTED_ZONES],
}

/// Direction of the data of a SCSI command, with its memory.
#[derive(Debug)]
pub(crate) enum ScsiData<'a> {
    None,
    FromDevice(&'a mut [u8]),
    ToDevice(&'a [u8]),
}

/// Outcome of a SCSI command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScsiOutcome {
    pub(crate) status: u8,
    pub(crate) host_status: u16,
    pub(crate) sense: Vec<u8>,
}

/// A request that reads and writes one structure and answers with a number.
struct Exchange<'a, T, const OPCODE: Opcode>(&'a mut T);

// SAFETY: the pointer is that of the structure the request works on, exclusively borrowed for the
// call; the answer is the plain number that the system call returned.
unsafe impl<T, const OPCODE: Opcode> Ioctl for Exchange<'_, T, OPCODE> {
    type Output = u32;
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(
        out: IoctlOutput,
        _: *mut c_void,
    ) -> rustix::io::Result<Self::Output> {
        Ok(out.cast_unsigned())
    }
}

/// A request without an argument that answers with a number.
struct Ask<const OPCODE: Opcode>;

// SAFETY: nothing is passed and nothing is written.
unsafe impl<const OPCODE: Opcode> Ioctl for Ask<OPCODE> {
    type Output = u32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(
        out: IoctlOutput,
        _: *mut c_void,
    ) -> rustix::io::Result<Self::Output> {
        Ok(out.cast_unsigned())
    }
}

/// The driver's answer about a loop device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopStatus {
    /// Number of the file system of the file or node behind it, as `st_dev`.
    pub(crate) on: u64,
    /// Its inode there.
    pub(crate) inode: u64,
    /// The number of the device behind it, as `st_rdev`, or 0 if that is no block device.
    pub(crate) device_number: u64,
}

/// Asks a loop device for the file or device behind it.
pub(crate) fn loop_status(fd: BorrowedFd<'_>) -> Result<LoopStatus, Errno> {
    // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64` through its argument, which `LoopInfo`
    // is as long as; other drivers know no such request and answer ENOTTY.
    let info: LoopInfo = unsafe { ioctl(fd, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }?;
    let LoopInfo { on, inode, device_number, .. } = info;
    Ok(LoopStatus { on, inode, device_number })
}

/// Whether another program has locked a part of an open file (POSIX or OFD). File systems without
/// locks have none.
pub(crate) fn is_range_locked(fd: BorrowedFd<'_>) -> bool {
    let mut lock = libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        // Up to the end, wherever that comes to be.
        l_len: 0,
        l_pid: 0,
    };
    // SAFETY: F_OFD_GETLK reads and writes one `struct flock` through its argument, which is ours
    // alone until the call returns.
    let asked = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    asked == 0 && lock.l_type != libc::F_UNLCK as libc::c_short
}

/// Number of the NVMe namespace behind a block device.
pub(crate) fn nvme_namespace_id(fd: BorrowedFd<'_>) -> Result<u32, Errno> {
    // SAFETY: NVME_IOCTL_ID takes no argument and returns the number; other drivers know no such
    // request and answer ENOTTY.
    unsafe { ioctl(fd, Ask::<NVME_IOCTL_ID>) }
}

/// Sends an admin command whose answer fills `data`; gives the status (0: done) and the result.
pub(crate) fn nvme_admin(
    fd: BorrowedFd<'_>,
    command: &AdminCommand,
    data: &mut [u8],
) -> Result<(u32, u32), Errno> {
    let request = NvmePassthrough {
        opcode: command.opcode,
        namespace_id: command.namespace_id,
        dwords_10_15: command.dwords,
        timeout_ms: command.timeout_ms,
        ..NvmePassthrough::default()
    };
    nvme_passthrough::<NVME_IOCTL_ADMIN_CMD>(fd, request, data)
}

/// Sends an I/O command whose answer fills `data`; gives the status (0: done).
pub(crate) fn nvme_io(
    fd: BorrowedFd<'_>,
    command: &IoCommand,
    data: &mut [u8],
) -> Result<u32, Errno> {
    let [ten, eleven, twelve, thirteen] = command.dwords;
    let request = NvmePassthrough {
        opcode: command.opcode,
        namespace_id: command.namespace_id,
        dwords_10_15: [ten, eleven, twelve, thirteen, 0, 0],
        ..NvmePassthrough::default()
    };
    nvme_passthrough::<NVME_IOCTL_IO_CMD>(fd, request, data).map(|(status, _)| status)
}

fn nvme_passthrough<const REQUEST: Opcode>(
    fd: BorrowedFd<'_>,
    mut request: NvmePassthrough,
    data: &mut [u8],
) -> Result<(u32, u32), Errno> {
    request.data = if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 };
    request.data_bytes = u32::try_from(data.len()).map_err(|_| Errno::INVAL)?;
    // SAFETY: both requests take this structure of the kernel; `data` points to `data_bytes` bytes that are ours alone
    // until the call returns; the kernel reads or writes them, by the opcode, and no further.
    let status = unsafe { ioctl(fd, Exchange::<_, REQUEST>(&mut request)) }?;
    Ok((status, request.result))
}

/// Sends a SCSI command block and waits for its end.
pub(crate) fn scsi(
    fd: BorrowedFd<'_>,
    command: &[u8; 16],
    data: ScsiData<'_>,
    timeout_ms: u32,
) -> Result<ScsiOutcome, Errno> {
    const SENSE_BYTES: u8 = 64;
    let mut sense = [0_u8; SENSE_BYTES as usize];
    // The numbers are SG_DXFER_NONE, SG_DXFER_FROM_DEV and SG_DXFER_TO_DEV.
    let (direction, pointer, len) = match data {
        ScsiData::None => (-1, std::ptr::null_mut(), 0),
        ScsiData::FromDevice(bytes) => (-3, bytes.as_mut_ptr(), bytes.len()),
        ScsiData::ToDevice(bytes) => (-2, bytes.as_ptr().cast_mut(), bytes.len()),
    };
    let mut request = SgIo {
        interface: c_int::from(b'S'),
        direction,
        command_bytes: 16,
        sense_bytes_max: SENSE_BYTES,
        vector_count: 0,
        data_bytes: u32::try_from(len).map_err(|_| Errno::INVAL)?,
        data: pointer.cast(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms,
        flags: 0,
        pack_id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_bytes: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the structure is the kernel's; command, data and sense point to buffers of the sizes
    // it names that outlive the call, and data is written only where it came in as writable.
    unsafe { ioctl(fd, Exchange::<_, SG_IO>(&mut request)) }?;
    Ok(ScsiOutcome {
        status: request.status,
        host_status: request.host_status,
        sense: sense[..usize::from(request.sense_bytes.min(SENSE_BYTES))].to_vec(),
    })
}

/// Discards a range of a block device. Blocks until the device has answered.
pub fn block_discard(fd: BorrowedFd<'_>, offset_bytes: u64, len_bytes: u64) -> Result<(), Errno> {
    // SAFETY: BLKDISCARD reads a pair of u64 (start, length in bytes) through its argument, which
    // is what `Setter` passes a pointer to.
    unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([offset_bytes, len_bytes])) }
}

/// The next zones from this sector on; none at the end.
pub(crate) fn report_zones(fd: BorrowedFd<'_>, start: u64) -> Result<Vec<Zone>, Errno> {
    const HAS_CAPACITY: u32 = 1;
    let list = [Zone::default(); REPORTED_ZONES];
    let mut report = ZoneReport { start, zones: REPORTED_ZONES as u32, flags: 0, list };
    // SAFETY: the structure is the kernel's, which writes as many zones behind its head as the head has
    // room for, and the number of them into the head.
    unsafe { ioctl(fd, Exchange::<_, BLKREPORTZONE>(&mut report)) }?;
    let mut zones = report.list[..(report.zones as usize).min(REPORTED_ZONES)].to_vec();
    if report.flags & HAS_CAPACITY == 0 {
        // Older kernels know zones alone that are used to their end.
        zones.iter_mut().for_each(|zone| zone.capacity_sectors = zone.sectors);
    }
    Ok(zones)
}

/// Makes the zones of a range of sectors empty.
pub(crate) fn reset_zones(fd: BorrowedFd<'_>, range: [u64; 2]) -> Result<(), Errno> {
    // SAFETY: BLKRESETZONE reads a pair of u64 (start, length) through its argument.
    unsafe { ioctl(fd, Setter::<BLKRESETZONE, [u64; 2]>::new(range)) }
}

/// Makes the zones of a range of sectors full.
pub(crate) fn finish_zones(fd: BorrowedFd<'_>, range: [u64; 2]) -> Result<(), Errno> {
    // SAFETY: BLKFINISHZONE reads a pair of u64 (start, length) through its argument.
    unsafe { ioctl(fd, Setter::<BLKFINISHZONE, [u64; 2]>::new(range)) }
}

/// Size of a block device in bytes.
pub(crate) fn block_size_bytes(fd: BorrowedFd<'_>) -> Result<u64, Errno> {
    // SAFETY: BLKGETSIZE64 writes one u64 through its argument, which is what `Getter` provides.
    unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel copies as many bytes as its own structure has.
    #[test]
    fn structures_are_as_long_as_the_kernels() {
        assert_eq!(size_of::<NvmePassthrough>(), 72);
        assert_eq!(size_of::<LoopInfo>(), 232);
        assert_eq!((size_of::<Zone>(), std::mem::offset_of!(Zone, capacity_sectors)), (64, 32));
        assert_eq!(std::mem::offset_of!(ZoneReport, list), 16);
        #[cfg(target_pointer_width = "64")]
        assert_eq!(size_of::<SgIo>(), 88);
        assert_eq!((NVME_IOCTL_ADMIN_CMD, NVME_IOCTL_IO_CMD), (0xc048_4e41, 0xc048_4e43));
        assert_eq!(
            (BLKREPORTZONE, BLKRESETZONE, BLKFINISHZONE),
            (0xc010_1282, 0x4010_1283, 0x4010_1288)
        );
    }
}
