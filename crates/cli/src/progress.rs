//! Progress bars for long inputs and long checks. They appear after one second, and only on a terminal.

use std::fmt;
use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::failure::{self, Failure};

/// Time before a bar appears.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// Interval at which the elapsed time is updated.
const TICK: Duration = Duration::from_millis(200);

/// The progress of one input.
#[derive(Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    wanted: bool,
    started: Instant,
}

impl Progress {
    /// Creates the progress of an input of `bytes`, if its length is known. Shows nothing unless `wanted`.
    pub(crate) fn new(bytes: Option<u64>, wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(bytes, ProgressDrawTarget::hidden());
        let color = if std::env::var_os("NO_COLOR").is_some() { "" } else { ".cyan" };
        let template = match bytes {
            Some(_) => {
                format!("{{bar:30{color}}} {{bytes}}/{{total_bytes}}, {{bytes_per_sec}}, {{eta}} left")
            }
            None => format!("{{spinner{color}}} {{bytes}}, {{bytes_per_sec}}"),
        };
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self { bar, wanted: wanted && io::stderr().is_terminal(), started: Instant::now() }
    }

    /// Shows the bar after a second.
    fn show(&self) {
        if self.wanted && self.bar.is_hidden() && self.started.elapsed() >= SHOWN_AFTER {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Wraps a reader and counts its bytes.
    pub(crate) fn count<R: Read>(&self, reader: R) -> impl Read + use<R> {
        Counted { reader, progress: self.clone() }
    }

    /// Prints an error without garbling the bar.
    pub(crate) fn print(&self, failure: &Failure) {
        self.bar.suspend(|| failure::print(failure));
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The progress of a long operation on a database. Some of its steps report their progress, others report only their end.
pub(crate) struct Work {
    bar: ProgressBar,
    silent: ProgressStyle,
    counting: ProgressStyle,
    /// Ends the thread that shows the bar.
    done: Option<Sender<()>>,
}

impl Work {
    /// Creates the progress over countable things; `at` sets their number. Shows nothing unless `wanted`.
    pub(crate) fn of(things: &'static str, wanted: bool) -> Self {
        let mut work = Self::hidden(things);
        if wanted && io::stderr().is_terminal() {
            work.show(SHOWN_AFTER, ProgressDrawTarget::stderr);
        }
        work
    }

    fn hidden(things: &str) -> Self {
        let style = |template: &str| {
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
        };
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let silent = style("{spinner} checking the database, {elapsed}");
        let counting =
            style(&format!("{{bar:30}} {{human_pos}}/{{human_len}} {things}, {{rate}}/s, {{eta}} left"))
                .with_key("rate", |state: &ProgressState, text: &mut dyn fmt::Write| {
                    let _ = write!(text, "{:.0}", state.per_sec());
                });
        bar.set_style(silent.clone());
        Self { bar, silent, counting, done: None }
    }

    /// Shows the bar after a delay, from its own thread, because a silent step makes no calls.
    fn show(&mut self, after: Duration, target: impl FnOnce() -> ProgressDrawTarget + Send + 'static) {
        let (done, ended) = mpsc::channel();
        self.done = Some(done);
        let bar = self.bar.clone();
        thread::spawn(move || {
            if ended.recv_timeout(after) == Err(RecvTimeoutError::Timeout) {
                bar.set_draw_target(target());
                bar.enable_steady_tick(TICK);
            }
        });
    }

    /// Sets how many things are done.
    pub(crate) fn at(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            // The time before does not count for the rate.
            self.bar.reset_eta();
        }
        // A complete copy is checked next, which is silent again.
        let style = if done < total { &self.counting } else { &self.silent };
        self.bar.set_style(style.clone());
        self.bar.set_position(done);
    }
}

/// Removes the bar.
impl Drop for Work {
    fn drop(&mut self) {
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use indicatif::TermLike;

    use super::*;

    /// A terminal that records everything written to it.
    #[derive(Clone, Debug, Default)]
    struct Terminal(Arc<Mutex<String>>);

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            100
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Terminal {
        /// Waits until this text was shown.
        fn shows(&self, text: &str) {
            let started = Instant::now();
            while !self.0.lock().unwrap().contains(text) {
                assert!(started.elapsed() < Duration::from_mins(1), "{text}: {:?}", self.0);
                thread::yield_now();
            }
        }
    }

    #[test]
    fn a_silent_step_is_shown_too() {
        let (terminal, mut work) = (Terminal::default(), Work::hidden("pages"));
        let shown = terminal.clone();
        work.show(Duration::ZERO, move || ProgressDrawTarget::term_like(Box::new(shown)));
        terminal.shows("checking the database, 0s");
        work.at(1000, 4000);
        terminal.shows("1,000/4,000 pages, ");
        work.at(4000, 4000);
        terminal.0.lock().unwrap().clear();
        terminal.shows("checking the database, ");
    }

    #[test]
    fn a_short_operation_is_not_shown() {
        let (terminal, mut work) = (Terminal::default(), Work::hidden("pages"));
        let shown = terminal.clone();
        work.show(Duration::from_hours(1), move || ProgressDrawTarget::term_like(Box::new(shown)));
        work.at(1000, 4000);
        drop(work);
        assert_eq!(*terminal.0.lock().unwrap(), "");
    }
}
