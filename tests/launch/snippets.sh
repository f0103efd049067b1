# What the evaluation must do as bash does. Each part is a script of its own, under `#: its name`.

#: quotes
A='x  y'; emit $A "$A" '$A' "\$A" \$A a"b c"'d e'f $'t\tb'

#: empty words
E=; emit $E "$E" "" x$E

#: defaults
E=; emit ${U:-a b} "${U:-a b}" "${E-x}" "${E:-x}" "${U+set}" "${E+set}" "${E:+set}"

#: assigning default
emit "${U:=v}" "$U"; : "${W:=w}"; emit "$W"

#: nested defaults
emit "${A:-${B:-${C:-deep}}}" "${A:-"quoted } brace"}"

#: prefix and suffix
F=a/b.c/d.e.f; emit "${F##*/}" "${F#*/}" "${F%.*}" "${F%%.*}" "${F%/*}" "${F#zz}"

#: replacing
L='4 8 16'; emit "${L// /x}" "${L/ /x}" "${L/#4/Z}" "${L/%6/Z}" "${L//[48]/_}"

#: substrings
V=abcdef; emit "${V:1:2}" "${V:2}" "${V: -2}" "${V:0:-1}" "${#V}"

#: case change
V=hEllo; emit "${V^^}" "${V,,}" "${V^}"

#: indirect
N=VALUE; VALUE=3; emit "${!N}" "${!N:-x}"

#: arithmetic
A=7; B=2; emit $((A / B)) $((A % B)) $(( (A+B)*2 )) $((A > B ? A : B)) $((-A / B)) $((2**10)) $((A & 3))

#: arithmetic side effects
i=3; ((i++)); emit $i $((i+=2)) $i $((++i)); ((i == 7)) && emit yes || emit no

#: arithmetic in strings
CONC=16; emit "$(( CONC * 3 / 2 > 8 ? CONC * 3 / 2 : 8 ))" "$[1+1]"

#: octal
emit $((010 + 0x1f)) $((2#101))

#: arrays
A=(a "b c" d); A+=(e); emit "${A[@]}"; emit ${A[@]}; emit "${A[*]}" "${#A[@]}" "${A[1]}" "${A[-1]}" "$A"

#: empty array
A=(); emit "${A[@]}" end; emit x"${A[@]}"y; emit "${A[@]+set}" "${A[@]:-none}"

#: sparse array
A=([2]=c [0]=a x); emit "${A[@]}" "${!A[@]}"; A[7]=z; emit "${#A[@]}" "${A[7]}"

#: array slices
A=(a b c d e); emit "${A[@]:1:2}" "${A[@]: -2}"; set -- p q r; emit "${@:2}" "$#"

#: array of each
A=(a.sh b.sh); emit "${A[@]%.sh}" "${A[@]/#/x}"

#: associative
declare -A M=([k]=v [two]="2 3"); M[z]=9; emit "${M[k]}" "${M[two]}" "${M[z]}" "${M[none]:-n}"

#: unset element
A=(a b c); unset 'A[1]'; emit "${A[@]}" "${#A[@]}"

#: test numbers
for n in 3 4 5; do if [ $n -gt 4 ]; then emit big; elif [ $n -eq 4 ]; then emit same; else emit $n; fi; done

#: test strings
A=x; [ "$A" = x ] && emit 1; [ "$A" != x ] || emit 2; [ -z "$U" ] && emit 3; [ -n "$A" -a "$A" = x ] && emit 4; [ ! -n "$U" ] && emit 5

#: double brackets
A=fp4_x; [[ $A == fp4* && ( -n $A || $A = b ) ]] && emit 1; [[ ! $A =~ ^fp8 ]] && emit 2; [[ $A = "fp4*" ]] || emit 3; [[ a < b ]] && emit 4

#: regular expressions
C=120; [[ $C =~ ^[1-9][0-9]*$ ]] && emit ok "${BASH_REMATCH[0]}"; [[ x12y =~ ([0-9]+)(y|z) ]] && emit "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"

#: is set
E=; [[ -v E ]] && emit set; [[ -v U ]] || emit unset; [ -z "${U+x}" ] && emit no

#: case
for x in mtp none draft_model '' a1; do case "$x" in mtp|eagle*) emit spec;; none) emit plain;; "") emit empty;; [a-c][0-9]) emit class;; *) emit "other $x";; esac; done

