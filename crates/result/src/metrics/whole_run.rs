//! Rows of figures of a whole run: of the consistency test and of replays.

use super::metric::Better::{Higher, Lower};
use super::metric::Row;
use super::metric::Scaling::{Kept, KeptWhenSteady, KeptWithoutCleaning, Lost};
use super::metric::Unit::{Count, Iops, MbPerS, Ns, Ratio, S, Share, Us};

pub(super) const THROUGHPUT: [Row; 5] = [
    (
        "iops_steady_mean",
        "Steady state, mean",
        Iops,
        Some(Higher),
        Kept,
        "Commands completed per second, averaged over the steady-state part of the run: the pace \
         the drive keeps for good. Unknown if the drive was not in steady state there: the fresh \
         figures then take their place, as for all figures of steady state.",
    ),
    (
        "iops_steady_min",
        "Steady state, slowest second",
        Iops,
        Some(Higher),
        Lost,
        "The worst single second of the steady-state part. Zero means that for a whole second no \
         command completed.",
    ),
    (
        "iops_steady_max",
        "Steady state, fastest second",
        Iops,
        None,
        Lost,
        "The best single second of the steady-state part. A high value is good only if the \
         slowest second is near it.",
    ),
    (
        "iops_peak_mean_first_60s",
        "First minute, mean",
        Iops,
        Some(Higher),
        Lost,
        "The pace of a fresh drive, while it still has erased blocks. Light use mostly sees this \
         one.",
    ),
    (
        "iops_mean",
        "Whole load, mean",
        Iops,
        Some(Higher),
        Lost,
        "All commands of the load divided by its length: the fresh minutes, the fall and the \
         steady state together. It depends on the length of the run, so compare only runs of one \
         length.",
    ),
];

/// Figures of the steady-state part of a load over which the drive was not in steady state.
pub(super) const FRESH: [Row; 8] = [
    (
        "iops_fresh_mean",
        "Fresh, mean",
        Iops,
        Some(Higher),
        KeptWithoutCleaning,
        "Commands completed per second over the part of the load that steady state should have \
         had: the drive was not in steady state, so it does not keep this pace. Unknown where it \
         was.",
    ),
    (
        "iops_fresh_min",
        "Fresh, slowest second",
        Iops,
        Some(Higher),
        Lost,
        "The worst single second of that part. The drive was not in steady state.",
    ),
    (
        "iops_fresh_max",
        "Fresh, fastest second",
        Iops,
        None,
        Lost,
        "The best single second of that part. The drive was not in steady state.",
    ),
    (
        "iops_fresh_stddev",
        "Fresh, standard deviation",
        Iops,
        None,
        Lost,
        "Sample standard deviation of the seconds of that part. The drive was not in steady state.",
    ),
    (
        "iops_fresh_cv",
        "Fresh, coefficient of variation",
        Share,
        Some(Lower),
        Lost,
        "Standard deviation divided by the mean, over that part. The drive was not in steady state.",
    ),
    (
        "iops_fresh_jitter_share",
        "Fresh, jitter",
        Share,
        Some(Lower),
        Lost,
        "Variation from second to second: standard deviation of the differences between neighbouring seconds, divided by \
         the root of 2 and by the mean, over that part. The drive was not in steady state.",
    ),
    (
        "iops_fresh_drift_share",
        "Fresh, drift",
        Share,
        Some(Lower),
        Lost,
        "Slow variation: standard deviation of the running mean over 60 s, divided by the mean, over that part. The \
         drive was not in steady state.",
    ),
    (
        "waf_fresh",
        "Fresh, write amplification",
        Ratio,
        Some(Lower),
        KeptWithoutCleaning,
        "Pages programmed into NAND for each page the host wrote, over that part. The drive was \
         not in steady state.",
    ),
];

