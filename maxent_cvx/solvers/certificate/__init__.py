"""The certificate of an answer: how far it is from the optimum, proved from the raw rows."""
