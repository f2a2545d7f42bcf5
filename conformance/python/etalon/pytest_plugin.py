"""pytest: `@pytest.mark.etalon("softmax")` makes a test that takes `etalon_case` one test per case of the suite.

    @pytest.mark.etalon("softmax", "log_softmax", dtypes=["f32"])
    def test_mine(etalon_case):
        etalon_case.assert_conforms(FUNCTIONS[etalon_case.op])

What the callable does not take is skipped with the reason."""
import pytest


def pytest_addoption(parser):
    group = parser.getgroup("etalon")
    group.addoption("--etalon-tier", default="quick", help="how much is asked: quick, full or soak")
    group.addoption("--etalon-seed", default=1, type=int, help="the same seed asks the same questions")


def pytest_configure(config):
    config.addinivalue_line("markers", "etalon(*operations, like=None, modes=None, dtypes=None, checks=(), waivers={}): a test per case "
                                       "of the suite, by the fixture etalon_case; waivers are reasons by operation or id, and mark xfail")


def cases_of(mark, config):
    from etalon.cases import Case, ids
    words = dict(mark.kwargs)
    waivers = words.pop("waivers", {})
    for op in mark.args:
        name = op if isinstance(op, str) else op.name
        for id in ids(op, tier=config.getoption("--etalon-tier"), seed=config.getoption("--etalon-seed"), **words):
            reason = waivers.get(id) or waivers.get(name)
            yield pytest.param(Case(id, op), id=id, marks=[pytest.mark.xfail(reason=reason)] if reason else [])


def pytest_generate_tests(metafunc):
    if "etalon_case" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("etalon")
    if mark is None or not mark.args:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: etalon_case needs @pytest.mark.etalon('operation', …)")
    metafunc.parametrize("etalon_case", list(cases_of(mark, metafunc.config)))


def pytest_runtest_setup(item):
    case = getattr(item, "callspec", None) and item.callspec.params.get("etalon_case")
    if case:
        operation, check, dtype = case.id.split(".")[:3]
        item.user_properties += [("etalon_operation", operation), ("etalon_check", check), ("etalon_dtype", dtype), ("etalon_id", case.id)]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    made = yield
    report = made.get_result()
    if call.excinfo is not None and call.excinfo.errisinstance(NotImplementedError) and "etalon_case" in getattr(item, "fixturenames", ()):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1], f"Skipped: unsupported: {call.excinfo.value}")
