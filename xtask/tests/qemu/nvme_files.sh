# File systems on a simulated drive with zones over NVMe/TCP. Sourced by guest.sh behind nvme_server.sh.

# F2FS of this kernel needs zones that hold whole segments of 2 MiB.
serve files 'sim:wd-ultrastar-dc-zn540-1000gb?scale=1/64&zones.capacity_bytes=1073741824' --contents-max 300MiB
run files-connect $tcp --nr-io-queues=2
within 20 has_tcp_disk
ZONED=$(tcp_disk)
in_order
books() { run "files-$1" ssdlab sim control /tmp/files-control status --format json; }
sums() { run "files-$1" sh -c 'cd /mnt && sha256sum file1 file2 file3 program'; }

# F2FS keeps its own metadata on a disk without zones, and has hardly any room there for data.
PLAIN=/sys/kernel/config/nullb/plain
mkdir $PLAIN
for setting in memory_backed=1 size=128 blocksize=4096 power=1; do
    echo ${setting#*=} > $PLAIN/${setting%=*}
done
run files-mkfs mkfs.f2fs -f -m -c "$ZONED" /dev/plain
books fresh
run files-mount mount -t f2fs /dev/plain /mnt
for file in 1 2 3 4; do
    head -c 8388608 /dev/urandom > /mnt/file$file
done
sync
run files-rewrite fio --name=w --filename=/mnt/file1:/mnt/file2 --rw=randwrite --bs=4k --size=16m --ioengine=psync --fsync=256
rm /mnt/file4
cp /bin/fio /mnt/program
sync
sums written
run files-unmount umount /mnt
books f2fs
run files-mount-again mount -t f2fs /dev/plain /mnt
sums read
umount /mnt
run files-fsck fsck.f2fs --dry-run /dev/plain

# zonefs has a file for each zone but the first, which has a superblock: magic number, checksum, and zeroes.
blkzone reset "$ZONED"
(printf 'SFOZ\005\253\277\131'; head -c 4088 /dev/zero) | dd of="$ZONED" bs=4k iflag=fullblock oflag=direct 2> /dev/null
blkzone finish -c 1 "$ZONED"
run files-zonefs-mount mount -t zonefs "$ZONED" /mnt
run files-zonefs-list sh -c 'ls /mnt/seq | wc -l'
umount /mnt
nvme disconnect -n "$NQN" > /dev/null
kill $server
wait $server
