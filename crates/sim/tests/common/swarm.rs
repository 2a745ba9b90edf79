//! Random drives under random commands.

use base::{Data, Nanos, Op, OpKind, Ratio, Rng};
use sim::{Config, Device, Model, ModelError, Probe};

use super::{SMALL, closed_loop, op};

/// How often [`torture`] stops for a look.
const LOOKS: u64 = 8;

/// A value of a model and what it may be set to.
type Choice = (&'static str, &'static [&'static str]);

/// Optional sections: switched on with all of their values, or not at all.
const SECTIONS: &[&[Choice]] = &[
    &[("compression.granule_bytes", &["512", "1024", "2048", "4096"])],
    &[
        ("pslc.bytes", &["0", "1", "5_000_000", "20_000_000"]),
        ("pslc.borrows", &["true", "false"]),
        ("pslc.bits_per_cell", &["2", "3"]),
        ("pslc.read_ns", &["20_000"]),
        ("pslc.program_ns", &["200_000"]),
        ("pslc.erase_ns", &["1_000_000"]),
        ("pslc.idle_after_ns", &["1_000_000", "50_000_000"]),
        ("pslc.when_full", &["direct", "fold"]),
        ("pslc.only_below_bytes", &["1", "16_384", "1_000_000_000"]),
    ],
    &[("parity.stripe_units", &["1", "2", "4", "5", "8"])],
    &[("streams.cold", &["survivor"])],
    &[
        ("performance_mode.program_ns", &["1", "200_000"]),
        ("performance_mode.fill_percent", &["1", "10", "50"]),
        ("performance_mode.reorganise_pages_per_s", &["10", "10_000", "1_000_000"]),
    ],
    &[
        ("wear_leveling.allocation", &["oldest-first", "least-worn"]),
        ("wear_leveling.spread_max", &["0", "1", "8"]),
    ],
    &[
        ("throttle.burst_bytes", &["4096", "1_000_000"]),
        ("throttle.bytes_per_s", &["4096", "1_000_000", "100_000_000"]),
    ],
    &[("background_gc.free_target", &["5", "10", "21", "40"])],
    &[
        ("idle_gc.after_ns", &["1_000_000", "50_000_000"]),
        ("idle_gc.free_target", &["5", "10", "21", "40"]),
        ("idle_gc.pages_per_s", &["10", "10_000", "1_000_000"]),
        ("idle_gc.valid_percent_max", &["1", "50", "99"]),
    ],
    &[("nand.pages.program_lower_ns", &["200000"]), ("nand.pages.program_upper_ns", &["1000000"])],
    &[
        ("nand.suspend.suspend_ns", &["0", "20000"]),
        ("nand.suspend.resume_ns", &["0", "30000"]),
        ("nand.suspend.per_operation_max", &["1", "3", "1000"]),
    ],
    &[
        ("nand.retry.initial_cycles", &["0", "3000"]),
        ("nand.retry.fresh_ppb", &["0", "1000"]),
        ("nand.retry.per_kilocycle_ppb", &["0", "1000", "100000000"]),
        ("nand.retry.per_day_ppb", &["0", "1000000000"]),
        ("nand.retry.per_day_per_kilocycle_ppb", &["0", "1000"]),
        ("nand.retry.corrected_ppb", &["1", "2000"]),
        ("nand.retry.retries_max", &["1", "10"]),
    ],
    &[
        ("interface.kind", &["nvme"]),
        ("interface.queues", &["1", "2", "7"]),
        ("interface.arbitration_burst", &["1", "8"]),
    ],
    &[("interface.logical_block_bytes", &["512"])],
    &[("read_cache.bytes", &["32768", "400000"])],
    &[
        ("mapping.entry_bytes", &["8", "64", "1024"]),
        ("mapping.map_entry_bytes", &["4", "32", "256"]),
        ("mapping.journal_superblocks", &["3", "4", "9"]),
        ("nand.reserved_superblocks", &["9", "40", "120"]),
    ],
    &[
        ("power.active_mw", &["2000"]),
        ("power.idle_mw", &["100"]),
        ("power.read_nj", &["5000"]),
        ("power.program_nj", &["70000"]),
        ("power.erase_nj", &["300000"]),
        ("power.transfer_nj", &["33"]),
        ("power.slumber.after_ns", &["0", "50000000"]),
        ("power.slumber.entry_ns", &["0", "1000000"]),
        ("power.slumber.exit_ns", &["0", "5000000"]),
        ("power.slumber.power_mw", &["10"]),
    ],
    &[("nand.cache_program", &["true"])],
    &[("nand.multi_plane", &["false"])],
];

fn pick<'a>(rng: &mut Rng, values: &[&'a str]) -> &'a str {
    values[rng.below(values.len() as u64) as usize]
}

