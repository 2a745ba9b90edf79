//! Generated files: the list of the tests, the table of the keys of drive models, JSON Schema from the Rust types, the
//! catalogues of tests and metrics as data, that of metrics as a page, TypeScript from all of these. All are committed,
//! so that a reader and a reviewer see every change of the contract.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::test_list;
use xtask::log::Log;
use xtask::proc;
use xtask::web;
use xtask::workspace::Workspace;

/// The examples that write, in their order.
const WRITERS: [&str; 4] = ["drive_keys", "suite_catalogue", "workload_schema", "result_schema"];

/// The verb `schema`.
pub(crate) fn generate(workspace: &Workspace) -> Result<()> {
    let log = Log::stdout("schema");
    web::install(workspace, log)?;
    write_all(workspace, log)
}

/// The step `types`: generates again, and fails if a file changed.
pub(crate) fn check(workspace: &Workspace, log: Log) -> Result<()> {
    let before = generated_files(workspace)?;
    write_all(workspace, log)?;
    let stale = changed(&before, &generated_files(workspace)?);
    if !stale.is_empty() {
        bail!(
            "generated files were stale and have been written anew: {}; commit them",
            stale.join(", ")
        );
    }
    Ok(())
}

fn write_all(workspace: &Workspace, log: Log) -> Result<()> {
    test_list::write(workspace)?;
    let parts: Vec<_> = WRITERS.iter().flat_map(|name| ["--example", name]).collect();
    proc::stream(log, &mut workspace.build_debug(&parts))?;
    for name in WRITERS {
        let mut writer = Command::new(workspace.debug_dir().join("examples").join(name));
        proc::stream(log, writer.current_dir(workspace.root()))?;
    }
    proc::stream(log, &mut workspace.npm(["run", "types"]))
}

type Contents = BTreeMap<PathBuf, Vec<u8>>;

fn generated_files(workspace: &Workspace) -> Result<Contents> {
    let mut files = Contents::new();
    for dir in ["schema", "docs", "web/src", "crates/run/src/suite"] {
        collect(&workspace.path(dir), workspace.root(), &mut files)?;
    }
    Ok(files)
}

fn collect(dir: &Path, root: &Path, files: &mut Contents) -> Result<()> {
    let entries = dir.read_dir().with_context(|| format!("cannot list {}", dir.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, root, files)?;
        } else {
            files.insert(path.strip_prefix(root)?.to_path_buf(), std::fs::read(&path)?);
        }
    }
    Ok(())
}

fn changed(before: &Contents, after: &Contents) -> Vec<String> {
    after
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes))
        .map(|(path, _)| path.display().to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_names_new_and_different_files() {
        let before = Contents::from([("a".into(), vec![1]), ("b".into(), vec![2])]);
        let after =
            Contents::from([("a".into(), vec![1]), ("b".into(), vec![3]), ("c".into(), vec![])]);
        assert_eq!(changed(&before, &after), ["b", "c"]);
        assert!(changed(&after, &after).is_empty());
    }
}
