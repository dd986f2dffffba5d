//! What a client sends, and what has to be in the store when it was acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use renown_store::sqlite::system_clock;
use uuid::Uuid;

use crate::load::{post, send};

/// Evaluations in a batch: enough for more than one statement of the store.
pub(super) const BATCH: usize = 12;

/// Records that are sent of a session at a time.
pub(super) const RECORDS: usize = 3;

/// Agents that all clients share.
const AGENTS: u64 = 5;

/// The kinds of changes, in the order in which a client sends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Evaluation,
    Batch,
    Run,
    ReputationEvent,
    Records,
    Signals,
    /// An evaluation of an agent that will be erased.
    DoomedEvaluation,
    /// Records of a session of that agent.
    DoomedRecords,
    Publication,
    Key,
    Settings,
    Erasure,
}

impl Kind {
    pub(super) const ALL: [Self; 12] = [
        Self::Evaluation,
        Self::Batch,
        Self::Run,
        Self::ReputationEvent,
        Self::Records,
        Self::Signals,
        Self::DoomedEvaluation,
        Self::DoomedRecords,
        Self::Publication,
        Self::Key,
        Self::Settings,
        Self::Erasure,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Evaluation => "evaluations",
            Self::Batch => "batches",
            Self::Run => "runs",
            Self::ReputationEvent => "reputation events",
            Self::Records => "records",
            Self::Signals => "signals",
            Self::DoomedEvaluation => "evaluations of doomed agents",
            Self::DoomedRecords => "records of doomed agents",
            Self::Publication => "publications",
            Self::Key => "keys",
            Self::Settings => "settings",
            Self::Erasure => "erasures",
        }
    }

    /// Returns the statuses that acknowledge it. A change that had arrived before may get another status than a new one.
    fn statuses(self) -> &'static [u16] {
        match self {
            Self::Batch | Self::ReputationEvent | Self::Signals => &[202],
            Self::Run => &[200, 201],
            Self::Evaluation
            | Self::DoomedEvaluation
            | Self::Records
            | Self::DoomedRecords
            | Self::Publication
            | Self::Settings => &[200],
            // A key is shown once.
            Self::Key => &[201, 409],
            Self::Erasure => &[202, 404],
        }
    }
}

/// A value that was replaced: the last acknowledged one, and one that may have replaced it since.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    pub(super) acknowledged: Option<String>,
    pub(super) in_flight: Option<String>,
}

/// An agent of one client that will be erased, and what it has so far.
#[derive(Debug, Default)]
pub(super) struct Doomed {
    pub(super) ids: Vec<String>,
    pub(super) session: Option<String>,
}

/// One client, and what has to be in the store.
#[derive(Debug)]
pub(super) struct Client {
    number: usize,
    sent: u64,
    /// Sent, but not known to have arrived.
    pub(super) in_flight: Option<Kind>,
    /// Number of acknowledged changes.
    pub(super) acknowledged: usize,
    /// Ids of evaluations, runs and reputation events.
    pub(super) ids: BTreeSet<String>,
    /// Whether signals of a session were sent, by its id.
    pub(super) sessions: BTreeMap<String, bool>,
    pub(super) key_labels: Vec<String>,
    pub(super) slug: Replaced,
    pub(super) latency_source: Replaced,
    pub(super) doomed: Doomed,
    pub(super) erased: Vec<String>,
}

