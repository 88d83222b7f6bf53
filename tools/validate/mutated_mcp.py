#!/usr/bin/env python3
"""Sends mutated messages to the MCP server over one standard input that stays open, and says which are not taken.

    tools/validate/mutated_mcp.py --python build/python [--program build/bin/kernelcast] [--messages 1000] [--seed 1]

Messages: calls of every tool with arguments replaced, dropped, added and nested; sources with tokens and lines mutated; the text of any message
mutated, so that it may be no JSON; bytes that are no UTF-8. A ping follows each.

A message is taken when the ping is answered within --seconds on the clock, and before it, where the message is a JSON-RPC request, an answer or
an error with its id; when the server lives, writes nothing but JSON-RPC in UTF-8, and no error of Python's own ("Traceback", an internal error).
The same seed gives the same messages. What is not taken is written into --keep. Status 1 where there are any.
"""

import argparse
import collections
import json
import os
import pathlib
import queue
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import mutated  # noqa: E402

ROOT = mutated.ROOT
HOSTILE = [None, True, 0, 1, -1, 2**31, 2**32, 2**63, 2**64, 10**30, 10**400, 0.5, -0.0, 1e308, 5e-324, "", "0", "-o", "--help", "a" * 70000, "\x00",
           "x\x00y", "\x1b[31m", "\u202e", "\ud83d\ude00", "{", "../../etc/passwd", "-", [], {}, [0], [1, 1, 1, 1], [1] * 10000, [[1]], [None], ["1"],
           {"": 1}, {"n": None}, {"n": []}, {"n": 2**40}, {"n": -1}, {"n": 1e400}, {"-o": 1}, {"a=b": 1}, {"x\x00": 1}]  # fmt: skip
HOSTILE_BYTES = [b"\xff\xfe", b"\xed\xa0\x80", b"\x00", b"\xc3", b"\r", b"\x1a", b"\\ud800", b"\\u0000", b"NaN", b"1e999", b"[" * 5000, b'{"a":' * 3000, b"\xe2\x80\xa8"]
TRACES = re.compile(r"Traceback \(most recent|Internal error|internal error|Segmentation")


