# A simulated drive over NVMe/TCP: the server, and the node that the kernel's own host makes of it. Sourced by guest.sh.

ifconfig lo 127.0.0.1 up
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-4333-8444-555555555555 > /etc/nvme/hostnqn
echo 11111111-2222-4333-8444-555555555555 > /etc/nvme/hostid

# serve NAME DRIVE OPTION...: starts a server; NQN is the name of its drive.
serve() {
    local name=$1 drive=$2
    shift 2
    ssdlab sim expose "$drive" --nvme 127.0.0.1:4420 --control "/tmp/$name-control" --no-run --format json "$@" \
        > "/tmp/$name-served" 2> "/tmp/$name-said" &
    server=$!
    run "$name-server" await "/tmp/$name-control" $server "/tmp/$name-said"
    within 20 grep -q 'at nvme' "/tmp/$name-said"
    NQN=$(sed -n 's/.* at nvme .* as //p' "/tmp/$name-said")
    tcp="nvme connect -t tcp -a 127.0.0.1 -s 4420 -n $NQN"
}

# tcp_disk: the node of the drive, once the kernel has made it.
tcp_disk() {
    local subsystem
    for subsystem in /sys/class/nvme-subsystem/*; do
        if [ "$(cat "$subsystem/subsysnqn")" = "$NQN" ]; then
            set -- "$subsystem"/nvme*n1
            [ -b "/dev/${1##*/}" ] && echo "/dev/${1##*/}"
        fi
    done
}
# in_order: lets the paths to drives keep the order of writes into a zone, which the node above a path has no scheduler for.
in_order() {
    local queue
    for queue in /sys/class/nvme-subsystem/*/nvme*/nvme*c*n1/queue; do echo mq-deadline > "$queue/scheduler"; done
}
has_tcp_disk() { [ -n "$(tcp_disk)" ]; }
