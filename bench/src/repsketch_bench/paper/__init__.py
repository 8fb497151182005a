"""The paper's experiments: every number of its tables and of its figure, and ours beside them.

``repsketch paper`` runs jobs (``run``), stores what each found (``store``), and writes results, tables and
figures from stored results.
"""
