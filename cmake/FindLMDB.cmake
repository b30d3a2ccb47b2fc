# LMDB through pkg-config. Gives the target LMDB::lmdb.

find_package(PkgConfig REQUIRED)
pkg_check_modules(LMDB_PC lmdb)
find_path(LMDB_INCLUDE_DIR lmdb.h HINTS ${LMDB_PC_INCLUDE_DIRS})
find_library(LMDB_LIBRARY lmdb HINTS ${LMDB_PC_LIBRARY_DIRS})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LMDB
  REQUIRED_VARS LMDB_LIBRARY LMDB_INCLUDE_DIR
  VERSION_VAR LMDB_PC_VERSION)

if(LMDB_FOUND AND NOT TARGET LMDB::lmdb)
  add_library(LMDB::lmdb UNKNOWN IMPORTED)
  set_target_properties(LMDB::lmdb PROPERTIES IMPORTED_LOCATION ${LMDB_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${LMDB_INCLUDE_DIR})
endif()
