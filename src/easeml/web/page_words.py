"""Messages and advice of the service in words of pages, instead of commands, where a page can do the same."""

import re

_ITEM = "- "
_APPLICATION = r"(?:\w+|APPLICATION)"
_PHRASES = (
    # What follows a type in brackets, or stands in a sentence.
    (r"\(--set '?([^=)]+)=(\w+)'?\)", r"(choose \2 as the type of \1)"),
    (r"\(--keep NAME\)", '(choose "use" in the table of columns)'),
    (r"fill_absent=true in the query", 'tick "Columns may be absent" beside "Many rows"'),
    (r"easeml app feed(?: \w+ FILE)?(?: --role \w+)?", 'the tab Data, "Add rows"'),
    (r"easeml data doubts \w+ --look", 'the tab Data, "Look for doubtful cells"'),
    (r"easeml data versions \w+", 'the tab Data, "Versions"'),
    (
        r"easeml app gates \w+",
        'the tab Release and watch, "What has to be proven before a model serves"',
    ),
    (r"easeml app rollout \w+ --stop", "the tab Release and watch"),
    (r"easeml app rollback \w+ --model \w+", "the tab Release and watch"),
    (r"easeml app models \w+ --measure \S+[^.\s]", 'the tab Models, "Measure by more"'),
    (rf"easeml app try {_APPLICATION} --model \w+", "the tab Models"),
    (r"easeml app restore \w+", "the page of all applications"),
    (r"easeml job limit \w+ --max-tasks N", "the tab Settings"),
    (r"easeml app delete", 'the tab Settings, "Delete"'),
    (r"easeml app (?:show|wait)", "the tab Overview"),
    (r"easeml key create NAME --scope SCOPE", "the page of your account"),
    (r"easeml user (?:members|tenants)", "the page People"),
    (r"easeml user list", "the page Administration"),
)
_KNOWN = [(re.compile(f"`?{pattern}`?"), words) for pattern, words in _PHRASES]


def in_page_words(text: str) -> str:
    """Return advice with the place on a page instead of the command, where there is such a place."""
    for pattern, words in _KNOWN:
        text = pattern.sub(words, text)
    return text


def message_parts(message: str) -> tuple[str, list[str]]:
    """Return the heading of a message in words of pages, and the faults that it lists.

    A message of several faults has a line each, which begins with "- ".
    """
    heading, faults = [], []
    for line in in_page_words(message).splitlines():
        if line.startswith(_ITEM):
            faults.append(line.removeprefix(_ITEM))
        else:
            heading.append(line)
    return "\n".join(heading), faults
