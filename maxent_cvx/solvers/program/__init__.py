"""The entropy program: maximise sum x log(w / x) over low <= A x <= high, x >= 0, and the structure of its matrix."""
