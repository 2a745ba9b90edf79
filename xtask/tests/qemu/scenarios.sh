# What the emulated machine does; the tests of the same names say why. Sourced by guest.sh.

SHORT="--set duration=2s --set steady_from=1s"
NO_FILL="--set purge=false --set fill=false"

# Commands, beside those of nvme-cli, sg3-utils and smartctl.
run list ssdlab list --format json
run nvme-id-ctrl nvme id-ctrl "$NVME" -o json
run sat-identify sg_sat_identify -H "$SATA"

# Purges.
run plan-nvme ssdlab plan consistency "$NVME" --format json
run plan-sata ssdlab plan consistency "$SATA" --format json
run plan-sata-security ssdlab plan consistency "$SATA" --purge ata-security-erase --format json
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
run sata-smart smartctl --json --attributes "$SATA"
run trim ssdlab run trim "$SATA" --erase SATA-ONE --set torture=2s --set idle=0s --library /tmp/runs-trim --format json --quiet
run trim.json cat /tmp/runs-trim/*/run.json
run sata-security ssdlab run consistency "$SATA" --erase SATA-ONE --purge ata-security-erase --format json

# Refusals.
mke2fs "$NVME" > /dev/null 2>&1
mount -t ext4 "$NVME" /mnt
run refused-mounted ssdlab run consistency "$NVME" --erase NVME-ONE --format json
umount /mnt
run refused-signature ssdlab run consistency "$NVME" --erase NVME-ONE --format json
run refused-serial ssdlab run consistency "$NVME" --erase NVME-TWO --format json
controller=${NVME%n1}
run refused-controller ssdlab run consistency "$controller" --erase NVME-ONE --format json

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
    consistency "$1" "/dev/$1" --erase "/dev/$1" $NO_FILL --set queue_depth=1 --set duration=4s
done
sectors=$(cat "/sys/block/${BASE#/dev/}/size")
echo "0 $sectors delay $BASE 0 5" | dmsetup create delayed
echo > /sys/kernel/tracing/trace
echo 1 > /sys/kernel/tracing/events/io_uring/io_uring_submit_sqe/enable
echo 1 > /sys/kernel/tracing/events/io_uring/io_uring_complete/enable
consistency delayed /dev/mapper/delayed --erase /dev/mapper/delayed $NO_FILL --set queue_depth=1 --set duration=4s
echo 0 > /sys/kernel/tracing/events/io_uring/enable
run delayed-trace cat /sys/kernel/tracing/trace
dmsetup remove delayed

# Faults.
echo "0 $sectors flakey $BASE 0 3 600" | dmsetup create flaky
consistency flaky /dev/mapper/flaky --erase /dev/mapper/flaky $NO_FILL --set duration=60s
dmsetup remove flaky
(sleep 3; echo 1 > "/sys/block/${GONE#/dev/}/device/device/remove") &
consistency gone "$GONE" --erase NVME-GONE $NO_FILL --set duration=60s
(sleep 3; killall -9 ssdlab) &
consistency killed "$BASE" --erase SATA-BASE --set fill=false --set duration=60s
