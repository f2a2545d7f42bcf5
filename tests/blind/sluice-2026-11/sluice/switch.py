"""The one switch: ETALON_BLIND is read once and names at most one planted defect."""
import os

_NAME = os.environ.get("ETALON_BLIND", "")


def on(name):
    return name == _NAME
