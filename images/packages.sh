# shellcheck shell=sh disable=SC2154 # build.sh sets them
# Debian packages for the images: the machine's own mirrors, lists and downloads in the cache, unpacked without a
# package manager inside (dpkg-deb and tar: no maintainer script runs, so it needs no running system). Source it.

suite=bookworm
apt_dir=$SL_CACHE/apt
archives=$apt_dir/archives

# apt TOOL ARGS...: apt-get or apt-cache on our own folders. The machine's proxies and other ways to fetch stay.
apt() {
	tool=$1
	shift
	APT_CONFIG=$apt_dir/apt.conf "$tool" "$@"
}

# The machine's Debian mirrors as "URI release"; a target whose lists were never fetched has no origin yet.
mirrors() {
	if [ -n "${SL_MIRROR:-}" ]; then
		echo "$SL_MIRROR $suite"
		return
	fi
	# shellcheck disable=SC2016 # apt's own placeholders
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' 'Created-By: Packages' |
		awk '$3 == "Debian" || ($3 ~ /ORIGIN/ && $1 ~ /\/debian(-security)?\/?$/) { print $1, $2 }' | sort -u
}

# sources.list: every mirror with component contrib, and with backports where it has the suite itself.
sources() {
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	by=
	[ ! -e $keys ] || by="[signed-by=$keys] "
	mirrors | awk -v suite=$suite -v by="$by" '
		$2 ~ /-security$/ { print "deb " by $1, suite "-security main contrib"; next }
		$2 ~ /-/ { next }
		{ print "deb " by $1, suite, "main contrib"
		  print "deb " by $1, suite "-updates main contrib"
		  print "deb " by $1, suite "-backports main contrib" }' | sort -u
}

apt_configure() {
	need apt-get apt
	need dpkg-deb dpkg
	mkdir -p "$apt_dir/lists/partial" "$archives" "$apt_dir/resolved"
	: >"$apt_dir/status"
	{
		apt-config dump Acquire
		cat <<-TEXT
			Acquire::Languages "none";
			APT::Architecture "amd64";
			APT::Architectures "amd64";
			APT::Sandbox::User "root";
			APT::Install-Recommends "false";
			Dir::Etc::main "/dev/null";
			Dir::Etc::parts "/dev/null";
			Dir::Etc::sourcelist "$apt_dir/sources.list";
			Dir::Etc::sourceparts "/dev/null";
			Dir::Etc::preferences "$apt_dir/preferences";
			Dir::Etc::preferencesparts "/dev/null";
			Dir::State "$apt_dir";
			Dir::State::lists "$apt_dir/lists";
			Dir::State::status "$apt_dir/status";
			Dir::Cache "$apt_dir";
			Dir::Cache::archives "$archives";
		TEXT
	} >"$apt_dir/apt.conf"
	sources >"$apt_dir/sources.new"
	[ -s "$apt_dir/sources.new" ] || die "apt knows no Debian mirror on this machine; give one: --mirror URI"
	# OpenZFS of another line than the suite's own comes from backports, its libraries with it.
	if [ "$SL_ZFS" = 2.1 ]; then
		: >"$apt_dir/preferences"
	else
		printf 'Package: src:zfs-linux\nPin: release n=%s-backports\nPin-Priority: 600\n' $suite \
			>"$apt_dir/preferences"
	fi
}

