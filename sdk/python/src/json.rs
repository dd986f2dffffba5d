//! Python values as JSON text.
//!
//! | Python | JSON |
//! |---|---|
//! | `None`, `bool`, `str`, `float` | the same; NaN and the infinities are refused |
//! | `int` | its digits, however many |
//! | `list`, `tuple` | an array |
//! | `dict` | an object; keys that are `int`, `float`, `bool` or `None` become texts, as `json.dumps` does it |
//! | a dataclass | an object of its fields |
//! | something with `model_dump` | what that gives: a model of pydantic |
//!
//! Everything else is refused by name: a guess would be judged in place of what was meant. Nothing is merged or reordered, so
//! gates see every key that is there.

use std::cell::RefCell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// Deeper values are refused, which is also how a value ends that contains itself. Gates look at 128 levels.
const DEPTH_MAX: u32 = 256;

/// The text of a value; `name` is what an error calls it.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Box<RawValue>> {
    // The usual output is a text, and the usual text needs no second look.
    if let Ok(text) = value.cast::<PyString>()
        && let Ok(text) = text.to_str()
    {
        return to_raw_value(text).map_err(|error| PyValueError::new_err(format!("{name}: {error}")));
    }
    let raised = RefCell::new(None);
    to_raw_value(&Json { value, depth: 0, raised: &raised }).map_err(|error| match raised.take() {
        Some(raised) => raised,
        None => PyValueError::new_err(format!("{name}: {error}")),
    })
}

struct Json<'a, 'py> {
    value: &'a Bound<'py, PyAny>,
    depth: u32,
    /// What Python raised on the way, to be raised again as it was.
    raised: &'a RefCell<Option<PyErr>>,
}

impl<'py> Json<'_, 'py> {
    fn inside<'b>(&'b self, value: &'b Bound<'py, PyAny>) -> Json<'b, 'py> {
        Json { value, depth: self.depth + 1, raised: self.raised }
    }

    fn kept<T, E: serde::ser::Error>(&self, result: PyResult<T>) -> Result<T, E> {
        result.map_err(|error| {
            self.raised.replace(Some(error));
            E::custom("raised")
        })
    }

    fn list<S: Serializer>(
        &self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for item in items {
            list.serialize_element(&self.inside(&item))?;
        }
        list.end()
    }

    fn dict<S: Serializer>(&self, dict: &Bound<'py, PyDict>, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        // A copy of its items: what is called on the way, or another thread, may change the dictionary.
        for item in dict.items() {
            let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = self.kept(item.extract())?;
            map.serialize_key(&Key(&self.inside(&key)))?;
            map.serialize_value(&self.inside(&value))?;
        }
        map.end()
    }

    fn string<S: Serializer>(&self, text: &Bound<'py, PyString>, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(text) = text.to_str() {
            return serializer.serialize_str(text);
        }
        // Half a surrogate pair has no UTF-8, and an escape in JSON.
        let dumped = text.py().import("json").and_then(|json| json.call_method1("dumps", (text,)));
        let dumped: String = self.kept(dumped.and_then(|dumped| dumped.extract()))?;
        RawValue::from_string(dumped).map_err(S::Error::custom)?.serialize(serializer)
    }

    fn int<S: Serializer>(&self, int: &Bound<'py, PyAny>, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(number) = int.extract::<i64>() {
            return serializer.serialize_i64(number);
        }
        let digits = self.kept(digits(int))?;
        RawValue::from_string(digits).map_err(S::Error::custom)?.serialize(serializer)
    }

    /// What is no JSON itself and stands for something that is.
    fn other<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.value;
        if !value.is_instance_of::<PyType>() {
            if value.hasattr("__dataclass_fields__").unwrap_or(false) {
                let names =
                    value.getattr("__dataclass_fields__").and_then(|fields| fields.try_iter()?.collect());
                let names: Vec<Bound<'_, PyAny>> = self.kept(names)?;
                let mut map = serializer.serialize_map(Some(names.len()))?;
                for name in names {
                    let name: Bound<'_, PyString> = self.kept(name.cast_into().map_err(Into::into))?;
                    let field = self.kept(value.getattr(&name))?;
                    map.serialize_key(&Key(&self.inside(name.as_any())))?;
                    map.serialize_value(&self.inside(&field))?;
                }
                return map.end();
            }
            if value.hasattr("model_dump").unwrap_or(false) {
                let options = PyDict::new(value.py());
                self.kept(options.set_item("mode", "json"))?;
                let dumped = self.kept(value.call_method("model_dump", (), Some(&options)))?;
                return self.inside(&dumped).serialize(serializer);
            }
        }
        let kind = value.get_type().name();
        let kind = kind.map_or_else(|_| "this".to_owned(), |name| name.to_string());
        let allowed =
            "expected None, bool, int, float, str, list, tuple, dict, a dataclass or a pydantic model";
        Err(S::Error::custom(format_args!("a value of type {kind} is no JSON, {allowed}")))
    }
}

