"""SASS, read back: disassemble a cubin, class of an instruction, cheapest path through a kernel.

Needs ptxas and cuobjdump (CUDA, or the PyPI wheels nvidia-cuda-nvcc and nvidia-cuda-cuobjdump). Development only:
kernelcast itself never runs these tools.
"""
import collections
import os
import re
import shutil
import struct
import subprocess
import tempfile

CUDA = os.environ.get("CUDA_HOME", "/usr/local/cuda")


class Unknown(RuntimeError):
    """An instruction that nothing here can read."""


def tool(name):
    found = shutil.which(name) or os.path.join(CUDA, "bin", name)
    if not os.path.exists(found):
        raise SystemExit(f"{name} not found: set CUDA_HOME or PATH")
    return found


def assemble(ptx, arch, options=()):
    """cubin bytes' path (temporary, caller removes) and ptxas's messages."""
    handle, source = tempfile.mkstemp(suffix=".ptx")
    with os.fdopen(handle, "w") as f:
        f.write(ptx)
    cubin = source[:-4] + ".cubin"
    run = subprocess.run([tool("ptxas"), f"-arch={arch}", "-v", *options, source, "-o", cubin],
                         capture_output=True, text=True)
    os.unlink(source)
    if run.returncode:
        raise RuntimeError(run.stderr)
    return cubin, run.stderr


Instruction = collections.namedtuple("Instruction", "address guard opcode operands")
LINE = re.compile(r"^\s+/\*([0-9a-f]{4,5})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")


def disassemble(cubin):
    """{kernel: [Instruction]} without padding."""
    text = subprocess.run([tool("cuobjdump"), "-sass", cubin], capture_output=True, text=True, check=True).stdout
    kernels, current = {}, None
    for line in text.splitlines():
        m = re.match(r"\s+Function : (\S+)", line)
        if m:
            current = kernels.setdefault(m.group(1), [])
            continue
        m = LINE.match(line)
        if m and current is not None and m.group(3) != "NOP":
            current.append(Instruction(int(m.group(1), 16), m.group(2), m.group(3), m.group(4)))
    for code in kernels.values():  # the endless loop behind the end
        if code and code[-1].opcode == "BRA" and code[-1].operands.strip("`()") == hex(code[-1].address):
            code.pop()
    return kernels


# Kepler (sm_35) by the upper ten and the lower two bits of its eight bytes, as Instruction.opcode of later generations: no
# disassembler of today has it. Found by assembling instructions alone (ptxas 11.8); straight code only.
GK110 = {"387.2": "IMUL", "0b8.2": "IMUL", "340.2": "IMAD", "344.2": "IMAD", "346.2": "IMAD", "348.2": "IMAD", "34c.2": "IMAD",
         "244.2": "IMAD", "248.2": "IMAD", "24c.2": "IMAD", "148.2": "IMAD", "183.2": "ISCADD", "182.2": "ISCADD", "284.1": "ISCADD", "382.2": "IADD",
         "100.1": "IADD", "388.2": "LOP", "080.0": "LOP", "120.1": "LOP", "398.2": "I2I", "397.2": "I2F", "396.2": "F2I",
         "395.2": "F2F.F64", "36d.2": "ISETP", "36c.2": "ISETP", "384.2": "IMNMX", "394.2": "SEL", "386.2": "FLO", "321.1": "POPC",
         "300.1": "BFE", "2de.1": "BFI", "2df.1": "SHF", "31f.1": "SHR", "305.1": "SHR", "37f.2": "SHF", "210.2": "MUFU.RCP",
         "1d0.2": "MOV32I", "193.2": "MOV", "219.2": "S2R", "312.0": "LD", "316.0": "LD", "392.0": "ST", "396.0": "ST",
         "060.0": "EXIT"}


