"""The connection with a Ray cluster, and its errors as those of this package."""

from __future__ import annotations

import os
from typing import Any

from . import _native
from ._errors import DeviceError, Error, UsageError
from ._results import needed


def connected(jobs: int | None) -> Any:
    """The module `ray`, connected: with the cluster of an earlier `ray.init` or of `RAY_ADDRESS`, else with
    a new one of this machine."""
    ray = needed("ray", "ray")
    if not ray.is_initialized():
        alone = "RAY_ADDRESS" not in os.environ
        new = {"num_cpus": jobs, "include_dashboard": False} if alone else {}
        ray.init(log_to_driver=False, **new)
    return ray


def fetched(ray: Any, reference: Any) -> Any:
    """The value of a reference; the error of a task as that error, any other as a `DeviceError`."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Error):
            raise error.cause from error
        raise
    except ray.exceptions.RayError as error:
        raise DeviceError(f"Ray gave up a task: {error}", "worker") from error


def require_version(version: str, place: str) -> None:
    """Refuses work of a caller with another version than this process, which is called `place`."""
    if version != _native.version():
        found = _native.version()
        message = f"{place} has ssdlab {found}, the caller has {version}; install one version"
        raise UsageError(message, "usage")
