//! Random drives that lose their power, and damage to them meanwhile.

use base::Rng;
use sim::power_loss::{Contents, PoweredOff};
use sim::{Config, Device};
use sim_trial::{Report, Trial};

use super::sometimes_large;
use super::swarm::{Draft, alive, is_small};

/// Damage to NAND while the power is off, to test the oracle. It gets the superblocks whose erase
/// was still to come.
pub type Sabotage = fn(&mut PoweredOff, emptied: &[u32]);

/// Superblocks whose pages have been moved but which are not erased yet.
fn emptied(device: &Device<Contents>) -> Vec<u32> {
    let ftl = device.ftl();
    let is_emptied = |&superblock: &u32| {
        ftl.states[superblock as usize] == sim::ftl::SuperblockState::Victim
            && ftl.valid_pages[superblock as usize] == 0
    };
    (0..ftl.geometry.superblocks).filter(is_emptied).collect()
}

/// Severity of a test.
#[derive(Clone, Copy, Debug)]
pub struct Fate {
    pub cuts: u64,
    /// Numbers of commands between two cuts; one of these.
    pub commands: [u64; 4],
    /// Damage at every cut.
    pub sabotage: Option<Sabotage>,
}

/// The test of one drive.
pub struct Life {
    pub seed: u64,
    pub has_capacitors: bool,
    pub report: Report,
}

/// The test of one tiny random drive up to its first broken promise; `None` if the seed gives no
/// drive.
pub fn live(seed: u64, fate: Fate) -> Option<Life> {
    let mut rng = Rng::split(seed, "power loss");
    // A tenth of the cases would hardly hold a mechanism that few drives have.
    let mut draft = match seed % 4 {
        0 => Draft::random(&mut rng, &["mapping", "pslc"]),
        1 => Draft::random(&mut rng, &["mapping", "compression"]),
        _ => Draft::random(&mut rng, &["mapping"]),
    };
    if seed % 4 == 2 {
        draft.values.insert("nand.erase_ns", "100_000_000".to_owned());
    }
    let config = sometimes_large(draft.resolve().ok().filter(is_small)?, seed);
    let has_capacitors = config.power_loss_protected;
    let report = alive("power_loss", seed, &draft, || suffer(config, rng, fate))?;
    Some(Life { seed, has_capacitors, report })
}

fn suffer(config: Config, mut rng: Rng, fate: Fate) -> Option<Report> {
    let queue_depth = 1 + rng.below(8) as u32;
    let mut trial = Trial::new(config, queue_depth, rng.clone())?;
    while trial.report().cuts < fate.cuts && trial.report().is_kept() {
        trial.work(fate.commands[rng.below(4) as usize]);
        let emptied = emptied(trial.device());
        let (mut off, host) = trial.power_off();
        if let Some(sabotage) = fate.sabotage {
            sabotage(&mut off, &emptied);
        }
        trial = host.power_on(off);
    }
    Some(trial.report().clone())
}