# Fetches the package lists when there are none, when they are of other mirrors, or when the user asks.
apt_lists() {
	if [ -z "${SL_UPDATE:-}" ] && [ -s "$apt_dir/lists.id" ] &&
		cmp -s "$apt_dir/sources.new" "$apt_dir/sources.list"; then
		return
	fi
	rm -f "$apt_dir/lists.id"
	cp "$apt_dir/sources.new" "$apt_dir/sources.list"
	tell "at 0 0 fetching package lists"
	apt apt-get -q update >"$apt_dir/update.log" 2>&1 || true
	for list in "$apt_dir/lists"/*"_dists_${suite}_InRelease"; do
		[ -e "$list" ] || die "package lists: cannot reach $(mirrors | head -n 1 | cut -d' ' -f1) " \
			"($(grep -m 1 '^[EW]: ' "$apt_dir/update.log" | cut -c1-120)); check network and proxy, or --mirror URI"
	done
	rm -rf "$apt_dir/resolved"
	mkdir "$apt_dir/resolved"
	cat "$apt_dir"/lists/*InRelease | sha256sum >"$apt_dir/lists.id"
	SL_UPDATE=
}

# lock PACKAGE...: "name version" of the packages and all they depend on; PACKAGE! stands for itself alone.
lock() {
	[ $# -gt 0 ] || return 0
	cached=$apt_dir/resolved/$(echo "$SL_ZFS $*" | cat - "$apt_dir/lists.id" | sha256sum | cut -c1-16)
	if [ ! -s "$cached" ]; then
		lock_resolve "$@" >"$cached.new" || exit 1
		mv "$cached.new" "$cached"
	fi
	cat "$cached"
}

lock_resolve() {
	deep=
	for package; do
		version=$(apt apt-cache policy "${package%!}" | awk '$1 == "Candidate:" { print $2 }')
		case $version in
		"" | "(none)") lock_missing "${package%!}" ;;
		esac
		case $package in
		*!) echo "${package%!} $version" ;;
		*) deep="$deep $package" ;;
		esac
	done
	# shellcheck disable=SC2086 # words
	apt apt-get -s -q install $deep >"$apt_dir/resolve.log" 2>&1 ||
		die "package resolution: $(grep -m 1 '^E: ' "$apt_dir/resolve.log" | cut -c4-160); try --update"
	sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1 \2/p' "$apt_dir/resolve.log" | sort
}

lock_missing() {
	where=$(cut -d' ' -f2- "$apt_dir/sources.list" | sed 's/^\[[^]]*\] //' | cut -d' ' -f1 | sort -u | tr '\n' ' ')
	case $1 in
	zfs*) die "package $1 not found: no mirror here offers component contrib ($where); name one that does: --mirror URI" ;;
	*) die "package $1 not found in $where; fetch new lists: --update, or name a full mirror: --mirror URI" ;;
	esac
}

deb_of() {
	echo "$archives/$1_$(echo "$2" | sed 's/:/%3a/')"_*.deb
}

# fetch LOCKFILE: downloads what is missing. apt checks the signatures.
fetch() {
	mkdir -p "$apt_dir/incoming"
	while read -r package version; do
		[ -e "$(deb_of "$package" "$version")" ] || echo "$package=$version"
	done <"$1" >"$apt_dir/missing"
	[ -s "$apt_dir/missing" ] || return 0
	# shellcheck disable=SC2046 # words
	(cd "$apt_dir/incoming" && apt apt-get -q download $(cat "$apt_dir/missing")) 2>&1 | tee "$apt_dir/fetch.log"
	if grep -q '^E: ' "$apt_dir/fetch.log"; then
		grep -q '404' "$apt_dir/fetch.log" &&
			remedy "the mirror has newer versions ($(grep -m 1 404 "$apt_dir/fetch.log" | cut -c1-100)); run it again with --update"
		remedy "$(grep -m 1 '^E: ' "$apt_dir/fetch.log" | cut -c4-140); check network and proxy, then run it again"
	fi
	mv "$apt_dir/incoming"/*.deb "$archives"
}

# unpack LOCKFILE ROOT [EXCEPT]: the packages into a fresh tree with merged /usr; EXCEPT is an extended regular
# expression of package names to leave out.
unpack() {
	rm -rf "$2"
	mkdir -p "$2/usr/bin" "$2/usr/sbin" "$2/usr/lib" "$2/usr/lib64"
	ln -s usr/bin usr/sbin usr/lib usr/lib64 "$2"
	while read -r package version; do
		if [ -n "${3:-}" ] && echo "$package" | grep -Eqx "$3"; then
			continue
		fi
		dpkg-deb --fsys-tarfile "$(deb_of "$package" "$version")" |
			tar -x -p --no-same-owner --keep-directory-symlink -C "$2"
	done <"$1"
	# The alternatives that maintainer scripts would have set.
	[ ! -e "$2/usr/bin/mawk" ] || ln -sf mawk "$2/usr/bin/awk"
}

# locked LOCKFILE PACKAGE: its version.
locked() {
	awk -v want="$2" '$1 == want { print $2 }' "$1"
}
