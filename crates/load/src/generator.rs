//! From a description to commands.

use base::Op;

use crate::address::Addresses;
use crate::workload::Workload;

/// The commands of one workload, in order. The same workload and seed give the same commands,
/// whatever the target does.
#[derive(Clone, Debug)]
pub struct Generator {
    workload: Workload,
    addresses: Addresses,
}

impl Generator {
    /// The commands of a workload that [`Workload::check`] has accepted.
    #[must_use]
    pub fn new(workload: Workload, seed: u64) -> Self {
        let addresses = Addresses::new(&workload, seed);
        Self { workload, addresses }
    }

    /// The description.
    #[must_use]
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// The next command, under this tag; `None` at the end.
    #[inline]
    pub fn next_op(&mut self, tag: u32) -> Option<Op> {
        let (offset, len) = self.addresses.next_block()?;
        let Workload { kind, data, .. } = self.workload;
        Some(Op { kind, data, fua: false, len, tag, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Order;
    use base::{Data, OpKind};

    fn workload(order: Order, block_bytes: u32, span_bytes: u64) -> Workload {
        Workload {
            kind: OpKind::Write,
            data: Data::Incompressible,
            block_bytes,
            span_offset_bytes: 8192,
            span_bytes,
            order,
            queue_depth: 4,
        }
    }

    #[test]
    fn a_sequential_pass_covers_the_span_exactly_once() {
        let mut generator =
            Generator::new(workload(Order::SequentialOnce, 4096, 3 * 4096 + 512), 1);
        let mut next = 8192;
        let mut lengths = Vec::new();
        while let Some(op) = generator.next_op(0) {
            assert_eq!(op.offset, next);
            next += u64::from(op.len);
            lengths.push(op.len);
        }
        assert_eq!(lengths, [4096, 4096, 4096, 512]);
    }

    #[test]
    fn uniform_addresses_are_aligned_inside_and_depend_on_the_seed_alone() {
        let offsets = |seed| {
            let mut generator = Generator::new(workload(Order::Uniform, 4096, 16 * 4096), seed);
            (0..1000).map(|_| generator.next_op(0).unwrap().offset).collect::<Vec<_>>()
        };
        let first = offsets(1);
        assert_eq!(first, offsets(1));
        assert_ne!(first, offsets(2));
        assert!(first.iter().all(|o| o.is_multiple_of(4096) && (8192..8192 + 65536).contains(o)));
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), 16, "every block of the span comes up");
    }

    #[test]
    fn impossible_workloads_are_named() {
        let error = workload(Order::Uniform, 4096, 4095).check(512).unwrap_err().to_string();
        assert!(error.contains("length of the span is 4095"), "{error}");
        let error = workload(Order::Uniform, 1000, 1 << 20).check(512).unwrap_err().to_string();
        assert!(error.contains("block size is 1000"), "{error}");
    }
}
