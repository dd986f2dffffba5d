//! Names of public types: one name per thing. A name that two public types have makes every mention of it ambiguous.

use std::collections::BTreeMap;

use anyhow::Result;
use regex::Regex;

/// Names that several types share on purpose, and why.
const SHARED: [(&str, &str); 5] = [
    ("Breakdown", "each rule has one; code names it with its module, as in `reputation::Breakdown`"),
    ("Input", "each rule has one; code names it with its module, as in `reputation::Input`"),
    (
        "Engine",
        "the engines of `embed` and of the SDKs wrap the engine of the gates and replace it for their users",
    ),
    ("Evaluation", "the evaluation of the Node SDK wraps that of `embed`"),
    ("Telemetry", "the telemetry of the SDKs wraps that of `shipping` and replaces it for their users"),
];

/// Collects the public types of Rust sources.
#[derive(Default)]
pub(super) struct TypeNames(BTreeMap<String, Vec<String>>);

impl TypeNames {
    /// Adds the public types of a source. Types of tests are not public.
    pub(super) fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let definition = Regex::new(r"(?m)^pub (?:struct|enum|trait|type|union) ([A-Z]\w*)")?;
        for found in definition.captures_iter(text) {
            self.0.entry(found[1].to_owned()).or_default().push(name.to_owned());
        }
        Ok(())
    }

    /// Reports names that several types have.
    pub(super) fn report(self, problems: &mut Vec<String>) {
        for (name, files) in self.0 {
            if files.len() > 1 && !SHARED.iter().any(|(shared, _)| *shared == name) {
                problems.push(format!(
                    "the public type {name} is defined in {}: choose names that say which is which",
                    files.join(" and ")
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(sources: &[(&str, &str)]) -> Vec<String> {
        let (mut names, mut problems) = (TypeNames::default(), Vec::new());
        for (name, text) in sources {
            names.add(name, text).unwrap();
        }
        names.report(&mut problems);
        problems
    }

    #[test]
    fn a_name_of_two_public_types_is_found() {
        let found =
            problems(&[("a.rs", "pub struct Seal;\n"), ("b.rs", "/// Doc.\npub enum Seal { One }\n")]);
        assert_eq!(
            found,
            ["the public type Seal is defined in a.rs and b.rs: choose names that say which is which"]
        );
    }

    #[test]
    fn private_types_and_shared_names_pass() {
        let private = "struct Seal;\npub(crate) struct Seal;\n    pub struct Seal;\n";
        assert!(problems(&[("a.rs", "pub struct Seal;\n"), ("b.rs", private)]).is_empty());
        assert!(problems(&[("a.rs", "pub struct Input;\n"), ("b.rs", "pub struct Input;\n")]).is_empty());
    }
}
