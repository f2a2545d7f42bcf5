"""Texts checked, differentiated and explained: the function that notebooks and pages ask."""
import json

from etalon import _etalon


def door(request):
    """The answer to one request, both dictionaries as docs/door.md has them.

    >>> answer = door({"kind": "check", "program": "input x : f32[2]\\ny = expp(x)\\noutput y"})
    >>> answer["error"]["line"], answer["error"]["column"], answer["error"]["excerpt"]
    (2, 5, 'y = expp(x)')
    """
    return json.loads(_etalon.door(json.dumps(request)))
