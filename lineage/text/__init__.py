"""Text: tokens, titles, sentences, phrases, hidden characters, and fences around third-party text."""
