//! `renown score`: computes scores from JSON, one input at a time.

use std::fmt;
use std::io::{self, BufReader, BufWriter, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use renown_core::json::InputError;
use renown_core::kind::{Explained, Score, ScoreKind};
use renown_core::limits;
use serde::Serialize;

use crate::args::ScoreArgs;
use crate::failure::{self, BAD_INPUT, Failure};
use crate::input_file::{InputFile, STDIN};
use crate::inputs::{ArrayEnd, Input, Inputs, Shape, Text, TextPosition};
use crate::progress::Progress;

/// Number of invalid inputs reported on standard error. Each also has an error object in the output.
const NAMED_MAX: usize = 3;

const READ_BUFFER_BYTES: usize = 256 * 1024;

/// Scores every input of the file.
pub(crate) fn run(args: &ScoreArgs, quiet: bool) -> Result<ExitCode, Failure> {
    let InputFile { name, file, bytes } = InputFile::open(&args.file, "JSON")?;
    if args.file == Path::new(STDIN) && io::stdin().is_terminal() && !quiet {
        failure::note("reading JSON from the terminal (end with Ctrl-D)");
    }
    // A bar on the terminal that shows the results would garble them.
    let progress = Progress::new(bytes, !quiet && !io::stdout().is_terminal());
    let mut scoring = Scoring::new(&name, args, progress.clone(), io::stdout().lock());
    let outcome = scoring.run(progress.count(file));
    progress.finish();
    match outcome {
        Ok(()) => {}
        // A closed pipe is a success: its reader has all that it wanted.
        Err(Stopped::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(Stopped::Output(error)) => return Err(Failure::new(format!("standard output: {error}"))),
        Err(Stopped::Input(error)) => return Err(Failure::new(format!("{name}: {error}"))),
    }
    Ok(if scoring.bad { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS })
}

/// Which side of the pipe failed.
enum Stopped {
    Input(io::Error),
    Output(io::Error),
}

/// The output for one input.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Score(Score),
    Explained(Explained),
    Refused(Refused),
}

#[derive(Serialize)]
struct Refused {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
}

/// Why one input has no score.
enum Refusal {
    Input(InputError),
    TooLong,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::TooLong => {
                write!(f, "longer than {} MiB, the limit of one input", limits::INPUT_BYTES_MAX >> 20)
            }
        }
    }
}

/// One pass over an input file.
struct Scoring<'a, W: Write> {
    args: &'a ScoreArgs,
    name: &'a str,
    progress: Progress,
    out: BufWriter<W>,
    answered: usize,
    refused: usize,
    /// Whether anything was wrong with the input.
    bad: bool,
}

impl<'a, W: Write> Scoring<'a, W> {
    fn new(name: &'a str, args: &'a ScoreArgs, progress: Progress, out: W) -> Self {
        Self { args, name, progress, out: BufWriter::new(out), answered: 0, refused: 0, bad: false }
    }

    fn run(&mut self, reader: impl Read) -> Result<(), Stopped> {
        let reader = BufReader::with_capacity(READ_BUFFER_BYTES, reader);
        let mut inputs = Inputs::new(reader).map_err(Stopped::Input)?;
        while let Some(input) = inputs.next().map_err(Stopped::Input)? {
            let answer = self.answer(input);
            self.write(inputs.shape(), &answer).map_err(Stopped::Output)?;
            // A caller that sends inputs one by one gets each answer before it sends the next input.
            if inputs.reader().buffer().trim_ascii_start().is_empty() {
                self.out.flush().map_err(Stopped::Output)?;
            }
        }
        self.close(inputs.shape(), inputs.array_end()).map_err(Stopped::Output)
    }

    fn answer(&mut self, Input { position, text }: Input) -> Answer {
        let kind = ScoreKind::from(self.args.kind);
        let answer = match text {
            Text::TooLong => Err(Refusal::TooLong),
            Text::Whole(text) if self.args.explain => {
                kind.explain(&text).map(Answer::Explained).map_err(Refusal::Input)
            }
            Text::Whole(text) => kind.score(&text).map(Answer::Score).map_err(Refusal::Input),
        };
        answer.unwrap_or_else(|refusal| {
            self.bad = true;
            self.refused += 1;
            if self.refused <= NAMED_MAX {
                self.progress.print(&Failure::new(format!("{}: {refusal}", self.locate(position, &refusal))));
            }
            let line = position.index.is_none().then_some(position.line);
            Answer::Refused(Refused { error: refusal.to_string(), line, index: position.index })
        })
    }

    /// Returns the location of an error: `runs.jsonl:3:17`, and the index in an array.
    fn locate(&self, position: TextPosition, refusal: &Refusal) -> String {
        let inside = match refusal {
            Refusal::Input(error) => error.position(),
            Refusal::TooLong => None,
        };
        let (line, column) = match inside {
            None => (position.line, position.column),
            Some((1, column)) => (position.line, position.column + column.saturating_sub(1)),
            Some((line, column)) => (position.line + line - 1, column),
        };
        let index = position.index.map(|index| format!(": [{index}]")).unwrap_or_default();
        format!("{}:{line}:{column}{index}", self.name)
    }

    fn write(&mut self, shape: Shape, answer: &Answer) -> io::Result<()> {
        let first = self.answered == 0;
        self.answered += 1;
        match shape {
            Shape::Lines => {
                serde_json::to_writer(&mut self.out, answer)?;
                self.out.write_all(b"\n")
            }
            Shape::Documents => {
                serde_json::to_writer_pretty(&mut self.out, answer)?;
                self.out.write_all(b"\n")
            }
            Shape::Array => {
                self.out.write_all(if first { b"[\n" } else { b",\n" })?;
                Ok(serde_json::to_writer(&mut self.out, answer)?)
            }
        }
    }

    /// Ends the output, and reports problems of the whole file.
    fn close(&mut self, shape: Shape, array_end: Option<ArrayEnd>) -> io::Result<()> {
        if shape == Shape::Array {
            self.out.write_all(if self.answered == 0 { b"[]\n" } else { b"\n]\n" })?;
        }
        self.out.flush()?;
        if self.refused > NAMED_MAX {
            let more = self.refused - NAMED_MAX;
            let inputs = if more == 1 { "input" } else { "inputs" };
            self.progress.print(&Failure::new(format!("{}: {more} more invalid {inputs}", self.name)));
        }
        let problem = match array_end {
            Some(ArrayEnd::Missing) => "the array is not closed, expected `]`",
            Some(ArrayEnd::Followed) => "text after the array, expected the end of the input",
            None if self.answered == 0 => {
                "empty, expected a JSON object, an array of objects, or one object per line"
            }
            Some(ArrayEnd::Closed) | None => return Ok(()),
        };
        self.bad = true;
        let failure = Failure::new(format!("{}: {problem}", self.name));
        self.progress.print(&failure.hint("`renown score --help` shows the input of each score"));
        Ok(())
    }
}
