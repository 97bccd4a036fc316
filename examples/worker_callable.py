"""Measures any Python callable with vivace:

    vivace measure --system "worker:python3 examples/worker_callable.py"

Edit `load` and `run`; the rest stays. As it is, it needs the standard library alone.

PyTorch:
    def load():
        global model, pixels
        model = torch.jit.load("model.pt").eval()
        pixels = torch.zeros(1, 3, 224, 224)
    def run(request):
        with request.stage("context_encode"), torch.inference_mode():
            model(pixels)
            torch.cuda.synchronize()  # on a GPU: without it the call returns before the work is done
    serve(run, sync=lambda request: torch.cuda.synchronize(), stages=["context_encode"],
          name=f"torch {torch.__version__}")

ONNX Runtime:
    def load():
        global session, feed
        session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
        feed = {session.get_inputs()[0].name: numpy.zeros((1, 3, 224, 224), numpy.float32)}
    def run(request):
        with request.stage("context_encode"):
            session.run(None, feed)  # returns when its outputs are in host memory
    serve(run, stages=["context_encode"], name=f"onnxruntime {onnxruntime.__version__}")
"""

import gc
import hashlib
import platform

from worker_protocol import serve


def load():
    """Once, before the first request: vivace reports it as the time of loading."""
    global picture
    picture = bytes(range(256)) * 64


def run(request):
    """One request."""
    with request.stage("preprocess"):
        pixels = bytes(255 - value for value in picture)
    with request.stage("context_encode"):
        for _ in range(request.batch):
            hashlib.pbkdf2_hmac("sha256", pixels, b"vivace", 2000)
    # Python's own collector is a common cause of slow requests.
    request.covariate("collections", gc.get_stats()[2]["collections"] - collections_before)


def prepare(request):
    """Before each request, outside of its latency."""
    global collections_before
    collections_before = gc.get_stats()[2]["collections"]


if __name__ == "__main__":
    load()
    serve(run, prepare=prepare, stages=["preprocess", "context_encode"],
          covariates=["collections"], batch=True, name=f"python {platform.python_version()}")
