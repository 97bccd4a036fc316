"""A callable that returns before its work is done, as a call to a GPU does:

    vivace measure --system "worker:python3 examples/worker_async.py"

vivace finds it out by `sync` and refuses the figures as latencies. With --no-sync the worker offers
no `sync`, and is found out by the CPU time that it uses after its reply. With --wait run waits for
the result, which is the remedy.
"""

import hashlib
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from worker_protocol import serve

device = ThreadPoolExecutor(max_workers=1)
work = None


def kernel():
    time.sleep(0.002)  # a device takes a moment to start, and the call has returned by then
    hashlib.pbkdf2_hmac("sha256", b"picture", b"vivace", 10000)  # lets other threads run meanwhile


def run(request):
    """Leaves the work to the device."""
    global work
    work = device.submit(kernel)
    if "--wait" in sys.argv:
        work.result()


def sync(request):
    """Waits until the device is idle, whether it was this request's work or not."""
    if work:
        work.result()


if __name__ == "__main__":
    serve(run, prepare=sync, sync=None if "--no-sync" in sys.argv else sync, name="async example")