class Server:
    """The server process; its lines of standard output come through a queue."""

    def __init__(self, options):
        environment = {**os.environ, "PYTHONPATH": options.python, "KERNELCAST": options.program, "KERNELCAST_DEVICES": str(ROOT / "devices"),
                       "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", **({"LD_PRELOAD": options.preload} if options.preload else {})}  # fmt: skip
        self.process = subprocess.Popen([sys.executable, "-X", "faulthandler", "-m", "kernelcast.mcp"], start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self.lines, self.errors = queue.Queue(), collections.deque(maxlen=400)
        threading.Thread(target=self.read, daemon=True).start()
        threading.Thread(target=lambda: [self.errors.append(line) for line in self.process.stderr], daemon=True).start()
        first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mutated", "version": "1"}}
        self.write(json.dumps({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": first}).encode())
        if "result" not in json.loads(self.lines.get(timeout=120)):
            raise RuntimeError("the server does not start")
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def stop(self):
        """Ends it and what it started; its stacks go to its standard error."""
        try:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        time.sleep(0.2)  # what it wrote last is read

    def close(self):
        """Status after the end of standard input; None where it had to be killed."""
        self.process.stdin.close()
        try:
            return self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


def launch(chance, inputs):
    """A source with its launch, as the tools take them."""
    source = chance.choice(inputs.sources)
    text = inputs.text(source)
    given = {"source": text, "device": "a100", "grid": [64], "block": [128], "language": "opencl" if source.suffix == ".cl" else "cuda"}
    flags = mutated.flags_of(text)
    for name, value in zip(flags, flags[1:]):
        if name in ("--grid", "--block"):
            given[name[2:]] = [int(n) for n in value.split(",")]
        if name in ("--device", "--kernel"):
            given[name[2:]] = value
        if name in ("--arg", "--buffer"):
            key, _, number = value.partition("=")
            try:
                given.setdefault(name[2:] + "s", {})[key] = int(number.partition(":")[0])
            except ValueError:
                given.setdefault(name[2:] + "s", {})[key] = 1024
    return given


def message(number, chance, inputs):
    """One line without its end."""
    tool = chance.choice(("predict", "predict", "predict", "advise", "check", "judge_time", "devices"))
    given = launch(chance, inputs) if tool != "devices" else {}
    if tool == "check":
        given["base"] = given["new"] = given.pop("source")
        given["max_slowdown"] = mutated.value("5%", chance)
    if tool == "judge_time":
        given["claimed_s"] = chance.choice((1e-5, 1, 0, -1, 1e308))
    for _ in range(chance.choice((0, 1, 1, 2))):
        what = chance.randrange(6)
        keys = list(given) or ["source"]
        key = chance.choice(keys)
        if what < 2:
            given[key] = chance.choice(HOSTILE)
        elif what == 2:
            given.pop(key, None)
        elif what == 3:
            given[chance.choice(("", "x", "source", "args", "self", "__class__", "kernel", "language"))] = chance.choice(HOSTILE)
        elif isinstance(given.get(key), str):
            given[key] = mutated.mutated(given[key], chance)
        elif isinstance(given.get(key), list):
            given[key] = [chance.choice((0, 1, 7, 1024, 2**31 - 1, 2**31, 2**40)) for _ in range(chance.choice((1, 2, 3)))]
        elif isinstance(given.get(key), dict):
            given[key] = {name: chance.choice(HOSTILE) if chance.random() < 0.5 else value for name, value in given[key].items()}
    request = {"jsonrpc": "2.0", "id": f"m{number}", "method": "tools/call", "params": {"name": tool, "arguments": given}}
    if chance.random() < 0.15:
        request["method"] = chance.choice(("tools/list", "ping", "resources/list", "prompts/get", "logging/setLevel", "initialize", "", "tools/call\x00", "rpc.x",
                                           "notifications/cancelled", "completion/complete", "sampling/createMessage"))  # fmt: skip
    if chance.random() < 0.15:
        at = chance.choice(("jsonrpc", "id", "method", "params"))
        if chance.random() < 0.5:
            request.pop(at)
        else:
            request[at] = chance.choice(HOSTILE)
    if chance.random() < 0.1:
        request["params"] = {**(request.get("params") if isinstance(request.get("params"), dict) else {}), chance.choice(("name", "arguments", "_meta", "cursor")): chance.choice(HOSTILE)}
    text = json.dumps([request] if chance.random() < 0.02 else request, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    if chance.random() < 0.2:
        text = mutated.by_tokens(text.decode("utf-8", "replace"), chance).encode("utf-8", "surrogatepass")
    if chance.random() < 0.1:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(HOSTILE_BYTES) + text[at:]
    return text.replace(b"\n", b" ")


def wanted_id(line):
    """The id that an answer must have: that of a JSON-RPC request. None where the line is none."""
    try:
        read = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or read.get("jsonrpc") != "2.0" or not isinstance(read.get("method"), str):
        return None
    known = read.get("id")
    good = isinstance(known, str) or (isinstance(known, int) and not isinstance(known, bool))
    return known if good and isinstance(read.get("params", {}), dict) else None


def surely_json(line):
    """Whether every reader takes the line: Python's takes NaN, zero bytes and lone surrogates; a carriage return ends a line of the SDK."""
    if b"\r" in line:
        return False
    try:
        text = line.decode("utf-8")
        read = json.loads(text, parse_constant=lambda word: 1 / 0)
        json.dumps(read, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError, ZeroDivisionError):
        return False
    return not re.search(r"\d{300}", text)


def ask(server, number, line, seconds):
    """Sends one message and a ping: what came (kind), and what is wrong (empty: taken)."""
    wanted = wanted_id(line) if surely_json(line) else None
    ping = f"ping {number}"
    came, pinged, kind = wanted is None, False, "no request"
    end = time.monotonic() + seconds
    try:
        server.write(line)
        server.write(json.dumps({"jsonrpc": "2.0", "id": ping, "method": "ping"}).encode())
    except OSError:
        return kind, "the server has ended"
    while not (came and pinged):
        try:
            answer = server.lines.get(timeout=max(0.01, end - time.monotonic()))
        except queue.Empty:
            return kind, f"no answer {'to the message' if pinged else 'to a ping'} after {seconds} s"
        if answer is None:
            return kind, f"the server has ended with status {server.process.wait()}"
        try:
            read = json.loads(answer.decode("utf-8"))
        except ValueError:
            return kind, f"not JSON: {answer[:200]!r}"
        if not isinstance(read, dict) or read.get("jsonrpc") != "2.0":
            return kind, f"not JSON-RPC: {answer[:200]!r}"
        if read.get("id") == ping:
            pinged = True
        elif "id" in read and read["id"] == wanted:
            came = True
            result = read.get("result")
            text = json.dumps(read)
            kind = "JSON-RPC error" if "error" in read else "error of the tool" if isinstance(result, dict) and (result.get("isError") or '\\"error\\":' in text) else "result"
            if found := TRACES.search(text):
                return kind, f"{found.group()} in the answer"
    return kind, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="folder of the package kernelcast")
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "kernelcast"))
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--preload", default="", help="the sanitizer's runtime, where the package is built with one")
    parser.add_argument("--keep", default="build/mutated-mcp")
    options = parser.parse_args()
    options.python, options.program = os.path.abspath(options.python), os.path.abspath(options.program)
    inputs = mutated.Inputs([])
    counts, refused, slowest = collections.Counter(), 0, 0.0
    start = time.monotonic()
    server = Server(options)
    for number in range(options.first, options.first + options.messages):
        line = message(number, random.Random(options.seed * 1000003 + number), inputs)
        begin = time.monotonic()
        kind, wrong = ask(server, number, line, options.seconds)
        slowest = max(slowest, time.monotonic() - begin)
        counts[kind] += 1
        if wrong:
            refused += 1
            alive = "in the answer" in wrong
            if not alive:
                server.stop()
            kept = pathlib.Path(options.keep) / str(number)
            kept.mkdir(parents=True, exist_ok=True)
            (kept / "message").write_bytes(line + b"\n")
            (kept / "stderr").write_bytes(b"".join(server.errors))
            print(f"{number}: {wrong} ({kept})", flush=True)
            if not alive:
                server = Server(options)
    status = server.close()
    if status != 0:
        refused += 1
        print(f"status {status} after the end of standard input")
    print("| messages | result | error of the tool | JSON-RPC error | no request | slowest | not taken |\n|---|---|---|---|---|---|---|")
    print(f"| {options.messages} | {counts['result']} | {counts['error of the tool']} | {counts['JSON-RPC error']} | {counts['no request']} | {slowest:.1f} s | {refused} |")
    print(f"{time.monotonic() - start:.0f} s")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
