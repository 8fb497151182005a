"""Files made by hand: good ones, and one for every way a file can be wrong."""
