"""Runs one thread of a PTX kernel in Python, to learn which way its branches go for typical arguments.

Only what libdevice's functions use. Values are kept as bit patterns; single-precision results are rounded from double,
which is exact enough to decide branches.
"""
import math
import re
import struct

U32, U64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def f2b(x, bits):
    if bits == 64:
        return struct.unpack("<Q", struct.pack("<d", x))[0]
    try:
        return struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:
        return 0x7F800000 if x > 0 else 0xFF800000


def b2f(b, bits):
    return struct.unpack("<d", struct.pack("<Q", b))[0] if bits == 64 else struct.unpack("<f", struct.pack("<I", b & U32))[0]


def signed(b, bits):
    b &= (1 << bits) - 1
    return b - (1 << bits) if b >> (bits - 1) else b


def statements(ptx, kernel):
    """[(label, guard, opcode, operands, line number)] of an entry; the line number counts in `ptx`."""
    lines = ptx.split("\n")
    start = next(k for k, l in enumerate(lines) if re.search(rf"\.entry {kernel}\b", l))
    out, text, first = [], "", None
    for k in range(start, len(lines)):
        line = lines[k].split("//")[0].strip()
        if line == "}" and not text and lines[k].startswith("}"):
            break
        if line == "" or (not text and (line in "{}" or line.startswith((".", ")")))):
            continue
        m = re.match(r"^([$\w]+):$", line)
        if m:
            out.append(("label", m.group(1), k))
            continue
        if not text:
            first = k
        text += " " + line
        if ";" in line:
            for part in text.split(";"):
                part = part.strip().strip("{").strip()
                m = re.match(r"^(?:@(!?%p\d+)\s+)?([a-z][\w.:]*)\s*(.*)$", part)
                if m:
                    out.append(("ins", m.group(1), m.group(2), m.group(3), first))
            text = ""
    return out


class Stuck(Exception):
    pass


def split(s):
    parts, depth, cur = [], 0, ""
    for c in s:
        depth += c in "{[("
        depth -= c in "}])"
        if c == "," and not depth:
            parts.append(cur.strip())
            cur = ""
        else:
            cur += c
    return parts + [cur.strip()] if cur.strip() else parts


