"""What is kept on disk: blobs, cached results, generations, and the checks that verify them."""
