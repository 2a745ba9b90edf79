//! The answers of earlier calls, `drives/fragility.csv`: which changes end a claim, a line for each claim. Runs are not
//! in the repository, and hours of them would repeat what a line says.

use std::collections::BTreeMap;

/// The file.
pub const FILE: &str = "drives/fragility.csv";

const HEAD: &str = "claim,changes,full_size,fragile,open,key,version";

/// The changes that end a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The number of changes that the models take.
    pub changes: usize,
    /// The number of them that were run at full size.
    pub full_size: usize,
    /// Those that end the claim.
    pub fragile: Vec<String>,
    /// Those that might end it by their screen, and were not run at full size.
    pub open: Vec<String>,
}

/// The answers by claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    lines: BTreeMap<String, Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    answer: Answer,
    /// The key of the question: expectations and values of the models.
    key: String,
    /// The version of the simulator.
    version: String,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{FILE}: `{0}` has not the seven columns {HEAD}")]
pub struct Unreadable(String);

impl Answers {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// [`Unreadable`] with the line.
    pub fn read(text: &str) -> Result<Self, Unreadable> {
        let lines = text.lines().filter(|line| *line != HEAD && !line.is_empty());
        let read = |line: &str| parse(line).ok_or_else(|| Unreadable(line.to_owned()));
        Ok(Self { lines: lines.map(read).collect::<Result<_, _>>()? })
    }

    /// The answer to the question with this key, or `None` if nobody asked it.
    #[must_use]
    pub fn find(&self, claim: &str, key: &str) -> Option<&Answer> {
        self.lines.get(claim).filter(|line| line.key == key).map(|line| &line.answer)
    }

    /// Keeps an answer in the place of an earlier one.
    pub fn keep(&mut self, claim: &str, key: String, answer: Answer, version: &str) {
        let line = Line { answer, key, version: version.to_owned() };
        self.lines.insert(claim.to_owned(), line);
    }

    /// Leaves out the answers about other claims.
    pub fn retain(&mut self, is_claim: impl Fn(&str) -> bool) {
        self.lines.retain(|claim, _| is_claim(claim));
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |(claim, Line { answer, key, version }): (&String, &Line)| {
            let Answer { changes, full_size, fragile, open } = answer;
            let list = |changes: &[String]| match changes {
                [] => "none".to_owned(),
                some => some.join("; "),
            };
            let (fragile, open) = (list(fragile), list(open));
            format!("{claim},{changes},{full_size},{fragile},{open},{key},{version}\n")
        };
        format!("{HEAD}\n") + &self.lines.iter().map(line).collect::<String>()
    }
}

fn parse(text: &str) -> Option<(String, Line)> {
    let columns: Vec<&str> = text.split(',').collect();
    let [claim, changes, full_size, fragile, open, key, version] = columns[..] else { return None };
    let list = |text: &str| match text {
        "none" => Vec::new(),
        some => some.split("; ").map(str::to_owned).collect(),
    };
    let answer = Answer {
        changes: changes.parse().ok()?,
        full_size: full_size.parse().ok()?,
        fragile: list(fragile),
        open: list(open),
    };
    let line = Line { answer, key: key.to_owned(), version: version.to_owned() };
    Some((claim.to_owned(), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_they_were_written_and_belong_to_their_question() {
        let fragile = vec!["gc.low=11 of a".to_owned(), "gc.low=9 of a".to_owned()];
        let answer = Answer { changes: 24, full_size: 3, fragile, open: Vec::new() };
        let mut answers = Answers::default();
        answers.keep("one", "k".to_owned(), answer.clone(), "v");
        answers.keep("two", "k".to_owned(), Answer::default(), "v");
        let read = Answers::read(&answers.text()).unwrap();
        assert_eq!(read, answers);
        assert_eq!(read.find("one", "k"), Some(&answer));
        assert_eq!(read.find("one", "other"), None, "the model has other values now");
        answers.retain(|claim| claim == "two");
        assert!(answers.text().ends_with("\ntwo,0,0,none,none,k,v\n"), "{}", answers.text());
    }

    #[test]
    fn other_lines_are_refused() {
        for line in ["a,1,1,none,none,k", "a,x,1,none,none,k,v", "a,1,1,none,none,k,v,w"] {
            assert!(Answers::read(line).unwrap_err().to_string().contains(line));
        }
    }
}