pub(super) const EVENNESS: [Row; 10] = [
    (
        "notice_waits",
        "Waits of 0.1 s or longer",
        Count,
        Some(Lower),
        Lost,
        "Commands of the whole load that took so long that a person would feel it. The good value \
         is 0.",
    ),
    (
        "notice_waited_s",
        "Sum of those waits",
        S,
        Some(Lower),
        Lost,
        "Sum of the latencies of all commands that took 0.1 s or longer, from the lower edges of \
         their histogram bins. Commands that wait side by side count each; unknown if the sum is \
         longer than the load.",
    ),
    (
        "notice_slow_seconds_share",
        "Seconds below 50 MB/s",
        Share,
        Some(Lower),
        Lost,
        "Share of all seconds that moved less than 50 MB/s. By the rule of thumb of the reviews \
         of the time, 50 MB/s of random writes serve a desktop. Unknown if the test sets the \
         rate.",
    ),
    (
        "iops_steady_cv",
        "Steady coefficient of variation",
        Share,
        Some(Lower),
        Lost,
        "Standard deviation divided by the mean, over the steady-state part: the typical distance \
         of a second from the mean, as a share of it. Comparable between fast and slow drives.",
    ),
    (
        "iops_steady_jitter_share",
        "Steady jitter",
        Share,
        Some(Lower),
        Lost,
        "Variation from second to second: standard deviation of the differences between neighbouring seconds, divided by \
         the root of 2 and by the mean, over the steady-state part.",
    ),
    (
        "iops_steady_drift_share",
        "Steady drift",
        Share,
        Some(Lower),
        Lost,
        "Slow variation: standard deviation of the running mean over 60 s, divided by the mean, over the steady-state part.",
    ),
    (
        "iops_steady_stddev",
        "Steady standard deviation",
        Iops,
        None,
        Lost,
        "Sample standard deviation of the seconds of the steady-state part, in IOPS. Faster \
         drives have larger ones; compare the coefficient of variation instead.",
    ),
    (
        "seconds_below_half_mean_share",
        "Seconds below half the mean",
        Share,
        Some(Lower),
        Lost,
        "Share of steady-state seconds in which the drive did less than half of its own mean: how \
         often it stumbles.",
    ),
    (
        "last400_stddev",
        "Last 400 s, standard deviation",
        Iops,
        None,
        Lost,
        "Standard deviation over the last 400 seconds of the run, one of the two consistency \
         numbers that reviews used from 2015 on. Unknown in shorter runs.",
    ),
    (
        "last400_mean_over_stddev",
        "Last 400 s, mean over deviation",
        Ratio,
        Some(Higher),
        Lost,
        "Mean divided by standard deviation over the last 400 seconds, the other of the two \
         numbers: larger is more even. Unknown in shorter runs.",
    ),
];

pub(super) const WHEN: [Row; 2] = [
    (
        "fall_start_s",
        "The fall begins",
        S,
        Some(Higher),
        Lost,
        "Seconds of full load until the pace first breaks: how long the erased blocks last. Later \
         is better; a larger spare area moves it. Unknown if the pace never breaks.",
    ),
    (
        "steady_start_s",
        "Steady state is reached",
        S,
        None,
        Lost,
        "From here on the pace keeps its level until the end, by the rule of the SNIA PTS for five \
         equal parts, and a simulated drive cleans up; unknown if it never settles, or was not in \
         steady state. Found by change-point detection, so it may differ from the second at which \
         the steady-state graphs begin.",
    ),
];

/// For all commands of a replay, for its reads and for its writes.
pub(super) const REPLAY_BY_KIND: [Row; 3] = [
    (
        "avg_data_rate_mb_per_s",
        "Average data rate",
        MbPerS,
        Some(Higher),
        Lost,
        "Bytes moved divided by busy time: the pauses of the person at the keyboard do not count.",
    ),
    (
        "busy_time_s",
        "Busy time",
        S,
        Some(Lower),
        Lost,
        "Time with at least one command outstanding: how long the drive kept somebody waiting.",
    ),
    (
        "avg_service_time_us",
        "Average service time",
        Us,
        Some(Lower),
        Lost,
        "Mean time from issue to completion. Commands that wait in a queue weigh heavily.",
    ),
];

pub(super) const REPLAY: [Row; 4] = [
    (
        "completion_time_s",
        "Time to complete",
        S,
        Some(Lower),
        Lost,
        "Time from the begin of the replay to its end, with the pauses that its idle policy keeps.",
    ),
    (
        "queue_depth_mean",
        "Queue depth, mean",
        Ratio,
        None,
        Lost,
        "Commands outstanding at issue, the new one included.",
    ),
    (
        "queue_depth_1_share",
        "Issued to an idle drive",
        Share,
        None,
        Lost,
        "Share of commands that were the only one outstanding.",
    ),
    (
        "address_folded_share",
        "On addresses of other data",
        Share,
        Some(Lower),
        Kept,
        "Share of commands whose recorded address had no room on the target, so that they fell on \
         addresses of other data. Above 0 the trace was too large for the target.",
    ),
];

/// Lateness of the commands of a replay with a time of their own: the accuracy of the replay.
pub(super) const LATENESS: [Row; 6] = [
    (
        "issue_lateness_ns_mean",
        "Lateness of issue, mean",
        Ns,
        Some(Lower),
        Lost,
        "Mean time by which commands that have a time of their own were issued after it.",
    ),
    (
        "issue_lateness_ns_p50",
        "Lateness of issue, median (p50)",
        Ns,
        Some(Lower),
        Lost,
        "Half of the commands that have a time of their own were issued no later than this after \
         it.",
    ),
    (
        "issue_lateness_ns_p99",
        "Lateness of issue, p99",
        Ns,
        Some(Lower),
        Lost,
        "99 of 100 commands that have a time of their own were issued no later than this after \
         it: how faithful the replay was.",
    ),
    (
        "issue_lateness_ns_p999",
        "Lateness of issue, p99.9",
        Ns,
        Some(Lower),
        Lost,
        "One in 1,000 commands that have a time of their own was issued later than this after it.",
    ),
    (
        "issue_lateness_ns_p9999",
        "Lateness of issue, p99.99",
        Ns,
        Some(Lower),
        Lost,
        "One in 10,000 commands that have a time of their own was issued later than this after it.",
    ),
    (
        "issue_lateness_ns_max",
        "Lateness of issue, longest",
        Ns,
        Some(Lower),
        Lost,
        "The largest time by which a command with a time of its own was issued after it.",
    ),
];

