//! Shapes that several routes share, for the OpenAPI document only. The types of the core check the actual values.

use utoipa::ToSchema;

/// Id of an agent: 1 to 200 characters without control characters, not `.` or `..`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
// The text begins with a character other than a dot, or with one dot and another character, or with two dots and any character.
#[schema(
    min_length = 1,
    max_length = 200,
    pattern = r"^([^.\x00-\x1f\x7f-\x9f]|\.[^.\x00-\x1f\x7f-\x9f]|\.\.[^\x00-\x1f\x7f-\x9f])[^\x00-\x1f\x7f-\x9f]*$"
)]
pub(crate) struct AgentName(String);

/// The name of an organization.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
#[schema(pattern = "^[a-z0-9-]{1,64}$")]
pub(crate) struct OrgName(String);

/// A time from 2000 to 2100 as RFC 3339.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
#[schema(format = DateTime)]
pub(crate) struct TimeText(String);

/// A time as whole milliseconds after 1970.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
#[schema(minimum = 946_684_800_000_i64, maximum = 4_102_444_800_000_i64)]
pub(crate) struct TimeMillis(i64);

/// A time from 2000 to 2100: RFC 3339, or whole milliseconds after 1970.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[serde(untagged)]
#[expect(dead_code, reason = "only its shape is read, for the document")]
pub(crate) enum Moment {
    Text(TimeText),
    Millis(TimeMillis),
}
