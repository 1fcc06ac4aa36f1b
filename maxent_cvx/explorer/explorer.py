"""The explorer that users hold: widgets in a notebook, and a picture elsewhere."""

from __future__ import annotations

from base64 import b64encode
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from .answers import Answer
from .exploration import Exploration
from .static_picture import as_png, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Explorer"]

#: What the page is made of, beyond what the package needs.
NEEDED = ("ipywidgets", "anywidget")
#: What to do where they are missing.
INSTALL = 'pip install "maxent-cvx[explorer]"'


class Explorer:
    """A model under the hand: made by :func:`maxent_cvx.explore`, and shown by a notebook where it is the last line.

    Parameters
    ----------
    exploration : Exploration
        What :func:`maxent_cvx.explore` has made of its arguments.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> explorer = mx.explore(mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3"))
    >>> print(explorer.code)
    import maxent_cvx as mx
    <BLANKLINE>
    model = mx.MaxEnt(release)
    model.add('P(Flu | Gender=male) = 0.3')
    post = model.solve()
    """

    def __init__(self, exploration: Exploration) -> None:
        self._exploration = exploration
        self._page: Any = None

    @property
    def code(self) -> str:
        """The lines that make the model as it is now, to be copied."""
        return self._exploration.code

    @property
    def model(self) -> MaxEnt:
        """The model as it is now; the one that was given never changes."""
        return self._exploration.assumptions.model_at(self._exploration.state).copy()

    @property
    def posterior(self) -> Posterior | None:
        """What is inferred now; None where the knowledge is contradictory, or nothing was found in time."""
        answer = self._exploration.answer
        return answer.post if isinstance(answer, Answer) else None

    @property
    def widget(self) -> Any:
        """The page, a box of ipywidgets.

        Raises
        ------
        ImportError
            If ipywidgets or anywidget are not installed; the message says how to install them.
        """
        if missing := [name for name in NEEDED if find_spec(name) is None]:
            raise ImportError(f"{' and '.join(missing)} not installed, so that there are no sliders; {INSTALL}")
        if self._page is None:
            from .widgets.page import Page  # ipywidgets is an extra, and nothing else needs it

            self._page = Page(self._exploration)
        return self._page.box

    def figure(self) -> Figure:
        """Draw what is inferred now, with the verdict below it: the picture where there are no sliders.

        Returns
        -------
        Figure
            Of Matplotlib.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> figure = mx.explore(mx.MaxEnt(release)).figure()
        >>> figure.axes[0].get_title()
        'P(Disease | Gender, Degree)'
        """
        return self._drawn("")

    def reset(self) -> None:
        """Put every slider back to what the model said at the start.

        Examples
        --------
        >>> import maxent_cvx as mx
        >>> hospital = mx.datasets.load_hospital()
        >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
        >>> explorer = mx.explore(mx.MaxEnt(release))
        >>> explorer.reset()
        """
        if self._page is None:
            self._exploration.go(self._exploration.assumptions.start)
        else:
            self._page.reset()

    def _drawn(self, note: str) -> Figure:
        """The picture, with a note in the last place."""
        head, items = self._exploration.sentences
        sentences = [sentence for sentence in (head, *items, note) if sentence]
        return picture(self._exploration.answer, sentences, self._exploration.max_rows)

    def _repr_mimebundle_(self, **asked: Any) -> dict[str, Any]:
        """The page where widgets are shown; a picture, and words, where they are not."""
        bundle: dict[str, Any] = {"text/plain": repr(self)}
        if any(find_spec(name) is None for name in NEEDED):
            note = f"There are no sliders here: {INSTALL}"
        else:
            note = "A picture only: sliders need a running notebook"
            bundle |= self.widget._repr_mimebundle_()
            bundle["text/plain"] = repr(self)
        bundle["image/png"] = b64encode(as_png(self._drawn(note))).decode()
        return bundle

    def __repr__(self) -> str:
        head, items = self._exploration.sentences
        said = "\n".join(f"  {sentence}" for sentence in (head, *items) if sentence)
        how = "" if all(map(find_spec, NEEDED)) else f" ({INSTALL} for sliders)"
        return f"<Explorer, with sliders in a notebook{how}>\n{said}"
