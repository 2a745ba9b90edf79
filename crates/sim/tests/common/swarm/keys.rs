//! The keys of a drive model with the values that random drives draw from.

/// A value of a model with its possible settings.
pub type Choice = (&'static str, &'static [&'static str]);

/// The values of every model.
pub(super) const REQUIRED: &[Choice] = &[
    ("capacity_gb", &["1"]),
    ("interface.link_bytes_per_s", &["1_000_000", "512_000_000"]),
    ("interface.queue_depth", &["1", "2", "8", "32"]),
    ("controller.read_command_ns", &["0", "5_000"]),
    ("controller.write_command_ns", &["0", "6_000"]),
    ("controller.relocate_ns", &["0", "1_000", "20_000"]),
    ("nand.channels", &["1", "2", "3"]),
    ("nand.dies_per_channel", &["1", "2", "4"]),
    ("nand.planes", &["1", "2", "4"]),
    // Rows of pages that are left at the scale.
    ("nand.pages_per_block", &["1", "2", "3", "8", "9", "12"]),
    ("nand.page_bytes", &["4096", "8192", "16384"]),
    ("nand.blocks_per_plane", &["100"]),
    ("nand.read_ns", &["1", "50_000", "50_000"]),
    ("nand.program_ns", &["600_000"]),
    ("nand.erase_ns", &["1", "3_000_000"]),
    ("nand.channel_bytes_per_s", &["409_600_000"]),
    ("nand.reserved_superblocks", &["0", "2", "20"]),
    ("buffer.write_bytes", &["65_536", "262_144", "1_048_576"]),
    ("buffer.power_loss_protected", &["true", "false", "false"]),
    ("gc.policy", &["greedy", "fifo", "d-choices", "windowed-greedy", "cost-benefit"]),
    ("gc.candidates", &["1", "4", "1000"]),
    ("gc.pacing", &["watermark", "background", "proportional", "token"]),
    ("gc.free_low", &["2", "3"]),
    // Beyond gc.free_low.
    ("gc.free_high", &["1", "2", "3", "6"]),
];

/// The optional values of a model, by sections that go together: present as a whole, or not at all.
/// A key with `?` is optional by itself.
pub(super) const SECTIONS: &[&[Choice]] = &[
    &[
        ("gc.quantum_bytes", &["4096", "100_000", "10_000_000", "1_000_000_000"]),
        ("gc.duty_percent?", &["1", "50", "99", "100"]),
    ],
    &[
        ("gc.pacing", &["rate", "rate", "rate", "token"]),
        ("gc.rate_iops", &["1", "1000", "20_000", "1_000_000_000"]),
        ("gc.rate_burst_bytes?", &["4096", "1_000_000", "1_073_741_824"]),
        ("gc.rate_valid_percent?", &["0", "50", "99"]),
    ],
    &[
        ("compression.granule_bytes", &["512", "1024", "2048"]),
        ("compression.kept_percent?", &["0", "50", "100"]),
    ],
    &[
        ("pslc.bytes", &["0", "1", "50_000_000", "100_000_000"]),
        ("pslc.borrows", &["true", "false"]),
        ("pslc.borrowed_bytes_max?", &["1", "20_000_000", "300_000_000"]),
        ("pslc.bits_per_cell", &["2", "3", "4"]),
        ("pslc.read_ns", &["20_000"]),
        ("pslc.program_ns", &["200_000"]),
        ("pslc.erase_ns", &["1_000_000"]),
        ("pslc.idle_after_ns", &["1_000_000", "50_000_000"]),
        ("pslc.when_full", &["direct", "fold"]),
        ("pslc.only_below_bytes?", &["1", "16_384", "1_000_000_000"]),
        ("pslc.busy_fold_percent?", &["0", "1", "20", "1000"]),
        ("pslc.direct_bytes_per_s?", &["1_000_000", "50_000_000", "1_000_000_000"]),
    ],
    &[("parity.stripe_units", &["2", "3", "4"])],
    &[("streams.cold", &["survivor"])],
    &[
        ("performance_mode.program_ns", &["1", "200_000"]),
        ("performance_mode.fill_percent", &["1", "10", "50"]),
        ("performance_mode.reorganise_pages_per_s", &["10", "10_000", "1_000_000_000"]),
        ("performance_mode.reorganise_priority_percent?", &["0", "1", "50", "100"]),
    ],
    &[
        ("wear_leveling.allocation", &["oldest-first", "least-worn"]),
        ("wear_leveling.spread_max", &["0", "1", "8"]),
    ],
    &[
        ("throttle.burst_bytes", &["4096", "1_000_000"]),
        ("throttle.bytes_per_s", &["4096", "1_000_000", "100_000_000"]),
    ],
    &[
        ("wear_budget.burst_bytes", &["1", "1_000_000_000", "1_000_000_000_000"]),
        ("wear_budget.bytes_per_s", &["1_000_000", "100_000_000"]),
    ],
    &[
        ("write_caps.streams?", &["1", "2", "64"]),
        ("write_caps.random_iops", &["100", "10_000", "10_000_000"]),
        ("write_caps.random_burst_commands?", &["1", "100_000", "1_000_000_000"]),
        ("write_caps.sequential_bytes_per_s?", &["1_000_000", "100_000_000"]),
    ],
    &[("write_caps.sequential_bytes_per_s", &["1_000_000", "10_000_000", "1_000_000_000"])],
    // Each beyond the one before, the first beyond gc.free_low.
    &[
        ("cleaning_states.starved_free", &["0", "1", "4"]),
        ("cleaning_states.balance_free", &["1", "3"]),
        ("cleaning_states.reserve_free", &["1", "2", "20"]),
        ("cleaning_states.starved_random_iops", &["100", "5_000", "10_000_000"]),
        ("cleaning_states.balance_random_iops", &["1_000", "20_000"]),
    ],
    // Beyond gc.free_high.
    &[("background_gc.free_target", &["0", "1", "2", "7"])],
    &[
        ("idle_gc.after_ns", &["1_000_000", "50_000_000"]),
        ("idle_gc.free_target", &["0", "1", "2", "7"]),
        ("idle_gc.pages_per_s", &["1", "10_000", "1_000_000_000"]),
        ("idle_gc.valid_percent_max", &["1", "50", "99"]),
    ],
    &[
        ("idle_sort.after_ns", &["1_000_000", "50_000_000"]),
        ("idle_sort.pages_per_s", &["10", "10_000", "1_000_000_000"]),
        ("idle_sort.stretch_bytes", &["65_536", "100_000", "16_777_216"]),
    ],
    &[
        ("nand.pages.program_lower_ns", &["200_000"]),
        ("nand.pages.program_upper_ns", &["1_000_000"]),
    ],
    &[
        ("nand.pages.program_lower_ns", &["200_000"]),
        ("nand.pages.program_middle_ns", &["600_000"]),
        ("nand.pages.program_upper_ns", &["1_000_000"]),
    ],
    &[
        ("nand.pages.program_lower_ns", &["200_000"]),
        ("nand.pages.program_middle_ns", &["600_000"]),
        ("nand.pages.program_upper_ns", &["1_000_000"]),
        ("nand.pages.read_lower_ns", &["30_000"]),
        ("nand.pages.read_middle_ns", &["50_000"]),
        ("nand.pages.read_upper_ns", &["70_000"]),
    ],
    &[
        ("nand.suspend.suspend_ns", &["0", "20_000"]),
        ("nand.suspend.resume_ns", &["0", "30_000"]),
        ("nand.suspend.per_operation_max", &["1", "3", "1000"]),
    ],
    &[
        ("nand.retry.initial_cycles", &["0", "3000"]),
        ("nand.retry.fresh_ppb", &["0", "1000"]),
        ("nand.retry.per_kilocycle_ppb", &["0", "1000", "100_000_000"]),
        ("nand.retry.per_day_ppb", &["0", "1_000_000_000"]),
        ("nand.retry.per_day_per_kilocycle_ppb", &["0", "1000"]),
        ("nand.retry.per_kiloread_ppb?", &["0", "1000", "1_000_000_000"]),
        ("nand.retry.reclaim_reads?", &["1", "20", "500"]),
        ("nand.retry.corrected_ppb", &["1", "2000"]),
        ("nand.retry.retries_max", &["1", "10"]),
        ("age.cycles?", &["0", "3000"]),
        ("age.retention_days?", &["1", "36500"]),
    ],
    &[
        ("nand.wear.program_less_per_kilocycle_permille", &["0", "100", "1000"]),
        ("nand.wear.erase_more_per_kilocycle_permille", &["0", "300", "10_000"]),
        ("age.cycles?", &["1", "3000"]),
    ],
    // Needs `nand.retry` with counts of reads.
    &[("age.read_count", &["1", "19", "1_000_000"])],
    &[
        ("interface.kind", &["nvme", "nvme", "sata"]),
        ("interface.queues?", &["1", "2", "7"]),
        ("interface.arbitration_burst?", &["1", "8"]),
        ("interface.command_slots?", &["1", "5", "64"]),
    ],
    &[
        ("interface.kind", &["nvme"]),
        ("interface.coalesced_commands", &["1", "4", "256"]),
        ("interface.coalesced_ns", &["0", "100_000", "5_000_000"]),
    ],
    &[
        ("interface.kind", &["nvme"]),
        ("interface.placement_handles", &["2", "3", "8"]),
        ("gc.handle_isolation?", &["initial", "persistent"]),
    ],
    &[("controller.processors", &["1", "2", "5"])],
    &[
        ("controller.read_latency_ns?", &["0", "40_000"]),
        ("controller.write_latency_ns?", &["1", "60_000"]),
        ("controller.latency_spread_ns?", &["1", "20_000"]),
    ],
    &[("host", &["none", "sata-2012", "sata-hba-2020", "nvme-2024"])],
    &[("interface.logical_block_bytes", &["512", "4096"])],
    &[("interface.link_write_bytes_per_s", &["1_000_000", "256_000_000"])],
    &[("interface.deallocate", &["works", "ignored", "absent"])],
    &[
        ("map_cache.bytes", &["65_536", "8_388_608", "100_000_000", "1_000_000_000"]),
        ("map_cache.entry_bytes", &["4", "64", "256", "1024"]),
        ("map_cache.in_pslc?", &["true", "false"]),
        ("housekeeping.map_flush_period_ns?", &["1_000_000", "10_000_000_000"]),
        ("housekeeping.map_flush_bytes_max?", &["65_536", "100_000_000"]),
    ],
    &[
        ("map_cache.bytes", &["65_536", "8_388_608"]),
        ("map_cache.entry_bytes", &["64", "1024"]),
        ("map_cache.hmb_bytes", &["65_536", "8_388_608", "100_000_000"]),
        ("map_cache.hmb_latency_ns", &["0", "2_000", "1_000_000"]),
    ],
    &[("map.unit_bytes", &["4096", "8192", "16_384", "32_768", "65_536"])],
    &[("read_cache.bytes", &["32_768", "400_000", "1_000_000_000"])],
    &[
        ("read_ahead.streams", &["1", "2", "8"]),
        ("read_ahead.window_bytes", &["4096", "65_536", "1_000_000"]),
        ("read_ahead.buffer_bytes", &["32_768", "524_288", "1_000_000_000"]),
    ],
    &[
        ("mapping.entry_bytes", &["8", "64", "256", "1024"]),
        ("mapping.map_entry_bytes", &["4", "64", "256", "1024"]),
        ("mapping.journal_superblocks", &["3", "5", "9", "16"]),
        ("housekeeping.map_flush_period_ns?", &["1_000_000", "100_000_000"]),
    ],
    &[
        ("power.active_mw", &["2000"]),
        ("power.idle_mw", &["100"]),
        ("power.read_nj", &["5000"]),
        ("power.program_nj", &["70_000"]),
        ("power.erase_nj", &["300_000"]),
        ("power.transfer_nj", &["33"]),
    ],
    &[
        ("power.slumber.after_ns", &["0", "50_000_000"]),
        ("power.slumber.entry_ns", &["0", "1_000_000"]),
        ("power.slumber.exit_ns", &["0", "5_000_000"]),
        ("power.slumber.power_mw", &["10"]),
    ],
    &[
        ("power.sleep.after_ns", &["60_000_000", "5_000_000_000"]),
        ("power.sleep.entry_ns", &["0", "1_000_000"]),
        ("power.sleep.exit_ns", &["0", "100_000_000"]),
        ("power.sleep.power_mw", &["1"]),
    ],
    &[("nand.moves_by_plane", &["true", "false"])],
    &[
        ("thermal.ambient_c", &["0", "25"]),
        ("thermal.resistance_mk_per_w", &["1000", "25_000"]),
        ("thermal.capacity_mj_per_k", &["1", "40_000", "15_000_000"]),
    ],
    // Parts of the section above.
    &[
        ("thermal.light.threshold_c", &["26", "30"]),
        ("thermal.light.hysteresis_c", &["0", "3"]),
        ("thermal.light.bytes_per_s", &["10_000_000", "100_000_000"]),
    ],
    &[
        ("thermal.heavy.threshold_c", &["31", "60"]),
        ("thermal.heavy.hysteresis_c", &["1", "20"]),
        ("thermal.heavy.bytes_per_s", &["1_000_000", "10_000_000"]),
    ],
    &[("nand.die_groups", &["1", "2", "3", "4", "8"])],
    &[
        ("nand.die_groups", &["2", "3", "4", "8"]),
        ("gc.victims", &["per-group", "per-group", "all"]),
    ],
    &[("gc.host_reads", &["in-turn", "in-turn", "first"])],
    &[("nand.cache_program", &["true", "false"])],
    &[("nand.multi_plane", &["true", "false"])],
    &[
        ("nand.spread.program_percent", &["0", "10", "90"]),
        ("nand.spread.erase_percent", &["0", "10", "90"]),
        ("nand.spread.layer_percent", &["0", "10", "90"]),
    ],
    &[("nand.page_register", &["true", "false"])],
    &[("nand.independent_planes", &["true", "false"])],
    &[("housekeeping.patrol_interval_ns", &["100_000_000", "10_000_000_000"])],
    &[
        ("housekeeping.refresh_after_ns", &["1_000_000_000_000", "86_400_000_000_000"]),
        ("housekeeping.refresh_pages_per_s", &["10", "10_000", "1_000_000_000"]),
    ],
];

/// Sections that came later, each with the keys that it needs: recorded results do not have them.
pub(super) const LATER: &[(&[&str], &[Choice])] = &[
    (
        &["thermal.ambient_c", "nand.retry.fresh_ppb"],
        &[("heat_aging.reference_c", &["0", "30", "100"]), ("heat_aging.doubling_k", &["1", "8"])],
    ),
    (&["controller.latency_spread_ns"], &[("controller.latency_tail_ns?", &["1", "5_000"])]),
    (
        &["controller.read_latency_ns"],
        &[
            ("controller.pause_interval_ns", &["1_000_000", "500_000_000"]),
            ("controller.pause_ns", &["1", "10_000_000"]),
        ],
    ),
    (
        &["nand.suspend.suspend_ns"],
        &[
            ("nand.suspend.tail_ns?", &["1", "40_000"]),
            ("nand.suspend.hold_ns?", &["1", "500_000"]),
            ("nand.suspend.waiting_max?", &["0", "2"]),
        ],
    ),
    (&["gc.quantum_bytes"], &[("gc.burst_waiting_writes?", &["1", "4", "100"])]),
    (&["host"], &[("host?", &["nvme-2024-checksums"])]),
    // Rarely: with `capacity_gb` it is refused.
    (&["capacity"], &[("capacity?", &["64MB"])]),
    // Rarely: most drives have something that zones do not go with.
    (
        &["zones.open_max"],
        &[
            ("zones.superblocks?", &["1", "2"]),
            ("zones.capacity_bytes?", &["4096", "100_000", "1_000_000"]),
            ("zones.open_max", &["1", "3"]),
            ("zones.active_max", &["1", "3", "4"]),
        ],
    ),
    (&["interface.placement_handles"], &[("gc.victim_handle?", &["most-garbage", "least-valid"])]),
    (
        &["idle_gc.after_ns"],
        &[
            ("gc.early_used_percent", &["1", "50", "90", "99"]),
            ("gc.early_valid_percent", &["0", "5", "40", "99"]),
        ],
    ),
];

/// Limits of the rules and of the integers behind them.
pub(super) const EXTREMES: &[&str] = &[
    "-1",
    "0",
    "1",
    "2",
    "64",
    "255",
    "4097",
    "65_536",
    "1_000_000_000",
    "2_147_483_648",
    "4_294_967_295",
    "4_294_967_296",
    "3_600_000_000_000",
    "9_223_372_036_854_775_807",
    "true",
    "'a word'",
];
