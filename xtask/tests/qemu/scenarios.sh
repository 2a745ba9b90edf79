# What the emulated machine does; the tests of the same names say why. Sourced by guest.sh.

SHORT="--set duration=2s --set steady_from=1s"
NO_FILL="--set purge=false --set fill=false"

# written_to DEVICE WRITES: whether so many writes to the block device have ended.
written_to() {
    local writes="$2"
    # Nodes of the mapper are no links to the names of the kernel.
    set -- $(cat "/sys/dev/block/$(printf '%d:%d' $(stat -L -c '0x%t 0x%T' "$1"))/stat")
    [ "${5:-0}" -gt "$writes" ]
}

# Commands, beside those of nvme-cli, sg3-utils and smartctl.
run list ssdlab list --format json
run nvme-id-ctrl nvme id-ctrl "$NVME" -o json
run sat-identify sg_sat_identify -H "$SATA"

# Purges.
run plan-nvme ssdlab plan consistency "$NVME" --format json
run plan-sata ssdlab plan consistency "$SATA" --format json
run plan-sata-security ssdlab plan consistency "$SATA" --erase SATA-ONE --purge ata-security-erase --format json
yes ssdlab | dd of="$SECOND" bs=1M count=16 > /dev/null 2>&1
run second-before sha256sum "$SECOND"
traced nvme-cli-format nvme format "$FIRST" --ses=1 --force
yes ssdlab | dd of="$FIRST" bs=1M count=16 > /dev/null 2>&1
traced own-format ssdlab run consistency "$FIRST" --erase NVME-TWO --library /tmp/runs-traced --quiet \
    --set fill=false --set duration=1s --set steady_from=0s
run second-after sha256sum "$SECOND"
run nvme-smart-before nvme smart-log "$NVME" -o json
consistency nvme "$NVME" --erase NVME-ONE --set duration=13s --set steady_from=1s
run nvme-smart-after nvme smart-log "$NVME" -o json
consistency sata "$SATA" --erase SATA-ONE $SHORT

