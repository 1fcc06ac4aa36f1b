"""What a solve tells while it runs, and what may stop it: the log, the callback, and the time limit."""
