"""A first ranking of Triton configurations from TTIR, the representation before layouts, warps and stages.

Compiling to PTX takes Triton a hundred times as long as TTIR, and TTIR is the same for all numbers of warps and stages. It tells what one
program does in tiles: products of matrices, bytes loaded and stored, elements computed, values carried around loops. Times are the largest of
bounds that these give; they order configurations and decide which are compiled. They are no forecasts: layouts, vector widths, bank
conflicts and caches are unknown here.
"""
import dataclasses
import math
import re

_tensor = re.compile(r"tensor<((?:\d+x)+)(!tt\.ptr<)?([a-z]+\d*[A-Za-z0-9]*)")
_result = re.compile(r"\s*(%[\w#$.-]+)(?::\d+)? = ")
_for = re.compile(r"scf\.for (%\S+) = (%\S+) to (%\S+) step (%\S+)")
_dot = re.compile(r"tt\.dot(?:_scaled)?\b.*?: (tensor<\S+).*?\* (tensor<\S+)")
_argument = re.compile(r"(%\w+): (i\d+|f\d+)\b")
_integer = re.compile(r"= arith\.constant (-?\d+|true|false)(?: : i\d+)?")
_operation = re.compile(r"= \"?(arith|math|tt)\.([\w]+)\"? ?(.*)")
_binary = {"addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b, "minsi": min, "maxsi": max, "minui": min,
           "maxui": max, "divsi": lambda a, b: int(a / b) if b else None, "divui": lambda a, b: a // b if b else None,
           "remsi": lambda a, b: int(math.fmod(a, b)) if b else None, "remui": lambda a, b: a % b if b else None,
           "ceildivsi": lambda a, b: -(-a // b) if b else None}
_moves = {"splat", "broadcast", "expand_dims", "make_range", "constant", "addptr", "load", "store", "reshape", "trans", "bitcast", "extsi", "dot",
          "get_program_id", "reduce"}
_unknown_trips = 16  # the same for all configurations


@dataclasses.dataclass
class Product:
    """One tt.dot: sizes, bytes of an element of the operands, how often."""
    m: int
    n: int
    k: int
    type: str
    bytes: float
    times: float


@dataclasses.dataclass
class Tile:
    """What one program does."""
    products: list
    loaded: float = 0  # bytes
    stored: float = 0
    elements: float = 0  # computed, one instruction each
    special: float = 0
    carried: int = 0  # bytes carried around a loop, without pointers
    rounds: float = 1  # iterations of the innermost loops that load
    buffered: int = 0  # bytes loaded by an iteration for products


def _bits(kind):
    digits = re.search(r"\d+", kind)
    return int(digits.group()) if digits else 32


def _shape(text):
    """(sizes, is a pointer, element type) of the first tensor in the text."""
    found = _tensor.search(text)
    if not found:
        return None
    return [int(n) for n in found.group(1).split("x")[:-1]], bool(found.group(2)), found.group(3)


def read(text, values):
    """Tile of a module's text. `values`: arguments by name; program ids are 0."""
    numbers = {f"%{name}": value for name, value in values.items() if isinstance(value, (int, float))}
    tile = Tile([])
    regions = [1.0]  # executions of each open region
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("}"):
            if len(regions) > 1 and "{" not in line:
                regions.pop()
            if not line.startswith("})"):
                continue
        times = regions[-1]
        _operate(line, numbers, tile, times)
        loop = _for.search(line)
        if loop:
            low, high, step = (numbers.get(loop.group(i)) for i in (2, 3, 4))
            known = None not in (low, high, step) and step
            trips = max(0, -(-(high - low) // step)) if known else _unknown_trips
            regions.append(times * trips)
            results = line.partition("->")[2]
            carried = [_tensor.search(part) for part in re.findall(r"tensor<[^,)]*", results)]
            tile.carried = max(tile.carried, sum(math.prod(int(n) for n in t.group(1).split("x")[:-1]) * _bits(t.group(3)) // 8
                                                 for t in carried if t and not t.group(2)))
        elif line.endswith("{"):
            regions.append(times)
    return tile


def _operate(line, numbers, tile, times):
    dot = _dot.search(line)
    if dot:
        (m, k), _, kind = _shape(dot.group(1))
        (_, n), _, _ = _shape(dot.group(2))
        tile.products.append(Product(m, n, k, kind, _bits(kind) / 8, times))
        return
    shape = _shape(line)
    size = math.prod(shape[0]) if shape else 0
    if "tt.store" in line:
        tile.stored += size * _bits(shape[2]) / 8 * times if shape else 0
        return
    constant, operation, result = _integer.search(line), _operation.search(line), _result.match(line)
    if not operation or not result:
        return
    dialect, name, operands = operation.groups()
    if shape is None:
        if constant:
            numbers[result.group(1)] = int(constant.group(1)) if constant.group(1).lstrip("-").isdigit() else int(constant.group(1) == "true")
        elif name == "get_program_id":
            numbers[result.group(1)] = 0
        elif name in _binary:
            at = [numbers.get(o) for o in re.findall(r"%[\w#$.-]+", operands)[:2]]
            if len(at) == 2 and None not in at:
                numbers[result.group(1)] = _binary[name](*at)
    elif name == "load":
        moved = size * _bits(shape[2]) / 8
        tile.loaded += moved * times
        if times > 1:
            tile.rounds = max(tile.rounds, times)
            tile.buffered += int(moved)
    elif dialect == "math" or name in ("divf", "remsi", "divsi"):
        tile.special += size * times
    elif name not in _moves:
        tile.elements += size * times


def _split(warps, product):
    """(bytes of shared memory that a product reads, registers of two steps of its operands) by the best grid of warps. A step is 32 bytes
    along k, as mma.sync takes them."""
    grids = [(rows, warps // rows) for rows in (2 ** i for i in range(warps.bit_length())) if rows <= warps]
    edges = min(product.m / rows + product.n / columns for rows, columns in grids)
    return edges * warps * product.k * product.bytes, 2 * edges * 32 / (32 * 4)


_accumulate = {"f16": "f16_f32", "bf16": "bf16_f32", "f32": "tf32_f32", "f64": "f64_f64", "i8": "s8_s32", "f8E4M3FN": "f8_f32", "f8E5M2": "f8_f32"}


def seconds(tile, programs, warps, stages, fields):
    """Largest bound of a launch, infinite where no SM holds a program. `fields`: numbers of the device by name."""
    threads = 32 * warps
    units, clock = fields["units"], fields["boost_clock_hz"]
    from_memory = fields["compute_capability"] >= 9  # wgmma and tcgen05 read operands where they are
    splits = [_split(warps, p) for p in tile.products]
    fragments = 0 if from_memory else max((registers for _, registers in splits), default=0)
    registers = tile.carried / 4 / threads + fragments + 32  # addresses and the loop
    spilled = max(0.0, registers - fields["max_registers_per_thread"])
    registers = min(registers, fields["max_registers_per_thread"])
    shared = tile.buffered * max(1, stages - 1) if tile.products else 0
    if threads > fields["max_threads_per_block"] or shared > fields["shared_bytes_per_block"]:
        return math.inf
    resident = max(1, min(fields["max_blocks_per_unit"], fields["max_threads_per_unit"] // threads, int(fields["registers_per_unit"] / (registers * threads)),
                          fields["shared_bytes_per_unit"] // shared if shared else fields["max_blocks_per_unit"]))
    turns = math.ceil(programs / units) / (programs / units)  # the fullest SM
    bounds = [programs * (tile.loaded + tile.stored) / fields["l2_bandwidth_bytes_per_s"],
              programs * tile.elements / (units * fields["fp32_lanes_per_unit"] * clock),
              programs * tile.special / (units * fields["special_lanes_per_unit"] * clock)]
    products = reads = 0.0
    for p, (read_bytes, _) in zip(tile.products, splits):
        rate = fields.get(f"tensor_{_accumulate.get(p.type, '')}_fma_per_unit") or fields["fp32_lanes_per_unit"]
        products += p.m * p.n * p.k * p.times / rate
        reads += read_bytes * p.times
    reads += 2 * spilled * 4 * threads * tile.rounds
    bounds += [programs * products / (units * clock), programs * reads / (units * clock * fields["shared_bandwidth_bytes_per_unit"])]
    waits = tile.rounds * fields["l2_latency_cycles"] / max(1, stages - 1)
    bounds.append(math.ceil(programs / (units * resident)) * waits / clock / turns)
    return turns * sum(b ** 4 for b in bounds) ** 0.25
