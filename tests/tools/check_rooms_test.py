#!/usr/bin/env python3
"""check_rooms.py on a small good tree, and on that tree with one thing broken at a time."""

import pathlib
import tempfile
import unittest

import check_rooms

GOOD = {
    "proto/CMakeLists.txt": "target_link_libraries(tributary_grpc PUBLIC tributary_proto gRPC::grpc++)",
    "common/base/CMakeLists.txt": "tributary_room(common_base\n  SOURCES types.h\n  PUBLIC absl::span)",
    "common/base/types.h": "#include <vector>\n",
    "common/job/CMakeLists.txt": """
        # A comment (with brackets).
        tributary_room(common_job
          SOURCES job.cc job.h
          PUBLIC common_base  # handed on
          PRIVATE tributary_proto)""",
    "common/job/job.h": '#include "common/base/types.h"\n',
    "common/job/job.cc": '#include "common/job/job.h"\n#include "tributary/v1/job.pb.h"\n',
    "server/shard/CMakeLists.txt": "tributary_room(server_shard SOURCES shard.cc shard.h PRIVATE common_job)",
    "server/shard/shard.h": "",
    "server/shard/shard.cc": '#include "common/job/job.h"\n#include "common/base/types.h"\n',
    "server/CMakeLists.txt": """
        tributary_program(tributary-server SOURCES main.cc LINK server_shard tributary_grpc)
        target_sources(tributary-server PRIVATE wide.cc)""",
    "server/main.cc": """
        #include "server/shard/shard.h"
        #include "tributary/v1/job.pb.h"
        #include "tributary/v1/job.grpc.pb.h"
        #include <grpcpp/server.h>""",
    "server/wide.cc": "",
    "tests/server/CMakeLists.txt": """
        tributary_test(server_test SOURCES shard_test.cc LINK server_shard LABELS long TIMEOUT 60)""",
    "tests/server/shard_test.cc": '#include "server/shard/shard.h"\n',
}


def errors_of(changes):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**GOOD, **changes}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_rooms.check(root)


class CheckRooms(unittest.TestCase):
    def test_the_good_tree_is_good(self):
        self.assertEqual(errors_of({}), [])

    def test_each_fault_is_one_line(self):
        shard_cmake = "server/shard/CMakeLists.txt"
        for changes, expected in [
            # What the room does not link.
            ({shard_cmake: "tributary_room(server_shard SOURCES shard.cc shard.h PRIVATE common_base)"},
             'server/shard/shard.cc: includes "common/job/job.h" of common_job, which server_shard '
             "does not link"),
            # What a linked room keeps to itself.
            ({"tests/server/shard_test.cc": '#include "common/base/types.h"\n'},
             'tests/server/shard_test.cc: includes "common/base/types.h" of common_base, which '
             "server_test does not link"),
            ({"common/job/job.cc": '#include "tributary/v1/job.grpc.pb.h"\n'},
             'common/job/job.cc: includes "tributary/v1/job.grpc.pb.h" of tributary_grpc, which '
             "common_job does not link"),
            ({"server/shard/shard.cc": '#include "tributary/v1/job.pb.h"\n'},
             'server/shard/shard.cc: includes "tributary/v1/job.pb.h" of tributary_proto, which '
             "server_shard does not link"),
            # Upwards.
            ({"common/base/types.h": '#include "server/shard/shard.h"\n'},
             'common/base/types.h: includes "server/shard/shard.h" of server_shard, which '
             "common_base does not link"),
            ({"server/shard/shard.h": '#include "common/base/types.h"\n'},
             'server/shard/shard.h: is shown to other rooms and includes "common/base/types.h" of '
             "common_base, which server_shard links PRIVATE"),
            ({"common/base/CMakeLists.txt":
                  "tributary_room(common_base SOURCES types.h PUBLIC common_job)"},
             "circle of links: common_base -> common_job -> common_base"),
            ({"server/shard/shard.h": "#include <grpcpp/grpcpp.h>\n"},
             'server/shard/shard.h: includes "grpcpp/grpcpp.h", and this room knows nothing of gRPC'),
            ({"server/shard/extra.cc": ""}, "server/shard/extra.cc: no target lists this file"),
            ({"server/main.cc": '#include "server/gone.h"\n'},
             'server/main.cc: includes "server/gone.h", which no target lists'),
            ({"server/main.cc": '#include "tests/support/fake.h"\n'},
             'server/main.cc: includes "tests/support/fake.h", a file of the tests'),
            ({"common/job/CMakeLists.txt": GOOD["common/job/CMakeLists.txt"].replace(
                "job.cc", "job.cc gone.cc")},
             "common/job/CMakeLists.txt: common/job/gone.cc does not exist"),
            ({"server/CMakeLists.txt": GOOD["server/CMakeLists.txt"].replace(
                "main.cc", "main.cc shard/shard.cc").replace("LINK", "LINK common_job")},
             "server/shard/CMakeLists.txt: server/shard/shard.cc is also in target "
             "tributary-server"),
        ]:
            with self.subTest(expected):
                self.assertEqual(errors_of(changes), [expected])


if __name__ == "__main__":
    unittest.main()
