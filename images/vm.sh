# shellcheck shell=sh disable=SC2154 # role
# Shared by the first processes of both VMs. Contract with the host: docs/vm-lab.md. Source it with `role` set.
PATH=/usr/sbin:/usr/bin
export PATH

# say TEXT: a marker line on the serial console, with the seconds since the kernel started.
say() {
	read -r uptime _ </proc/uptime
	echo "SLOGLAB $role $* $uptime" >/dev/console
}

# parameter NAME DEFAULT: sl.NAME of the kernel's command line.
parameter() {
	# shellcheck disable=SC2013 # words
	for word in $(cat /proc/cmdline); do
		case $word in
		"sl.$1="*)
			echo "${word#*=}"
			return
			;;
		esac
	done
	echo "$2"
}

network_up() {
	hostname "$(parameter host "$role")"
	ip link set lo up
	for card in /sys/class/net/e*; do
		[ -e "$card" ] || continue
		ip addr add "$(parameter ip 10.0.2.15/24)" dev "${card##*/}"
		ip link set "${card##*/}" up
	done
	gateway=$(parameter gw "")
	[ -z "$gateway" ] || ip route add default via "$gateway"
}

agent_start() {
	for port in /sys/class/virtio-ports/*; do
		if [ "$(cat "$port/name" 2>/dev/null)" = org.qemu.guest_agent.0 ]; then
			qemu-ga -d -m virtio-serial -p "/dev/${port##*/}" -f /run/qga.pid -t /run && say agent
		fi
	done
}

# console: a shell on the serial console for ever; the first process must not end.
console() {
	while :; do
		setsid cttyhack sh </dev/ttyS0 >/dev/ttyS0 2>&1
		sleep 1
	done
}
