# A review of a simulated drive over NVMe/TCP, as of any drive. Sourced by guest.sh behind nvme_server.sh.

serve review 'sim:samsung-840-pro-256gb?scale=1/2048&interface.logical_block_bytes=4096'
run review-connect $tcp --nr-io-queues=1
within 20 has_tcp_disk
REVIEWED=$(tcp_disk)
SERIAL=$(tr -d ' ' < "/sys/block/${REVIEWED##*/}/device/serial")
run review-before ssdlab sim control /tmp/review-control status --format json
run review ssdlab review "$REVIEWED" --erase "$SERIAL" --purge nvme-format --only consistency,latency \
    --set consistency.duration=4s --set consistency.steady_from=2s --set latency.time=1s \
    --library /tmp/runs-review -o /tmp/review.html --format json --quiet
run review-after ssdlab sim control /tmp/review-control status --format json
run review-ocp nvme ocp smart-add-log "$REVIEWED" -o json
run review-runs sh -c 'cat /tmp/runs-review/*/run.json'
run review-page sh -ec 'head -c 15 "$1"; grep -q "id=\"ssdlab-data\">" "$1"; ! grep -q "id=\"ssdlab-data\">null" "$1"' - /tmp/review.html
nvme disconnect -n "$NQN" > /dev/null
kill $server
wait $server
