# Options, build types and the flags that hold for every file of the project.
include(GNUInstallDirs)

option(CAPRA_WERROR "Warnings are errors (set by the presets, never for consumers)" OFF)
option(CAPRA_TESTS "Build the tests, the examples and the text-test runner" OFF)
option(CAPRA_FUZZ "Build the libFuzzer programs (clang only)" OFF)
set(CAPRA_SANITIZE "" CACHE STRING "Value for -fsanitize=, such as address,undefined or thread")
set(CAPRA_TOKENIZERS AUTO CACHE STRING "The Hugging Face tokenizers crate: ON, OFF or AUTO (if cargo is found)")
set_property(CACHE CAPRA_TOKENIZERS PROPERTY STRINGS ON OFF AUTO)
if(DEFINED ENV{CAPRA_CACHE})
  set(capra_judges $ENV{CAPRA_CACHE}/judges/bin/python)
else()
  set(capra_judges $ENV{HOME}/.cache/capra/judges/bin/python)
endif()
set(CAPRA_JUDGES_PYTHON ${capra_judges} CACHE STRING
  "The Python with IREE and jaxlib that scripts/get_judges.sh makes; OFF leaves out the tests that need it")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Not -O3: the kernels choose their own tiles and unrolling, and the rest gains nothing from it.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g -D_GLIBCXX_ASSERTIONS")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
file(RELATIVE_PATH capra_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/${capra_bin_to_lib}")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CAPRA_CCACHE ccache)
  if(CAPRA_CCACHE)
    # Paths below the source folder count as relative, so clones and build folders share results.
    set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CAPRA_CCACHE})
  endif()
endif()

# A multiply and an add are two rounded steps unless the source says fma: part of the numeric contract.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
if(CAPRA_SANITIZE)
  add_compile_options(-fsanitize=${CAPRA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CAPRA_SANITIZE})
endif()
