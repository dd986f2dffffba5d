//! The gates in process: at once, or on a thread of Node's pool where an output is so large that the event loop would wait.

use std::path::Path;
use std::sync::Arc;

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;
use renown_embed::{self as embed, BuildError, FieldError, Said, Subject};
use serde_json::value::RawValue;

use crate::{failed, refused, verdict};

/// A set of gates.
#[napi]
pub struct Engine {
    engine: Arc<embed::Engine>,
}

/// What is to be judged. The output and the input are JSON text.
#[napi(object)]
pub struct Asked {
    /// Whose output it is.
    pub agent_id: String,
    /// The output.
    pub output: String,
    /// The tool that made it.
    pub tool: Option<String>,
    /// What the tool was given.
    pub input: Option<String>,
    /// How long the agent took.
    pub latency_ms: Option<f64>,
    /// The time that there is for the output.
    pub tmax_ms: Option<i64>,
    /// When that began, in milliseconds after 1970.
    pub started_at: Option<i64>,
}

#[napi]
#[expect(clippy::needless_pass_by_value, reason = "what Node gives is copied out of it, so it is owned")]
impl Engine {
    /// The gates of a list by their names, with the tables that a file would have as JSON. Without names, those of
    /// `Engine.default()`. Those in `customs` are run by the caller.
    #[napi(constructor)]
    pub fn new(settings: String, names: Option<Vec<String>>, customs: Vec<String>) -> Result<Self> {
        built(embed::Engine::of(&settings, names.as_deref(), &customs))
    }

    /// The gates that a file has for a place. Those of the caller that its set does not name stand after it.
    #[napi(factory)]
    pub fn from_file(path: String, place: String, customs: Vec<String>) -> Result<Self> {
        built(embed::Engine::from_file(Path::new(&path), &place, &customs))
    }

    /// Refuses what an evaluation would refuse, but for the output and the input, before there is one.
    #[napi]
    pub fn check(asked: Asked) -> Result<()> {
        subject(&asked).map(drop)
    }

    /// The names of its gates, in the order in which they stand.
    #[napi(getter)]
    pub fn names(&self) -> Vec<String> {
        self.engine.names()
    }

    /// The time that a whole evaluation may take.
    #[napi(getter)]
    pub fn budget_ms(&self) -> u32 {
        u32::try_from(self.engine.budget().as_millis()).unwrap_or(u32::MAX)
    }

    /// Whether gates after the first failing one are skipped.
    #[napi(getter)]
    pub fn fail_fast(&self) -> bool {
        self.engine.fail_fast()
    }

    /// Judges an output, and gives what was found as JSON text.
    #[napi]
    pub fn evaluate(&self, asked: Asked) -> Result<String> {
        finish(start(&self.engine, &asked)?)
    }

    /// The same on another thread.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn evaluate_later(&self, asked: Asked) -> AsyncTask<Evaluating> {
        AsyncTask::new(Evaluating { engine: Arc::clone(&self.engine), asked })
    }

    /// Runs the built-in gates and leaves those of the caller.
    #[napi]
    pub fn start(&self, asked: Asked) -> Result<Evaluation> {
        start(&self.engine, &asked).map(Evaluation::of)
    }

    /// The same on another thread.
    #[napi(ts_return_type = "Promise<Evaluation>")]
    pub fn start_later(&self, asked: Asked) -> AsyncTask<Starting> {
        AsyncTask::new(Starting { engine: Arc::clone(&self.engine), asked })
    }
}

/// An evaluation whose built-in gates are done.
#[napi]
pub struct Evaluation {
    evaluation: Option<embed::Evaluation>,
    names: Vec<String>,
}

/// What a gate of the caller said.
#[napi(object)]
pub struct Answer {
    /// `pass`, `fail`, `skip` or `late`; anything else is nonsense.
    pub word: String,
    /// Why.
    pub reason: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

#[napi]
impl Evaluation {
    fn of(evaluation: embed::Evaluation) -> Self {
        Self { names: evaluation.customs(), evaluation: Some(evaluation) }
    }

    /// The names of the caller's gates that are left to run.
    #[napi(getter)]
    pub fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// The milliseconds that are left for them.
    #[napi(getter)]
    pub fn left_ms(&self) -> f64 {
        self.evaluation.as_ref().map_or(0.0, |evaluation| evaluation.left().as_secs_f64() * 1000.0)
    }

    /// What was found, as JSON text, with what they said. To be called once.
    #[napi]
    pub fn finish(&mut self, answers: Vec<Answer>) -> Result<String> {
        let evaluation = self.evaluation.take().ok_or_else(|| failed("the evaluation is over"))?;
        let said = answers.into_iter().map(|answer| -> Said { (answer.word, answer.reason, answer.seconds) });
        verdict::text(evaluation.finish(said.collect()).map_err(failed)?)
    }
}

/// A whole evaluation on another thread.
pub struct Evaluating {
    engine: Arc<embed::Engine>,
    asked: Asked,
}

impl Task for Evaluating {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        finish(start(&self.engine, &self.asked)?)
    }

    fn resolve(&mut self, _: Env, text: String) -> Result<String> {
        Ok(text)
    }
}

/// The built-in gates of an evaluation on another thread.
pub struct Starting {
    engine: Arc<embed::Engine>,
    asked: Asked,
}

impl Task for Starting {
    type Output = embed::Evaluation;
    type JsValue = Evaluation;

    fn compute(&mut self) -> Result<embed::Evaluation> {
        start(&self.engine, &self.asked)
    }

    fn resolve(&mut self, _: Env, evaluation: embed::Evaluation) -> Result<Evaluation> {
        Ok(Evaluation::of(evaluation))
    }
}

fn built(engine: core::result::Result<embed::Engine, BuildError>) -> Result<Engine> {
    match engine {
        Ok(engine) => Ok(Engine { engine: Arc::new(engine) }),
        Err(error @ BuildError::Settings(_)) => Err(refused(error)),
        Err(error @ BuildError::File(_)) => Err(failed(error)),
    }
}

fn start(engine: &embed::Engine, asked: &Asked) -> Result<embed::Evaluation> {
    let subject = subject(asked)?;
    let output = json(&asked.output)?;
    let input = asked.input.as_deref().map(json).transpose()?;
    engine.start(subject, output, input).map_err(failed)
}

fn subject(asked: &Asked) -> Result<Subject> {
    let whole = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
    let (tmax_ms, started_at) = (whole(asked.tmax_ms), whole(asked.started_at));
    Subject::new(&asked.agent_id, asked.tool.as_deref(), asked.latency_ms, tmax_ms, started_at)
        .map_err(|error| of_field(&error))
}

fn finish(evaluation: embed::Evaluation) -> Result<String> {
    verdict::text(evaluation.finish(Vec::new()).map_err(failed)?)
}

fn json(text: &str) -> Result<&RawValue> {
    serde_json::from_str(text).map_err(refused)
}

/// In the spelling of JavaScript.
fn of_field(error: &FieldError) -> Error {
    let mut parts = error.field.split('_');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    Error::new(Status::InvalidArg, format!("{name}: {}", error.reason))
}
