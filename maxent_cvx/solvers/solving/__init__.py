"""One solve: presolve, a backend, the way back and the certificate, in one way after the other."""
