// The nearest sites along lines of an image, on a CUDA device. Compiled with the file that includes it.
//
// Every point has a thread of its own, which looks at few sites: along rows at the nearest one on either
// side, along other lines at those between the nearest sites of points that are settled already.
// Neighbouring threads have neighbouring voxels. Nothing is shared between the threads of a kernel.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef long long i64;

constexpr u32 NOWHERE = ~0u;  // the place of a site that does not exist
constexpr u32 WORD = 32;      // voxels of a row that share a word

__device__ __forceinline__ u64 thread_number() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// How squared distances are stored: whole numbers up to 2³² − 2, or double. Until a line is settled,
// either stores the place of the nearest site instead.
template <class D>
struct Stored;

template <>
struct Stored<u32> {
    static __device__ u32 nothing() { return ~0u; }
    static __device__ bool is_nothing(u32 square) { return square == ~0u; }
    static __device__ u32 of_place(u32 place) { return place; }
    static __device__ u32 place(u32 stored) { return stored; }
    static __device__ u32 square_of(u32 steps, double weight) {
        return static_cast<u32>(weight) * (steps * steps);
    }
};

template <>
struct Stored<double> {
    static __device__ double nothing() { return -1; }
    static __device__ bool is_nothing(double square) { return square < 0; }
    static __device__ double of_place(u32 place) { return place == NOWHERE ? nothing() : place; }
    static __device__ u32 place(double stored) { return stored < 0 ? NOWHERE : static_cast<u32>(stored); }
    static __device__ double square_of(u32 steps, double weight) {
        return weight * (static_cast<double>(steps) * steps);
    }
};

// Which voxels of a row are sites, a bit each, and for every word of bits the last site before it and
// the first one after it.
struct RowSites {
    u32 *words, *before, *after;

    // `is_site(x)` for the voxels of one word, of a row of `length` voxels.
    template <class IsSite>
    static __device__ u32 word_of(const IsSite& is_site, u32 word, u32 length) {
        u32 bits = 0;
        const u32 from = word * WORD, count = min(WORD, length - from);
        for (u32 i = 0; i < count; ++i) bits |= static_cast<u32>(is_site(from + i)) << i;
        return bits;
    }

    __device__ void look_beyond(u32 count) const {
        u32 place = NOWHERE;
        for (u32 word = 0; word < count; ++word) {
            before[word] = place;
            if (words[word]) place = last_in(words[word], word);
        }
        place = NOWHERE;
        for (u32 word = count; word-- > 0;) {
            after[word] = place;
            if (words[word]) place = first_in(words[word], word);
        }
    }

    // The last site at x or before it, and the first one at x or after it.
    __device__ u32 last_until(u32 x) const {
        const u32 word = x / WORD, bits = words[word] & (~0u >> (WORD - 1 - x % WORD));
        return bits ? last_in(bits, word) : before[word];
    }
    __device__ u32 first_from(u32 x) const {
        const u32 word = x / WORD, bits = words[word] & (~0u << x % WORD);
        return bits ? first_in(bits, word) : after[word];
    }

private:
    static __device__ u32 last_in(u32 bits, u32 word) { return word * WORD + WORD - 1 - __clz(bits); }
    static __device__ u32 first_in(u32 bits, u32 word) { return word * WORD + __ffs(bits) - 1; }
};

// How many words a row has.
__device__ __forceinline__ u32 words_of(u64 length) {
    return static_cast<u32>((length + WORD - 1) / WORD);
}

// The nearest site in a row, of which either side has one or none; at equal distance the one that
// `prefers_right` says.
template <class PrefersRight>
__device__ u32 nearest_in_row(const RowSites& sites, u32 x, const PrefersRight& prefers_right) {
    const u32 left = sites.last_until(x), right = sites.first_from(x);
    if (left == NOWHERE || right == NOWHERE) return left == NOWHERE ? right : left;
    const u32 to_left = x - left, to_right = right - x;
    if (to_left == to_right) return prefers_right(left, right) ? right : left;
    return to_left < to_right ? left : right;
}

// A line across rows. A site at place u with height h costs h + w (x − u)² at point x. Along the line
// the nearest sites never go back, so the one of a point lies between those of any points on its left
// and right: first come points far apart, then those halfway between, as in src/native/column_group.hpp.
// Costs are compared, not crossings of parabolas, so exact costs give an exact answer. With LABELS, of
// two sites at the same cost the one with the smaller label wins.
template <bool LABELS, class D, class L>
struct Line {
    const D* height;  // of the site at every point
    const L* label;
    u32 length;
    u64 step;  // from one point to the next
    double weight;

    // The point that a thread settles: number `k` of those at odd multiples of `stride`, or with stride
    // 0 the first point of the line.
    static __device__ u64 point(u64 k, u64 stride) { return stride == 0 ? 0 : (2 * k + 1) * stride; }

    // Stores the place of the site nearest to a point, once those of points `stride` away are stored.
    __device__ void find(u32 x, u32 stride, D* nearest) const {
        u32 from = 0, to = length - 1;
        if (stride != 0) {
            from = Stored<D>::place(nearest[(x - stride) * step]);
            if (x + stride < length) to = Stored<D>::place(nearest[(x + stride) * step]);
        }
        nearest[x * step] = Stored<D>::of_place(from == NOWHERE ? NOWHERE : cheapest(x, from, to));
    }

    __device__ D cost(u32 x, u32 place) const {
        return height[place * step] + Stored<D>::square_of(x < place ? place - x : x - place, weight);
    }

private:
    __device__ u32 cheapest(u32 x, u32 from, u32 to) const {
        u32 best = NOWHERE;
        D least = Stored<D>::nothing();
        for (u32 place = from; place <= to; ++place) {
            if (Stored<D>::is_nothing(height[place * step])) continue;
            const D here = cost(x, place);
            const bool wins = best == NOWHERE || here < least ||
                              (LABELS && here == least && label[place * step] < label[best * step]);
            if (!wins) continue;
            best = place;
            least = here;
        }
        return best;
    }
};

// Which of several stretches a position is in: the last that begins at it or before.
__device__ __forceinline__ u32 stretch_of(const u64* first, u32 count, u64 at) {
    u32 low = 0, high = count;
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (first[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}
