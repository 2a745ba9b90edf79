//! Setup of a ring: the best that the kernel takes, and the reason for no better one.

use std::io;

use io_uring::{IoUring, cqueue, squeue};
use rustix::io::Errno;

use crate::options::Polling;

/// Time for which the kernel's thread looks for new commands before it goes to sleep.
const SUBMISSION_THREAD_IDLE_MS: u32 = 1_000;

/// Setups of a ring, best first; each step leaves out a feature that an older kernel lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setup {
    /// Completions are worked off when the one thread that owns the ring asks for them.
    DeferredTaskRun,
    /// One thread owns the ring.
    SingleIssuer,
    /// A completion waits for the next system call instead of interrupting the thread.
    Cooperative,
    /// As the first `io_uring` had it.
    Plain,
}

impl Setup {
    pub(super) const ALL: [Self; 4] =
        [Self::DeferredTaskRun, Self::SingleIssuer, Self::Cooperative, Self::Plain];

    /// With a submission thread completions are worked off by that thread, and the kernel rejects what
    /// says otherwise.
    const WITH_SUBMISSION_THREAD: [Self; 2] = [Self::SingleIssuer, Self::Plain];

    fn candidates(polling: Polling) -> &'static [Self] {
        if polling.submissions { &Self::WITH_SUBMISSION_THREAD } else { &Self::ALL }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::DeferredTaskRun => "single issuer, deferred task run",
            Self::SingleIssuer => "single issuer (no DEFER_TASKRUN: needs Linux 6.1)",
            Self::Cooperative => "cooperative task run (no SINGLE_ISSUER: needs Linux 6.0)",
            Self::Plain => "no setup flags (no COOP_TASKRUN: needs Linux 5.19)",
        }
    }

    /// A ring of this kind, disabled until a thread makes it its own.
    pub(super) fn build<E, A>(self, entries: u32, polling: Polling) -> io::Result<IoUring<E, A>>
    where
        E: squeue::EntryMarker,
        A: cqueue::EntryMarker,
    {
        let mut builder = IoUring::builder();
        builder.setup_r_disabled();
        if polling.submissions {
            builder.setup_sqpoll(SUBMISSION_THREAD_IDLE_MS);
        }
        if polling.completions {
            builder.setup_iopoll();
        }
        if self != Self::Plain {
            builder.setup_submit_all();
            if !polling.submissions {
                builder.setup_coop_taskrun().setup_taskrun_flag();
            }
        }
        if matches!(self, Self::SingleIssuer | Self::DeferredTaskRun) {
            builder.setup_single_issuer();
        }
        if self == Self::DeferredTaskRun {
            builder.setup_defer_taskrun();
        }
        builder.build(entries)
    }
}

/// The best ring that the kernel gives, with a description of its setup; or the reason for none.
pub(super) fn build_ring<E, A>(
    entries: u32,
    polling: Polling,
) -> Result<(IoUring<E, A>, String), String>
where
    E: squeue::EntryMarker,
    A: cqueue::EntryMarker,
{
    let candidates = Setup::candidates(polling);
    let (ring, setup) = first_accepted(candidates, |setup| setup.build(entries, polling))
        .map_err(|refusal| no_ring_reason(&refusal))?;
    let how = match (polling.submissions, setup) {
        (false, _) => setup.name(),
        (true, Setup::Plain) => "submission thread",
        (true, _) => "submission thread, single issuer",
    };
    let polled = if polling.completions { ", polled completions" } else { "" };
    Ok((ring, format!("io_uring, {how}{polled}")))
}

/// The first setup that the kernel takes: to flags that it does not know it answers `EINVAL`.
fn first_accepted<R>(
    candidates: &[Setup],
    mut build: impl FnMut(Setup) -> io::Result<R>,
) -> io::Result<(R, Setup)> {
    let mut refusal = io::Error::from(Errno::INVAL);
    for &setup in candidates {
        match build(setup) {
            Ok(ring) => return Ok((ring, setup)),
            Err(error) => refusal = error,
        }
        if Errno::from_io_error(&refusal) != Some(Errno::INVAL) {
            break;
        }
    }
    Err(refusal)
}

fn no_ring_reason(refusal: &io::Error) -> String {
    let hint = match Errno::from_io_error(refusal) {
        Some(Errno::NOSYS) => "; the kernel or a seccomp filter does not know io_uring",
        Some(Errno::PERM) => "; see /proc/sys/kernel/io_uring_disabled and seccomp",
        Some(Errno::NOMEM) => "; see ulimit -l",
        _ => "",
    };
    format!("no io_uring: {refusal}{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers of a kernel that knows no better setup than `best`.
    fn kernel(best: usize) -> impl FnMut(Setup) -> io::Result<()> {
        move |setup| match Setup::ALL.iter().position(|known| *known == setup) {
            Some(place) if place >= best => Ok(()),
            _ => Err(Errno::INVAL.into()),
        }
    }

    #[test]
    fn an_older_kernel_gets_the_best_that_it_knows() {
        for (best, setup) in Setup::ALL.into_iter().enumerate() {
            let ((), accepted) = first_accepted(&Setup::ALL, kernel(best)).unwrap();
            assert_eq!(accepted, setup);
        }
    }

    #[test]
    fn a_refusal_that_is_not_about_flags_ends_the_search() {
        let mut asked = 0;
        let refusal = first_accepted(&Setup::ALL, |_| {
            asked += 1;
            Err::<(), _>(Errno::PERM.into())
        });
        assert_eq!(asked, 1);
        let reason = no_ring_reason(&refusal.unwrap_err());
        assert!(reason.contains("io_uring_disabled"), "{reason}");
    }

    /// The release of the running kernel, as (major, minor).
    fn kernel_release() -> (u32, u32) {
        let release = rustix::system::uname();
        let release = release.release().to_string_lossy();
        let mut numbers = release.split('.').map_while(|number| number.parse().ok());
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }

    #[test]
    fn every_setup_that_the_kernel_knows_is_taken() {
        let none = Polling::default();
        if Setup::Plain.build::<squeue::Entry, cqueue::Entry>(4, none).is_err() {
            return;
        }
        for (setup, since) in Setup::ALL.into_iter().zip([(6, 1), (6, 0), (5, 19), (5, 1)]) {
            if kernel_release() >= since {
                let built = setup.build::<squeue::Entry, cqueue::Entry>(4, none);
                assert!(built.is_ok(), "{setup:?}: {:?}", built.err());
            }
        }
        let (ring, how) = build_ring::<squeue::Entry, cqueue::Entry>(4, none).unwrap();
        assert!(ring.params().is_setup_single_issuer() || kernel_release() < (6, 0), "{how}");
        assert!(how.contains("deferred task run") || kernel_release() < (6, 1), "{how}");
    }

    #[test]
    fn a_submission_thread_is_asked_for_as_the_kernel_wants_it() {
        let polling = Polling { submissions: true, ..Polling::default() };
        match build_ring::<squeue::Entry, cqueue::Entry>(4, polling) {
            Ok((ring, how)) => {
                assert!(ring.params().is_setup_sqpoll() && how.contains("submission thread"));
            }
            Err(reason) => assert!(reason.starts_with("no io_uring"), "{reason}"),
        }
    }
}
