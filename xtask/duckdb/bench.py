"""bench.py script|detected|typed|text FILE: the sums of every session in Claude Code's OTLP JSON logs, by one DuckDB query, timed.

The peer the log reader is measured against. Prints one JSON line: query, sessions, seconds (the query alone, reading the file
included), peak_rss_mb (of this process) and rows. A row is session_id, first_ns, last_ns, prompts, total_tools, tools_ok,
cost_nano, total_tokens, cache_tokens. All queries leave out what sums.py does for odd input: repeats, other spellings, refusals.
"""

import json
import os
import re
import resource
import sys
import time

import duckdb

SUMS = """
SELECT session_id,
       CAST(min(ns) AS VARCHAR) AS first_ns,
       CAST(max(ns) AS VARCHAR) AS last_ns,
       count(*) FILTER (name = 'user_prompt') AS prompts,
       count(*) FILTER (name = 'tool_result') AS total_tools,
       count(*) FILTER (name = 'tool_result' AND success = 'true') AS tools_ok,
       CAST(CAST(coalesce(sum(CAST(cost AS DECIMAL(18, 9))) FILTER (name = 'api_request'), 0) * 1000000000 AS HUGEINT)
           AS VARCHAR) AS cost_nano,
       coalesce(sum(CAST(input AS BIGINT) + CAST(output AS BIGINT) + CAST(cache_read AS BIGINT)
           + CAST(cache_creation AS BIGINT)) FILTER (name = 'api_request'), 0) AS total_tokens,
       coalesce(sum(CAST(cache_read AS BIGINT)) FILTER (name = 'api_request'), 0) AS cache_tokens
FROM events WHERE session_id IS NOT NULL GROUP BY session_id ORDER BY session_id
"""

# A typed schema, three levels unnested, an attribute looked up by its key: the plain way to ask. For 100 MB on two idle cores, wall
# and CPU seconds, best of five in one process (a new process takes about 0.15 longer):
#   list_filter for each key                           0.28  0.54   (this one)
#   list_position for each key                         0.25  0.49
#   attributes as a MAP                                0.52  1.03
#   the schema detected, not written                   2.21  2.55
#   this one without records = true                    3.43         (once; it samples 20 480 lines on one thread first)
TYPED = """
CREATE MACRO attr(attributes, k) AS list_filter(attributes, lambda entry: entry.key = k)[1].value;
CREATE MACRO text_of(v) AS coalesce(v.stringValue, v.intValue, v.doubleValue, v.boolValue);
""", """
WITH resources AS (
    SELECT unnest(resourceLogs) AS r
    FROM read_json($file, format = 'newline_delimited', records = true, auto_detect = false, columns = {
        'resourceLogs': 'STRUCT(scopeLogs STRUCT(logRecords STRUCT(
            timeUnixNano BIGINT,
            attributes STRUCT("key" VARCHAR, "value" STRUCT(
                stringValue VARCHAR, intValue VARCHAR, doubleValue VARCHAR, boolValue VARCHAR))[])[])[])[]'})
), scopes AS (
    SELECT unnest(r.scopeLogs) AS s FROM resources
), records AS (
    SELECT unnest(s.logRecords) AS rec FROM scopes
), events AS (
    SELECT rec.timeUnixNano AS ns,
           text_of(attr(rec.attributes, 'session.id')) AS session_id,
           text_of(attr(rec.attributes, 'event.name')) AS name,
           text_of(attr(rec.attributes, 'success')) AS success,
           text_of(attr(rec.attributes, 'cost_usd')) AS cost,
           text_of(attr(rec.attributes, 'input_tokens')) AS input,
           text_of(attr(rec.attributes, 'output_tokens')) AS output,
           text_of(attr(rec.attributes, 'cache_read_tokens')) AS cache_read,
           text_of(attr(rec.attributes, 'cache_creation_tokens')) AS cache_creation
    FROM records
)""" + SUMS

# The same with the schema left to DuckDB, as one writes it without knowing better: it samples the first 20 480 lines, and each type
# of value is a column of the type it finds.
DETECTED = (TYPED[0].replace("coalesce(v.stringValue, v.intValue, v.doubleValue, v.boolValue)",
                             "coalesce(v.stringValue, CAST(v.intValue AS VARCHAR), CAST(v.doubleValue AS VARCHAR))"),
            re.sub(r"read_json\(.*?\}\)", "read_json($file, format = 'newline_delimited')", TYPED[1], flags=re.DOTALL))

# The same step by step, as a script does it: the file into a table, its records into another with all they have, then the sums.
SCRIPT = DETECTED[0], """
CREATE TEMP TABLE lines AS SELECT * FROM read_json($file, format = 'newline_delimited');
CREATE TEMP TABLE resources AS SELECT unnest(resourceLogs) AS r FROM lines;
CREATE TEMP TABLE scopes AS SELECT r.resource AS resource, unnest(r.scopeLogs) AS s FROM resources;
CREATE TEMP TABLE records AS SELECT resource, s.scope AS scope, unnest(s.logRecords) AS rec FROM scopes;
WITH events""" + DETECTED[1].split("events", 1)[1]

