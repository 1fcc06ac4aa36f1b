"""One solve: presolve, a backend, postsolve and the certificate, in as many attempts as it takes."""
