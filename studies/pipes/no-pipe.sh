#!/bin/sh
# One mawk does all the work: select the address lines, then cut each down to the address.
cat list.txt |
mawk '
  /^[[:space:]]*inet6?/ {
    sub(/[[:space:]]*/, "")
    sub(/^inet6?[[:space:]]+/, "")
    sub(/[[:space:]].*/, "")
    print
  }
'
