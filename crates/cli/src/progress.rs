//! A progress bar for what can take over a second.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Files below this are done before a bar could be read.
const SHOWN_FROM_BYTES: u64 = 64 * 1024 * 1024;

/// A bar over so many bytes: on a terminal only, and not when results are printed to the same one.
pub(crate) fn bar(bytes: u64, quiet: bool) -> ProgressBar {
    if quiet || bytes < SHOWN_FROM_BYTES || io::stdout().is_terminal() || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = if std::env::var_os("NO_COLOR").is_some() {
        "{bar:30} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left"
    } else {
        "{bar:30.cyan} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left"
    };
    let bar = ProgressBar::new(bytes);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
