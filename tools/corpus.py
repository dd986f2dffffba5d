"""Makes crates/core/tests/gates/ordinary/outputs.jsonl: what real commands print, as coding agents see it.

    python3 tools/corpus.py > crates/core/tests/gates/ordinary/outputs.jsonl

Run it at the root of a clone that was built once. Nothing is written or changed by hand; what is done to an output is

- cut at 4000 characters, at the end of a line; the lines of a test or build log are its last ones
- this clone, the home, temporary and target directories become /home/dev/..., and the committer of this clone becomes Dev
- the name in a byline (Author: Name <address>) becomes Dev too: the repository keeps no addresses of persons
- not taken if it has fewer than 80 characters, was already there, or has somebody's e-mail address elsewhere: such an output
  is meant to fail

Sources with what the gates look for on purpose (the gates, their tests and documents) are left out. Of each group as many
outputs are taken as its quota says, evenly from all that its commands gave.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

LEFT_OUT = ["*gate*", "*secrets*", "*proxy*", "*shell*", "*redact*", "sdk", "*.lock", "*openapi*", "*.jsonl", "README.md",
            "ARCHITECTURE.md", "CHANGELOG.md", "tools", "*scenario*", "fuzz", "LICENSE*"]
CHARS_MAX = 4000
CHARS_MIN = 80
ADDRESS = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")
DEV = "Dev <dev@project.invalid>"
IMPERSONAL = re.compile(r"noreply|@(?:[\w-]+\.)*example\.|git@|\.test\b|^dev@project\.invalid$")
BYLINE = re.compile(r"^(?:[^A-Za-z\n]{0,16}(?:authors?|maintainers?|commit|committer|from|[a-z-]+-by)\"?\s*[:=]|\s*\").*$", re.I | re.M)
PERSON = re.compile(r"[^\s\"':=<>\[][^\"':=<>\n\[]*<" + ADDRESS.pattern + ">")


def run(command, cwd=None):
    done = subprocess.run(["bash", "-c", command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="100", NO_COLOR="1", PAGER="cat",
                                                            CARGO_TERM_COLOR="never", GIT_PAGER="cat"))
    return done.stdout.decode("utf-8", "replace")


def replacements():
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(os.getcwd(), "target"))
    name, mail = run("git config user.name").strip(), run("git config user.email").strip()
    committers = set(run("git log --format='%an <%ae>%n%cn <%ce>'").split("\n")) | {f"{name} <{mail}>"}
    pairs = [(one, DEV) for one in committers if len(one) > 4]
    pairs += [(one.split(" <")[0], "Dev") for one in committers if len(one) > 4]
    return pairs + [(target, "/home/dev/project/target"), (os.getcwd(), "/home/dev/project"), (os.path.expanduser("~"), "/home/dev")]


REPLACEMENTS = replacements()


def clean(text, tail):
    for found, instead in REPLACEMENTS:
        text = text.replace(found, instead)
    text = re.sub(r"/tmp/[\w.-]+", "/home/dev/scratch", text)
    text = BYLINE.sub(lambda line: PERSON.sub(DEV, line.group()), text)
    if len(text) > CHARS_MAX:
        lines = text.splitlines(keepends=True)
        kept, size = [], 0
        for line in reversed(lines) if tail else lines:
            size += len(line)
            if size > CHARS_MAX:
                break
            kept.append(line)
        text = "".join(reversed(kept) if tail else kept)
    return text


def ours(pattern):
    excluded = " ".join(f"':(exclude,glob)**/{one}' ':(exclude,glob)**/{one}/**'" for one in LEFT_OUT)
    return run(f"git ls-files -- '{pattern}' {excluded}").split()


EXCLUDED = " ".join(f"':(exclude,glob)**/{one}' ':(exclude,glob)**/{one}/**'" for one in LEFT_OUT)


def commits(count):
    return run(f"git log --no-merges --format=%h -- . {EXCLUDED}").split()[:count]


def git():
    for commit in commits(70):
        yield f"git show --stat {commit}"
        yield f"git show --format=%s {commit} -- . {EXCLUDED}"
    for skip in range(0, 200, 25):
        yield f"git log --oneline -n 25 --skip={skip}"
        yield f"git log -n 5 --skip={skip} --format=medium"
        yield f"git log -n 12 --skip={skip} --date=iso --format='%h %ad %s'"
    yield from ["git status", "git status --short --branch", "git branch -vv", "git ls-files | head -100", "git count-objects -v",
                "git diff --stat HEAD~5", "git diff --numstat HEAD~9", "git shortlog -n --format=%s | head -60", "git ls-tree HEAD"]
    for path in ours("crates/store/src/*.rs")[:12]:
        yield f"git blame -s -L 1,40 {path}"


def listings():
    for folder in sorted({os.path.dirname(path) for path in ours("*.rs")}):
        yield f"ls -la {folder}"
        yield f"find {folder} -name '*.rs' -newer Cargo.toml | sort"
        yield f"wc -l {folder}/*.rs"
    yield from ["ls -la", "ls -R crates/store | head -80", "find . -maxdepth 2 -not -path './.git/*' | sort", "du -sh crates/*",
                "du -a crates/telemetry | sort -n | tail -40", "stat Cargo.toml", "file crates/*/Cargo.toml", "md5sum crates/*/Cargo.toml",
                "ls -la /usr/lib | head -60", "ls /usr/bin | head -200 | column", "ls -la /usr/include | head -50", "ls -l /usr/share | head -70"]


def reading():
    for path in ours("*.rs") + ours("*.toml") + ours("*.py") + ours("vectors/*.json"):
        yield f"cat -n {path}"
        yield f"sed -n '60,140p' {path}"


def searching():
    for word in ["pub fn", "impl Display", "use serde", "Result<", "unwrap_or", "match self", "#\\[test\\]", "enum ", "const ", "struct ",
                 "Duration", "Timestamp", "assert_eq", "Option<", "u64::try_from", "async fn", "tokio", "SELECT", "INSERT", "rusqlite"]:
        for folder in ["crates/store", "crates/telemetry", "crates/server/src", "xtask/src"]:
            yield f"grep -rn '{word}' {folder} --include='*.rs' | head -40"
    yield "grep -rc 'fn ' crates/store/src | sort"


def cargo():
    for module in ["reputation", "performance", "scorecard", "session_metrics", "identity", "ids", "units", "time", "json", "decimal", "kind"]:
        yield f"cargo test --offline -p renown-core --lib -- {module}"
    for crate in ["renown-core", "renown-store", "renown-telemetry", "renown-server", "renown", "xtask"]:
        yield from [f"cargo tree --offline -p {crate} --depth 2", f"cargo tree --offline -p {crate} -e features --depth 1",
                    f"cargo tree --offline -p {crate} --prefix none | sort -u | tail -60", f"cargo pkgid --offline -p {crate}"]
    for crate in ["serde", "regex", "memchr", "tokio", "hyper", "uuid", "clap", "syn", "libc"]:
        yield f"cargo tree --offline -i {crate} --depth 3"
    for number in range(0, 400, 20):
        fields = "{name, version, edition, rust_version, features: (.features | keys), dependencies: [.dependencies[].name]}"
        yield f"cargo metadata --offline --format-version 1 | jq '.packages[{number}] | {fields}'"
    for sub in ["build", "test", "tree", "add", "clippy", "metadata", "bench", "doc", "fmt", "run"]:
        yield f"cargo help {sub} | head -70"
    yield from ["cargo --version --verbose", "cargo --list", "rustc --print cfg", "rustc --print target-list | head -90",
                "cargo build --offline -p renown-core --message-format short", "cargo build --offline -p no-such-package",
                "cargo test --offline -p renown-core --test vectors", "cargo test --offline -p renown-core --test readers",
                "cargo tree --offline --duplicates | head -80", "rustup show"]


BROKEN = {
    "a.rs": ["fn main() { let x: u32 = \"7\"; println!(\"{}\", y); }", "fn f(v: Vec<u8>) -> &[u8] { &v }\nfn main() {}",
             "use std::colections::HashMap;\nfn main() { let v = vec![1]; let w = v; println!(\"{v:?}\"); }",
             "struct A;\nfn main() { let a = A; a.run(); match 3u8 { 0 => {} } }", "fn main() { let s = String::new(); s.push('a'); }"],
    "a.c": ["int main(void) { int x = \"a\"; return y; }", "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", \"x\") return 0; }",
            "#include \"missing.h\"\nint main() {}", "int f(int a) { return a }\nstruct s { int a };\n"],
    "a.py": ["import json\njson.loads('{\"a\": }')", "def f(a):\n    return a['b']['c']\nf({'b': None})", "import no_such_module",
             "print(1 / 0)", "open('missing.txt')", "x = [1, 2\nprint(x)", "int('seven')", "raise ValueError('bad value: 7, expected 1 to 5')"],
    "a.js": ["const a = require('missing-module')", "null.length", "JSON.parse('{\"a\": }')", "function f() { return g() }\nf()", "let x = ;"],
}
TEST_PY = """
import unittest
class Sums(unittest.TestCase):
    def test_adds(self): self.assertEqual(1 + 1, 2)
    def test_wrong(self): self.assertEqual({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]})
    def test_raises(self): {}["missing"]
    @unittest.skip("needs a server")
    def test_skipped(self): pass
