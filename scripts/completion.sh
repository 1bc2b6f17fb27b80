#!/bin/sh
# Usage: completion.sh bash|zsh BIN DATA SCENARIOS FILE    (folders: programs; catalogue and profiles; ready scenarios)
# Writes the completion of sloglab and sloglab-load, made from what --help prints, which are the option tables.
set -eu

shell=$1
bin=$2
data=$3
scenarios=$4
file=$5

# names FOLDER: the YAML files in it, without suffix, in one line.
names() {
	find "$1" -maxdepth 1 -name '*.yaml' | sed 's,.*/,,; s,\.yaml$,,' | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//'
}

# members PROGRAM [COMMAND]: the commands that its help lists, each with its summary.
members() {
	"$bin/$1" ${2:+"$2"} --help | awk '/^usage:/ || /^Usage:/ { next }
		/^  [a-z]/ && $1 != "sloglab" { name = $1; $1 = ""; print name }'
}

# table PROGRAM: lines "PATH<tab>command<tab>NAME" and "PATH<tab>option<tab>--NAME<tab>ARG<tab>HELP", and of operands
# "PATH<tab>operand<tab>WORD".
table() {
	program=$1
	for command in "" $(members "$program"); do
		[ "$command" = help ] && continue
		page "$program" "$command" ""
		[ -n "$command" ] || continue
		for member in $(members "$program" "$command"); do
			page "$program" "$command" "$member"
		done
	done
}

page() {
	"$bin/$1" ${2:+"$2"} ${3:+"$3"} --help | awk -v path="$1${2:+ $2}${3:+ $3}" -v deep="$3" '
		tolower($1) == "usage:" {
			for (i = 3; i <= NF; i++) {
				if ($i ~ /^[A-Z]/ || $i ~ /^[a-z]+\|/) { print path "\toperand\t" $i; break }
			}
		}
		/^  [a-z]/ && $1 != "sloglab" && deep == "" { print path "\tcommand\t" $1 }
		/^  --/ {
			line = substr($0, 3); name = $1; rest = substr(line, length(name) + 1); arg = ""
			if (rest ~ /^ [^ ]/) { arg = $2; rest = substr(rest, length(arg) + 2) }
			sub(/^ */, "", rest)
			print path "\toption\t" name "\t" arg "\t" rest
		}'
}

# What an argument or operand is: words, a drive, a scenario, a file, or nothing that can be completed.
kinds='function kind(arg, name,   n, i, part, out) {
	if (name == "--slog" || name == "--disks" || name == "--log" || name == "--catalogue") return "drive"
	if (arg ~ /^[^A-Z].*\|/ || arg ~ /\|auto$/) {
		n = split(arg, part, "|"); out = ""
		for (i = 1; i <= n; i++) if (part[i] ~ /^[a-z0-9.-]+$/) out = out (out == "" ? "" : " ") part[i]
		return "words " out
	}
	if (arg ~ /^DEVICE/ || arg == "NAME...") return "drive"
	if (name == "--profile" && arg == "NAME") return "profile"
	if (arg == "SCENARIO") return "scenario"
	if (arg ~ /^(FILE|DIR|PATH|SOCKET|LOG)/) return "file"
	return "none"
}'

