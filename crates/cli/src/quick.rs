//! The quick form of a single test: its settings and its span in the place of the defaults.

use ::target::Identity;
use base::Bytes;
use io::open::Inspected;
use run::suite::{QUICK_SPAN, in_proportion};
use run::{RunError, Test};

use crate::args::RunArgs;
use crate::prepare::Inspection;

/// The arguments with the quick form of their test filled in, if they ask for it. Values of the user stay. Sizes are
/// those for the smallest target.
///
/// # Errors
/// [`RunError::Usage`] for a test without a quick form.
pub fn filled(args: &RunArgs, inspection: &Inspection) -> Result<RunArgs, RunError> {
    let mut args = args.clone();
    if !args.test.quick {
        return Ok(args);
    }
    let form = args.test.test.quick().ok_or_else(|| no_form(args.test.test))?;
    let capacity = |target: &&Inspected| target.identity.capacity_bytes;
    let Some(smallest) = inspection.targets().iter().min_by_key(capacity) else { return Ok(args) };
    let identity = &smallest.identity;
    let settings = fitting(form.settings, identity);
    let pairs = settings.split_whitespace().filter_map(|text| text.split_once('='));
    let is_free = |name: &str| args.test.settings.iter().all(|(taken, _)| taken != name);
    let of_form = pairs.filter(|(name, _)| is_free(name));
    let of_form: Vec<_> =
        of_form.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    args.test.settings.extend(of_form);
    let is_chosen = args.test.span.is_some() || !args.test.spare.is_empty();
    if !form.whole && !is_chosen && identity.capacity_bytes > QUICK_SPAN.0 {
        args.test.span = Some(QUICK_SPAN);
    }
    Ok(args)
}

fn no_form(test: Test) -> RunError {
    let name = test.name();
    let others = Test::ALL.into_iter().filter(|other| other.quick().is_some());
    let others: Vec<_> = others.map(Test::name).collect();
    RunError::Usage(format!(
        "`{name}` has no quick form; shorten it by its own keys (`ssdlab list {name}`). --quick is for {}",
        others.join(", ")
    ))
}

/// The settings with sizes in proportion to a simulated drive, and without sizes that the target has
/// no room for: a default adapts to a small target, a setting is refused.
pub fn fitting(settings: &str, identity: &Identity) -> String {
    let fitted = |setting: &str| {
        let (name, value) = setting.split_once('=')?;
        // A number without a unit is a count.
        let size = value.parse::<Bytes>().ok().filter(|_| value.ends_with('B'));
        let Some(size) = size else { return Some(setting.to_owned()) };
        let size = in_proportion(size, identity);
        (size.0 <= identity.capacity_bytes).then(|| format!("{name}={size}"))
    };
    settings.split_whitespace().filter_map(fitted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_forms_are_made_of_keys_of_their_tests_and_say_what_they_lose() {
        for test in Test::ALL {
            let Some(form) = test.quick() else { continue };
            assert!(!form.lost.is_empty(), "{test:?}");
            let pairs = form.settings.split_whitespace().map(|text| text.split_once('=').unwrap());
            let pairs: Vec<_> = pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            test.params_with(&pairs).unwrap();
        }
        for name in [
            "waf",
            "streams",
            "load-latency",
            "matrix",
            "neighbours",
            "sustained",
            "fill-level",
            "mixed-sizes",
            "workload",
        ] {
            assert!(name.parse::<Test>().unwrap().quick().is_some(), "{name}");
        }
        let error = no_form("pts-iops".parse().unwrap()).to_string();
        assert!(
            error.contains("`ssdlab list pts-iops`") && error.contains("load-latency"),
            "{error}"
        );
    }
}
