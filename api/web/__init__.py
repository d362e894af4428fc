"""The page at `/`: static files in the wheel, no build step, no request to anybody but this server.

Everything that strangers wrote reaches it as JSON and becomes text nodes. The picture is the page that `lineage graph`
exports, in a sandboxed frame of its own.
"""
