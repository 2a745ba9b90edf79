//! The sections of a fio job file. Options before the first section, and those of a section `[global]`, hold for
//! the jobs after them; of several values the last one counts (fio's HOWTO, "Job file format").

use super::FioError;

/// A job with the options that hold for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    /// Key and value; a key alone has the value `1`.
    options: Vec<(String, String)>,
}

/// Names of an option and its usual name.
const ALIASES: [(&str, &str); 8] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("io_limit", "io_size"),
    ("blockalign", "ba"),
    ("wait_for_previous", "stonewall"),
    ("fdatasync", "fsync"),
    ("start_delay", "startdelay"),
    ("filesize_total", "size"),
];

impl Section {
    /// The value of an option, taken out; `None` if it is not given.
    pub(super) fn take(&mut self, key: &str) -> Option<String> {
        let at = self.options.iter().position(|(known, _)| known == key)?;
        Some(self.options.remove(at).1)
    }

    /// The options that nobody has taken.
    pub(super) fn rest(&self) -> &[(String, String)] {
        &self.options
    }

    fn set(&mut self, key: &str, value: &str) {
        let key = ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, usual)| usual);
        self.options.retain(|(known, _)| known != key);
        self.options.push((key.to_owned(), value.to_owned()));
    }
}

/// The jobs of a file, in order.
pub(super) fn jobs(text: &str) -> Result<Vec<Section>, FioError> {
    let mut global = Section::default();
    let mut jobs: Vec<Section> = Vec::new();
    let mut is_global = true;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        let wrong = |rule: &str| FioError::line(number, line, rule);
        if let Some(rest) = line.strip_prefix('[') {
            let (name, after) =
                rest.split_once(']').ok_or_else(|| wrong("expected `]` at its end"))?;
            if !after.trim().is_empty() && !after.trim().starts_with([';', '#']) {
                return Err(wrong("expected nothing after `]`"));
            }
            is_global = name == "global";
            if !is_global {
                jobs.push(Section { name: name.trim().to_owned(), ..global.clone() });
            }
            continue;
        }
        if line.starts_with("include ") {
            return Err(wrong("other files are not read; put their options here"));
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "1"));
        let (key, value) = (key.trim(), without_comment(value));
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(wrong("expected KEY=VALUE"));
        }
        if value.contains("${") || value.contains("$(") {
            return Err(wrong("variables are not replaced; write their values"));
        }
        let section = if is_global { &mut global } else { jobs.last_mut().unwrap_or(&mut global) };
        section.set(key, value);
    }
    if jobs.is_empty() {
        return Err(FioError::Empty);
    }
    Ok(jobs)
}

/// The value without a comment behind it.
fn without_comment(value: &str) -> &str {
    let end = value.find([';', '#']).filter(|at| value[..*at].ends_with(char::is_whitespace));
    value[..end.unwrap_or(value.len())].trim().trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_options_hold_for_the_jobs_after_them_and_the_last_value_counts() {
        let text = "; a comment\n[global]\nbs=4k\ndirect=1\n[a]\nrw=read\nbs = 8k # larger\n[global]\nblocksize=64k\n[b]\ntime_based\n";
        let mut jobs = jobs(text).unwrap();
        assert_eq!(jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(jobs[0].take("bs").as_deref(), Some("8k"));
        assert_eq!(jobs[0].rest().len(), 2);
        assert_eq!(jobs[1].take("bs").as_deref(), Some("64k"));
        assert_eq!(jobs[1].take("time_based").as_deref(), Some("1"));
        assert_eq!(jobs[1].take("rw"), None);
    }

    #[test]
    fn what_is_no_job_file_is_refused_with_its_line() {
        for (text, expected) in [
            ("", "no job"),
            ("[global]\nbs=4k", "no job"),
            ("[a\nbs=4k", "line 1"),
            ("[a]\ninclude other.fio", "line 2"),
            ("[a]\nsize=${SIZE}", "variables are not replaced"),
            ("[a]\ntwo words=3", "expected KEY=VALUE"),
        ] {
            let error = jobs(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
