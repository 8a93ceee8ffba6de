"""What the tests of all folders share."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_devices(tmp_path_factory):
    """Tests neither see nor take the emulated IPUs of anybody else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASPEN_REGISTRY", str(tmp_path_factory.mktemp("devices")))
        yield
