# jemalloc. Gives the target Jemalloc::jemalloc.

find_library(JEMALLOC_LIBRARY jemalloc)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Jemalloc REQUIRED_VARS JEMALLOC_LIBRARY)

if(Jemalloc_FOUND AND NOT TARGET Jemalloc::jemalloc)
  add_library(Jemalloc::jemalloc UNKNOWN IMPORTED)
  set_target_properties(Jemalloc::jemalloc PROPERTIES IMPORTED_LOCATION ${JEMALLOC_LIBRARY})
endif()
