//! How far a long input has been read: shown once it has taken a second, on a terminal only.

use std::io::{self, IsTerminal, Read};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::{self, Failure};

/// What is done before this needs no bar.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// The progress of one input.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    wanted: bool,
    started: Instant,
}

impl Progress {
    /// The progress over so many bytes, if that is known; `wanted` if it may be shown.
    pub(crate) fn new(bytes: Option<u64>, wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden());
        let colour = if std::env::var_os("NO_COLOR").is_some() { "" } else { ".cyan" };
        let template = match bytes {
            Some(_) => {
                format!("{{bar:30{colour}}} {{bytes}}/{{total_bytes}}, {{bytes_per_sec}}, {{eta}} left")
            }
            None => format!("{{spinner{colour}}} {{bytes}}, {{bytes_per_sec}}"),
        };
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self { bar, wanted: wanted && io::stderr().is_terminal(), started: Instant::now() }
    }

    /// The progress over things that are counted, of which `at` tells how many.
    pub(crate) fn of(things: &'static str, wanted: bool) -> Self {
        let progress = Self::new(Some(0), wanted);
        let template = format!("{{bar:30}} {{human_pos}}/{{human_len}} {things}, {{per_sec}}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            progress.bar.set_style(style);
        }
        progress
    }

    /// So many of so many are done.
    pub(crate) fn at(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.show();
    }

    /// Shows the bar once it has taken long enough.
    fn show(&self) {
        if self.wanted && self.bar.is_hidden() && self.started.elapsed() >= SHOWN_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// The same bytes, counted.
    pub(crate) fn count<R: Read>(&self, reader: R) -> impl Read + use<R> {
        Counted { reader, progress: self.clone() }
    }

    /// Prints an error where the bar is not.
    pub(crate) fn print(&self, failure: &Failure) {
        self.bar.suspend(|| failure::print(failure));
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

struct Counted<R> {
    reader: R,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.progress.bar.inc(read as u64);
        self.progress.show();
        Ok(read)
    }
}
