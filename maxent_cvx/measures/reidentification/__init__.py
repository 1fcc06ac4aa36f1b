"""Re-identification: how likely it is that a record is taken for the person whose it is."""
