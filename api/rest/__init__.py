"""REST: the operations of `api.table` over HTTP, described by an OpenAPI document that is made from them."""

PREFIX = "/api/v1"
"""What the paths of the operations begin with."""
