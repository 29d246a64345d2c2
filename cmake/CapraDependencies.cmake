# Packages of the system (scripts/install_packages.sh installs them); the reasons are in third_party.md.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2.1 REQUIRED)

find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy>=1.0.3)

if(CAPRA_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()
