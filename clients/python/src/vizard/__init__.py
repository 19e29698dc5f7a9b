"""Client of the Vizard service, and a reader of its releases.

`Client` speaks to a server; `Release` reads what was published and knows
ranges, sets and buckets.
"""

from ._client import Client
from ._errors import (
    ConnectionFailed,
    JobFailed,
    MidpointWarning,
    Problem,
    ReleaseError,
    VizardError,
)
from ._estimate import Crosstab, Estimate
from ._hierarchy import Hierarchy
from ._regress import Regression, Term
from ._release import Release

__all__ = [
    "Client",
    "ConnectionFailed",
    "Crosstab",
    "Estimate",
    "Hierarchy",
    "JobFailed",
    "MidpointWarning",
    "Problem",
    "Regression",
    "Release",
    "ReleaseError",
    "Term",
    "VizardError",
]
