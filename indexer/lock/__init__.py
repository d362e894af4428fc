"""Lock files: the answers and bytes that a build read, so that another machine builds the same content.

A build is a function of answers and settings. A lock holds the services' small answers themselves (records, reference
lists, refusals), and of the large ones (e-prints, PDFs, tarballs) the address of exactly that version or commit and the
SHA-256. A build with a lock asks the services for nothing but those files, whatever their heads and lists say today.
"""
