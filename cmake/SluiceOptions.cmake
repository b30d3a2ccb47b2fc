# Flags that every target of ours shares, and the words that make targets.

set(SLUICE_SANITIZE "" CACHE STRING "Sanitizers to build with, comma separated")
option(SLUICE_WERROR "Treat warnings as errors" ON)
option(SLUICE_FUZZ "Build the fuzzers of tests/fuzz" OFF)
option(SLUICE_UNITY "Compile several sources of a library at once" ON)

find_package(Threads REQUIRED)

add_library(sluice_flags INTERFACE)
target_compile_features(sluice_flags INTERFACE cxx_std_20)
target_compile_options(
  sluice_flags
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Werror=switch
            -Werror=return-type
            -fno-omit-frame-pointer
            -fstack-protector-strong
            $<$<BOOL:${SLUICE_WERROR}>:-Werror>
            $<$<CONFIG:Debug>:-O1 -g1>
            $<$<CONFIG:RelWithDebInfo>:-O2 -g1>)
target_compile_definitions(sluice_flags INTERFACE CAF_ENABLE_TYPE_ID_CHECKS)
target_link_options(sluice_flags INTERFACE -fuse-ld=lld-19 -Wl,-z,relro,-z,now)
target_link_libraries(sluice_flags INTERFACE Threads::Threads)

if(SLUICE_SANITIZE)
  # CAF's headers bind null references whenever a function without arguments is spawned.
  target_compile_options(sluice_flags INTERFACE -fsanitize=${SLUICE_SANITIZE} -fno-sanitize=null
                                                -fno-sanitize-recover=all)
  target_link_options(sluice_flags INTERFACE -fsanitize=${SLUICE_SANITIZE})
endif()

# sluice_library(<folder> SOURCES … [ALONE …] [DEPENDS …] [PRIVATE …] [SIMULATED])
#
# The static library of one folder, known as sluice::<folder>. DEPENDS is the folder's row of the
# include table, PRIVATE the libraries that it alone wraps. Sources under ALONE stay out of unity
# builds. SIMULATED makes a second library, sluice::<folder>_sim, from the same sources with the
# simulator's mutants compiled in.
function(sluice_library name)
  cmake_parse_arguments(arg "SIMULATED" "" "SOURCES;ALONE;DEPENDS;PRIVATE" ${ARGN})
  set(variants ${name})
  if(arg_SIMULATED)
    list(APPEND variants ${name}_sim)
  endif()
  foreach(variant IN LISTS variants)
    add_library(sluice_${variant} STATIC ${arg_SOURCES} ${arg_ALONE})
    add_library(sluice::${variant} ALIAS sluice_${variant})
    target_include_directories(sluice_${variant} PUBLIC ${PROJECT_SOURCE_DIR})
    set(depends ${arg_DEPENDS})
    if(variant STREQUAL "${name}_sim")
      target_compile_definitions(sluice_${variant} PUBLIC SLUICE_SIMULATOR)
      list(TRANSFORM depends REPLACE "^sluice::(workflows|actors)$" "sluice::\\1_sim")
    endif()
    target_link_libraries(sluice_${variant} PUBLIC sluice_flags ${depends} PRIVATE ${arg_PRIVATE})
    if(SLUICE_UNITY)
      set_target_properties(sluice_${variant} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
      set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# sluice_test(<folder> LABEL unit|scenario|simulation|live SOURCES … DEPENDS …)
#
# One test program, known to ctest under the same name. Where it is safe to run beside others under
# the thread sanitizer, THREADS adds the label that the tsan preset runs.
function(sluice_test name)
  cmake_parse_arguments(arg "THREADS" "LABEL" "SOURCES;DEPENDS" ${ARGN})
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE sluice_flags sluice_catch_main ${arg_DEPENDS})
  set(labels ${arg_LABEL})
  if(arg_THREADS)
    list(APPEND labels threads)
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 600)
endfunction()