pub(super) const INSIDE: [Row; 4] = [
    (
        "waf_steady",
        "Write amplification, steady state",
        Ratio,
        Some(Lower),
        Kept,
        "Pages programmed into NAND for each page the host wrote. 1 is ideal without compression; \
         4 means that the drive makes three of four writes to clean up after itself, and that it \
         wears out four times as fast. Simulated drives only.",
    ),
    (
        "controller_busy_steady_share",
        "Controller busy, steady state",
        Share,
        None,
        Kept,
        "Share of the time in which the controller worked on commands and on pages that are \
         moved. At 100% the controller limits the drive. Simulated drives only.",
    ),
    (
        "channel_busy_steady_share",
        "Channels busy, steady state",
        Share,
        None,
        Kept,
        "Mean share of the channels that carried data between controller and dies. Simulated \
         drives only.",
    ),
    (
        "die_busy_steady_share",
        "Dies busy, steady state",
        Share,
        None,
        Kept,
        "Mean share of the NAND dies that read, programmed or erased. At 100% the dies limit the \
         drive. Simulated drives only.",
    ),
];

/// Figures of a replay, by the ends of their names.
pub(super) const LATENCIES: [Row; 6] = [
    (
        "mean",
        "mean",
        Ns,
        Some(Lower),
        KeptWhenSteady,
        "Sum of all latencies divided by their number. At a fixed queue depth it mirrors the IOPS.",
    ),
    (
        "p50",
        "median (p50)",
        Ns,
        Some(Lower),
        KeptWhenSteady,
        "Half of all commands took no longer than this. At a fixed queue depth it mostly mirrors \
         the IOPS.",
    ),
    (
        "p99",
        "p99",
        Ns,
        Some(Lower),
        KeptWithoutCleaning,
        "99 of 100 commands took no longer than this; one in a hundred did.",
    ),
    (
        "p999",
        "p99.9",
        Ns,
        Some(Lower),
        KeptWithoutCleaning,
        "One command in 1,000 took longer than this.",
    ),
    (
        "p9999",
        "p99.99",
        Ns,
        Some(Lower),
        KeptWithoutCleaning,
        "One command in 10,000 took longer than this. A busy drive reaches it many times a minute.",
    ),
    (
        "max",
        "longest",
        Ns,
        Some(Lower),
        Lost,
        "The slowest single command. From about 0.1 s on a person can feel it as a hitch.",
    ),
];

/// Work of the drive during a replay.
pub(super) const REPLAY_INSIDE: [Row; 3] = [
    (
        "waf",
        "Write amplification, replay",
        Ratio,
        Some(Lower),
        Kept,
        "Pages programmed into NAND for each page that the replay wrote, counted by the simulated \
         drive or by the drive's own counters. Unknown if the drive counts no NAND writes.",
    ),
    (
        "gc_moved_pages",
        "Pages moved, replay",
        Count,
        Some(Lower),
        Lost,
        "Valid pages of 4,096 bytes that garbage collection moved during the replay. Simulated \
         drives only.",
    ),
    (
        "erased_superblocks",
        "Superblocks erased, replay",
        Count,
        Some(Lower),
        Lost,
        "Superblocks that the drive erased during the replay. Simulated drives only.",
    ),
];

/// Times in the drive of a replay in the open form, whose latencies count from the recorded times.
pub(super) const DEVICE_LATENCIES: [Row; 6] = [
    (
        "device_latency_ns_mean",
        "Time in the drive, mean",
        Ns,
        Some(Lower),
        Lost,
        "Mean time from issue to completion in a replay of the open form, whose latencies count \
         from the recorded times.",
    ),
    (
        "device_latency_ns_p50",
        "Time in the drive, median (p50)",
        Ns,
        Some(Lower),
        Lost,
        "Half of all commands of a replay of the open form took no longer from issue to completion.",
    ),
    (
        "device_latency_ns_p99",
        "Time in the drive, p99",
        Ns,
        Some(Lower),
        Lost,
        "99 of 100 commands of a replay of the open form took no longer from issue to completion: \
         without the wait for room in the queue.",
    ),
    (
        "device_latency_ns_p999",
        "Time in the drive, p99.9",
        Ns,
        Some(Lower),
        Lost,
        "One in 1,000 commands of a replay of the open form took longer from issue to completion.",
    ),
    (
        "device_latency_ns_p9999",
        "Time in the drive, p99.99",
        Ns,
        Some(Lower),
        Lost,
        "One in 10,000 commands of a replay of the open form took longer from issue to completion.",
    ),
    (
        "device_latency_ns_max",
        "Time in the drive, longest",
        Ns,
        Some(Lower),
        Lost,
        "The longest time from issue to completion in a replay of the open form.",
    ),
];
