"""Axes that show themselves in a notebook, once; they need matplotlib."""

from __future__ import annotations

import io
import sys
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure


class ShownAxes(Axes):
    """The only axes of a figure that no backend knows."""

    vector = False
    is_shown = False

    @classmethod
    def new(cls, dpi: float, vector: bool) -> ShownAxes:
        """Axes in a figure of their own, whose layout leaves room for every text."""
        axes = Figure(dpi=dpi, layout="constrained").add_subplot(axes_class=cls)
        assert isinstance(axes, cls)
        axes.vector = vector
        _show_after_cell(axes)
        return axes

    def _repr_png_(self) -> bytes | None:
        return None if self.vector else self._drawn("png")

    def _repr_svg_(self) -> str | None:
        return self._drawn("svg").decode() if self.vector else None

    def _drawn(self, form: str) -> bytes:
        self.is_shown = True
        buffer = io.BytesIO()
        figure = self.get_figure(root=True)
        assert figure is not None, "axes of `new` keep their figure"
        figure.savefig(buffer, format=form)
        return buffer.getvalue()


def _show_after_cell(axes: ShownAxes) -> None:
    """Shows axes at the end of their cell if they were not its value: `plot.why(run);` hides the value alone."""
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython else None
    if not hasattr(shell, "kernel"):
        return

    def show(*_: object) -> None:
        shell.events.unregister("post_run_cell", show)
        if not axes.is_shown:
            ipython.display.display(axes)

    shell.events.register("post_run_cell", show)
