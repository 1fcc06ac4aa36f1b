"""What can an adversary infer about people from published data and background knowledge?

The answer is P(sensitive value | quasi-identifiers), by the principle of maximum entropy, with a proof of its
precision: ``MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3).solve()``.
"""

# Public names are imported on first use (PEP 562), so that importing the package is fast. __init__.pyi lists the names
# and the modules that define them, also for type checkers and editors.
import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
