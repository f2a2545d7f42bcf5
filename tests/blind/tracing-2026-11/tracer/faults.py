"""The one switch for planted defects: ETALON_BLIND names the one that is on."""
import os

ACTIVE = os.environ.get("ETALON_BLIND", "")


def fault(name):
    return ACTIVE == name
