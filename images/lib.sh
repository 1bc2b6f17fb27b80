# shellcheck shell=sh disable=SC2154 # build.sh sets them
# Shared by build.sh and the recipes: progress, stages, errors. Source it.

# tell TEXT: one line of the progress protocol. It also opens what a stage prints on its own: nothing.
tell() {
	echo "$*" >&3
}

die() {
	tell "error $*"
	exit 1
}

# need PROGRAM PACKAGE
need() {
	command -v "$1" >/dev/null 2>&1 || die "$1 not found; apt-get install $2"
}

# total_plan: sets `total`, and the file that counts the seconds behind us, from the stages of the plan.
total_plan() {
	total=$(cat "$plan"/*.stages 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }')
	echo 0 >"$plan/passed"
}

# stage_run SECONDS NAME TEXT: runs stage_NAME; meanwhile tells how far it is. A recipe may define part_NAME, which
# prints the part done in percent; else time passed stands for it.
stage_run() {
	tell "at $(cat "$plan/passed") $total $label: $3"
	printf '\n== %s (%s)\n' "$2" "$3" >>"$log"
	stage_started=$(date +%s)
	("stage_$2") >>"$log" 2>&1 3>&- </dev/null &
	stage_pid=$!
	while kill -0 $stage_pid 2>/dev/null; do
		sleep 0.2
		stage_tell "$1" "$2" "$3"
	done
	wait $stage_pid || stage_failed "$3"
	: >"$work/$2.done"
	echo $(($(cat "$plan/passed") + $1)) >"$plan/passed"
}

stage_tell() {
	now=$(date +%s)
	[ "$now" != "${stage_told:-}" ] || return 0
	stage_told=$now
	if command -v "part_$2" >/dev/null 2>&1; then
		part=$("part_$2" 2>/dev/null || echo 0)
	else
		part=$(((now - stage_started) * 100 / $1))
	fi
	[ "$part" -lt 99 ] || part=99
	[ "$part" = "${part_told:-}" ] || tell "at $(($(cat "$plan/passed") + $1 * part / 100)) $total $label: $3"
	part_told=$part
}

# stage_failed TEXT: says why in one line; a stage that knows writes "remedy: ..." to its log.
stage_failed() {
	if known=$(sed -n 's/^remedy: //p' "$log" | tail -n 1) && [ -n "$known" ]; then
		die "$label: $1: $known"
	elif tail -n 40 "$log" | grep -q "No space left on device"; then
		die "$label: $1: no space left in $SL_CACHE; free some, or set XDG_CACHE_HOME to another disk"
	fi
	die "$label: $1 failed: $(tail -n 1 "$log" | cut -c1-160); see $log"
}

# remedy TEXT: ends a stage with a message for the user.
remedy() {
	echo "remedy: $*"
	exit 1
}

# room MIB: that much must be free in the cache.
room() {
	free=$(df -Pm "$SL_CACHE" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$1" ] || remedy "$SL_CACHE has $free MiB free, $1 are needed; free some, or set XDG_CACHE_HOME"
}

# inside ROOT COMMAND...: chroot with proc and dev; the mounts live in this process's own mount namespace.
inside() (
	root=$1
	shift
	mkdir -p "$root/proc" "$root/dev"
	unshare --mount sh -c '
		mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" || exit 1
		shift_root=$1; shift
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root chroot "$shift_root" "$@"
	' sh "$root" "$@"
)
