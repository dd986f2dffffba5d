//! Compares a reply with its expectation; `api-scenarios/README.md` has the table of matchers.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

/// The captured values by name.
pub(super) type Variables = BTreeMap<String, Value>;

/// Replaces variables in a text: `${name}`.
pub(super) fn fill(text: &str, variables: &Variables) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) =
            after.split_once('}').unwrap_or_else(|| panic!("no end of a variable in {text}"));
        filled.push_str(before);
        match variables.get(name) {
            Some(Value::String(value)) => filled.push_str(value),
            Some(value) => filled.push_str(&value.to_string()),
            None => panic!("there is no variable {name}, in {text}"),
        }
        rest = behind;
    }
    filled + rest
}

/// Checks a value against its expectation, and captures values. An error has the path of the difference.
pub(super) fn check(
    place: &str,
    expected: &Value,
    found: Option<&Value>,
    variables: &mut Variables,
) -> Result<(), String> {
    let refused = |what: &str| {
        let found = found.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        Err(format!("{place}: {found}, expected {what}"))
    };
    if let Value::Object(fields) = expected
        && fields.keys().any(|name| name.starts_with('$'))
    {
        return special(place, fields, found, variables);
    }
    let Some(value) = found else { return refused(&expected.to_string()) };
    match (expected, value) {
        (Value::String(text), Value::String(_)) => {
            let text = fill(text, variables);
            if *value == Value::String(text.clone()) { Ok(()) } else { refused(&format!("{text:?}")) }
        }
        (Value::Number(expected), Value::Number(number)) => {
            // 3 and 3.0 are the same number in JSON.
            if expected.as_f64() == number.as_f64() { Ok(()) } else { refused(&expected.to_string()) }
        }
        (Value::Array(items), Value::Array(values)) => {
            if items.len() != values.len() {
                return refused(&format!("{} items", items.len()));
            }
            for (index, (item, value)) in items.iter().zip(values).enumerate() {
                check(&format!("{place}[{index}]"), item, Some(value), variables)?;
            }
            Ok(())
        }
        (Value::Object(fields), Value::Object(_)) => object(place, fields, value, variables),
        (expected, value) if expected == value => Ok(()),
        (expected, _) => refused(&expected.to_string()),
    }
}

fn object(
    place: &str,
    fields: &Map<String, Value>,
    value: &Value,
    variables: &mut Variables,
) -> Result<(), String> {
    fields.iter().try_for_each(|(name, expected)| {
        check(&format!("{place}.{name}"), expected, value.get(name), variables)
    })
}

/// Checks a matcher: every `$` of it must hold.
fn special(
    place: &str,
    matcher: &Map<String, Value>,
    found: Option<&Value>,
    variables: &mut Variables,
) -> Result<(), String> {
    let shown = found.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    let ensure = |holds: bool, what: String| {
        if holds { Ok(()) } else { Err(format!("{place}: {shown}, expected {what}")) }
    };
    for (name, argument) in matcher {
        match name.as_str() {
            "$absent" => ensure(found.is_none(), "nothing".to_owned())?,
            "$is" => {
                let kind = argument.as_str().unwrap_or_default();
                ensure(found.is_some_and(|found| is(kind, found)), kind.to_owned())?;
            }
            "$matches" => {
                let pattern = fill(argument.as_str().unwrap_or_default(), variables);
                let regex = Regex::new(&pattern).unwrap();
                let text = found.map(|found| found.as_str().map_or_else(|| found.to_string(), str::to_owned));
                ensure(text.is_some_and(|text| regex.is_match(&text)), format!("a text like {pattern}"))?;
            }
            "$between" => {
                let bound = |index: usize| argument.get(index).and_then(Value::as_f64).unwrap();
                let number = found.and_then(Value::as_f64);
                let holds = number.is_some_and(|number| (bound(0)..=bound(1)).contains(&number));
                ensure(holds, format!("a number in {argument}"))?;
            }
            "$length" => {
                let length = found.and_then(Value::as_array).map(Vec::len);
                ensure(
                    length == argument.as_u64().and_then(|length| length.try_into().ok()),
                    format!("{argument} items"),
                )?;
            }
            "$each" => {
                for (index, item) in found.and_then(Value::as_array).into_iter().flatten().enumerate() {
                    check(&format!("{place}[{index}]"), argument, Some(item), variables)?;
                }
            }
            "$only" => {
                let fields = argument.as_object().unwrap();
                let extra = found
                    .and_then(Value::as_object)
                    .and_then(|found| found.keys().find(|name| !fields.contains_key(name.as_str())));
                ensure(extra.is_none(), format!("no field but {:?}", fields.keys().collect::<Vec<_>>()))?;
                check(place, argument, found, variables)?;
            }
            "$capture" => {
                let value = found.cloned().ok_or_else(|| format!("{place}: nothing to capture"))?;
                variables.insert(argument.as_str().unwrap().to_owned(), value);
            }
            other => panic!("{place}: no matcher {other}"),
        }
    }
    Ok(())
}

fn is(kind: &str, found: &Value) -> bool {
    match kind {
        "any" => true,
        "string" => found.is_string(),
        "number" => found.is_number(),
        "boolean" => found.is_boolean(),
        "null" => found.is_null(),
        "array" => found.is_array(),
        "object" => found.is_object(),
        "time" => matches(r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$", found),
        "uuid" => matches("^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", found),
        other => panic!("no kind {other}"),
    }
}

fn matches(pattern: &str, found: &Value) -> bool {
    found.as_str().is_some_and(|text| Regex::new(pattern).unwrap().is_match(text))
}
