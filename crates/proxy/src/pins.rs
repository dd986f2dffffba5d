//! The definitions of a server, pinned when they are first seen.
//!
//! A trusted server can later change the description of a tool, and with it what a model reads. So the proxy stores the SHA-256 of the
//! RFC 8785 form of every definition for each server. If a definition differs later, the user must accept the change. The definitions
//! themselves are stored too, so that the difference can be shown.
//!
//! | pinned | identified by | without |
//! |---|---|---|
//! | each tool, the whole definition | `name` | |
//! | each prompt | `name` | |
//! | each resource | `uri` | `size` and `annotations.lastModified`, which change with every edit |
//! | each resource template | `uriTemplate` | |
//! | `instructions`, also their absence | | |
//!
//! Files of an older version contain only `name`, `description` and `inputSchema` of tools. Such a pin is compared in these three members
//! when the tool is next seen. If they are equal, the whole definition is pinned without a warning.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::message::Members;

/// What happens to a changed definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinMode {
    /// It is removed from its list, and calls to it get an error.
    Block,
    /// The user is warned.
    Warn,
    /// Nothing is pinned.
    Off,
}

/// The kind of a pinned definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PinKind {
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A resource template.
    Template,
    /// The instructions of the server.
    Instructions,
}

impl PinKind {
    /// The kinds that come in lists.
    pub(crate) const LISTS: [Self; 4] = [Self::Tool, Self::Prompt, Self::Resource, Self::Template];

    /// Returns the kind that a method lists.
    pub(crate) fn of_method(method: &str) -> Option<Self> {
        match method {
            "tools/list" => Some(Self::Tool),
            "prompts/list" => Some(Self::Prompt),
            "resources/list" => Some(Self::Resource),
            "resources/templates/list" => Some(Self::Template),
            _ => None,
        }
    }

    /// Returns the member of a result that contains the list.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
            Self::Instructions => "instructions",
        }
    }

    /// Returns the member that identifies an entry.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
            Self::Instructions => "instructions",
        }
    }

    /// Returns the word for this kind in messages.
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

/// The members of a tool that older versions pinned.
const PINNED_BEFORE: [&str; 3] = ["name", "description", "inputSchema"];

/// Members whose names may be shown. Any other name is chosen by the server and could contain text for a model.
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

/// Shown instead of all other names.
const NOT_SHOWN: &str = "other members";

/// Maximum number of pinned definitions per kind. A list of resources may be endless.
const PINS_MAX: usize = 4096;

/// The pins of one server, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pins {
    /// Name of the server, as it may be shown.
    pub server: String,
    /// Whether the last page of the list of tools was seen. From then on, another name is a new tool.
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
    /// The definition that was seen last, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<Map<String, Value>>,
}

/// A change of a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct PinChange {
    /// Kind of the definition.
    pub kind: PinKind,
    /// Name of the definition.
    pub name: String,
    /// Members that differ, each with its name, its pinned value and its new value.
    pub members: Vec<(String, Option<Value>, Option<Value>)>,
}

impl PinChange {
    /// Lists the names of the members that differ, as far as they may be shown.
    pub fn names(&self) -> String {
        let shown = |name: &str| SHOWN.iter().find(|shown| **shown == name).copied().unwrap_or(NOT_SHOWN);
        let mut names: Vec<&str> = self.members.iter().map(|(name, _, _)| shown(name)).collect();
        names.dedup();
        names.join(", ")
    }
}

/// The result of comparing a definition with its pin.
#[derive(Debug, PartialEq)]
pub(crate) enum PinCheck {
    /// There was no pin, and the list of this server is not known yet. It is pinned without a warning.
    First,
    /// There was no pin, although the whole list of this server was seen before.
    New,
    Same,
    /// The same in all members that an older version pinned. The whole definition is pinned from now on.
    Upgraded,
    Changed(PinChange),
}

impl Pins {
    /// Creates the empty pins of a server.
    pub fn new(server: String) -> Self {
        Self { server, ..Self::default() }
    }

    /// Returns whether nothing is pinned yet.
    pub fn is_empty(&self) -> bool {
        let listed = [&self.prompts, &self.resources, &self.templates, &self.instructions];
        self.tools.is_empty() && listed.iter().all(|listed| listed.pins.is_empty())
    }

    /// Returns whether the last page of a list was seen.
    pub(crate) fn is_complete(&self, kind: PinKind) -> bool {
        match kind {
            PinKind::Tool => self.complete,
            PinKind::Prompt => self.prompts.complete,
            PinKind::Resource => self.resources.complete,
            PinKind::Template => self.templates.complete,
            PinKind::Instructions => self.instructions.complete,
        }
    }

    /// Notes that the last page of a list was seen. Returns whether this is the first time.
    pub(crate) fn set_complete(&mut self, kind: PinKind) -> bool {
        let complete = match kind {
            PinKind::Tool => &mut self.complete,
            PinKind::Prompt => &mut self.prompts.complete,
            PinKind::Resource => &mut self.resources.complete,
            PinKind::Template => &mut self.templates.complete,
            PinKind::Instructions => &mut self.instructions.complete,
        };
        !std::mem::replace(complete, true)
    }

