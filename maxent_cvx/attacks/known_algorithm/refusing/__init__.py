"""What Mondrian refused: the tables from which it makes a release are those in which certain cuts were refused."""
