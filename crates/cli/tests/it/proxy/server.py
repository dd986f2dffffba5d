"""An MCP server that does what its tools say: the arguments of a call decide what it writes, and how it ends.

    server.py [--banner TEXT] [--stubborn] [--deaf] [--pid FILE] [--received FILE]

--stubborn does not end when its input does, --deaf neither on SIGTERM, INT nor HUP; --received keeps every byte of its input.
"""

import argparse
import base64
import json
import os
import signal
import sys
import time

options = argparse.ArgumentParser()
options.add_argument("--banner")
options.add_argument("--stubborn", action="store_true")
options.add_argument("--deaf", action="store_true")
options.add_argument("--pid")
options.add_argument("--received")
options = options.parse_args()

output = sys.stdout.buffer


def write(data):
    output.write(data)
    output.flush()


def answer(call_id, result):
    message = {"jsonrpc": "2.0", "id": call_id, "result": result}
    write(json.dumps(message).encode() + b"\n")


def text(content):
    return {"content": [{"type": "text", "text": content}]}


def call(call_id, name, arguments):
    if name == "say":
        answer(call_id, text(arguments["text"]))
    elif name == "raw":
        data = base64.b64decode(arguments["base64"])
        step = arguments.get("step", len(data))
        for start in range(0, len(data), step):
            write(data[start : start + step])
    elif name == "big":
        kind, size = arguments["kind"], arguments["bytes"]
        item = {"type": "text", "text": "a " * (size // 2)}
        if kind == "image":
            item = {"type": "image", "mimeType": "image/png", "data": "QUJD" * (size // 4)}
        answer(call_id, {"content": [item]})
    elif name == "size":
        answer(call_id, text(f"{len(arguments['payload'])} characters"))
    elif name == "exit":
        write(base64.b64decode(arguments.get("base64", "")))
        if "signal" in arguments:
            os.kill(os.getpid(), arguments["signal"])
        os._exit(arguments["code"])
    elif name == "flood":
        while True:
            write(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"%s"}}\n' % (b"x" * 4000))
    elif name == "linger":
        time.sleep(0.5)
        write(b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"still here"}}\n')
        time.sleep(600)
    # Any other tool never answers.


def name_of(signum, _frame):
    # Not through the buffer, in which a write may just be under way.
    note = {"level": "info", "data": f"got {signal.Signals(signum).name}"}
    os.write(1, json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": note}).encode() + b"\n")
    if not options.deaf:
        os._exit(40 + signum)


for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(signum, name_of)
if options.pid:
    with open(options.pid + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(options.pid + ".new", options.pid)
if options.banner:
    write(options.banner.encode())
received = open(options.received, "wb", buffering=0) if options.received else None
for line in sys.stdin.buffer:
    if received:
        received.write(line)
    try:
        message = json.loads(line)
        params = message["params"]
        if message["method"] == "tools/call":
            call(message["id"], params["name"], params.get("arguments", {}))
    except (ValueError, KeyError, TypeError):
        pass
while options.stubborn or options.deaf:
    time.sleep(0.05)
