//! Runs the gates in the Node process: on the event loop, or on a thread of Node's pool for large outputs, which would
//! block the event loop.

use std::path::Path;
use std::sync::Arc;

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;
use renown_embed::{self as embed, BuildError, CustomResult, FieldError, Subject};
use serde_json::value::RawValue;

use crate::{failed, invalid, verdict};

/// A set of gates.
#[napi]
pub struct Engine {
    engine: Arc<embed::Engine>,
}

/// An output to judge, and its context.
#[napi(object)]
pub struct EvaluationArgs {
    /// Agent that returned the output.
    pub agent_id: String,
    /// The output, as JSON text.
    pub output: String,
    /// Tool that returned the output.
    pub tool: Option<String>,
    /// Input of the tool, as JSON text.
    pub input: Option<String>,
    /// Latency of the agent, in milliseconds.
    pub latency_ms: Option<f64>,
    /// Time limit of the caller for this output, in milliseconds.
    pub tmax_ms: Option<i64>,
    /// Start of the request, in milliseconds after 1970.
    pub started_at: Option<i64>,
}

#[napi]
#[expect(clippy::needless_pass_by_value, reason = "arguments from Node are copied, so they are owned")]
impl Engine {
    /// Builds the gates with these names. `settings` holds the tables of a settings file as JSON. Without names, builds
    /// the gates of `Engine.default()`. The caller runs the gates in `customs`.
    #[napi(constructor)]
    pub fn new(settings: String, names: Option<Vec<String>>, customs: Vec<String>) -> Result<Self> {
        wrap(embed::Engine::of(&settings, names.as_deref(), &customs))
    }

    /// Builds the gates that a settings file defines for a place. Custom gates that its set does not name are added at
    /// the end.
    #[napi(factory)]
    pub fn from_file(path: String, place: String, customs: Vec<String>) -> Result<Self> {
        wrap(embed::Engine::from_file(Path::new(&path), &place, &customs))
    }

    /// Throws the error that an evaluation would throw for these arguments. Does not check the output and the input.
    #[napi]
    pub fn check(args: EvaluationArgs) -> Result<()> {
        subject(&args).map(drop)
    }

    /// Names of the gates, in the configured order.
    #[napi(getter)]
    pub fn names(&self) -> Vec<String> {
        self.engine.names()
    }

    /// Time budget of an evaluation, in milliseconds.
    #[napi(getter)]
    pub fn budget_ms(&self) -> u32 {
        u32::try_from(self.engine.budget().as_millis()).unwrap_or(u32::MAX)
    }

    /// Whether gates after the first failing one are skipped.
    #[napi(getter)]
    pub fn fail_fast(&self) -> bool {
        self.engine.fail_fast()
    }

    /// Judges an output. Returns the result as JSON text.
    #[napi]
    pub fn evaluate(&self, args: EvaluationArgs) -> Result<String> {
        finish(start(&self.engine, &args)?)
    }

    /// Like `evaluate`, on another thread.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn evaluate_later(&self, args: EvaluationArgs) -> AsyncTask<EvaluateTask> {
        AsyncTask::new(EvaluateTask { engine: Arc::clone(&self.engine), args })
    }

    /// Runs the built-in gates. The caller then runs the custom gates.
    #[napi]
    pub fn start(&self, args: EvaluationArgs) -> Result<Evaluation> {
        start(&self.engine, &args).map(Evaluation::of)
    }

    /// Like `start`, on another thread.
    #[napi(ts_return_type = "Promise<Evaluation>")]
    pub fn start_later(&self, args: EvaluationArgs) -> AsyncTask<StartTask> {
        AsyncTask::new(StartTask { engine: Arc::clone(&self.engine), args })
    }
}

/// An evaluation whose built-in gates have run.
#[napi]
pub struct Evaluation {
    evaluation: Option<embed::Evaluation>,
    names: Vec<String>,
}

