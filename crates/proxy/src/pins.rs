//! Definitions of tools, pinned when they are first seen.
//!
//! A server that was trusted once can change what a tool says of itself, and with it what a model is told. So SHA-256 of the
//! RFC 8785 form of `{name, description, inputSchema}` is kept for each tool of a server. A definition that is another one from
//! then on is a change, which somebody has to accept. The texts themselves are kept too, so that the difference can be shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::message::Members;

/// What happens to a tool whose definition changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinMode {
    /// It is cut from the list, and calls to it are answered with an error.
    Block,
    /// Somebody is told.
    Warn,
    /// Nothing is pinned.
    Off,
}

/// The members that are pinned.
const PINNED: [&str; 3] = ["name", "description", "inputSchema"];

/// The pinned tools of one server, as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pins {
    /// The server, as its command line or address.
    pub server: String,
    /// Whether a list was seen to its end: from then on a further name is new.
    #[serde(default)]
    complete: bool,
    tools: BTreeMap<String, Pin>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pin {
    sha256: String,
    definition: Map<String, Value>,
    /// The definition that was seen last, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<Map<String, Value>>,
}

/// A change that nobody has accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The tool.
    pub tool: String,
    /// Each member that differs: its name, what it was and what it is.
    pub members: Vec<(&'static str, Option<Value>, Option<Value>)>,
}

impl Change {
    /// The names of the members that differ.
    pub fn names(&self) -> String {
        let names: Vec<&str> = self.members.iter().map(|(name, _, _)| *name).collect();
        names.join(", ")
    }
}

/// What a look at a definition found.
#[derive(Debug, PartialEq)]
pub(crate) enum Sight {
    /// The first of this server: it is pinned without a word.
    First,
    /// One more tool of a server that is known.
    New,
    Same,
    Changed(Change),
}

impl Pins {
    /// The pins of a server of which nothing is known.
    pub fn new(server: String) -> Self {
        Self { server, complete: false, tools: BTreeMap::new() }
    }

    /// Whether nothing is pinned yet.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// A list was seen to its end. True if that is news.
    pub(crate) fn complete(&mut self) -> bool {
        !std::mem::replace(&mut self.complete, true)
    }

    /// Looks at a definition and remembers it. `known` if a list of this server was seen to its end before.
    pub(crate) fn look(&mut self, definition: Map<String, Value>, known: bool) -> (String, Sight) {
        let name = definition.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let sha256 = hash(&definition);
        let sight = match self.tools.get_mut(&name) {
            None => {
                self.tools.insert(name.clone(), Pin { sha256, definition, changed: None });
                if known { Sight::New } else { Sight::First }
            }
            Some(pin) if pin.sha256 == sha256 => {
                pin.changed = None;
                Sight::Same
            }
            Some(pin) => {
                let change = pin.change(&name, &definition);
                pin.changed = Some(definition);
                Sight::Changed(change)
            }
        };
        (name, sight)
    }

    /// The change of a tool that nobody has accepted.
    pub(crate) fn change(&self, tool: &str) -> Option<Change> {
        let pin = self.tools.get(tool)?;
        pin.changed.as_ref().map(|changed| pin.change(tool, changed))
    }

    /// Accepts every change, and says what they were.
    pub fn accept(&mut self) -> Vec<Change> {
        let mut accepted = Vec::new();
        for (tool, pin) in &mut self.tools {
            if let Some(changed) = pin.changed.take() {
                accepted.push(pin.change(tool, &changed));
                (pin.sha256, pin.definition) = (hash(&changed), changed);
            }
        }
        accepted
    }
}

impl Pin {
    fn change(&self, tool: &str, now: &Map<String, Value>) -> Change {
        let differs = |name: &&&str| self.definition.get(**name) != now.get(**name);
        let members = PINNED
            .iter()
            .filter(differs)
            .map(|name| (*name, self.definition.get(*name).cloned(), now.get(*name).cloned()));
        Change { tool: tool.to_owned(), members: members.collect() }
    }
}

/// What is pinned of a tool; none if it is no object. Of a repeated member every value is pinned.
pub(crate) fn definition(tool: &RawValue) -> Option<Map<String, Value>> {
    let members = Members::of(tool)?;
    let mut definition = Map::new();
    for name in PINNED {
        let mut values: Vec<Value> =
            members.all(name).map(|value| serde_json::from_str(value.get()).unwrap_or_default()).collect();
        match values.len() {
            0 => {}
            1 => drop(definition.insert(name.to_owned(), values.remove(0))),
            _ => drop(definition.insert(name.to_owned(), Value::Array(values))),
        }
    }
    Some(definition)
}

fn hash(definition: &Map<String, Value>) -> String {
    // A map of JSON values always has this form.
    let canonical = serde_json_canonicalizer::to_vec(definition).unwrap_or_default();
    Sha256::digest(&canonical).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn defined(tool: &Value) -> Map<String, Value> {
        definition(&serde_json::value::to_raw_value(tool).unwrap()).unwrap()
    }

    #[test]
    fn a_definition_is_pinned_at_first_sight_and_a_change_is_one_until_it_is_accepted() {
        let mut pins = Pins::new("s".to_owned());
        let tool =
            json!({"name": "t", "description": "adds", "inputSchema": {"a": 1, "b": [2]}, "title": "T"});
        assert_eq!(pins.look(defined(&tool), false), ("t".to_owned(), Sight::First));
        let same =
            json!({"inputSchema": {"b": [2], "a": 1.0}, "title": "U", "description": "adds", "name": "t"});
        assert_eq!(pins.look(defined(&same), true).1, Sight::Same, "order and other members do not matter");
        let other = json!({"name": "t", "description": "adds, and sends", "inputSchema": {"a": 1, "b": [2]}});
        let (_, sight) = pins.look(defined(&other), true);
        let Sight::Changed(change) = sight else { panic!("{sight:?}") };
        assert_eq!((change.names(), pins.change("t")), ("description".to_owned(), Some(change.clone())));
        // It is kept, also over a restart.
        let kept: Pins = serde_json::from_str(&serde_json::to_string(&pins).unwrap()).unwrap();
        assert_eq!(kept.change("t"), Some(change.clone()));
        assert_eq!(pins.look(defined(&tool), true).1, Sight::Same, "it was taken back");
        assert_eq!(pins.change("t"), None);
        pins.look(defined(&other), true);
        assert_eq!(pins.accept(), [change]);
        assert_eq!((pins.look(defined(&other), true).1, pins.accept()), (Sight::Same, vec![]));
        assert_eq!(pins.look(defined(&json!({"name": "u"})), true).1, Sight::New);
    }

    #[test]
    fn the_hash_is_that_of_the_canonical_form() {
        // SHA-256 of {"description":"d","inputSchema":{"a":1e+30,"é":"\n"},"name":"n"}
        let tool = json!({"name": "n", "inputSchema": {"é": "\n", "a": 1e30}, "description": "d"});
        let canonical = "{\"description\":\"d\",\"inputSchema\":{\"a\":1e+30,\"é\":\"\\n\"},\"name\":\"n\"}";
        let expected = Sha256::digest(canonical.as_bytes());
        let expected = expected.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        assert_eq!(hash(&defined(&tool)), expected);
    }

    #[test]
    fn a_repeated_member_is_a_change() {
        let mut pins = Pins::default();
        pins.look(defined(&json!({"name": "t", "description": "a"})), false);
        let twice =
            RawValue::from_string(r#"{"name":"t","description":"b","description":"a"}"#.to_owned()).unwrap();
        assert!(matches!(pins.look(definition(&twice).unwrap(), true).1, Sight::Changed(_)));
    }
}
