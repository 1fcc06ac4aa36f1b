"""An algorithm that is known: which tables it makes a release from, counted, enumerated or sampled."""
