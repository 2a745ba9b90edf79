//! The facts of real drives: from the files of `--facts`, and from the library.

use std::path::{Path, PathBuf};

use ::target::{Identity, TargetError};
use device::host::small_file;
use result::facts_file::{FACTS_FOLDER, FactsFile};

/// The facts files of a call.
#[derive(Debug, Default)]
pub struct FactsFiles {
    /// Files of `--facts`, which go first.
    named: Vec<(PathBuf, FactsFile)>,
    /// Files of the library.
    library: Vec<FactsFile>,
}

impl FactsFiles {
    /// Reads the named files, and those of the library if it has any.
    ///
    /// # Errors
    /// [`TargetError::Usage`] with the file and its fault.
    pub fn read(named: &[PathBuf], library: Option<&Path>) -> Result<Self, TargetError> {
        let read_named = |path: &PathBuf| Ok((path.clone(), read(path)?));
        let named = named.iter().map(read_named).collect::<Result<_, TargetError>>()?;
        let in_library = library.map(in_library).unwrap_or_default();
        let library = in_library.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
        Ok(Self { named, library })
    }

    /// Gives real targets their facts.
    ///
    /// # Errors
    /// [`TargetError::Usage`] for a named file about none of them.
    pub fn give<'a>(
        &self,
        targets: impl Iterator<Item = &'a mut Identity>,
    ) -> Result<(), TargetError> {
        let mut real: Vec<_> = targets.filter(|target| !target.kind.is_simulated()).collect();
        for (path, file) in &self.named {
            if !real.iter().any(|of| file.is_about(of.model(), of.firmware.as_deref())) {
                return Err(about_none(path, file, &real));
            }
        }
        for target in &mut real {
            let (model, firmware) = (target.model(), target.firmware.as_deref());
            let named = self.named.iter().map(|(_, file)| file);
            let found = FactsFile::about(named, model, firmware)
                .or_else(|| FactsFile::about(&self.library, model, firmware));
            target.facts = found.map(|file| file.facts.clone()).unwrap_or_default();
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<FactsFile, TargetError> {
    let usage = |fault: &dyn std::fmt::Display| {
        TargetError::Usage(format!("facts file `{}`: {fault}", path.display()))
    };
    let unread = |error| usage(&format!("it cannot be read: {error}"));
    let text = small_file::read(path).map_err(unread)?;
    FactsFile::parse(&text).map_err(|fault| usage(&fault))
}

/// The facts files of a library, in the order of their names.
fn in_library(library: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(library.join(FACTS_FOLDER)).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    paths
}

fn about_none(path: &Path, file: &FactsFile, real: &[&mut Identity]) -> TargetError {
    let drive = |model: &str, firmware: Option<&str>| {
        format!("`{model}`{}", firmware.map_or_else(String::new, |f| format!(" firmware `{f}`")))
    };
    let about = drive(&file.drives.model, file.drives.firmware.as_deref());
    let there: Vec<_> =
        real.iter().map(|target| drive(target.model(), target.firmware.as_deref())).collect();
    let there = if there.is_empty() { "no real drive".to_owned() } else { there.join(", ") };
    TargetError::Usage(format!(
        "--facts {} is about {about}, but the targets of this call are {there}",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(spec: &str) -> Identity {
        io::open::inspect(&spec.parse().unwrap(), &io::OpenOptions::default()).unwrap().identity
    }

    fn write(path: &Path, model: &str, dram: &str) {
        let text = format!(
            "match.model = '{model}'\nfacts.dram = {{ value = '{dram}', from = 'rated: test' }}"
        );
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_named_file_goes_before_the_library_and_a_simulated_drive_keeps_its_own() {
        let library = tempfile::tempdir().unwrap();
        let named = library.path().join("named.toml");
        std::fs::create_dir(library.path().join("facts")).unwrap();
        write(&library.path().join("facts/null.toml"), "null:", "1 GB");
        write(&named, "null:", "2 GB");
        let dram = |named: &[PathBuf]| {
            let files = FactsFiles::read(named, Some(library.path())).unwrap();
            let mut targets = [target("null:"), target("sim:samsung-840-pro-256gb")];
            files.give(targets.iter_mut()).unwrap();
            targets.map(|target| target.facts.dram.map(|dram| dram.value).unwrap_or_default())
        };
        assert_eq!(dram(&[]), ["1 GB", "512 MB"]);
        assert_eq!(dram(&[named]), ["2 GB", "512 MB"]);
    }

    #[test]
    fn a_named_file_must_be_about_a_target_and_a_broken_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("facts.toml");
        write(&path, "some drive", "1 GB");
        let files = FactsFiles::read(std::slice::from_ref(&path), None).unwrap();
        let message = files.give([target("null:")].iter_mut()).unwrap_err().to_string();
        assert!(message.contains("`some drive`") && message.contains("`null:`"), "{message}");
        std::fs::write(&path, "match = 7").unwrap();
        let message = FactsFiles::read(&[path], None).unwrap_err().to_string();
        assert!(message.contains("facts.toml") && message.contains("match"), "{message}");
    }
}
