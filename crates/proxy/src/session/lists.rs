//! Lists of tools, prompts and resources, and the instructions of a server. A client shows them or a model reads them before any call.
//!
//! Each entry is pinned (`pins.rs`). Changed entries are removed from their list, and changed instructions are removed. The rest of such an
//! answer is judged like any other.

use renown_core::gates::Context;
use serde_json::value::RawValue;

use super::answers::with_member;
use super::judge::{evaluate, unknown_members};
use super::{Decision, Effects, Host, ProxySession};
use crate::gated_view::{self, ValueKind};
use crate::message::{Members, items};
use crate::pending::Call;
use crate::pins::{PinCheck, PinKind, PinMode, definition, instructions};
use crate::record::{Action, CallRecord};
use crate::reply::{self, Stage};

/// Members of a list that are not text: the client only sends them back.
const OPAQUE: [&str; 1] = ["nextCursor"];

impl ProxySession {
    /// Pins the entries of a list, and removes those with a changed definition.
    pub(super) fn list(
        &mut self,
        kind: PinKind,
        call: &Call,
        result: &RawValue,
        message: &Members<'_>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Decision {
        let Some(members) = Members::of(result) else {
            return self.rest(call, result, message, host, effects).unwrap_or(Decision::AsIs);
        };
        let others = members.0.iter().filter(|(name, _)| name != kind.member() && !OPAQUE.contains(&&**name));
        let others = object(others.map(|(name, value)| (&**name, value.get().to_owned())));
        if let Ok(others) = RawValue::from_string(others)
            && let Some(decision) = self.rest(call, &others, message, host, effects)
        {
            return decision;
        }
        if self.policy.pin == PinMode::Off {
            return Decision::AsIs;
        }
        let is_known = self.pins().is_complete(kind);
        let mut has_removed = false;
        let remaining = members.0.iter().map(|(name, value)| {
            let value = if name == kind.member() {
                let (remaining, removed) = self.check_entries(kind, value, is_known, host, effects);
                has_removed |= removed;
                remaining
            } else {
                value.get().to_owned()
            };
            (&**name, value)
        });
        let remaining = object(remaining);
        let is_last_page = members.texts("nextCursor").is_empty();
        effects.pins_changed |= is_last_page && self.pins().set_complete(kind);
        if has_removed {
            Decision::Changed(with_member(message, "result", Some(&remaining)))
        } else {
            Decision::AsIs
        }
    }

    /// Pins the instructions of a server, and removes them if they changed.
    pub(super) fn greeting(
        &mut self,
        result: &RawValue,
        message: &Members<'_>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Decision {
        let Some(members) = Members::of(result).filter(|_| self.policy.pin != PinMode::Off) else {
            return Decision::AsIs;
        };
        let (_, check) = self.pins().check(PinKind::Instructions, instructions(&members), false);
        effects.pins_changed |= check != PinCheck::Same;
        if check != PinCheck::Same {
            self.scan_definition("the server", result, host, effects);
        }
        let PinCheck::Changed(_) = check else { return Decision::AsIs };
        let consequence = self.consequence("and were removed");
        self.warn(effects, format!("the instructions of the server changed{consequence}"));
        if self.policy.pin != PinMode::Block {
            return Decision::AsIs;
        }
        let remaining = members.0.iter().filter(|(name, _)| name != "instructions");
        let remaining = object(remaining.map(|(name, value)| (&**name, value.get().to_owned())));
        Decision::Changed(with_member(message, "result", Some(&remaining)))
    }

    /// Judges everything in a list but its entries. Returns `None` if it passes, or the decision on the message.
    fn rest(
        &mut self,
        call: &Call,
        rest: &RawValue,
        message: &Members<'_>,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> Option<Decision> {
        let unknown = unknown_members(message);
        if rest.get() == "{}" && unknown.is_empty() {
            return None;
        }
        let view = gated_view::view(rest, ValueKind::Other);
        let judged = self.judge(rest, &view, unknown, Some(call), host);
        if judged.passed && judged.redacted.is_none() {
            return None;
        }
        let action = if self.policy.observe { Action::Observed } else { Action::Blocked };
        let mut record = self.record(call, action, host);
        (record.passed, record.total) = (false, judged.total.into());
        record.gates.extend(judged.gates);
        let answer = reply::blocked(&call.id, &call.evaluation_id, &record.gates, Stage::NoTool);
        effects.records.push(CallRecord { counts: false, ..record });
        Some(if self.policy.observe { Decision::AsIs } else { Decision::Changed(answer) })
    }

    /// Checks the entries of a list against their pins. Returns the remaining entries, and whether some were removed.
    fn check_entries(
        &mut self,
        kind: PinKind,
        entries: &RawValue,
        is_known: bool,
        host: &dyn Host,
        effects: &mut Effects,
    ) -> (String, bool) {
        let blocks = self.policy.pin == PinMode::Block;
        let (consequence, word) = (self.consequence("and was removed"), kind.word());
        let Some(entries) = items(entries) else {
            self.warn(effects, format!("the list of {word}s is not an array{consequence}"));
            return if blocks { ("[]".to_owned(), true) } else { (entries.get().to_owned(), false) };
        };
        let mut remaining = Vec::new();
        for entry in &entries {
            let Some(definition) = definition(kind, entry) else {
                // An entry without exactly one name cannot be pinned.
                self.warn(effects, format!("a {word} has no {}{consequence}", kind.key()));
                remaining.extend((!blocks).then_some(entry.get()));
                continue;
            };
            let (name, check) = self.pins().check(kind, definition, is_known);
            effects.pins_changed |= check != PinCheck::Same;
            match &check {
                PinCheck::First | PinCheck::Same | PinCheck::Upgraded => {}
                PinCheck::New if kind == PinKind::Resource => {
                    self.warn(effects, "there is a new resource".to_owned());
                }
                PinCheck::New => self.warn(effects, format!("{word} {name} is new")),
                PinCheck::Changed(change) => {
                    let members = change.names();
                    let warning = format!(
                        "{word} {name}: definition changed: {members}{consequence} (--accept-pins accepts it)"
                    );
                    self.warn(effects, warning);
                }
            }
            if check != PinCheck::Same {
                self.scan_definition(&format!("{word} {name}"), entry, host, effects);
            }
            if !(blocks && matches!(check, PinCheck::Changed(_))) {
                remaining.push(entry.get());
            }
        }
        (format!("[{}]", remaining.join(",")), remaining.len() < entries.len())
    }

    /// Returns the end of a warning: what the proxy did about it, if it blocks.
    fn consequence(&self, blocked: &str) -> String {
        if self.policy.pin == PinMode::Block { format!(", {blocked}") } else { String::new() }
    }

    /// Warns if a definition looks like an attack.
    fn scan_definition(&mut self, name: &str, text: &RawValue, host: &dyn Host, effects: &mut Effects) {
        let Some(engine) = &self.engines.definitions else { return };
        let verdict = evaluate(engine, &Context::of(text), host);
        let reason = verdict.gates.iter().filter(|gate| !gate.passed).find_map(|gate| gate.reason.clone());
        if let Some(reason) = reason {
            self.warn(effects, format!("{name}: {reason}"));
        }
    }
}

/// Builds an object from members that are already JSON.
fn object<'m>(members: impl Iterator<Item = (&'m str, String)>) -> String {
    let write = |(name, value)| format!("{}:{value}", serde_json::to_string(name).unwrap_or_default());
    format!("{{{}}}", members.map(write).collect::<Vec<_>>().join(","))
}
