//! The settings of `renown proxy`: flags, else the environment, else `[proxy]` of the configuration.
//!
//! ```toml
//! [proxy]
//! agent = "reviewer-1"
//! server = "http://127.0.0.1:7070"     # the key is best in RENOWN_KEY
//! observe = false
//! pre = false
//! roots = ["/srv/repo"]
//! pin = "block"                        # or "warn", "off"
//! methods = ["resources/read", "-prompts/get"]   # also logged; not judged
//! ```

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use renown_core::gates::{Choice, Engine, GateSettings, JudgedPart, Place};
use renown_core::ids::AgentId;
use renown_core::json::Found;
use renown_proxy::{Build, Engines, PinMode, Policy};
use renown_server::keys::KeyText;
use renown_shipping::Destination;
use serde::Deserialize;

use crate::args::{PinArg, ProxyArgs};
use crate::config::{Config, data_dir, path_variable};
use crate::failure::Failure;
use crate::gate::roots;
use crate::links::links;
use crate::settings::Listen;
use crate::setup::server::ServerUrl;
use crate::store_location::no_data_dir;

use super::shown;

/// `[proxy]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProxyTable {
    agent: Option<AgentId>,
    server: Option<String>,
    key: Option<String>,
    observe: Option<bool>,
    pre: Option<bool>,
    #[serde(default)]
    roots: Vec<PathBuf>,
    pin: Option<PinArg>,
    methods: Option<Vec<String>>,
    upstream: Option<String>,
    listen: Option<String>,
    verbose: Option<bool>,
}

/// The MCP server.
pub(super) enum Server {
    Command(Vec<OsString>),
    Upstream { url: String, listen: Listen },
}

/// Every setting of the proxy.
pub(super) struct ProxySettings {
    pub(super) server: Server,
    /// Identifies this server. It may contain secrets and is never shown.
    pub(super) identity: String,
    pub(super) policy: Policy,
    pub(super) destination: Option<Destination>,
    pub(super) verbose: bool,
    pre: bool,
    data: PathBuf,
    roots: Vec<String>,
    config: Arc<Config>,
}

impl ProxySettings {
    pub(super) fn read(args: &ProxyArgs) -> Result<Self, Failure> {
        let config = Config::load_for(args.config.as_deref(), args.data.as_deref())?;
        let file = &config.proxy;
        let data = args.data.clone().or_else(|| path_variable("RENOWN_DATA"));
        let data = data.or_else(|| config.server.data.clone()).or_else(data_dir).ok_or_else(no_data_dir)?;
        let server = server(args, file)?;
        let identity = identity(&server);
        let observe = args.observe.or(file.observe).unwrap_or(false);
        let default_pin = if observe { PinArg::Warn } else { PinArg::Block };
        let (logged, ungated) = methods(args, file)?;
        let policy = Policy {
            server: shown(&server),
            agent: args.agent.clone().or_else(|| file.agent.clone()),
            observe,
            pin: PinMode::from(args.pin.or(file.pin).unwrap_or(default_pin)),
            logged,
            ungated,
        };
        // Paths of the configuration are relative to its file.
        let beside = config.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let of_file: Vec<PathBuf> = file.roots.iter().map(|root| beside.join(root)).collect();
        let named = args.root.iter().chain(&of_file).map(PathBuf::as_path);
        let among_arguments = match &server {
            Server::Command(command) => {
                command.iter().skip(1).map(Path::new).filter(|path| path.is_dir()).collect()
            }
            Server::Upstream { .. } => Vec::new(),
        };
        let all = named.chain(among_arguments).map(roots).collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Self {
            identity,
            policy,
            destination: destination(args, file)?,
            verbose: args.verbose.or(file.verbose).unwrap_or(false),
            pre: args.pre.or(file.pre).unwrap_or(false),
            data,
            roots: all,
            server,
            config: Arc::new(config),
        })
    }

    /// Returns the directory of the log, the pins and the spool.
    pub(super) fn folder(&self) -> PathBuf {
        self.data.join("proxy")
    }

    /// Returns the builder of gates. Builds those of the first session at once, so that an error appears before anything runs.
    pub(super) fn build(&self) -> Result<Build, Failure> {
        let (config, own, pre) = (Arc::clone(&self.config), self.roots.clone(), self.pre);
        let build = move |more: &[String]| -> Result<Engines, Failure> {
            let roots: Vec<String> = own.iter().chain(more).cloned().collect();
            let engine = |part| {
                config.engine(&Choice {
                    part,
                    roots: &roots,
                    links: Some(links()),
                    ..Choice::of(Place::Proxy)
                })
            };
            Ok(Engines {
                after: engine(JudgedPart::Output)?,
                before: if pre { Some(engine(JudgedPart::Arguments)?) } else { None },
                definitions: simple("injection", &GateSettings::default()),
            })
        };
        let usual = Arc::new(build(&[])?);
        Ok(Arc::new(move |more| match more {
            [] => Some(Arc::clone(&usual)),
            more => build(more).ok().map(Arc::new),
        }))
    }
}

/// Builds an engine with one gate.
fn simple(gate: &str, settings: &GateSettings) -> Option<Engine> {
    let gates = [gate.to_owned()];
    let choice = Choice { gates: Some(&gates), ..Choice::of(Place::Proxy) };
    Engine::new(settings, &choice, &mut |file| Err(file.to_owned())).ok()
}