bash_print() {
	cat <<-END
	# bash completion of sloglab and sloglab-load. Made by scripts/completion.sh from the programs' own option tables.
	_sloglab_scenarios='$(names "$scenarios")'
	_sloglab_drives='$(names "$data/catalogue")'
	_sloglab_profiles='$(names "$data/profiles")'
	END
	awk -F '\t' "$kinds"'
		$2 == "command" { commands[$1] = commands[$1] " " $3 }
		$2 == "operand" { operand[$1] = kind($3, "") }
		$2 == "option" { options[$1] = options[$1] " " $3; if ($4 != "") of[$1 " " $3] = kind($4, $3) }
		{ if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
		END {
			print "# Sets commands, options and operand of the command line so far."
			print "_sloglab_of() {\n\tcommands= options= operand=none\n\tcase $1 in"
			for (i = 1; i <= n; i++) {
				p = order[i]
				print "\t\"" p "\") commands=\"" substr(commands[p], 2) "\" options=\"" substr(options[p], 2) \
					"\" operand=\"" (operand[p] ? operand[p] : "none") "\" ;;"
			}
			print "\tesac\n}\n# Sets kind to what the argument of an option is; fails when it takes none."
			print "_sloglab_argument() {\n\tcase $1 in"
			for (k in of) print "\t\"" k "\") kind=\"" of[k] "\" ;;" | "LC_ALL=C sort"
			close("LC_ALL=C sort")
			print "\t*) return 1 ;;\n\tesac\n}"
		}' "$work/table"
	cat <<'END'
# Offers what is of the kind; in a list, for what stands behind its last comma.
_sloglab_offer() {
	local kind=$1 cur=$2 words= before file
	before=${cur%"${cur##*,}"}
	case $kind in
	words*) words=${kind#words } ;;
	drive)
		words="$_sloglab_drives none all"
		for file in catalogue/*.yaml; do
			[ -e "$file" ] && file=${file##*/} && words="$words ${file%.yaml}"
		done
		;;
	profile) words=$_sloglab_profiles before= ;;
	scenario)
		words=$_sloglab_scenarios before=
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -X '!*.yaml' -- "$cur") $(compgen -d -- "$cur"))
		;;
	file)
		compopt -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -- "$cur"))
		return
		;;
	esac
	COMPREPLY+=($(compgen -P "$before" -W "$words" -- "${cur#"$before"}"))
}
_sloglab() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} path=${1##*/} i
	local commands options operand kind
	COMPREPLY=()
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	_sloglab_of "$path"
	for ((i = 1; i < COMP_CWORD; i++)); do
		case " $commands " in *" ${COMP_WORDS[i]} "*)
			path="$path ${COMP_WORDS[i]}"
			_sloglab_of "$path"
			;;
		esac
	done
	if _sloglab_argument "$path $prev"; then
		_sloglab_offer "$kind" "$cur"
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
	elif [ -n "$commands" ]; then
		COMPREPLY=($(compgen -W "$commands" -- "$cur"))
	else
		_sloglab_offer "$operand" "$cur"
	fi
}
complete -F _sloglab sloglab sloglab-load
END
}

zsh_print() {
	cat <<-END
	#compdef sloglab sloglab-load
	# zsh completion of sloglab and sloglab-load. Made by scripts/completion.sh from the programs' own option tables.
	_sloglab_drives() {
		local -a local_ones
		local_ones=(catalogue/*.yaml(N:t:r))
		_values -s , drive none all $(names "$data/catalogue") \$local_ones
	}
	_sloglab_scenarios() { _alternative 'ready:ready scenario:($(names "$scenarios"))' 'files:file:_files -g "*.yaml"' }
	_sloglab_profiles() { _values profile $(names "$data/profiles") }
	END
	awk -F '\t' "$kinds"'
		function action(k) {
			if (k ~ /^words /) return "(" substr(k, 7) ")"
			return k == "drive" ? "_sloglab_drives" : k == "scenario" ? "_sloglab_scenarios" \
				: k == "profile" ? "_sloglab_profiles" : k == "file" ? "_files" : " "
		}
		function quiet(text) { gsub(/\047/, "", text); gsub(/[][]/, "", text); gsub(/:/, " -", text); return text }
		$2 == "command" { commands[$1] = commands[$1] " " $3 }
		$2 == "operand" { operand[$1] = kind($3, "") }
		$2 == "option" {
			spec[$1] = spec[$1] " \\\n\t\t\t\047*" $3 "[" quiet($5) "]" \
				($4 != "" ? ":" quiet($4) ":" action(kind($4, $3)) : "") "\047"
		}
		{ if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
		END {
			print "_sloglab() {\n\tlocal at=${service:-sloglab}\n\twhile true; do\n\t\tcase $at in"
			for (i = 1; i <= n; i++) {
				p = order[i]
				if (!(p in commands)) continue
				print "\t\t\"" p "\")\n\t\t\tif ((CURRENT == 2)); then\n\t\t\t\t_values command" commands[p] \
					"\n\t\t\t\treturn\n\t\t\tfi ;;"
			}
			print "\t\t*) break ;;\n\t\tesac\n\t\tat=\"$at ${words[2]}\"\n\t\tshift words\n\t\t((CURRENT--))\n\tdone"
			print "\tcase $at in"
			for (i = 1; i <= n; i++) {
				p = order[i]
				if (p in commands) continue
				print "\t\"" p "\")\n\t\t_arguments" spec[p] " \\\n\t\t\t\047*:operand:" action(operand[p]) "\047 ;;"
			}
			print "\tesac\n}\n_sloglab \"$@\""
		}' "$work/table"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
table sloglab >"$work/table"
[ ! -x "$bin/sloglab-load" ] || table sloglab-load >>"$work/table"
"${shell}_print" >"$work/completion"
mv "$work/completion" "$file"
