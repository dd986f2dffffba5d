"""sums.py FILE...: the sums of every session in Claude Code's OTLP JSON logs, by SQL.

The independent check of the log reader: it shares no code with the program, only the written rules. All files are one stream; a
path given twice is read once. One JSON object a session, sorted by session id. Nanoseconds and nano-dollars are strings, and
nothing passes through a float. Spans, other agents and compressed streams without a .gz or .zst name are out of its scope.
"""

import json
import os
import sys

import duckdb

# Fields that may come in snake_case. A quoted name followed by a colon is never inside a JSON string, whose quotes are escaped.
CAMEL = {
    "resource_logs": "resourceLogs", "scope_logs": "scopeLogs", "log_records": "logRecords", "event_name": "eventName",
    "time_unix_nano": "timeUnixNano", "observed_time_unix_nano": "observedTimeUnixNano", "string_value": "stringValue",
    "int_value": "intValue", "double_value": "doubleValue", "bool_value": "boolValue",
}

# The part of a line that is read, everything as text. What is not named here is skipped.
ATTRIBUTES = [{"key": "VARCHAR", "value": {k: "VARCHAR" for k in ("stringValue", "intValue", "doubleValue", "boolValue")}}]
SHAPE = {"resourceLogs": [{
    "resource": {"attributes": ATTRIBUTES},
    "scopeLogs": [{"logRecords": [{
        "timeUnixNano": "VARCHAR", "observedTimeUnixNano": "VARCHAR", "eventName": "VARCHAR",
        "body": {"stringValue": "VARCHAR"}, "attributes": ATTRIBUTES}]}],
}]}

MACROS = r"""
-- A scalar of any type as its text. An empty text is an absent value, and so are lists and bytes.
CREATE MACRO cut(t) AS nullif(trim(t, E' \t\r\n'), '');
CREATE MACRO text_of(v) AS cut(coalesce(v.stringValue, v.intValue, v.doubleValue, v.boolValue));

-- The value of a key: list_position gives the first entry, so a repeated key cannot change it.
CREATE MACRO attr(attributes, k) AS attributes[list_position(list_transform(attributes, lambda entry: entry.key), k)].value;

-- Decimals from the text as written, rounded half up to `digits` places; NULL if absent or impossible.
CREATE MACRO is_number(t) AS regexp_full_match(t, '[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?');
CREATE MACRO in_range(d) AS CASE WHEN d BETWEEN 0 AND 1000000000000000 THEN d END;
CREATE MACRO decimal9(v) AS CASE WHEN is_number(text_of(v)) THEN in_range(TRY_CAST(text_of(v) AS DECIMAL(38, 9))) END;
CREATE MACRO decimal3(v) AS CASE WHEN is_number(text_of(v)) THEN in_range(TRY_CAST(text_of(v) AS DECIMAL(38, 3))) END;

-- Integers: digits, or a number (no text) without fraction.
CREATE MACRO integer_of(v) AS CASE
    WHEN regexp_full_match(text_of(v), '[0-9]+') OR (v.stringValue IS NULL AND decimal9(v) = floor(decimal9(v)))
    THEN CAST(decimal9(v) AS BIGINT) END;

-- True as a boolean, a text or an integer.
CREATE MACRO is_true(v) AS coalesce(lower(cut(coalesce(v.stringValue, v.intValue, v.boolValue))) IN ('true', '1'), false);

-- A number that is there and cannot be refuses its record.
CREATE MACRO bad_integer(v) AS text_of(v) IS NOT NULL AND integer_of(v) IS NULL;
CREATE MACRO bad_decimal(v) AS text_of(v) IS NOT NULL AND decimal9(v) IS NULL;

-- Nanoseconds from 2000 up to 2100; anything else is a missing time.
CREATE MACRO in_century(t) AS CASE WHEN t >= 946684800000000000 AND t < 4102444800000000000 THEN t END;
CREATE MACRO nanos(t) AS in_century(CASE WHEN regexp_full_match(cut(t), '[0-9]+') THEN TRY_CAST(cut(t) AS BIGINT) END);

-- RFC 3339 to the nanosecond: TIMESTAMP_NS has all the digits and no offset, TIMESTAMPTZ has the offset.
CREATE MACRO rfc3339(t) AS in_century(CASE
    WHEN regexp_full_match(t, '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)')
    THEN epoch_ns(TRY_CAST(t AS TIMESTAMP_NS))
         - 1000 * (epoch_us(TRY_CAST(t AS TIMESTAMP)) - epoch_us(TRY_CAST(t AS TIMESTAMPTZ))) END);

-- The first name that is known decides, with or without the prefix.
CREATE MACRO known(names) AS list_filter(
    list_transform(names, lambda t: regexp_replace(cut(t), '^claude_code\.', '')),
    lambda t: t IN ('tool_result', 'user_prompt', 'api_request', 'api_error', 'api_retries_exhausted', 'api_refusal',
                    'tool_decision', 'feedback_survey', 'compaction'))[1];

CREATE MACRO session_of(attributes) AS coalesce(
    text_of(attr(attributes, 'session.id')), text_of(attr(attributes, 'conversation.id')),
    text_of(attr(attributes, 'gen_ai.conversation.id')));
"""

