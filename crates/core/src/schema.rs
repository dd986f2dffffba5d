//! Schemas of the types that parse or write their JSON by hand, for the document of the API. Types with a derived `Serialize`
//! derive their schema too. Only compiled with the feature `schema`.
//!
//! | schema | of |
//! |---|---|
//! | with a description | a component of the document with its own name, such as `AgentName` |
//! | without a description | a plain text or number, which the document shows where it is used |

use std::borrow::Cow;

use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{KnownFormat, Ref, RefOr, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

use crate::decimal::Decimal;
use crate::identity::{Reference, ScoreDelta};
use crate::ids::{
    AgentId, EvalRunId, EvaluationId, EventType, IdentityId, OrgId, RunId, ScheduleId, SessionId, Slug,
    SpecId, ToolName, TraceId, Workspace,
};
use crate::json::Strict;
use crate::limits;
use crate::session_metrics::Weight;
use crate::time::{Day, Timestamp};
use crate::units::{Micros, Unit, Whole};

/// Defines the name and the schema of types.
macro_rules! schemas {
    ($($type:ty, $name:literal, $schema:expr;)+) => {$(
        impl PartialSchema for $type {
            fn schema() -> RefOr<Schema> {
                $schema.into()
            }
        }

        impl ToSchema for $type {
            fn name() -> Cow<'static, str> {
                $name.into()
            }
        }
    )+};
}

schemas! {
    AgentId, "AgentName", path_segment(limits::AGENT_ID_CHARS_MAX)
        .description(Some("Id of an agent: 1 to 200 characters without control characters, not `.` or `..`."));
    OrgId, "OrgName", plain_name().description(Some("The name of an organization."));
    RunId, "RunName", name_of_run(limits::RUN_ID_CHARS_MAX);
    Workspace, "RunName", name_of_run(limits::WORKSPACE_CHARS_MAX);
    SpecId, "RunName", name_of_run(limits::SPEC_ID_CHARS_MAX);
    SessionId, "SessionName", text()
        .min_length(Some(1))
        .max_length(Some(limits::SESSION_ID_BYTES_MAX))
        .format(Some(custom("session-id")))
        .description(Some("Id of a session, as its agent reports it: 1 to 256 bytes."));
    IdentityId, "IdentityName", text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
        .pattern(Some("^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"))
        .description(Some("A UUID."));
    Reference, "ReferenceType", text().enum_values(Some(Reference::ALL.map(Reference::name))).description(Some(
        "Kind of the thing that an event refers to: `session`, `transaction` or `attestation`; empty if it refers to nothing.",
    ));
    Timestamp, "TimeText", text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("A time from 2000 to 2100 as RFC 3339."));
    TimeMillis, "TimeMillis", whole()
        .minimum(Some(Timestamp::MIN.millis()))
        .maximum(Some(Timestamp::MAX.millis()))
        .description(Some("A time as whole milliseconds after 1970."));
    TraceId, "TraceId", text()
        .min_length(Some(1))
        .max_length(Some(limits::TRACE_ID_BYTES_MAX))
        .format(Some(custom("trace-id")));
    Slug, "Slug", plain_name();
    EvaluationId, "EvaluationId", text().pattern(Some("^[A-Za-z0-9_-]{1,64}$"));
    EventType, "EventType", text().min_length(Some(1)).max_length(Some(limits::EVENT_TYPE_CHARS_MAX));
    ToolName, "ToolName", text().max_length(Some(limits::TOOL_NAME_CHARS_MAX));
    Day, "Day", text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)));
    EvalRunId, "EvalRunId", text().pattern(Some("^[A-Za-z0-9_-]{1,64}$"));
    ScheduleId, "ScheduleId", text().pattern(Some("^[A-Za-z0-9_-]{1,64}$"));
    Weight, "Weight", number().minimum(Some(0)).maximum(Some(limits::SIGNAL_WEIGHT_MAX));
    Unit, "Unit", number().minimum(Some(0)).maximum(Some(1));
    Micros, "Micros", number().minimum(Some(0)).maximum(Some(limits::LATENCY_MS_MAX));
    Whole, "Whole", whole().minimum(Some(0));
    ScoreDelta, "ScoreDelta", number()
        .minimum(Some(limits::SCORE_DELTA_ABS_MAX.copysign(-1.0)))
        .maximum(Some(limits::SCORE_DELTA_ABS_MAX));
}

impl<const PLACES: u32> PartialSchema for Decimal<PLACES> {
    fn schema() -> RefOr<Schema> {
        number().into()
    }
}

impl<const PLACES: u32> ToSchema for Decimal<PLACES> {
    fn name() -> Cow<'static, str> {
        "Decimal".into()
    }
}

/// A [`Timestamp`] that is sent as whole milliseconds after 1970.
#[derive(Debug)]
pub enum TimeMillis {}

/// A [`Timestamp`] in a request: it is parsed from a text or from milliseconds, but always written as a text.
#[derive(Debug)]
pub enum Moment {}

impl PartialSchema for Moment {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new()
            .item(Ref::from_schema_name(Timestamp::name()))
            .item(Ref::from_schema_name(TimeMillis::name()))
            .description(Some("A time from 2000 to 2100: RFC 3339, or whole milliseconds after 1970."))
            .into()
    }
}

impl ToSchema for Moment {
    fn name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Timestamp::name().into(), Timestamp::schema()));
        schemas.push((TimeMillis::name().into(), TimeMillis::schema()));
    }
}

/// The schema of the object, without other fields. Fields name the type through an alias, because utoipa would add the parameter to the
/// name of the schema.
impl<T: ToSchema> PartialSchema for Strict<T> {
    fn schema() -> RefOr<Schema> {
        match T::schema() {
            RefOr::T(Schema::Object(mut object)) => {
                object.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
                object.into()
            }
            schema @ (RefOr::T(_) | RefOr::Ref(_)) => schema,
        }
    }
}

impl<T: ToSchema> ToSchema for Strict<T> {
    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        T::schemas(schemas);
    }
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn number() -> ObjectBuilder {
    let double = SchemaFormat::KnownFormat(KnownFormat::Double);
    ObjectBuilder::new().schema_type(Type::Number).format(Some(double))
}

fn whole() -> ObjectBuilder {
    let int64 = SchemaFormat::KnownFormat(KnownFormat::Int64);
    ObjectBuilder::new().schema_type(Type::Integer).format(Some(int64))
}

fn custom(format: &str) -> SchemaFormat {
    SchemaFormat::Custom(format.to_owned())
}

/// A name of a-z, 0-9 and -.
fn plain_name() -> ObjectBuilder {
    text().pattern(Some("^[a-z0-9-]{1,64}$"))
}

/// An id that clients put into the path of a URL. It begins with a character other than a dot, or with one dot and another character, or
/// with two dots and any character.
fn path_segment(chars_max: usize) -> ObjectBuilder {
    let pattern = r"^([^.\x00-\x1f\x7f-\x9f]|\.[^.\x00-\x1f\x7f-\x9f]|\.\.[^\x00-\x1f\x7f-\x9f])[^\x00-\x1f\x7f-\x9f]*$";
    text().min_length(Some(1)).max_length(Some(chars_max)).pattern(Some(pattern))
}

fn name_of_run(chars_max: usize) -> ObjectBuilder {
    path_segment(chars_max)
        .description(Some("1 to 200 characters without control characters, not `.` or `..`."))
}
