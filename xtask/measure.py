"""measure.py TIMES COMMAND...: runs a command some times and prints one JSON line: the best wall time in seconds, and the peak
resident memory of any run in MB. What the command prints is thrown away; a command that fails ends the measurement."""

import json
import resource
import subprocess
import sys
import time

times, command = int(sys.argv[1]), sys.argv[2:]
best = None
for _ in range(times):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - start
    best = seconds if best is None else min(best, seconds)
unit = 1024 * 1024 if sys.platform == "darwin" else 1024
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit
print(json.dumps({"seconds": round(best, 4), "peak_rss_mb": round(peak, 1)}))