# Polled.
consistency polled "$NVME" --erase NVME-ONE $NO_FILL --set duration=1s --engine uring,iopoll
consistency submitted "$NVME" --erase NVME-ONE $NO_FILL --set duration=1s --engine uring,sqpoll --workers 2
run polled-refused ssdlab run consistency "$SATA" --erase SATA-ONE --engine uring,iopoll --format json
run sata-smart smartctl --json --attributes "$SATA"
run trim ssdlab run trim "$SATA" --erase SATA-ONE --set torture=2s --set idle=0s --library /tmp/runs-trim --format json --quiet
run trim.json cat /tmp/runs-trim/*/run.json
run sata-security ssdlab run consistency "$SATA" --erase SATA-ONE --purge ata-security-erase --format json

# A drive to which the kernel cannot send anything without waiting.
echo 16M > /sys/block/zram0/disksize
handed() {
    local name="$1"
    shift
    consistency "$name" /dev/zram0 --erase /dev/zram0 $NO_FILL --set duration=1s --set steady_from=0s "$@"
}
handed handed-single --set queue_depth=1
handed handed-several --set queue_depth=4
handed handed-asked --set queue_depth=1 --engine uring

# Past the block layer; what arrives is looked at through the block device.
generic="/dev/ng${NVME#/dev/nvme}"
consistency past "$generic" --erase NVME-ONE $NO_FILL --set duration=1s
consistency past-polled "$NVME" --erase NVME-ONE $NO_FILL --set duration=1s --engine uring,passthrough,iopoll
consistency past-submitted "$generic" --erase NVME-ONE $NO_FILL --set duration=1s --engine uring,sqpoll --workers 2
run past-written ssdlab verify "$generic" --erase NVME-ONE --writes 1024 --journal /tmp/past --format json
run past-read ssdlab verify "$NVME" --check --journal /tmp/past --format json
echo 'qid != 0' > /sys/kernel/tracing/events/nvme/nvme_setup_cmd/filter
echo > /sys/kernel/tracing/trace
echo 1 > /sys/kernel/tracing/events/nvme/nvme_setup_cmd/enable
printf '8,0 0 1 0.0 1 Q %s [x]\n' 'W 0 + 8' 'WFS 80 + 16' 'FN' 'D 160 + 8' 'W 1024 + 320' > /tmp/past.trace
run past-replayed ssdlab run replay "$generic" --erase NVME-ONE --set trace=/tmp/past.trace --set transfer_max=1MiB \
    $NO_FILL --library /tmp/runs-past-replayed --format json --quiet
echo 0 > /sys/kernel/tracing/events/nvme/nvme_setup_cmd/enable
run past-commands cat /sys/kernel/tracing/trace
run past-trimmed ssdlab run mixed "$generic" --erase NVME-ONE --set time=1s --set read_percents=100 \
    --set trim_percent=50 --library /tmp/runs-past-trimmed --format json --quiet
run past-trimmed.bytes sh -c "tr -d '\\000' < $NVME | wc -c"
run past-long-written ssdlab verify "$generic" --erase NVME-ONE --block 128KiB --writes 256 --journal /tmp/past-long --format json
run past-long-read ssdlab verify "$NVME" --check --journal /tmp/past-long --format json
run past-metadata ssdlab run consistency "$THIRD" --erase NVME-TWO --engine uring,passthrough --format json
run past-sata ssdlab run consistency "$SATA" --erase SATA-ONE --engine uring,passthrough --format json
for way in auto uring,passthrough; do
    run "failing-$way" ssdlab run consistency "$BAD" --erase NVME-BAD $NO_FILL --set queue_depth=1 --engine $way \
        --library "/tmp/runs-failing-$way" --format json --quiet
done

# Refusals.
mke2fs "$NVME" > /dev/null 2>&1
mount -t ext4 "$NVME" /mnt
run refused-mounted ssdlab run consistency "$NVME" --erase NVME-ONE --format json
run refused-generic ssdlab run consistency "$generic" --erase NVME-ONE --format json

# The mounted drive, read as it is. Its file system writes nothing either meanwhile.
mount -o remount,ro /mnt
sync
run reading-before sha256sum "$NVME"
run reading-stat-before cat "/sys/block/${NVME#/dev/}/stat"
run reading ssdlab run latency "$NVME" --read-only --set time=1s --set random_span=16MiB --library /tmp/runs-reading \
    --format json --quiet
run reading-stat-after cat "/sys/block/${NVME#/dev/}/stat"
run reading.json sh -c 'cat /tmp/runs-reading/*/run.json'
run reading-after sha256sum "$NVME"
umount /mnt
run refused-signature ssdlab run consistency "$NVME" --erase NVME-ONE --format json
run refused-unconfirmed ssdlab run consistency "$NVME" --format json
run refused-serial ssdlab run consistency "$NVME" --erase NVME-TWO --format json
controller=${NVME%n1}
run refused-controller ssdlab run consistency "$controller" --erase NVME-ONE --format json

# Two mappings of one disk: what is done to the one is done to the other.
sectors=$(cat "/sys/block/${BASE#/dev/}/size")
for name in mine theirs; do
    echo "0 $sectors linear $BASE 0" | dmsetup create "$name"
done
mke2fs /dev/mapper/theirs > /dev/null 2>&1
mount -t ext4 /dev/mapper/theirs /mnt
run refused-mapping ssdlab run consistency /dev/mapper/mine --erase /dev/mapper/mine --erase-signatures --format json
umount /mnt
dmsetup remove theirs
run mapping-checked mount -t ext4 -o ro /dev/mapper/mine /mnt
umount /mnt
dd if=/dev/zero of=/dev/mapper/mine bs=1M count=1 conv=fsync > /dev/null 2>&1
consistency mapping-alone /dev/mapper/mine --erase /dev/mapper/mine $NO_FILL --set duration=1s --set steady_from=0s
dmsetup remove mine
blockdev --flushbufs "$BASE"

mke2fs "$SECOND" > /dev/null 2>&1
mount -t ext4 "$SECOND" /mnt
consistency sibling "$FIRST" --erase NVME-TWO --erase-signatures --set fill=false --set duration=1s
umount /mnt
run sibling-checked mount -t ext4 -o ro "$SECOND" /mnt
umount /mnt

