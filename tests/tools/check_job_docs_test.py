#!/usr/bin/env python3
"""check_job_docs.py on a small good tree, and on that tree with one thing broken at a time."""

import pathlib
import tempfile
import unittest

import check_job_docs

PROTO = """
syntax = "proto3";
package tributary.v1;
option java_package = "x";

message JobSpec {
  // A comment with a field = 7; in it.
  string name = 1;
  repeated Inner inner = 2;  // and { another
  oneof kind {
    Inner first = 3;
    other.v1.Thing second = 4;
  }
  message Empty {}
  message Inner {
    reserved 2;
    optional double depth = 1 [deprecated = true];
  }
  enum Kind {
    AUTO = 0;
  }
  Kind which = 5;
}
enum Outer { ONE = 0; }
"""

PAGE = """# The job file

| `not_a_field` | stands under no message |

### `JobSpec`

```textproto
# `Outer`
| `nor_this` | ... |
```

| field | type |
|---|---|
| `name` | string, as `other` |
| `inner` | ... |
| `first` | ... |
| `second` | ... |
| `which` | ... |

## The message `JobSpec.Inner` and more
| `depth` | double |
### `JobSpec.Kind`
| `AUTO` | ... |
### `Outer`
| `ONE` | ... |

## Something else
| `free` | ... |
"""


def errors_of(proto=PROTO, page=PAGE):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {check_job_docs.PROTO: proto, check_job_docs.PAGE: page}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_job_docs.check(root)


class CheckJobDocs(unittest.TestCase):
    def test_the_good_page_is_good(self):
        self.assertEqual(errors_of(), [])

    def test_each_fault_is_one_line(self):
        page, proto = check_job_docs.PAGE, check_job_docs.PROTO
        missing = f"{page}: {{}} of {proto} is missing"
        unknown = f"{page}: {{}} is not in {proto}"
        for changes, expected in [
            ({"proto": PROTO.replace("string name = 1;", "string name = 1; bool loud = 9;")},
             missing.format("JobSpec.loud")),
            ({"proto": PROTO.replace("double depth", "double depth = 3; double width")},
             missing.format("JobSpec.Inner.width")),
            ({"proto": PROTO.replace("Inner first = 3;", "Inner first = 3; Inner third = 6;")},
             missing.format("JobSpec.third")),
            ({"proto": PROTO.replace("AUTO = 0;", "AUTO = 0; MANUAL = 1;")},
             missing.format("JobSpec.Kind.MANUAL")),
            ({"page": PAGE.replace("| `second` | ... |\n", "")}, missing.format("JobSpec.second")),
            ({"proto": PROTO.replace("Kind which = 5;", "")}, unknown.format("JobSpec.which")),
            ({"page": PAGE.replace("| `ONE`", "| `TWO` | ... |\n| `ONE`")},
             unknown.format("Outer.TWO")),
            ({"page": PAGE.replace("| `ONE`", "| `ONE` | ... |\n| `ONE`")},
             f"{page}: Outer.ONE is there twice"),
        ]:
            with self.subTest(expected):
                self.assertEqual(errors_of(**changes), [expected])

    def test_a_field_under_another_message_is_missing_and_unknown(self):
        self.assertEqual(
            errors_of(page=PAGE.replace("`JobSpec.Inner`", "`Outer`")),
            [f"{check_job_docs.PAGE}: JobSpec.Inner.depth of {check_job_docs.PROTO} is missing",
             f"{check_job_docs.PAGE}: Outer.depth is not in {check_job_docs.PROTO}"])


if __name__ == "__main__":
    unittest.main()
