"""Numbers that attributes of people are, and sums of them."""
