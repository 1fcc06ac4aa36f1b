"""Reports: what a release discloses, in one page for somebody who decides whether to publish it."""

from __future__ import annotations
