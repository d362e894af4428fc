"""References on the write side: what every source lists, and titles looked up."""