impl Serialize for Json<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.depth > DEPTH_MAX {
            let message = format_args!("nested deeper than {DEPTH_MAX} levels, or it contains itself");
            return Err(S::Error::custom(message));
        }
        let value = self.value;
        if let Ok(text) = value.cast::<PyString>() {
            self.string(text, serializer)
        } else if value.is_none() {
            serializer.serialize_unit()
        } else if let Ok(flag) = value.cast::<PyBool>() {
            serializer.serialize_bool(flag.is_true())
        } else if value.is_instance_of::<PyInt>() {
            self.int(value, serializer)
        } else if let Ok(float) = value.cast::<PyFloat>() {
            match float.value() {
                number if number.is_finite() => serializer.serialize_f64(number),
                number => {
                    Err(S::Error::custom(format_args!("{number} is no JSON, expected a finite number")))
                }
            }
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.dict(dict, serializer)
        } else if let Ok(list) = value.cast::<PyList>() {
            self.list(list.iter(), serializer)
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.list(tuple.iter(), serializer)
        } else {
            self.other(serializer)
        }
    }
}

/// The key of an object.
struct Key<'a, 'py>(&'a Json<'a, 'py>);

impl Serialize for Key<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0.value;
        if let Ok(text) = value.cast::<PyString>() {
            // A key cannot be raw JSON, so half a surrogate pair becomes the mark of what cannot be read.
            return match text.to_str() {
                Ok(text) => serializer.serialize_str(text),
                Err(_) => serializer.serialize_str(&text.to_string_lossy()),
            };
        }
        if value.is_none() {
            serializer.serialize_str("null")
        } else if let Ok(flag) = value.cast::<PyBool>() {
            serializer.serialize_str(if flag.is_true() { "true" } else { "false" })
        } else if value.is_instance_of::<PyInt>() {
            serializer.serialize_str(&self.0.kept::<_, S::Error>(digits(value))?)
        } else if value.is_instance_of::<PyFloat>() {
            let text = self.0.kept::<_, S::Error>(value.repr())?;
            serializer.serialize_str(&text.to_string_lossy())
        } else {
            let kind = value.get_type().name();
            let kind = kind.map_or_else(|_| "this".to_owned(), |name| name.to_string());
            Err(S::Error::custom(format_args!("a key of type {kind} is no JSON, expected str")))
        }
    }
}

/// An integer as it is written, also where its class prints something else. `str` would refuse more than 4300 digits.
fn digits(int: &Bound<'_, PyAny>) -> PyResult<String> {
    let plain = int.py().get_type::<PyInt>();
    match plain.call_method1("__repr__", (int,)).and_then(|text| text.extract()) {
        Ok(text) => Ok(text),
        Err(_) => Err(PyValueError::new_err(
            "an int of more digits than Python prints, see sys.set_int_max_str_digits",
        )),
    }
}
