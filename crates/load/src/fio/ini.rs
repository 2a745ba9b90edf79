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
const ALIASES: [(&str, &str); 20] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("blockalign", "ba"),
    ("io_limit", "io_size"),
    ("nr_files", "nrfiles"),
    ("wait_for_previous", "stonewall"),
    ("fdatasync", "fsync"),
    ("start_delay", "startdelay"),
    ("timeout", "runtime"),
    ("ratemin", "rate_min"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("fill_fs", "fill_device"),
    ("dataplacement", "fdp"),
    ("plids", "fdp_pli"),
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

    /// The value of an option, which stays; `None` if it is not given.
    pub(super) fn get(&self, key: &str) -> Option<&String> {
        self.options.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Gives an option a value, or another one.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        let key = ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, usual)| usual);
        self.options.retain(|(known, _)| known != key);
        self.options.push((key.to_owned(), value.to_owned()));
    }
}

/// The jobs of a file, in order. `variables` are those of the environment: `${NAME}` stands for one.
pub(super) fn jobs(text: &str, variables: Variables<'_>) -> Result<Vec<Section>, FioError> {
    let mut global = Section::default();
    let mut jobs: Vec<Section> = Vec::new();
    let mut is_global = true;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim().trim_start_matches('\u{feff}');
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        let wrong = |rule: &str| FioError::line(number, line, rule);
        let replaced = |text: &str| replaced(text, variables).map_err(|rule| wrong(&rule));
        if let Some(rest) = line.strip_prefix('[') {
            let (name, after) =
                rest.split_once(']').ok_or_else(|| wrong("expected `]` at its end"))?;
            if !after.trim().is_empty() && !after.trim().starts_with([';', '#']) {
                return Err(wrong("expected nothing after `]`"));
            }
            is_global = name == "global";
            if !is_global {
                jobs.push(Section { name: replaced(name.trim())?, ..global.clone() });
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
        let value = replaced(value)?;
        if let Some(word) = KEYWORDS.iter().find(|word| value.contains(**word)) {
            let rule = format!("`{word}` is not replaced; write its value");
            return Err(wrong(&rule));
        }
        let section = if is_global { &mut global } else { jobs.last_mut().unwrap_or(&mut global) };
        section.set(key, &value);
    }
    if jobs.is_empty() {
        return Err(FioError::Empty);
    }
    Ok(jobs)
}

/// The environment: the value of a variable, or `None` if it is not set.
pub(super) type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Words that fio replaces by figures of its machine.
const KEYWORDS: [&str; 4] = ["$pagesize", "$mb_memory", "$ncpus", "$("];
/// Longest line with its variables replaced.
const LINE_BYTES_MAX: usize = 64 << 10;

/// A line with the values of its variables; an error is the rule. Values are not looked through again.
fn replaced(line: &str, variables: Variables<'_>) -> Result<String, String> {
    let (mut rest, mut text) = (line, String::new());
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or("expected `}` behind `${`")?;
        let value = variables(name).ok_or_else(|| {
            let name = base::text::shortened(name);
            format!("the variable {name} is not set in the environment; set it, or write its value")
        })?;
        text = text + before + &value;
        if text.len() > LINE_BYTES_MAX {
            return Err(format!("with its variables it has more than {LINE_BYTES_MAX} bytes"));
        }
        rest = behind;
    }
    Ok(text + rest)
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
        let mut jobs = jobs(text, &|_| None).unwrap();
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
            ("[a]\nsize=${SIZE}", "the variable SIZE is not set"),
            ("[a]\nsize=${SIZE", "expected `}`"),
            ("[a]\nnumjobs=$ncpus", "`$ncpus` is not replaced"),
            ("[a]\ntwo words=3", "expected KEY=VALUE"),
        ] {
            let error = jobs(text, &|_| None).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn variables_have_the_values_of_the_environment() {
        let of = |name: &str| (name == "SIZE").then(|| "${SIZE}1g".to_owned());
        let mut jobs = jobs("[${SIZE}]\nsize=${SIZE}0 ; ${COMMENT\n", &of).unwrap();
        assert_eq!(jobs[0].name, "${SIZE}1g");
        assert_eq!(jobs[0].take("size").as_deref(), Some("${SIZE}1g0"));
    }
}
