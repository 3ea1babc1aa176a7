"""Former names of :mod:`verify.report.failures`, still imported by the atlas."""

from verify.report.failures import FAILED as FALLEN
from verify.report.failures import FailureMode as Fall
from verify.report.failures import by_root, number
from verify.report.failures import failure_mode as fall

__all__ = ["FALLEN", "Fall", "by_root", "fall", "number"]
