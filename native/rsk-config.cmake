# rsk-config.cmake: the C runtime as a CMake target, built from the sources beside this file.
#
#     find_package(rsk CONFIG REQUIRED PATHS <what repsketch.get_include() returns>)
#     target_link_libraries(program PRIVATE rsk::rsk)
#
# The same bits on every machine: no contraction into fused operations, no fast-math. rsk_lanes.c, and for training
# rsk_trainer_lanes.c, is compiled once for every instruction set; which one runs is decided when a model is loaded.
if(TARGET rsk)
  return()
endif()

# What predicts; and what only training needs, which is left out of rsk unless RSK_TRAINING is set.
set(RSK_SOURCES
  rsk.c rsk_bounds.c rsk_digest.c rsk_extras.c rsk_family.c rsk_file.c rsk_hash.c rsk_magnitudes.c rsk_plan.c
  rsk_plan_lanes.c rsk_plan_rows.c rsk_plan_stages.c rsk_row_group.c rsk_sections.c rsk_stages.c rsk_text.c
  rsk_totals.c)
set(RSK_TRAINING_SOURCES rsk_kernel.c rsk_train.c rsk_trainer.c rsk_trainer_layout.c rsk_trainer_schedule.c
  rsk_trainer_start.c)

set(_rsk_files ${RSK_SOURCES})
if(RSK_TRAINING)
  list(APPEND _rsk_files ${RSK_TRAINING_SOURCES})
endif()
list(TRANSFORM _rsk_files PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
add_library(rsk STATIC ${_rsk_files})
add_library(rsk::rsk ALIAS rsk)
target_include_directories(rsk PUBLIC "${CMAKE_CURRENT_LIST_DIR}")

# No trap handler looks at floating-point exceptions: loops with conditions may be vectorised. Results do not change.
if(NOT MSVC)
  set_source_files_properties("${CMAKE_CURRENT_LIST_DIR}/rsk_trainer_lanes.c" PROPERTIES
    COMPILE_OPTIONS -fno-trapping-math)
endif()

function(add_isa name)
  add_library(rsk_${name} OBJECT "${CMAKE_CURRENT_LIST_DIR}/rsk_lanes.c")
  if(RSK_TRAINING)
    target_sources(rsk_${name} PRIVATE "${CMAKE_CURRENT_LIST_DIR}/rsk_trainer_lanes.c")
  endif()
  target_include_directories(rsk_${name} PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
  target_compile_definitions(rsk_${name} PRIVATE RSK_ISA_NAME=${name})
  target_compile_options(rsk_${name} PRIVATE ${ARGN})
  target_sources(rsk PRIVATE $<TARGET_OBJECTS:rsk_${name}>)
  set(RSK_TARGETS ${RSK_TARGETS} rsk_${name} PARENT_SCOPE)
endfunction()

set(RSK_TARGETS rsk)
set(RSK_DEFINITIONS)
add_isa(scalar)
if(NOT MSVC AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  add_isa(avx2 -mavx2)
  add_isa(avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi -mavx512vnni -mgfni -mprefer-vector-width=512)
  set(RSK_DEFINITIONS RSK_HAS_X86)
elseif(NOT MSVC AND CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  add_isa(neon)
  set(RSK_DEFINITIONS RSK_HAS_NEON)
endif()
foreach(target ${RSK_TARGETS})
  target_compile_definitions(${target} PRIVATE ${RSK_DEFINITIONS})
  set_target_properties(${target} PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 /fp:precise)
  else()
    target_compile_options(${target} PRIVATE -O3 -Wall -Wextra -Wpedantic -ffp-contract=off -fno-math-errno)
  endif()
endforeach()
