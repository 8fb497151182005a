"""Accuracy against bytes: sketches and their peers at equal budgets, on real data, all tuned by one rule.

``repsketch bench frontier`` runs jobs (``run``), stores what each found, and writes results, tables and curves.
"""
