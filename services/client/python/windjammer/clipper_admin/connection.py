"""Clipper's ClipperConnection over the client of a Windjammer server."""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List, Mapping, NoReturn, Optional, Union

from ..client import Client
from ..errors import NotFound, WindjammerError
from .exceptions import ClipperException, UnconnectedException
from .managers import ContainerManager
from .server import StartedServer, is_there, start_server

logger = logging.getLogger(__name__)


class ClipperConnection:
    """
    As Clipper's: same names, same arguments, ClipperException where a call fails. What starts or builds Docker containers is refused
    and says what takes its place; arguments that are about Docker (registry, base_image) are left out of account.
    """

    def __init__(self, container_manager: Optional[ContainerManager] = None):
        self.cm = ContainerManager() if container_manager is None else container_manager
        self.connected = False
        #: What this asks; it can more than the calls here.
        self.client = Client(self.cm.url, self.cm.management_url)
        self._started: Optional[StartedServer] = None

    # Clusters.

    def start_clipper(self, *_images: Any, cache_size: Optional[int] = None, **_more: Any) -> None:
        """
        Connects to the server, if one runs. Where none does and its address is this machine, starts one without a data directory:
        the command is WINDJAMMER_COMMAND, or `windjammer` on the path. cache_size: of predictions, in bytes.
        """
        if is_there(self.client):
            if cache_size is not None:
                logger.warning("a server runs already: cache_size has no effect on it")
        else:
            self._started = start_server(self.client, cache_size)
        self.connected = True
        logger.info("Clipper is running")

    def connect(self) -> None:
        """Raises ClipperException where no server answers."""
        _told(self.client.management.ping)
        self.connected = True
        logger.info("connected to %s", self.get_query_addr())

    def stop_all(self, graceful: bool = True) -> None:
        """Stops the server that start_clipper has started, with its models. One that ran before goes on."""
        if self._started is None:
            logger.warning("%s was not started by start_clipper, and goes on: stop it where it was started", self.client.url)
        else:
            self._started.stop(graceful)
            self._started = None
        self.client.close()
        self.connected = False

    # Applications.

    def register_application(self, name: str, input_type: str, default_output: str, slo_micros: int) -> None:
        self._management()
        _told(self.client.management.add_application, name, _input_type(input_type), default_output, slo_micros)
        logger.info("Application %s was successfully registered", name)

    def unregister_application(self, name: str) -> None:
        _told(self._management().delete_application, name)
        logger.info("Application %s was successfully unregistered", name)

    def delete_application(self, name: str) -> None:
        self.unregister_application(name)

    def link_model_to_app(self, app_name: str, model_name: str) -> None:
        """An application may have several models here: its policy says which of them answers."""
        _told(self._management().add_links, app_name, [model_name])
        logger.info("Model %s is now linked to application %s", model_name, app_name)

    def unlink_model_from_app(self, app_name: str, model_name: str) -> None:
        _told(self._management().delete_links, app_name, [model_name])
        logger.info("Model %s is no longer linked to application %s", model_name, app_name)

    def get_all_apps(self, verbose: bool = False) -> List[Any]:
        found = _told(self._management().applications)
        return found if verbose else [one["name"] for one in found]

    def get_app_info(self, name: str) -> Optional[Dict[str, Any]]:
        return _or_none(self._management().application, name)

    def get_linked_models(self, app_name: str) -> List[str]:
        return _told(self._management().linked_models, app_name)

    # Models.

    def register_model(
        self,
        name: str,
        version: Union[str, int],
        input_type: str,
        image: Optional[str] = None,
        labels: Optional[List[str]] = None,
        batch_size: int = -1,
    ) -> None:
        """image: a container that the server runs or lets connect; docs/guides/clipper.md has which."""
        if image is None:
            raise ClipperException(
                "register_model needs the name of a container as image; a function is deployed by deployers.python.deploy_python_closure, "
                "files of a model by client.management.deploy"
            )
        fields = {"labels": labels or [], "batch_size": batch_size}
        _told(self._management().add_model, name, str(version), _input_type(input_type), image, **fields)
        logger.info("Successfully registered model %s:%s", name, version)

    def deploy_model(
        self,
        name: str,
        version: Union[str, int],
        input_type: str,
        image: str,
        labels: Optional[List[str]] = None,
        num_replicas: int = 1,
        batch_size: int = -1,
    ) -> NoReturn:
        raise ClipperException(
            f"deploy_model starts the Docker image {image!r}, and nothing here starts containers. If it is yours, start it where it can reach the server, "
            "after register_model; if it only holds a model's files, give these to client.management.deploy"
        )

    def build_model(self, name: str, version: Union[str, int], model_data_path: str, base_image: str, *_more: Any, **_others: Any) -> NoReturn:
        raise ClipperException(
            "build_model makes a Docker image, and none is needed here: client.management.deploy sends a model's files, "
            "deployers.python.deploy_python_closure a function"
        )

    def build_and_deploy_model(
        self, name: str, version: Union[str, int], input_type: str, model_data_path: str, base_image: str, *_more: Any, **_others: Any
    ) -> NoReturn:
        raise ClipperException(
            f"build_and_deploy_model makes a Docker image of {model_data_path!r}, and none is needed here: client.management.deploy sends a model's files, "
            "deployers.python.deploy_python_closure a function"
        )

    def get_all_models(self, verbose: bool = False) -> List[Any]:
        found = _told(self._management().models)
        return found if verbose else [f"{one['model_name']}:{one['model_version']}" for one in found]

    def get_model_info(self, name: str, version: Union[str, int]) -> Optional[Dict[str, Any]]:
        return _or_none(self._management().model, name, str(version))

    def get_current_model_version(self, name: str) -> str:
        for one in self.get_all_models(verbose=True):
            if one["model_name"] == name and one["is_current_version"]:
                return one["model_version"]
        raise ClipperException(f"no version of model {name} is registered")

    def set_model_version(self, name: str, version: Union[str, int], num_replicas: Optional[int] = None) -> None:
        _told(self._management().set_model_version, name, str(version))
        if num_replicas is not None:
            self.set_num_replicas(name, num_replicas, version)

    def get_num_replicas(self, name: str, version: Union[str, int, None] = None) -> int:
        """Those that are up."""
        wanted = self.get_current_model_version(name) if version is None else str(version)
        info = self.get_model_info(name, wanted)
        if info is None:
            raise ClipperException(f"model {name}:{wanted} is not registered")
        return info["replicas_up"]

    def set_num_replicas(self, name: str, num_replicas: int, version: Union[str, int, None] = None) -> None:
        wanted = self.get_current_model_version(name) if version is None else str(version)
        _told(self._management().set_replicas, name, wanted, num_replicas)

    def get_all_model_replicas(self, verbose: bool = False) -> List[Any]:
        found = _told(self._management().replicas)
        return found if verbose else [f"{one['model_name']}:{one['model_version']}:{one['replica_id']}" for one in found]

    def get_model_replica_info(self, name: str, version: Union[str, int], replica_id: int) -> Optional[Dict[str, Any]]:
        return _or_none(self._management().replica, name, str(version), replica_id)

    def stop_models(self, model_names: List[str]) -> None:
        """Every version of them; models that are linked are unlinked first."""
        self._stop(lambda one: one["model_name"] in _list(model_names, "model_names"))

    def stop_versioned_models(self, model_versions_dict: Mapping[str, List[Union[str, int]]]) -> None:
        wanted = {name: [str(one) for one in _list(versions, name)] for name, versions in model_versions_dict.items()}
        self._stop(lambda one: one["model_version"] in wanted.get(one["model_name"], []))

    def stop_inactive_model_versions(self, model_names: List[str]) -> None:
        self._stop(lambda one: one["model_name"] in _list(model_names, "model_names") and not one["is_current_version"])

    def stop_all_model_containers(self) -> None:
        self._stop(lambda _one: True)

    def _stop(self, is_meant: Callable[[Dict[str, Any]], bool]) -> None:
        management = self._management()
        models = _told(management.models)
        going = [one for one in models if is_meant(one)]
        for name in sorted({one["model_name"] for one in going}):
            gone = [one for one in going if one["model_name"] == name]
            # A version that is current goes last, and only when no application asks it any more.
            if any(one["is_current_version"] for one in gone):
                staying = [one for one in models if one["model_name"] == name and one not in gone]
                if staying:
                    raise ClipperException(
                        f"version {next(one['model_version'] for one in gone if one['is_current_version'])} of {name} is the current one: "
                        f"choose another first, set_model_version({name!r}, {staying[-1]['model_version']!r})"
                    )
                for application in _told(management.applications):
                    if name in application["linked_models"]:
                        _told(management.delete_links, application["name"], [name])
            for one in sorted(gone, key=lambda version: version["is_current_version"]):
                _told(management.delete_model, name, one["model_version"])
                logger.info("Model %s:%s was successfully deleted", name, one["model_version"])

    # What runs.

    def get_clipper_logs(self, logging_dir: str = "clipper_logs/") -> NoReturn:
        raise ClipperException(
            "get_clipper_logs reads logs of Docker containers, and there are none: the server writes one log, where it runs (serve --log-file); "
            "why a replica does not start says get_all_model_replicas(verbose=True), last_failure"
        )

    def inspect_instance(self) -> str:
        """Metrics, as text for Prometheus and not as JSON."""
        self._management()
        return _told(self.client.metrics)

    def get_query_addr(self) -> str:
        """HOST:PORT."""
        return self._address(self.client.url)

    def get_metric_addr(self) -> str:
        """HOST:PORT whose /metrics Prometheus asks: the server itself."""
        return self._address(self.client.url)

    def test_predict_function(self, query: Mapping[str, Any], func: Callable[[List[Any]], Any], input_type: str) -> Any:
        """What a function answers to a query, here and now; as text that says what is wrong with the query where something is."""
        if set(query) == {"input"}:
            inputs = [query["input"]]
        elif set(query) == {"input_batch"}:
            inputs = list(query["input_batch"])
        else:
            return "Invalid input type or JSON key"
        kinds = {"integers": int, "floats": float, "doubles": float, "strings": str, "bytes": bytes}
        kind = kinds.get(_input_type(input_type))
        if kind is None:
            return "Invalid input type"
        for one in inputs:
            items = [one] if kind in (str, bytes) else one
            if not isinstance(items, (list, tuple)) or not all(type(item) is kind for item in items):
                return "Invalid input type"
        return func(inputs)

    def _management(self):
        if not self.connected:
            raise UnconnectedException()
        return self.client.management

    def _address(self, url: str) -> str:
        if not self.connected:
            raise UnconnectedException()
        return url.split("://", 1)[1]


# Names that Clipper takes beside its own.
_SHORT = {"integer": "integers", "int": "integers", "float": "floats", "double": "doubles", "byte": "bytes", "string": "strings"}


def _input_type(name: str) -> str:
    return _SHORT.get(name, name)


def _list(value: Any, what: str) -> Any:
    if isinstance(value, str):
        raise ClipperException(f"{what} is a list of names: [{value!r}]")
    return value


def _told(call: Callable[..., Any], *args: Any, **fields: Any) -> Any:
    """What a call of the client says, with Clipper's exception where it fails."""
    try:
        return call(*args, **fields)
    except (WindjammerError, ValueError, OSError) as error:
        raise ClipperException(str(error)) from error


def _or_none(call: Callable[..., Any], *args: Any) -> Optional[Dict[str, Any]]:
    try:
        return call(*args)
    except NotFound:
        return None
    except (WindjammerError, ValueError) as error:
        raise ClipperException(str(error)) from error


