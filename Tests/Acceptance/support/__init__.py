"""Shared by the acceptance tests: the server process, its REST API and console, and a browser."""
