//! Writes the seeds of every target to `DIR/TARGET/`, for libFuzzer to begin with.

use std::path::Path;
use std::process::ExitCode;

use fuzz::TARGETS;

fn main() -> ExitCode {
    let Some(dir) = std::env::args().nth(1) else {
        eprintln!("usage: seeds DIR");
        return ExitCode::from(2);
    };
    match TARGETS.iter().try_for_each(|target| write(&Path::new(&dir).join(target.name), target)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{dir}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(dir: &Path, target: &fuzz::Target) -> std::io::Result<()> {
    std::fs::create_dir_all(dir)?;
    let mut seeds = target.seeds().into_iter().enumerate();
    seeds.try_for_each(|(number, seed)| std::fs::write(dir.join(format!("seed-{number}")), seed))
}
