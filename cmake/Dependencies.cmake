# Debian 12's packages; scripts/packages.txt lists them.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(Protobuf 3.21 REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark CONFIG REQUIRED)

# oneDNN's own CMake package asks for OpenCL's headers, which nothing here uses.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(dnnl_library INTERFACE)
target_include_directories(dnnl_library SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(dnnl_library INTERFACE ${DNNL_LIBRARY})

# jemalloc keeps large blocks instead of handing them back to the kernel at each message. The
# sanitizers bring their own allocator.
add_library(tributary_allocator INTERFACE)
if(NOT TRIBUTARY_SANITIZE)
  find_library(JEMALLOC_LIBRARY jemalloc REQUIRED)
  target_link_options(tributary_allocator INTERFACE -Wl,--no-as-needed)
  target_link_libraries(tributary_allocator INTERFACE ${JEMALLOC_LIBRARY})
endif()
