#!/bin/sh
# Usage: build.sh NAME...        makes the images NAME (folders here that hold a recipe.sh) and what they need
# `sloglab image build` calls it. Environment:
#   SL_CACHE   folder of the cache (required)     SL_ZFS      2.1 | 2.3
#   SL_MIRROR  a Debian mirror instead of the machine's own          SL_UPDATE   1: fetch new package lists
#   SL_LOAD    the program sloglab-load
#
# Progress protocol, lines on descriptor 3 (stdout when it is closed):
#   at DONE TOTAL TEXT   seconds of work on the reference machine (two idle cores) behind us and in all
#   note TEXT            worth telling the user
#   image LABEL new|same FOLDER
#   error TEXT           the last line before exit 1: what, where, remedy
#
# Everything runs in mount and pid namespaces of its own that die with this process: nothing stays mounted or
# running, whatever kills it. An image is built in work/LABEL-KEY and renamed to images/LABEL-KEY when complete.
# shellcheck disable=SC2030,SC2031,SC2154 # each recipe runs in a subshell of its own and sets label, needs, stages, packages
set -eu

here=$(dirname "$(readlink -f "$0")")
: "${SL_CACHE:?folder of the cache}"
export SL_ZFS="${SL_ZFS:-2.1}" SL_CACHE

[ -e /proc/self/fd/3 ] || exec 3>&1

if [ -z "${SL_INSIDE:-}" ]; then
	set -- --mount --pid --fork --kill-child=KILL env SL_INSIDE=1 sh "$here/build.sh" "$@"
	[ "$(id -u)" -eq 0 ] || set -- --map-root-user "$@"
	if [ "$(id -u)" -ne 0 ] && ! unshare --map-root-user true 2>/dev/null; then
		echo "error this kernel gives users no namespaces of their own: run it as root" >&3
		exit 1
	fi
	exec unshare "$@"
fi

# shellcheck source=images/lib.sh
. "$here/lib.sh"
# shellcheck source=images/packages.sh
. "$here/packages.sh"
# shellcheck source=images/kernel.sh
. "$here/kernel.sh"

# with_recipe NAME COMMAND...: in a subshell that holds the recipe's functions.
with_recipe() (
	recipe=$1
	shift
	[ -f "$here/$recipe/recipe.sh" ] || die "image $recipe: no such recipe in $here"
	# shellcheck source=/dev/null
	. "$here/$recipe/recipe.sh"
	"$@"
)

# order NAME...: the recipes needed, each after what it needs; some more than once.
order() {
	for wanted; do
		with_recipe "$wanted" order_needs || exit 1
		echo "$wanted"
	done
}

order_needs() {
	# shellcheck disable=SC2154 # set by the recipe
	for need in $needs; do
		(order "$need") || exit 1
	done
}

uses_packages() {
	[ -n "$packages" ]
}

# What the image is made of, as text: its key is a digest of it. A recipe names the files
# above its folder that matter in `shared`, and may define recipe_inputs for what is neither file, package nor image.
inputs() {
	echo "recipe $recipe $label"
	# shellcheck disable=SC2086 # words
	(cd "$here" && cat -- "$recipe"/* ${shared:-} | sha256sum)
	cat "$plan/$recipe.lock"
	for need in $needs; do
		cat "$plan/$need.key"
	done
	! command -v recipe_inputs >/dev/null || recipe_inputs
}

# plan_one: sets the plan's files for the recipe: package versions, label, key, and, unless the image is there, the
# stages that a build before did not finish.
plan_one() {
	# shellcheck disable=SC2086 # words
	lock $packages >"$plan/$recipe.lock"
	inputs >"$plan/$recipe.inputs"
	sha256sum <"$plan/$recipe.inputs" | cut -c1-16 >"$plan/$recipe.key"
	echo "$label" >"$plan/$recipe.label"
	is_complete "$(built "$recipe")" || echo "$stages" | while read -r seconds stage text; do
		[ -z "$stage" ] || [ -e "$(work_of "$recipe")/$stage.done" ] || echo "$seconds $stage $text"
	done >"$plan/$recipe.stages"
}

is_complete() {
	[ -f "$1/manifest.json" ]
}

# built NAME: the folder of the finished image.
built() {
	echo "$SL_CACHE/images/$(cat "$plan/$1.label")-$(cat "$plan/$1.key")"
}

work_of() {
	echo "$SL_CACHE/build/$(cat "$plan/$1.label")-$(cat "$plan/$1.key")"
}

# make_one: runs the stages that are left, then publishes.
make_one() {
	work=$(work_of "$recipe")
	for old in "$SL_CACHE/build/$label"-*; do # half-built from other inputs
		[ "$old" = "$work" ] || rm -rf "$old"
	done
	mkdir -p "$work"
	log=$work/log
	out=$work/out
	while read -r seconds stage text; do
		stage_run "$seconds" "$stage" "$text"
	done <"$plan/$recipe.stages"
	manifest >"$out/manifest.json"
	find "$out" -type f -exec sync {} +
	mv -T "$out" "$(built "$recipe")"
	rm -rf "$work"
}

manifest() {
	printf '{"format": "sloglab-image/1", "label": "%s", "key": "%s", "built": "%s"' \
		"$label" "$(cat "$plan/$recipe.key")" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
	recipe_facts | while read -r fact value; do
		printf ', "%s": "%s"' "$fact" "$value"
	done
	echo '}'
}

# current NAME WORD: the link images/LABEL leads to the image; tells the user.
current() {
	target=$(built "$1")
	name=$(cat "$plan/$1.label")
	if [ "$(readlink "$SL_CACHE/images/$name" || true)" != "${target##*/}" ]; then
		ln -sfn "${target##*/}" "$SL_CACHE/images/.$name.new"
		mv -T "$SL_CACHE/images/.$name.new" "$SL_CACHE/images/$name"
	fi
	tell "image $name $2 $target"
}

mkdir -p "$SL_CACHE/images" "$SL_CACHE/build" || die "$SL_CACHE: cannot write; set XDG_CACHE_HOME to a folder of yours"
# Every process of the build holds the lock: it is free when the last of them is gone.
exec 9>"$SL_CACHE/lock"
flock -n 9 || die "another image build is running here; wait for it"
plan=$SL_CACHE/build/plan
rm -rf "$plan"
mkdir "$plan"
recipes=$(order "$@") || exit 1
recipes=$(echo "$recipes" | awk '!seen[$0]++')
for name in $recipes; do
	if with_recipe "$name" uses_packages; then
		apt_configure
		apt_lists
		break
	fi
done
# No "|| exit" here: it would switch off set -e in all that is called. A part that fails ends this shell too.
for name in $recipes; do
	with_recipe "$name" plan_one
done
total_plan
for name in $recipes; do
	word=same
	if [ -e "$plan/$name.stages" ]; then
		word=new
		with_recipe "$name" make_one
	fi
	current "$name" $word
done
