"""The certificate of an answer: a bound on its distance from the optimum, proved from the raw rows."""
