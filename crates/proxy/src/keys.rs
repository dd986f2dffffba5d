//! Keys that some client reads as another key.
//!
//! Many decoders accept a key that is only similar to the name of a member: Go and Newtonsoft ignore case, Unicode folding makes `ſ` an s
//! and the Kelvin sign a k, some normalize, some stop at a NUL, some ignore spaces or invisible characters. For such a client `Result` is a
//! result. So in every object that a client interprets, a key is refused if it folds into a name of the protocol without being that name, or
//! into another key of the same object.
//!
//! Free-form data and everything below it is exempt: clients look for no names there, the gates see all of its text, and an honest server
//! may have `Id` and `id` in one row of a table. [`FREE`] lists the members that contain such data.

use unicode_normalization::UnicodeNormalization;

/// The names of a JSON-RPC message.
pub(crate) const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// The names inside of a message that tell the proxy or a client what a text is. A name that is missing here cannot hide anything: its text
/// is judged whatever its name is.
const NAMES: [&str; 27] = [
    "_meta",
    "blob",
    "completion",
    "content",
    "contents",
    "data",
    "error",
    "inputRequests",
    "inputSchema",
    "instructions",
    "isError",
    "message",
    "messages",
    "method",
    "mimeType",
    "nextCursor",
    "params",
    "prompts",
    "resource",
    "resourceTemplates",
    "resources",
    "result",
    "structuredContent",
    "task",
    "text",
    "tools",
    "values",
];

/// Members that contain free-form data.
const FREE: [&str; 11] = [
    "_meta",
    "arguments",
    "data",
    "experimental",
    "extensions",
    "input",
    "inputSchema",
    "metadata",
    "outputSchema",
    "requestedSchema",
    "structuredContent",
];

/// Returns whether a member contains free-form data.
pub(crate) fn is_free(key: &str) -> bool {
    FREE.contains(&key)
}

/// Checks the keys of one object while they are read.
pub(crate) struct Keys {
    names: &'static [&'static str],
    folded: Vec<String>,
}

impl Keys {
    /// Creates a check for the keys of a message.
    pub(crate) fn of_message() -> Self {
        Self { names: &ENVELOPE, folded: Vec::new() }
    }

    /// Creates a check for the keys of an object inside of a message.
    pub(crate) fn inside() -> Self {
        Self { names: &NAMES, folded: Vec::new() }
    }

    /// Adds a key. Returns `false` if some client could read it as a name of the protocol that it is not.
    pub(crate) fn add(&mut self, key: &str) -> bool {
        let folded = fold(key);
        let is_other_name = |name: &&str| *name != key && is_fold_of(&folded, name);
        let is_sound = !key.contains('\0') && !self.names.iter().any(is_other_name);
        self.folded.push(folded);
        is_sound
    }

    /// Returns whether no client could read one of the keys as another.
    pub(crate) fn are_distinct(mut self) -> bool {
        self.folded.sort_unstable();
        self.folded.windows(2).all(|pair| pair.first() != pair.last())
    }
}

/// Returns whether a folded key equals a folded name of the protocol. Names consist of ASCII letters and `_`.
fn is_fold_of(folded: &str, name: &str) -> bool {
    folded.len() == name.len() && folded.bytes().eq(name.bytes().map(|byte| byte.to_ascii_lowercase()))
}

/// Folds a key as the most tolerant client would.
fn fold(key: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_graphic();
    if key.bytes().all(is_plain) {
        return key.to_ascii_lowercase();
    }
    // Upper case and then lower case folds more than lower case alone: ſ and K, dotless i, ß.
    let visible = key.nfkc().filter(|char| !is_invisible(*char));
    let folded: String = visible
        .flat_map(char::to_uppercase)
        .collect::<String>()
        .chars()
        .flat_map(char::to_lowercase)
        .collect();
    let folded: String = folded.nfkc().filter(|char| !is_invisible(*char)).collect();
    folded.trim().to_owned()
}

/// Returns whether some client skips a character when it compares: controls, and characters that Unicode calls ignorable.
fn is_invisible(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_sound(mut keys: Keys, names: &[&str]) -> bool {
        names.iter().all(|name| keys.add(name)) && keys.are_distinct()
    }

    #[test]
    fn a_key_that_folds_into_a_name_is_refused() {
        for key in [
            "Result",
            "RESULT",
            "re\u{17f}ult",
            "ｒｅｓｕｌｔ",
            "result\0",
            "result\0x",
            " result",
            "result ",
            "result\t",
            "re\u{200b}sult",
            "\u{feff}result",
            "res\u{ad}ult",
            "Id",
            "\u{131}d",
            "ID\u{a0}",
            "Method",
            "PARAMS",
            "Error",
            "JsonRPC",
        ] {
            assert!(!are_sound(Keys::of_message(), &[key]), "{key:?}");
        }
        for key in ["Content", "STRUCTUREDCONTENT", "structuredcontent", "mimetype", "too\u{200d}ls", "TEXT"]
        {
            assert!(!are_sound(Keys::inside(), &[key]), "{key:?}");
        }
        // The Kelvin sign is a k.
        assert!(!are_sound(Keys::inside(), &["tas\u{212a}"]));
    }

    #[test]
    fn two_keys_that_fold_into_each_other_are_refused() {
        for pair in
            [["a", "A"], ["a", "a"], ["x", "x "], ["straße", "STRASSE"], ["é", "e\u{301}"], ["k", "\u{212a}"]]
        {
            assert!(!are_sound(Keys::inside(), &pair), "{pair:?}");
        }
    }

    #[test]
    fn ordinary_keys_are_sound() {
        assert!(are_sound(Keys::of_message(), &ENVELOPE));
        assert!(are_sound(Keys::inside(), &NAMES));
        let others = [
            "name",
            "title",
            "Name2",
            "日本",
            "é",
            "io.modelcontextprotocol/x",
            "x-y",
            "",
            "_",
            "id",
            "result2",
        ];
        assert!(are_sound(Keys::inside(), &others));
        assert!(are_sound(Keys::of_message(), &["extra", "日本"]));
    }
}
