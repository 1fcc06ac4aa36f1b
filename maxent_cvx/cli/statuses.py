"""Exit statuses, which scripts rely on."""

from __future__ import annotations

__all__ = ["CONTRADICTORY", "DEFECT", "EXPOSED", "INTERRUPTED", "NO_READER", "UNDECIDED", "UNUSABLE"]

#: Somebody is exposed above what --fail-above allows.
EXPOSED = 1
#: There is no answer: the input cannot be used, or a solver has none.
UNUSABLE = 2
#: What is known contradicts what is published.
CONTRADICTORY = 3
#: Nobody is exposed above what --fail-above allows, but the values cannot be judged as they are; --within decides.
UNDECIDED = 4
#: A defect of this program: EX_SOFTWARE of sysexits.h. Python's own status would be that of somebody who is exposed.
DEFECT = 70
#: The user has stopped it: 128 and SIGINT's 2, as shells give.
INTERRUPTED = 130
#: Who read standard output is gone: 128 and SIGPIPE's 13, as shells give for a program that this has ended.
NO_READER = 141
