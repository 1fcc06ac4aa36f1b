"""Why: rows that contradict each other, rows that force a value, what multipliers say."""
