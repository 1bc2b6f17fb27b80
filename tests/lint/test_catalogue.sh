#!/bin/bash
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
lint=$project/scripts/check_catalogue.sh

# drive NAME FIGURE KIND SOURCE: a file of the catalogue with one figure of its own.
drive() {
	put "sim/scenario/catalogue/$1.yaml" 'format: sloglab-device/1' 'kind: ssd' 'description: "a drive (2020)"' 'figures:' \
		'  capacity:    {value: 480GB, kind: spec, source: "product name"}' \
		'  link_rate:   {value: 600MB/s, kind: spec, source: "SATA 6 Gb/s with 8b/10b coding"}' \
		"  $2 {value: ${5:-50us}, kind: $3, source: \"$4\"}"
}

passes "$lint" "$tree" # no catalogue

# Nothing is copied where the source is of the family or names both, where the value or the source differs, and where
# it is only assumed. What a standard says is the same for all.
drive intel-dc-s3700-100 read_latency: spec 'data sheet of the S3700 family'
drive intel-dc-s3700-200 read_latency: spec 'data sheet of the S3700 family'
drive maker-x1-480 write_latency: measured 'a list of the X1 and the Y2 Pro'
drive maker-y2-pro-480 write_latency: measured 'a list of the X1 and the Y2 Pro'
drive maker-z1-480 plp: spec 'a review of both' yes
drive maker-z2-480 plp: spec 'a review of both' no
drive maker-q1-480 flush_latency: assumed 'usual for the class'
drive maker-q2-480 flush_latency: assumed 'usual for the class'
passes "$lint" "$tree"

# Copied: the same value with the same source, which names one, or half of one, or neither.
drive maker-z2-480 plp: spec 'a review of both' yes
fails 'sim/scenario/catalogue/maker-z2-480.yaml:7: plp: yes with the source of sim/scenario/catalogue/maker-z1-480.yaml:7' \
	"$lint" "$tree"
drive maker-z2-480 plp: spec 'a review of the Z2' yes
drive maker-z1-480 plp: spec 'a review of the Z2' yes
fails 'maker-z2-480.yaml:7: plp: yes' "$lint" "$tree"
drive maker-z1-480 plp: spec 'a review of the Z1' yes
passes "$lint" "$tree"
drive maker-x1-480 write_latency: derived 'a list of the X1 and the Y2'
drive maker-y2-pro-480 write_latency: derived 'a list of the X1 and the Y2'
fails 'maker-y2-pro-480.yaml:7: write_latency: 50us' "$lint" "$tree"
