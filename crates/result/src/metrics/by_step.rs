//! Rows of figures of single steps, and of tests with their own figures.

use super::metric::Better::{Higher, Lower};
use super::metric::Row;
use super::metric::Scaling::{Kept, KeptWhenSteady, KeptWithoutCleaning, Lost};
use super::metric::Unit::{Bytes, Count, Iops, JPerGb, MbPerS, Min, Ns, Ratio, S, Share, W};

/// Figures of single steps and of tests with their own figures.
pub(super) const STEPS: [Row; 40] = [
    (
        "pts-hir.steady.iops",
        "IOPS, steady state",
        Iops,
        Some(Higher),
        Kept,
        "Mean over the steady window, without pauses.",
    ),
    (
        "pts-hir.<step>.iops",
        "IOPS after a pause",
        Iops,
        Some(Higher),
        Lost,
        "Mean of the bursts after a pause of this length.",
    ),
    (
        "pts-write-saturation.first.iops",
        "IOPS of the first step",
        Iops,
        Some(Higher),
        Lost,
        "Commands completed in the first step divided by its length.",
    ),
    (
        "pts-write-saturation.steady.iops",
        "IOPS, steady state",
        Iops,
        Some(Higher),
        Kept,
        "Mean over the steady window. Unknown without a steady state.",
    ),
    (
        "<test>.<step>.iops",
        "IOPS",
        Iops,
        Some(Higher),
        KeptWhenSteady,
        "Commands completed in the step divided by its length.",
    ),
    (
        "<test>.<step>.mb_per_s",
        "Data rate",
        MbPerS,
        Some(Higher),
        KeptWhenSteady,
        "Bytes moved in the step divided by its length; of `pts-xsr`, the mean of the last five \
         steps of the group.",
    ),
    (
        "<test>.<step>.mb_per_s_min",
        "Data rate of the slowest zone",
        MbPerS,
        Some(Higher),
        KeptWithoutCleaning,
        "Rate of the slowest zone in a pass over the address space.",
    ),
    (
        "<test>.<step>.mb_per_s_p5",
        "Data rate, 5th percentile of the zones",
        MbPerS,
        Some(Higher),
        KeptWithoutCleaning,
        "5% of the zones of the pass are slower than this.",
    ),
    (
        "<test>.<step>.mb_per_s_max",
        "Data rate of the fastest zone",
        MbPerS,
        None,
        KeptWithoutCleaning,
        "Rate of the fastest zone in a pass over the address space.",
    ),
    (
        "<test>.<step>.fast_bytes",
        "Written fast",
        Bytes,
        Some(Higher),
        Lost,
        "Bytes written before the rate first falls: what the fast cache holds. Unknown without a \
         fall.",
    ),
    (
        "<test>.<step>.fast_mb_per_s",
        "Data rate before the fall",
        MbPerS,
        Some(Higher),
        Kept,
        "Mean rate until the rate first falls.",
    ),
    (
        "<test>.<step>.slow_mb_per_s",
        "Data rate after the fall",
        MbPerS,
        Some(Higher),
        Kept,
        "Mean rate from the fall on. Unknown without a fall.",
    ),
    (
        "sustained.<step>.end_mb_per_s",
        "Data rate of the last tenth",
        MbPerS,
        Some(Higher),
        Kept,
        "Mean rate over the last tenth of the write of the whole span: what is left of long copies.",
    ),
    (
        "sustained.<step>.regained_share",
        "Regained after a pause",
        Share,
        Some(Higher),
        Lost,
        "Of the difference between the rate before the first fall and that of the last tenth, the \
         share that the burst after the pause has again. Unknown if the rate did not fall.",
    ),
    (
        "power.<step>.power_w_mean",
        "Power, mean",
        W,
        Some(Lower),
        KeptWhenSteady,
        "Mean power over the state.",
    ),
    (
        "power.<step>.power_w_max",
        "Power, peak",
        W,
        Some(Lower),
        KeptWithoutCleaning,
        "Highest single reading of the meter; of a simulated drive the highest whole second.",
    ),
    (
        "power.<step>.energy_j_per_gb",
        "Energy for each GB",
        JPerGb,
        Some(Lower),
        KeptWhenSteady,
        "Energy for 10^9 bytes written. It compares drives of different speed.",
    ),
    (
        "pts-xsr.<step>.first_mb_per_s",
        "Data rate of the first step",
        MbPerS,
        Some(Higher),
        Lost,
        "Rate in the first step of the group.",
    ),
    (
        "pts-xsr.recovery_s",
        "Recovery",
        S,
        Some(Lower),
        Lost,
        "Time from the return to sequential writes until they reach nine tenths of their first \
         level. Unknown if they never do.",
    ),
    (
        "pts-write-saturation.written_bytes",
        "Written in all",
        Bytes,
        None,
        Lost,
        "Bytes written until the test ended.",
    ),
    (
        "pts-write-saturation.minutes",
        "Length",
        Min,
        None,
        Lost,
        "Steps of the test; each is one minute unless they are shortened.",
    ),
    (
        "load-latency.<step>.knee_share",
        "Load at the knee",
        Share,
        Some(Higher),
        KeptWithoutCleaning,
        "Share of the saturated rate with the largest ratio of rate to mean latency: from there on, \
         more load costs more time than it brings work.",
    ),
    (
        "fill-level.<step>.kept_level_share",
        "Fill level with 80% of the rate at 50%",
        Share,
        Some(Higher),
        KeptWhenSteady,
        "The highest level, from 50% of the span on, before the first one at which random writes over the \
         filled part have less than 80% of their rate at 50%.",
    ),
    (
        "fill-level.<step>.turn_level_share",
        "Fill level after the steepest fall",
        Share,
        Some(Higher),
        KeptWhenSteady,
        "The level whose rate of random writes is furthest below that of the level before it; none if no \
         fall reaches 20%.",
    ),
    (
        "matrix.<step>.kept_share",
        "Cells whose rates were kept",
        Share,
        Some(Higher),
        KeptWithoutCleaning,
        "Share of the cells in which the drive did at least 97% of the offered reads and of the \
         offered writes.",
    ),
    (
        "neighbours.<step>.slowdown",
        "Slowdown beside the noise",
        Ratio,
        Some(Lower),
        KeptWithoutCleaning,
        "99th percentile of the latency of the quiet job beside the noisy one, divided by that alone.",
    ),
    (
        "feel.day.time_s",
        "Time of everyday work in a day",
        S,
        Some(Lower),
        KeptWithoutCleaning,
        "Time until each load is done, times the number of times that a person does it in a day (assumed; the \
         table has them), over all loads. Unknown unless every load was done in full.",
    ),
    (
        "feel.<step>.time_s",
        "Time until done",
        S,
        Some(Lower),
        KeptWithoutCleaning,
        "From the begin of the load to the end of its last command, with the pauses of the processor. Nobody \
         feels a difference below 0.1 s.",
    ),
    (
        "feel.<step>.waits",
        "Waits of 0.1 s or longer",
        Count,
        Some(Lower),
        KeptWithoutCleaning,
        "Commands of the load that took so long that a person would feel it. The good value is 0.",
    ),
    (
        "feel.<step>.missed_frames",
        "Missed frames",
        Count,
        Some(Lower),
        KeptWithoutCleaning,
        "Frames whose read took longer than the frame, to within a bin of the histogram (0.8%), or found no \
         room in the queue.",
    ),
    (
        "feel.<step>.missed_frames_share",
        "Missed frames, share",
        Share,
        Some(Lower),
        KeptWithoutCleaning,
        "Missed frames divided by all frames.",
    ),
    (
        "mixed-sizes.<step>.of_expected_share",
        "Commands, of the expected ones",
        Share,
        Some(Higher),
        KeptWhenSteady,
        "IOPS of the mix divided by those of commands that take the time that they take among their \
         own size. Less than 100% is the cost of the mix.",
    ),
    (
        "<test>.<step>.waf",
        "Write amplification",
        Ratio,
        Some(Lower),
        Kept,
        "Pages programmed into NAND for each page the host wrote, counted by the simulated drive or \
         by the drive's own counters. Unknown if the drive counts no NAND writes.",
    ),
    (
        "<test>.<step>.gc_moved_pages",
        "Pages moved",
        Count,
        Some(Lower),
        Lost,
        "Valid pages of 4,096 bytes that garbage collection moved in the step. Simulated drives only.",
    ),
    (
        "<test>.<step>.erased_superblocks",
        "Superblocks erased",
        Count,
        Some(Lower),
        Lost,
        "Superblocks that the drive erased in the step. Simulated drives only.",
    ),
    (
        "<test>.<step>.waf_implied",
        "Write amplification implied by the rate",
        Ratio,
        Some(Lower),
        Lost,
        "Rate of the first writes after a fill divided by the rate of the step: too high where \
         cleaning also reads, too low where the controller limits the first rate. It compares a \
         drive only with itself.",
    ),
    (
        "<test>.<step>.outstanding",
        "Commands outstanding",
        Count,
        None,
        Kept,
        "Commands outstanding at this point of the demand variation.",
    ),
    (
        "pts-throughput.steady_mean",
        "Steady state, mean",
        MbPerS,
        Some(Higher),
        Kept,
        "Mean of the tracked rate over the steady window. Unknown without a steady state.",
    ),
    (
        "pts-latency.steady_mean",
        "Steady state, mean",
        Ns,
        Some(Lower),
        Kept,
        "Mean of the tracked latency over the steady window. Unknown without a steady state.",
    ),
    (
        "<test>.<step>.latency_ns_p99999",
        "Latency, p99.999",
        Ns,
        Some(Lower),
        KeptWithoutCleaning,
        "One command in 100,000 took longer than this.",
    ),
];