# The fastest found. It parses no JSON: lines are cut into records as text, and a value is found by the spelling of its key. That
# holds for logs as exporters write them (no blanks, time first, key before value) and for no others. A key inside a text is not
# mistaken for one, since its quotes are escaped. Session and name stay with the key before them, because a match without a group
# is cheaper, and what only one kind of event has is looked for only there. Measured as above:
#   records split as text, then
#     a regexp each, session and name without group    0.20  0.35   (this one)
#     the same, the four token counts in one regexp    0.19  0.35   (needs them side by side)
#     the same, summed by session and name first       0.20  0.35
#     the same, times compared as text                 0.19  0.35
#     a regexp each, all with group                    0.20  0.37
#     tokens and cost in one regexp, side by side      0.22  0.41
#     string_split at the key, anchored regexp         0.32  0.59
#     string_split into attributes, list_position      0.35  0.67
#     strpos and substr                                0.41  0.77   (both count characters, not bytes)
#     tokens and cost in one regexp with .* between    0.44  0.84
#     session and name by string_split alone           0.46  0.87
#     regexp_extract_all with all keys as alternation  0.58  1.12
#   JSON parsed
#     records by a wildcard path, then a regexp each   0.28  0.52
#     json_transform to a minimal struct               0.29  0.52
#     wildcard paths for records, keys and values      0.34  0.66
#   read_text cut into lines by string_split             1.07         (the cutting alone, on one thread)
#   VARIANT columns: the JSON reader has none
# Buffers of 2 to 32 MB and preserve_insertion_order make no difference. Allowing lines of 64 MB does: three times slower on 1 GB.
TEXT = r"""
-- The whole match, key and all; and the value alone.
CREATE MACRO tagged(rec, k) AS regexp_extract(rec, '"' || k || '","value":\{"stringValue":"[^"]*');
CREATE MACRO tag(k) AS '"' || k || '","value":{"stringValue":"';
CREATE MACRO attr(rec, k) AS regexp_extract(rec, '"' || k || '","value":\{"\w+":"?([^"}]*)', 1);
""", r"""
WITH records AS (
    SELECT unnest(string_split(line, '{"timeUnixNano":')[2:]) AS rec
    FROM read_csv($file, columns = {'line': 'VARCHAR'}, auto_detect = false, header = false, delim = chr(1), quote = '',
        escape = '', comment = '', new_line = '\n', strict_mode = false, max_line_size = 4194304, buffer_size = 8388608)
), named AS (
    SELECT rec,
           CAST(regexp_extract(rec, '^"?([0-9]+)', 1) AS BIGINT) AS ns,
           tagged(rec, 'session\.id') AS session,
           tagged(rec, 'event\.name') AS event
    FROM records
), events AS (
    SELECT ns, session, event,
           CASE WHEN event = tag('event.name') || 'tool_result' THEN attr(rec, 'success') END AS success,
           CASE WHEN event = tag('event.name') || 'api_request' THEN attr(rec, 'cost_usd') END AS cost,
           CASE WHEN event = tag('event.name') || 'api_request' THEN attr(rec, 'input_tokens') END AS input,
           CASE WHEN event = tag('event.name') || 'api_request' THEN attr(rec, 'output_tokens') END AS output,
           CASE WHEN event = tag('event.name') || 'api_request' THEN attr(rec, 'cache_read_tokens') END AS cache_read,
           CASE WHEN event = tag('event.name') || 'api_request' THEN attr(rec, 'cache_creation_tokens') END AS cache_creation
    FROM named
)
SELECT substr(session, strlen(tag('session.id')) + 1) AS session_id,
       CAST(min(ns) AS VARCHAR) AS first_ns,
       CAST(max(ns) AS VARCHAR) AS last_ns,
       count(*) FILTER (event = tag('event.name') || 'user_prompt') AS prompts,
       count(success) AS total_tools,
       count(*) FILTER (success = 'true') AS tools_ok,
       CAST(CAST(coalesce(sum(CAST(cost AS DECIMAL(18, 9))), 0) * 1000000000 AS HUGEINT) AS VARCHAR) AS cost_nano,
       coalesce(sum(CAST(input AS BIGINT) + CAST(output AS BIGINT) + CAST(cache_read AS BIGINT)
           + CAST(cache_creation AS BIGINT)), 0) AS total_tokens,
       coalesce(sum(CAST(cache_read AS BIGINT)), 0) AS cache_tokens
FROM events WHERE session <> '' GROUP BY session ORDER BY session_id
"""

QUERIES = {"script": SCRIPT, "detected": DETECTED, "typed": TYPED, "text": TEXT}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in QUERIES:
        sys.exit(__doc__)
    macros, query = QUERIES[sys.argv[1]]
    db = duckdb.connect()
    db.execute(f"PRAGMA threads = {os.cpu_count()}")
    db.execute(macros)
    start = time.perf_counter()
    for step in query.split(";\n"):
        result = db.execute(step, {"file": sys.argv[2]} if "$file" in step else None)
    rows = result.fetchall()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)
    print(json.dumps({"query": sys.argv[1], "sessions": len(rows), "seconds": round(seconds, 3),
                      "peak_rss_mb": round(peak, 1), "rows": rows}))


main()
