"""The commands of `lineage`, by what they are for; each is one method of `api.service.Service`."""
