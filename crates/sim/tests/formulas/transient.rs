//! The fall of a drive after a sequential fill: the begin of collection, its first WAF, its
//! ringing.
//!
//! The mapping alone (`common::untimed`) under uniform random writes. After the fill every
//! superblock is equally old. The first victims hold the data that n random writes have left of
//! them, the share e^(-n / U), with n the number of writes that used up the spare: OP x U. Hence
//! the first WAF, 1 / (1 - e^-OP). The log then rings with the period of its turn, and each turn
//! rings less.

use sim::ftl::gc::VictimPolicy;

use crate::common::untimed::{OVER_PROVISIONING, Untimed};

/// FIFO, for the mean victim: the emptiest one holds less, by some standard deviations of a
/// binomial.
#[test]
fn collection_begins_at_the_end_of_the_spare_and_at_its_hardest() {
    const BLOCK_PAGES: u32 = 1024;
    for op in OVER_PROVISIONING {
        let mut drive = Untimed::new(VictimPolicy::Fifo, 1, 1.0 + op, BLOCK_PAGES, 1 << 23);
        let pages = drive.ftl.geometry.logical_pages;
        let mut writes = 0_u64;
        while drive.moved_pages == 0 {
            drive.write_below(pages);
            writes += 1;
        }
        let onset = writes as f64 / pages as f64;
        // Cost of the victims of the first host superblocks: a victim with v of b pages valid gives
        // b - v for v moves, a WAF of b / (b - v). The state hardly changes meanwhile.
        drive.waf_during(8 * u64::from(BLOCK_PAGES), |drive| drive.write_below(pages));
        let victims: u32 = drive.ftl.erase_counts.iter().sum();
        let read_pages = f64::from(victims * BLOCK_PAGES);
        let first = read_pages / (read_pages - drive.moved_pages as f64);
        let theory = 1.0 / (1.0 - f64::exp(-op));
        println!("OP {op}: begins after {onset:.4} U, first WAF {first:.3}, theory {theory:.3}");
        assert!((onset / op - 1.0).abs() < 0.03, "OP {op}: begins after {onset} U");
        assert!((first / theory - 1.0).abs() < 0.03, "OP {op}: {first} against {theory}");
    }
}

/// One bucket of `fixtures/wa_transient.csv`: an independent program (no code in common) over 29.3
/// million pages in superblocks of 16,384, greedy.
struct Bucket {
    alpha: f64,
    /// Middle of the bucket, in host writes over U.
    writes: f64,
    waf: f64,
}

fn reference() -> Vec<Bucket> {
    let lines = include_str!("../fixtures/wa_transient.csv").lines().skip(1);
    lines
        .map(|line| {
            let mut fields = line.split(',').map(|field| field.parse().expect("a number"));
            let mut field = || fields.next().expect("three fields");
            Bucket { alpha: field(), writes: field(), waf: field() }
        })
        .collect()
}

/// Length of the first turn of the log and a bit; after it the ringing is below 2%.
const BUCKETS: usize = 15;

#[test]
fn the_fall_rings_as_in_the_reference_bucket_by_bucket() {
    let reference = reference();
    for alpha in [1.07, 1.145, 1.28] {
        let mut drive = Untimed::new(VictimPolicy::Greedy, 1, alpha, 8192, 1 << 23);
        let pages = drive.ftl.geometry.logical_pages;
        let (mut done, mut worst) = (0_u64, 0.0_f64);
        let buckets = reference.iter().filter(|bucket| bucket.alpha == alpha);
        for (index, bucket) in buckets.take(BUCKETS).enumerate() {
            let width = bucket.writes / (index as f64 + 0.5);
            let end = (width * (index as f64 + 1.0) * pages as f64) as u64;
            let waf = drive.waf_during(end - done, |drive| drive.write_below(pages));
            done = end;
            let error = 100.0 * (waf / bucket.waf - 1.0);
            println!(
                "alpha {alpha} at {:.4} U: {waf:.3} of {:.3}, {error:+.2}%",
                bucket.writes, bucket.waf
            );
            worst = if error.abs() > worst.abs() { error } else { worst };
        }
        println!("alpha {alpha}: worst bucket {worst:+.2}%");
        assert!(worst.abs() < 2.0, "alpha {alpha}: a bucket is {worst:+.2}% off");
    }
}
