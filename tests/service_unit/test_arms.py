"""How the candidates of a job are numbered and named, and that none comes twice."""

from easeml.service.search.arms import Arms
from easeml.store.records import Job
from easeml.store.shapes import CandidatePipeline, ModuleConfig

JOB = Job("job1", "t1", "app1", "version1")
CODES, PIXELS = ModuleConfig("table-codes"), ModuleConfig("pixels")


def pipeline(depth: int, *more: ModuleConfig) -> CandidatePipeline:
    return CandidatePipeline([CODES, *more], ModuleConfig("trees", {"depth": depth}))


def test_configurations_are_numbered_within_their_variant():
    arms = Arms(JOB)
    arms.add("trees", pipeline(1), "trees")
    arms.add("trees", pipeline(1, PIXELS), "trees+pixels")
    arms.add("trees", pipeline(2), "trees")
    arms.add("trees", pipeline(2, PIXELS), "trees+pixels")

    assert [one.arm for one in arms.added] == [0, 1, 2, 3]
    assert [one.name for one in arms.added] == [
        "trees",
        "trees+pixels-1",
        "trees-2",
        "trees+pixels-2",
    ]
    assert [one.variant for one in arms.added] == ["trees", "trees+pixels"] * 2


def test_a_job_gets_no_candidate_twice():
    first = Arms(JOB)
    first.add("trees", pipeline(1), "trees")
    first.add("trees", pipeline(1), "trees")
    assert len(first.added) == 1

    later = Arms(JOB, first.added)
    for depth in (1, 2, 2):
        later.add_config("trees", {"depth": depth})
    (added,) = later.added
    assert (added.arm, added.name) == (1, "trees-2")
    assert added.pipeline == pipeline(2)


def test_a_configuration_of_a_model_that_the_job_has_not_is_passed_over():
    arms = Arms(JOB)
    arms.add_config("trees", {"depth": 1})
    assert arms.added == []