# Every line of the files, untouched. No JSON text has a raw U+0001 in it, so a line is one column.
LINES = r"""
CREATE TEMP VIEW lines AS SELECT line FROM read_csv({files}, columns = {{'line': 'VARCHAR'}}, auto_detect = false,
    header = false, delim = chr(1), quote = '', escape = '', comment = '', new_line = '\n', strict_mode = false,
    max_line_size = 67108864, ignore_errors = true)
"""

# One row a log record, numbered in the order of the stream.
RECORDS = r"""
CREATE TEMP TABLE records AS
WITH whole AS (
    -- A lone surrogate escape is no error, but the parser takes it for one: pairs and escaped backslashes stay, lone ones go.
    SELECT regexp_replace({camel}, '(\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w', '\1', 'g') AS line
    FROM lines
), quoted AS (
    -- The parser turns a bare 0.1 into a double. Within quotes it stays the text that was written.
    SELECT regexp_replace(line, '"(intValue|doubleValue|timeUnixNano|observedTimeUnixNano)"\s*:\s*(-?[0-9][0-9.eE+-]*)',
                          '"\1":"\2"', 'g') AS line
    FROM whole
), resources AS (
    SELECT unnest(CASE WHEN json_valid(line) THEN json_transform(line, '{shape}') END.resourceLogs) AS r FROM quoted
), scopes AS (
    SELECT r.resource.attributes AS inherited, unnest(r.scopeLogs) AS s FROM resources
), flat AS (
    SELECT inherited, unnest(s.logRecords) AS rec FROM scopes
)
SELECT row_number() OVER () AS n, rec, inherited,
       list_concat(rec.attributes[:1024], inherited) AS a     -- resource attributes fill what the record has not
FROM flat
"""

