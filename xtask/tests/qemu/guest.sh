# The part of the tests in the emulated machine, after init.sh: runs ssdlab and the tools it is compared with; the tests
# judge what each said.

mount -t configfs config /sys/kernel/config

# disk SERIAL [END]: the node of the drive with this serial, of several the one with this end.
disk() {
    for block in /sys/block/*; do
        if cat "$block/device/serial" "$block/device/vpd_pg80" 2> /dev/null | grep -aq "$1"; then
            case "$block" in *"$2") echo "/dev/${block##*/}" ;; esac
        fi
    done
}

# within SECONDS COMMAND...: waits until the command succeeds, but not for ever.
within() {
    local tries=$(($1 * 10))
    shift
    until "$@" 2> /dev/null; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        usleep 100000
    done
}

# consistency NAME LIBRARY ARGS...: a short run, its run.json, and the run as `show` reads it.
consistency() {
    local name="$1" library="/tmp/runs-$1"
    shift
    run "$name" ssdlab run consistency "$@" --library "$library" --format json --quiet
    run "$name.json" cat "$library"/*/run.json
    run "$name.show" ssdlab show latest --library "$library" --format json
}

# traced NAME COMMAND...: the NVMe admin commands that it sends, and nothing else.
traced() {
    local name="$1"
    shift
    echo 'qid == 0' > /sys/kernel/tracing/events/nvme/nvme_setup_cmd/filter
    echo 1 > /sys/kernel/tracing/events/nvme/nvme_setup_cmd/enable
    echo > /sys/kernel/tracing/trace
    "$@" > /dev/null 2>&1
    echo 0 > /sys/kernel/tracing/events/nvme/nvme_setup_cmd/enable
    run "$name" cat /sys/kernel/tracing/trace
}

tries=0
while [ "$(ls -d /sys/block/nvme*n* /sys/block/sd* 2> /dev/null | wc -l)" -lt 10 ] && [ $tries -lt 100 ]; do
    usleep 100000
    tries=$((tries + 1))
done
NVME=$(disk NVME-ONE)
FIRST=$(disk NVME-TWO n1)
SECOND=$(disk NVME-TWO n2)
THIRD=$(disk NVME-TWO n3)
GONE=$(disk NVME-GONE)
BAD=$(disk NVME-BAD)
SATA=$(disk SATA-ONE)
BASE=$(disk SATA-BASE)
EXPOSED=$(disk NVME-EXPOSED)
STEADY=$(disk NVME-STEADY)

. /scenarios.sh
. /nvme_server.sh
. /nvme_tcp.sh
. /nvme_review.sh
. /nvme_zones.sh
. /nvme_zones_lab.sh
. /nvme_files.sh
. /nvme_placement.sh
. /nvme_placement_lab.sh
