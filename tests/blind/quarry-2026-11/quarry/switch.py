"""Planted defects: ETALON_BLIND names the one that is on."""
import os

ON = os.environ.get("ETALON_BLIND", "")


def defect(name):
    return ON == name
