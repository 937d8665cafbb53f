#!/usr/bin/env python3
"""Checks that docs/job-file.md has every field of job.proto, and no other.

    check_job_docs.py [ROOT]

In the page, a heading with a name in backticks opens the table of that message or enum, and every
row that starts with a name in backticks is a field, or a word of the enum. Errors, one line each,
exit code 1.
"""

import pathlib
import re
import sys

PROTO = "proto/tributary/v1/job.proto"
PAGE = "docs/job-file.md"

TOKEN = re.compile(r"\w[\w.]*|\S")
HEADING = re.compile(r"#+ [^`]*`([\w.]+)`")
ROW = re.compile(r"\| *`(\w+)` *\|")


def proto_fields(text):
    """The (message, field) pairs of a .proto file, and (enum, word) pairs; a nested one is named
    by its path."""
    tokens = TOKEN.findall(re.sub(r"//[^\n]*", "", text))
    fields, blocks, statement = set(), [], []
    for token in tokens:
        if token == "{":
            blocks.append(tuple(statement))
            statement = []
        elif token == "}":
            blocks.pop()
            statement = []
        elif token == ";":
            if blocks and "=" in statement and statement[0] not in ("option", "reserved"):
                path = ".".join(name for kind, name in blocks if kind != "oneof")
                fields.add((path, statement[statement.index("=") - 1]))
            statement = []
        else:
            statement.append(token)
    return fields


def page_fields(text):
    """The same pairs, as the page has them, in their order, repeats included."""
    fields, section, in_code = [], None, False
    for line in text.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        if in_code:
            continue
        if line.startswith("#"):
            heading = HEADING.match(line)
            section = heading.group(1) if heading else None
        elif section is not None and (row := ROW.match(line)):
            fields.append((section, row.group(1)))
    return fields


def check(root):
    """The errors, as lines."""
    in_proto = proto_fields((root / PROTO).read_text())
    in_page = page_fields((root / PAGE).read_text())
    errors = [f"{PAGE}: {message}.{field} of {PROTO} is missing"
              for message, field in sorted(in_proto - set(in_page))]
    errors += [f"{PAGE}: {message}.{field} is not in {PROTO}"
               for message, field in sorted(set(in_page) - in_proto)]
    errors += [f"{PAGE}: {message}.{field} is there twice"
               for message, field in sorted({pair for pair in in_page if in_page.count(pair) > 1})]
    return errors


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    errors = check(root)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