impl Client {
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            sent: 0,
            in_flight: None,
            acknowledged: 0,
            ids: BTreeSet::new(),
            sessions: BTreeMap::new(),
            key_labels: Vec::new(),
            slug: Replaced::default(),
            latency_source: Replaced::default(),
            doomed: Doomed::default(),
            erased: Vec::new(),
        }
    }

    /// Returns the id of what is sent now.
    fn id(&self) -> String {
        format!("client-{}-{}", self.number, self.sent)
    }

    /// Returns a name that stays the same while every kind is sent once.
    fn named(&self, what: &str) -> String {
        format!("{what}-{}-{}", self.number, self.sent / Kind::ALL.len() as u64)
    }

    /// Returns the agent that this client publishes.
    pub(super) fn agent(&self) -> String {
        format!("client-{}", self.number)
    }

    /// Returns the agent that is erased next.
    pub(super) fn doomed_agent(&self) -> String {
        self.named("doomed")
    }

    /// Returns whether an erasure is in flight: it may have removed what its agent had.
    pub(super) fn is_erasing(&self) -> bool {
        self.in_flight == Some(Kind::Erasure)
    }

    /// Returns the number of erasures, with the one in flight.
    pub(super) fn erasures(&self) -> usize {
        self.erased.len() + usize::from(self.is_erasing())
    }

    /// Returns the ids of the batch that is sent now.
    pub(super) fn batch(&self) -> impl Iterator<Item = String> {
        let id = self.id();
        (0..BATCH).map(move |number| format!("{id}-{number}"))
    }

    /// Returns the kind of what is sent now. One client changes the settings, since all clients share them.
    fn kind(&self) -> Kind {
        let index = usize::try_from(self.sent).unwrap_or_default() % Kind::ALL.len();
        match Kind::ALL.get(index) {
            Some(Kind::Settings) if self.number > 0 => Kind::Run,
            Some(kind) => *kind,
            None => Kind::Evaluation,
        }
    }

    /// Returns the next request, or the one that is in flight, and the statuses that acknowledge it.
    pub(super) fn next(&mut self, key: &str) -> (Vec<u8>, &'static [u16]) {
        let kind = self.kind();
        self.in_flight = Some(kind);
        let (id, shared) = (self.id(), format!("agent-{}", self.sent % AGENTS));
        let request = match kind {
            Kind::Evaluation => post("/v1/evaluate", key, &evaluation(&self.agent(), &id, self.sent)),
            Kind::DoomedEvaluation => {
                post("/v1/evaluate", key, &evaluation(&self.doomed_agent(), &id, self.sent))
            }
            Kind::Batch => post("/v1/ingest", key, &batch(&shared, self.batch())),
            Kind::Run => {
                let wall_ms = self.sent;
                let body = format!(
                    r#"{{"agent_id":"{shared}","run_id":"{id}","outcome":"completed","wall_ms":{wall_ms}}}"#
                );
                post("/v1/runs", key, &body)
            }
            Kind::ReputationEvent => post("/v1/reputation-events", key, &event(&shared, &event_id(&id))),
            Kind::Records => post("/otlp/v1/logs", key, &records(&shared, &self.named("session"))),
            Kind::DoomedRecords => {
                post("/otlp/v1/logs", key, &records(&self.doomed_agent(), &self.named("doomed-session")))
            }
            Kind::Signals => {
                let body = r#"{"traces":[{"trace_id":"sent","signals":{"confidence":0.5}}]}"#;
                post(&format!("/v1/sessions/{}/signals", self.named("session")), key, body)
            }
            Kind::Publication => {
                let slug = self.named("slug");
                let body = format!(r#"{{"public":true,"slug":"{slug}"}}"#);
                self.slug.in_flight = Some(slug);
                send("PATCH", &format!("/v1/agents/{}", self.agent()), key, "", &body)
            }
            Kind::Key => {
                let body = format!(r#"{{"kind":"publishable","label":"{id}"}}"#);
                send("POST", "/v1/keys", key, &format!("Idempotency-Key: {id}\r\n"), &body)
            }
            Kind::Settings => {
                let is_even = (self.sent / Kind::ALL.len() as u64).is_multiple_of(2);
                let source = if is_even { "agent" } else { "gate" };
                self.latency_source.in_flight = Some(source.to_owned());
                send("PATCH", "/v1/settings", key, "", &format!(r#"{{"latency_source":"{source}"}}"#))
            }
            Kind::Erasure => {
                let agent = self.doomed_agent();
                send("DELETE", &format!("/v1/agents/{agent}?confirm={agent}"), key, "", "")
            }
        };
        (request, kind.statuses())
    }

    /// Called when the server has acknowledged what is in flight.
    pub(super) fn acknowledge(&mut self) {
        let id = self.id();
        match self.kind() {
            Kind::Evaluation | Kind::Run => _ = self.ids.insert(id),
            Kind::Batch => {
                let batch: Vec<String> = self.batch().collect();
                self.ids.extend(batch);
            }
            Kind::ReputationEvent => _ = self.ids.insert(event_id(&id)),
            Kind::Records => _ = self.sessions.insert(self.named("session"), false),
            Kind::Signals => _ = self.sessions.insert(self.named("session"), true),
            Kind::DoomedEvaluation => self.doomed.ids.push(id),
            Kind::DoomedRecords => self.doomed.session = Some(self.named("doomed-session")),
            Kind::Publication => self.slug.acknowledged = self.slug.in_flight.take(),
            Kind::Key => self.key_labels.push(id),
            Kind::Settings => self.latency_source.acknowledged = self.latency_source.in_flight.take(),
            Kind::Erasure => {
                self.doomed = Doomed::default();
                self.erased.push(self.doomed_agent());
            }
        }
        self.in_flight = None;
        self.acknowledged += 1;
        self.sent += 1;
    }
}

fn evaluation(agent: &str, id: &str, sent: u64) -> String {
    let output = if sent.is_multiple_of(7) { "mail bob@corp.io" } else { "all good" };
    format!(r#"{{"agent_id":"{agent}","output":"{output}","evaluation_id":"{id}"}}"#)
}

fn batch(agent: &str, ids: impl Iterator<Item = String>) -> String {
    let one = |id: String| {
        format!(
            r#"{{"agent_id":"{agent}","passed":true,"total_latency_ms":1,"latency_ms":2,"evaluation_id":"{id}"}}"#
        )
    };
    format!(r#"{{"events":[{}]}}"#, ids.map(one).collect::<Vec<_>>().join(","))
}

fn event(agent: &str, id: &str) -> String {
    let at = (system_clock())().map_or_else(|error| error.to_string(), |at| at.to_string());
    format!(
        r#"{{"events":[{{"event_id":"{id}","timestamp":"{at}","agent_id":"{agent}","category":"economic","event_type":"paid","score_delta":0.25}}]}}"#
    )
}

/// Returns the UUID of a text.
fn event_id(text: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes()).to_string()
}

/// Returns log records of a session that ended long ago, so that the server closes it a few seconds later.
fn records(agent: &str, session: &str) -> String {
    let text = |key: &str, value: &str| format!(r#"{{"key":"{key}","value":{{"stringValue":"{value}"}}}}"#);
    let one = |number: usize| {
        let attributes = [
            text("session.id", session),
            text("event.sequence", &number.to_string()),
            text("tool_name", "Edit"),
            text("success", "true"),
        ];
        let at = 1_790_000_000_000_000_000 + number;
        let attributes = attributes.join(",");
        format!(
            r#"{{"timeUnixNano":"{at}","eventName":"claude_code.tool_result","attributes":[{attributes}]}}"#
        )
    };
    let logs: Vec<String> = (1..=RECORDS).map(one).collect();
    let resource = [text("service.name", "claude-code"), text("renown.agent_id", agent)].join(",");
    format!(
        r#"{{"resourceLogs":[{{"resource":{{"attributes":[{resource}]}},"scopeLogs":[{{"logRecords":[{}]}}]}}]}}"#,
        logs.join(",")
    )
}
