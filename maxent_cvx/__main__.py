"""``python -m maxent_cvx``: the command line, where the directory of scripts is not searched for commands."""

import sys

from .cli import main

sys.exit(main())
