"""The read side: from a question to cited evidence."""
