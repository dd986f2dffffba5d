//! What the address of a list asks for. A value that is not understood is noted and left out, so that an old or mistyped
//! address still shows a list.

use std::str::FromStr;

use renown_core::time::{Day, Timestamp};
use renown_pages::lists::Ignored;

/// The parameters of an address. Of one that is there twice the first counts, and an empty one is absent.
pub(super) struct Asked {
    parameters: Vec<(String, String)>,
    ignored: Vec<Ignored>,
}

impl Asked {
    pub(super) fn of(query: Option<String>) -> Self {
        let query = query.unwrap_or_default();
        let parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self { parameters, ignored: Vec::new() }
    }

    /// The text of a parameter.
    fn text(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// What a parameter says, read by a function.
    pub(super) fn read<T>(
        &mut self,
        name: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(name)?;
        let value = read(text);
        if value.is_none() {
            let ignored = Ignored { name, value: text.to_owned(), expected };
            self.ignored.push(ignored);
        }
        value
    }

    /// What a parameter says, of a type that can be read.
    pub(super) fn get<T: FromStr>(&mut self, name: &'static str, expected: &'static str) -> Option<T> {
        self.read(name, expected, |text| text.parse().ok())
    }

    /// A day.
    pub(super) fn day(&mut self, name: &'static str) -> Option<Day> {
        self.get(name, "a day such as 2026-11-15")
    }

    /// What was not understood.
    pub(super) fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }
}

/// The last moment of a day.
pub(super) fn last_moment(day: Day) -> Timestamp {
    Timestamp::from_nanos(day.end().nanos() - 1).unwrap_or(Timestamp::MAX)
}

/// What is expected of ids, and of cursors.
pub(super) const AN_ID: &str = "an id of 1 to 200 characters";
pub(super) const A_CURSOR: &str = "what the link to the next page said";

#[cfg(test)]
mod tests {
    use renown_core::ids::AgentId;

    use super::*;

    #[test]
    fn what_is_not_understood_is_noted_and_left_out() {
        let mut asked =
            Asked::of(Some("from=2026-13-01&to=2026-11-15&agent=a%2Fb&agent=c&tool=&x=y".to_owned()));
        assert_eq!(asked.day("from"), None);
        assert_eq!(asked.day("to").map(|day| day.to_string()).as_deref(), Some("2026-11-15"));
        assert_eq!(asked.get::<AgentId>("agent", AN_ID).unwrap().as_str(), "a/b");
        assert_eq!(asked.get::<AgentId>("tool", AN_ID), None, "an empty one is absent");
        let ignored = asked.ignored();
        assert_eq!(ignored.len(), 1);
        assert_eq!((ignored[0].name, ignored[0].value.as_str()), ("from", "2026-13-01"));
    }

    #[test]
    fn a_day_ends_before_the_next_begins() {
        let day: Day = "2026-11-15".parse().unwrap();
        assert_eq!(Day::of(last_moment(day)), day);
        assert_eq!(last_moment(day).nanos() + 1, day.end().nanos());
    }
}
