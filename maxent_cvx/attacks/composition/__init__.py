"""Releases of overlapping people, without pseudonyms: who is in both is linked by quasi-identifiers only."""
