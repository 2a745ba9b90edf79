//! The lists of drives, tests and metrics, and the description of a target.

use std::path::Path;

use io::OpenOptions;
use pyo3::prelude::*;
use run::Test;
use serde_json::{Value, json};
use sim::model::{BUILT_IN, Model};
use target::TargetSpec;

use crate::errors::Failure;

/// The devices of this machine, as `ssdlab list devices` finds them, as JSON.
#[pyfunction]
pub(crate) fn devices(py: Python<'_>) -> String {
    let found = py.detach(session::devices);
    let rows = found.iter().map(|device| {
        let reasons: Vec<_> = device.in_use.iter().map(|reason| reason.code).collect();
        json!({
            "target": device.node, "serial": device.serial, "in_use": reasons,
            "confirmation": device.confirmations.first(),
        })
    });
    Value::from_iter(rows).to_string()
}

/// Names of the built-in drive models.
#[pyfunction]
pub(crate) fn drives() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// Every test with its question, its chapter and its parameters, as JSON.
#[pyfunction]
pub(crate) fn tests() -> String {
    let test = |test: &Test| {
        let params = test.params().iter();
        let params = params.map(|p| json!({"name": p.name, "default": p.default, "help": p.help}));
        json!({
            "name": test.name(), "question": test.question(), "writes": test.writes(),
            "parameters": params.collect::<Vec<_>>(),
        })
    };
    Value::from_iter(Test::ALL.iter().map(test)).to_string()
}

/// The catalogue of metrics, as JSON.
#[pyfunction]
pub(crate) fn metrics() -> PyResult<String> {
    Ok(serde_json::to_string(result::metrics::catalogue()).map_err(Failure::from)?)
}

/// A target as `ssdlab plan` would see it, as JSON; it changes nothing.
#[pyfunction]
pub(crate) fn describe(py: Python<'_>, target: &str) -> PyResult<String> {
    let text = py.detach(|| {
        let spec: TargetSpec = target.parse()?;
        let inspected = io::open::inspect(&spec, &OpenOptions::default())?;
        let it = &inspected.identity;
        Ok::<_, Failure>(
            json!({
                "kind": spec.kind().name(), "name": it.name, "firmware": it.firmware,
                "serial": it.serial, "capacity_bytes": it.capacity_bytes, "raw_bytes": it.raw_bytes,
                "log_bytes": it.log_bytes, "facts": it.facts, "details": it.details,
                "queue_depth_max": inspected.limits.queue_depth_max,
                "logical_block_bytes": inspected.limits.logical_block_bytes,
                "memory_bytes": inspected.memory_bytes,
            })
            .to_string(),
        )
    });
    Ok(text?)
}

/// Every value of a drive model with its source, as JSON rows of key, value, source.
#[pyfunction]
pub(crate) fn check_model(py: Python<'_>, name: &str) -> PyResult<String> {
    let text = py.detach(|| {
        let text = match sim::model::built_in(name) {
            Some(text) => text.to_owned(),
            None => {
                base::file::open_input(name.as_ref()).and_then(std::io::read_to_string).map_err(
                    |error| Failure::usage(format!("drive model `{name}` cannot be read: {error}")),
                )?
            }
        };
        let beside = |file: &str| io::engine::sim::beside(Path::new(name), file);
        let values = Model::values(name, &text, &beside);
        let values = values.map_err(|error| Failure::usage(error.to_string()))?;
        let rows = values.iter().map(|value| json!([value.key, value.value, value.from]));
        Ok::<_, Failure>(Value::from_iter(rows).to_string())
    });
    Ok(text?)
}
