# Installs kerf into a scratch prefix, builds the consumer against it and runs it; then a shared library out of the same objects, which
# must show nothing of kerf::detail, and the consumer with the sources as a part of it (configured: compiling all again would take minutes).
set(prefix ${BUILD}/install-test)
file(REMOVE_RECURSE ${prefix} ${prefix}-build)
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${out}")
  endif()
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install -B ${prefix}-build -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${prefix}-build)
run(${prefix}-build/consumer ${SOURCE}/data/iris_train.csv ${prefix}/iris.kerf)
run(${prefix}/bin/kerf info ${prefix}/iris.kerf)

# Only what kerf.h includes is installed.
file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*.h)
foreach(header ${headers})
  if(NOT header MATCHES "^kerf/(kerf|api/[a-z]+)\\.h$")
    message(FATAL_ERROR "${header} is installed, but no part of the public interface")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install -B ${prefix}-part -G Ninja -DKERF_SOURCE=${SOURCE}
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS=${FLAGS}" -DCMAKE_CXX_COMPILER=${CXX})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${prefix}-part --target help OUTPUT_VARIABLE targets)
if(targets MATCHES "kerf_cli:|kerf_tests:|_kerf:")
  message(FATAL_ERROR "a project that takes kerf in gets its program, tests or Python module too")
endif()

# The shared library, linked from the objects of this build.
string(REPLACE " " ";" flags "${FLAGS}")
run(${CXX} ${flags} -shared -Wl,--version-script=${SOURCE}/cmake/kerf.map -o ${prefix}/libkerf.so -Wl,--whole-archive ${prefix}/lib/libkerf.a -Wl,--no-whole-archive ${LIBRARIES})
execute_process(COMMAND nm -DC --defined-only ${prefix}/libkerf.so OUTPUT_VARIABLE symbols)
if(symbols MATCHES "kerf::detail| [A-Za-z] std::")
  message(FATAL_ERROR "the shared library shows what is internal:\n${symbols}")
endif()
if(NOT symbols MATCHES "kerf::fit\\(")
  message(FATAL_ERROR "the shared library does not show kerf::fit")
endif()
run(${CXX} ${flags} -std=c++20 -I${prefix}/include ${SOURCE}/tests/install/main.cpp -o ${prefix}/shared_consumer ${prefix}/libkerf.so -Wl,-rpath,${prefix})
run(${prefix}/shared_consumer ${SOURCE}/data/iris_train.csv ${prefix}/iris.kerf)
