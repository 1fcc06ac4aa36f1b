"""What can an adversary infer about people from what was published, plus what the adversary already knows?

The answer is P(sensitive value | quasi-identifiers), by the principle of maximum entropy, with a proof
of its precision: ``MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3).solve()``.
"""

# A public name is imported when it is first used (PEP 562), so that importing the package is fast. The names, and the
# modules that define them, are listed in __init__.pyi, which type checkers and editors read as well.
import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
