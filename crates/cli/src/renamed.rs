//! Former names of commands, answered with the present ones.

use device::host::shell::quoted;

use crate::failure::{EXIT_USAGE, Failure};

/// Former names, the longer first, with the present ones.
const RENAMED: [(&str, &str); 20] = [
    ("list drives", "sim models"),
    ("list hosts", "sim models"),
    ("runs rm", "library rm"),
    ("runs note", "library note"),
    ("runs", "library list"),
    ("import", "library import"),
    ("export", "library export"),
    ("serve", "library serve"),
    ("site", "library site"),
    ("push", "library push"),
    ("drives check", "sim check"),
    ("drives", "sim check"),
    ("expose", "sim expose"),
    ("drive", "sim control"),
    ("snapshot save", "sim save"),
    ("snapshot load", "sim load"),
    ("snapshot info", "sim check"),
    ("sweep", "sim sweep"),
    ("fit", "sim fit"),
    ("restore", "restore-settings"),
];

/// The exit code for a call with a former name, which is refused with the present one; `None` for any other call.
pub fn refuse() -> Option<u8> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let message = refusal(&words)?;
    Failure::usage(message).print();
    Some(EXIT_USAGE)
}

fn refusal(words: &[String]) -> Option<String> {
    let words = words.strip_prefix(&["help".to_owned()]).unwrap_or(words);
    let is_former =
        |former: &str| former.split(' ').eq(words.iter().take(former.split(' ').count()));
    let (former, present) = RENAMED.into_iter().find(|(former, _)| is_former(former))?;
    let rest =
        words.iter().skip(former.split(' ').count()).map(|word| format!(" {}", quoted(word)));
    Some(format!(
        "`ssdlab {former}` has another name now: ssdlab {present}{}",
        rest.collect::<String>()
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    /// The command of these names, or `None` if there is none.
    fn find(names: &str) -> Option<clap::Command> {
        names.split(' ').try_fold(crate::commands::Args::command(), |above, name| {
            above.find_subcommand(name).cloned()
        })
    }

    #[test]
    fn every_former_name_is_answered_with_a_present_one() {
        for (former, present) in RENAMED {
            assert!(find(present).is_some(), "{present}");
            assert!(find(former).is_none(), "{former}");
            let answer = refusal(&words(&format!("{former} --format json"))).unwrap();
            assert!(answer.ends_with(&format!(": ssdlab {present} --format json")), "{answer}");
        }
    }

    #[test]
    fn no_present_name_is_refused() {
        for (_, present) in RENAMED {
            assert_eq!(refusal(&words(present)), None);
        }
        assert_eq!(refusal(&words("run consistency expose")), None);
        assert_eq!(refusal(&[]), None);
        assert!(refusal(&words("help runs")).unwrap().ends_with(": ssdlab library list"));
    }
}
