"""SimpleSSD beside ssdlab: python bench/peers/simplessd.py --peer simplessd-standalone --program ssdlab

Get https://github.com/SimpleSSD/SimpleSSD-Standalone with its modules, build it with CMake, and name its program. A new
compiler needs `-include` of `cstring`, `strings.h`, `limits` and `cstdint`, `-Wno-error`, and a number for `SIGSTKSZ` in
`sim/signal.cc`. The drive is that of `drive.py` behind NVMe; its random overwrites make 8% of its pages invalid first.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import drive

VERSION = "73ad8ad"
PS = 1000

HOST = f"""
[global]
Mode = 0
LogPeriod = 0
LogFile = log.txt
DebugLogFile =
LatencyLogFile =
ProgressPeriod = 0
Interface = 1
Scheduler = 0
SubmissionLatency = 1us
CompletionLatency = 1us
[generator]
io_size = {{bytes}}
readwrite = randwrite
blocksize = 4K
iomode = async
iodepth = {drive.QUEUE_DEPTH}
offset = 0
thinktime = 0
randseed = 13245
time_based = 0
"""

DEVICE = f"""
[cpu]
ClockSpeed = 400000000
HILCoreCount = 1
ICLCoreCount = 1
FTLCoreCount = 1
[nvme]
PCIEGeneration = 2
PCIELane = 4
AXIBusWidth = 2
AXIClock = 250000000
FIFOTransferUnit = 2048
WorkInterval = 1000000
MaxRequestCount = 8
MaxIOCQueue = 16
MaxIOSQueue = 16
DefaultNamespace = 1
LBASize = 512
[pal]
Channel = {drive.CHANNELS}
Package = 1
Die = 1
Plane = {drive.PLANES}
Block = {drive.BLOCKS}
Page = {drive.PAGES}
PageSize = {drive.PAGE_BYTES}
EnableMultiPlaneOperation = 0
NANDType = 0
LSBRead = {drive.READ_NS * PS}
LSBWrite = {drive.PROGRAM_NS * PS}
Erase = {drive.ERASE_NS * PS}
DMASpeed = 333
DMAWidth = 8
SuperblockSize =
PageAllocation = CWDP
[ftl]
MappingMode = 0
OverProvisioningRatio = {drive.SPARE_SHARE:.4f}
EraseThreshold = 100000
FillingMode = 2
FillRatio = 1.0
InvalidPageRatio = 0.08
EvictPolicy = 0
GCThreshold = 0.05
GCMode = 0
GCReclaimBlocks = 1
EnableRandomIOTweak = 1
[icl]
CacheSize = 33554432
CacheWaySize = 8
EnableReadCache = 0
EnableReadPrefetch = 0
EnableWriteCache = 1
EvictPolicy = 2
EvictMode = 0
CacheLatency = 10
[dram]
Model = 0
Channel = 1
Rank = 1
Bank = 8
Chip = 1
BusWidth = 32
BurstLength = 8
ChipSize = 1073741824
PageSize = 4096
"""


def run(directory: Path, commands: int) -> float:
    host, device = directory / "host.cfg", directory / "device.cfg"
    host.write_text(HOST.format(bytes=commands * drive.PAGE_BYTES))
    device.write_text(DEVICE)
    call = [os.environ["PEER"], host, device, directory]
    subprocess.run(call, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = (directory / "log.txt").read_text()
    programs = re.findall(r"^pal\.(?:program|write)\.count\s+([0-9.]+)", log, re.MULTILINE)
    return float(programs[-1])


if __name__ == "__main__":
    drive.compare("SimpleSSD", VERSION, run, 20_000, 80_000)
