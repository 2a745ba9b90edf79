//! The help of the whole program: all commands on one screen, under headings.

use clap::Command;

/// Headings, each with the first of its commands.
const HEADINGS: [(&str, &str); 5] = [
    ("measure", "list"),
    ("read", "show"),
    ("keep and share", "library"),
    ("simulate", "sim"),
    ("machine", "lab"),
];

/// The program with this screen as its help.
pub fn of_program(program: Command) -> Command {
    let line = |command: &Command| {
        let name = command.get_name();
        let heading = HEADINGS.iter().find(|(_, first)| *first == name);
        let heading = heading.map_or("", |(heading, _)| heading);
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("{heading:16}{name:18}{about}")
    };
    let lines = program.get_subcommands().map(line).collect::<Vec<_>>().join("\n");
    program.help_template(format!(
        "{{about}}\nUsage: ssdlab COMMAND [OPTIONS]\n\n{lines}\n\n\
         `ssdlab COMMAND --help` has options and examples, `ssdlab man DIR` exit codes."
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_help_is_a_screen_with_every_command() {
        let mut program = of_program(crate::commands::Args::command());
        let help = program.render_long_help().to_string();
        assert!(help.lines().count() <= 24, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        assert_eq!(help, program.render_help().to_string());
        for (heading, first) in HEADINGS {
            assert!(help.contains(&format!("\n{heading:16}{first:18}")), "{help}");
        }
    }
}
