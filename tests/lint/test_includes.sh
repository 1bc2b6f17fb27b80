#!/bin/bash
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
lint=$project/scripts/check_includes.sh

# What the rooms may do: their own header first, the rooms below them, rooms below those.
put sim/base/err.h '#include <stdio.h>'
put sim/device/device.h '#include "sim/base/err.h"'
put sim/zfs/zil.h '#include "sim/store/store.h"'
put sim/zfs/zil.c '#include "sim/zfs/zil.h"' '' '#include <stdio.h>' '' '#include "sim/device/device.h"'
put sim/stack/stack.c '#include "sim/device/device.h"' '#include "sim/guest/guest.h"'
put loadgen/oltp.c '#include "sim/workload/rules.h"'
put cli/main.c '#include "loadgen/oltp.h"' '#include "sim/serve/server.h"' '#include "guests/vm.h"'
put tests/unit/zfs/test.c '#include "sim/zfs/zil.h"' '#include "loadgen/oltp.h"'
passes "$lint" "$tree"

# violates FILE LINE...: the last line breaks a rule; the lint must name it. MESSAGE is set before.
violates() {
	put "$@"
	fails "$1:$(($# - 1)): $message" "$lint" "$tree"
	rm "$tree/$1"
	passes "$lint" "$tree"
}

message='room "base" must not know "device"'
violates sim/base/loop.c '#include <stdio.h>' '#include "sim/device/device.h"'
message='room "device" must not know "zfs"'
violates sim/device/ssd.c '#include "sim/zfs/zil.h"'
message='room "scenario" must not know "workload"'
violates sim/scenario/schema.c '#include "sim/workload/rules.h"'
message='room "hyp" must not know "zfs"'
violates sim/hyp/esxi.c '#include "sim/zfs/pool.h"'
message='room "serve" must not know "loadgen"'
violates sim/serve/live.c '#include "loadgen/oltp.h"'
message='room "stack" must not know "guests"'
violates sim/stack/run.c '  #  include "guests/vm.h"'
message='room "loadgen" must not know "guests"'
violates loadgen/file.c '#include "guests/vm.h"'
message='room "guests" must not know "loadgen"'
violates guests/vm.c '#include "loadgen/oltp.h"'
message='room "stack" must not know "tests"'
violates sim/stack/run.c '#include "tests/lib/fake.h"'
message='unknown room "cellar"'
violates sim/cellar/x.c 'int x;'
message='"nic.h" is not written from the root'
violates sim/wire/nic.c '#include "nic.h"'

put sim/wire/nic.h 'int x;'
message='the first include must be its own header "sim/wire/nic.h"'
violates sim/wire/nic.c '#include <stdio.h>'
