//! Does each check of a call with several targets refuse before the first target is changed?

use std::fs;

use super::*;
use crate::loops::{Undo, is_in_namespace, must, require_or_skip};

const MIB: usize = 1 << 20;

/// Two files of somebody, as targets of another size.
struct Files {
    dir: tempfile::TempDir,
    texts: [String; 2],
    words: [String; 2],
}

impl Files {
    fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    fn at(dir: tempfile::TempDir) -> Self {
        let words = ["one", "two"].map(|name| dir.path().join(name).display().to_string());
        let texts = words.each_ref().map(|path| format!("file:{path}?size=2MiB"));
        for path in &words {
            fs::write(path, vec![7; MIB]).unwrap();
        }
        Self { dir, texts, words }
    }

    /// Holds these targets with these confirmations.
    fn hold(
        &self,
        texts: &[String],
        erase: &[String],
        engine: EngineChoice,
    ) -> Result<Targets, TargetError> {
        let requirements = Requirements { write: true, erase, engine, ..Requirements::READ };
        let held = inspect(parse(texts).unwrap(), requirements)?.hold();
        for path in &self.words {
            assert_eq!(fs::read(path).unwrap(), vec![7; MIB], "{path} was changed");
        }
        held
    }

    fn reason(&self, texts: &[String], erase: &[String]) -> &'static str {
        match self.hold(texts, erase, EngineChoice::Auto) {
            Err(TargetError::Refused { code, .. }) => code,
            Err(error) => panic!("expected a refusal, got {error}"),
            Ok(_) => panic!("expected a refusal"),
        }
    }
}

#[test]
fn no_objection_is_passed_over() {
    let files = Files::new();
    let Files { texts, words, .. } = &files;
    drop(files.hold(texts, words, EngineChoice::Auto).unwrap());
    assert_eq!(files.reason(texts, &words[..1]), "wrong-serial");
    assert_eq!(files.reason(&texts[..1], words), "wrong-serial", "one names no target");
    assert_eq!(files.reason(texts, &[]), "existing-file");
    let link = files.dir.path().join("link");
    std::os::unix::fs::symlink(&words[0], &link).unwrap();
    let again = format!("file:{}?size=2MiB", link.display());
    assert_eq!(files.reason(&[texts[0].clone(), again], &words[..1]), "same-target");
}

/// Somebody may come between the look at a target and its run: the look holds it.
#[test]
fn every_target_of_a_call_is_held_before_the_first_is_opened() {
    let files = Files::new();
    let Files { texts, words, .. } = &files;
    let held = files.hold(texts, words, EngineChoice::Auto).unwrap();
    for index in [0, 1] {
        let [text, word] = [&texts[index..=index], &words[index..=index]];
        assert_eq!(files.reason(text, word), "busy");
    }
    drop(held);
    drop(files.hold(texts, words, EngineChoice::Auto).unwrap());
}

/// Nothing but its description refuses a simulated drive or the null target.
#[test]
fn a_promise_to_only_read_is_kept_without_a_target_to_hold() {
    for text in ["null:", "sim:samsung-840-pro-256gb", "file:/tmp/never-created?size=1MiB"] {
        let requirements = Requirements { write: true, read_only: true, ..Requirements::READ };
        let held = inspect(parse(&[text.to_owned()]).unwrap(), requirements).unwrap().hold();
        assert!(matches!(held, Err(TargetError::Refused { code: "read-only", .. })), "{text}");
    }
}

/// A file in memory has no completions to poll for, which only its engine can tell.
#[test]
fn an_engine_that_cannot_drive_a_target_is_refused_before_another_is_opened() {
    let name = "an_engine_that_cannot_drive_a_target_is_refused_before_another_is_opened";
    if !require_or_skip(name, &["losetup", "unshare", "mount"]) || !is_in_namespace(name) {
        return;
    }
    let memory = tempfile::tempdir().unwrap();
    must("mount", &["-t", "tmpfs", "none", memory.path().to_str().unwrap()]);
    let unmount = Undo::new("umount", memory.path().to_str().unwrap());
    let files = Files::at(tempfile::tempdir_in(memory.path()).unwrap());
    let Files { texts, words, .. } = &files;
    drop(files.hold(texts, words, EngineChoice::Auto).unwrap());
    let polling = io::Polling { completions: true, ..io::Polling::default() };
    let held = files.hold(texts, words, EngineChoice::Uring(polling));
    assert!(matches!(held, Err(TargetError::Unsupported(_))), "it was held");
    let passthrough = EngineChoice::Passthrough(io::Polling::default());
    let held = files.hold(texts, words, passthrough);
    assert!(matches!(held, Err(TargetError::Unsupported(_))), "it was held");
    drop((files, unmount));
}
