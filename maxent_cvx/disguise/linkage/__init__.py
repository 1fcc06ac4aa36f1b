"""Similar linkage: buckets that stay safe from who knows the prior."""
