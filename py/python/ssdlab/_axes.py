"""Axes that show themselves as the value of a cell of a notebook; they need matplotlib."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure


class ShownAxes(Axes):
    """The only axes of a figure that no backend knows."""

    vector = False

    @classmethod
    def new(cls, dpi: float, vector: bool) -> ShownAxes:
        """Axes in a figure of their own, whose layout leaves room for every text."""
        axes = Figure(dpi=dpi, layout="constrained").add_subplot(axes_class=cls)
        assert isinstance(axes, cls)
        axes.vector = vector
        return axes

    def _repr_png_(self) -> bytes | None:
        return None if self.vector else self._drawn("png")

    def _repr_svg_(self) -> str | None:
        return self._drawn("svg").decode() if self.vector else None

    def _drawn(self, form: str) -> bytes:
        buffer = io.BytesIO()
        figure = self.get_figure(root=True)
        assert figure is not None, "axes of `new` keep their figure"
        figure.savefig(buffer, format=form)
        return buffer.getvalue()
