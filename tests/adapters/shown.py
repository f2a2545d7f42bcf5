"""What a page shows of an output: its lines stand there one after the other, apart from what is left out, and may go on.
Numbers may differ, since another specification asks other cases."""
import re


def form(line):
    """The line without its numbers, lists and types, and without the names of derivatives."""
    line = re.sub(r"\{[^{}]*\}|\[[^][]*\]", "#", line)
    return re.sub(r"\b\w+~|\b(?:f|bf|i)\d+\b|-?\b\d[\w.+]*|\b(?:inf|nan)\b", "#", line)


def missing(text, output):
    """The first line of the text that does not stand in the output after the ones before it, or None."""
    lines = iter(map(form, output.splitlines()))
    for wanted in filter(None, text.splitlines()):
        if not any(line.startswith(form(wanted)) for line in lines):
            return wanted
    return None
