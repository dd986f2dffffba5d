//! The name of a server for output, logs and storage, without possible secrets.
//!
//! | part of a command | shown |
//! |---|---|
//! | the program | its name, without the directory |
//! | the script or package that an interpreter runs | its name, if it is the first word and looks like one: `server.js`, `@scope/name` |
//! | options | their names: `--token`, `-H`; attached values are left out |
//! | all other words | `…`, because any of them may be a password |
//!
//! | part of an address | shown |
//! |---|---|
//! | scheme, host, port | unchanged, without user and password |
//! | the path | words of a few letters; `…` for the rest, because some services put a token there |
//! | query and fragment | left out |
//!
//! A hash of the whole command or address follows, so that two servers that look alike have different names.

use std::ffi::OsString;
use std::path::Path;

use sha2::{Digest, Sha256};

/// Replaces words that are not shown.
const HIDDEN: &str = "…";

/// File name extensions of scripts.
const SCRIPTS: [&str; 10] = [".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".sh", ".jar", ".dll", ".exe"];

/// Returns a command without possible secrets.
pub(super) fn command(words: &[OsString], identity: &str) -> String {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut shown: Vec<String> = Vec::new();
    let mut has_script = false;
    for (index, word) in words.iter().enumerate() {
        let word = match word.as_str() {
            word if index == 0 => file_name(word),
            word if word.starts_with('-') => option(word),
            word if !has_script && is_script(word) => file_name(word),
            word if !has_script && is_package(word) => word.to_owned(),
            _ => HIDDEN.to_owned(),
        };
        has_script |= index > 0 && !word.starts_with('-');
        if word != HIDDEN || shown.last().is_some_and(|last| last != HIDDEN) {
            shown.push(word);
        }
    }
    format!("{} {}", shown.join(" "), hash(identity))
}

/// Returns an address without possible secrets.
pub(super) fn address(url: &str) -> String {
    let bare = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = bare.split_once("://").unwrap_or(("", bare));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or_default();
    let path: Vec<&str> =
        path.split('/').map(|word| if is_plain_word(word) { word } else { HIDDEN }).collect();
    format!("{scheme}://{host}/{} {}", path.join("/"), hash(url))
}

/// Returns the name of an option, without an attached value.
fn option(word: &str) -> String {
    let dashes = if word.starts_with("--") { "--" } else { "-" };
    let rest = word.strip_prefix(dashes).unwrap_or_default();
    let name = rest.split(['=', ':']).next().unwrap_or_default();
    let is_name = |name: &str| {
        name.chars().count() <= 32
            && name.chars().all(|char| char.is_ascii_alphabetic() || matches!(char, '-' | '_'))
    };
    let short: String = rest.chars().take(1).filter(char::is_ascii_alphanumeric).collect();
    let (name, is_cut) = match dashes {
        "--" if is_name(name) => (name, name.len() < rest.len()),
        "--" => ("", true),
        // `-pSECRET` and `-p` are both in use.
        _ => (short.as_str(), short.len() < rest.len()),
    };
    format!("{dashes}{name}{}", if is_cut { HIDDEN } else { "" })
}

fn file_name(word: &str) -> String {
    Path::new(word).file_name().map_or_else(|| HIDDEN.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn is_script(word: &str) -> bool {
    SCRIPTS.iter().any(|end| word.to_ascii_lowercase().ends_with(end)) && !word.contains("://")
}

/// Returns whether a word is an npm package with a scope, or a name of lower-case words such as `mcp-server-git`.
fn is_package(word: &str) -> bool {
    let is_name = |name: &str| {
        let words: Vec<&str> = name.split(['-', '_', '.']).collect();
        words.iter().all(|word| is_plain_word(word) && !word.is_empty())
    };
    let (name, version) = word.rsplit_once('@').filter(|(name, _)| !name.is_empty()).unwrap_or((word, ""));
    let is_version = version.len() <= 16 && version.chars().all(|char| char.is_ascii_digit() || char == '.')
        || version == "latest";
    let is_named = match name.strip_prefix('@').and_then(|name| name.split_once('/')) {
        Some((scope, name)) => is_name(scope) && is_name(name),
        None => name.contains("mcp") && is_name(name),
    };
    is_named && is_version
}

/// Returns whether a word is a few lower-case letters or a version: too short to be a secret.
fn is_plain_word(word: &str) -> bool {
    let is_version = word
        .strip_prefix('v')
        .is_some_and(|rest| rest.len() <= 3 && rest.chars().all(|char| char.is_ascii_digit()));
    is_version || (word.len() <= 20 && word.chars().all(|char| char.is_ascii_lowercase()))
}

/// Returns a hash that distinguishes servers that look alike.
fn hash(identity: &str) -> String {
    let hash = Sha256::digest(identity.as_bytes());
    format!("#{}", renown_core::hex::encode(hash.get(..4).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &[&str]) -> String {
        let text = command(&words.iter().map(Into::into).collect::<Vec<_>>(), &words.join(" "));
        let (text, hash) = text.rsplit_once(" #").unwrap();
        assert_eq!(hash.len(), 8);
        text.to_owned()
    }

    #[test]
    fn a_command_keeps_its_program_and_the_names_of_its_options() {
        for (words, text) in [
            (
                &["npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv"][..],
                "npx -y @modelcontextprotocol/server-filesystem …",
            ),
            (&["npx", "-y", "@scope/name@1.2.3"], "npx -y @scope/name@1.2.3"),
            (&["uvx", "mcp-server-git", "--repository", "/srv"], "uvx mcp-server-git --repository …"),
            (&["/usr/bin/node", "/home/ada/server.js", "stdio"], "node server.js …"),
            (&["server", "--token", "SECRET"], "server --token …"),
            (&["server", "--token=SECRET", "--verbose"], "server --token… --verbose"),
            (&["server", "-H", "Authorization: Bearer SECRET"], "server -H …"),
            (&["server", "-pSECRET", "-Dkey=SECRET"], "server -p… -D…"),
            (&["server", "--SECRET0123456789"], "server --…"),
            (&["psql-mcp", "postgres://user:SECRET@host/db"], "psql-mcp …"),
            (&["server", "SECRET", "SECRET", "SECRET.js"], "server …"),
            (&["sh", "-c", "TOKEN=SECRET exec server"], "sh -c …"),
            (&["env", "TOKEN=SECRET", "server"], "env …"),
        ] {
            assert_eq!(shown(words), text, "{words:?}");
        }
    }

    #[test]
    fn commands_that_look_alike_have_different_names() {
        let words = |token: &str| ["server", "--token", token].map(Into::into);
        assert_ne!(command(&words("a"), "server --token a"), command(&words("b"), "server --token b"));
    }

    #[test]
    fn an_address_keeps_its_host_and_plain_words() {
        for (url, text) in [
            ("https://u:p@host:8/mcp?token=SECRET#x", "https://host:8/mcp"),
            ("http://127.0.0.1:3001/mcp", "http://127.0.0.1:3001/mcp"),
            ("http://127.0.0.1:3001", "http://127.0.0.1:3001/"),
            ("https://host/api/v1/s/NWQxZjc4/mcp/", "https://host/api/v1/s/…/mcp/"),
        ] {
            assert_eq!(address(url).rsplit_once(" #").unwrap().0, text, "{url}");
        }
        assert_ne!(address("https://host/?a=1"), address("https://host/?a=2"));
    }
}
