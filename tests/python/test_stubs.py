"""The stubs name what the package has: functions with their parameters, and the attributes of its classes."""
import ast
import inspect
import pathlib

import pytest

import etalon
from etalon import _etalon

FOLDER = pathlib.Path(etalon.__file__).parent


def parameters(function):
    a = function.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs) if p.arg != "self"]
    return [*names, *(p.arg for p in (a.vararg, a.kwarg) if p)]


@pytest.mark.parametrize("module, stub", [(etalon, "__init__.pyi"), (_etalon, "_etalon.pyi")])
def test_stubs(module, stub):
    tree = ast.parse((FOLDER / stub).read_text())
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    assert functions and classes
    for name, node in functions.items():
        if inspect.isfunction(getattr(module, name)):
            assert sorted(parameters(node)) == sorted(inspect.signature(getattr(module, name)).parameters), name
    for name, node in classes.items():
        made = getattr(module, name)
        for item in node.body:
            if isinstance(item, ast.FunctionDef):
                assert hasattr(made, item.name), f"{name}.{item.name}"
            elif isinstance(item, ast.AnnAssign) and module is _etalon:
                assert hasattr(made, item.target.id), f"{name}.{item.target.id}"
    if module is etalon:
        imported = {alias.asname for n in tree.body if isinstance(n, ast.ImportFrom) for alias in n.names}
        assert set(etalon.__all__) <= set(functions) | set(classes) | imported
