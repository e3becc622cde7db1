// Counts of label pairs on a CUDA device. Compiled when it is first needed, for the two label types
// in question.
//
// A block walks through one stretch of memory, so it meets few pairs at a time. Every thread adds up
// runs of one pair in registers. When a run ends, it goes into a small hash table of the block, in
// shared memory. When that table is half full, and at the end, it goes into one in global memory.

typedef unsigned long long u64;
typedef unsigned int u32;

constexpr u64 EMPTY = ~0ull;
constexpr u32 SLOTS = 2048;        // of a block's table, a power of two
constexpr u32 BLOCK_PROBES = 16;   // before a pair goes to the global table
constexpr int VOXELS = 16;         // side by side, that a thread takes at once
constexpr u32 ROUND = 4;           // of these until the block looks at its table

enum Flag { TOO_WIDE = 1, FULL = 2 };

// The global table. EMPTY itself is a key too (both labels −1), and has its own counter.
struct Table {
    u64* keys;
    u64* counts;
    u32 slots;  // a power of two
    u32* taken;
    u64* of_empty;
    u32* flags;

    // `notes` are three numbers: slots taken, count of EMPTY, flags.
    __device__ Table(u64* keys, u64* counts, u32 slots, u64* notes)
        : keys(keys), counts(counts), slots(slots), taken(reinterpret_cast<u32*>(notes)),
          of_empty(notes + 1), flags(reinterpret_cast<u32*>(notes + 2)) {}
};

template <class T>
struct alignas(16) Packed {
    T value[VOXELS];
};

__device__ __forceinline__ u32 hashed(u64 key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 29;
    return static_cast<u32>(key);
}

// The low 32 bits of a label; a label that needs more raises a flag.
template <class T>
__device__ __forceinline__ u32 narrow(T label, u32* flags) {
    if constexpr (sizeof(T) == 8) {
        const bool fits = T(-1) < T(0) ? label == static_cast<T>(static_cast<int>(label))
                                       : label == static_cast<T>(static_cast<u32>(label));
        if (!fits) atomicOr(flags, u32(TOO_WIDE));
    }
    return static_cast<u32>(label);
}

template <class R, class P>
__device__ __forceinline__ u64 pair_of(R ref, P pred, u32* flags) {
    return (static_cast<u64>(narrow(ref, flags)) << 32) | narrow(pred, flags);
}

__device__ void add_globally(const Table& table, u64 key, u64 number) {
    if (key == EMPTY) {
        atomicAdd(table.of_empty, number);
        return;
    }
    u32 slot = hashed(key) & (table.slots - 1);
    for (u32 probe = 0; probe < table.slots; ++probe, slot = (slot + 1) & (table.slots - 1)) {
        u64 found = *reinterpret_cast<volatile u64*>(table.keys + slot);
        if (found == EMPTY) {
            found = atomicCAS(table.keys + slot, EMPTY, key);
            if (found == EMPTY) {
                if (atomicAdd(table.taken, 1u) > table.slots / 4 * 3) atomicOr(table.flags, u32(FULL));
                found = key;
            }
        }
        if (found == key) {
            atomicAdd(table.counts + slot, number);
            return;
        }
        if (probe >= 64 && (*reinterpret_cast<volatile u32*>(table.flags) & FULL)) return;
    }
    atomicOr(table.flags, u32(FULL));
}

// The table of a block.
struct BlockTable {
    u64 keys[SLOTS];
    u32 counts[SLOTS];
    u32 taken;
    u32 given_up;

    __device__ void clear() {
        for (u32 slot = threadIdx.x; slot < SLOTS; slot += blockDim.x) {
            keys[slot] = EMPTY;
            counts[slot] = 0;
        }
        if (threadIdx.x == 0) taken = 0;
    }

    __device__ __noinline__ void add(const Table& table, u64 key, u32 number) {
        if (key != EMPTY) {
            u32 slot = hashed(key) & (SLOTS - 1);
            for (u32 probe = 0; probe < BLOCK_PROBES; ++probe, slot = (slot + 1) & (SLOTS - 1)) {
                u64 found = *reinterpret_cast<volatile u64*>(keys + slot);
                if (found == EMPTY) {
                    found = atomicCAS(keys + slot, EMPTY, key);
                    if (found == EMPTY) {
                        atomicAdd(&taken, 1u);
                        found = key;
                    }
                }
                if (found == key) {
                    atomicAdd(counts + slot, number);
                    return;
                }
            }
        }
        add_globally(table, key, number);
    }

    __device__ void hand_over(const Table& table) {
        for (u32 slot = threadIdx.x; slot < SLOTS; slot += blockDim.x) {
            if (counts[slot]) add_globally(table, keys[slot], counts[slot]);
        }
    }

    // Between two rounds: make room, and see whether to go on. All threads get the same answer.
    __device__ bool go_on(const Table& table) {
        if (!__syncthreads_or(taken > SLOTS / 2)) return true;
        hand_over(table);
        if (threadIdx.x == 0) given_up = *reinterpret_cast<volatile u32*>(table.flags);
        __syncthreads();
        const bool go_on = !given_up;
        clear();
        __syncthreads();
        return go_on;
    }
};

template <class R, class P>
__global__ void count_pairs(const R* ref, const P* pred, u64 voxels, u64* table_keys,
                            u64* table_counts, u32 table_slots, u64* notes) {
    const Table table(table_keys, table_counts, table_slots, notes);
    __shared__ BlockTable block;
    block.clear();
    __syncthreads();

    u64 run = EMPTY;
    u32 length = 0;
    const auto take = [&](u64 key) {
        if (key != run) {
            if (length) block.add(table, run, length);
            run = key;
            length = 0;
        }
        ++length;
    };
    const auto* refs = reinterpret_cast<const Packed<R>*>(ref);
    const auto* preds = reinterpret_cast<const Packed<P>*>(pred);
    const u64 packs = voxels / VOXELS, round = static_cast<u64>(blockDim.x) * ROUND;
    const u64 rounds = (packs + round - 1) / round;
    const u64 last = rounds * (blockIdx.x + 1) / gridDim.x;
    for (u64 now = rounds * blockIdx.x / gridDim.x; now < last; ++now) {
        const u64 begin = now * round + threadIdx.x;
        const u64 end = min((now + 1) * round, packs);
        for (u64 at = begin; at < end; at += blockDim.x) {
            const Packed<R> r = refs[at];
            const Packed<P> p = preds[at];
#pragma unroll
            for (int i = 0; i < VOXELS; ++i) take(pair_of(r.value[i], p.value[i], table.flags));
        }
        if (!block.go_on(table)) return;
    }
    if (blockIdx.x == 0) {
        for (u64 at = packs * VOXELS + threadIdx.x; at < voxels; at += blockDim.x)
            take(pair_of(ref[at], pred[at], table.flags));
    }
    if (length) block.add(table, run, length);
    __syncthreads();
    block.hand_over(table);
}

// Write, for every voxel, the slot of its pair: one array instead of two, to be counted with others.
template <class R, class P>
__global__ void write_slots(const R* ref, const P* pred, u64 voxels, u64* table_keys,
                            u64* table_counts, u32 table_slots, u64* notes, u32* slots) {
    const Table table(table_keys, table_counts, table_slots, notes);
    const u64 step = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 at = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; at < voxels; at += step) {
        const u64 key = pair_of(ref[at], pred[at], table.flags);
        u32 slot = hashed(key) & (table.slots - 1);
        while (key != EMPTY && table.keys[slot] != key) slot = (slot + 1) & (table.slots - 1);
        slots[at] = key == EMPTY ? table.slots : slot;
    }
}
