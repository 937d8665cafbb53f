# Compiler settings that every target of the project shares.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# The vector body of a loop, its scalar tail and every processor must give the same bits: a multiply
# and an add are never fused behind our back.
add_compile_options(-ffp-contract=off)

# Warnings as errors, for our own targets only (generated code is exempt).
add_library(tributary_warnings INTERFACE)
target_compile_options(tributary_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wformat=2
  -Wimplicit-fallthrough -Werror)

if(TRIBUTARY_SANITIZE)
  add_compile_options(-fsanitize=${TRIBUTARY_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TRIBUTARY_SANITIZE})
endif()

# Linked into every program.
add_library(tributary_sanitizer INTERFACE)
if(TRIBUTARY_SANITIZE MATCHES "thread")
  target_sources(tributary_sanitizer INTERFACE ${PROJECT_SOURCE_DIR}/tests/tools/tsan_abseil.cc)
  target_link_libraries(tributary_sanitizer INTERFACE ${CMAKE_DL_LIBS})
endif()

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
  message(STATUS "CUDA toolkit ${CUDAToolkit_VERSION} found; this version has no CUDA backend yet")
else()
  message(STATUS "CUDA toolkit not found; building the CPU backend only")
endif()
