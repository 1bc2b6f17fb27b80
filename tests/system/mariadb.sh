# shellcheck shell=sh
# A MariaDB of the test's own, in its scratch folder, on a Unix socket only. Source it after lib.sh.
# Its temporary tables are there, too: each server that starts removes those that it finds, of others as well.

# db_start [OPTION...]: sets DB (its pid) and DB_AT (options of sloglab-load). What it kept before is there again.
db_start() {
	need mariadbd mariadb-server
	need mariadb-install-db mariadb-server
	user=$(id -un)
	if [ ! -d "$SCRATCH/db" ]; then
		mariadb-install-db --no-defaults --user="$user" --datadir="$SCRATCH/db" --tmpdir="$SCRATCH" --skip-test-db --skip-name-resolve \
			--auth-root-authentication-method=normal >"$SCRATCH/install" 2>&1 ||
			fail "mariadb-install-db: $(cat "$SCRATCH/install")"
	fi
	mariadbd --no-defaults --user="$user" --datadir="$SCRATCH/db" --socket="$SCRATCH/sock" \
		--tmpdir="$SCRATCH" --pid-file="$SCRATCH/pid" --skip-networking --innodb-buffer-pool-size=32M --innodb-log-file-size=8M \
		"$@" >"$SCRATCH/db.log" 2>&1 &
	DB=$!
	PIDS="$PIDS $DB"
	# shellcheck disable=SC2034 # for the scripts
	DB_AT="--socket=$SCRATCH/sock --user=root"
	wait_for 60 mariadb-admin --no-defaults -u root -S "$SCRATCH/sock" ping ||
		fail "MariaDB did not start: $(cat "$SCRATCH/db.log")"
}

# db_kill: ends it as a crash does.
db_kill() {
	kill -KILL "$DB"
	wait "$DB" 2>/dev/null || true
}

# db_ask SQL: the answer, without headings.
db_ask() {
	mariadb --no-defaults -u root -S "$SCRATCH/sock" -N -e "$1"
}
