//! What a server says of itself, pinned when it is first seen.
//!
//! A server that was trusted once can change what a tool says of itself, and with it what a model is told. So SHA-256 of the
//! RFC 8785 form of every definition is kept for each server. A definition that is another one from then on is a change, which
//! the user has to accept. The texts themselves are kept too, so that the difference can be shown.
//!
//! | pinned | known by | without |
//! |---|---|---|
//! | each tool, the whole definition | `name` | |
//! | each prompt | `name` | |
//! | each resource | `uri` | `size` and `annotations.lastModified`, which change with every edit |
//! | each resource template | `uriTemplate` | |
//! | `instructions`, also their absence | | |
//!
//! Files of an older version hold `name`, `description` and `inputSchema` of tools and nothing else. Such a pin is compared in these
//! three members when the tool is next seen: if they are the same, the whole definition is pinned in its place without a word.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::message::Members;

/// What happens to a definition that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinMode {
    /// It is cut from the list, and calls to it are answered with an error.
    Block,
    /// The user is warned.
    Warn,
    /// Nothing is pinned.
    Off,
}

/// What is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A template of resources.
    Template,
    /// The instructions of the server.
    Instructions,
}

impl Kind {
    /// Those that come in lists.
    pub(crate) const LISTS: [Self; 4] = [Self::Tool, Self::Prompt, Self::Resource, Self::Template];

    /// What a method lists.
    pub(crate) fn of_method(method: &str) -> Option<Self> {
        match method {
            "tools/list" => Some(Self::Tool),
            "prompts/list" => Some(Self::Prompt),
            "resources/list" => Some(Self::Resource),
            "resources/templates/list" => Some(Self::Template),
            _ => None,
        }
    }

    /// The member of a result that has the list.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
            Self::Instructions => "instructions",
        }
    }

    /// The member that tells an entry from others.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
            Self::Instructions => "instructions",
        }
    }

    /// What one is called.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "resource template",
            Self::Instructions => "instructions",
        }
    }
}

/// The members that were pinned of a tool by older versions.
const PINNED_BEFORE: [&str; 3] = ["name", "description", "inputSchema"];

/// Members whose names may be shown. A name of the server's own making could be text for a model.
const SHOWN: [&str; 14] = [
    "_meta",
    "annotations",
    "arguments",
    "description",
    "execution",
    "icons",
    "inputSchema",
    "instructions",
    "mimeType",
    "name",
    "outputSchema",
    "title",
    "uri",
    "uriTemplate",
];

/// What stands for all other names.
const NOT_SHOWN: &str = "other members";

/// The most definitions of a kind that are pinned. A list of resources may have no end.
const PINS_MAX: usize = 4096;

/// The pins of one server, as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pins {
    /// The server, as it may be shown.
    pub server: String,
    /// Whether the tools were seen to the end of their list: from then on a further name is new.
    #[serde(default)]
    complete: bool,
    tools: BTreeMap<String, Pin>,
    #[serde(default)]
    prompts: Listed,
    #[serde(default)]
    resources: Listed,
    #[serde(default)]
    templates: Listed,
    #[serde(default)]
    instructions: Listed,
}

/// The pins of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Listed {
    #[serde(default)]
    complete: bool,
    #[serde(default)]
    pins: BTreeMap<String, Pin>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pin {
    sha256: String,
    definition: Map<String, Value>,
    /// Whether the whole definition is pinned.
    #[serde(default)]
    whole: bool,
    /// The definition that was seen last, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<Map<String, Value>>,
}

/// A change that nobody has accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What changed.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Each member that differs: its name, what it was and what it is.
    pub members: Vec<(String, Option<Value>, Option<Value>)>,
}

impl Change {
    /// The names of the members that differ, as far as they may be shown.
    pub fn names(&self) -> String {
        let shown = |name: &str| SHOWN.iter().find(|shown| **shown == name).copied().unwrap_or(NOT_SHOWN);
        let mut names: Vec<&str> = self.members.iter().map(|(name, _, _)| shown(name)).collect();
        names.dedup();
        names.join(", ")
    }
}

/// What a look at a definition found.
#[derive(Debug, PartialEq)]
pub(crate) enum Sight {
    /// The first of this server: it is pinned without a word.
    First,
    /// One more of a server that is known.
    New,
    Same,
    /// The same as far as an older version pinned it: all of it is pinned from now on.
    Upgraded,
    Changed(Change),
}

impl Pins {
    /// The pins of a server of which nothing is known.
    pub fn new(server: String) -> Self {
        Self { server, ..Self::default() }
    }

    /// Whether nothing is pinned yet.
    pub fn is_empty(&self) -> bool {
        let listed = [&self.prompts, &self.resources, &self.templates, &self.instructions];
        self.tools.is_empty() && listed.iter().all(|listed| listed.pins.is_empty())
    }

    /// Whether a list was seen to its end.
    pub(crate) fn is_complete(&self, kind: Kind) -> bool {
        match kind {
            Kind::Tool => self.complete,
            Kind::Prompt => self.prompts.complete,
            Kind::Resource => self.resources.complete,
            Kind::Template => self.templates.complete,
            Kind::Instructions => self.instructions.complete,
        }
    }

    /// A list was seen to its end. True if that is news.
    pub(crate) fn complete(&mut self, kind: Kind) -> bool {
        let complete = match kind {
            Kind::Tool => &mut self.complete,
            Kind::Prompt => &mut self.prompts.complete,
            Kind::Resource => &mut self.resources.complete,
            Kind::Template => &mut self.templates.complete,
            Kind::Instructions => &mut self.instructions.complete,
        };
        !std::mem::replace(complete, true)
    }

