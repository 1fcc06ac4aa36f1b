"""The sections of a report: each a function from one answer to what is shown of it."""
