// The nearest sites along lines of an image, on a CUDA device. Compiled with the file that includes it.
//
// One thread settles one line. Neighbouring threads settle neighbouring lines, so they read and write
// neighbouring memory wherever lines run across it. Nothing is shared between threads.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef long long i64;

__device__ __forceinline__ u64 thread_number() {
    return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
}

// How squared distances are stored: whole numbers up to 2³² − 2, or double. Either also stores two
// places on a line, of up to 2¹⁶ and 2²⁶ points.
template <class D>
struct Stored;

template <>
struct Stored<u32> {
    static __device__ u32 nothing() { return ~0u; }
    static __device__ bool is_nothing(u32 square) { return square == ~0u; }
    static __device__ u32 places(u32 first, u32 second) { return first << 16 | second; }
    static __device__ u32 first(u32 places) { return places >> 16; }
    static __device__ u32 second(u32 places) { return places & 0xffffu; }
};

template <>
struct Stored<double> {
    static __device__ double nothing() { return -1; }
    static __device__ bool is_nothing(double square) { return square < 0; }
    static __device__ double places(u32 first, u32 second) {
        return static_cast<double>(static_cast<u64>(first) << 26 | second);
    }
    static __device__ u32 first(double places) { return static_cast<u32>(static_cast<u64>(places) >> 26); }
    static __device__ u32 second(double places) {
        return static_cast<u32>(static_cast<u64>(places) & ((1u << 26) - 1));
    }
};

// The lower envelope of parabolas, as in src/native/envelope.hpp: a site at place u with height h
// costs h + w (x − u)² at point x. Sites are compared by their costs at points and not by where
// parabolas cross, so exact costs give an exact answer. With LABELS, of two sites at the same cost
// the one with the smaller label wins.
template <bool LABELS, class D, class L>
struct Envelope {
    const D* height;  // of the site at every point
    const L* label;
    D* square;  // of the nearest site
    L* nearest;
    u32 length;
    u64 step;  // from one point to the next
    double weight;

    struct Site {
        double height;
        u32 place, from;  // `from` is the first point at which it wins
        L label;
    };

    // The stack of sites lies in `square` until that is written, from the last point to the first:
    // site i of the stack wins from point i on, or from a later one.
    __device__ void settle() const {
        Site top{};
        u32 depth = 0;
        for (u32 x = 0; x < length; ++x) {
            if (Stored<D>::is_nothing(height[x * step])) continue;
            Site site = read(x, 0);
            while (depth > 0) {
                if (!wins(site, top, top.from)) {
                    site.from = first_win(site, top);
                    break;
                }
                if (--depth > 0) top = pop(depth - 1);
            }
            if (site.from >= length) continue;
            square[depth * step] = Stored<D>::places(x, site.from);
            top = site;
            ++depth;
        }
        write(top, depth);
    }

private:
    __device__ Site read(u32 place, u32 from) const {
        return Site{static_cast<double>(height[place * step]), place, from, LABELS ? label[place * step] : L(0)};
    }

    __device__ Site pop(u32 at) const {
        const D places = square[at * step];
        return read(Stored<D>::first(places), Stored<D>::second(places));
    }

    __device__ double cost(const Site& site, u32 x) const {
        const double d = static_cast<double>(x) - static_cast<double>(site.place);
        return site.height + weight * (d * d);
    }

    __device__ bool wins(const Site& right, const Site& left, u32 x) const {
        const double a = cost(right, x), b = cost(left, x);
        return a < b || (LABELS && a == b && right.label < left.label);
    }

    // The crossing is rounded, the costs at the point next to it are not: the right site wins from
    // that point on, or from the one after it.
    __device__ u32 first_win(const Site& right, const Site& left) const {
        const double rounding = 1e-7, a = right.place, b = left.place;
        const double crossing = (right.height - left.height) / (2 * weight * (a - b)) + 0.5 * (a + b);
        if (!(crossing < length)) return length;
        const u32 x = crossing > 0 ? static_cast<u32>(crossing + rounding) : 0;
        const u32 from = wins(right, left, x) ? x : x + 1;
        return from > left.from ? from : left.from + 1;
    }

    __device__ void write(Site top, u32 depth) const {
        u32 x = length;
        for (; depth > 0; --depth) {
            for (; x > top.from; --x) {
                square[(x - 1) * step] = static_cast<D>(cost(top, x - 1));
                if (LABELS) nearest[(x - 1) * step] = top.label;
            }
            if (depth > 1) top = pop(depth - 2);
        }
        for (; x > 0; --x) {
            square[(x - 1) * step] = Stored<D>::nothing();
            if (LABELS) nearest[(x - 1) * step] = L(0);
        }
    }
};

// A line in one piece of memory, where steps are enough to compare sites. `label_at(x)` is 0 where
// there is no site. Neighbouring threads write far from each other, so little is written: first the
// steps to the left, then what is nearest.
template <bool LABELS, class L, class D, class LabelAt>
__device__ void settle_row(const LabelAt& label_at, u32 length, double weight, L* nearest, D* square) {
    u32 left = length, right = length;
    for (u32 x = 0; x < length; ++x) {
        if (label_at(x) != 0) left = x;
        square[x] = left < length ? static_cast<D>(x - left) : Stored<D>::nothing();
    }
    L after = 0;
    for (u32 x = length; x-- > 0;) {
        if (const L here = label_at(x)) {
            after = here;
            right = x;
        }
        u32 steps = Stored<D>::is_nothing(square[x]) ? length : static_cast<u32>(square[x]);
        L label = LABELS && steps < length ? label_at(x - steps) : L(0);
        if (after != 0 && (right - x < steps || (LABELS && right - x == steps && after < label))) {
            steps = right - x;
            label = after;
        }
        square[x] = steps < length ? static_cast<D>(weight * (static_cast<double>(steps) * steps))
                                   : Stored<D>::nothing();
        if (LABELS) nearest[x] = label;
    }
}

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
