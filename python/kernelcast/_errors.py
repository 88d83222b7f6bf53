"""What goes wrong, as exceptions. `UsageError` is a `SourceError`: the question is wrong rather than the source."""
from ._native import native

Error = native.Error
SourceError = native.SourceError
UsageError = native.UsageError
LimitError = native.LimitError
