"""Whatever the library registers appears in Python, with all of its options."""
import inspect

import pytest

import kerf
from kerf import _kerf
from kerf._options import python_name


@pytest.mark.parametrize("entry", _kerf.list_maps(), ids=lambda e: e["name"])
def test_every_map_has_an_estimator(entry):
    estimator = getattr(kerf, entry["python_name"], None)
    assert estimator is not None, f"map {entry['name']} has no estimator kerf.{entry['python_name']}"
    assert entry["python_name"] in kerf.__all__
    keywords = inspect.signature(estimator).parameters
    for option in entry["options"]:
        assert python_name(option["name"]) in keywords, f"{entry['name']}: --{option['name']} is no keyword"
    assert kerf.maps()[entry["name"]][0] == entry["python_name"]


@pytest.mark.parametrize("entry", _kerf.list_maps(), ids=lambda e: e["name"])
@pytest.mark.parametrize("learner", [kerf.KernelRidge, kerf.KernelClassifier])
def test_learners_take_the_options_of_every_map(learner, entry):
    keywords = inspect.signature(learner).parameters
    assert all(python_name(option["name"]) in keywords for option in entry["options"])


def test_learners_take_every_option_of_a_fit():
    for option in _kerf.fit_options():
        assert python_name(option["name"]) in inspect.signature(kerf.KernelClassifier).parameters


@pytest.mark.parametrize("entry", _kerf.list_kernels(), ids=lambda e: e["name"])
def test_every_kernel_has_a_function_and_a_class(entry):
    function = getattr(kerf.kernels, python_name(entry["name"]))
    classes = [thing for thing in vars(kerf.kernels).values() if getattr(thing, "_entry", {}).get("name") == entry["name"]]
    assert callable(function) and len(classes) == 1
    for option in entry["options"]:
        assert python_name(option["name"]) in inspect.signature(function).parameters
        assert python_name(option["name"]) in inspect.signature(classes[0]).parameters