/// Convergence of a PTS test or of one of its stages; the ends of the names.
pub(super) const CONVERGENCE: [Row; 5] = [
    ("rounds", "Rounds", Count, None, Lost, "Rounds that were run."),
    (
        "steady_from_round",
        "Steady state, first round",
        Count,
        None,
        Lost,
        "First round of the steady window. Unknown without a steady state.",
    ),
    (
        "steady_mean",
        "Steady state, mean",
        Iops,
        Some(Higher),
        Kept,
        "Mean of the tracked figure over the steady window. Unknown without a steady state.",
    ),
    (
        "steady_range_share",
        "Steady state, range",
        Share,
        None,
        Lost,
        "Largest minus smallest value of the steady window, divided by its mean; at most 20% by \
         the specification.",
    ),
    (
        "steady_slope_share",
        "Steady state, trend",
        Share,
        None,
        Lost,
        "Excursion of the regression line over the steady window, divided by its mean; at most \
         10% by the specification.",
    ),
];

/// Passes of the TRIM test relative to the fresh ones; the ends of the names.
pub(super) const TRIM: [Row; 8] = [
    (
        "tortured_share",
        "Speed after torture",
        Share,
        None,
        Kept,
        "Rate of the pass after torture divided by that of the fresh passes around it, mean over the \
         rounds.",
    ),
    (
        "tortured_share_high",
        "Speed after torture, upper end",
        Share,
        None,
        Kept,
        "Upper end of the range of that share. Torture left a mark if even this end is below 95%. \
         Unknown without a range.",
    ),
    (
        "after_trim_share",
        "Speed after TRIM",
        Share,
        Some(Higher),
        Kept,
        "Rate of the pass after torture and TRIM divided by that of the fresh passes around it, mean \
         over the rounds.",
    ),
    (
        "after_trim_share_low",
        "Speed after TRIM, lower end",
        Share,
        Some(Higher),
        Kept,
        "Lower end of the range of that share. Unknown without a range.",
    ),
    (
        "after_trim_worst_zone_share",
        "Speed after TRIM, worst zone",
        Share,
        Some(Higher),
        Lost,
        "Rate of the worst zone after TRIM divided by that of the same zone when fresh.",
    ),
    (
        "after_idle_share",
        "Speed after idle time",
        Share,
        Some(Higher),
        Lost,
        "Rate of the pass after torture and idle time divided by the mean of the fresh passes.",
    ),
    (
        "fresh_spread_share",
        "Spread of the fresh passes",
        Share,
        Some(Lower),
        Kept,
        "Distance of the fastest fresh pass from the slowest, divided by the slowest: the noise of the \
         target and its host.",
    ),
    ("rounds", "Rounds", Count, None, Lost, "Rounds that were run to their end."),
];
