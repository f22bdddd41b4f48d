"""What the driver says of kernels: registers and memory of each kernel of each cubin, and how many blocks fit.

usage: occupancy.py CUBINS PROGRAMS REGISTERS.csv OCCUPANCY.csv
"""
import ctypes, itertools, os, subprocess, sys
from driver import Card, check, cuda


def kernels(card, name):
    count = ctypes.c_uint()
    check("cuModuleGetFunctionCount", ctypes.byref(count), card.module(name))
    functions = (ctypes.c_void_p * count.value)()
    check("cuModuleEnumerateFunctions", functions, count, card.module(name))
    for function in functions:
        text = ctypes.c_char_p()
        check("cuFuncGetName", ctypes.byref(text), ctypes.c_void_p(function))
        # Only a kernel can be loaded as one; device functions are not listed.
        yield text.value.decode(), ctypes.c_void_p(function)


def available_shared(function, blocks, threads):
    value = ctypes.c_size_t()
    code = cuda.cuOccupancyAvailableDynamicSMemPerBlock(ctypes.byref(value), function, blocks, threads)
    return value.value if code == 0 else ""


def potential_block(function, shared):
    grid, block = ctypes.c_int(), ctypes.c_int()
    check("cuOccupancyMaxPotentialBlockSize", ctypes.byref(grid), ctypes.byref(block), function, None, ctypes.c_size_t(shared), 0)
    return f"{grid.value},{block.value}"


def main():
    cubins, programs, registers_path, occupancy_path = sys.argv[1:5]
    card = Card(cubins)
    with open(registers_path, "w") as file:
        file.write("ptx,kernel,registers,static_shared_bytes,local_bytes,const_bytes,max_threads_per_block,blocks_per_sm_128,blocks_per_sm_256,potential_grid,potential_block\n")
        for folder in (cubins, programs):
            for cubin in sorted(os.listdir(folder)):
                if not cubin.endswith(".cubin") or cubin in ("generate.cubin", "registers.cubin"):
                    continue
                name = cubin.removesuffix(".cubin")
                card.cubins = folder
                for kernel, function in kernels(card, name):
                    facts = [card.attribute(function, which) for which in (4, 1, 3, 2, 0)]
                    facts += [card.blocks_per_sm(function, threads, 0) for threads in (128, 256)]
                    file.write(f"{name},{kernel},{','.join(map(str, facts))},{potential_block(function, 0)}\n")
    card.cubins = cubins
    with open(occupancy_path, "w") as file:
        file.write("kernel,registers,static_shared_bytes,threads,dynamic_shared_bytes,carveout_pct,blocks_per_sm,shared_left_per_block_bytes\n")
        for kernel, function in kernels(card, "registers"):
            regs, static = card.attribute(function, 4), card.attribute(function, 1)
            check("cuFuncSetAttribute", function, 8, 227 * 1024 - static)
            plain = kernel.startswith("registers")
            threads = (32, 64, 96, 100, 128, 160, 192, 224, 256, 288, 320, 384, 448, 512, 640, 768, 1000, 1024)
            shared = (0,) if plain else (0, 1, 1000, 1024, 4096, 8192, 10000, 16384, 20480, 24576, 32768, 37000, 49152, 65536, 81920, 100000, 115000, 116224, 131072, 180000, 190464)
            carveouts = (-1,) if plain else (-1, 0, 10, 25, 50, 75, 100)
            for carveout in carveouts:
                check("cuFuncSetAttribute", function, 9, carveout)
                for count, dynamic in itertools.product(threads, shared):
                    if carveout != -1 and count not in (32, 128, 256, 1024):
                        continue
                    if count > card.attribute(function, 0) or dynamic + static > 227 * 1024:
                        continue
                    blocks = card.blocks_per_sm(function, count, dynamic)
                    left = available_shared(function, max(blocks, 1), count)
                    file.write(f"{kernel},{regs},{static},{count},{dynamic},{carveout},{blocks},{left}\n")


main()
