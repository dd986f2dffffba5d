//! `renown keys`: creates, lists and revokes keys, in the data directory while no server holds it, or through a server.

use std::io::{self, Write};
use std::process::ExitCode;

use renown_core::ids::OrgId;
use renown_core::time::Timestamp;
use renown_server::keys::KeyText;
use renown_store::{ApiKey, KeyKind};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::args::{KeyKindArg, KeysArgs, KeysCommand, KeysTarget, TextFormatArg};
use crate::client::Client;
use crate::failure::{Failure, printable};
use crate::store_location::{self, ask, default_org};
use crate::table::{minute, table};
use crate::{as_json, printed};

const PURPOSE: &str = "renown keys";

/// Maximum length of a label, in characters. The same as in the API.
const LABEL_CHARS_MAX: usize = 200;

/// A new key, which is shown only once.
#[derive(Serialize, Deserialize)]
struct Created {
    id: Uuid,
    key: String,
    kind: String,
    org: String,
}

/// A key in the list.
#[derive(Serialize, Deserialize)]
struct Listed {
    id: Uuid,
    kind: String,
    label: Option<String>,
    org: String,
    last_four: String,
    created_at: String,
    last_used_at: Option<String>,
    revoked_at: Option<String>,
}

/// Parses the id of a key.
pub(crate) fn id(text: &str) -> Result<Uuid, String> {
    text.parse().map_err(|_| "expected the id of a key, as `renown keys list` shows it".to_owned())
}

/// Parses `--label`.
pub(crate) fn label(text: &str) -> Result<String, String> {
    match text.chars().count() {
        0..=LABEL_CHARS_MAX => Ok(text.to_owned()),
        chars => Err(format!("{chars} characters, expected at most {LABEL_CHARS_MAX}")),
    }
}

pub(crate) fn run(args: &KeysArgs) -> Result<ExitCode, Failure> {
    let text = match &args.command {
        KeysCommand::Create { org, kind, label, target } => {
            return create(org.as_ref(), *kind, label.as_deref(), target);
        }
        KeysCommand::List { org, target } => list(org.as_ref(), target)?,
        KeysCommand::Revoke { id, target } => revoke(*id, target)?,
    };
    printed(write(&text))
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

fn create(
    org: Option<&OrgId>,
    kind: KeyKindArg,
    label: Option<&str>,
    target: &KeysTarget,
) -> Result<ExitCode, Failure> {
    let kind = match kind {
        KeyKindArg::Publishable => KeyKind::Publishable,
        KeyKindArg::Secret => KeyKind::Secret,
    };
    let created: Created = if let Some(client) = Client::of(&target.server)? {
        let body = json!({"kind": kind.name(), "label": label, "org": org.map(OrgId::as_str)});
        client.post("/v1/keys", &body)?
    } else {
        let store = target.location.resolve()?.write(PURPOSE)?;
        let org = org.cloned().map_or_else(default_org, Ok)?;
        let no_randomness = |error| Failure::new(format!("no random bytes for a key: {error}"));
        let key = KeyText::generate(kind).map_err(no_randomness)?;
        let new = key.to_new(org, label.map(str::to_owned), store_location::now()?).map_err(no_randomness)?;
        let (id, org) = (new.id, new.org.to_string());
        ask(store.create_key(new, None))?;
        Created { id, key: key.reveal().to_owned(), kind: kind.name().to_owned(), org }
    };
    let text = match target.format {
        TextFormatArg::Json => as_json(&created)?,
        TextFormatArg::Text => format!(
            "{}\n{} key of {}, id {}; the key is shown only now\n",
            created.key, created.kind, created.org, created.id
        ),
    };
    // A key that was not shown is useless, but still valid.
    write(&text).map(|()| ExitCode::SUCCESS).map_err(|error| {
        Failure::new(format!("standard output: {error}; the key {} was created but not shown", created.id))
            .hint(format!("revoke it with `renown keys revoke {}`, and create another", created.id))
    })
}

fn list(org: Option<&OrgId>, target: &KeysTarget) -> Result<String, Failure> {
    let keys = if let Some(client) = Client::of(&target.server)? {
        fetch(&client, org)?
    } else {
        let keys = ask(target.location.resolve()?.read()?.keys())?;
        keys.into_iter().filter(|key| org.is_none_or(|org| key.key.org == *org)).map(Listed::of).collect()
    };
    if target.format == TextFormatArg::Json {
        return as_json(&keys);
    }
    if keys.is_empty() {
        return Ok(org.map_or_else(|| "no keys yet\n".to_owned(), |org| format!("no keys in {org}\n")));
    }
    let row = |key: &Listed| {
        let label = key.label.as_deref().unwrap_or_default();
        let state = if key.revoked_at.is_some() { "revoked" } else { "" };
        [
            key.id.to_string(),
            key.org.clone(),
            key.kind.clone(),
            format!("…{}", key.last_four),
            minute(&key.created_at),
            key.last_used_at.as_ref().map_or_else(|| "never".to_owned(), minute),
            printable(label),
            state.to_owned(),
        ]
    };
    let rows: Vec<_> = keys.iter().map(row).collect();
    Ok(table(["ID", "ORG", "KIND", "KEY", "CREATED (UTC)", "LAST USED", "LABEL", ""], &rows))
}

/// Reads all pages of a server's keys.
fn fetch(client: &Client, org: Option<&OrgId>) -> Result<Vec<Listed>, Failure> {
    #[derive(Deserialize)]
    struct Page {
        data: Vec<Listed>,
        next_cursor: Option<String>,
    }
    let org = org.map(|org| format!("&org={org}")).unwrap_or_default();
    let (mut keys, mut cursor) = (Vec::new(), String::new());
    loop {
        let page: Page = client.get(&format!("/v1/keys?limit=100{org}{cursor}"))?;
        keys.extend(page.data);
        match page.next_cursor {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(keys),
        }
    }
}

fn revoke(id: Uuid, target: &KeysTarget) -> Result<String, Failure> {
    if let Some(client) = Client::of(&target.server)? {
        client.delete(&format!("/v1/keys/{id}"))?;
    } else {
        let location = target.location.resolve()?;
        let unknown = || Failure::new(format!("no key {id}")).hint("`renown keys list` shows their ids");
        let known = ask(location.read()?.keys())?.into_iter().find(|key| key.key.id == id);
        let org = known.ok_or_else(unknown)?.key.org;
        let store = location.write(PURPOSE)?;
        if !ask(store.revoke_key(&org, id))? {
            return Err(unknown());
        }
    }
    Ok(match target.format {
        TextFormatArg::Json => as_json(&json!({"id": id, "revoked": true}))?,
        TextFormatArg::Text => format!("revoked {id}\n"),
    })
}

impl Listed {
    fn of(key: ApiKey) -> Self {
        let time = |time: Timestamp| time.to_string();
        Self {
            id: key.key.id,
            kind: key.key.kind.name().to_owned(),
            label: key.key.label,
            org: key.key.org.to_string(),
            last_four: key.key.last_four,
            created_at: time(key.created_at),
            last_used_at: key.last_used_at.map(time),
            revoked_at: key.revoked_at.map(time),
        }
    }
}
