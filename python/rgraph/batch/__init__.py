"""One graph run many times: frames, parameters, seeds and tiles over threads, processes, or the workers of Dask.

A *task* is one run with values, inputs and flags of its own. `run` maps tasks over workers. The graph travels to each
worker once; the worker keeps its device and the compiled graph. Results come back in the order of the tasks or as they
are done, or the worker writes them to files. A task whose worker is lost runs again on another one. `tune` searches
faster plans of one graph in the same way.
"""

from rgraph._errors import BatchError
from rgraph.batch._processes import Processes, WorkerLost
from rgraph.batch._run import Results, run
from rgraph.batch._tasks import Result, Task, frames, join, seeds, sweep, tiles
from rgraph.batch._tune import tune

__all__ = [
    "BatchError",
    "Processes",
    "Result",
    "Results",
    "Task",
    "WorkerLost",
    "frames",
    "join",
    "run",
    "seeds",
    "sweep",
    "tiles",
    "tune",
]
