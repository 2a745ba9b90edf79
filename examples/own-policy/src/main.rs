//! A policy of one's own: the fewest valid pages among the older half. Prints write amplification beside greedy.

use base::{Data, Op, OpKind, Rng};
use sim::ftl::gc::own::{Candidates, VictimChoice};
use sim::ftl::policies::Policies;
use sim::{Drive, Model, PAGE_BYTES};

#[derive(Clone, Debug)]
struct OlderHalf;

impl VictimChoice for OlderHalf {
    fn choose(&mut self, candidates: Candidates) -> Result<usize, String> {
        let Candidates { ages, valid_pages, .. } = candidates;
        let mut order: Vec<usize> = (0..ages.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(ages[index]));
        let older = &order[..order.len().div_ceil(2)];
        older.iter().copied().min_by_key(|&index| valid_pages[index]).ok_or("no candidate".into())
    }

    fn copied(&self) -> Box<dyn VictimChoice> {
        Box::new(self.clone())
    }
}

fn write_amplification(policies: Policies) -> Result<f64, Box<dyn std::error::Error>> {
    let name = "samsung-840-pro-256gb";
    let text = sim::model::built_in(name).ok_or("no such model")?;
    let mut drive = Drive::new(Model::load(name, text, &[])?.resolve("1/1024".parse()?)?);
    *drive.policies_mut() = policies;
    let pages = drive.config().capacity_bytes() / PAGE_BYTES;
    let (mut rng, mut ended) = (Rng::new(1), Vec::new());
    for _ in 0..3 * pages {
        let offset = rng.below(pages) * PAGE_BYTES;
        let (kind, data, len) = (OpKind::Write, Data::Incompressible, PAGE_BYTES as u32);
        drive.submit(&[Op { kind, data, fua: false, placement: 0, len, tag: 0, offset }]);
        drive.reap(1, &mut ended);
    }
    drive.policies_mut().take_fault().map_or(Ok(()), Err)?;
    let totals = drive.telemetry();
    Ok(totals.programmed_pages as f64 / totals.host_pages as f64)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("greedy     {:.3}", write_amplification(Policies::default())?);
    println!("older half {:.3}", write_amplification(Policies::default().with_victims(OlderHalf))?);
    Ok(())
}
