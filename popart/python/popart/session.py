"""Sessions: models that are compiled for a device, and steps on it."""
import numpy as np

from . import popart_core
from .popart_core import popart_exception


class OutOfMemoryException(popart_exception):
    """The program does not fit the device's memory."""

    def __init__(self, error):
        super().__init__(str(error))
        self.error = str(error)
        self._summary = error.summary

    def getSummaryReport(self) -> str:
        if self._summary is None:
            raise popart_exception(
                "There is no report of a program that was not compiled; set "
                "the engine option debug.allowOutOfMemory to \"true\"")
        return self._summary

    def getProfilePath(self) -> str:
        self.getSummaryReport()
        raise popart_exception(
            "No profile was written: report files are not supported yet; use "
            "getSummaryReport")


class _Session:
    """What both kinds of session have beside their native part."""

    @property
    def dataFlow(self):
        return self._dataFlow

    def initAnchorArrays(self) -> dict:
        """An array for each anchor, of the shape that a step fills."""
        return {
            name: np.zeros(self._anchorShape(name),
                           dtype=self.getInfo(name).data_type_lcase())
            for name in self._anchors()
        }

    def prepareDevice(self, loadEngine: bool = True) -> None:
        try:
            super().prepareDevice(loadEngine)
        except popart_core._memory_allocation_err as error:
            raise OutOfMemoryException(error) from None

    def compileAndExport(self, filename: str) -> None:
        try:
            super().compileAndExport(str(filename))
        except popart_core._memory_allocation_err as error:
            raise OutOfMemoryException(error) from None


    def getReport(self):
        raise popart_exception(
            "There is no pva.Report: the library pva is not part of this SDK "
            "yet; use getSummaryReport")


class InferenceSession(_Session, popart_core._InferenceSessionCore):
    def __init__(self, fnModel, dataFlow, deviceInfo, inputShapeInfo=None,
                 patterns=None, userOptions=None, name="inference"):
        self._dataFlow = dataFlow
        super().__init__(
            fnModel, dataFlow, deviceInfo,
            inputShapeInfo or popart_core.InputShapeInfo(),
            patterns or popart_core.Patterns(),
            userOptions or popart_core._SessionOptionsCore(), name)

    @classmethod
    def fromIr(cls, ir, deviceInfo, name="fromIr"):
        """A session of a graph that did not come from ONNX."""
        session = cls.__new__(cls)
        popart_core._InferenceSessionCore.__init__(session, ir, deviceInfo,
                                                   name)
        session._dataFlow = ir.dataFlow
        return session


class TrainingSession(_Session, popart_core._TrainingSessionCore):
    def __init__(self, fnModel, dataFlow, loss, optimizer, deviceInfo,
                 inputShapeInfo=None, patterns=None, userOptions=None,
                 name="training"):
        self._dataFlow = dataFlow
        super().__init__(
            fnModel, dataFlow, loss, optimizer, deviceInfo,
            inputShapeInfo or popart_core.InputShapeInfo(),
            patterns or popart_core.Patterns(),
            userOptions or popart_core._SessionOptionsCore(), name)
