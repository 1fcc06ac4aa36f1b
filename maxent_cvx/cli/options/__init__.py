"""What each command is called with: descriptions that load no library, so that ``--help`` answers at once."""
