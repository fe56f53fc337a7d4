"""Work of people: the queue of an application, its next item, and answers."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.work import answers, queue

_HERE = "/applications/{application_id}/work"

OPERATIONS = (
    Operation("work", "GET", _HERE, queue.show_queue),
    Operation("next_work", "POST", _HERE, queue.take_next),
    Operation("use_answers", "POST", f"{_HERE}/use", answers.use, status=201, repeatable=False),
    Operation("answer_work", "POST", "/work/{item_id}/answer", answers.give, repeatable=False),
)

router = APIRouter(tags=["work"])
add_routes(router, OPERATIONS)
