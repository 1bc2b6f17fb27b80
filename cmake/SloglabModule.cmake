# sl_defaults carries the language, warnings and sanitizers that every target of the project shares.
add_library(sl_defaults INTERFACE)
target_compile_features(sl_defaults INTERFACE c_std_17)
target_compile_definitions(sl_defaults INTERFACE _GNU_SOURCE)
target_include_directories(sl_defaults INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(sl_defaults INTERFACE
	-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wvla
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wformat=2 -Wswitch-enum -Wconversion
	-Wno-sign-conversion -Wdouble-promotion -Wimplicit-fallthrough -fno-common
	# Same bytes with every compiler: no fused multiply-add, no excess precision.
	-ffp-contract=off
	# gcc's generic tuning clears structs of 80 bytes and more with rep stos, which takes tens of ns: 9 % of a run
	# of the model. Tuning changes neither the instruction set nor a result.
	$<$<AND:$<CONFIG:RelWithDebInfo>,$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},x86_64>>:-mtune=skylake>
	$<$<C_COMPILER_ID:GNU>:-Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init>
	$<$<BOOL:${SL_WERROR}>:-Werror>)
if(SL_SANITIZE)
	target_compile_options(sl_defaults INTERFACE
		-fsanitize=${SL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(sl_defaults INTERFACE -fsanitize=${SL_SANITIZE})
endif()

# sl_module(NAME SOURCES a.c b.c [DEPS other...] [LIBS PkgConfig::X...])
# One folder = one static library sl_NAME, alias sl::NAME.
function(sl_module NAME)
	cmake_parse_arguments(M "" "" "SOURCES;DEPS;LIBS" ${ARGN})
	add_library(sl_${NAME} STATIC ${M_SOURCES})
	add_library(sl::${NAME} ALIAS sl_${NAME})
	target_link_libraries(sl_${NAME} PRIVATE sl_defaults)
	target_link_libraries(sl_${NAME} PUBLIC ${M_LIBS})
	foreach(dep ${M_DEPS})
		target_link_libraries(sl_${NAME} PUBLIC sl::${dep})
	endforeach()
	set_target_properties(sl_${NAME} PROPERTIES C_VISIBILITY_PRESET hidden)
endfunction()

# sl_test(NAME SOURCES a.c [DEPS room...] [LIBS ...] [LABEL unit|sim|system] [TIMEOUT s])
# One Criterion executable. The regular expressions turn Criterion 2.4.1's silent passes (leaks, nothing
# run, everything skipped) into failures.
function(sl_test NAME)
	if(NOT SL_TESTS)
		return()
	endif()
	cmake_parse_arguments(T "" "LABEL;TIMEOUT" "SOURCES;DEPS;LIBS" ${ARGN})
	if(NOT T_LABEL)
		set(T_LABEL unit)
	endif()
	if(NOT T_TIMEOUT)
		set(T_TIMEOUT 300)
	endif()
	add_executable(test_${NAME} ${T_SOURCES})
	target_link_libraries(test_${NAME} PRIVATE sl_defaults PkgConfig::CRITERION m ${T_LIBS})
	foreach(dep ${T_DEPS})
		target_link_libraries(test_${NAME} PRIVATE sl::${dep})
	endforeach()
	target_compile_definitions(test_${NAME} PRIVATE
		SL_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SL_BINARY_DIR="${CMAKE_BINARY_DIR}")
	add_test(NAME ${NAME} COMMAND test_${NAME} -j1 --verbose=0)
	set_tests_properties(${NAME} PROPERTIES LABELS ${T_LABEL} TIMEOUT ${T_TIMEOUT}
		FAIL_REGULAR_EXPRESSION "LeakSanitizer|runtime error:|Tested: 0 ")
endfunction()
