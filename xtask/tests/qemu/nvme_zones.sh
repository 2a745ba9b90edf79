# A simulated drive with zones over NVMe/TCP, on the kernel's own host. Sourced by guest.sh behind nvme_server.sh.

serve zones 'sim:wd-ultrastar-dc-zn540-1000gb?scale=1/64' --contents-max 128MiB
run zones-connect $tcp --nr-io-queues=2
within 20 has_tcp_disk
ZONED=$(tcp_disk)
run zones-queue sh -c "cd /sys/block/${ZONED##*/}/queue && cat zoned nr_zones chunk_sectors"
run zones-id nvme zns id-ns "$ZONED" -o json
run zones-fresh blkzone report -c 3 "$ZONED"

# The write pointer moves with data, and the kernel and the drive refuse another place.
yes ssdlab | dd of="$ZONED" bs=64k count=16 iflag=fullblock oflag=direct 2> /dev/null
run zones-elsewhere dd if=/dev/zero of="$ZONED" bs=64k seek=32 count=1 oflag=direct
run zones-written blkzone report -c 1 "$ZONED"
run zones-nvme nvme zns report-zones "$ZONED" -d 1 -o json
run zones-data sh -c "dd if=$ZONED bs=64k count=16 iflag=direct | sha256sum; yes ssdlab | dd bs=64k count=16 iflag=fullblock | sha256sum"
run zones-finish blkzone finish -c 1 "$ZONED"
run zones-finished blkzone report -c 1 "$ZONED"
run zones-reset blkzone reset -c 1 "$ZONED"
run zones-emptied blkzone report -c 1 "$ZONED"
run zones-emptied.bytes sh -c "dd if=$ZONED bs=64k count=16 iflag=direct | tr -d '\\000' | wc -c"

# Two jobs write zones of their own and read them back. With several writes outstanding in a zone, this kernel keeps their
# order under the scheduler mq-deadline alone.
in_order
run zones-scheduler sh -c 'cat /sys/class/nvme-subsystem/*/nvme*/nvme*c*n1/queue/scheduler'
run zones-fio fio --name=z --filename="$ZONED" --zonemode=zbd --rw=write --bs=128k --size=2z --offset_increment=4z --numjobs=2 \
    --io_size=16m --max_open_zones=4 --ioengine=libaio --iodepth=8 --direct=1 --verify=crc32c --verify_state_save=0
run zones-status ssdlab sim control /tmp/zones-control status --format json
nvme disconnect -n "$NQN" > /dev/null
kill $server
wait $server
run zones-troubles sh -c 'dmesg | grep -E "nvme nvme[0-9]+: (starting error|Reconnecting)"'