/// The outcome of a custom gate.
#[napi(object)]
pub struct Answer {
    /// `pass`, `fail`, `skip` or `late`. Any other word is an error of the gate.
    pub word: String,
    /// The reason of the gate.
    pub reason: Option<String>,
    /// Time that the gate took, in seconds.
    pub seconds: f64,
}

#[napi]
impl Evaluation {
    fn of(evaluation: embed::Evaluation) -> Self {
        Self { names: evaluation.customs(), evaluation: Some(evaluation) }
    }

    /// Names of the custom gates that still have to run.
    #[napi(getter)]
    pub fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Time left for the custom gates, in milliseconds.
    #[napi(getter)]
    pub fn left_ms(&self) -> f64 {
        self.evaluation.as_ref().map_or(0.0, |evaluation| evaluation.left().as_secs_f64() * 1000.0)
    }

    /// Returns the result as JSON text, including the outcomes of the custom gates. Can be called only once.
    #[napi]
    pub fn finish(&mut self, answers: Vec<Answer>) -> Result<String> {
        let evaluation =
            self.evaluation.take().ok_or_else(|| failed("the evaluation is already finished"))?;
        let outcomes = answers
            .into_iter()
            .map(|answer| -> CustomResult { (answer.word, answer.reason, answer.seconds) });
        verdict::text(evaluation.finish(outcomes.collect()).map_err(failed)?)
    }
}

/// A whole evaluation on another thread.
pub struct EvaluateTask {
    engine: Arc<embed::Engine>,
    args: EvaluationArgs,
}

impl Task for EvaluateTask {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        finish(start(&self.engine, &self.args)?)
    }

    fn resolve(&mut self, _: Env, text: String) -> Result<String> {
        Ok(text)
    }
}

/// The built-in gates of an evaluation on another thread.
pub struct StartTask {
    engine: Arc<embed::Engine>,
    args: EvaluationArgs,
}

impl Task for StartTask {
    type Output = embed::Evaluation;
    type JsValue = Evaluation;

    fn compute(&mut self) -> Result<embed::Evaluation> {
        start(&self.engine, &self.args)
    }

    fn resolve(&mut self, _: Env, evaluation: embed::Evaluation) -> Result<Evaluation> {
        Ok(Evaluation::of(evaluation))
    }
}

/// Wraps an engine for JavaScript, or converts the error.
fn wrap(engine: core::result::Result<embed::Engine, BuildError>) -> Result<Engine> {
    match engine {
        Ok(engine) => Ok(Engine { engine: Arc::new(engine) }),
        Err(error @ BuildError::Settings(_)) => Err(invalid(error)),
        Err(error @ BuildError::File(_)) => Err(failed(error)),
    }
}

fn start(engine: &embed::Engine, args: &EvaluationArgs) -> Result<embed::Evaluation> {
    let subject = subject(args)?;
    let output = json(&args.output)?;
    let input = args.input.as_deref().map(json).transpose()?;
    engine.start(subject, output, input).map_err(failed)
}

fn subject(args: &EvaluationArgs) -> Result<Subject> {
    let whole = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
    let (tmax_ms, started_at) = (whole(args.tmax_ms), whole(args.started_at));
    Subject::new(&args.agent_id, args.tool.as_deref(), args.latency_ms, tmax_ms, started_at)
        .map_err(|error| invalid_field(&error))
}

fn finish(evaluation: embed::Evaluation) -> Result<String> {
    verdict::text(evaluation.finish(Vec::new()).map_err(failed)?)
}

fn json(text: &str) -> Result<&RawValue> {
    serde_json::from_str(text).map_err(invalid)
}

/// Creates the error for an invalid field, with its name in camel case.
fn invalid_field(error: &FieldError) -> Error {
    let mut parts = error.field.split('_');
    let mut name = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    Error::new(Status::InvalidArg, format!("{name}: {}", error.reason))
}
