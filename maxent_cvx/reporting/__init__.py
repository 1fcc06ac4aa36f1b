"""Reports: the disclosure of a release on one page, for people who decide whether to publish it."""

from __future__ import annotations
