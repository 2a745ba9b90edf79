//! Options without an effect on the commands here, each with the reason.

/// Beginnings of options, and the reason why they are not carried over.
const REASONS: [(&[&str], &str); 9] = [
    (
        &[
            "ioengine",
            "hipri",
            "fixedbufs",
            "registerfiles",
            "sqthread_poll",
            "nonvectored",
            "uncached",
            "force_async",
        ],
        "ssdlab has engines of its own (--engine)",
    ),
    (
        &[
            "filename",
            "directory",
            "nrfiles",
            "openfiles",
            "file_service_type",
            "create_",
            "unlink",
            "fallocate",
            "overwrite",
            "invalidate",
            "pre_read",
            "allow_file_create",
            "opendir",
            "lockfile",
            "filesize",
            "file_append",
            "fill_device",
            "allow_mounted_write",
            "end_fsync",
            "fsync_on_close",
        ],
        "the target of the call takes the place of files",
    ),
    (
        &[
            "group_reporting",
            "new_group",
            "description",
            "write_bw_log",
            "write_lat_log",
            "write_iops_log",
            "write_hist_log",
            "log_",
            "per_job_logs",
            "disk_util",
            "percentile_list",
            "lat_percentiles",
            "clat_percentiles",
            "slat_percentiles",
            "disable_",
            "gtod_",
            "clocksource",
            "unified_rw_reporting",
            "stats",
            "bwavgtime",
            "iopsavgtime",
            "significant_figures",
            "eta",
            "minimal",
            "output",
        ],
        "it concerns the output of fio",
    ),
    (
        &[
            "thread",
            "cpus_allowed",
            "cpumask",
            "numa_",
            "nice",
            "prio",
            "cgroup",
            "uid",
            "gid",
            "mem",
            "iomem",
            "hugepage",
            "lockmem",
            "cpuload",
            "cpuchunks",
        ],
        "ssdlab places its threads and memory itself (--workers, --cpu)",
    ),
    (
        &["randrepeat", "allrandrepeat", "randseed", "random_generator"],
        "random numbers come from the seed of the run (--seed)",
    ),
    (
        &["iodepth_batch", "iodepth_low", "io_submit_mode", "serialize_overlap"],
        "a command is issued as soon as the depth has room for it",
    ),
    (
        &[
            "refill_buffers",
            "scramble_buffers",
            "buffer_compress_chunk",
            "buffer_pattern",
            "dedupe_",
        ],
        "the kinds of data here are incompressible, repeating and a share; see docs/workloads.md",
    ),
    (
        &[
            "verify",
            "do_verify",
            "experimental_verify",
            "trim_verify",
            "trim_percentage",
            "trim_backlog",
        ],
        "data is not checked here; `ssdlab verify` does that",
    ),
    (
        &[
            "latency_target",
            "latency_window",
            "latency_percentile",
            "max_latency",
            "steadystate",
            "ss",
            "exitall",
            "exit_what",
            "wait_for",
        ],
        "the end of a job here is a time, bytes or its order",
    ),
];

/// The reason for an option.
pub(super) fn reason(key: &str) -> &'static str {
    let is_it =
        |beginnings: &&[&str]| beginnings.iter().any(|beginning| key.starts_with(beginning));
    let known = REASONS.iter().find(|(beginnings, _)| is_it(beginnings));
    known.map_or("this import does not know it", |(_, reason)| reason)
}
