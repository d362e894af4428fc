"""REST: the operations of `api.service.Service` over HTTP, described by an OpenAPI document that is made from them."""
