# CAF 0.17 ships no CMake package. Gives the target CAF::core.

find_path(CAF_INCLUDE_DIR caf/config.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
if(CAF_INCLUDE_DIR)
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp caf_version_line REGEX "#define CAF_VERSION ")
  string(REGEX REPLACE ".*CAF_VERSION +([0-9]+).*" "\\1" caf_version_number "${caf_version_line}")
  math(EXPR caf_major "${caf_version_number} / 10000")
  math(EXPR caf_minor "${caf_version_number} / 100 % 100")
  math(EXPR caf_patch "${caf_version_number} % 100")
  set(CAF_VERSION ${caf_major}.${caf_minor}.${caf_patch})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CAF
  REQUIRED_VARS CAF_CORE_LIBRARY CAF_INCLUDE_DIR
  VERSION_VAR CAF_VERSION)

if(CAF_FOUND AND NOT TARGET CAF::core)
  find_package(Threads REQUIRED)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES IMPORTED_LOCATION ${CAF_CORE_LIBRARY}
                                             INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR})
  target_link_libraries(CAF::core INTERFACE Threads::Threads)
endif()
