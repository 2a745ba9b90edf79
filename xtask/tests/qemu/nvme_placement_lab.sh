# ssdlab on a simulated drive with placement handles over NVMe/TCP, and on its twin. Sourced by guest.sh behind nvme_server.sh.

TWIN='sim:samsung-pm9a3-960gb?scale=1/8192&interface.logical_block_bytes=4096&interface.placement_handles=2'
serve handles "$TWIN" --clock real*80
run handles-connect $tcp --nr-io-queues=1
within 20 has_tcp_disk
HANDLED=$(tcp_disk)
GENERIC="/dev/ng${HANDLED#/dev/nvme}"
SERIAL=$(tr -d ' ' < "/sys/block/${HANDLED##*/}/device/serial")
run handles-of-block ssdlab plan placement "$HANDLED" --erase "$SERIAL" --format json
run handles-of-none ssdlab plan placement "/dev/ng${NVME#/dev/nvme}" --erase NVME-ONE --format json
run handles-unconfirmed ssdlab run placement "$GENERIC" --library /tmp/none --format json

# In the second handle alone.
printf '[job.%s]\nop = "write"\nblock = "64KiB"\npattern = "sequential"\nqueue_depth = 1\nbytes = "256KiB"\nplacement = 1\n' second \
    > /tmp/second.toml
run handles-status-before nvme fdp status "$HANDLED" -o json
run handles-second ssdlab run workload "$GENERIC" --workload /tmp/second.toml --set fill=false --purge nvme-format --erase "$SERIAL" \
    --library /tmp/runs-second --format json --quiet
run handles-status-after nvme fdp status "$HANDLED" -o json

# placed NAME TARGET ARGS...: a short run and its run.json.
placed() {
    local name="$1" library="/tmp/runs-$1"
    shift
    run "$name" ssdlab run placement "$@" --set overwrites=1 --library "$library" --format json --quiet
    run "$name.json" cat "$library"/*/run.json
}
run handles-books-before ssdlab sim control /tmp/handles-control status --format json
placed handles-generic "$GENERIC" --erase "$SERIAL" --erase-signatures --purge nvme-format
run handles-books-after ssdlab sim control /tmp/handles-control status --format json
run handles-status-end nvme fdp status "$HANDLED" -o json
placed handles-twin "$TWIN"
nvme disconnect -n "$NQN" > /dev/null
kill $server
wait $server