/// A drive model with random values, many of them impossible.
pub fn random_config(rng: &mut Rng) -> Result<Config, ModelError> {
    let keys: &[Choice] = &[
        ("nand.channels", &["0", "1", "2", "3", "8"]),
        ("nand.dies_per_channel", &["1", "2", "5"]),
        ("nand.planes", &["1", "2", "4", "16"]),
        ("nand.blocks_per_plane", &["1", "24", "100", "700", "3000"]),
        ("nand.pages_per_block", &["1", "3", "32", "64"]),
        ("nand.page_bytes", &["4096", "8192", "16384", "5000"]),
        ("nand.erase_ns", &["1", "3000000"]),
        ("nand.reserved_superblocks", &["0", "2", "30"]),
        ("buffer.write_bytes", &["4096", "65536", "1048576", "16777216"]),
        ("buffer.power_loss_protected", &["true", "false"]),
        ("interface.deallocate", &["works", "works", "ignored"]),
        ("controller.relocate_ns", &["0", "1000", "20000"]),
        ("controller.write_command_ns", &["0", "6000"]),
        ("gc.pacing", &["watermark", "proportional", "token"]),
        ("gc.policy", &["greedy", "fifo", "d-choices", "windowed-greedy", "cost-benefit"]),
        ("gc.candidates", &["1", "4", "1000"]),
        ("gc.free_low", &["1", "2", "3", "8"]),
        ("gc.free_high", &["2", "4", "9", "20"]),
        ("interface.queue_depth", &["1", "2", "32"]),
    ];
    let mut changes: Vec<(String, String)> = Vec::new();
    for (key, values) in keys {
        if rng.chance(1, 3) {
            changes.push(((*key).to_owned(), pick(rng, values).to_owned()));
        }
    }
    let scale = if rng.chance(1, 4) { Ratio::new(1, 16) } else { Ratio::new(1, 4) };
    let scale = scale.unwrap_or(Ratio::ONE);
    let resolve = |changes: &[_]| Model::load("swarm", SMALL, changes)?.resolve(scale);
    let mut config = resolve(&changes)?;
    for section in SECTIONS {
        if rng.chance(2, 3) {
            continue;
        }
        let value = |(key, values): &Choice| ((*key).to_owned(), pick(rng, values).to_owned());
        let with_section = [changes.clone(), section.iter().map(value).collect()].concat();
        // What does not fit this drive is left out, or many sections would leave few drives.
        if let Ok(richer) = resolve(&with_section) {
            (changes, config) = (with_section, richer);
        }
    }
    Ok(config)
}

/// A command without some of its first and last sectors.
fn cut(whole: Op, rng: &mut Rng) -> Op {
    let [head, tail] = [rng.below(5), rng.below(4)].map(|sectors| 512 * sectors);
    Op { offset: whole.offset + head, len: whole.len - (head + tail) as u32, ..whole }
}

fn random_data(rng: &mut Rng) -> Data {
    match rng.below(4) {
        0 => Data::Incompressible,
        1 => Data::Repeating,
        _ => Data::Compressible { physical_percent: rng.below(102) as u8 },
    }
}

/// Commands of all kinds over a random part of the drive; overwrites it a few times. `look` is
/// called now and then.
pub fn torture<P: Probe>(
    device: &mut Device<P>,
    rng: &mut Rng,
    mut look: impl FnMut(&mut Device<P>),
) {
    let pages = u64::from(device.config().geometry.logical_pages);
    let span = (pages / (1 + rng.below(3))).max(1);
    let (trims, reads, flushes) = (rng.below(3), rng.below(20), rng.below(2));
    let count = (3 * pages).min(40_000);
    let mut state = rng.clone();
    let queue_depth = device.config().queue_depth;
    let sectors = device.config().interface.logical_block_bytes == 512;
    for _ in 0..LOOKS {
        closed_loop(device, queue_depth, count / LOOKS, |tag| {
            let length = (1 + state.below(9)).min(span);
            let page = state.below(span - length + 1);
            let whole = match state.below(100) {
                n if n < trims => op(OpKind::Deallocate, page, length, tag),
                n if n < trims + reads => op(OpKind::Read, page, length, tag),
                n if n < trims + reads + flushes => op(OpKind::Flush, 0, 0, tag),
                _ => Op { data: random_data(&mut state), ..op(OpKind::Write, page, length, tag) },
            };
            if sectors && whole.len > 0 { cut(whole, &mut state) } else { whole }
        });
        let pause_ns = [0, 1_000, 100_000_000][state.below(3) as usize];
        device.run_until(Nanos(device.now().0 + pause_ns));
        look(device);
    }
}
