# What is installed beside the programs and their data: manual, completion, documents; and env.sh, which gives the
# same to a shell without installing anything: `. build/release/env.sh`.

# Manual pages, as man(1) looks for them, in the build folder too.
foreach(section 1 5)
	file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.${section})
	install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
	file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/man/man${section})
	foreach(page ${pages})
		get_filename_component(name ${page} NAME)
		file(CREATE_LINK ${page} ${CMAKE_BINARY_DIR}/share/man/man${section}/${name} SYMBOLIC)
	endforeach()
endforeach()

# What the manual cites.
file(GLOB documents CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/*.json ${CMAKE_SOURCE_DIR}/docs/*.md)
install(FILES ${documents} LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Completion, made of the programs' own option tables.
if(TARGET sloglab)
	set(programs sloglab)
	if(TARGET sloglab-load)
		list(APPEND programs sloglab-load)
	endif()
	set(bash ${CMAKE_BINARY_DIR}/share/bash-completion/completions)
	set(zsh ${CMAKE_BINARY_DIR}/share/zsh/site-functions)
	file(MAKE_DIRECTORY ${bash} ${zsh})
	set(script ${CMAKE_SOURCE_DIR}/scripts/completion.sh)
	set(folders ${CMAKE_BINARY_DIR}/bin ${CMAKE_SOURCE_DIR}/sim/scenario ${CMAKE_SOURCE_DIR}/scenarios)
	add_custom_command(OUTPUT ${bash}/sloglab ${zsh}/_sloglab
		COMMAND ${script} bash ${folders} ${bash}/sloglab
		COMMAND ${script} zsh ${folders} ${zsh}/_sloglab
		DEPENDS ${programs} ${script} VERBATIM)
	add_custom_target(completion ALL DEPENDS ${bash}/sloglab ${zsh}/_sloglab)
	install(FILES ${bash}/sloglab DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
	install(FILES ${bash}/sloglab DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
		RENAME sloglab-load)
	install(FILES ${zsh}/_sloglab DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

string(REPLACE "'" "'\\''" SL_BUILD_QUOTED "${CMAKE_BINARY_DIR}")
configure_file(${CMAKE_SOURCE_DIR}/cmake/env.sh.in ${CMAKE_BINARY_DIR}/env.sh @ONLY)
