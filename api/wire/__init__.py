"""Results as every door gives them: one frozen type each, from which JSON, JSON Schema and the clients' objects derive.

`*View` is what a reader outside sees of the record of that name: invisible characters are removed, citations added. `encode.view` makes it by
the types that its fields declare; `from_record` says what goes beyond that.
"""
