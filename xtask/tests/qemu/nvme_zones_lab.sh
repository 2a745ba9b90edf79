# ssdlab on a simulated drive with zones over NVMe/TCP, and on its twin. Sourced by guest.sh behind nvme_server.sh.

TWIN='sim:wd-ultrastar-dc-zn540-1000gb?scale=1/256&zones.open_max=4&zones.active_max=5'
serve lab "$TWIN" --contents-max 64MiB --clock real*80
run lab-connect $tcp --nr-io-queues=2
within 20 has_tcp_disk
ZONED=$(tcp_disk)
SERIAL=$(tr -d ' ' < "/sys/block/${ZONED##*/}/device/serial")
run lab-disordered ssdlab plan zones "$ZONED" --erase "$SERIAL" --format json
in_order
run lab-other ssdlab plan consistency "$ZONED" --erase "$SERIAL" --format json
run lab-unconfirmed ssdlab run zones "$ZONED" --library /tmp/none --format json

# zones NAME TARGET ARGS...: a short run and its run.json.
zones() {
    local name="lab-$1" library="/tmp/runs-lab-$1"
    shift
    run "$name" ssdlab run zones "$@" --set bytes=1MiB --set open_zones=1,4 --set depths=1,8 --set orders=1 --set time=1s \
        --library "$library" --format json --quiet
    run "$name.json" cat "$library"/*/run.json
}
zones block "$ZONED" --erase "$SERIAL"
run lab-books ssdlab sim control /tmp/lab-control status --format json
zones generic "/dev/ng${ZONED#/dev/nvme}" --erase "$SERIAL"
zones twin "$TWIN"
nvme disconnect -n "$NQN" > /dev/null
kill $server
wait $server
