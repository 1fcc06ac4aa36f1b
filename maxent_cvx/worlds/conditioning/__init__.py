"""What worlds say in which sentences are true."""
