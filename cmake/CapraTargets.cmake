# The functions the folders' CMakeLists.txt files are written in.

# capra_build_flags(TARGET): warnings, errors only where the preset asks for them.
function(capra_build_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow $<$<BOOL:${CAPRA_WERROR}>:-Werror>)
endfunction()

# capra_sources(ROOM FILE...): adds a room's files, named one by one, to the library.
function(capra_sources room)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    target_sources(capra PRIVATE ${file})
  endforeach()
endfunction()

# capra_program(TARGET OUTPUT NAME SOURCES FILE... [LIBRARIES LIB...]): a program in <build>/bin.
function(capra_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "SOURCES;LIBRARIES")
  add_executable(${target} ${arg_SOURCES})
  capra_build_flags(${target})
  target_link_libraries(${target} PRIVATE capra fmt::fmt ${arg_LIBRARIES})
  if(arg_OUTPUT)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT})
  endif()
endfunction()

# capra_test(NAME FILE... LABELS fast|ci|nightly [LIBRARIES LIB...] [TIMEOUT SECONDS]): one GoogleTest
# program and one CTest entry. Group the tests of a room: a link is cheap, a GoogleTest header is not.
function(capra_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;LIBRARIES")
  if(NOT arg_LABELS)
    message(FATAL_ERROR "capra_test(${name}): LABELS is missing (fast, ci or nightly)")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  capra_build_flags(${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} capra fmt::fmt GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE CAPRA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # A program may not be called like the folder of its room, which stands at the same place.
  set(program ${name})
  if(NOT program MATCHES "_test$")
    string(APPEND program _test)
  endif()
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${program}
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# capra_golden(FOLDER [LABELS fast]): one CTest entry for each *.tir in FOLDER, run by tools/golden.
# New text files are found by themselves: a golden case needs no line here.
function(capra_golden folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS")
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  file(GLOB texts CONFIGURE_DEPENDS ${folder}/*.tir)
  foreach(text IN LISTS texts)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${text})
    add_test(NAME golden/${name} COMMAND golden ${text} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(golden/${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
  endforeach()
endfunction()

# capra_script_test(NAME LABELS fast|ci|nightly COMMAND ...): a test that is not a GoogleTest program.
function(capra_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;COMMAND")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# capra_judge_test(NAME LABELS ci|nightly SCRIPT FILE [COST SECONDS] [ARGUMENTS ...]): a script that the Python of the outside judges
# runs (CAPRA_JUDGES_PYTHON); it imports from its own folder and from tests/judges. Without the judges it fails.
function(capra_judge_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;SCRIPT;LABELS;COST" "ARGUMENTS")
  if(CAPRA_JUDGES_PYTHON STREQUAL "OFF")
    return()
  endif()
  cmake_path(ABSOLUTE_PATH arg_SCRIPT BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  capra_script_test(${name} LABELS ${arg_LABELS} TIMEOUT "${arg_TIMEOUT}"
    COMMAND ${CAPRA_JUDGES_PYTHON} -B ${arg_SCRIPT} ${arg_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/judges
    FIXTURES_REQUIRED judges_${arg_LABELS})
  if(DEFINED arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()

# Builds all fuzz programs and nothing else.
add_custom_target(fuzz_programs)

# capra_fuzz(NAME FILE): a libFuzzer program in preset `fuzz`; its corpus is tests/fuzz/corpus/NAME.
# Elsewhere the same file replays the corpus as an ordinary test of label fast.
function(capra_fuzz name file)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(CAPRA_FUZZ)
    add_executable(fuzz_${name} ${file} ${ARGN})
    add_dependencies(fuzz_programs fuzz_${name})
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(fuzz_${name} ${file} ${ARGN} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cc)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(fuzz_${name} PROPERTIES LABELS fast TIMEOUT 300)
  endif()
  capra_build_flags(fuzz_${name})
  target_link_libraries(fuzz_${name} PRIVATE capra fmt::fmt)
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endfunction()
