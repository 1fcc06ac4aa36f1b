"""A model of the sensitive value, learnt from all buckets of a release, and what it says of everybody in them."""
