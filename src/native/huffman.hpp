// Huffman codes of DEFLATE (RFC 1951): bits from a buffer, and tables that decode symbols.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "portability.hpp"

namespace panmatch {

// Bits of a buffer, the lowest of every byte first. Beyond its end all bits are 0.
class BitReader {
public:
    BitReader(const uint8_t* data, size_t size) : begin_(data), at_(data), end_(data + size) {}

    // Afterwards at least 56 bits can be read: the longest length with its distance takes 48.
    void refill() {
        if (end_ - at_ >= 8) {
            bits_ |= little_endian_word(at_) << count_;
            at_ += (63 - count_) >> 3;
            count_ |= 56;
            return;
        }
        for (; count_ <= 56; count_ += 8) {
            if (at_ < end_) bits_ |= uint64_t{*at_++} << count_;
            else ++missing_;
        }
    }

    uint64_t peek() const { return bits_; }

    void drop(int n) {
        bits_ >>= n;
        count_ -= n;
    }

    uint32_t take(int n) {
        auto value = static_cast<uint32_t>(bits_ & ((uint64_t{1} << n) - 1));
        drop(n);
        return value;
    }

    void skip_to_byte() { drop(count_ & 7); }

    // Bytes that were read, once `skip_to_byte` was called; more than there are if some were missing.
    size_t used() const { return static_cast<size_t>(at_ - begin_) + missing_ - static_cast<size_t>(count_ / 8); }

    // Go on at a byte, where whole bytes have been read from the buffer itself.
    void go_to(size_t byte) {
        at_ = begin_ + byte;
        bits_ = 0;
        count_ = 0;
        missing_ = 0;
    }

private:
    const uint8_t *begin_, *at_, *end_;
    uint64_t bits_ = 0;
    int count_ = 0;
    size_t missing_ = 0;
};

// What a code stands for: a symbol, or with bits in `link` another table for the bits that follow.
struct CodeEntry {
    uint16_t symbol = 0;
    uint8_t length = 0;  // bits of the code; 0: there is no such code
    uint8_t link = 0;    // bits that choose among the entries from `symbol` on
};

// Codes of up to `Longest` bits. Those of up to `Bits` are found at once, longer ones through a link.
template <int Bits, size_t Symbols, int Longest = 15>
class CodeTable {
public:
    // Returns false if the lengths do not describe a code: too many symbols, or too few. A single
    // symbol of one bit is enough, except for the codes of lengths.
    bool build(const uint8_t* lengths, size_t n) {
        std::array<int, Longest + 2> count{};
        for (size_t i = 0; i < n; ++i) ++count[lengths[i]];
        count[0] = 0;
        int left = 1, longest = 0;
        for (int length = 1; length <= Longest; ++length) {
            left = 2 * left - count[length];
            if (left < 0) return false;
            if (count[length] > 0) longest = length;
        }
        if (left > 0 && (longest > 1 || Longest == Bits)) return false;
        entries_.fill({});
        assign(lengths, n, count);
        return true;
    }

    // The entry of the next code; its length is 0 if there is no such code.
    CodeEntry find(uint64_t bits) const {
        CodeEntry entry = entries_[bits & ((1u << Bits) - 1)];
        if (entry.link != 0)
            entry = entries_[entry.symbol + (bits >> Bits & ((1u << entry.link) - 1))];
        return entry;
    }

private:
    // Longer codes share the first `Bits` bits, so that every one of them needs a table of its own
    // at worst, as large as the longest code.
    static constexpr size_t kLinked = Symbols * (size_t{1} << (Longest - Bits));
    std::array<CodeEntry, (size_t{1} << Bits) + kLinked> entries_;

    void assign(const uint8_t* lengths, size_t n, const std::array<int, Longest + 2>& count) {
        std::array<uint32_t, Longest + 2> next{};
        for (int length = 1; length <= Longest; ++length)
            next[length + 1] = (next[length] + static_cast<uint32_t>(count[length])) << 1;
        std::array<uint32_t, Symbols> code;
        std::array<uint8_t, size_t{1} << Bits> longest{};
        for (size_t i = 0; i < n; ++i) {
            int length = lengths[i];
            if (length == 0) continue;
            code[i] = reversed(next[length]++, length);
            uint8_t& most = longest[code[i] & ((1u << Bits) - 1)];
            if (length > most) most = static_cast<uint8_t>(length);
        }
        link_tables(longest);
        for (size_t i = 0; i < n; ++i)
            if (lengths[i] != 0) place(code[i], lengths[i], static_cast<uint16_t>(i));
    }

    void link_tables(const std::array<uint8_t, size_t{1} << Bits>& longest) {
        size_t used = size_t{1} << Bits;
        for (size_t start = 0; start < longest.size(); ++start) {
            if (longest[start] <= Bits) continue;
            auto link = static_cast<uint8_t>(longest[start] - Bits);
            entries_[start] = {static_cast<uint16_t>(used), 0, link};
            used += size_t{1} << link;
        }
    }

    // Write the entry wherever the bits begin with the code.
    void place(uint32_t code, uint8_t length, uint16_t symbol) {
        CodeEntry* table = entries_.data();
        int bits = Bits, own = length;
        if (length > Bits) {
            const CodeEntry& start = entries_[code & ((1u << Bits) - 1)];
            table += start.symbol;
            bits = start.link;
            own = length - Bits;
            code >>= Bits;
        }
        for (size_t at = code; at < size_t{1} << bits; at += size_t{1} << own)
            table[at] = {symbol, length, 0};
    }

    // Codes are stored from their highest bit on, everything else from the lowest.
    static uint32_t reversed(uint32_t code, int length) {
        uint32_t value = 0;
        for (int i = 0; i < length; ++i) value |= (code >> i & 1) << (length - 1 - i);
        return value;
    }
};

}  // namespace panmatch
