# Lists the mutants of C sources: FILE<TAB>LINE<TAB>COLUMN<TAB>LENGTH<TAB>REPLACEMENT<TAB>OPERATOR<TAB>LINE'S TEXT.
# Comments, strings, preprocessor lines, tables of constants, sizes of arrays and assertions are left alone: they are no
# behaviour. A change that is on several lines that read the same, or several times on one, is numbered: sum, sum-2, ...
BEGIN {
	FS = "\n"
	OFS = "\t"
	# Calls that sync, whatever they sync, and the flags that say the same.
	sync = "O_D?SYNC|[a-z_0-9>.-]*(fsync|fdatasync|syncfs|msync|[_>]sync|sync_all|_sync_names)\\([^()]*(\\([^()]*\\))?[^()]*\\)"
	no_behaviour = "^[ \t]*(return|if|for|while|switch|free|va_start|va_copy|va_end|__builtin_prefetch)"
}
FNR == 1 { in_comment = 0; depth = 0; in_assert = 0; delete seen }

function put(at, len, with, what, text) {
	text = $0
	gsub(/^[ \t]+/, "", text)
	gsub(/\t/, " ", text)
	seen[what, text]++
	if (seen[what, text] > 1) what = what "-" seen[what, text]
	print FILENAME, FNR, at, len, with, what, text
}

# What is no code becomes blanks of the same length.
function code_of(line, out, i, c, quote) {
	out = ""
	quote = ""
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (in_comment) {
			if (c == "*" && substr(line, i + 1, 1) == "/") { in_comment = 0; i++; out = out "  " } else out = out " "
		} else if (quote != "") {
			if (c == "\\") { i++; out = out "  " } else { if (c == quote) quote = ""; out = out " " }
		} else if (c == "\"" || c == "'") {
			quote = c
			out = out " "
		} else if (c == "/" && substr(line, i + 1, 1) == "*") {
			in_comment = 1
			i++
			out = out "  "
		} else if (c == "/" && substr(line, i + 1, 1) == "/") {
			break
		} else out = out c
	}
	return out
}

# Each place where the operator `from`, with blanks around it, becomes `to`.
function swap(code, from, to, what, at, base, word) {
	word = " " from " "
	base = 0
	while ((at = index(substr(code, base + 1), word)) > 0) {
		put(base + at + 1, length(from), to, what)
		base += at + length(from)
	}
}

# The size of an array in its declaration becomes blanks.
function sizes_blanked(code, at, blanks) {
	if (code !~ /^[ \t]*[a-z_][a-z_0-9]*( [a-z_][a-z_0-9]*)* \**[a-z_][a-z_0-9]*\[/ || code ~ /^[ \t]*(return|else|case|goto) /) return code
	while (match(code, /\[[^\[\]]*[^\[\] ][^\[\]]*\]/)) {
		blanks = sprintf("%" (RLENGTH - 2) "s", "")
		code = substr(code, 1, RSTART) blanks substr(code, RSTART + RLENGTH - 1)
	}
	return code
}

{
	code = code_of($0)
	inside = depth > 0
	n = split(code, chars, "")
	for (i = 1; i <= n; i++) depth += (chars[i] == "{") - (chars[i] == "}")
	if (code ~ /assert\(/) in_assert = 1
	if (in_assert) {
		if (code ~ /;/) in_assert = 0
		next
	}
	if (!inside || code ~ /^[ \t]*#/ || code ~ /^[ \t]*static const /) next
	if (durability) {
		base = 0
		while (match(substr(code, base + 1), sync)) {
			put(base + RSTART, RLENGTH, "0", "sync")
			base += RSTART + RLENGTH - 1
		}
		next
	}
	code = sizes_blanked(code)
	swap(code, "<", "<=", "boundary"); swap(code, "<=", "<", "boundary")
	swap(code, ">", ">=", "boundary"); swap(code, ">=", ">", "boundary")
	swap(code, "==", "!=", "equality"); swap(code, "!=", "==", "equality")
	swap(code, "&&", "||", "logic"); swap(code, "||", "&&", "logic")
	swap(code, "+", "-", "sum"); swap(code, "-", "+", "sum")
	swap(code, "*", "/", "product"); swap(code, "/", "*", "product")
	swap(code, "+=", "-=", "sum"); swap(code, "-=", "+=", "sum")
	# A statement that is a call, or an assignment through a pointer, is left out.
	if (match(code, /^[ \t]+[a-z_][a-z_0-9]*\(.*\);[ \t]*$/) && code !~ no_behaviour) {
		match(code, /[a-z_]/)
		put(RSTART, length(code) - RSTART + 1, ";", "call")
	}
	if (match(code, /^[ \t]+[a-z_>.\[\]-]+(->|\.)[a-z_]+ = .*;[ \t]*$/)) {
		match(code, /[a-z_]/)
		put(RSTART, length(code) - RSTART + 1, ";", "assignment")
	}
	if (match(code, /return true;/)) put(RSTART, RLENGTH, "return false;", "result")
	if (match(code, /return false;/)) put(RSTART, RLENGTH, "return true;", "result")
	if (match(code, /return rc;/)) put(RSTART, RLENGTH, "return 0;", "result")
}
