"""From a model's files to a version that answers."""

from __future__ import annotations

import json
import os
import shlex
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Optional, Tuple

from .bundle import Bundle, bundle_of_file, bundle_of_folder
from .errors import Conflict, DeployError

if TYPE_CHECKING:
    from .management import Management

KERNEL_MODEL = "windjammer/kernel-model"
PROCESS = "windjammer/process"
PYTHON = "windjammer/python"
EXEC = "windjammer/exec"
MANIFEST = "manifest.json"
POLL_SECONDS = 0.1

_OF_ENDING = {".py": PYTHON, ".js": PROCESS, ".mjs": PROCESS, ".cjs": PROCESS, ".ts": PROCESS, ".mts": PROCESS, ".cts": PROCESS}


@dataclass(frozen=True)
class Deployment:
    """A version that is up."""

    name: str
    version: str
    application: Optional[str]
    #: It was linked now, and not before.
    is_new_link: bool
    #: Of the server: linked applications whose objective is short for it.
    warnings: Tuple[str, ...]


def deploy(
    management: "Management",
    path: str,
    name: str,
    version: str,
    *,
    application: Optional[str] = None,
    input_type: Optional[str] = None,
    entry: Optional[str] = None,
    files: Mapping[str, str] = {},
    command: Optional[str] = None,
    wait_seconds: float = 60.0,
    **fields: Any,
) -> Deployment:
    """
    Sends a model's files, registers them as a version, which becomes the current one, waits until a replica is up, and links it.

    path: the folder of a kernel model, or a module. entry: path is a folder, all of which is sent, and this its module.
    files: what else the module needs, by names from its folder, where path is one file. command: path is the folder of a program, all of
    which is sent, and this starts it there; entry is then its file, the first that the command names unless given. input_type: what inputs
    are; that of the application, or of a manifest, unless given. fields: those of add_model, such as num_replicas, batch_size, memory_mib;
    canary=True, or its parameters, tries it beside the current version first.

    Raises RefusedError; DeployError where it does not come up, with why, and how to go back: the version stays registered.
    """
    if command is None:
        bundle, container = _bundle(path, entry, files)
    else:
        bundle, container = _program(path, entry, files, command), EXEC
        fields["command"] = command
    taken = input_type or _manifest_type(path, container)
    if application is not None:
        # Asked in any case: an application that is not there is told before anything is sent.
        of_application = management.application(application)["input_type"]
        taken = taken or of_application
    if taken is None:
        raise ValueError("say what its inputs are: input_type, or the application that it is for")
    return _deployed(management, bundle, name, version, container, taken, application, wait_seconds, fields)


def deploy_bundle(
    management: "Management",
    bundle: Bundle,
    name: str,
    version: str,
    container_name: str,
    input_type: str,
    *,
    application: Optional[str] = None,
    wait_seconds: float = 60.0,
    **fields: Any,
) -> Deployment:
    """As deploy, of files that are known."""
    if application is not None:
        management.application(application)
    return _deployed(management, bundle, name, version, container_name, input_type, application, wait_seconds, fields)


def _deployed(
    management: "Management",
    bundle: Bundle,
    name: str,
    version: str,
    container_name: str,
    input_type: str,
    application: Optional[str],
    wait_seconds: float,
    fields: Mapping[str, Any],
) -> Deployment:
    version = str(version)
    previous = _current(management, name)
    content_hash = management.add_bundle(bundle)
    management.add_model(name, version, input_type, container_name, content_hash=content_hash, **fields)
    if fields.get("num_replicas") != 0:
        _wait(management, name, version, previous, wait_seconds)
    is_new = application is not None and _link(management, application, name)
    warnings = management.model(name, version).get("warnings", [])
    return Deployment(name, version, application, is_new, tuple(warnings))


def _bundle(path: str, entry: Optional[str], files: Mapping[str, str]) -> Tuple[Bundle, str]:
    path = os.fspath(path)
    if entry is not None:
        if not os.path.isdir(path):
            raise DeployError(f"{path} is no folder: with entry, path is the folder of the module")
        return bundle_of_folder(path, entry), _container_of(entry)
    if os.path.isdir(path):
        if not os.path.isfile(os.path.join(path, MANIFEST)):
            raise DeployError(f"{path} has no {MANIFEST}, so that it is no kernel model: name its module with entry")
        return bundle_of_folder(path, MANIFEST), KERNEL_MODEL
    if not os.path.isfile(path):
        raise DeployError(f"there is no file and no folder {path}")
    return bundle_of_file(path, files), _container_of(path)


def _program(path: str, entry: Optional[str], files: Mapping[str, str], command: str) -> Bundle:
    path = os.fspath(path)
    if not os.path.isdir(path):
        raise DeployError(f"{path} is no folder: with command, path is the folder of the program")
    if files:
        raise DeployError("with command the whole folder is sent: put files into it")
    first = entry if entry is not None else _file_of(path, command)
    if first is None or os.path.dirname(os.path.normpath(first)) or not os.path.isfile(os.path.join(path, first)):
        raise DeployError(f"name the program's file with entry, one that lies in {path} itself")
    return bundle_of_folder(path, os.path.normpath(first))


def _file_of(folder: str, command: str) -> Optional[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DeployError(f"the command is none that a shell takes: {error}") from error
    return next((word for word in words if not os.path.isabs(word) and os.path.isfile(os.path.join(folder, word))), None)


def _container_of(module: str) -> str:
    ending = os.path.splitext(module)[1]
    container = _OF_ENDING.get(ending)
    if container is None:
        raise DeployError(f"{module} is no module that a server runs: {', '.join(_OF_ENDING)}")
    return container


def _manifest_type(path: str, container: str) -> Optional[str]:
    if container != KERNEL_MODEL:
        return None
    file = os.path.join(path, MANIFEST)
    try:
        with open(file, encoding="utf-8") as manifest:
            return json.load(manifest)["inputs"][0]["type"]
    except (ValueError, LookupError, TypeError) as error:
        raise DeployError(f"{file} does not say the type of its first input") from error


def _current(management: "Management", name: str) -> Optional[str]:
    for one in management.models():
        if one["model_name"] == name and one["is_current_version"]:
            return one["model_version"]
    return None


def _wait(management: "Management", name: str, version: str, previous: Optional[str], seconds: float) -> None:
    advice = (
        f"remove it with delete_model({name!r}, {version!r})"
        if previous is None
        else f"version {previous} goes on if it was up; go back with set_model_version({name!r}, {previous!r})"
    )
    until = time.monotonic() + seconds
    while True:
        replicas = [one for one in management.replicas() if one["model_name"] == name and one["model_version"] == version]
        if any(one["state"] == "up" for one in replicas):
            model = management.model(name, version)
            # Somebody may have chosen another one meanwhile.
            if model["is_serving_version"] or not model["is_current_version"]:
                return
        failures = [one["last_failure"] for one in replicas if one.get("last_failure")]
        if failures and all(one["state"] == "down" for one in replicas):
            raise DeployError(f"{name} {version} is registered and does not start: {failures[0]}; {advice}")
        if time.monotonic() > until:
            reason = failures[0] if failures else "it is still starting"
            raise DeployError(f"{name} {version} is registered and not up after {seconds:g} s: {reason}; {advice}")
        time.sleep(POLL_SECONDS)


def _link(management: "Management", application: str, model: str) -> bool:
    """False where it was linked before: a new version of it is asked from its registration on."""
    try:
        management.add_links(application, [model])
        return True
    except Conflict as error:
        if error.code == "link_exists":
            return False
        raise
