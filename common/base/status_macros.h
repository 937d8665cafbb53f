// Early return on an error. The two macros that the house allows.
#ifndef TRIBUTARY_COMMON_BASE_STATUS_MACROS_H_
#define TRIBUTARY_COMMON_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define TRIBUTARY_CONCAT_INNER(a, b) a##b
#define TRIBUTARY_CONCAT(a, b) TRIBUTARY_CONCAT_INNER(a, b)

// Returns the status from the enclosing function unless it is OK.
#define RETURN_IF_ERROR(expression)                           \
  do {                                                        \
    if (absl::Status status_ = (expression); !status_.ok()) { \
      return status_;                                         \
    }                                                         \
  } while (false)

// ASSIGN_OR_RETURN(auto x, F()): x is F()'s value, or F()'s status is returned.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration in parentheses is none.
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_INNER(TRIBUTARY_CONCAT(status_or_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_INNER(temporary, declaration, expression) \
  auto temporary = (expression);                                   \
  if (!temporary.ok()) return std::move(temporary).status();       \
  declaration = *std::move(temporary)
// NOLINTEND(bugprone-macro-parentheses)

#endif  // TRIBUTARY_COMMON_BASE_STATUS_MACROS_H_