class Run:
    """memory: {address: byte}; branch decisions end up in `taken`: {line: set of bool}."""

    def __init__(self, ptx, kernel, params, memory, symbols, calls):
        self.code = statements(ptx, kernel)
        self.labels = {s[1]: i for i, s in enumerate(self.code) if s[0] == "label"}
        self.r, self.params, self.memory, self.symbols, self.calls = {}, params, memory, symbols, calls
        self.taken, self.carry = {}, 0

    def value(self, o, bits=64):
        if o.startswith("-%"):
            raise Stuck(o)
        if o.startswith("%"):
            return 0 if o.startswith(("%tid", "%ctaid", "%ntid")) else self.r[o]
        if o.startswith("0f"):
            return int(o[2:], 16)
        if o.startswith("0d"):
            return int(o[2:], 16)
        if re.match(r"^-?\d+$", o):
            return int(o) & ((1 << bits) - 1)
        if o.startswith("0x"):
            return int(o, 16)
        return self.symbols[o]

    def address(self, o):
        m = re.match(r"\[([%$\w]+)(?:\+(-?\d+))?\]", o)
        return self.value(m.group(1)) + int(m.group(2) or 0)

    def run(self, limit=5000):
        pc = 0
        for _ in range(limit):
            if pc >= len(self.code):
                return
            s = self.code[pc]
            pc += 1
            if s[0] == "label":
                continue
            _, guard, opcode, text, line = s
            go = True
            if guard:
                go = bool(self.r[guard.lstrip("!")]) != guard.startswith("!")
            if opcode.startswith("bra"):
                if guard:
                    self.taken.setdefault(line, set()).add(go)
                if go:
                    pc = self.labels[text.strip()]
                continue
            if not go:
                continue
            if opcode in ("ret", "exit"):
                return
            self.step(opcode, split(text))
        raise Stuck("too long")

    def step(self, opcode, o):
        w = opcode.split(".")
        t = w[-1]
        bits = int(re.sub(r"\D", "", t) or 32) if t != "pred" else 1
        base = w[0]
        if base == "call":
            name = next(x for x in o if x in self.calls)
            args = [self.params[f"param{k}"] for k in range(self.calls[name][1])]
            self.params["retval0"] = f2b(self.calls[name][0](*[b2f(a, 64) for a in args]), 64)
            return
        if base == "ld":
            if "param" in w:
                self.r[o[0]] = self.params[re.match(r"\[(\w+)", o[1]).group(1)]
                return
            dst = [x.strip() for x in o[0].strip("{}").split(",")]
            a = self.address(o[1])
            for k, d in enumerate(dst):
                self.r[d] = sum(self.memory.get(a + k * bits // 8 + j, 0) << (8 * j) for j in range(bits // 8))
            return
        if base == "st":
            v = self.value(o[1], bits)
            if "param" in w:
                self.params[re.match(r"\[(\w+)", o[0]).group(1)] = v
                return
            a = self.address(o[0])
            for j in range(bits // 8):
                self.memory[a + j] = v >> (8 * j) & 255
            return
        if base == "cvta":
            self.r[o[0]] = self.value(o[1])
            return
        if base == "mov":
            if o[0].startswith("{"):
                lo, hi = [x.strip() for x in o[0].strip("{}").split(",")]
                v = self.value(o[1])
                self.r[lo], self.r[hi] = v & U32, v >> 32
            elif o[1].startswith("{"):
                lo, hi = [x.strip() for x in o[1].strip("{}").split(",")]
                self.r[o[0]] = self.value(lo, 32) | self.value(hi, 32) << 32
            else:
                self.r[o[0]] = self.value(o[1], bits)
            return
        if base == "cvt":
            return self.convert(w, o)
        v = [self.value(x, bits) for x in o[1:] if not x.startswith("%p")]
        if base == "setp":
            self.r[o[0]] = self.compare(w[1], w, v)
        elif base in ("selp",):
            self.r[o[0]] = v[0] if self.r[o[3]] else v[1]
        elif t == "pred":
            p = [self.r[x] if x.startswith("%p") else int(x) for x in o[1:]]
            self.r[o[0]] = {"and": all(p), "or": any(p), "xor": sum(p) % 2, "not": not p[0], "mov": p[0]}[base]
        elif t[0] == "f":
            self.r[o[0]] = self.floating(base, w, bits, v)
        else:
            self.r[o[0]] = self.integer(base, w, t, bits, v) & ((1 << (64 if base in ("mul", "mad") and "wide" in w else bits)) - 1)

    def compare(self, how, w, v):
        t = w[-1]
        bits = int(t[1:])
        if t[0] == "f":
            a, b = b2f(v[0], bits), b2f(v[1], bits)
            if how == "nan":
                return math.isnan(a) or math.isnan(b)
            if how == "num":
                return not (math.isnan(a) or math.isnan(b))
            unordered = how.endswith("u") and how not in ("ltu_",)
            if math.isnan(a) or math.isnan(b):
                return unordered
            how = how.rstrip("u") if len(how) == 3 else how
        else:
            a, b = (signed(v[0], bits), signed(v[1], bits)) if t[0] == "s" else (v[0], v[1])
        return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b,
                "lo": a < b, "ls": a <= b, "hi": a > b, "hs": a >= b}[how]

    def floating(self, base, w, bits, v):
        x = [b2f(b, bits) for b in v]
        try:
            r = {"fma": lambda: x[0] * x[1] + x[2], "add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1],
                 "mul": lambda: x[0] * x[1], "div": lambda: x[0] / x[1], "rcp": lambda: 1 / x[0],
                 "sqrt": lambda: math.sqrt(x[0]), "rsqrt": lambda: 1 / math.sqrt(x[0]), "ex2": lambda: 2.0 ** x[0],
                 "lg2": lambda: math.log2(x[0]), "neg": lambda: -x[0], "abs": lambda: abs(x[0]),
                 "min": lambda: min(x), "max": lambda: max(x), "sin": lambda: math.sin(x[0]),
                 "cos": lambda: math.cos(x[0]), "tanh": lambda: math.tanh(x[0]),
                 "copysign": lambda: math.copysign(x[1], x[0])}[base]()
        except (ZeroDivisionError, ValueError, OverflowError):
            r = math.inf
        return f2b(r, bits)

    def integer(self, base, w, t, bits, v):
        if "wide" in w:
            s = [signed(x, bits) if t[0] == "s" else x for x in v]
            return s[0] * s[1] + (v[2] if base == "mad" else 0)
        s = [signed(x, bits) if t[0] == "s" else x for x in v]
        if base in ("add", "addc", "sub", "subc", "mad", "madc", "mul"):
            hi = "hi" in w
            p = (s[0] * s[1] >> bits if hi else s[0] * s[1]) if base[0] == "m" else 0
            c = self.carry if base.endswith("c") and base != "mul" else 0
            total = {"add": lambda: v[0] + v[1], "sub": lambda: v[0] - v[1] - c, "mul": lambda: p,
                     "mad": lambda: (p & ((1 << bits) - 1)) + v[2] + c}[base[:3]]() + (c if base[:3] == "add" else 0)
            if "cc" in w:
                self.carry = int(not 0 <= total < 1 << bits)
            return total
        return {"and": lambda: v[0] & v[1], "or": lambda: v[0] | v[1], "xor": lambda: v[0] ^ v[1], "not": lambda: ~v[0],
                "shl": lambda: v[0] << min(v[1], bits), "shr": lambda: s[0] >> min(v[1], bits), "neg": lambda: -v[0],
                "abs": lambda: abs(signed(v[0], bits)), "min": lambda: min(s), "max": lambda: max(s),
                "clz": lambda: bits - v[0].bit_length(), "popc": lambda: bin(v[0]).count("1"),
                "rem": lambda: s[0] % s[1], "div": lambda: s[0] // s[1],
                "bfe": lambda: v[0] >> v[1] & ((1 << v[2]) - 1),
                "bfi": lambda: v[1] & ~(((1 << v[3]) - 1) << v[2]) | (v[0] & ((1 << v[3]) - 1)) << v[2],
                "bfind": lambda: v[0].bit_length() - 1, "prmt": lambda: v[0]}[base]()

    def convert(self, w, o):
        to, source = w[-2], w[-1]
        b_to, b_from = int(re.sub(r"\D", "", to)), int(re.sub(r"\D", "", source))
        raw = self.value(o[1], b_from)
        x = b2f(raw, b_from) if source[0] == "f" else signed(raw, b_from) if source[0] == "s" else raw & ((1 << b_from) - 1)
        if source[0] == "f":
            mode = next((m for m in ("rni", "rzi", "rmi", "rpi") if m in w), None)
            if mode:
                x = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](x) if math.isfinite(x) else 0
            if "sat" in w:
                x = min(max(x, 0.0), 1.0)
        self.r[o[0]] = f2b(float(x), b_to) if to[0] == "f" else int(x) & ((1 << b_to) - 1)


def straighten(ptx, taken):
    """The text without the branches that went one way only."""
    lines = ptx.split("\n")
    for line, ways in taken.items():
        if len(ways) == 2:
            continue
        lines[line] = re.sub(r"@!?%p\d+\s+", "", lines[line]) if True in ways else ""
    return "\n".join(lines)
