#!/bin/sh
# Starts the jar behind this script, which the build has put there: java reads a jar from its end.
#
# The JVM keeps the classes that it has parsed once in an archive: one for each build and JVM, in the user's cache folder.
# A background process makes it after the first start.
#
# A link to this file that is named vllm, python or python3 takes vLLM's command line, and one named sglang SGLang's.
#
#   JAVA_HOME             the JVM; else the java in PATH
#   UNDERSTUDY_JAVA_OPTS  options for the JVM, stronger than those of this script
#   UNDERSTUDY_ARCHIVE    auto; now, which makes the archive before the command runs; off

set -f
build='@BUILD@'
oldest_java=17
aot_java=25
lock_minutes=60
wait_seconds=60
num_archives=4

# Ten times later than usual: most runs end before what C2 makes of them has paid for its time.
late_c2='-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=15000'
late_c2="$late_c2 -XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"

# Larger methods are no part of their callers, even if called often: C2 has less to do, and sweeps take a quarter less CPU.
small_inlines='-XX:FreqInlineSize=110'

# The interpreter counts types and branches from the first calls on, and C1's code does not: counting would cost a run of
# a few seconds more than C2 makes of it. What JDK 25's interpreter has counted is too little for C2.
early_profiles='-XX:-C1UpdateMethodData -XX:Tier0ProfilingStartPercentage=1'
oldest_late_profiles=25

# C1 compiles after a quarter of the usual calls: a run of a few seconds spends much of its time in the interpreter.
early_c1='-XX:Tier3InvocationThreshold=50 -XX:Tier3MinInvocationThreshold=25'
early_c1="$early_c1 -XX:Tier3CompileThreshold=500 -XX:Tier3BackEdgeThreshold=15000"

# C2 would take a processor from the gateway for minutes, and the code that it makes is hardly used.
only_c1='-XX:TieredStopAtLevel=1'
# A run leaves little behind in each collection, so a small young generation touches fewer pages and stays in caches.
small_young='-Xmn32m'
huge_pages='-XX:+UseTransparentHugePages'

fail() {
  echo "understudy: $1" >&2
  exit 2
}

# Prints a file's absolute path without symbolic links.
resolve() {
  case $1 in */*) file=$1 ;; *) file=./$1 ;; esac
  while [ -h "$file" ]; do
    target=$(readlink "$file")
    case $target in /*) file=$target ;; *) file=${file%/*}/$target ;; esac
  done
  printf '%s/%s\n' "$(CDPATH='' cd -P -- "${file%/*}/" && pwd)" "${file##*/}"
}

find_java() {
  if [ -n "${JAVA_HOME:-}" ]; then
    java=$JAVA_HOME/bin/java
    [ -x "$java" ] || fail "JAVA_HOME is $JAVA_HOME, which has no bin/java"
  else
    java=$(command -v java) || fail "no java found; install JDK $oldest_java or later, or set JAVA_HOME"
    java=$(resolve "$java")
  fi
}

