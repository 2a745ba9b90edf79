//! An exposed drive beside the kernel's own NVMe target on memory, both over TCP in the emulated machine, in turns. The
//! emulated processors have no speed of their own: only the ratios count.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::engine::median::Median;
use crate::guest::{self, Machine};
use xtask::guest::records::Record;
use xtask::workspace::Workspace;

use super::protocols::DRIVE;

/// Queues of the host; the machine has as many processors.
const QUEUES: [u32; 2] = [1, 2];
const DIRECTIONS: [&str; 2] = ["write", "read"];
/// The targets as the records name them.
const TARGETS: [&str; 2] = ["ssdlab", "kernel"];
/// The used part, the same for both.
const SPAN_MIB: u32 = 64;

/// Medians of both, and of the ratios of neighbouring turns, for each number of queues and direction.
pub(super) fn measure(
    workspace: &Workspace,
    program: &Path,
    turns: usize,
    seconds: u32,
) -> Result<Vec<Value>> {
    let machine = Machine {
        programs: &["nvme", "fio"],
        modules: &["nvme-tcp", "null_blk", "nvmet-tcp"],
        ssdlab: program,
        memory_mib: 2600,
    };
    let records = machine.run(workspace, &script(turns, seconds))?;
    guest::check(&records, |_| true)?;
    let cases = QUEUES.into_iter().flat_map(|queues| DIRECTIONS.map(|it| (queues, it)));
    cases.map(|(queues, direction)| case(&records, queues, direction, turns)).collect()
}

fn case(
    records: &BTreeMap<String, Record>,
    queues: u32,
    direction: &str,
    turns: usize,
) -> Result<Value> {
    let mut samples: [Vec<f64>; 3] = Default::default();
    for turn in 1..=turns {
        let iops = |target: &str| iops(records, &record_name(target, queues, direction, turn));
        let [own, other] = TARGETS.map(iops);
        let (own, other) = (own?, other?);
        for (sample, value) in samples.iter_mut().zip([own, other, own / other]) {
            sample.push(value);
        }
    }
    let [own, other, ratio] = samples.map(Median::of);
    Ok(json!({
        "direction": direction, "queues": queues,
        "ssdlab_iops": own.value, "kernel_iops": other.value,
        "ratio": ratio.value, "ratio_interval": ratio.interval(),
    }))
}

fn record_name(target: &str, queues: u32, direction: &str, turn: usize) -> String {
    format!("{target}-{queues}-{direction}-{turn}")
}

/// IOPS of a turn, as fio tells them.
fn iops(records: &BTreeMap<String, Record>, name: &str) -> Result<f64> {
    let record = records.get(name).with_context(|| format!("no record of {name}"))?;
    let document: Value = serde_json::from_str(&record.stdout)
        .with_context(|| format!("fio's document in {name}: {record:?}"))?;
    let direction = if name.contains("write") { "write" } else { "read" };
    let iops = document["jobs"][0][direction]["iops"].as_f64();
    iops.filter(|&iops| iops > 0.0).with_context(|| format!("{name}: fio tells no IOPS"))
}

/// The commands in the machine.
fn script(turns: usize, seconds: u32) -> String {
    let mut script = targets();
    for queues in QUEUES {
        script += &format!("connect {queues}\n");
        for direction in DIRECTIONS {
            for turn in 1..=turns {
                for place in 0..TARGETS.len() {
                    // They take turns in going first.
                    let target = TARGETS[(place + turn) % TARGETS.len()];
                    let name = record_name(target, queues, direction, turn);
                    script += &format!(
                        "must {name} load {target} --rw=rand{direction} --bs=4k --iodepth=32 --numjobs={queues} \
                         --norandommap --randrepeat=0 --time_based --runtime={seconds}\n"
                    );
                }
            }
        }
        script += "disconnect\n";
    }
    script
}

/// Both targets, each on a port of its own, and the words of the script. Both keep their data in memory.
fn targets() -> String {
    format!(
        "ifconfig lo 127.0.0.1 up
mkdir -p /etc/nvme
echo nqn.2014-08.org.nvmexpress:uuid:11111111-2222-4333-8444-555555555555 > /etc/nvme/hostnqn
echo 11111111-2222-4333-8444-555555555555 > /etc/nvme/hostid
mount -t configfs config /sys/kernel/config
disk=/sys/kernel/config/nullb/kernel
mkdir $disk
for setting in memory_backed=1 size={SPAN_MIB} blocksize=4096 submit_queues=2 irqmode=0 power=1; do
    echo ${{setting#*=}} > $disk/${{setting%=*}}
done
space=/sys/kernel/config/nvmet/subsystems/kernel/namespaces/1
mkdir -p ${{space%/namespaces/1}} && mkdir $space
echo 1 > ${{space%/namespaces/1}}/attr_allow_any_host
printf /dev/kernel > $space/device_path
echo 1 > $space/enable
port=/sys/kernel/config/nvmet/ports/1
mkdir $port
for setting in trtype=tcp adrfam=ipv4 traddr=127.0.0.1 trsvcid=4421; do
    printf ${{setting#*=}} > $port/addr_${{setting%=*}}
done
ln -s ${{space%/namespaces/1}} $port/subsystems/kernel
ssdlab sim expose '{DRIVE}' --nvme 127.0.0.1:4420 --control /tmp/control --clock fast --no-run \\
    > /tmp/served 2> /tmp/said &
must server await /tmp/control $! /tmp/said
until grep -q 'at nvme' /tmp/said; do usleep 100000; done
ssdlab=$(sed -n 's/.* at nvme .* as //p' /tmp/said)
# name TARGET: the name of its subsystem.
name() {{ case $1 in ssdlab) echo $ssdlab ;; kernel) echo kernel ;; esac; }}
# disk TARGET: the node of its namespace.
disk() {{
    local subsystem
    for subsystem in /sys/class/nvme-subsystem/*; do
        if [ \"$(cat $subsystem/subsysnqn)\" = $(name $1) ]; then
            set -- $subsystem/nvme*n1
            echo /dev/${{1##*/}}
        fi
    done
}}
# load TARGET OPTION...: fio on it.
load() {{
    local disk=$(disk $1)
    shift
    fio --name=load --filename=$disk --ioengine=libaio --direct=1 --size={SPAN_MIB}m --group_reporting \\
        --output-format=json \"$@\"
}}
# connect QUEUES: connects both, and writes the used part once.
connect() {{
    for port in 4420:ssdlab 4421:kernel; do
        must connect-$1-${{port#*:}} nvme connect -t tcp -a 127.0.0.1 -s ${{port%:*}} -n $(name ${{port#*:}}) --nr-io-queues=$1
        until [ -b \"$(disk ${{port#*:}})\" ]; do usleep 100000; done
        must fill-$1-${{port#*:}} load ${{port#*:}} --rw=write --bs=128k --iodepth=8
    done
}}
disconnect() {{
    for target in ssdlab kernel; do nvme disconnect -n $(name $target) > /dev/null; done
}}
"
    )
}
