//! The reference library: runs of simulated drives in compact form, which stand beside a reader's drives.
//!
//! A run keeps its conditions, its figures with their marks, and the curve of its load. It has no
//! phases, tables, sentences or telemetry. All runs are one zlib stream.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::ZlibDecoder;
use serde::{Deserialize, Serialize};

use crate::bench::{compact, shorten_run};
use crate::report::{ReportError, RunView, packed, view};
use crate::schema::RunStatus;
use crate::store::RunDir;

/// Largest text of a reference library: a hundred times that of this program.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// Runs of simulated drives, as a file has them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reference {
    /// Version of the simulator that the figures are of.
    pub simulator_version: u32,
    /// Fingerprints of the models, by the target string of the drive.
    pub models: BTreeMap<String, u64>,
    /// The runs, drive by drive.
    pub runs: Vec<RunView>,
}

impl Reference {
    /// The complete runs of simulated drives among these; `fingerprint` is that of the model of a target string, or
    /// `None` for one that this program does not have.
    ///
    /// # Errors
    /// If the rows of a run cannot be read.
    pub fn of(
        simulator_version: u32,
        dirs: &[RunDir],
        fingerprint: impl Fn(&str) -> Option<u64>,
    ) -> Result<Self, ReportError> {
        let (mut models, mut runs) = (BTreeMap::new(), Vec::new());
        for dir in dirs.iter().filter(|dir| dir.run().status == RunStatus::Complete) {
            let spec = &dir.run().target.spec;
            let Some(fingerprint) = fingerprint(spec) else { continue };
            models.insert(spec.clone(), fingerprint);
            runs.push(compact(view(dir)?));
        }
        Ok(Self { simulator_version, models, runs })
    }

    /// This library with the runs of an earlier one that it does not replace: those of the same simulator and models.
    pub fn over(mut self, earlier: Self) -> Self {
        if earlier.simulator_version != self.simulator_version {
            return self;
        }
        for run in earlier.runs {
            let spec = &run.target.spec;
            let is_same = |own: &RunView| {
                own.target.spec == *spec
                    && own.test == run.test
                    && own.span.variant == run.span.variant
            };
            let Some(&model) = earlier.models.get(spec) else { continue };
            if self.models.get(spec).is_none_or(|own| *own == model)
                && !self.runs.iter().any(is_same)
            {
                self.models.insert(spec.clone(), model);
                self.runs.push(run);
            }
        }
        self.runs.sort_by(|a, b| a.target.spec.cmp(&b.target.spec));
        self
    }

    /// The library as a file has it, with the digits that a reader sees.
    ///
    /// # Errors
    /// If a value cannot be written as JSON.
    pub fn packed(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut value = serde_json::to_value(self)?;
        let runs = value.get_mut("runs").and_then(serde_json::Value::as_array_mut);
        runs.into_iter().flatten().for_each(shorten_run);
        packed(&value)
    }

    /// The library of such a file.
    ///
    /// # Errors
    /// If the stream is damaged or contains something else.
    pub fn read(stream: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_reader(ZlibDecoder::new(stream).take(TEXT_BYTES_MAX))
    }
}
