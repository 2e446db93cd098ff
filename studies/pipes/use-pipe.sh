#!/bin/sh
# The same work as four stages: one mawk selects the lines, three cut them down, a step each.
cat list.txt |
mawk '/^[[:space:]]*inet6?/ { print }' |
mawk '{ sub(/[[:space:]]*/, ""); print }' |
mawk '{ sub(/^inet6?[[:space:]]+/, ""); print }' |
mawk '{ sub(/[[:space:]].*/, ""); print }'
