"""What objectives are called in sentences."""

_KNOWN = {
    "f-beta": "F-beta",
    "f1-macro": "macro F1",
    "f1-weighted": "weighted F1",
    "label-f1": "F1 by label",
    "r2": "R²",
    "roc-auc": "ROC AUC",
    "row-f1": "F1 by row",
}


def in_words(objective: str) -> str:
    """Return the name of an objective as people read it: ``balanced accuracy``.

    A table of costs is not told each time; classes that a name holds stay as they are.
    """
    name, parenthesis, held = objective.partition("(")
    if name == "cost":
        return name
    return f"{_KNOWN.get(name, name.replace('-', ' '))}{parenthesis}{held}"