    fn of(&self, kind: Kind) -> &BTreeMap<String, Pin> {
        match kind {
            Kind::Tool => &self.tools,
            Kind::Prompt => &self.prompts.pins,
            Kind::Resource => &self.resources.pins,
            Kind::Template => &self.templates.pins,
            Kind::Instructions => &self.instructions.pins,
        }
    }

    fn of_mut(&mut self, kind: Kind) -> &mut BTreeMap<String, Pin> {
        match kind {
            Kind::Tool => &mut self.tools,
            Kind::Prompt => &mut self.prompts.pins,
            Kind::Resource => &mut self.resources.pins,
            Kind::Template => &mut self.templates.pins,
            Kind::Instructions => &mut self.instructions.pins,
        }
    }

    /// Looks at a definition and remembers it. `known` if a list of this server was seen to its end before.
    pub(crate) fn look(&mut self, kind: Kind, definition: Definition, known: bool) -> (String, Sight) {
        let Definition { name, members } = definition;
        let pins = self.of_mut(kind);
        let count = pins.len();
        let sight = match pins.get_mut(&name) {
            None if count >= PINS_MAX => Sight::Same,
            None => {
                pins.insert(name.clone(), Pin::of(members));
                if known { Sight::New } else { Sight::First }
            }
            Some(pin) if pin.is_of(&members) && pin.whole => {
                pin.changed = None;
                Sight::Same
            }
            Some(pin) if pin.is_of(&members) => {
                *pin = Pin::of(members);
                Sight::Upgraded
            }
            Some(pin) => {
                let change = pin.change(kind, &name, &members);
                pin.changed = Some(members);
                Sight::Changed(change)
            }
        };
        (name, sight)
    }

    /// The change of a definition that nobody has accepted.
    pub(crate) fn change(&self, kind: Kind, name: &str) -> Option<Change> {
        let pin = self.of(kind).get(name)?;
        pin.changed.as_ref().map(|changed| pin.change(kind, name, changed))
    }

    /// Accepts every change, and says what they were.
    pub fn accept(&mut self) -> Vec<Change> {
        let mut accepted = Vec::new();
        for kind in Kind::LISTS.into_iter().chain([Kind::Instructions]) {
            for (name, pin) in self.of_mut(kind) {
                if let Some(changed) = pin.changed.take() {
                    accepted.push(pin.change(kind, name, &changed));
                    // A change that an older version saw has only the members that it pinned.
                    let whole = pin.whole || changed.keys().any(|key| !PINNED_BEFORE.contains(&key.as_str()));
                    *pin = Pin { whole, ..Pin::of(changed) };
                }
            }
        }
        accepted
    }
}

impl Pin {
    fn of(definition: Map<String, Value>) -> Self {
        Self { sha256: hash(&definition), definition, whole: true, changed: None }
    }

    /// Whether a definition is the pinned one, as far as it is pinned.
    fn is_of(&self, now: &Map<String, Value>) -> bool {
        self.sha256 == if self.whole { hash(now) } else { hash(&pinned_before(now)) }
    }

    fn change(&self, kind: Kind, name: &str, now: &Map<String, Value>) -> Change {
        let now = if self.whole { now.clone() } else { pinned_before(now) };
        let names: std::collections::BTreeSet<&String> = self.definition.keys().chain(now.keys()).collect();
        let differs = |name: &&String| self.definition.get(*name) != now.get(*name);
        let members = names
            .into_iter()
            .filter(differs)
            .map(|name| (name.clone(), self.definition.get(name).cloned(), now.get(name).cloned()));
        Change { kind, name: name.to_owned(), members: members.collect() }
    }
}

/// The members of a definition that older versions pinned.
fn pinned_before(definition: &Map<String, Value>) -> Map<String, Value> {
    let is_pinned = |name: &str| PINNED_BEFORE.contains(&name);
    let members = definition.iter().filter(|(name, _)| is_pinned(name));
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A definition as it is pinned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    members: Map<String, Value>,
}

/// What is pinned of an entry of a list. Returns `None` if it is not an object with one name.
pub(crate) fn definition(kind: Kind, entry: &RawValue) -> Option<Definition> {
    let members = Members::of(entry)?;
    let mut definition = Map::new();
    for (name, value) in &members.0 {
        let value: Value = serde_json::from_str(value.get()).ok()?;
        // Two readers could take two values for it.
        if definition.insert(name.clone().into_owned(), value).is_some() {
            return None;
        }
    }
    let name = definition.get(kind.key())?.as_str()?.to_owned();
    if kind == Kind::Resource {
        definition.remove("size");
        if let Some(annotations) = definition.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("lastModified");
        }
    }
    Some(Definition { name, members: definition })
}

/// What is pinned of the greeting of a server.
pub(crate) fn instructions(greeting: &Members<'_>) -> Definition {
    let values =
        greeting.all("instructions").map(|value| serde_json::from_str(value.get()).unwrap_or_default());
    let value = values.last().unwrap_or(Value::Null);
    Definition { name: String::new(), members: Map::from_iter([("instructions".to_owned(), value)]) }
}

fn hash(definition: &Map<String, Value>) -> String {
    // A map of JSON values always has this form.
    let canonical = serde_json_canonicalizer::to_vec(definition).unwrap_or_default();
    renown_core::hex::encode(&Sha256::digest(&canonical))
}

#[cfg(test)]
mod tests;
