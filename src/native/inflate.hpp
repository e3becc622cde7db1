// DEFLATE (RFC 1951) into a buffer whose size is known: what PNG and gzip files hold.
//
// Label images shrink to a hundredth, so nearly all of their bytes are copies of earlier ones; what
// matters is to copy long runs fast. Damaged data is found, never followed out of a buffer.
#pragma once

#include <array>
#include <cstring>

#include "huffman.hpp"

namespace panmatch {

struct Inflated {
    bool valid;      // false: the data is damaged, or does not fit
    size_t read;     // bytes of the data
    size_t written;  // bytes of the output
};

class Inflater {
public:
    Inflater(const uint8_t* data, size_t size, uint8_t* out, size_t room)
        : data_(data), size_(size), bits_(data, size), out_(out), begin_(out), end_(out + room) {}

    Inflated run() {
        bool last = false, valid = true;
        while (valid && !last) {
            bits_.refill();
            last = bits_.take(1) != 0;
            uint32_t kind = bits_.take(2);
            valid = (kind == 0 && stored()) || (kind == 1 && fixed()) || (kind == 2 && dynamic());
            valid = valid && bits_.used() <= size_;
        }
        bits_.skip_to_byte();
        return {valid, bits_.used(), static_cast<size_t>(out_ - begin_)};
    }

private:
    static constexpr size_t kLongestMatch = 258, kStep = 16;
    static constexpr int kLiterals = 288, kDistances = 32;

    const uint8_t* data_;
    size_t size_;
    BitReader bits_;
    uint8_t *out_, *begin_, *end_;
    CodeTable<11, kLiterals> literals_;
    CodeTable<8, kDistances> distances_;

    size_t room() const { return static_cast<size_t>(end_ - out_); }

    bool stored() {
        bits_.skip_to_byte();
        size_t at = bits_.used();
        if (at + 4 > size_) return false;
        size_t length = data_[at] | size_t{data_[at + 1]} << 8;
        size_t inverse = data_[at + 2] | size_t{data_[at + 3]} << 8;
        at += 4;
        if ((length ^ inverse) != 0xFFFF || length > size_ - at || length > room()) return false;
        if (length > 0) std::memcpy(out_, data_ + at, length);
        out_ += length;
        bits_.go_to(at + length);
        return true;
    }

    bool fixed() {
        std::array<uint8_t, kLiterals> length;
        for (size_t i = 0; i < length.size(); ++i)
            length[i] = static_cast<uint8_t>(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
        std::array<uint8_t, kDistances> five;
        five.fill(5);
        return literals_.build(length.data(), length.size()) &&
               distances_.build(five.data(), five.size()) && symbols();
    }

    bool dynamic() {
        auto n_literals = static_cast<size_t>(bits_.take(5) + 257);
        auto n_distances = static_cast<size_t>(bits_.take(5) + 1);
        uint32_t n_lengths = bits_.take(4) + 4;
        if (n_literals > 286 || n_distances > 30) return false;
        std::array<uint8_t, kLiterals + kDistances> lengths{};
        if (!code_lengths(n_lengths, n_literals + n_distances, lengths.data())) return false;
        return lengths[256] != 0 && literals_.build(lengths.data(), n_literals) &&
               distances_.build(lengths.data() + n_literals, n_distances) && symbols();
    }

    // The lengths of all codes are compressed themselves, with repetitions.
    bool code_lengths(uint32_t n_lengths, size_t n, uint8_t* lengths) {
        constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
        std::array<uint8_t, 19> own{};
        for (uint32_t i = 0; i < n_lengths; ++i) {
            bits_.refill();
            own[kOrder[i]] = static_cast<uint8_t>(bits_.take(3));
        }
        CodeTable<7, 19, 7> table;
        if (!table.build(own.data(), own.size())) return false;
        for (size_t at = 0; at < n;) {
            bits_.refill();
            CodeEntry code = table.find(bits_.peek());
            if (code.length == 0) return false;
            bits_.drop(code.length);
            if (code.symbol < 16) {
                lengths[at++] = static_cast<uint8_t>(code.symbol);
                continue;
            }
            if (code.symbol == 16 && at == 0) return false;
            uint8_t value = code.symbol == 16 ? lengths[at - 1] : uint8_t{0};
            size_t times = code.symbol == 16   ? 3 + bits_.take(2)
                           : code.symbol == 17 ? 3 + bits_.take(3)
                                               : 11 + bits_.take(7);
            if (times > n - at) return false;
            for (; times > 0; --times) lengths[at++] = value;
        }
        return true;
    }

    // Literals and matches up to the end of the block.
    bool symbols() {
        while (true) {
            bits_.refill();
            CodeEntry code = literals_.find(bits_.peek());
            if (code.length == 0) return false;
            bits_.drop(code.length);
            if (code.symbol < 256) {
                if (out_ == end_) return false;
                *out_++ = static_cast<uint8_t>(code.symbol);
            } else if (code.symbol == 256) {
                return true;
            } else if (!match(code.symbol)) {
                return false;
            }
        }
    }

    bool match(uint16_t symbol) {
        constexpr uint16_t kLength[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
        constexpr uint8_t kLengthBits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                           2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
        if (symbol > 285) return false;
        size_t length = kLength[symbol - 257] + bits_.take(kLengthBits[symbol - 257]);
        CodeEntry code = distances_.find(bits_.peek());
        if (code.length == 0 || code.symbol > 29) return false;
        bits_.drop(code.length);
        size_t distance = code.symbol + size_t{1};
        if (code.symbol > 3) {
            int extra = code.symbol / 2 - 1;
            distance = ((size_t{2} + code.symbol % 2) << extra) + 1 + bits_.take(extra);
        }
        if (distance > static_cast<size_t>(out_ - begin_) || length > room()) return false;
        copy(distance, length);
        return true;
    }

    // Copies bytes from `distance` before; what is copied may itself be part of the copy.
    void copy(size_t distance, size_t length) {
        const uint8_t* from = out_ - distance;
        if (distance == 1) {
            std::memset(out_, *from, length);
        } else if (room() < kLongestMatch + kStep) {
            for (size_t i = 0; i < length; ++i) out_[i] = from[i];
        } else if (distance >= kStep) {
            for (size_t i = 0; i < length; i += kStep) std::memcpy(out_ + i, from + i, kStep);
        } else {
            // Whole periods at a time, as many as fit in a step.
            uint8_t period[kStep];
            for (size_t i = 0, phase = 0; i < kStep; ++i) {
                period[i] = from[phase];
                phase = phase + 1 == distance ? 0 : phase + 1;
            }
            size_t step = kStep - kStep % distance;
            for (size_t i = 0; i < length; i += step) std::memcpy(out_ + i, period, kStep);
        }
        out_ += length;
    }
};

inline Inflated inflate(const uint8_t* data, size_t size, uint8_t* out, size_t room) {
    return Inflater(data, size, out, room).run();
}

}  // namespace panmatch