SUMS = r"""
WITH named AS (
    SELECT n, a,
           coalesce(session_of(rec.attributes[:1024]), session_of(inherited)) AS session_id,
           known([text_of(attr(a, 'event.name')), rec.eventName, rec.body.stringValue]) AS name,
           coalesce(nanos(rec.timeUnixNano), nanos(rec.observedTimeUnixNano), rfc3339(text_of(attr(a, 'event.timestamp')))) AS ns,
           integer_of(attr(a, 'event.sequence')) AS seq,
           coalesce(text_of(attr(a, 'tool_use_id')), text_of(attr(a, 'call_id')), text_of(attr(a, 'request_id'))) AS call
    FROM records
), valued AS (
    SELECT *, attr(a, 'input_tokens') AS input, attr(a, 'output_tokens') AS output, attr(a, 'duration_ms') AS duration,
           attr(a, 'cache_read_tokens') AS cache_read, attr(a, 'cache_creation_tokens') AS cache_creation,
           attr(a, 'cost_usd') AS usd, attr(a, 'cost_usd_micros') AS micros
    FROM named
    WHERE strlen(session_id) BETWEEN 1 AND 256
), once AS (
    SELECT session_id, name, ns,
           is_true(attr(a, 'success')) AS ok,
           text_of(attr(a, 'decision')) AS decision,
           coalesce(integer_of(cache_read), 0) AS cached,
           coalesce(integer_of(input), 0) + coalesce(integer_of(output), 0) + cached
               + coalesce(integer_of(cache_creation), 0) AS tokens,
           coalesce(CAST(decimal9(usd) AS DECIMAL(25, 9)) * CAST(1000000000 AS DECIMAL(10, 0)),
                    CAST(decimal3(micros) AS DECIMAL(25, 3)) * CAST(1000 AS DECIMAL(10, 0)), 0) AS nano
    FROM valued
    WHERE NOT coalesce(CASE name
        WHEN 'api_request' THEN bad_integer(input) OR bad_integer(output) OR bad_integer(cache_read)
            OR bad_integer(cache_creation) OR bad_decimal(usd) OR bad_decimal(duration)
            OR (text_of(usd) IS NULL AND bad_decimal(micros))
        WHEN 'tool_result' THEN bad_decimal(duration)
        WHEN 'compaction' THEN bad_integer(attr(a, 'pre_tokens')) OR bad_integer(attr(a, 'post_tokens'))
        END, false)
    -- Repeats: session, sequence and time; without a sequence session, name, time and the call's id; with neither no two are one.
    QUALIFY row_number() OVER (PARTITION BY session_id, ns, seq,
                               CASE WHEN seq IS NULL THEN name END,
                               CASE WHEN seq IS NULL THEN call END,
                               CASE WHEN seq IS NULL AND call IS NULL THEN n END ORDER BY n) = 1
)
SELECT session_id,
       CAST(min(ns) AS VARCHAR) AS first_ns,                  -- every record moves the window, known event or not
       CAST(max(ns) AS VARCHAR) AS last_ns,
       count(*) FILTER (name = 'user_prompt') AS prompts,
       count(*) FILTER (name = 'tool_result') AS total_tools,
       count(*) FILTER (name = 'tool_result' AND ok) AS tools_ok,
       CAST(CAST(coalesce(sum(nano) FILTER (name = 'api_request'), 0) AS HUGEINT) AS VARCHAR) AS cost_nano,
       coalesce(sum(tokens) FILTER (name = 'api_request'), 0) AS total_tokens,
       coalesce(sum(cached) FILTER (name = 'api_request'), 0) AS cache_tokens,
       count(*) FILTER (name IN ('api_error', 'api_retries_exhausted')) AS api_errors,
       count(*) FILTER (name = 'tool_decision' AND decision = 'accept') AS accepts,
       count(*) FILTER (name = 'tool_decision' AND decision = 'reject') AS rejects
FROM once GROUP BY session_id
-- A session without any of these has nothing to score.
HAVING count(*) FILTER (name IN ('tool_result', 'user_prompt', 'api_request')) > 0
ORDER BY session_id
"""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    files = list(dict.fromkeys(os.path.realpath(path) for path in sys.argv[1:]))
    camel = "line"
    for snake, name in CAMEL.items():
        camel = f"""replace({camel}, '"{snake}"', '"{name}"')"""
    db = duckdb.connect()
    db.execute(MACROS)
    # A glob character in a path would be read as a pattern.
    escaped = ["".join(f"[{c}]" if c in "*?[" else c for c in path).replace("'", "''") for path in files]
    db.execute(LINES.format(files="[" + ", ".join(f"'{path}'" for path in escaped) + "]"))
    db.execute(RECORDS.format(camel=camel, shape=json.dumps(SHAPE)))
    result = db.execute(SUMS)
    columns = [column[0] for column in result.description]
    for row in result.fetchall():
        print(json.dumps(dict(zip(columns, row)), ensure_ascii=False))


main()