# Latency, against drives that answer by a timer after 0.5 ms and after 5 ms, and against the kernel's eyes.
for drive in "fast 500000" "slow 5000000"; do
    set -- $drive
    mkdir "/sys/kernel/config/nullb/$1"
    echo 2 > "/sys/kernel/config/nullb/$1/irqmode"
    echo "$2" > "/sys/kernel/config/nullb/$1/completion_nsec"
    echo 64 > "/sys/kernel/config/nullb/$1/size"
    echo 1 > "/sys/kernel/config/nullb/$1/power"
done
# watched NAME DEVICE SECONDS: one command at a time through the ring, with the kernel's times of each in NAME-seen.
watched() {
    echo > /sys/kernel/tracing/trace
    echo 1 > /sys/kernel/tracing/events/io_uring/io_uring_submit_sqe/enable
    echo 1 > /sys/kernel/tracing/events/io_uring/io_uring_complete/enable
    consistency "$1" "$2" --erase "$2" $NO_FILL --set queue_depth=1 --set "duration=$3s" --engine uring
    echo 0 > /sys/kernel/tracing/events/io_uring/enable
    run "$1-seen" cat /sys/kernel/tracing/trace
}
for round in 1 2 3 4 5; do
    watched "fast$round" /dev/fast 1
    watched "slow$round" /dev/slow 1
done
echo "0 $sectors delay $BASE 0 5" | dmsetup create delayed
for round in 1 2 3; do
    watched "delayed$round" /dev/mapper/delayed 2
done
# The same job file by fio and, imported, by ssdlab, in turns. A command costs an emulated processor 2 ms in either
# program, so the drive must be much slower. fio counts the last four commands, which end after its time, and ssdlab
# does not: the time is long against the 0.1 s of four commands.
dmsetup remove delayed
echo "0 $sectors delay $BASE 0 100" | dmsetup create delayed
printf '[turn]\nfilename=/dev/mapper/delayed\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\niodepth=4\n' > /tmp/turn.fio
printf 'time_based=1\nruntime=8\nrandrepeat=0\n' >> /tmp/turn.fio
run turn-import ssdlab workload import /tmp/turn.fio -o /tmp/turn.toml --format json
for round in 1 2 3; do
    run "turn-fio$round" fio --output-format=json /tmp/turn.fio
    run "turn-own$round" ssdlab run workload /dev/mapper/delayed --erase /dev/mapper/delayed $NO_FILL \
        --workload /tmp/turn.toml --library "/tmp/runs-turn$round" --format json --quiet
done
dmsetup remove delayed

# A stall: for 2 of 10 s the drive takes what comes and does nothing. Of each command the kernel says when it was issued
# and when it ended.
echo "0 $(cat /sys/block/fast/size) linear /dev/fast 0" | dmsetup create stalling
echo 16000 > /sys/kernel/tracing/buffer_size_kb
echo > /sys/kernel/tracing/trace
echo 1 > /sys/kernel/tracing/events/io_uring/io_uring_submit_sqe/enable
echo 1 > /sys/kernel/tracing/events/io_uring/io_uring_complete/enable
(within 300 written_to /dev/mapper/stalling 2000; dmsetup suspend stalling; sleep 2; dmsetup resume stalling) &
consistency stalled /dev/mapper/stalling --erase /dev/mapper/stalling $NO_FILL --set duration=10s --set steady_from=0s --set rate=1000
echo 0 > /sys/kernel/tracing/events/io_uring/enable
run stalled-times awk '
    { for (i = 1; i < NF; i++) if ($i ~ /^io_uring_/) break }
    $i == "io_uring_submit_sqe:" { issued[$(i + 4)] = $(i - 1) }
    $i == "io_uring_complete:" { print issued[$(i + 4)] $(i - 1); delete issued[$(i + 4)] }
' /sys/kernel/tracing/trace
dmsetup remove stalling

