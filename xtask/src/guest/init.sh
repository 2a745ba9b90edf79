#!/bin/busybox sh
# The only process of the emulated machine. Runs guest.sh, and writes what each command said to the
# second serial port.

/bin/busybox --install -s /bin
export PATH=/bin DM_DISABLE_UDEV=1
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tracefs trace /sys/kernel/tracing
mkdir -p /run /mnt
stty -F /dev/ttyS1 raw
exec > /dev/ttyS1 2>&1
while read -r module setting; do insmod "/modules/$module" $setting; done < /modules/order > /dev/null 2>&1

# run NAME COMMAND...: the command's output, its talk and its exit code, between marks; returns that code.
run() {
    local name="$1"
    shift
    "$@" > /tmp/stdout 2> /tmp/stderr
    local code=$?
    echo "@@ begin $name"
    cat /tmp/stdout
    echo
    echo "@@ stderr"
    cat /tmp/stderr
    echo
    echo "@@ end $code"
    return $code
}

# await SOCKET PID LOG: waits for the socket of a server, at most a minute and as long as the server lives.
await() {
    local tries=0
    until [ -S "$1" ]; do
        if [ $tries -ge 600 ] || ! kill -0 "$2" 2> /dev/null; then
            echo "no socket $1 after $((tries / 10)) s; its server said:" >&2
            cat "$3" >&2
            return 1
        fi
        usleep 100000
        tries=$((tries + 1))
    done
}

. /guest.sh

echo "@@ done"
poweroff -f
