#!/bin/sh
# The images of the lab, built where they are missing or old.
# shellcheck source=tests/lab/lib.sh
. "$(dirname "$0")/lib.sh"
images_ready
finish
