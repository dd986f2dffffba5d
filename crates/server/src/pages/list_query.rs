//! The query parameters of a list page. Invalid values are ignored, and the page says so: an old or mistyped address still shows a list.

use std::str::FromStr;

use renown_core::time::{Day, Timestamp};
use renown_pages::lists::Ignored;

/// The parameters in the address of a list. If a parameter is repeated, the first one counts. An empty parameter counts as absent.
pub(super) struct ListQuery {
    parameters: Vec<(String, String)>,
    ignored: Vec<Ignored>,
}

impl ListQuery {
    pub(super) fn of(query: Option<String>) -> Self {
        let query = query.unwrap_or_default();
        let parameters = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self { parameters, ignored: Vec::new() }
    }

    /// Returns the text of a parameter.
    fn text(&self, name: &str) -> Option<&str> {
        let found = self.parameters.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Reads a parameter with a function. If it returns `None`, the parameter is ignored.
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

    /// Parses a parameter.
    pub(super) fn get<T: FromStr>(&mut self, name: &'static str, expected: &'static str) -> Option<T> {
        self.read(name, expected, |text| text.parse().ok())
    }

    /// Reads a day.
    pub(super) fn day(&mut self, name: &'static str) -> Option<Day> {
        self.get(name, "a day such as 2026-11-15")
    }

    /// Returns the parameters that were ignored because they are invalid.
    pub(super) fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }
}

/// Returns the last moment of a day.
pub(super) fn last_moment(day: Day) -> Timestamp {
    Timestamp::from_nanos(day.end().nanos() - 1).unwrap_or(Timestamp::MAX)
}

/// The expected form of ids.
pub(super) const AN_ID: &str = "an id of 1 to 200 characters";
/// The expected form of cursors.
pub(super) const A_CURSOR: &str = "a cursor from the link to the next page";

#[cfg(test)]
mod tests {
    use renown_core::ids::AgentId;

    use super::*;

    #[test]
    fn invalid_values_are_ignored_and_reported() {
        let mut query =
            ListQuery::of(Some("from=2026-13-01&to=2026-11-15&agent=a%2Fb&agent=c&tool=&x=y".to_owned()));
        assert_eq!(query.day("from"), None);
        assert_eq!(query.day("to").map(|day| day.to_string()).as_deref(), Some("2026-11-15"));
        assert_eq!(query.get::<AgentId>("agent", AN_ID).unwrap().as_str(), "a/b");
        assert_eq!(query.get::<AgentId>("tool", AN_ID), None, "an empty parameter counts as absent");
        let ignored = query.ignored();
        assert_eq!(ignored.len(), 1);
        assert_eq!((ignored[0].name, ignored[0].value.as_str()), ("from", "2026-13-01"));
    }

    #[test]
    fn the_last_moment_of_a_day_is_before_the_next_day() {
        let day: Day = "2026-11-15".parse().unwrap();
        assert_eq!(Day::of(last_moment(day)), day);
        assert_eq!(last_moment(day).nanos() + 1, day.end().nanos());
    }
}
