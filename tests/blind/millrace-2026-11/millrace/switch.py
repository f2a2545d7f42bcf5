"""The one switch of a planted defect; ETALON_BLIND is read once, when the process starts."""
import os

NAME = os.environ.get("ETALON_BLIND", "")


def planted(name):
    return NAME == name
