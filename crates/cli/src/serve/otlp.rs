//! The ports of telemetry. A server is of use without them, so one that is taken is a warning: agents often have a collector there.

use std::io;
use std::net::SocketAddr;

use renown_server::OtlpAuth;
use tokio::net::TcpListener;

use super::bind;
use super::settings::ServeSettings;
use crate::failure::Failure;
use crate::settings::{Origin, OtlpListen, Setting};

/// Where telemetry is taken.
pub(super) struct Otlp {
    pub(super) http: Option<TcpListener>,
    pub(super) grpc: Option<TcpListener>,
}

impl Otlp {
    pub(super) fn bind(settings: &ServeSettings) -> Result<Self, Failure> {
        Ok(Self { http: listener(&settings.otlp_http)?, grpc: listener(&settings.otlp_grpc)? })
    }

    /// The addresses by their transport.
    fn addresses(&self) -> impl Iterator<Item = (&'static str, SocketAddr)> {
        let ports = [("HTTP", &self.http), ("gRPC", &self.grpc)];
        ports.into_iter().filter_map(|(name, port)| Some((name, port.as_ref()?.local_addr().ok()?)))
    }

    /// What a person is told of them.
    pub(super) fn greeting(&self) -> String {
        let named: Vec<String> =
            self.addresses().map(|(name, address)| format!("{address} ({name})")).collect();
        if named.is_empty() { String::new() } else { format!("telemetry (OTLP) on {}\n", named.join(", ")) }
    }

    /// What the log is told of them.
    pub(super) fn tell(&self, auth: OtlpAuth) {
        for (transport, address) in self.addresses() {
            tracing::info!(%address, transport, "taking telemetry");
            if auth == OtlpAuth::Loopback && !address.ip().is_loopback() {
                tracing::info!(%address, "other machines reach this address, so telemetry needs a key here");
            }
        }
    }
}

/// The listener of a setting, if it is on and can be had. Only what was asked for by a flag, and can never be, is an error.
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
            tracing::warn!(%address, setting, %error, "no telemetry is taken here, the address could not be had: end what has it, or choose another address, or off");
            Ok(None)
        }
    }
}
