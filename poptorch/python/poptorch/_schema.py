# What the schema of a torch operator says about a call of it.
import torch


class Layout:
    """What a schema says: arguments and defaults, views and updates."""

    _known = {}

    def __init__(self, schema):
        self.names = [a.name for a in schema.arguments]
        self.defaults = [
            (a.name, a.default_value if a.has_default_value() else None)
            for a in schema.arguments
        ]
        self._are_tensors = [str(a.type) == "Tensor" for a in schema.arguments]
        aliases = [a.alias_info for a in schema.arguments]
        written = [i for i, a in enumerate(aliases) if a and a.is_write]
        self.written = written[0] if written else None
        self.is_out = bool(written) and schema.arguments[written[0]].kwarg_only
        self.is_view = not written and any(aliases)

    def withNumbers(self, args):
        """The arguments of a call; torch does not always take an integer where
        it has made one of a tensor itself."""
        return tuple(
            torch.tensor(a, device="cpu") if isT and isinstance(a, int) else a
            for a, isT in zip(args, self._are_tensors)
        )

    def target(self, args, kwargs):
        """The argument that is written to."""
        name = self.names[self.written]
        return kwargs[name] if name in kwargs else args[self.written]

    @classmethod
    def of(cls, func):
        layout = cls._known.get(func)
        if layout is None:
            layout = cls._known[func] = cls(func._schema)
        return layout
