//! Lists of tools, prompts and resources, and the instructions of a server: what a client shows or a model reads before any call.
//!
//! Each entry is pinned (`pins.rs`). In a list an entry whose definition changed is cut out, instructions that changed are taken out. The
//! rest of such an answer is judged like any other.

use renown_core::gates::Context;
use serde_json::value::RawValue;

use super::answers::with_member;
use super::judge::{evaluate, unknown_members};
use super::{Effects, Fate, Host, Session};
use crate::message::{Members, items};
use crate::pending::Call;
use crate::pins::{Kind, PinMode, Sight, definition, instructions};
use crate::record::{Action, Record};
use crate::reply::{self, Stage};
use crate::seen::{self, Shape};

/// Members of a list that are no text: a client sends them back as they are.
const OPAQUE: [&str; 1] = ["nextCursor"];

impl Session {
    /// Pins the entries of a list, and cuts those out whose definition changed.
    pub(super) fn list(
        &mut self,
        kind: Kind,
        call: &Call,
        result: &RawValue,
        message: &Members<'_>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Fate {
        let Some(members) = Members::of(result) else {
            return self.rest(call, result, message, host, effects).unwrap_or(Fate::AsIs);
        };
        let others = members.0.iter().filter(|(name, _)| name != kind.member() && !OPAQUE.contains(&&**name));
        let others = object(others.map(|(name, value)| (&**name, value.get().to_owned())));
        if let Ok(others) = RawValue::from_string(others)
            && let Some(fate) = self.rest(call, &others, message, host, effects)
        {
            return fate;
        }
        if self.policy.pin == PinMode::Off {
            return Fate::AsIs;
        }
        let known = self.pins().is_complete(kind);
        let mut cut = false;
        let kept = members.0.iter().map(|(name, value)| {
            let value = if name == kind.member() {
                let (kept, some) = self.kept(kind, value, known, host, effects);
                cut |= some;
                kept
            } else {
                value.get().to_owned()
            };
            (&**name, value)
        });
        let kept = object(kept);
        let more = !members.texts("nextCursor").is_empty();
        effects.pins_changed |= !more && self.pins().complete(kind);
        if cut { Fate::Changed(with_member(message, "result", Some(&kept))) } else { Fate::AsIs }
    }

    /// Pins the instructions of a server, and takes them out if they changed.
    pub(super) fn greeting(
        &mut self,
        result: &RawValue,
        message: &Members<'_>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Fate {
        let Some(members) = Members::of(result).filter(|_| self.policy.pin != PinMode::Off) else {
            return Fate::AsIs;
        };
        let (_, sight) = self.pins().look(Kind::Instructions, instructions(&members), false);
        effects.pins_changed |= sight != Sight::Same;
        if sight != Sight::Same {
            self.suspect("the server", result, host, effects);
        }
        let Sight::Changed(_) = sight else { return Fate::AsIs };
        let fate = self.fate("they are left out");
        self.warn(effects, format!("the instructions of the server changed{fate}"));
        if self.policy.pin != PinMode::Block {
            return Fate::AsIs;
        }
        let kept = members.0.iter().filter(|(name, _)| name != "instructions");
        let kept = object(kept.map(|(name, value)| (&**name, value.get().to_owned())));
        Fate::Changed(with_member(message, "result", Some(&kept)))
    }

    /// Judges what a list has beside its entries. Returns what becomes of the message if it may not pass.
    fn rest(
        &mut self,
        call: &Call,
        rest: &RawValue,
        message: &Members<'_>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Option<Fate> {
        let beside = unknown_members(message);
        if rest.get() == "{}" && beside.is_empty() {
            return None;
        }
        let judged = self.judge(rest, &seen::see(rest, Shape::Other), beside, Some(call), host);
        if judged.passed && judged.redacted.is_none() {
            return None;
        }
        let action = if self.policy.observe { Action::Observed } else { Action::Blocked };
        let mut record = self.record(call, action, host);
        (record.passed, record.total) = (false, judged.total.into());
        record.gates.extend(judged.gates);
        let answer = reply::blocked(&call.id, &call.evaluation_id, &record.gates, Stage::NoTool);
        effects.records.push(Record { counts: false, ..record });
        Some(if self.policy.observe { Fate::AsIs } else { Fate::Changed(answer) })
    }

    /// The entries of a list that go on, and whether some do not.
    fn kept(
        &mut self,
        kind: Kind,
        entries: &RawValue,
        known: bool,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> (String, bool) {
        let blocks = self.policy.pin == PinMode::Block;
        let (fate, word) = (self.fate("it is left out"), kind.word());
        let Some(entries) = items(entries) else {
            self.warn(effects, format!("a list of {word}s is not one{fate}"));
            return if blocks { ("[]".to_owned(), true) } else { (entries.get().to_owned(), false) };
        };
        let mut kept = Vec::new();
        for entry in &entries {
            let Some(definition) = definition(kind, entry) else {
                // Nothing tells such an entry from others, so it cannot be pinned.
                self.warn(effects, format!("a {word} has no {}{fate}", kind.key()));
                kept.extend((!blocks).then_some(entry.get()));
                continue;
            };
            let (name, sight) = self.pins().look(kind, definition, known);
            effects.pins_changed |= sight != Sight::Same;
            match &sight {
                Sight::First | Sight::Same | Sight::Upgraded => {}
                Sight::New if kind == Kind::Resource => self.warn(effects, "a resource is new".to_owned()),
                Sight::New => self.warn(effects, format!("{word} {name} is new")),
                Sight::Changed(change) => {
                    let what = change.names();
                    let what =
                        format!("{word} {name}: definition changed: {what}{fate} (--accept-pins accepts it)");
                    self.warn(effects, what);
                }
            }
            if sight != Sight::Same {
                self.suspect(&format!("{word} {name}"), entry, host, effects);
            }
            if !(blocks && matches!(sight, Sight::Changed(_))) {
                kept.push(entry.get());
            }
        }
        (format!("[{}]", kept.join(",")), kept.len() < entries.len())
    }

    /// What is done about a change, for a warning.
    fn fate(&self, blocked: &str) -> String {
        if self.policy.pin == PinMode::Block { format!(", {blocked}") } else { String::new() }
    }

    /// Warns of a definition that reads like an attack.
    fn suspect(&mut self, name: &str, text: &RawValue, host: &dyn Host, effects: &mut Effects) {
        let Some(engine) = &self.engines.definitions else { return };
        let verdict = evaluate(engine, &Context::of(text), host);
        let reason = verdict.gates.iter().filter(|gate| !gate.passed).find_map(|gate| gate.reason.clone());
        if let Some(reason) = reason {
            self.warn(effects, format!("{name}: {reason}"));
        }
    }
}

/// An object of members that are JSON already.
fn object<'m>(members: impl Iterator<Item = (&'m str, String)>) -> String {
    let write = |(name, value)| format!("{}:{value}", serde_json::to_string(name).unwrap_or_default());
    format!("{{{}}}", members.map(write).collect::<Vec<_>>().join(","))
}
