//! The state of a server, which every route shares.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use renown_core::gates::Engine;
use renown_core::ids::{EvalRunId, EvaluationId, OrgId, RunId, ScheduleId};
use renown_core::time::Timestamp;
use renown_store::{
    Clock, ClockError, EvaluationOutcome, NewEvaluation, NewEvaluationId, ReadError, Ready, Retention, Store,
    WriteError,
};
use renown_telemetry::prices::Prices;
use uuid::Uuid;

use crate::admission::Admission;
use crate::auth::loopback::OtlpAuth;
use crate::changes::Changes;
use crate::error::{Code, log_refused};
use crate::idempotency::InFlight;
use crate::judging::Judging;
use crate::keys::KeyRing;
use crate::limits::Limits;
use crate::otlp::Telemetry;
use crate::pages::visits::{OnToken, Visits};
use crate::prometheus::Metrics;
use crate::random::Sequence;
use crate::rate_limit::RateLimit;
use crate::work::Wake;

/// How long a result of `/ready` is reused, so that frequent probes do not cost disk writes.
const READY_FOR: Duration = Duration::from_secs(1);

/// The settings of an operator.
pub struct ServerSettings {
    /// The gates that `/v1/evaluate` runs.
    pub engine: Engine,
    /// Requests per minute of one organization; 0 means no limit.
    pub requests_per_minute: u64,
    /// The same for `/v1/ingest` and telemetry, which share a limit of their own.
    pub ingest_per_minute: u64,
    /// Sizes, counts and times that clients must keep to.
    pub limits: Limits,
    /// How long evidence is kept.
    pub retention: Retention,
    /// Whether telemetry is accepted without a key.
    pub otlp_auth: OtlpAuth,
    /// Prices of model calls, for telemetry that does not contain the cost.
    pub prices: Prices,
    /// The settings of the pages.
    pub pages: PageSettings,
}

/// The settings of the pages.
pub struct PageSettings {
    /// Whether the data is generated demo data. Every page says so.
    pub demo: bool,
    /// Agents with a score below this need attention.
    pub attention_below: u32,
    /// Called with each new one-time token.
    pub on_token: OnToken,
}

impl Default for PageSettings {
    fn default() -> Self {
        Self { demo: false, attention_below: ATTENTION_BELOW, on_token: Box::new(|_| {}) }
    }
}

/// The default of [`PageSettings::attention_below`].
pub const ATTENTION_BELOW: u32 = 600;

/// The OTLP ports, besides the API's port.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OtlpPorts {
    pub(crate) http: Option<u16>,
    pub(crate) grpc: Option<u16>,
}

/// Why the store cannot write now.
#[derive(Clone, Debug)]
pub(crate) struct NotReady {
    /// The cause for the log. `None` if it was logged already.
    pub(crate) cause: Option<String>,
    /// The code and the text for the caller. The text omits the cause, which may be confidential.
    pub(crate) answer: (Code, String),
}

impl NotReady {
    fn of(error: &WriteError) -> Self {
        let (text, unavailable) = (error.to_string(), "the store cannot write now");
        match error {
            WriteError::Clock(clock) => Self { cause: Some(text), answer: (Code::Clock, clock.to_string()) },
            WriteError::Refused(_) => {
                log_refused(error);
                Self { cause: None, answer: (Code::StoreUnavailable, format!("{unavailable}: {text}")) }
            }
            WriteError::Overloaded
            | WriteError::NoOrganization(_)
            | WriteError::Damaged(_)
            | WriteError::Unavailable(_)
            | WriteError::Unknown(_)
            | WriteError::Bug(_) => {
                Self { cause: Some(text), answer: (Code::StoreUnavailable, unavailable.to_owned()) }
            }
        }
    }
}

/// The state of a server.
pub struct Api {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Clock,
    pub(crate) engine: Engine,
    pub(crate) keys: KeyRing,
    pub(crate) requests: Option<RateLimit>,
    pub(crate) ingests: Option<RateLimit>,
    pub(crate) limits: Limits,
    pub(crate) retention: Retention,
    pub(crate) wake: Wake,
    pub(crate) in_flight: InFlight,
    pub(crate) judging: Judging,
    pub(crate) evaluating: Admission,
    pub(crate) ingesting: Admission,
    pub(crate) changes: Changes,
    pub(crate) metrics: Metrics,
    pub(crate) telemetry: Telemetry,
    pub(crate) otlp_auth: OtlpAuth,
    pub(crate) visits: Visits,
    pub(crate) demo: bool,
    pub(crate) attention_below: u32,
    /// The OTLP ports, set once the server listens.
    pub(crate) otlp_ports: OnceLock<OtlpPorts>,
    sequence: Sequence,
    ready: tokio::sync::Mutex<Option<(Instant, Result<Ready, NotReady>)>>,
}

