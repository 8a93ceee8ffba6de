"""What the tests of all folders share."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def own_devices(tmp_path_factory):
    """Tests neither see nor take the emulated IPUs of anybody else, nor those
    that models of another file's tests still hold."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASPEN_REGISTRY", str(tmp_path_factory.mktemp("devices")))
        yield
