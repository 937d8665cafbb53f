// Opens a file of a data set by the name in the job file, raw or gzip.
#ifndef TRIBUTARY_WORKER_DATA_DATA_FILE_H_
#define TRIBUTARY_WORKER_DATA_DATA_FILE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "worker/data/byte_stream.h"

namespace tributary {

// Opens the first of `names` that is in `dir`, each as it is and then with ".gz" at its end;
// whether it is compressed is told by its content, not by its name. `field` (data.train_images) is
// for messages. Errors: NOT_FOUND with the names that were tried; those of FileStream::Open.
absl::StatusOr<std::unique_ptr<ByteStream>> OpenDataFile(absl::string_view field,
                                                         const std::string& dir,
                                                         absl::Span<const std::string> names);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_DATA_FILE_H_