impl Api {
    /// Creates the API over a store.
    pub async fn new(
        store: Arc<dyn Store>,
        settings: ServerSettings,
        clock: Clock,
    ) -> Result<Arc<Self>, ReadError> {
        let keys = KeyRing::new(&store.keys().await?);
        Ok(Arc::new(Self {
            store,
            clock,
            engine: settings.engine,
            keys,
            requests: RateLimit::new(settings.requests_per_minute),
            ingests: RateLimit::new(settings.ingest_per_minute),
            judging: Judging::new(settings.limits.judging_bytes_max),
            evaluating: Admission::new(settings.limits.evaluations_max),
            ingesting: Admission::new(settings.limits.ingests_max),
            limits: settings.limits,
            retention: settings.retention,
            wake: Wake::default(),
            in_flight: InFlight::default(),
            changes: Changes::new(),
            metrics: Metrics::new(),
            telemetry: Telemetry::new(settings.prices),
            otlp_auth: settings.otlp_auth,
            visits: Visits::new(settings.pages.on_token),
            demo: settings.pages.demo,
            attention_below: settings.pages.attention_below,
            otlp_ports: OnceLock::new(),
            sequence: Sequence::new().map_err(|error| ReadError::Unavailable(error.into()))?,
            ready: tokio::sync::Mutex::new(None),
        }))
    }

    /// Creates a one-time token for `/login?token=`. The previous one becomes invalid.
    pub fn new_login_token(&self) -> Result<String, getrandom::Error> {
        self.visits.new_token()
    }

    /// Returns the time. Fails if the system clock is obviously wrong.
    pub(crate) fn now(&self) -> Result<Timestamp, ClockError> {
        (self.clock)()
    }

    /// Returns the time for ids, in milliseconds. It is 0 if the clock is obviously wrong; nothing is written under such an id.
    pub(crate) fn millis(&self) -> u64 {
        self.now().map_or(0, |now| u64::try_from(now.millis()).unwrap_or_default())
    }

    /// Returns the id of an evaluation: the one that was sent, or a new one.
    pub fn event_id(&self, sent: Option<EvaluationId>) -> NewEvaluationId {
        sent.map_or_else(
            || NewEvaluationId::Generated(EvaluationId::made(self.millis(), self.sequence.next())),
            NewEvaluationId::Sent,
        )
    }

    /// Creates the id of a run.
    pub(crate) fn run_id(&self) -> RunId {
        RunId::made(self.millis(), self.random())
    }

    /// Creates the id of an eval run.
    pub(crate) fn eval_run_id(&self) -> EvalRunId {
        EvalRunId::made(self.millis(), self.random())
    }

    /// Creates the id of a schedule.
    pub(crate) fn schedule_id(&self) -> ScheduleId {
        ScheduleId::made(self.millis(), self.random())
    }

    /// Creates the seed of a sample.
    pub(crate) fn seed(&self) -> u64 {
        self.sequence.next()
    }

    fn random(&self) -> u128 {
        u128::from(self.sequence.next()) << 64 | u128::from(self.sequence.next())
    }

    /// Creates the id of a request, a UUIDv7.
    pub(crate) fn request_id(&self) -> Uuid {
        let mut random = [0; 10];
        let bytes = [self.sequence.next().to_le_bytes(), self.sequence.next().to_le_bytes()].concat();
        random.iter_mut().zip(bytes).for_each(|(random, byte)| *random = byte);
        uuid::Builder::from_unix_timestamp_millis(self.millis(), &random).into_uuid()
    }

    /// Counts an evaluation from this process as if it had been ingested.
    pub async fn count(&self, org: &OrgId, evaluation: NewEvaluation) -> Result<(), WriteError> {
        let verdict = evaluation.passed;
        let outcomes = self.store.append(org, vec![evaluation], None).await?.fresh().unwrap_or_default();
        self.counted(&[verdict], &outcomes);
        Ok(())
    }

    /// Updates the metrics after evaluations were counted, and makes the changes of their agents known.
    pub(crate) fn counted(&self, verdicts: &[bool], outcomes: &[EvaluationOutcome]) {
        let counted = |passed| {
            let counted = |(outcome, verdict): &(&EvaluationOutcome, &bool)| {
                matches!(outcome, EvaluationOutcome::Counted { .. }) && **verdict == passed
            };
            outcomes.iter().zip(verdicts).filter(counted).count() as u64
        };
        let (passed, failed) = (counted(true), counted(false));
        self.metrics.evaluations(passed, failed, outcomes.len() as u64 - passed - failed);
        self.changes.wake();
    }

    /// Checks whether the store can write now. Reuses the last result for [`READY_FOR`].
    pub(crate) async fn ready(&self) -> Result<Ready, NotReady> {
        let mut ready = self.ready.lock().await;
        match &*ready {
            Some((at, answer)) if at.elapsed() < READY_FOR => answer.clone(),
            _ => {
                let answer = self.store.ready().await.map_err(|error| NotReady::of(&error));
                *ready = Some((Instant::now(), answer.clone()));
                answer
            }
        }
    }
}