    fn of(&self, kind: PinKind) -> &BTreeMap<String, Pin> {
        match kind {
            PinKind::Tool => &self.tools,
            PinKind::Prompt => &self.prompts.pins,
            PinKind::Resource => &self.resources.pins,
            PinKind::Template => &self.templates.pins,
            PinKind::Instructions => &self.instructions.pins,
        }
    }

    fn of_mut(&mut self, kind: PinKind) -> &mut BTreeMap<String, Pin> {
        match kind {
            PinKind::Tool => &mut self.tools,
            PinKind::Prompt => &mut self.prompts.pins,
            PinKind::Resource => &mut self.resources.pins,
            PinKind::Template => &mut self.templates.pins,
            PinKind::Instructions => &mut self.instructions.pins,
        }
    }

    /// Compares a definition with its pin, and pins it if there is none. `is_known` tells whether the whole list was seen before.
    pub(crate) fn check(
        &mut self,
        kind: PinKind,
        definition: Definition,
        is_known: bool,
    ) -> (String, PinCheck) {
        let Definition { name, members } = definition;
        let pins = self.of_mut(kind);
        let count = pins.len();
        let check = match pins.get_mut(&name) {
            None if count >= PINS_MAX => PinCheck::Same,
            None => {
                pins.insert(name.clone(), Pin::of(members));
                if is_known { PinCheck::New } else { PinCheck::First }
            }
            Some(pin) if pin.is_of(&members) && pin.whole => {
                pin.changed = None;
                PinCheck::Same
            }
            Some(pin) if pin.is_of(&members) => {
                *pin = Pin::of(members);
                PinCheck::Upgraded
            }
            Some(pin) => {
                let change = pin.change(kind, &name, &members);
                pin.changed = Some(members);
                PinCheck::Changed(change)
            }
        };
        (name, check)
    }

    /// Returns the change of a definition, if it is not accepted yet.
    pub(crate) fn change(&self, kind: PinKind, name: &str) -> Option<PinChange> {
        let pin = self.of(kind).get(name)?;
        pin.changed.as_ref().map(|changed| pin.change(kind, name, changed))
    }

    /// Accepts every change. Returns the changes.
    pub fn accept(&mut self) -> Vec<PinChange> {
        let mut accepted = Vec::new();
        for kind in PinKind::LISTS.into_iter().chain([PinKind::Instructions]) {
            for (name, pin) in self.of_mut(kind) {
                if let Some(changed) = pin.changed.take() {
                    accepted.push(pin.change(kind, name, &changed));
                    // A change that an older version stored has only the members that it pinned.
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

    /// Returns whether a definition equals the pinned one, in the members that are pinned.
    fn is_of(&self, now: &Map<String, Value>) -> bool {
        self.sha256 == if self.whole { hash(now) } else { hash(&pinned_before(now)) }
    }

    fn change(&self, kind: PinKind, name: &str, now: &Map<String, Value>) -> PinChange {
        let now = if self.whole { now.clone() } else { pinned_before(now) };
        let names: std::collections::BTreeSet<&String> = self.definition.keys().chain(now.keys()).collect();
        let differs = |name: &&String| self.definition.get(*name) != now.get(*name);
        let members = names
            .into_iter()
            .filter(differs)
            .map(|name| (name.clone(), self.definition.get(name).cloned(), now.get(name).cloned()));
        PinChange { kind, name: name.to_owned(), members: members.collect() }
    }
}

/// Returns the members of a definition that older versions pinned.
fn pinned_before(definition: &Map<String, Value>) -> Map<String, Value> {
    let is_pinned = |name: &str| PINNED_BEFORE.contains(&name);
    let members = definition.iter().filter(|(name, _)| is_pinned(name));
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A definition in the form that is pinned.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    members: Map<String, Value>,
}

/// Returns the part of a list entry that is pinned. Returns `None` if the entry is not an object with exactly one name.
pub(crate) fn definition(kind: PinKind, entry: &RawValue) -> Option<Definition> {
    let members = Members::of(entry)?;
    let mut definition = Map::new();
    for (name, value) in &members.0 {
        let value: Value = serde_json::from_str(value.get()).ok()?;
        // Two clients could read different values of a repeated member.
        if definition.insert(name.clone().into_owned(), value).is_some() {
            return None;
        }
    }
    let name = definition.get(kind.key())?.as_str()?.to_owned();
    if kind == PinKind::Resource {
        definition.remove("size");
        if let Some(annotations) = definition.get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("lastModified");
        }
    }
    Some(Definition { name, members: definition })
}

/// Returns the part of a server's greeting that is pinned.
pub(crate) fn instructions(greeting: &Members<'_>) -> Definition {
    let values =
        greeting.all("instructions").map(|value| serde_json::from_str(value.get()).unwrap_or_default());
    let value = values.last().unwrap_or(Value::Null);
    Definition { name: String::new(), members: Map::from_iter([("instructions".to_owned(), value)]) }
}

fn hash(definition: &Map<String, Value>) -> String {
    // Every map of JSON values has a canonical form, so this cannot fail.
    let canonical = serde_json_canonicalizer::to_vec(definition).unwrap_or_default();
    renown_core::hex::encode(&Sha256::digest(&canonical))
}

#[cfg(test)]
mod tests;
