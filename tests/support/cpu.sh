# shellcheck shell=bash
# Processor time of scripts of tests.

# Sets CPU to the processor time of this shell and of the processes that it waited for [s], two decimals.
cpu_read() {
  local -a stat
  read -ra stat <"/proc/$$/stat"
  # Fields 14 to 17 of proc(5): user and system time, own and of children, in ticks of 10 ms.
  local ticks=$((stat[13] + stat[14] + stat[15] + stat[16]))
  printf -v CPU '%d.%02d' $((ticks / 100)) $((ticks % 100))
}

# Sets SPENT to the processor time since CPU was read last [s], and reads it again.
cpu_spent() {
  local before=${CPU/./}
  cpu_read
  local ticks=$((10#${CPU/./} - 10#$before))
  # shellcheck disable=SC2034 # for whoever sources this
  printf -v SPENT '%d.%02d' $((ticks / 100)) $((ticks % 100))
}
