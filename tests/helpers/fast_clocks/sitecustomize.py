"""Clocks that run 50 times faster: in every Python process that has this folder on its path, from its start on."""

import time

FASTER = 50


def _faster(clock):
    begun = clock()
    return lambda: begun + FASTER * (clock() - begun)


for _name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
    for _clock in (_name, f"{_name}_ns"):
        setattr(time, _clock, _faster(getattr(time, _clock)))
