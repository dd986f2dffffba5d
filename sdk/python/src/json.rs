//! Converts Python values to JSON text.
//!
//! | Python | JSON |
//! |---|---|
//! | `None`, `bool`, `str`, `float` | the same; NaN and infinities are errors |
//! | `int` | its digits, without a limit on their number |
//! | `list`, `tuple` | an array |
//! | `dict` | an object; keys of type `int`, `float`, `bool` or `None` become strings, as in `json.dumps` |
//! | a dataclass | an object of its fields |
//! | an object with `model_dump`, such as a pydantic model | the return value of `model_dump` |
//!
//! Every other type is an error that names the type: gates must judge the value that the caller means, not a guess.
//! Keys are neither merged nor reordered, so gates see all of them.

use std::cell::RefCell;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// Maximum depth of a value. It also stops at a value that contains itself. Gates read 128 levels.
const DEPTH_MAX: u32 = 256;

/// Converts a value to JSON text. `name` is the name of the value in errors.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Box<RawValue>> {
    // A fast path for the most common output: a string that is valid Unicode.
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

/// A Python value that serializes as JSON.
struct Json<'a, 'py> {
    value: &'a Bound<'py, PyAny>,
    depth: u32,
    /// The exception that Python code raised during the conversion, to raise it again unchanged.
    raised: &'a RefCell<Option<PyErr>>,
}

impl<'py> Json<'_, 'py> {
    fn inside<'b>(&'b self, value: &'b Bound<'py, PyAny>) -> Json<'b, 'py> {
        Json { value, depth: self.depth + 1, raised: self.raised }
    }

    /// Remembers the exception of a failed call.
    fn catch<T, E: serde::ser::Error>(&self, result: PyResult<T>) -> Result<T, E> {
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
        // A copy of the items, because a called method or another thread may change the dictionary.
        for item in dict.items() {
            let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = self.catch(item.extract())?;
            map.serialize_key(&Key(&self.inside(&key)))?;
            map.serialize_value(&self.inside(&value))?;
        }
        map.end()
    }

    fn string<S: Serializer>(&self, text: &Bound<'py, PyString>, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(text) = text.to_str() {
            return serializer.serialize_str(text);
        }
        // UTF-8 cannot encode half a surrogate pair, but JSON can escape it.
        let dumped = text.py().import("json").and_then(|json| json.call_method1("dumps", (text,)));
        let dumped: String = self.catch(dumped.and_then(|dumped| dumped.extract()))?;
        RawValue::from_string(dumped).map_err(S::Error::custom)?.serialize(serializer)
    }

    fn int<S: Serializer>(&self, int: &Bound<'py, PyAny>, serializer: S) -> Result<S::Ok, S::Error> {
        if let Ok(number) = int.extract::<i64>() {
            return serializer.serialize_i64(number);
        }
        let digits = self.catch(digits(int))?;
        RawValue::from_string(digits).map_err(S::Error::custom)?.serialize(serializer)
    }

    /// Converts dataclasses and models. Any other type is an error.
    fn other<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.value;
        if !value.is_instance_of::<PyType>() {
            if value.hasattr("__dataclass_fields__").unwrap_or(false) {
                let names =
                    value.getattr("__dataclass_fields__").and_then(|fields| fields.try_iter()?.collect());
                let names: Vec<Bound<'_, PyAny>> = self.catch(names)?;
                let mut map = serializer.serialize_map(Some(names.len()))?;
                for name in names {
                    let name: Bound<'_, PyString> = self.catch(name.cast_into().map_err(Into::into))?;
                    let field = self.catch(value.getattr(&name))?;
                    map.serialize_key(&Key(&self.inside(name.as_any())))?;
                    map.serialize_value(&self.inside(&field))?;
                }
                return map.end();
            }
            if value.hasattr("model_dump").unwrap_or(false) {
                let options = PyDict::new(value.py());
                self.catch(options.set_item("mode", "json"))?;
                let dumped = self.catch(value.call_method("model_dump", (), Some(&options)))?;
                return self.inside(&dumped).serialize(serializer);
            }
        }
        let kind = value.get_type().name();
        let kind = kind.map_or_else(|_| "this".to_owned(), |name| name.to_string());
        let allowed =
            "expected None, bool, int, float, str, list, tuple, dict, a dataclass or a pydantic model";
        Err(S::Error::custom(format_args!("a value of type {kind} is not JSON, {allowed}")))
    }
}

impl Serialize for Json<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.depth > DEPTH_MAX {
            let message = format_args!("nested deeper than {DEPTH_MAX} levels, or contains itself");
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
                    Err(S::Error::custom(format_args!("{number} is not JSON, expected a finite number")))
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
            // A key cannot be raw JSON, so half a surrogate pair becomes the replacement character.
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
            serializer.serialize_str(&self.0.catch::<_, S::Error>(digits(value))?)
        } else if value.is_instance_of::<PyFloat>() {
            let text = self.0.catch::<_, S::Error>(value.repr())?;
            serializer.serialize_str(&text.to_string_lossy())
        } else {
            let kind = value.get_type().name();
            let kind = kind.map_or_else(|_| "this".to_owned(), |name| name.to_string());
            Err(S::Error::custom(format_args!("a key of type {kind} is not JSON, expected str")))
        }
    }
}

/// Returns the digits of an integer, even if its class prints something else. By default Python converts at most 4300
/// digits.
fn digits(int: &Bound<'_, PyAny>) -> PyResult<String> {
    let plain = int.py().get_type::<PyInt>();
    match plain.call_method1("__repr__", (int,)).and_then(|text| text.extract()) {
        Ok(text) => Ok(text),
        Err(_) => Err(PyValueError::new_err(
            "an int has more digits than Python converts, see sys.set_int_max_str_digits",
        )),
    }
}