"""
TEST_JS = """
const test = require('node:test'), assert = require('node:assert');
test('adds', () => assert.equal(1 + 1, 2));
test('wrong', () => assert.deepEqual({a: 1}, {a: 2}));
test('throws', () => { throw new Error('no connection'); });
"""


def broken(scratch):
    tools = {"a.rs": "rustc a.rs", "a.c": "gcc -Wall -c a.c", "a.py": "python3 a.py", "a.js": "node a.js"}
    for name, programs in BROKEN.items():
        for text in programs:
            yield (tools[name], lambda name=name, text=text: open(os.path.join(scratch, name), "w").write(text))
    yield ("python3 -m unittest -v test_a.py", lambda: open(os.path.join(scratch, "test_a.py"), "w").write(TEST_PY))
    yield ("node --test a.test.js", lambda: open(os.path.join(scratch, "a.test.js"), "w").write(TEST_JS))
    yield ("make", lambda: open(os.path.join(scratch, "Makefile"), "w").write("all: a.o\n\tgcc -o a a.o\na.o: a.c\n\tgcc -Wall -c a.c\n"))
    yield ("npm test", lambda: open(os.path.join(scratch, "package.json"), "w").write('{"name": "a", "scripts": {"test": "node --test"}}'))
    yield ("npm run lint", lambda: None)
    yield ("git init -q x && cd x && git status && git log", lambda: None)
    yield ("ls -la", lambda: None)


def packages():
    fields = "{name, version, license, main, type, engines, scripts, dependencies, devDependencies, exports}"
    for path in sorted(glob.glob("/usr/lib/node_modules/npm/node_modules/*/package.json")):
        name = path.split("/")[-2]
        yield (f"jq '{fields}' node_modules/{name}/package.json", f"jq '{fields}' {path}")
        yield (f"ls -la node_modules/{name}", f"ls -la {os.path.dirname(path)}")
    for path in sorted(glob.glob(os.path.expanduser("~/.cargo/registry/src/*/*/Cargo.toml")))[::6]:
        name = path.split("/")[-2]
        yield (f"sed -n '/^\\[dependencies/,$p' vendor/{name}/Cargo.toml", f"sed -n '/^\\[dependencies/,$p' {path}")
        yield (f"ls -la vendor/{name}", f"ls -la {os.path.dirname(path)}")
    for command in ["pip list", "pip list --format=json", "pip freeze", "pip check", "pip debug 2>/dev/null | head -60", "npm ls -g", "npm ls -g --json",
                    "npm config ls -l | head -80", "python3 -m site", "python3 -VV", "node -p process.versions",
                    "python3 -c 'import sysconfig; print(sysconfig.get_config_vars())' | fold -w 160 | head -20"]:
        yield (command, command)


def bylines():
    for path in sorted(glob.glob(os.path.expanduser("~/.cargo/registry/src/*/*/Cargo.toml"))):
        if "authors = [" in open(path, encoding="utf-8", errors="replace").read():
            name = path.split("/")[-2]
            yield (f"head -45 vendor/{name}/Cargo.toml", f"head -45 {path}")
    for path in sorted(glob.glob("/usr/lib/node_modules/npm/node_modules/*/package.json")):
        name = path.split("/")[-2]
        yield (f"jq '{{name, version, author}}' node_modules/{name}/package.json", f"jq '{{name, version, author}}' {path}")
    for skip in range(0, 60, 10):
        yield (f"git log -n 3 --skip={skip} --format=full", f"git log -n 3 --skip={skip} --format=full")


def system():
    yield from ["df -h", "df -i", "free -h", "lscpu", "nproc; cat /proc/meminfo | head -30", "cat /proc/cpuinfo | head -28", "uptime", "date; cal",
                "cat /etc/os-release", "cat /proc/loadavg /proc/version", "cat /etc/fstab /etc/shells", "locale", "ulimit -a", "getconf -a | head -60",
                "cat /proc/filesystems", "dpkg -l | sed -n '6,40p' | cut -c1-90", "dpkg -L coreutils | head -60", "apt-cache policy git gcc make",
                "ldd /usr/bin/git", "readelf -h /usr/bin/git", "nm -D /usr/bin/make | head -60", "sqlite3 :memory: '.help' | head -60",
                "sqlite3 -header -column :memory: 'select 1 as a, 2 as b; pragma compile_options;'", "cat /proc/self/status", "cat /proc/self/limits",
                "python3 -c 'help(\"json\")' | head -80", "python3 -c 'help(str.split)'", "python3 -m timeit '1+1'", "type -a python3 node git"]


def helps():
    for tool in ["ls", "cp", "grep", "sed", "tar", "sort", "head", "wc", "cut", "uniq", "xargs", "diff", "du", "df", "date", "stat", "tr", "tee", "ln",
                 "gcc", "make", "git", "git help -a", "node", "npm", "pip", "python3", "jq", "curl", "rustc", "rustfmt", "cargo", "perl", "awk", "gzip",
                 "zip", "unzip", "file", "less", "patch", "split", "seq", "env", "nl", "paste", "join", "fold", "od", "strings", "objdump", "nm", "ar",
                 "ld", "strace", "perf", "tmux", "redis-cli", "psql", "sqlite3", "kubectl", "docker", "java", "pip install", "npm install"]:
        yield f"{tool} --help 2>&1 | head -45"


def taken(quota, found):
    step = max(1.0, len(found) / quota)
    return [found[int(at * step)] for at in range(min(quota, len(found)))]


def main():
    seen, out = set(), []
    with tempfile.TemporaryDirectory() as scratch:
        groups = [(115, [(one, one, None, None) for one in git()]), (45, [(one, one, None, None) for one in listings()]),
                  (85, [(one, one, None, None) for one in reading()]), (45, [(one, one, None, None) for one in searching()]),
                  (70, [(one, one, None, None) for one in cargo()]), (28, [(one, one, make, scratch) for one, make in broken(scratch)]),
                  (57, [(shown, real, None, None) for shown, real in packages()]), (25, [(one, one, None, None) for one in system()]),
                  (40, [(one, one, None, None) for one in helps()]),
                  (24, [(shown, real, None, None) for shown, real in bylines()])]
        for quota, commands in groups:
            if len(commands) > 3 * quota:
                commands = taken(3 * quota, commands)
            found = []
            for shown, real, prepare, cwd in commands:
                if prepare:
                    prepare()
                text = clean(run(real, cwd), tail=shown.startswith(("cargo test", "cargo build", "npm test")))
                if cwd:
                    text = text.replace(os.path.basename(cwd), "scratch")
                addresses = [one for one in ADDRESS.findall(text) if not IMPERSONAL.search(one)]
                if len(text) >= CHARS_MIN and text not in seen and not addresses:
                    seen.add(text)
                    found.append({"command": clean(shown, False).replace(EXCLUDED, "crates"), "output": text})
            out += taken(quota, found)
            print(f"{len(found)} outputs, quota {quota}", file=sys.stderr)
    for one in out:
        print(json.dumps(one, ensure_ascii=False))
    print(f"{len(out)} outputs", file=sys.stderr)


main()
