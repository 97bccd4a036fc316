"""The worker's side of `vivace --system worker:COMMAND` (docs/systems.md), for Python 3.8 and later.

Import it, or copy it beside your own worker: it needs the standard library alone. `serve` takes over
standard output, which is for the protocol; whatever prints goes to standard error from then on.
"""

import contextlib
import os
import sys
import time
import traceback


class Request:
    """One request, as the functions that are given to `serve` see it."""

    def __init__(self):
        self.batch = 1
        self._facts = []

    @contextlib.contextmanager
    def stage(self, name):
        """Gives the time of a `with` block to a stage. Stages must not overlap."""
        start_ns = time.monotonic_ns()
        try:
            yield
        finally:
            self._facts.append(f"stage:{name}={time.monotonic_ns() - start_ns}")

    def covariate(self, name, value):
        """A number that may explain slow requests, recorded so that larger is worse."""
        self._facts.append(f"covariate:{name}={value}")


def _one_line(text):
    return " ".join(str(text).split())


def serve(run, *, prepare=None, finish=None, sync=None, stages=(), covariates=(), batch=False,
          items=1, timeout_s=None, name=""):
    """Answers vivace until it closes standard input.

    run(request)      what is timed; an exception is reported and ends the measurement
    prepare, finish   the same, before and after it, outside of the latency
    sync(request)     returns when no work of the last run is left: vivace calls it after some runs
                      to find out whether run returned early
    stages            the names that run may give to request.stage
    covariates        the names that run may give to request.covariate
    batch             whether run heeds request.batch (--batch)
    items             inputs that a run of a batch of 1 answers
    timeout_s         how long an answer may take, where a minute is too short
    name              of what is measured: a runtime and its version, a model
    """
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)

    hello = ["vivace-worker", "1"]
    if sync:
        hello.append("sync")
    if batch:
        hello.append("batch")
    if items != 1:
        hello.append(f"items:{items}")
    if stages:
        hello.append("stages:" + ",".join(stages))
    if covariates:
        hello.append("covariates:" + ",".join(covariates))
    if timeout_s:
        hello.append(f"timeout:{timeout_s}")
    if name:
        hello.append("name:" + "-".join(name.split()))
    replies.write((" ".join(hello) + "\n").encode())

    request = Request()
    actions = {b"prepare": prepare, b"run": run, b"sync": sync, b"finish": finish, b"nop": None}
    for line in sys.stdin.buffer:
        words = line.split()
        reply = "ok"
        try:
            action = actions[words[0]]
            if words[0] == b"prepare":
                request.batch = int(words[1])
            if action:
                action(request)
            if words[0] == b"run":
                reply = " ".join(["ok", *request._facts])
                request._facts.clear()
        except Exception as problem:  # vivace prints the message, and the end of standard error
            traceback.print_exc()
            reply = f"error {type(problem).__name__}: {_one_line(problem)}"
        replies.write((reply + "\n").encode())
