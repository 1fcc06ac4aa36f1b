"""The problem: maximise sum x log(w / x) over low <= A x <= high, and how its matrix is laid out."""
