"""The worst that pieces of knowledge about people can do to a release in which nobody is linked to anything else."""
