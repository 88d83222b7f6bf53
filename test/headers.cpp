// Nothing: the object library that owns the precompiled headers of the tests needs a source.