# A JDK says in a file what it is; only what just looks like one, such as a version manager's stand-in, is asked.
identify_jvm() {
  release=${java%/bin/*}/release
  if [ -r "$release" ]; then
    jvm=$(cat "$release")
    version=${jvm#*JAVA_VERSION=\"}
  else
    jvm=$("$java" -version 2>&1)
    version=${jvm#*version \"}
  fi
  version=${version%%\"*}
  major=${version%%[!0-9]*}
  [ -n "$major" ] || fail "$java is of no known version"
  [ "$major" -ge "$oldest_java" ] || fail "$java is $version; Java $oldest_java or later is needed"
}

# A JVM warns where the system gives none.
has_huge_pages() {
  read -r enabled </sys/kernel/mm/transparent_hugepage/enabled || return 1
  case $enabled in *'[always]'* | *'[madvise]'*) ;; *) return 1 ;; esac
} 2>/dev/null

choose_flags() {
  young= pages= profiles=$early_profiles
  [ "$major" -lt "$oldest_late_profiles" ] || profiles=
  case $1 in
    serve | vllm | sglang) collector=-XX:+UseParallelGC flags= ;;
    chaos) collector=-XX:+UseSerialGC flags=$only_c1 ;;
    run) collector=-XX:+UseSerialGC flags="$early_c1 $late_c2 $small_inlines $profiles" young=$small_young pages=$huge_pages ;;
    *) collector=-XX:+UseSerialGC flags="$late_c2 $small_inlines" pages=$huge_pages ;;
  esac
  # Sizes of the heap belong together: those of the user stand alone.
  case $all_opts in *-Xm[nsx]* | *NewSize* | *NewRatio* | *HeapSize* | *RAM* | *-XX:+Use*GC*) young= ;; esac
  has_huge_pages || pages=
  flags="$flags $young $pages"
  case $all_opts in *-XX:+Use*GC*) collector= ;; esac
  # Pekko reads sun.misc.Unsafe, of which later JVMs warn.
  access=
  [ "$major" -lt 24 ] || access='--sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED'
  flags="$collector $flags $access"
}

# An archive is code: it comes only from a folder that nobody else can write to.
find_cache() {
  cache=${XDG_CACHE_HOME:-}
  case $cache in
    /*) ;;
    *) [ -n "${HOME:-}" ] && [ -O "$HOME" ] && cache=$HOME/.cache || return 1 ;;
  esac
  cache=$cache/understudy
  case $cache in *:*) return 1 ;; esac
  [ -d "$cache" ] || mkdir -p -m 700 "$cache" 2>/dev/null || return 1
  case $(ls -ldn "$cache/") in drwx------[!+]*) [ -O "$cache" ] ;; *) return 1 ;; esac
}

find_archive() {
  case $all_opts in
    *-Xshare* | *SharedArchiveFile* | *ArchiveClassesAtExit* | *-XX:AOT* | *AutoCreateSharedArchive*) return 1 ;;
  esac
  find_cache || return 1
  key=$(printf '%s\n' "$build" "$jar" "$java" "$jvm" | cksum)
  archive=$cache/${key%% *}
  if [ "$major" -ge "$aot_java" ]; then
    archive=$archive.aot
    read_flags="-Xlog:cds*=off -Xlog:aot*=off"
    read_flag=-XX:AOTCache
    write_flag=-XX:AOTCacheOutput
    # Without the profiles of its rehearsal, which make C2 start early.
    write_options='-XX:+UnlockDiagnosticVMOptions -XX:-AOTRecordTraining'
  else
    archive=$archive.jsa
    read_flags="-Xlog:cds*=off"
    read_flag=-XX:SharedArchiveFile
    write_flag=-XX:ArchiveClassesAtExit
    # A method that waits for its compilation when the archive is written waits for ever in all that use it, as the JVM
    # keeps the mark (JDK-8306460, until JDK 21): C1 alone, with callers that wait for it, leaves none.
    write_options='-XX:TieredStopAtLevel=1 -XX:-BackgroundCompilation'
  fi
}

# A JVM crashes on an archive that has lost its end, and one that has changed is not trusted. Having the JVM sum it up costs
# each start a tenth of its time.
has_archive() {
  [ -O "$archive" ] && [ "$archive" -nt "$jar" ] && ! [ "$archive" -nt "$archive.size" ] || return 1
  read -r size <"$archive.size" || return 1
  [ "$size" = "$(size_of "$archive")" ]
} 2>/dev/null

size_of() (
  set -- $(ls -ldn "$1")
  echo "$5"
)

# Makes the archive, unless another process does. A lock that stays behind, since that process was killed or could not
# make one, is good for a while.
make_archive() {
  mkdir "$archive.lock" 2>/dev/null || return
  new=$archive.new
  (cd "$cache" && rehearse) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  if [ $? -eq 0 ] && sync "$new" && size_of "$new" >"$new.size" &&
    mv -f "$new.size" "$archive.size" && mv -f "$new" "$archive"; then
    rmdir "$archive.lock"
    remove_old
  fi 2>/dev/null
}

# Runs a scenario of the jar's own, without the user's settings. Its classes are those of most commands.
rehearse() {
  env -i PATH="$PATH" LC_ALL=C nice -n 19 \
    "$java" -XX:+UseSerialGC $access $write_options "$write_flag=$new" -jar "$jar" run conf/demo.conf --json "$new.json" &&
    rm -f "$new.json"
}

remove_old() {
  (
    cd "$cache"
    ls -t | grep -e '[.]jsa$' -e '[.]aot$' | tail -n +$((num_archives + 1)) | while read -r old; do
      rm -f "$old" "$old.size"
    done
  )
}

is_locked() {
  [ -d "$archive.lock" ] || return 1
  [ -z "$(find "$archive.lock" -prune -mmin +$lock_minutes 2>/dev/null)" ] || rmdir "$archive.lock" 2>/dev/null
  [ -d "$archive.lock" ]
}

# Waits until the command that this process becomes has ended, so as not to take its processors, but not for ever.
make_archive_later() {
  (
    trap '' HUP INT
    seconds=0
    while kill -0 $$ && [ "$seconds" -lt "$wait_seconds" ]; do
      sleep 1
      seconds=$((seconds + 1))
    done
    make_archive
  ) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
}

jar=$(resolve "$0")
case ${0##*/} in
  vllm | python | python3) set -- vllm "$@" ;;
  sglang) set -- sglang "$@" ;;
esac
opts=${UNDERSTUDY_JAVA_OPTS:-}
all_opts="$opts ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-}"
mode=${UNDERSTUDY_ARCHIVE:-auto}
find_java
identify_jvm
choose_flags "${1:-}"
found=
case $mode in
  off) ;;
  auto | now)
    if find_archive; then
      if has_archive; then
        found=yes
      elif ! is_locked; then
        case $mode in
          auto) make_archive_later ;;
          now) make_archive; has_archive && found=yes ;;
        esac
      fi
    fi
    ;;
  *) fail "UNDERSTUDY_ARCHIVE is $mode; it may be auto, now or off" ;;
esac
# With -jar the JVM reads the jar's list of files once more than it must. A path with a colon is no class path.
case $jar in
  *:*) set -- $opts -jar "$jar" "$@" ;;
  *) set -- $opts -cp "$jar" understudy.app.Understudy "$@" ;;
esac
if [ -n "$found" ]; then
  set -- $read_flags "$read_flag=$archive" "$@"
elif [ "$mode" = now ]; then
  echo "understudy: there is no archive of classes, and none could be made" >&2
fi
exec "$java" $flags "$@"
