"""The controls and pictures of a page in a notebook; nothing else of the package loads ipywidgets."""
