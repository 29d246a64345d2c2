# What `cmake --install` writes: the library, the public headers, the driver, find_package(capra).
include(CMakePackageConfigHelpers)

install(TARGETS capra EXPORT capraTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/capra ${PROJECT_SOURCE_DIR}/models
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h"
  PATTERN "targets" EXCLUDE
  PATTERN "tokenizers_c" EXCLUDE)
# Of a target its record is public, the programs it has in memory, and the choice of an instruction set; rows and
# kernels are not.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/capra/targets
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/capra
  FILES_MATCHING PATTERN "target.h" PATTERN "module.h" PATTERN "all_targets.h" PATTERN "isa.h"
  PATTERN "kernels" EXCLUDE)
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/capra DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET capra_driver)
  install(TARGETS capra_driver)
endif()

set(capra_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/capra)
install(EXPORT capraTargets NAMESPACE capra:: DESTINATION ${capra_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/capraConfig.cmake.in
  ${PROJECT_BINARY_DIR}/capraConfig.cmake INSTALL_DESTINATION ${capra_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/capraConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/capraConfig.cmake ${PROJECT_BINARY_DIR}/capraConfigVersion.cmake
  DESTINATION ${capra_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/third_party.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