def kepler_words(cubin):
    """{kernel: [Instruction]} of a cubin for sm_35: every eighth word is a control word."""
    data = open(cubin, "rb").read()
    at, = struct.unpack_from("<Q", data, 40)
    number, names = struct.unpack_from("<HH", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + 64 * k) for k in range(number)]
    strings = data[sections[names][4]:]
    kernels = {}
    for s in sections:
        name = strings[s[0]:strings.index(b"\0", s[0])].decode()
        if not name.startswith(".text."):
            continue
        words = struct.unpack_from(f"<{s[5] // 8}Q", data, s[4])
        code = [Instruction(8 * k, None, GK110.get(f"{w >> 54:03x}.{w & 3}", f"?{w >> 54:03x}.{w & 3}"), "") for k, w in enumerate(words)
                if k % 8]
        end = next(k for k, i in enumerate(code) if i.opcode == "EXIT")
        kernels[name[6:]] = code[:end + 1]
    return kernels


def classify(i):
    """The kernelcast operation class of a SASS instruction; None: no lane operation (bookkeeping)."""
    parts = i.opcode.split(".")
    base = parts[0]
    wide = "64" in parts or "U64" in parts or "S64" in parts
    if base in ("NOP", "BSSY", "BSYNC", "BMOV", "WARPSYNC", "YIELD", "DEPBAR", "BREAK", "LDGDEPBAR"):
        return "other" if base in ("DEPBAR", "LDGDEPBAR") else "control"
    if base in ("IMAD", "UIMAD"):
        if "MOV" in parts:
            return "move"
        if "IADD" in parts or "X" in parts:
            return "int64_add" if "X" in parts else "int_add"
        if "SHL" in parts or "SHR" in parts:
            return "shift"
        ops = [o.strip() for o in i.operands.split(",")]
        if len(ops) >= 4 and ops[1] == "RZ" and ops[2] == "RZ":
            return "move"
        return "int_mul" if len(ops) >= 4 and ops[-1] == "RZ" and "WIDE" not in parts else "int_mad"
    if base == "HFMA2":
        ops = [o.strip() for o in i.operands.split(",")]
        return "move" if len(ops) > 2 and ops[1] in ("-RZ", "RZ") and ops[2] in ("-RZ", "RZ") else "fp16_fma"
    if base == "MUFU":
        return "fp32_special" if not parts[1].endswith("64H") else "fp64_special"
    if base == "SHF":
        return "shift"
    if base in ("LDG", "STG", "LDS", "STS", "LDL", "STL", "LDC", "LD", "ST", "ULDC", "LDCU"):
        return {"LDG": "global_load", "STG": "global_store", "LD": "global_load", "ST": "global_store",
                "LDS": "shared_load", "STS": "shared_store", "LDL": "local_load", "STL": "local_store",
                "LDC": "constant_load", "ULDC": None, "LDCU": None}[base]
    table = {
        "FADD": "fp32_add", "FADD32I": "fp32_add", "FMUL": "fp32_mul", "FMUL32I": "fp32_mul", "FFMA": "fp32_fma",
        "FFMA32I": "fp32_fma", "DADD": "fp64_add", "DMUL": "fp64_mul", "DFMA": "fp64_fma", "HADD2": "fp16_add",
        "HMUL2": "fp16_mul", "IADD3": "int_add", "IADD": "int_add", "VIADD": "int_add", "UIADD3": "int_add",
        "LEA": "int_add", "ULEA": "int_add", "IABS": "int_add", "IMUL": "int_mul", "USHF": "shift",
        "LOP3": "logic", "ULOP3": "logic", "LOP": "logic", "PLOP3": "logic", "UPLOP3": "logic", "ISETP": "compare",
        "UISETP": "compare", "FSETP": "compare", "DSETP": "fp64_compare", "FCHK": "compare", "HSETP2": "compare",
        "FSET": "compare", "HSET2": "compare", "SEL": "select", "USEL": "select", "FSEL": "select", "IMNMX": "min_max",
        "VIMNMX": "min_max", "VIMNMX3": "min_max", "FMNMX": "min_max", "UIMNMX": "min_max", "HMNMX2": "min_max",
        "I2F": "convert", "F2I": "convert", "I2FP": "convert_alu", "F2F": "convert", "FRND": "convert", "F2FP": "convert_alu",
        "IADD32I": "int_add", "ISCADD": "int_add", "XMAD": "int_mad", "LOP32I": "logic", "SHL": "shift", "SHR": "shift",
        "BFE": "bit_special", "BFI": "bit_special", "ICMP": "select", "FCMP": "select", "DMNMX": "fp64_add",
        "RRO": "fp32_special", "PSETP": "logic", "PSET": "logic", "SSY": "control", "SYNC": "control", "PBK": "control",
        "I2I": "convert", "I2IP": "convert", "POPC": "bit_special", "FLO": "bit_special", "UFLO": "bit_special",
        "BREV": "bit_special", "PRMT": "bit_special", "UPRMT": "bit_special", "SGXT": "bit_special",
        "BMSK": "bit_special", "UPOPC": "bit_special", "UBREV": "bit_special", "USGXT": "bit_special",
        "MOV": "move", "UMOV": "move", "CS2R": "move", "MOVM": "move", "MOV32I": "move", "R2UR": "move",
        "P2R": "move", "R2P": "move", "S2R": "special_register", "S2UR": "special_register", "BRA": "control",
        "EXIT": "control", "RET": "control", "CALL": "control", "CAL": "control", "JCAL": "control", "BRX": "control", "JMX": "control",
        "VOTE": "vote", "VOTEU": "vote", "MATCH": "vote", "REDUX": "vote", "SHFL": "shuffle", "HMMA": "tensor",
        "IMMA": "tensor", "DMMA": "tensor", "LDSM": "shared_load", "BAR": "barrier", "MEMBAR": "fence",
        "ERRBAR": "fence", "CCTL": "fence", "ATOM": "global_atomic", "ATOMG": "global_atomic", "RED": "global_atomic",
        "REDG": "global_atomic", "ATOMS": "shared_atomic", "LDGSTS": "async_copy", "TEX": "texture_load",
        "TLD": "texture_load", "SULD": "texture_load", "TLD4": "texture_load",
    }
    c = table.get(base, "other")
    if c == "int_add" and "X" in parts:
        return "int64_add"
    if c == "convert" and (wide or "F64" in i.opcode):
        return "convert64"
    return c