#: case falls through
case b in a) emit a;; b) emit b;& c) emit c;; d) emit d;; esac; case ab in a*) emit 1;;& *b) emit 2;; *) emit 3;; esac

#: while
i=0; while [ $i -lt 4 ]; do i=$((i+1)); [ $i -eq 2 ] && continue; [ $i -eq 4 ] && break; emit $i; done; emit end $i

#: until
i=0; until ((i >= 2)); do emit $i; ((i++)); done

#: counted for
for ((i = 1, j = 9; i <= 3; i++, j--)); do emit $i $j; done

#: for over words
L="a b c"; for x in $L "d e" {1..3}; do emit "$x"; done; emit "$x"

#: braces
emit {a,b}c x{1..3} {01..03} {a..c} pre{x,y{1,2}}post {none} {a,} "{a,b}" {1..5..2}

#: functions
f() { local a="$1" b; b=$(( $# )); emit "$a" "$b" "$@"; return 3; }; a=outer; f x "y z"; emit $? "$a"

#: function scope
g() { A=changed; local B=inner; h; }; h() { emit "$A" "$B"; }; A=1 B=2; g; emit "$A" "$B"

#: output of functions
f() { echo one; echo " two  three "; }; X=$(f); emit "$X" $X "$(f | cat)"

#: options parsed by a function
serve() { local port="" log=""; while [[ $# -gt 0 ]]; do case $1 in --port) port="$2"; shift 2;; --log) log="$2"; shift 2;; *) shift;; esac; done; emit "$port" "$log"; }; serve --x --port 80 --log "a b"

#: substitution
A="$(echo a; echo b)"; emit "$A" `echo c` "$(printf '%s-' x y z)" "$(printf '%.2f' 2.5)" "$(printf '%03d' 7)"

#: substitution in a subshell
X=1; Y=$(X=2; echo $X); emit $X $Y; (X=3; emit $X); emit $X

#: here-documents
A=v; B=$(cat <<EOF
x $A ${A:-q} \$A `echo t` "quoted"
EOF
); emit "$B"; C=$(cat <<'EOF'
raw $A
EOF
); emit "$C"; D=$(cat <<-EOF
	tabs $A
	EOF
); emit "$D"

#: here-document and pipe
cat <<EOF | while read -r a b; do emit "$a" "$b"; done
1 2 3
4 5
EOF

#: here-string
IFS=',' read -ra A <<< "a,b,c"; emit "${A[@]}"; read -r x y <<< "1 2 3"; emit "$x" "$y"

#: and or
true && emit 1 || emit 2; false && emit 3 || emit 4; ! false && emit 5; false || false || emit 6; true || emit 7 && emit 8

#: assignments at one line
A=1 B=2
emit $A $B
C=3 D=$C
emit $C $D

#: environment prefix
f() { emit "$P" "$A"; }; A=old; P=x A=new f; emit "$P" "$A"

#: several lines
emit a \
  b \
  "c \
d" # comment
emit e#f # g
# emit h
emit 'i # j'

#: append
A=x; A+=y; A+="z $A"; emit "$A"; N=1; N+=1; emit $N

#: set positional
set -- "a b" c; emit "$1" "$2" "$@" "$*"; shift; emit "$1" "$#"; set -e; emit "$1"

#: export and unset
export A=1 B; B=2; emit "$A$B"; unset A; emit "${A:-gone}"

#: declare
declare -a L=(1 2); declare -i N=4; readonly R=5; typeset T=6; emit "${L[@]}" $N $R $T

#: eval
C="emit 'a b' \$X"; X=7; eval "$C"; eval emit "x y"

#: printf -v
printf -v S '%s,' a b c; emit "$S" "${S%,}"; printf -v H '%x' 255; emit $H

#: groups and redirections
{ emit 1; emit 2; } 2>/dev/null; if true; then emit 3; fi >&1

#: quotes within substitution
emit "$(echo "a$(echo "b c")" d)" "${U:-$(echo "e  f")}"

#: conditional words
X=3; emit ${X:+--flag "$X"} ${U:+--none} "${X:+--a=$X}"

#: joined list
S=""; for n in 1 2 4; do S+="${S:+,}$n"; done; emit "[$S]"

#: json
N=3; J="{\"method\": \"mtp\", \"n\": $N}"; emit "$J" '{"a":[1,2],"b":"c d"}'

#: arithmetic loop limit
m=5; c=(); for ((n = 1; n <= m; n++)); do c+=("$((n * 4))"); done; emit "$(IFS=,; echo "${c[*]}")"

#: numbers compared
A=08; B=8; [[ "$B" -ge 8 ]] && emit 1; [ "$B" -lt 10 ] && emit 2

#: tilde and globs stay
emit "~" '*.x' [1,2] --x=[a]

#: time and not
! true || emit 1; if ! false; then emit 2; fi

#: comment after semicolon
A=1; # set
emit $A;# end
emit x

#: select arm
DP=true; ARGS=(--tp 8); if [ "$DP" = true ]; then ARGS=(--tp 8 --dp 8); fi; E="--x 1"; emit serve "${ARGS[@]}" $E ${NO:-}

#: function keyword
function g { emit "in $1"; }; g z; function h() { emit two; }; h

#: subshell function
f() ( X=9; emit $X ); X=1; f; emit $X

#: extended glob
[[ abc == @(abc|x)* ]] && emit y; case arm in @(arm|x86)) emit z;; esac

#: unicode
A='é ü'; emit "$A" ${#A} "${A/é/e}"

#: what a subshell leaves
S=$(echo a; (echo b; exit; echo no); echo c); emit "$S"; T=$(f() { echo 1; return; echo no; }; f; f); emit "$T"

#: what loops print
P=$(for i in 1 2 3; do [ $i = 2 ] && continue; echo "n$i"; done; echo end); emit "$P" "$(for i in 1 2; do echo $i; exit; done)"

#: read shares the input
while read -r a; do read -r b; emit "$a" "$b"; done < <(printf '1\n2\n3\n4\n')

#: kept and given away
{ echo a; echo b >&2; echo c; } 2>/dev/null | { read -r x; read -r y; emit "$x" "$y"; }; Q=$({ echo no >/dev/null; echo yes; }); emit "$Q"

#: exported for a function only
g() { emit "$X" "${E-}"; h; }; h() { emit "$X"; }; X=1; export E=2; X=7 E=8 g; emit "$X" "$E"

#: status of an assignment
false; A="$?"; emit "$A" "$?"; A=$(false) || emit failed; A="$(true)" && emit "$?"; B=$(exit 3); emit "$?"

#: status of a loop
for x in 1 2; do [ $x = 1 ]; done; emit "$?"; while read -r x; do [ "$x" = 2 ]; done <<< 2; emit "$?"; until true; do :; done; emit "$?"; for x in; do :; done; emit "$?"; f() { while return 4; do emit no; done; emit no; }; f; emit "$?"

#: failing conditions
[ "" -lt 5 ] || emit 1; [ abc -gt 0 ] || emit 2; [ "" = ] || emit 3; [ = ] && emit 4; abc=7; [[ abc -gt 6 ]] && emit 5; [ 010 -eq 10 ] && emit 6; [[ 010 -eq 8 ]] && emit 7; [ " 3 " -eq 3 ] && emit 8; [ -n ] && emit 9

#: failures that end
set -e; false || emit 1; if false; then :; fi; ! true; false && true; emit 2; { false && true; }; emit 3; while false; do :; done; emit 4; A=$(echo x; false; echo y); emit no

#: a failing function ends
set -e; f() { false && true; }; emit 1; f; emit no

#: a failing function is asked
set -e; f() { false; emit inside; return 3; }; f || emit "$?"; if f; then :; else emit else; fi; emit end

#: a failing test ends
set -euo pipefail; A=1; [ "$A" = 1 ] && emit 1; [[ $A = 2 ]] || emit 2; [ "$A" = 2 ]; emit no

#: arithmetic that comes to nothing ends
set -o errexit; i=0; ((i)) || emit 0; ((++i)); emit 1; ((i - 1)); emit no

#: failures within other shells
set -e; ( set +e; false; emit 1 ); (false; emit no) || emit 2; X=$(false; echo a); emit "$X"; set +e; false; emit 3; set -e; ( exit 3 ); emit no

#: what a failing loop leaves
set -e; for x in 1 2; do [ $x = 2 ] && emit $x; done; emit end; for x in 1 2; do [ $x = 1 ]; emit $x; done; emit no
