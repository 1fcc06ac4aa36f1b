"""Linear and integer programs over the rows: bounds, feasibility, implied zeros."""
