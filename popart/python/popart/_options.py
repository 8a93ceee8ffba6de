"""SessionOptions whose dictionaries and lists can be changed in place."""
from collections.abc import MutableMapping, MutableSequence

from . import popart_core


class _View:
    """Reads and writes the native attribute `name` of `owner` as a whole."""

    def __init__(self, owner, name: str):
        self._owner = owner
        self._name = name

    def _read(self):
        return getattr(self._owner, self._name)

    def _write(self, value) -> None:
        setattr(self._owner, self._name, value)

    def __len__(self):
        return len(self._read())

    def __getitem__(self, key):
        return self._read()[key]

    def __setitem__(self, key, value):
        changed = self._read()
        changed[key] = value
        self._write(changed)

    def __delitem__(self, key):
        changed = self._read()
        del changed[key]
        self._write(changed)

    def __eq__(self, other):
        return self._read() == (other._read() if isinstance(other, _View)
                                else other)

    def __repr__(self):
        return repr(self._read())


class _MappingView(_View, MutableMapping):
    def __iter__(self):
        return iter(self._read())


class _ListView(_View, MutableSequence):
    def insert(self, index, value):
        changed = self._read()
        changed.insert(index, value)
        self._write(changed)


def _property(name: str, view: type, convert: type):
    def read(self):
        return view(self, name)

    def write(self, value):
        setattr(self, name, convert(value))

    return property(read, write)


def _mapping(name: str):
    return _property(name, _MappingView, dict)


def _list(name: str):
    return _property(name, _ListView, list)


# Inside the settings, which are handed out as they are.
popart_core.ExperimentalSettings.customTransformApplierSettings = _mapping(
    "_customTransformApplierSettings")


class SessionOptions(popart_core._SessionOptionsCore):
    engineOptions = _mapping("_engineOptions")
    convolutionOptions = _mapping("_convolutionOptions")
    matmulOptions = _mapping("_matmulOptions")
    lstmOptions = _mapping("_lstmOptions")
    reportOptions = _mapping("_reportOptions")
    gclOptions = _mapping("_gclOptions")
    tensorLocationSettingsOverride = _mapping(
        "_tensorLocationSettingsOverride")
    bufferingDepthMap = _mapping("_bufferingDepthMap")
    prefetchBufferingDepthMap = bufferingDepthMap
    customCodelets = _list("_customCodelets")
    updatableNamedBuffers = _list("_updatableNamedBuffers")
    virtualGraphSplitRatios = _list("_virtualGraphSplitRatios")
