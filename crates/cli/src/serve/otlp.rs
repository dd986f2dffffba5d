//! The OTLP ports. The server is useful without them, so a port in use is only a warning: it often belongs to a collector.

use std::io;
use std::net::SocketAddr;

use renown_server::OtlpAuth;
use tokio::net::TcpListener;

use super::bind;
use super::settings::ServeSettings;
use crate::failure::Failure;
use crate::settings::{Origin, OtlpListen, Setting};

/// The listeners for telemetry.
pub(super) struct Otlp {
    pub(super) http: Option<TcpListener>,
    pub(super) grpc: Option<TcpListener>,
}

impl Otlp {
    pub(super) fn bind(settings: &ServeSettings) -> Result<Self, Failure> {
        Ok(Self { http: listener(&settings.otlp_http)?, grpc: listener(&settings.otlp_grpc)? })
    }

    /// Returns the transports and their addresses.
    fn addresses(&self) -> impl Iterator<Item = (&'static str, SocketAddr)> {
        let ports = [("HTTP", &self.http), ("gRPC", &self.grpc)];
        ports.into_iter().filter_map(|(name, port)| Some((name, port.as_ref()?.local_addr().ok()?)))
    }

    /// Returns the line of the greeting.
    pub(super) fn greeting(&self) -> String {
        let named: Vec<String> =
            self.addresses().map(|(name, address)| format!("{address} ({name})")).collect();
        if named.is_empty() { String::new() } else { format!("telemetry (OTLP) on {}\n", named.join(", ")) }
    }

    /// Logs the addresses.
    pub(super) fn log(&self, auth: OtlpAuth) {
        for (transport, address) in self.addresses() {
            tracing::info!(%address, transport, "receiving telemetry");
            if auth == OtlpAuth::Loopback && !address.ip().is_loopback() {
                tracing::info!(%address, "other machines can reach this address, so telemetry needs a key");
            }
        }
    }
}

/// Binds the address of a setting. Returns `None` if it is off or unavailable. An address of a flag that can never work is an error.
fn listener(setting: &Setting<OtlpListen>) -> Result<Option<TcpListener>, Failure> {
    let Some(address) = setting.value.0 else { return Ok(None) };
    match bind(address) {
        Ok(listener) => Ok(Some(listener)),
        Err(error)
            if error.kind() != io::ErrorKind::AddrInUse && matches!(setting.origin, Origin::Flag(_)) =>
        {
            let hint = format!("choose another address with --{0}, or --{0} off", setting.name);
            Err(Failure::new(format!("could not listen on {address} for telemetry: {error}")).hint(hint))
        }
        Err(error) => {
            let setting = setting.name;
            tracing::warn!(%address, setting, %error, "OTLP listener disabled: address unavailable; stop the process that uses it, choose another address, or set it to off");
            Ok(None)
        }
    }
}