def target_of(i):
    m = re.search(r"0x([0-9a-f]+)\)?\s*$", i.operands.replace("`", ""))
    return int(m.group(1), 16) if m else None


def cheapest_path(code):
    """Instructions on the shortest way from the entry to EXIT, through called subroutines where they cannot be avoided."""
    index = {ins.address: k for k, ins in enumerate(code)}
    start = (0, ())
    came_from, queue = {start: None}, collections.deque([start])
    while queue:  # breadth first: every instruction costs one
        state = queue.popleft()
        k, stack = state
        ins = code[k]
        if ins.opcode.startswith("EXIT") and not ins.guard:
            path = []
            while state is not None:
                path.append(code[state[0]])
                state = came_from[state]
            return path[::-1]
        conditional = ins.guard or re.match(r"\s*!?U?P\d", ins.operands)
        successors = []
        if ins.opcode.startswith("BRA"):
            successors.append((index.get(target_of(ins)), stack))
            if conditional:
                successors.append((k + 1, stack))
        elif ins.opcode.startswith(("CAL", "JCAL")):
            if len(stack) < 4:
                successors.append((index.get(target_of(ins)), stack + (k + 1,)))
        elif ins.opcode == "SSY":  # before Volta: SYNC goes there
            if len(stack) < 4:
                successors.append((k + 1, stack + (index.get(target_of(ins)),)))
        elif ins.opcode == "SYNC":
            if stack:
                successors.append((stack[-1], stack[:-1]))
            if conditional:
                successors.append((k + 1, stack))
        elif ins.opcode.startswith("RET"):
            if stack:
                successors.append((stack[-1], stack[:-1]))
        else:
            successors.append((k + 1, stack))
        for s in successors:
            if s[0] is not None and s[0] < len(code) and s not in came_from:
                came_from[s] = state
                queue.append(s)
    raise RuntimeError("no way to EXIT")


def counts(code):
    """Counter of classes, bookkeeping left out; ULDC of the memory descriptor and stack pointer set-up are dropped."""
    total = collections.Counter()
    for i in code:
        c = classify(i)
        if c is not None:
            total[c] += 1
    return total
