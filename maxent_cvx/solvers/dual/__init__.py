"""Methods for the dual problem: Newton and L-BFGS, the line search, and removal of terms that tend to zero."""
