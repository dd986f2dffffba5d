"""How texts of our formats look, for the generator of requests.

JSON Schema cannot say that a time lies between 2000 and 2100, nor that the bytes in a cursor are UTF-8: the descriptions do.
"""

from datetime import datetime

import schemathesis
from hypothesis import strategies as st


def _millis(time):
    return time.isoformat(timespec="milliseconds") + "Z"


TIMES = st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31)).map(_millis)

AGENTS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=50).filter(
    lambda agent: agent not in (".", "..")
)

CURSORS = st.tuples(st.integers(0, 2**50), AGENTS).map(lambda parts: f"{parts[0]:x}.{parts[1].encode().hex()}")

schemathesis.openapi.format("date-time", TIMES)
schemathesis.openapi.format("agents-cursor", CURSORS)
