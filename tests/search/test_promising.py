"""Which models of a search get more configurations."""

from easeml.search import (
    Arm,
    Observation,
    SearchJob,
    SearchState,
    add_job,
    default_prior,
    models_to_extend,
    observed,
    started,
)

MODELS = ("lightgbm", "svm", "extra-trees", "naive-bayes", "knn")
ARMS = [Arm(f"{model} {number}", model, 1.0) for model in MODELS for number in range(3)]
GOOD = {"lightgbm": 0.9, "svm": 0.85, "extra-trees": 0.8, "naive-bayes": 0.6, "knn": 0.55}


def searched(tried: list[int]) -> SearchJob:
    state = add_job(SearchState(), "job", "me", ARMS, default_prior(ARMS))
    for arm in tried:
        state = observed(state, Observation("job", arm, GOOD[ARMS[arm].model], 1.0))
    return state.job("job")


def everything_varies(_: str) -> bool:
    return True


def test_nothing_is_promising_before_the_first_result():
    assert models_to_extend(searched([]), everything_varies) == []


def test_good_models_get_more_though_many_bad_candidates_are_untried():
    job = searched([0, 1, 3, 6, 9, 12])
    assert job.untried.size == 9
    assert models_to_extend(job, everything_varies) == ["lightgbm"]
    assert models_to_extend(searched([0, 1, 3, 4, 6, 7, 9, 12]), everything_varies) == [
        "lightgbm",
        "svm",
        "extra-trees",
    ]


def test_a_bad_model_gets_no_more():
    assert "knn" not in models_to_extend(searched(list(range(15))), everything_varies)


def test_a_model_without_a_choice_makes_place_for_the_next():
    tried = [0, 1, 3, 4, 6, 7, 9, 10, 12]
    found = models_to_extend(searched(tried), lambda model: model != "svm")
    assert found == ["lightgbm", "extra-trees", "naive-bayes"]


def test_what_is_under_way_is_no_longer_to_be_tried():
    state = add_job(SearchState(), "job", "me", ARMS, default_prior(ARMS))
    for arm in (0, 3, 6, 9, 12):
        state = observed(state, Observation("job", arm, GOOD[ARMS[arm].model], 1.0))
    assert models_to_extend(state.job("job"), everything_varies) == []
    assert models_to_extend(started(state, "job", 1).job("job"), everything_varies) == ["lightgbm"]
