# A simulated drive with placement handles over NVMe/TCP, on the kernel's own host. Sourced by guest.sh behind nvme_server.sh.

serve placement 'sim:samsung-pm9a3-960gb?scale=1/1024&interface.logical_block_bytes=4096&interface.placement_handles=4' --contents-max 64MiB
run placement-connect $tcp --nr-io-queues=1
within 20 has_tcp_disk
PLACED=$(tcp_disk)
placement() {
    local name=$1 what=$2
    shift 2
    run "placement-$name" nvme fdp "$what" "$PLACED" "$@" -o json
}
placement configs configs -e 1
placement usage usage -e 1
placement fresh status
run placement-listen nvme fdp set-events "$PLACED" --namespace-id=1 -p 0 --enable -t 0,3
head -c 262144 /dev/urandom > /tmp/data
# Handle 9 is none of the drive.
for handle in 1 3 9; do
    run "placement-write$handle" nvme write "$PLACED" -s $((handle * 64)) -c 63 -z 262144 -d /tmp/data -T 2 -S $handle
done
placement begun status
dd if=/dev/urandom of="$PLACED" bs=1M count=24 oflag=direct 2> /dev/null
run placement-update nvme fdp update "$PLACED" --namespace-id=1 -p 1,2
placement exchanged status
placement stats stats -e 1
placement events events -e 1 --host-events
run placement-books ssdlab sim control /tmp/placement-control status --format json
nvme disconnect -n "$NQN" > /dev/null
kill $server
wait $server
