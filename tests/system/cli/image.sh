#!/bin/sh
# `sloglab image` with recipes of our own in place of Debian: keys, resuming, what is left after a kill, errors.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"

if ! unshare --mount --pid --fork --map-root-user true 2>/dev/null; then
	skip "no namespaces here"
fi

# A data folder like the installed one, whose images are small enough to watch.
data=$work/data
mkdir -p "$data/images/part" "$data/images/toy"
ln -s "$src/sim/scenario/catalogue" "$src/sim/scenario/profiles" "$src/scenarios" "$data"
cp "$src"/images/*.sh "$data/images"
export SLOGLAB_DATA="$data" XDG_CACHE_HOME="$work/cache" COUNT="$work/count"
cache=$XDG_CACHE_HOME/sloglab

cat >"$data/images/part/recipe.sh" <<'RECIPE'
label=part needs='' packages=''
stages='10 only making the part'
recipe_facts() { :; }
stage_only() { mkdir -p "$out" && echo part >"$out/file" && echo part >>"$COUNT"; }
RECIPE
cat >"$data/images/toy/recipe.sh" <<'RECIPE'
label=toy needs=part packages=''
stages='
10 first first stage
20 second second stage
'
recipe_facts() { echo "kernel 1.2.3"; }
stage_first() { echo first >>"$COUNT"; }
stage_second() {
	echo second >>"$COUNT"
	mkdir -p "$out" && cp "$(built part)/file" "$out/file"
	[ ! -e "$COUNT.wait" ] || { echo $$ >"$COUNT.pid"; mount -t tmpfs toy "$work"; sleep 300 & wait; }
	[ ! -e "$COUNT.full" ] || { mount -t tmpfs -o size=16k toy "$out"; head -c 100000 /dev/zero >"$out/file"; }
	[ ! -e "$COUNT.broken" ] || { echo "compiler: out of luck"; false; echo "went on after a failure"; }
}
RECIPE

# build EXIT-CODE [NAME]: what it said is in $work/out and $work/err.
build() {
	wanted=$1
	shift
	got=0
	timeout 60 "$sloglab" image build "$@" >"$work/out" 2>"$work/err" || got=$?
	[ "$got" -eq "$wanted" ] || fail "exit code $got instead of $wanted: $(cat "$work/out" "$work/err")"
}

# steps WORD...: exactly these stages ran since the last call.
steps() {
	[ "$(tr '\n' ' ' <"$COUNT" 2>/dev/null)" = "${*:+$* }" ] || fail "ran [$(tr '\n' ' ' <"$COUNT")], not [$*]"
	: >"$COUNT"
}

says() {
	grep -q -- "$1" "$work/out" "$work/err" || fail "does not say '$1': $(cat "$work/out" "$work/err")"
}

one_line() {
	[ "$(grep -vc '%' "$work/err")" -eq 1 ] || fail "not one line: $(cat "$work/err")"
}

build_ended() {
	! pgrep -f "$data/images/build.sh"
}

# Nothing runs any more, nothing is mounted.
nothing_left() {
	wait_for 60 build_ended || fail "the build still runs"
	! grep -q "$work" /proc/self/mounts || fail "still mounted: $(grep "$work" /proc/self/mounts)"
}

# Ctrl-C and kill -9 in the second stage: no image, nothing left, and the next build goes on with that stage.
: >"$COUNT"
touch "$COUNT.wait"
for signal in INT KILL; do
	rm -f "$COUNT.pid"
	"$sloglab" image build toy >"$work/out" 2>"$work/err" &
	pid=$!
	PIDS=$pid
	wait_for 60 test -s "$COUNT.pid" || fail "the build did not come to the second stage: $(cat "$work/out" "$work/err")"
	if [ $signal = INT ]; then
		build 1 toy
		says "another image build is running"
	fi
	kill -s $signal $pid || fail "the build ended before $signal: $(cat "$work/out" "$work/err")"
	end_within 60 $pid
	[ $signal = KILL ] || [ "$rc" -eq 130 ] || fail "exit code $rc after Ctrl-C"
	nothing_left
	[ ! -e "$cache/images/toy" ] || fail "a half-built image is in use"
	if [ $signal = INT ]; then
		steps part first second
	else
		steps second
	fi
done
rm "$COUNT.wait"
build 0 toy
steps second
says "toy new $cache/images/toy-"
[ "$(cat "$cache/images/toy/file")" = part ] || fail "the image is not whole"

# The same inputs again: nothing runs. Another recipe, or another part: made anew, the old one stays until clean.
build 0 toy
steps
says "toy same"
echo "# changed" >>"$data/images/toy/recipe.sh"
build 0 toy
steps first second
echo "# changed" >>"$data/images/part/recipe.sh"
build 0 toy
steps part first second
"$sloglab" image list >"$work/out"
[ "$(grep -c superseded "$work/out")" -eq 3 ] || fail "list: $(cat "$work/out")"
[ "$(grep -c current "$work/out")" -eq 2 ] || fail "list: $(cat "$work/out")"
grep -q '^toy .*1\.2\.3.*current' "$work/out" || fail "list: $(cat "$work/out")"
"$sloglab" image clean >/dev/null || fail "clean"
"$sloglab" image list >"$work/out"
! grep -q superseded "$work/out" || fail "clean: $(cat "$work/out")"
[ "$(grep -c current "$work/out")" -eq 2 ] || fail "clean took too much: $(cat "$work/out")"
build 0 toy
steps

# What can go wrong, in one line each.
build 1 nope
says "image nope: no such recipe"
one_line
for trouble in "full no space left in $cache; free some" "broken second stage failed: compiler: out of luck"; do
	says=${trouble#* }
	trouble=${trouble%% *}
	echo "# $trouble" >>"$data/images/toy/recipe.sh"
	touch "$COUNT.$trouble"
	build 1 toy
	one_line
	rm "$COUNT.$trouble"
	says "$says"
done
build 2 --zfs 9
says "none of 2.1|2.3"
sed -i "s/packages=''/packages=hello/" "$data/images/part/recipe.sh"
build 1 --mirror http://127.0.0.1:1/debian toy
says "cannot reach http://127.0.0.1:1/debian"
one_line
# A mirror that answers but has no component contrib: apt is ours here.
mkdir "$work/bin"
cat >"$work/bin/apt-get" <<'STUB'
#!/bin/sh
[ "$2" != update ] || echo release >"$(dirname "$APT_CONFIG")/lists/mirror_dists_bookworm_InRelease"
STUB
printf '#!/bin/sh\necho "  Candidate: (none)"\n' >"$work/bin/apt-cache"
chmod +x "$work/bin"/*
sed -i "s/packages=hello/packages=zfs-dkms/" "$data/images/part/recipe.sh"
PATH=$work/bin:$PATH build 1 --mirror http://mirror/debian toy
says "zfs-dkms not found: no mirror here offers component contrib (http://mirror/debian"
one_line
"$sloglab" image clean --all >"$work/out" || fail "clean --all"
"$sloglab" image list | grep -q "no images" || fail "something is left after clean --all"
finish
