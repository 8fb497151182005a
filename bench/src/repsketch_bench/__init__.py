"""Speed side by side: our sketches and the peers they are compared with, in one process and one run."""
