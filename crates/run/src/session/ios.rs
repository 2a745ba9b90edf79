//! The rows of single commands beside the figures: `ios.parquet`.

use base::Nanos;
use result::store::RunDir;
use result::store::ios::{IosChoice, IosPhase, IosTap, IosWriter, WhenFull};

use super::{Request, Session};
use crate::error::RunError;
use crate::suite::PhaseSpec;

/// A file in progress.
pub(super) struct Ios {
    choice: IosChoice,
    writer: IosWriter,
}

/// Makes sure that a requested file has room, before any change.
pub(super) fn preflight(request: &Request) -> Result<(), RunError> {
    match request.ios {
        Some(_) => Ok(IosWriter::preflight(&request.library)?),
        None => Ok(()),
    }
}

impl Session {
    /// Begins the file if the request wants it. Without the file the run has all its figures.
    pub(super) fn begin_ios(&mut self, request: &Request, is_simulated: bool) {
        let Some(choice) = request.ios else { return };
        // The time of a simulated drive stands still while its thread waits for the writer.
        let when_full = if is_simulated { WhenFull::Wait } else { WhenFull::Lose };
        match IosWriter::create(self.writer.path(), choice, self.seed, when_full) {
            Ok(writer) => self.ios = Some(Ios { choice, writer }),
            Err(error) => self.warn(format!("the run has no ios.parquet: {error}")),
        }
    }

    /// The taps of a phase that begins at `start`, one for each thread; none without the file.
    pub(super) fn taps(
        &mut self,
        spec: &PhaseSpec,
        start: Nanos,
        jobs: Vec<String>,
        workers: usize,
    ) -> Vec<IosTap> {
        let index = self.run.phases.len();
        let Some(Ios { writer, .. }) = &mut self.ios else { return Vec::new() };
        writer.taps(IosPhase { index, name: spec.name.clone(), jobs, start, workers })
    }

    /// Copies the rows of the kept phases of an earlier run.
    pub(super) fn keep_ios(&mut self, earlier: Option<&RunDir>) {
        let phases = self.run.phases.len();
        let (Some(ios), Some(earlier)) = (&self.ios, earlier.filter(|_| phases > 0)) else {
            return;
        };
        match earlier.ios_file() {
            Ok(Some(_)) => ios.writer.keep(earlier, phases),
            Ok(None) => self.warn(format!(
                "ios.parquet has no rows of the first {phases} phases: the earlier run {} has no such file",
                earlier.run().run_id
            )),
            Err(error) => self.warn(format!(
                "ios.parquet has no rows of the first {phases} phases: {error}"
            )),
        }
    }

    /// Completes the file, and tells which rows are missing.
    pub(super) fn end_ios(&mut self) {
        let Some(Ios { choice, writer }) = self.ios.take() else { return };
        for warning in writer.finish().enter(choice, &mut self.run) {
            self.warn(warning);
        }
    }

    /// Gives up the file: the library cannot be written.
    pub(super) fn drop_ios(&mut self) {
        if self.ios.take().is_some() {
            self.warn("ios.parquet is lost with the library".to_owned());
        }
    }
}
