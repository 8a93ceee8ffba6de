"""What sessions take of each operator."""
from dataclasses import dataclass

from . import popart_core


@dataclass
class Operand:
    """An input or output; of the types that are listed."""

    name: str
    supportedTensors: list


@dataclass
class Attribute:
    """An attribute, and which of its values are taken."""

    name: str
    supportedValuesRegex: str = ".*"


@dataclass
class OpDefinition:
    inputs: list
    outputs: list
    attributes: list


def getSupportedOperationsDefinition(includeInternal: bool) -> dict:
    """An OpDefinition for each OperatorIdentifier."""
    return {
        opid: OpDefinition([Operand(*row) for row in inputs],
                           [Operand(*row) for row in outputs],
                           [Attribute(name) for name in attributes])
        for opid, inputs, outputs, attributes
        in popart_core._operationDefinitions(includeInternal)
    }
