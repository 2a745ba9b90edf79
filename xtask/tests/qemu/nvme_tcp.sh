# A simulated drive over NVMe/TCP on the kernel's own host, over loopback. Sourced by guest.sh behind nvme_server.sh.

serve tcp 'sim:samsung-840-pro-256gb?scale=1/1024&interface.logical_block_bytes=4096' --connections 20
status() { ssdlab sim control /tmp/tcp-control status --format json; }

run tcp-discover nvme discover -t tcp -a 127.0.0.1 -s 4420 -o json
run tcp-other $tcp-other
run tcp-connect $tcp --nr-io-queues=1
within 20 has_tcp_disk
TCP=$(tcp_disk)
run tcp-list nvme list -o json
run tcp-id-ctrl nvme id-ctrl "$TCP" -o json
run tcp-id-ns nvme id-ns "$TCP" -o json
run tcp-queue sh -c "cd /sys/block/${TCP##*/} && cat size queue/logical_block_size queue/write_cache queue/fua"
run tcp-mkfs mke2fs -b 4096 "$TCP"
mount -t ext4 "$TCP" /mnt
seq 1000000 > /mnt/numbers
cp /bin/fio /mnt/program
run tcp-written sh -c 'cd /mnt && sha256sum numbers program'
umount /mnt
nvme disconnect -n "$NQN" > /dev/null

# Several queues with digests. Each connection has its own checksum of each header and of all data.
run tcp-digests $tcp --nr-io-queues=2 --hdr-digest --data-digest
within 20 has_tcp_disk
TCP=$(tcp_disk)
mount -t ext4 "$TCP" /mnt
run tcp-read sh -c 'cd /mnt && sha256sum numbers program'
umount /mnt
run tcp-fio fio --name=v --filename="$TCP" --rw=randwrite --bsrange=4k-256k --size=24m --offset=64m --ioengine=libaio \
    --iodepth=16 --direct=1 --numjobs=2 --offset_increment=32m --verify=crc32c --verify_state_save=0
run tcp-fio-trim fio --name=t --filename="$TCP" --rw=randtrim --bs=64k --size=8m --offset=160m --ioengine=libaio --direct=1
sync
run tcp-status status
run tcp-smart nvme smart-log "$TCP" -o json
run tcp-ocp nvme ocp smart-add-log "$TCP" -o json
run tcp-discard blkdiscard -o 67108864 -l 67108864 "$TCP"
run tcp-discarded status
run tcp-discarded.bytes sh -c "dd if=$TCP bs=1M skip=64 count=64 iflag=direct | tr -d '\\000' | wc -c"

# ssdlab on the drive as on any other.
SERIAL=$(tr -d ' ' < "/sys/block/${TCP##*/}/device/serial")
run tcp-lab-list ssdlab list --format json
run tcp-lab-plan ssdlab plan consistency "$TCP" --erase "$SERIAL" --format json
run tcp-lab-before status
consistency tcp-lab-format "$TCP" --erase "$SERIAL" --erase-signatures --purge nvme-format --set duration=6s --set steady_from=2s
consistency tcp-lab-sanitize "$TCP" --erase "$SERIAL" --erase-signatures --purge nvme-sanitize-block --set duration=4s --set steady_from=1s
run tcp-lab-after status
run tcp-lab-ocp nvme ocp smart-add-log "$TCP" -o json

# A drive that fails, and one that takes no writes.
run tcp-media ssdlab sim control /tmp/tcp-control media-error 1048576 4096
run tcp-media-read dd if="$TCP" of=/dev/null bs=4k skip=256 count=1 iflag=direct
ssdlab sim control /tmp/tcp-control heal > /dev/null
ssdlab sim control /tmp/tcp-control read-only on > /dev/null
run tcp-protected dd if=/dev/zero of="$TCP" bs=4k count=1 oflag=direct
run tcp-errors nvme error-log "$TCP" -e 2 -o json
ssdlab sim control /tmp/tcp-control read-only off > /dev/null

# The commands that erase.
run tcp-format nvme format "$TCP" --lbaf=0 --ses=1 --force
within 20 sh -c "[ \$(cat /sys/block/${TCP##*/}/queue/logical_block_size) = 512 ]"
run tcp-formatted nvme id-ns "$TCP" -o json
run tcp-formatted-status status
yes ssdlab | dd of="$TCP" bs=1M count=8 iflag=fullblock oflag=direct 2> /dev/null
run tcp-sanitize nvme sanitize "$TCP" --sanact=2
run tcp-sanitized nvme sanitize-log "$TCP" -o json
run tcp-sanitized.bytes sh -c "dd if=$TCP bs=1M count=8 iflag=direct | tr -d '\\000' | wc -c"
run tcp-sanitized-status status

# Two namespaces, of which another host would have none.
for path in /sys/class/nvme/nvme*; do
    [ "$(cat "$path/subsysnqn")" = "$NQN" ] && CONTROLLER=/dev/${path##*/} ID=$(cat "$path/cntlid")
done
run tcp-divided nvme delete-ns "$CONTROLLER" -n 1
for blocks in 16384 32768; do
    run "tcp-created-$blocks" nvme create-ns "$CONTROLLER" --nsze=$blocks --ncap=$blocks --flbas=0
done
run tcp-allocated nvme list-ns "$CONTROLLER" --all -o json
for id in 1 2; do nvme attach-ns "$CONTROLLER" -n $id -c "$ID" > /dev/null; done
SECOND_PART=${TCP%n1}n2
within 20 [ -b "$SECOND_PART" ]
run tcp-parts sh -c "cat /sys/block/${TCP##*/}/size /sys/block/${SECOND_PART##*/}/size"
yes first | dd of="$TCP" bs=1M count=8 iflag=fullblock oflag=direct 2> /dev/null
yes second | dd of="$SECOND_PART" bs=1M count=16 iflag=fullblock oflag=direct 2> /dev/null
run tcp-first dd if="$TCP" bs=6 count=2 status=none
run tcp-second dd if="$SECOND_PART" bs=7 count=2 status=none
run tcp-parted status
run tcp-parted-id nvme id-ctrl "$CONTROLLER" -o json
nvme delete-ns "$CONTROLLER" -n 2 > /dev/null
within 20 sh -c "! [ -b $SECOND_PART ]"
run tcp-gone nvme list-ns "$CONTROLLER" -o json
run tcp-gone-status status
nvme disconnect -n "$NQN" > /dev/null
kill $server
wait $server
run tcp-served cat /tmp/tcp-served
run tcp-troubles sh -c 'dmesg | grep -E "nvme nvme[0-9]+: (starting error|Reconnecting)"'
