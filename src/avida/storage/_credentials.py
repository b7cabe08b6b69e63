"""Credentials for stores: of the clouds' own packages where there are any, or of the environment; certificates."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC
from typing import Any

from avida import _core

Provider = Callable[[], Mapping[str, Any]]

_AGAIN = 300.0  # seconds after which packages that renew credentials by themselves are asked again


def _environment(**names: str) -> dict[str, Any]:
    return {field: os.environ[name] for field, name in names.items() if os.environ.get(name)}


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _of_amazon() -> Mapping[str, Any]:
    botocore = _package("botocore.session")
    if botocore is None:
        return _environment(key="AWS_ACCESS_KEY_ID", secret="AWS_SECRET_ACCESS_KEY", token="AWS_SESSION_TOKEN")
    found = botocore.get_session().get_credentials()
    if found is None:
        return {"expires": time.time() + _AGAIN}
    frozen = found.get_frozen_credentials()  # renews them where they are about to expire
    return {
        "key": frozen.access_key,
        "secret": frozen.secret_key,
        "token": frozen.token or "",
        "expires": time.time() + _AGAIN,
    }


def _of_google() -> Mapping[str, Any]:
    auth, transport = _package("google.auth"), _package("google.auth.transport.requests")
    if auth is None or transport is None:
        return {}
    try:
        found, _ = auth.default(scopes=["https://www.googleapis.com/auth/devstorage.read_only"])
    except auth.exceptions.DefaultCredentialsError:
        return {"expires": time.time() + _AGAIN}
    found.refresh(transport.Request())
    expires = found.expiry.replace(tzinfo=UTC).timestamp() if found.expiry else 0  # in UTC, but it does not say so
    return {"token": found.token, "expires": expires}


def _of_azure() -> Mapping[str, Any]:
    if key := os.environ.get("AZURE_STORAGE_ACCOUNT_KEY") or os.environ.get("AZURE_STORAGE_KEY"):
        return {"secret": key}
    if query := os.environ.get("AZURE_STORAGE_SAS_TOKEN"):
        return {"key": "sas", "token": query.removeprefix("?")}
    identity = _package("azure.identity")
    if identity is None:
        return {}
    found = identity.DefaultAzureCredential().get_token("https://storage.azure.com/.default")
    return {"token": found.token, "expires": found.expires_on}


def _of_hugging_face() -> Mapping[str, Any]:
    hub = _package("huggingface_hub")
    token = hub.get_token() if hub else os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN")
    return {"token": token or "", "expires": time.time() + _AGAIN}


USUAL: dict[str, Provider] = {"s3": _of_amazon, "gs": _of_google, "az": _of_azure, "hf": _of_hugging_face}


def certificates() -> str | None:
    """The file of those that are trusted where the system has none: those of certifi, if it is installed."""
    certifi = None if _core.has_certificates() else _package("certifi")
    return certifi.where() if certifi else None
