# Packages of the system (scripts/install_packages.sh installs them); the reasons are in third_party.md.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
# A cross build takes headers alone, through a folder with nothing else of /usr/include in it.
if(CMAKE_CROSSCOMPILING)
  set(headers ${PROJECT_BINARY_DIR}/headers)
  file(MAKE_DIRECTORY ${headers})
  foreach(name fmt nlohmann)
    file(CREATE_LINK /usr/include/${name} ${headers}/${name} SYMBOLIC)
  endforeach()
  add_library(capra_headers INTERFACE)
  target_include_directories(capra_headers SYSTEM INTERFACE $<BUILD_INTERFACE:${headers}>)
  target_compile_definitions(capra_headers INTERFACE FMT_HEADER_ONLY)
  add_library(fmt::fmt ALIAS capra_headers)
  add_library(nlohmann_json::nlohmann_json ALIAS capra_headers)
  return()
endif()

find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)

find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy>=1.0.3)

if(CAPRA_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