# Promises: an honest drive, one that drops every write, and one that drops them after 8,000 of 20,000.
verify() {
    local name="$1"
    shift
    run "$name" ssdlab verify /dev/mapper/promising --journal "/tmp/$name" --format json "$@"
}
echo "0 $sectors linear $BASE 0" | dmsetup create promising
verify honest --erase /dev/mapper/promising --writes 4096
run honest-journal cat /tmp/honest
dmsetup remove promising
# The same drive, of which one MiB from 32 MiB on has become unreadable.
dmsetup create promising << WORN
0 65536 linear $BASE 0
65536 2048 error
67584 $((sectors - 67584)) linear $BASE 67584
WORN
run worn ssdlab verify /dev/mapper/promising --journal /tmp/honest --check --format json
dmsetup remove promising
echo "0 $sectors flakey $BASE 0 0 600 1 drop_writes" | dmsetup create promising
verify forgetful --erase /dev/mapper/promising --writes 2048
dmsetup remove promising
echo "0 $sectors linear $BASE 0" | dmsetup create promising
number=$(cat /sys/block/dm-0/dev)
echo 40000 > /sys/kernel/tracing/buffer_size_kb
echo > /sys/kernel/tracing/trace
echo 1 > /sys/kernel/tracing/events/block/block_bio_queue/enable
(within 300 written_to /dev/mapper/promising 8000; dmsetup suspend promising
    echo "0 $sectors flakey $BASE 0 0 600 1 drop_writes" | dmsetup reload promising; dmsetup resume promising) &
verify turncoat --erase /dev/mapper/promising --duration 300s --writes 20000
wait $!
echo 0 > /sys/kernel/tracing/events/block/block_bio_queue/enable
# The blocks whose last write to the upper device was not followed by one to the lower device.
run turncoat-dropped awk -v upper="${number%:*},${number#*:}" '
    { for (i = 1; i < NF; i++) if ($i == "block_bio_queue:") break }
    i < NF && $(i + 2) ~ /W/ && $(i + 5) > 0 {
        if ($(i + 1) == upper) last[$(i + 3)] = NR; else passed[$(i + 3)] = NR
    }
    END { for (sector in last) if (passed[sector] < last[sector]) print sector * 512 }
' /sys/kernel/tracing/trace
run turncoat-again ssdlab verify /dev/mapper/promising --journal /tmp/turncoat --check --format json
dmsetup remove promising
run wrong-drive ssdlab verify "$SATA" --journal /tmp/turncoat --check --format json

# Power: a sensor of the kernel with the registers of a chip (5 V, 0.4 A), lines from a pipe, and the port of a SATA
# drive, which is switched and put back whatever becomes of the run.
insmod /modules/i2c-stub.ko chip_addr=0x6f
bus=$(grep -l stub /sys/bus/i2c/devices/i2c-*/name | grep -o '[0-9]*' | tail -n 1)
for register in "0 0x01" "1 0x40" "2 0x0c" "3 0x80"; do
    i2cset -y "$bus" 0x6f $register b