fn server(args: &ProxyArgs, file: &ProxyTable) -> Result<Server, Failure> {
    if !args.command.is_empty() {
        return Ok(Server::Command(args.command.clone()));
    }
    let listen = |text: &str| text.parse().map_err(|error| Failure::new(format!("proxy.listen: {error}")));
    let listen = match (args.listen, &file.listen) {
        (Some(listen), _) => listen,
        (None, Some(text)) => listen(text)?,
        (None, None) => Listen(([127, 0, 0, 1], 7080).into()),
    };
    let url = args.upstream.clone().or_else(|| file.upstream.clone());
    let url = url.ok_or_else(|| {
        Failure::new("no server was given").hint("renown proxy -- COMMAND, or renown proxy --upstream URL")
    })?;
    Ok(Server::Upstream { url, listen })
}

/// Returns the methods whose results are logged too, and the methods that are not judged. Methods of MCP contain a slash; a name
/// without one is a mistake.
fn methods(args: &ProxyArgs, file: &ProxyTable) -> Result<(Vec<String>, Vec<String>), Failure> {
    match (&args.methods, &file.methods) {
        (Some(methods), _) => methods_of("--methods", methods.clone()),
        (None, Some(methods)) => methods_of("proxy.methods", methods.clone()),
        (None, None) => Ok((Vec::new(), Vec::new())),
    }
}

fn methods_of(name: &str, methods: Vec<String>) -> Result<(Vec<String>, Vec<String>), Failure> {
    let known = [
        "resources",
        "prompts",
        "completion",
        "tasks",
        "tools",
        "sampling",
        "elicitation",
        "logging",
        "roots",
        "notifications",
    ];
    let (mut logged, mut ungated) = (Vec::new(), Vec::new());
    for written in methods {
        let method = written.strip_prefix('-').unwrap_or(&written);
        let space = method.split_once('/').map(|(space, _)| space);
        let Some(space) = space.filter(|space| !space.is_empty()) else {
            let found = Found::quoted(method);
            return Err(Failure::new(format!("{name}: {found}, expected a method such as resources/read")));
        };
        // `resource/read` would silently match nothing.
        if let Some(meant) = known.iter().find(|known| known.strip_suffix('s') == Some(space)) {
            let hint = format!("MCP calls it `{}`", method.replacen(space, meant, 1));
            return Err(Failure::new(format!("{name}: {} is not a method", Found::quoted(method))).hint(hint));
        }
        if method == written {
            logged.push(written);
            continue;
        }
        if ["tools/call", "tasks/result", "tasks/get"].contains(&method) {
            let hint = "with --observe, nothing is blocked";
            return Err(
                Failure::new(format!("{name}: {} is always judged", Found::quoted(method))).hint(hint)
            );
        }
        ungated.push(method.to_owned());
    }
    Ok((logged, ungated))
}

fn destination(args: &ProxyArgs, file: &ProxyTable) -> Result<Option<Destination>, Failure> {
    let from_file = |text: &String| {
        text.parse::<ServerUrl>().map_err(|error| Failure::new(format!("proxy.server: {error}")))
    };
    let server = match &args.server {
        Some(server) => Some(server.as_str().to_owned()),
        None => file.server.as_ref().map(from_file).transpose()?.map(|server| server.as_str().to_owned()),
    };
    let Some(server) = server else {
        // A variable may be meant for another command; an argument is not.
        if args.key.is_some() {
            let hint = "--server URL names the server that receives the verdicts";
            return Err(Failure::new("--key: no server for this key").hint(hint));
        }
        return Ok(None);
    };
    let variable = std::env::var("RENOWN_KEY").ok().filter(|key| !key.is_empty());
    let (name, key) = match (&args.key, variable, &file.key) {
        (Some(key), _, _) => ("--key", key.clone()),
        (None, Some(key), _) => ("RENOWN_KEY", key),
        (None, None, Some(key)) => ("proxy.key", key.clone()),
        (None, None, None) => {
            let hint = "set RENOWN_KEY to a key of that server: `renown keys create` creates one";
            return Err(Failure::new("no key for the server").hint(hint));
        }
    };
    // Errors never repeat a key, not even an invalid one: it may be a valid key with a typo.
    let key: KeyText =
        key.trim().parse().map_err(|error| Failure::new(format!("{name}: not a key, {error}")))?;
    Ok(Some(Destination { server, key: key.reveal().to_owned() }))
}

/// Returns the text that identifies a server.
fn identity(server: &Server) -> String {
    match server {
        Server::Command(command) => {
            let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
            words.join(" ")
        }
        Server::Upstream { url, .. } => url.clone(),
    }
}

/// Returns the name of a server without secrets.
fn shown(server: &Server) -> String {
    match server {
        Server::Command(words) => shown::command(words, &identity(server)),
        Server::Upstream { url, .. } => shown::address(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_with_a_minus_is_not_judged() {
        let read = |methods: &[&str]| {
            let methods = methods.iter().map(|method| (*method).to_owned()).collect();
            methods_of("--methods", methods).map_err(|failure| failure.to_string())
        };
        let both = read(&["resources/read", "-prompts/get"]).unwrap();
        assert_eq!(both, (vec!["resources/read".to_owned()], vec!["prompts/get".to_owned()]));
        for (methods, error) in [
            (&["read"][..], "--methods: \"read\", expected a method such as resources/read"),
            (&["-resource/read"], "--methods: \"resource/read\" is not a method"),
            (&["-tools/call"], "--methods: \"tools/call\" is always judged"),
            (&["-tasks/result"], "--methods: \"tasks/result\" is always judged"),
        ] {
            assert_eq!(read(methods).unwrap_err(), error);
        }
    }
}
