"""What pages say after a remedy was followed, by its kind and whether easeml did it."""

_QUESTIONS = "The questions come to this list. Skip those that you do not want to answer."
FOLLOWED = {
    "check-labels-done": _QUESTIONS,
    "repair-cells-done": _QUESTIONS,
    "collect-done": _QUESTIONS,
    "collect-open": "No rows without an answer are like these. Add rows like them here, with answers.",
    "repair-source-open": (
        "Repair the column where it comes from; the training rows are in order. Then add the rows "
        "that come, or fetch the source again."
    ),
    "retrain-done": (
        "A version with these rows is made, and the search goes on with it. To undo it, use the "
        "version before."
    ),
    "retrain-open": "These rows are not kept any more. Add them here, as training rows.",
    "search-done": "The search may try more. To undo it, set its limits back below.",
    "search-open": "The search has no limits to raise, or has ended for good.",
}
