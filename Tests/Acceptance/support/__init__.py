"""What the acceptance tests share: the server as a process, its two faces, and a browser."""
