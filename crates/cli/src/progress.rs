//! How far a long input has been read, or a long check has come: shown once it has taken a second, on a terminal only.

use std::fmt;
use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::failure::{self, Failure};

/// What is done before this needs no bar.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// How often the time that a silent step has taken is shown anew.
const TICK: Duration = Duration::from_millis(200);

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

/// The progress of a long work on a database. Some of its steps report how far they are, others nothing until they are done.
pub(crate) struct Work {
    bar: ProgressBar,
    silent: ProgressStyle,
    counting: ProgressStyle,
    /// What the thread that will show it waits for: its end.
    done: Option<Sender<()>>,
}

impl Work {
    /// The progress over things that are counted, of which `at` tells how many; `wanted` if it may be shown.
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

    /// Shows it once it has taken long enough, from a thread of its own: a silent step calls nobody.
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

    /// So many of so many are done.
    pub(crate) fn at(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            // What went before says nothing about the rate.
            self.bar.reset_eta();
        }
        // A copy that is whole is checked, and that is silent again.
        let style = if done < total { &self.counting } else { &self.silent };
        self.bar.set_style(style.clone());
        self.bar.set_position(done);
    }
}

/// Takes the bar away.
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

    /// A terminal that keeps everything that was ever written to it.
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
        /// Waits until this was shown.
        fn shows(&self, text: &str) {
            let started = Instant::now();
            while !self.0.lock().unwrap().contains(text) {
                assert!(started.elapsed() < Duration::from_mins(1), "{text}: {:?}", self.0);
                thread::yield_now();
            }
        }
    }

    #[test]
    fn a_step_that_reports_nothing_is_shown_too() {
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
    fn what_is_done_soon_is_not_shown() {
        let (terminal, mut work) = (Terminal::default(), Work::hidden("pages"));
        let shown = terminal.clone();
        work.show(Duration::from_hours(1), move || ProgressDrawTarget::term_like(Box::new(shown)));
        work.at(1000, 4000);
        drop(work);
        assert_eq!(*terminal.0.lock().unwrap(), "");
    }
}