done
echo ltc4151 0x6f > "/sys/bus/i2c/devices/i2c-$bus/new_device"
mkfifo /tmp/watts
# Somebody reads all the time, or the writer would end with the first run.
exec 3<> /tmp/watts
while :; do echo 0.5; usleep 20000; done > /tmp/watts &
writer=$!
host=$(readlink -f "/sys/block/${SATA#/dev/}/device" | grep -o 'host[0-9]*' | head -n 1)
policy="/sys/class/scsi_host/$host/link_power_management_policy"
power() {
    local name="$1" drive="$2" serial="$3" meter="$4"
    shift 4
    run "$name" ssdlab run power "$drive" --erase "$serial" --meter "$meter" --set settle=1s --set time=1s \
        --set random_span=4MiB --library "/tmp/runs-$name" --format json --quiet "$@"
    run "$name.json" cat "/tmp/runs-$name"/*/run.json
    run "$name.policy" cat "$policy"
}
# stop SIGNAL: as soon as the drive may rest.
stop() {
    (within 300 grep -q med_power "$policy"; sleep 1; killall "$1" ssdlab) &
}
echo medium_power > "$policy"
power power-sata "$SATA" SATA-ONE hwmon:ltc4151 --set rest=2s
stop -KILL
power power-killed "$SATA" SATA-ONE hwmon:ltc4151 --set rest=60s
run power-restored ssdlab restore-settings --format json
run power-restored.policy cat "$policy"
stop -KILL
power power-killed-again "$SATA" SATA-ONE hwmon:ltc4151 --set rest=60s
power power-next "$SATA" SATA-ONE stream:/tmp/watts --set rest=1s
stop -INT
power power-interrupted "$SATA" SATA-ONE stream:/tmp/watts --set rest=60s
power power-nvme "$NVME" NVME-ONE stream:/tmp/watts --set rest=1s --erase-signatures
kill $writer

# Faults.
echo "0 $sectors linear $BASE 0" | dmsetup create flaky
(within 300 written_to /dev/mapper/flaky 1000; dmsetup suspend --noflush flaky
    echo "0 $sectors error" | dmsetup reload flaky; dmsetup resume flaky) &
consistency flaky /dev/mapper/flaky --erase /dev/mapper/flaky $NO_FILL --set duration=60s
dmsetup remove flaky
(within 300 written_to "$GONE" 1000; echo 1 > "/sys/block/${GONE#/dev/}/device/device/remove") &
consistency gone "$GONE" --erase NVME-GONE $NO_FILL --set duration=60s
(within 300 sh -c "grep -q '\"method\"' /tmp/runs-killed/*/run.json"; sleep 1; killall -9 ssdlab) &
consistency killed "$BASE" --erase SATA-BASE --set fill=false --set duration=60s

# An NVMe disk that is an exposed simulated drive.
run exposed-size cat "/sys/block/${EXPOSED#/dev/}/size"
run exposed-written ssdlab verify "$EXPOSED" --erase NVME-EXPOSED --writes 1024 --journal /tmp/exposed --format json
run exposed-read ssdlab verify "$EXPOSED" --check --journal /tmp/exposed --format json
consistency exposed "$EXPOSED" --erase NVME-EXPOSED $SHORT

# Another one in its steady state, on a slow clock.
consistency steady "$STEADY" --erase NVME-STEADY $NO_FILL --set duration=34s --set steady_from=2s

# The kernel's own client of NBD, at a server in the machine; its flags are those that it has agreed on.
mount -t debugfs debug /sys/kernel/debug
ssdlab sim expose 'sim:samsung-840-pro-256gb?scale=1/1024' --nbd /tmp/nbd --control /tmp/control --contents /tmp/contents \
    --no-run --format json > /tmp/served 2> /tmp/said &
server=$!
run kernel-server await /tmp/nbd $server /tmp/said
# sums NAME: the first 66 MiB through the kernel, past its cache, and in the file of the server.
sums() {
    blockdev --flushbufs /dev/nbd0
    run "$1" sh -c 'dd if=/dev/nbd0 bs=1M count=66 iflag=direct | sha256sum
        dd if=/tmp/contents bs=1M count=66 | sha256sum'
}
run kernel-attached nbd-client -unix /tmp/nbd /dev/nbd0 -name '' -connections 2
run kernel-size cat /sys/block/nbd0/size
run kernel-flags cat /sys/kernel/debug/nbd/nbd0/flags
run kernel-read-only cat /sys/block/nbd0/ro
run kernel-cache cat /sys/block/nbd0/queue/write_cache
seq 2000000 | dd of=/dev/nbd0 bs=64k count=128 iflag=fullblock conv=fsync 2> /dev/null
seq 1000000 | dd of=/dev/nbd0 bs=1536 seek=40001 count=2000 iflag=fullblock conv=fsync 2> /dev/null
sums kernel-written
run kernel-filled ssdlab sim control /tmp/control status --format json
run kernel-discard blkdiscard -o 1048576 -l 4194304 /dev/nbd0
run kernel-discarded ssdlab sim control /tmp/control status --format json
run kernel-discarded.bytes sh -c "dd if=/dev/nbd0 bs=1M skip=1 count=4 iflag=direct | tr -d '\\000' | wc -c"
sums kernel-read
nbd-client -d /dev/nbd0
ssdlab sim control /tmp/control read-only on > /dev/null
nbd-client -unix /tmp/nbd /dev/nbd0 -name '' > /dev/null 2>&1
run protected-flags cat /sys/kernel/debug/nbd/nbd0/flags
run protected-read-only cat /sys/block/nbd0/ro
run protected-written dd if=/dev/zero of=/dev/nbd0 bs=4k count=1 conv=fsync
sums protected-read
nbd-client -d /dev/nbd0
# A server that does not end by itself ends by force.
(sleep 60; kill -9 $server 2> /dev/null) &
kill $server
wait $server
run kernel-served cat /tmp/served
