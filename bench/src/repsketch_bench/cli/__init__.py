"""The commands that this package adds to ``repsketch``: ``paper`` and ``bench``."""
